"""Random queries: answered from the published relations alone, compared with exact answers.

mdraws      see :mod:`pganon.metrics.draws`
mqueries    one row per query: what it asks of attribute i as first<i>, last<i>, also as distances
            from the lowest, low<i> and high<i>, or bits<i>; all NULL where it does not restrict i
mshares     (query, group_id, share, fewest, most)   of the records of a group, those that match,
            as far as it shows
mtotals     (group_id, size, n, t<j>)     published records and sums of every group
mexact      (query, n, t<j>)              answers on the source; no row: nothing matches
mestimate   (query, n, t<j>, lower, upper)   answers from what is published, and bounds of n

Where queries restrict a sensitive column:

mqueries    also (item, first, last, bits)   the column, and what is asked of it
mrecords    (cell, c<i>, item, code, n, t<j>)   records of the source by the values of each column
mmatches   (query, item, cell)           what matches but for the sensitive column
mtotals     (group_id, size, item, code, n, t<j>)   by value; `size` are all records of the group

Queries depend on the seed and the source's values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.sensitive import with_code
from pganon.forms.form import Description, Tables
from pganon.forms.match_counts import Matched, both, call, exact
from pganon.forms.request import Workload
from pganon.forms.shape import values
from pganon.metrics import queries
from pganon.metrics.answers import bounds_step, error_step
from pganon.metrics.draws import (
    ASKS,
    holds,
    matches,
)
from pganon.metrics.queries import draws
from pganon.metrics.source import cell_number, discrete, on_line, records, summed
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import (
    aliased,
    cast,
    col,
    computed_once,
    conjunction,
    fragment,
    named,
    num,
    query,
    stacked,
)
from pganon.steps import State, Step, table


def steps(
    spec: ReleaseSpec,
    description: Description,
    tables: Callable[[State], Tables],
    workload: Workload,
) -> list[Step]:
    attributes = axes(spec.attributes)
    sums = [f"t{item.number}" for item in summed(spec)]
    restricts = bool(workload.sensitive)
    exact = _exact_by_value if restricts else _exact

    def totals(published: exp.Select, state: State) -> exp.Expr:
        if restricts:
            return query(
                "select h.*, sum(h.n) over (partition by h.item, h.group_id) as size from h",
                {"h": _by_value(spec, published, ["group_id"], state)},
            )
        sizes = "select x.group_id, count(*) as size, count(*) as n from x group by x.group_id"
        return _added(query(sizes, {"x": published}), spec)

    made: list[Step] = []
    if restricts:
        made += queries.dictionary_steps(spec, lambda s: _all_records(spec, description, s))
    made.append(
        table(
            "workload_draws",
            "random predicates",
            lambda s: draws(spec, workload, s),
            into="mdraws",
        )
    )
    if restricts:
        made.append(
            table(
                "workload_records",
                "source records by codes and sensitive value",
                lambda s: _records(spec, _all_records(spec, description, s), s),
                into="mrecords",
            )
        )
    made += [
        table(
            "workload_queries",
            "random queries",
            lambda s: _queries(attributes, workload, s),
            into="mqueries",
        ),
        table(
            "workload_totals",
            "published records and sums by group",
            lambda s: totals(values(description.shape(spec, s), tables(s)), s),
            into="mtotals",
        ),
        *(
            [
                table(
                    "workload_matching",
                    "source records that match but for the sensitive column",
                    lambda s: _matching(attributes, s),
                    into="mmatches",
                )
            ]
            if restricts
            else []
        ),
        table(
            "workload_exact",
            "answers on the source",
            lambda s: exact(attributes, sums, s),
            into="mexact",
        ),
        table(
            "workload_shares",
            "shares of groups that match",
            lambda s: shares(attributes, s),
            into="mshares",
        ),
        table(
            "workload_estimate",
            "answers from the published relations",
            lambda s: _estimate(sums, s, restricts=restricts),
            into="mestimate",
        ),
    ]
    proved = all(attribute.covers for attribute in spec.attributes)
    bounds = bounds_step(lambda s: s.work("mestimate") if proved else None)
    return [*made, *[error_step(name) for name in ("n", *sums)], bounds]


def _all_records(spec: ReleaseSpec, description: Description, state: State) -> exp.Select:
    held = [f"v{item.index}" for item in spec.sensitive] + [item.work for item in summed(spec)]
    names = [*[axis.code for axis in axes(spec.attributes)], *dict.fromkeys(held)]
    return records(spec, description, names, state)


def _queries(attributes: Sequence[Axis], workload: Workload, state: State) -> exp.Expr:
    tree = query("select q.q as query from generate_series(1, :n) as q(q)", n=num(workload.queries))
    count, drawn = len(attributes), {"d": state.work("mdraws")}
    asked: list[tuple[str, exp.Select]] = []
    for axis in attributes:
        mine = query("select d.query from d where d.x = :i", drawn, i=num(axis.index))
        if on_line(axis):
            places = state.work(f"mplaces{axis.index}")
            for name, end in (("low", "first"), ("high", "last")):
                on = exp.EQ(this=col("code", name), expression=col(end, "d"))
                mine = mine.join(aliased(places, name), on=on, join_type="left")
                mine = mine.select(col(end, "d"), named(col("away", name), name))
        else:
            mine = mine.select(col("bits", "d"))
        asked.append((str(axis.index), mine))
    if workload.sensitive:
        mine = query("select d.query, d.x - :n as item from d where d.x >= :n", drawn, n=num(count))
        asked.append(("", mine.select(*[col(name, "d") for name in ASKS])))
    for x, mine in asked:
        alias = f"a{x}"
        names = [name for name in mine.named_selects if name != "query"]
        tree = tree.select(*[named(col(name, alias), f"{name}{x}") for name in names])
        on = fragment(":mine = q.q", mine=col("query", alias))
        tree = tree.join(aliased(mine, alias), on=on, join_type="left")
    return tree


# -- answers ------------------------------------------------------------------------------------


def _added(tree: exp.Select, spec: ReleaseSpec) -> exp.Select:
    """With sums of the columns of `x`, as t<j>."""
    for item in summed(spec):
        added = fragment("coalesce(sum(:v), 0)", v=cast(col(item.work, "x"), "float8"))
        tree = tree.select(named(added, f"t{item.number}"))
    return tree


def _by_value(spec: ReleaseSpec, rows: exp.Select, keys: Sequence[str], state: State) -> exp.Select:
    """(keys.., item, code, n, t<j>): records by the values of each sensitive column."""
    parts: list[exp.Select] = []
    for item in spec.sensitive:
        coded = query("select t.* from t", {"t": rows})
        coded = with_code(coded, item, col(f"v{item.index}", "t"), state)
        by = [col(name, "x") for name in keys]
        code = col(f"s{item.index}", "x")
        tree = query(
            "select :item as item, :code as code, count(*) as n from x",
            {"x": coded},
            item=num(item.index),
            code=code,
        ).select(*by)
        parts.append(_added(tree, spec).group_by(*[key.copy() for key in (*by, code)]))
    return stacked(parts)


def _records(spec: ReleaseSpec, rows: exp.Select, state: State) -> exp.Expr:
    names = [axis.code for axis in axes(spec.attributes)]
    return query("select h.* from h", {"h": _by_value(spec, rows, names, state)}).select(
        named(cell_number(names, "h"), "cell")
    )


def _exact(attributes: Sequence[Axis], sums: Sequence[str], state: State) -> exp.Expr:
    tree = query(
        "select q.query, sum(s.n)::float8 as n from q join s on :matches group by q.query",
        {"q": state.work("mqueries"), "s": state.work("msource")},
        matches=_all_match(attributes, "s"),
    )
    return tree.select(*[named(exp.Sum(this=col(name, "s")), name) for name in sums])


def _matching(attributes: Sequence[Axis], state: State) -> exp.Expr:
    """Predicates on quasi-identifiers are compared once per cell, not with every record."""
    cells = query("select distinct r.cell from r", {"r": state.work("mrecords")})
    return query(
        "select q.query, q.item, c.cell from q join c on :matches",
        {
            "q": state.work("mqueries"),
            "c": cells.select(*[col(axis.code, "r") for axis in attributes]),
        },
        matches=_all_match(attributes, "c"),
    )


def _exact_by_value(attributes: Sequence[Axis], sums: Sequence[str], state: State) -> exp.Expr:
    tree = query(
        "select q.query, sum(r.n)::float8 as n from q join m on m.query = q.query"
        " join r on r.cell = m.cell and r.item = m.item and :holds group by q.query",
        {
            "q": state.work("mqueries"),
            "m": state.work("mmatches"),
            "r": state.work("mrecords"),
        },
        holds=holds("", col("code", "r")),
    )
    return tree.select(*[named(exp.Sum(this=col(name, "r")), name) for name in sums])


def _all_match(attributes: Sequence[Axis], table: str) -> exp.Expr:
    return conjunction(
        [
            exp.paren(matches(str(axis.index), col(axis.code, table), on_line=on_line(axis)))
            for axis in attributes
        ]
    )


def _estimate(sums: Sequence[str], state: State, *, restricts: bool) -> exp.Expr:
    """The sum over groups of their content, times the matching shares of their published values."""
    same: exp.Expr = fragment("t.group_id = p.group_id")
    if restricts:
        same = exp.and_(same, fragment("t.item = q.item"), holds("", col("code", "t")))
    # With a sensitive column several of its values may match.
    groups = query(
        "select q.query, p.share, p.fewest, p.most, t.size from q join p on p.query = q.query"
        " join t on :same",
        {
            "q": state.work("mqueries"),
            "p": state.work("mshares"),
            "t": state.work("mtotals"),
        },
        same=same,
    )
    for name in ("n", *sums):
        value = col(name, "t")
        groups = groups.select(named(exp.Sum(this=value) if restricts else value, name))
    if restricts:
        groups = groups.group_by("q.query", "p.group_id", "p.share", "p.fewest", "p.most", "t.size")
    leaves = Matched(col("fewest", "g"), col("most", "g"), col("share", "g"), exp.null())
    size = col("size", "g")
    found = both(size, [leaves, exact(size, col("n", "g"))])
    return query(
        "select g.query, sum(:fewest) as lower, sum(:most) as upper from g group by g.query",
        {"g": groups},
        fewest=found.fewest,
        most=found.most,
    ).select(*[named(fragment("sum(g.share * :t)", t=col(t, "g")), t) for t in ("n", *sums)])


@dataclass(frozen=True)
class Asked:
    """What a predicate asks of the values that a published value may stand for.

    Attributes:
        size, matching: how many these are, NULL among them, and how many of them match. Of other
            numbers than whole ones there are two: those that match, and the others.
        share: of values that match, if all are equally likely; NULL if nothing is covered.
        attained, certain: values that some record surely has, and those of them that match.
    """

    size: exp.Expr
    matching: exp.Expr
    share: exp.Expr
    attained: exp.Expr
    certain: exp.Expr


def asked_on_line(axis: Axis, below: exp.Expr, above: exp.Expr, table: str) -> Asked:
    """Of the values between two distances from the source's lowest, as `away` of mplaces<i>."""
    i = axis.index
    parts = {name: col(f"{name}{i}", table) for name in ("low", "high", "z")}
    parts |= {"below": below, "above": above}

    def read(text: str) -> exp.Expr:
        return fragment(text, **{k: v.copy() for k, v in parts.items() if f":{k}" in text})

    nothing = "case when :low is null or :below is null then 0 else {} end"
    inside = "greatest(0, least(:high, :above) - greatest(:low, :below){})"
    ends, hold = "0", "0"
    if axis.attribute.attained:
        ends = "case when :low is null then 0 when :low = :high then 1 else 2 end"
        hold = nothing.format(
            "(:low between :below and :above)::int"
            " + (:high > :low and :high between :below and :above)::int"
        )
    if discrete(axis):
        size, matching = "coalesce(:high - :low + 1, 0) + :z::int", inside.format(" + 1")
        share = fragment(":m / :n", m=read(nothing.format(matching)), n=exp.paren(read(size)))
    else:
        size = "2 + :z::int"
        matching = "(:low <= :above and :high >= :below)::int"
        matching += " + (:low >= :below and :high <= :above)::int"
        one = "(:low between :below and :above)::int::float8 / (1 + :z::int)"
        length = f"{inside.format('')} / (:high - :low)"
        share = read(nothing.format(f"case when :low = :high then {one} else {length} end"))
    ends = _and_null(axis, read(ends), table)
    return Asked(read(size), read(nothing.format(matching)), share, ends, read(hold))


