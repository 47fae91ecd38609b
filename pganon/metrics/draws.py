"""Random predicates, drawn inside the server from a seed: the same ones on every server.

mdraws      (query, x, first, last, low, high, bits)   what a query asks of column x, a row per
            query that restricts it: codes from first to last, whose distances from the lowest value
            are low and high where the column has such, or those whose bit is set

NULL is never asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.forms.request import Workload
from pganon.identifiers import QualifiedName
from pganon.sqltools import cast, col, fragment, num, query


@dataclass(frozen=True)
class Domain:
    """The values that a predicate on a column can ask for.

    Attributes:
        number: sets its random numbers apart from those of other columns.
        size: codes 1..size are values other than NULL.
        codes: the highest code; codes are at most this.
        dictionary: relation with a `code`; it has no code above `size`.
    """

    number: int
    size: int
    codes: int
    dictionary: QualifiedName | exp.Select

    def wide(self, share: float) -> int:
        """How many values are asked for."""
        return min(max(1, round(self.size * share)), max(self.size, 1))


@dataclass(frozen=True)
class QueriedColumn:
    """A column that queries may restrict.

    Attributes:
        queries: those that do.
        places: as mplaces<i> of :mod:`pganon.metrics.source`, if there is one.
    """

    domain: Domain
    on_line: bool
    queries: exp.Select
    places: QualifiedName | None = None


def no_codes(highest: int) -> exp.Expr:
    """A bit string of zeros, one per code and one for code 0."""
    return fragment("repeat('0', :m)::varbit", m=num(highest + 1))


def hashed(seed: int, *terms: exp.Expr) -> exp.Expr:
    """A number per query and term, the same on every server."""
    value: exp.Expr = cast(num(seed), "bigint")
    for term in terms:
        value = fragment("hashint8extended(:t::bigint, :v)", t=term, v=value)
    return value


def predicates(count: int, workload: Workload) -> int:
    """How many of `count` quasi-identifiers a query restricts."""
    return min(workload.predicates, count)


def share(count: int, workload: Workload) -> float:
    """Share of the values of a column that a predicate asks for, so that all of a query ask for
    `selectivity`."""
    conditions = predicates(count, workload) + bool(workload.sensitive)
    return workload.selectivity ** (1 / conditions)


def chosen(seed: int, queries: int, count: int, taken: int) -> exp.Select:
    """(query, attribute): for queries from 1, `taken` of the attributes 0..count-1."""
    every = query(
        "select q.q as query, a.a as attribute, row_number() over (partition by q.q"
        " order by :h, a.a) as place"
        " from generate_series(1, :n) as q(q) cross join generate_series(1, :d) as a(a)",
        None,
        h=hashed(seed, exp.column("q", "q"), exp.column("a", "a")),
        n=num(queries),
        d=num(count),
    )
    return query(
        "select e.query, e.attribute - 1 as attribute from e where e.place <= :k",
        {"e": every},
        k=num(taken),
    )


def restricting(workload: Workload, count: int, attribute: int) -> exp.Select:
    """(query): the queries that restrict this one of `count` attributes."""
    drawn = chosen(workload.seed, workload.queries, count, predicates(count, workload))
    return query("select c.query from c where c.attribute = :i", {"c": drawn}, i=num(attribute))


def some(domain: Domain, queries: exp.Select, seed: int, wide: int) -> exp.Select:
    """(query, bits): random values."""
    h = hashed(seed, fragment("m.query"), num(domain.number), fragment("coalesce(d.code, 0)"))
    ranked = query(
        "select m.query, d.code, row_number() over (partition by m.query order by :h, d.code)"
        " as place from m left join d on d.code > 0",
        {"m": queries, "d": domain.dictionary},
        h=h,
    )
    return query(
        "select r.query, bit_or(coalesce(set_bit(:none, r.code, 1), :none)) as bits"
        " from r where r.place <= :wide group by r.query",
        {"r": ranked},
        none=no_codes(domain.codes),
        wide=num(wide),
    )


def starts(domain: Domain, queries: exp.Select, seed: int, wide: int) -> exp.Select:
    """(query, first): where neighbours begin."""
    return query(
        "select m.query, 1 + abs(:h % :places) as first from m",
        {"m": queries},
        h=hashed(seed, fragment("m.query"), num(domain.number), num(-1)),
        places=num(domain.size - wide + 1 if domain.size else 1),
    )


ASKS = ("first", "last", "low", "high", "bits")


def drawn(column: QueriedColumn, seed: int, asked: float) -> exp.Select:
    """SELECT of mdraws: the predicate on the column, for this share of its values."""
    domain = column.domain
    wide = domain.wide(asked)
    x = {"x": num(domain.number), "wide": num(wide)}
    if not column.on_line:
        return query(
            "select s.query, :x as x, null::bigint as first, null::bigint as last,"
            " null::float8 as low, null::float8 as high, s.bits from s",
            {"s": some(domain, column.queries, seed, wide)},
            **x,
        )
    found = starts(domain, column.queries, seed, wide)
    if column.places is None:
        return query(
            "select s.query, :x as x, s.first, s.first + :wide - 1 as last, null::float8 as low,"
            " null::float8 as high, null::varbit as bits from s",
            {"s": found},
            **x,
        )
    return query(
        "select s.query, :x as x, s.first, s.first + :wide - 1 as last, low.away as low,"
        " high.away as high, null::varbit as bits from s left join low on low.code = s.first"
        " left join high on high.code = s.first + :wide - 1",
        {"s": found, "low": column.places, "high": column.places},
        **x,
    )


def holds(place: str, code: exp.Expr) -> exp.Expr:
    """Condition: the code satisfies the query `q`, by first, last and bits of this place."""
    return fragment(
        "case when :bits is null then :code between :first and :last"
        " else get_bit(:bits, (:code)::int) = 1 end",
        code=code,
        **{name: col(f"{name}{place}", "q") for name in ("first", "last", "bits")},
    )
