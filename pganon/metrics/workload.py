"""Random queries: answered from the published relations alone, compared with exact answers.

mqueries    see draws; first<i> and last<i> also as distances from the lowest, low<i> and high<i>
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

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.sensitive import with_code
from pganon.forms.form import Description, Tables
from pganon.forms.matched import Matched, both, exact
from pganon.forms.request import Workload
from pganon.metrics import sensitive
from pganon.metrics.answers import bounds_step, error_step
from pganon.metrics.draws import (
    ASKS,
    Domain,
    drawn,
    gathered,
    holds,
    matches,
    restricting,
    share,
    some,
    starts,
)
from pganon.metrics.leaves import shares
from pganon.metrics.source import cell_number, on_line, records, summed
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, conjunction, fragment, named, num, query, stacked
from pganon.steps import CreateTable, State, Step


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
            return _totals_by_value(spec, published, state)
        return _totals(spec, published)

    drawn = [_drawing_step(axis, len(attributes), workload) for axis in attributes]
    by_value = _by_sensitive_value(spec, description, workload) if restricts else []
    answered = [
        CreateTable(
            "workload_queries",
            "random queries",
            lambda s: s.work("mqueries"),
            lambda s: _queries(attributes, workload, s),
        ),
        CreateTable(
            "workload_totals",
            "published records and sums by group",
            lambda s: s.work("mtotals"),
            lambda s: totals(description.values(spec, tables(s)), s),
        ),
        *([_matching_step(attributes)] if restricts else []),
        CreateTable(
            "workload_exact",
            "answers on the source",
            lambda s: s.work("mexact"),
            lambda s: exact(attributes, sums, s),
        ),
        CreateTable(
            "workload_shares",
            "shares of groups that match",
            lambda s: s.work("mshares"),
            lambda s: shares(attributes, s),
        ),
        CreateTable(
            "workload_estimate",
            "answers from the published relations",
            lambda s: s.work("mestimate"),
            lambda s: _estimate(sums, s, restricts=restricts),
        ),
    ]
    proved = all(attribute.covers for attribute in spec.attributes)
    bounds = bounds_step(lambda s: s.work("mestimate") if proved else None)
    return [*drawn, *by_value, *answered, *[error_step(name) for name in ("n", *sums)], bounds]


def _drawing_step(axis: Axis, attributes: int, workload: Workload) -> Step:
    return CreateTable(
        f"workload_draw{axis.index}",
        f"random predicates on attribute {axis.index + 1}",
        lambda s: s.work(f"mdraw{axis.index}"),
        lambda s: _drawn(axis, attributes, workload, s),
    )


def _matching_step(attributes: Sequence[Axis]) -> Step:
    return CreateTable(
        "workload_matching",
        "source records that match but for the sensitive column",
        lambda s: s.work("mmatches"),
        lambda s: _matching(attributes, s),
    )


def _by_sensitive_value(
    spec: ReleaseSpec, description: Description, workload: Workload
) -> list[Step]:
    held = [f"v{item.index}" for item in spec.sensitive] + [item.work for item in summed(spec)]
    names = [*[axis.code for axis in axes(spec.attributes)], *dict.fromkeys(held)]

    def all_records(state: State) -> exp.Select:
        return records(spec, description, names, state)

    return [
        *sensitive.dictionary_steps(spec, all_records),
        CreateTable(
            "workload_draw",
            "random predicates on sensitive columns",
            lambda s: s.work("mdraw"),
            lambda s: _drawn_sensitive(spec, workload, s),
        ),
        CreateTable(
            "workload_records",
            "source records by codes and sensitive value",
            lambda s: s.work("mrecords"),
            lambda s: _records(spec, all_records(s), s),
        ),
    ]


# -- queries ------------------------------------------------------------------------------------


def _drawn(axis: Axis, count: int, workload: Workload, state: State) -> exp.Expr:
    """(query, first, last, low, high) or (query, bits) of the queries that restrict `axis`."""
    size = axis.size(state)
    domain = Domain(axis.index, size, size, axis.dictionary(state))
    wide = domain.wide(share(count, workload))
    mine = restricting(workload, count, axis.index)
    if not on_line(axis):
        return some(domain, mine, workload.seed, wide)
    return query(
        "select s.query, s.first, s.first + :wide - 1 as last, l.away as low,"
        " h.away as high from s left join p as l on l.code = s.first"
        " left join p as h on h.code = s.first + :wide - 1",
        {
            "s": starts(domain, mine, workload.seed, wide),
            "p": state.work(f"mplaces{axis.index}"),
        },
        wide=num(wide),
    )


def _drawn_sensitive(spec: ReleaseSpec, workload: Workload, state: State) -> exp.Expr:
    """(query, item, first, last, bits): a row for every query."""
    count = len(spec.attributes)
    asked = share(count, workload)
    columns = sensitive.columns(spec, workload, state)
    tree = query(
        "select d.query, d.x - :count as item from d",
        {"d": stacked([drawn(column, workload.seed, asked) for column in columns])},
        count=num(count),
    )
    return tree.select(*[col(name, "d") for name in ASKS])


def _queries(attributes: Sequence[Axis], workload: Workload, state: State) -> exp.Expr:
    line, bits = ("first", "last", "low", "high"), ("bits",)
    asked = {str(axis.index): line if on_line(axis) else bits for axis in attributes}
    if workload.sensitive:
        asked[""] = ("item", *ASKS)
    return gathered(state, workload.queries, asked)


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


def _totals(spec: ReleaseSpec, published: exp.Select) -> exp.Expr:
    tree = query(
        "select x.group_id, count(*) as size, count(*) as n from x group by x.group_id",
        {"x": published},
    )
    return _added(tree, spec)


def _totals_by_value(spec: ReleaseSpec, published: exp.Select, state: State) -> exp.Expr:
    return query(
        "select h.*, sum(h.n) over (partition by h.item, h.group_id) as size from h",
        {"h": _by_value(spec, published, ["group_id"], state)},
    )


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