def _and_null(axis: Axis, attained: exp.Expr, table: str) -> exp.Expr:
    """Some record lacks the value where NULL is shown, unless a region is."""
    if axis.attribute.in_regions:
        return attained
    return fragment(":s + :z::int", s=attained, z=col(f"z{axis.index}", table))


def asked_of_set(axis: Axis, bits: exp.Expr, table: str) -> Asked:
    """Of the values whose bit is set."""
    size = col(f"covers{axis.index}", table)
    matching = fragment("bit_count(:q & :b)", q=bits, b=col(f"bits{axis.index}", table))
    share = fragment(":m::float8 / nullif(:n, 0)", m=matching, n=size)
    if axis.attribute.attained:
        return Asked(size, matching, share, size, matching)
    return Asked(size, matching, share, _and_null(axis, num(0), table), num(0))


def leaf(n: exp.Expr, asked: Asked) -> Matched:
    """Bounds of how many of the n records of a group match, and their share.

    As in the papers that ask random queries, no value is taken as attained in the share.
    """
    return Matched(
        call("box_lower", n=n, size=asked.size, matching=asked.matching, certain=asked.certain),
        call(
            "box_upper",
            n=n,
            matching=asked.matching,
            attained=asked.attained,
            certain=asked.certain,
        ),
        asked.share,
        exp.null(),
    )


