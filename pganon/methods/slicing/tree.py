"""Buckets of classical slicing: Mondrian's cuts at the lower median, all buckets at once.

    judged    (rid, beside, c<i>, s<j>)        records; `beside` numbers their quasi-identifiers in
                                               the sensitive column
    cells_r   (node, beside, c<i>, s<j>, w)    equal records of the buckets that may be divided
    cuts_r    (node, attr, cut)                the cut that is tried for every bucket
    sides_r   (node, allowed)                  whether both halves satisfy the requirement
    done_r    (b0, c<i>)                       codes of the buckets that are final

A bucket is cut at the lower median of the attribute with the largest normalized width among those
that the median divides (the first of equals), and stays whole if a half misses the requirement;
other attributes are not tried (Li et al. 2012).

The requirement is on every bucket: for each combination of quasi-identifiers that stand in the
sensitive column, a sensitive value has at most 1/l of the bucket's records with it. The paper's
p(t, v), a mean of these shares over the buckets that a tuple matches, is then at most 1/l for every
tuple, fake ones included, and for who knows the bucket of a tuple as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import LOSS_DECIMALS, group_extents
from pganon.identifiers import quote
from pganon.methods.eligibility import ALL, Eligibility
from pganon.methods.pairs import paired
from pganon.methods.slicing.columns import arrangement
from pganon.methods.slicing.shape import SlicingShape
from pganon.sqltools import cast, col, fragment, named, num, query, stacked
from pganon.steps import Check, CreateTable, DropTables, Repeat, State, Step


def eligibility(shape: SlicingShape) -> Eligibility:
    """Records with the same quasi-identifiers in the sensitive column are a stratum."""
    frequency = shape.frequency(shape.sensitive.index, shape.l)
    return Eligibility(
        spec=shape.spec,
        first=lambda s: s.work("judged"),
        keep=lambda s: ["beside", *shape.codes, shape.value],
        conditions=lambda s: [frequency],
        model="slicing_l_diversity",
        stratum="beside",
        among=lambda s: _stratum(shape, s),
        remedy=lambda s: _alone(shape, s),
    )


def _alone(shape: SlicingShape, state: State) -> str | None:
    """How the sensitive column gets a table of its own, in which all records are one stratum."""
    if not arrangement(shape.spec, state).sensitive[0].quasi:
        return None
    if isinstance(shape.options.columns, tuple):
        return "list the sensitive column alone under columns"
    return "publish the sensitive column alone with alpha: 1"


def _stratum(shape: SlicingShape, state: State) -> str:
    beside = arrangement(shape.spec, state).sensitive[0].quasi
    names = ", ".join(quote(attribute.column.name) for attribute in beside)
    return f"records with the same {names}, which the sensitive column holds" if names else ALL


def tree_steps(shape: SlicingShape) -> list[Step]:
    first = CreateTable(
        "judged",
        "records with what buckets are judged by",
        lambda s: s.work("judged"),
        lambda s: _judged(shape, s),
    )
    return [
        first,
        *eligibility(shape).steps(),
        CreateTable(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: s.work("cells", round=0),
            lambda s: _cells(shape, s),
        ),
        Repeat(
            name="cut",
            purpose="cut every bucket where both halves satisfy the requirement",
            body=lambda number: _round(shape),
            until="finished",
            bound=lambda state: state.count("records") + 2,
        ),
        CreateTable(
            "gather",
            "the buckets of all codes",
            lambda s: s.work("gathered"),
            lambda s: stacked(
                [
                    query("select d.* from d", {"d": s.work("done", round=number)})
                    for number in range(s.count("cut_rounds"))
                ]
            ),
        ),
        CreateTable(
            "grouped",
            "the bucket of every record",
            lambda s: s.work("grouped"),
            lambda s: _grouped(shape, s),
        ),
        DropTables(
            "tidy",
            "what the buckets were made from",
            lambda s: [
                *[
                    s.work(name, round=number)
                    for number in range(s.count("cut_rounds"))
                    for name in ("cells", "cuts", "sides", "done")
                ],
                s.work("cells", round=s.count("cut_rounds")),
                s.work("gathered"),
                s.work("judged"),
                *eligibility(shape).leftovers(s),
            ],
        ),
    ]


def _judged(shape: SlicingShape, state: State) -> exp.Expr:
    beside = [
        col(f"c{attribute.index}", "c")
        for attribute in arrangement(shape.spec, state).sensitive[0].quasi
    ]
    number: exp.Expr = num(0)
    if beside:
        ranked = exp.Window(
            this=fragment("dense_rank()"),
            order=exp.Order(expressions=[exp.Ordered(this=code) for code in beside]),
        )
        number = cast(ranked, "integer")
    names = ["rid", *shape.codes, shape.value]
    tree = query("select :n as beside from c", {"c": state.work("coded")}, n=number)
    return tree.select(*[col(name, "c") for name in names])


def _cells(shape: SlicingShape, state: State) -> exp.Expr:
    keys = [col(name, "k") for name in ("beside", *shape.codes, shape.value)]
    tree = query(
        "select 1::bigint as node, count(*) as w from k", {"k": eligibility(shape).kept(state)}
    )
    return tree.select(*keys).group_by(*[key.copy() for key in keys])


# -- rounds -----------------------------------------------------------------------------------


def _round(shape: SlicingShape) -> Sequence[Step]:
    return [
        CreateTable(
            "cuts",
            "the cut to try for every bucket",
            lambda s: s.work("cuts", round=s.round),
            lambda s: _cuts(shape, s),
        ),
        CreateTable(
            "sides",
            "whether both halves satisfy the requirement",
            lambda s: s.work("sides", round=s.round),
            lambda s: _sides(shape, s),
        ),
        CreateTable(
            "done",
            "codes of final buckets",
            lambda s: s.work("done", round=s.round),
            lambda s: _done(shape, s),
            analyze=False,
        ),
        CreateTable(
            "cells",
            "cells of the halves",
            lambda s: s.work("cells", round=s.round + 1),
            lambda s: _next(shape, s),
        ),
        Check(
            "progress",
            "whether any bucket was divided",
            lambda s: query(
                "select not exists (select 1 from c) as finished",
                {"c": s.work("cells", round=s.round + 1)},
            ),
        ),
    ]


def _here(state: State, *names: str):
    return {name: state.work(name, round=state.round) for name in names}


def _key(shape: SlicingShape, place: int, state: State, table: str) -> exp.Expr:
    """The place of a value in canonical order, NULL last."""
    axis = shape.axes[place]
    code = col(axis.code, table)
    if not axis.has_null(state):
        return code
    return fragment("coalesce(nullif(:c, 0), :last)", c=code, last=num(axis.size(state) + 1))


def _cuts(shape: SlicingShape, state: State) -> exp.Expr:
    """(node, attr, cut): everything up to `cut` is one half."""
    medians = stacked([_median(shape, place, state) for place in range(len(shape.axes))])
    widths = stacked([_width(shape, place, state) for place in range(len(shape.axes))])
    return query(
        "select distinct on (m.node) m.node, m.attr, m.cut from m"
        " join w on w.node = m.node and w.attr = m.attr"
        " where m.cut < m.last order by m.node, w.width desc, m.attr",
        {"m": medians, "w": widths},
    )


def _median(shape: SlicingShape, place: int, state: State) -> exp.Select:
    """(node, attr, cut, last): the value of the record of rank (n - 1) / 2, and the last value."""
    weights = query(
        "select c.node, :key as key, sum(c.w) as w from cells as c group by 1, 2",
        _here(state, "cells"),
        key=_key(shape, place, state, "c"),
    )
    running = query(
        "select x.node, x.key, sum(x.w) over (partition by x.node order by x.key) as so_far,"
        " sum(x.w) over (partition by x.node) as n from x",
        {"x": weights},
    )
    return query(
        "select r.node, :attr as attr,"
        " min(r.key) filter (where r.so_far > div(r.n - 1, 2)) as cut, max(r.key) as last"
        " from r group by r.node",
        {"r": running},
        attr=num(place),
    )


def _width(shape: SlicingShape, place: int, state: State) -> exp.Select:
    axis = shape.axes[place]
    extents = group_extents(
        [axis], state, state.work("cells", round=state.round), ["node"], weighted=False
    )
    return query(
        "select e.node, :attr as attr, round(:width::numeric, :digits) as width from e",
        {"e": extents},
        attr=num(place),
        width=exp.paren(axis.loss(state, "e")),
        digits=num(LOSS_DECIMALS),
    )


def _is_left(shape: SlicingShape, state: State) -> exp.Expr:
    """Whether a cell `c` is in the first half by the cut `t`."""
    case = exp.Case(this=col("attr", "t"))
    for place in range(len(shape.axes)):
        key = _key(shape, place, state, "c")
        case = case.when(num(place), fragment(":k <= t.cut", k=key))
    return exp.paren(case)


def _sides(shape: SlicingShape, state: State) -> exp.Expr:
    """(node, allowed)"""
    halves = query(
        "select c.node, :left as side, c.beside, :v as value, sum(c.w) as n"
        " from cells as c join cuts as t on t.node = c.node group by 1, 2, 3, 4",
        _here(state, "cells", "cuts"),
        left=_is_left(shape, state),
        v=col(shape.value, "c"),
    )
    worst = query(
        "select h.node, h.side, h.beside, sum(h.n) as n, max(h.n) * :l <= sum(h.n) as holds"
        " from h group by h.node, h.side, h.beside",
        {"h": halves},
        l=num(shape.l),
    )
    sized = query(
        "select w.node, w.side, sum(w.n) >= :s and bool_and(w.holds) as holds from w"
        " group by w.node, w.side",
        {"w": worst},
        s=num(shape.spec.minimum_size),
    )
    return query("select z.node, bool_and(z.holds) as allowed from z group by z.node", {"z": sized})


def _done(shape: SlicingShape, state: State) -> exp.Expr:
    codes = [col(code, "c") for code in shape.codes]
    tree = query(
        "select distinct :pair as b0 from cells as c"
        " left join sides as s on s.node = c.node where not coalesce(s.allowed, false)",
        _here(state, "cells", "sides"),
        pair=paired(num(state.round), col("node", "c")),
    )
    return tree.select(*codes)


def _next(shape: SlicingShape, state: State) -> exp.Expr:
    allowed = query(
        "select t.*, row_number() over (order by t.node) as number from cuts as t"
        " join sides as s on s.node = t.node where s.allowed",
        _here(state, "cuts", "sides"),
    )
    tree = query(
        "select 2 * t.number - :left::int as node, c.w from cells as c join t on t.node = c.node",
        {**_here(state, "cells"), "t": allowed},
        left=_is_left(shape, state),
    )
    names = ("beside", *shape.codes, shape.value)
    return tree.select(*[named(col(name, "c"), name) for name in names])


def _grouped(shape: SlicingShape, state: State) -> exp.Expr:
    same = exp.and_(
        *[exp.EQ(this=col(code, "g"), expression=col(code, "k")) for code in shape.codes]
    )
    return query(
        "select k.rid, g.b0 from k join g on :same",
        {"k": eligibility(shape).kept(state), "g": state.work("gathered")},
        same=same,
    )
