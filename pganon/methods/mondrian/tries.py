"""Which attributes to try for each active group."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import group_extents
from pganon.methods.mondrian.shape import Shape, at
from pganon.plan.sqltools import col, fragment, named, num, query, total
from pganon.plan.steps import State

_WIDEST = """
    with l as materialized (select * from losses)
    select x.* from (
    select f.node, f.n, :attr::smallint as attr, :level::smallint as level, 1::smallint as rank,
    :more as more
    from (select l.*, :top as top from l where l.failed is null) as f where f.top > 0
    union all
    select r.node, r.n, r.attr, r.level, r.rank::smallint as rank, false as more
    from (
        select l.node, l.n, a.attr, a.level,
        row_number() over (partition by l.node order by a.loss desc, a.attr) as rank
        from l cross join lateral (select v.* from attributes as v) as a
        where l.failed is not null and a.loss > 0 and a.attr <> l.failed
    ) as r
    ) as x
"""


def tries(shape: Shape, state: State) -> exp.Expr:
    """(node, n, attr, level, rank, more): attributes with something to gain.

    By width, the widest attribute of every group; of a group in which that one was tried in
    vain, all others, widest first. By loss, all attributes.
    """
    losses = _losses(shape, state)
    if shape.by_loss:
        return query(
            "select l.node, l.n, a.attr, a.level, a.attr as rank, false as more"
            " from losses as l cross join lateral (select v.* from attributes as v) as a"
            " where a.loss > 0",
            {"losses": losses, "attributes": _rows(shape)},
        )
    levels, top = exp.Case(), []
    first = exp.Case()
    for axis in shape.axes:
        i = axis.index
        widest = fragment(":loss = f.top", loss=col(f"l{i}", "f"))
        first.when(widest, num(i), copy=False)
        levels.when(widest.copy(), col(f"level{i}", "f"), copy=False)
        top.append(col(f"l{i}", "l"))
    several = total(
        [fragment("(:l > 0)::int", l=col(f"l{axis.index}", "f")) for axis in shape.axes]
    )
    return query(
        _WIDEST,
        {"losses": losses, "attributes": _rows(shape)},
        attr=exp.paren(first),
        level=exp.paren(levels),
        more=exp.paren(fragment(":several > 1", several=several)),
        top=exp.func("greatest", *top) if len(top) > 1 else top[0],
    )


def _losses(shape: Shape, state: State) -> exp.Select:
    """(node, n, failed, l<i>, level<i>): weighted loss and level of every active group."""
    active = query("select c.* from cells as c where c.node > 0", at(state, "cells"))
    extents = group_extents(shape.axes, state, active, ["node"])
    tree = query(
        "select e.node, e.n, d.failed from e join nodes as d on d.node = e.node",
        {"e": extents, **at(state, "nodes")},
    )
    for axis in shape.axes:
        loss = fragment(
            ":loss::float8 * :weight::float8",
            loss=exp.paren(axis.loss(state, "e")),
            weight=exp.Literal.number(repr(axis.attribute.weight)),
        )
        level = fragment(":level::smallint", level=exp.paren(axis.level(state, "e")))
        columns = named(loss, f"l{axis.index}"), named(level, f"level{axis.index}")
        tree.select(*columns, copy=False)
    # Without the offset the planner would merge this query with the one around it, which names
    # every loss several times, and compute it as often.
    return tree.offset(0)


def _rows(shape: Shape) -> exp.Select:
    """Lateral rows (attr, level, loss), one per attribute, of the losses in `l`."""
    values = exp.Values(
        expressions=[
            exp.Tuple(
                expressions=[
                    fragment(":i::smallint", i=num(axis.index)),
                    col(f"level{axis.index}", "l"),
                    col(f"l{axis.index}", "l"),
                ]
            )
            for axis in shape.axes
        ],
        alias=exp.TableAlias(
            this=exp.to_identifier("v"),
            columns=[exp.to_identifier(name) for name in ("attr", "level", "loss")],
        ),
    )
    return exp.select("v.attr", "v.level", "v.loss").from_(values)