def asked_by_query(axis: Axis) -> Asked:
    """What a query `q` of mqueries asks of a row `b` of mboxes; without a predicate all match."""
    i = axis.index
    if on_line(axis):
        given = col(f"first{i}", "q")
        asked = asked_on_line(axis, col(f"low{i}", "q"), col(f"high{i}", "q"), "b")
    else:
        given = col(f"bits{i}", "q")
        asked = asked_of_set(axis, given, "b")
    free = {"size": 1, "matching": 1, "share": 1, "attained": 0, "certain": 0}
    return Asked(
        **{
            name: fragment(f"case when :q is null then {free[name]} else :v end", q=given, v=value)
            for name, value in asdict(asked).items()
        }
    )


def shares(attributes: Sequence[Axis], state: State) -> exp.Expr:
    """mshares of :mod:`pganon.metrics.workload`: every attribute is a condition of an estimate."""
    found = query(
        "select q.query, b.group_id, b.n from q cross join b",
        {"q": state.work("mqueries"), "b": state.work("mboxes")},
    )
    leaves: list[Matched] = []
    for axis in attributes:
        asked = asdict(asked_by_query(axis))
        # Most groups miss one of the predicates.
        found = found.where(fragment(":m > 0", m=asked["matching"].copy()))
        found = found.select(*[named(v, f"{name}{axis.index}") for name, v in asked.items()])
        shown = Asked(**{name: col(f"{name}{axis.index}", "x") for name in asked})
        leaves.append(leaf(col("n", "x"), shown))
    return query(
        "select x.query, x.group_id, :share as share, :fewest as fewest, :most as most from x",
        {"x": computed_once(found)},
        **{k: v for k, v in vars(both(col("n", "x"), leaves)).items() if k != "pair"},
    )
