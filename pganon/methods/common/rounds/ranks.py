"""Values of the tried attributes in cutting order."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.facts import weight_type
from pganon.methods.common.rounds.rule import CutRule, at
from pganon.sqltools import cast, col, fragment, query
from pganon.steps import State


def shown(rule: CutRule, state: State, *carried: str) -> exp.Select:
    """(node, attr, n, v, w, codes, carried): every cell with its value on every tried attribute."""
    return query(
        "select c.node, t.attr, t.n, :key as v, c.w"
        " from cells as c join tries as t on t.node = c.node",
        at(state, "cells", "tries"),
        key=rule.key(state, "t"),
    ).select(*[col(name, "c") for name in (*rule.codes, *carried)])


def order(rule: CutRule, table: str, weight: str) -> exp.Expr:
    """Sort key of values: falling frequency or the key itself."""
    return rule.by_attribute(
        col("attr", table),
        lambda axis: (
            exp.Neg(this=col(weight, table)) if rule.by_frequency(axis) else col("v", table)
        ),
    )


def ranked(rule: CutRule, state: State) -> exp.Expr:
    """(node, attr, v, w, n, pos, cum, [extents]): one row per value; see :func:`in_order`."""
    values = query(
        "select x.node, x.attr, x.v, :w as w from x group by x.node, x.attr, x.v",
        {"x": shown(rule, state)},
        w=total_weight(state, "x"),
    )
    return in_order(rule, state, values, "w")


def in_order(
    rule: CutRule, state: State, values: exp.Select, weight: str, parts: Sequence[str] = ()
) -> exp.Select:
    """Values with their position and cumulative weight, and what their cells cover.

    The extents are those of its cells on all attributes: enough for the extents of either
    side of any cut.

    Args:
        values: aggregates over cells `x`, by group, attribute, value and its parts.
        weight: column with the weight of a whole value.
        parts: columns by which a value is divided.
    """
    covered = rule.axes if rule.covers else ()
    extents = [item for axis in covered for item in axis.extent(state, "x")]
    by = [col("node", "g"), col("attr", "g")]
    placed = [order(rule, "g", weight), col("v", "g"), *[col(part, "g") for part in parts]]
    window = exp.Window(
        partition_by=by, order=exp.Order(expressions=[exp.Ordered(this=item) for item in placed])
    )
    tree = query(
        "select g.node, g.attr, g.v, g.w, t.n, :pos::int as pos, :cum::bigint as cum"
        " from g join tries as t on t.node = g.node and t.attr = g.attr",
        {"g": values.select(*extents), **at(state, "tries")},
        pos=exp.paren(_over(fragment("row_number()"), window)),
        cum=exp.paren(_over(fragment("sum(g.w)"), window, rows=True)),
    )
    extra = [*[item.alias for item in extents], *parts]
    return tree.select(*[col(name, "g") for name in extra])


def _over(aggregate: exp.Expr, window: exp.Window, *, rows: bool = False) -> exp.Window:
    tree = window.copy()
    tree.set("this", aggregate)
    if rows:
        tree.set("spec", exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING"))
    return tree


def total_weight(state: State, table: str) -> exp.Expr:
    return cast(fragment("sum(:w)", w=col("w", table)), weight_type(state))
