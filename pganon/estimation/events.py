"""What is known of the people of groups who have rows in related tables.

A value is had by so many of those who have rows of its table, whoever they are. Several are taken
to be independent among the people with rows of the nearest table over which all of them lead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from pganon.estimation.lines import collated, holds, over
from pganon.estimation.parts import AskedPart, Relations
from pganon.estimation.release import Fact, Part, Table
from pganon.forms.match_counts import Matched, all_records, both, call, either, neither
from pganon.sqltools import aliased, col, conjunction, fragment, named, query, scalar, text

_ENDS = ("lo", "hi", "p", "p2")


@dataclass(frozen=True)
class EventsPart(AskedPart):
    """A condition on rows of tables that have the same groups.

    Attributes:
        facts: by the columns that stand for them in the condition.
    """

    part: Part
    facts: Mapping[str, Fact]
    tables: Mapping[str, Table]

    def relations(self) -> Relations:
        """(bucket, lo, hi, p, p2): of every group."""
        assert self.condition is not None
        assert self.part.weight is not None
        bucket = col(self.part.bucket, "g")
        people = col(self.part.weight, "g")
        inner = query(
            "select :b as bucket, :n as n from g", {"g": self.part.view}, b=bucket, n=people
        )
        for number, table in enumerate(self.tables.values()):
            if table.part == self.part:
                inner = inner.select(named(col(table.holders, "g"), f"n{number}"))
        # A fact that is asked twice is one.
        first = {name: [*self.facts.values()].index(fact) for name, fact in self.facts.items()}
        condition = over(self.condition, lambda name: col([*self.facts][first[name]]))
        for name in dict.fromkeys(c.name for c in condition.find_all(exp.Column)):
            fact, alias = self.facts[name], self._alias(name)
            if fact.slice is not None:
                on = fragment(f"{alias}.bucket = :b", b=bucket)
                inner = inner.join(aliased(_known(fact), alias), on=on, join_type="left")
                for end in _ENDS:
                    value = fragment("coalesce(:v, 0)", v=col(end, alias))
                    inner = inner.select(named(value, f"{end}_{alias}"))
        tree = query("select i.bucket from i", {"i": inner})
        own = self._matched(condition, None)
        values = zip(_ENDS, (own.fewest, own.most, own.share, own.pair), strict=True)
        yield self.name("exact"), tree.select(*[named(value.copy(), end) for end, value in values])

    def _alias(self, name: str) -> str:
        return f"f{[*self.facts].index(name)}"

    def _people(self, table: str | None) -> exp.Expr:
        """Those with rows of a table; None: everybody of the group."""
        return col("n" if table is None else f"n{[*self.tables].index(table)}", "i")

    def _path(self, node: exp.Expr) -> tuple[str | None, ...]:
        """Tables of which everybody has rows who has one of the facts, the nearest first."""
        paths = [(*self.facts[c.name].table.path, None) for c in node.find_all(exp.Column)]
        return tuple(name for name in paths[0] if all(name in path for path in paths))

    def _matched(self, node: exp.Expr, among: str | None) -> Matched:
        """How many of the people with rows of a table fulfil a condition."""
        node = _plain(node)
        if _of_nobody(node):
            return neither(self._people(among), self._matched(_negated(node), among))
        own = self._path(node)[0]
        if isinstance(node, exp.Column) and self.facts[node.name].slice is None:
            inside = all_records(self._people(own))
        elif isinstance(node, exp.Column):
            inside = Matched(*[col(f"{end}_{self._alias(node.name)}", "i") for end in _ENDS])
        else:
            # Those that lead over a further table are independent among the people of that one.
            groups: dict[object, list[exp.Expr]] = {}
            for item in _items(node):
                path = self._path(item)
                place = path.index(own)
                groups.setdefault(path[place - 1] if place else id(item), []).append(item)
            every = isinstance(node, exp.And)
            joined, combined = (exp.and_, both) if every else (exp.or_, either)
            found = [self._matched(joined(*items), own) for items in groups.values()]
            inside = combined(self._people(own), found)
        if own == among:
            return inside
        given = {"a": self._people(own), "n": self._people(among)}
        return Matched(
            inside.fewest,
            inside.most,
            fragment("coalesce(:p * :a / nullif(:n, 0)::float8, 0)", p=inside.share, **given),
            fragment(
                "coalesce(:p * :a * (:a - 1) / nullif(:n * (:n - 1), 0)::float8, 0)",
                p=inside.pair,
                **given,
            ),
        )


# -- conditions -----------------------------------------------------------------------------------


def _plain(node: exp.Expr) -> exp.Expr:
    """Without parentheses, and without IS TRUE: nothing is NULL."""
    while isinstance(node, exp.Paren | exp.Is):
        node = node.this
    return node


def _items(node: exp.Expr) -> list[exp.Expr]:
    found: list[exp.Expr] = []
    for side in (_plain(node.this), _plain(node.expression)):
        found += _items(side) if type(side) is type(node) else [side]
    return [*dict.fromkeys(found)]


def _of_nobody(node: exp.Expr) -> bool:
    """Whether it is true of people who have no rows at all."""
    node = _plain(node)
    if isinstance(node, exp.Column):
        return False
    if isinstance(node, exp.Not):
        return not _of_nobody(node.this)
    return (all if isinstance(node, exp.And) else any)(map(_of_nobody, _items(node)))


def _negated(node: exp.Expr) -> exp.Expr:
    node = _plain(node)
    if isinstance(node, exp.Column):
        return exp.Not(this=node.copy())
    if isinstance(node, exp.Not):
        return node.this
    return (exp.or_ if isinstance(node, exp.And) else exp.and_)(*map(_negated, _items(node)))


# -- values ---------------------------------------------------------------------------------------


def _known(fact: Fact) -> exp.Select:
    """(bucket, lo, hi, p, p2): people with rows of a table who fulfil the condition."""
    table, place = fact.table, fact.slice
    assert place is not None
    assert table.part is not None
    first = next(one for one in table.slices if one.columns == place.columns[:1])
    number, x = table.part.bucket, place.columns[0]

    def matches(condition: exp.Expr | None, alias: str) -> exp.Expr:
        return holds(condition, lambda name: collated(table.columns[name], col(name, alias)))

    of = query(
        "select :b as bucket, s.persons, :x as x, :h as whole, :m as m from s join g on :b = :g",
        {"s": first.view, "g": table.part.view},
        b=col(number, "s"),
        g=col(number, "g"),
        x=col(x, "s"),
        h=col(table.holders, "g"),
        m=matches(_about(fact.condition, x), "s"),
    )
    if fact.counted:
        return _rows(fact, of, x)
    if len(place.columns) == 1:
        text_of = (
            "select r.bucket, r.whole, r.persons, {0} as lo, {0} as hi, {0}::float8 as a from r"
        )
        return _union(query(text_of.format("r.persons * r.m::int"), {"r": of}))
    # Of people with the first value, who have which second ones; where it is closed, nobody knows.
    pairs = query(
        "select :b as bucket, :x as x, t.persons, :m as m from t",
        {"t": place.view},
        b=col(number, "t"),
        x=col(x, "t"),
        m=matches(fact.condition, "t"),
    )
    each = query(
        "select o.bucket, o.x, o.persons as whole, t.persons, t.persons * t.m::int as lo,"
        " t.persons * t.m::int as hi, (t.persons * t.m::int)::float8 as a"
        " from o join t on t.bucket = o.bucket and t.x is not distinct from o.x",
        {"o": of, "t": pairs},
    )
    share = query(
        "select sum(t.persons) filter (where t.m) / sum(t.persons)::float8 from t"
        " join o on o.bucket = t.bucket and o.x is not distinct from t.x where o.m",
        {"o": of, "t": pairs},
    )
    return _union(
        query(
            "select o.bucket, o.whole, o.persons, coalesce(u.lo, 0) as lo,"
            " coalesce(u.hi, o.persons * o.m::int) as hi,"
            " o.persons * coalesce(u.p, o.m::int * :share, 0) as a"
            " from o left join u on u.bucket = o.bucket and u.x is not distinct from o.x",
            {"o": of, "u": _union(each, "x")},
            share=scalar(share),
        )
    )


def _about(condition: exp.Expr | None, name: str) -> exp.Expr | None:
    """What of a condition is about one column alone."""
    if condition is None:
        return None
    items = condition.flatten() if isinstance(condition, exp.And) else [condition]
    own = [item for item in items if {c.name for c in item.find_all(exp.Column)} == {name}]
    return conjunction(own) if own else None


def _union(rows: exp.Select, by: str | None = None) -> exp.Select:
    """(bucket, by, lo, hi, p, p2): who has one of several values, as if these were independent.

    Args:
        rows: (bucket, by, whole, persons, lo, hi, a): of the `persons` with a value `lo` to `hi`
            fulfil the condition, and probably `a`. Every one of the `whole` people has a value.
    """
    keys = f"r.bucket, r.whole{f', r.{by}' if by else ''}"
    tree = query(
        f"select {keys}, greatest(max(r.lo), r.whole - sum(r.persons - r.lo))::bigint as lo,"
        " least(sum(r.hi), r.whole)::bigint as hi,"
        " case when bool_or(r.a >= r.whole) then 0 else"
        " exp(sum(ln(1 - r.a / r.whole)) filter (where r.a < r.whole)) end as none,"
        " case when bool_or(r.a >= r.whole - 1) then 0 else"
        " exp(sum(ln((1 - r.a / r.whole) * (1 - r.a / (r.whole - 1))))"
        " filter (where r.a < r.whole - 1)) end as neither"
        f" from r group by {keys}",
        {"r": rows},
    )
    given = {"n": fragment("t.whole"), "matching": fragment("t.lo")}
    return query(
        f"select t.bucket{f', t.{by}' if by else ''}, t.lo, t.hi,"
        " greatest(:share, 1 - t.none) as p,"
        " case when t.lo = t.hi or 1 - t.none <= :share then :pair"
        " when t.whole > 1 then 1 - 2 * t.none + t.neither else 0 end as p2 from t",
        {"t": tree},
        share=call("exact_share", **given),
        pair=call("exact_pair", **given),
    )


def _rows(fact: Fact, people: exp.Select, x: str) -> exp.Select:
    """The same of rows: `p` is how many of them somebody with rows has who fulfil the condition."""
    assert fact.table.rows is not None
    shown = query(
        "select r.value, sum(r.persons) as persons, sum(r.rows) as rows from r"
        " where r.column_name = :name group by r.value",
        {"r": fact.table.rows},
        name=text(x),
    )
    mean = query("select sum(r.rows) / sum(r.persons) from r", {"r": shown})
    return query(
        "select o.bucket, 0::bigint as lo, o.whole as hi, null::float8 as p2,"
        " sum(o.persons * o.m::int * coalesce(r.rows / r.persons::float8, :mean, 1)) / o.whole as p"
        " from o left join r on r.value is not distinct from o.x::text group by o.bucket, o.whole",
        {"o": people, "r": shown},
        mean=scalar(mean),
    )
