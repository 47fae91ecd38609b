"""What lies on both sides of the cuts that compete, and which of them is taken."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import LOSS_DECIMALS, Axis, TreeAxis, weighted_loss
from pganon.identifiers import QualifiedName
from pganon.methods.mondrian import cuts
from pganon.methods.mondrian.shape import CellShape, at, same
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State

SIDE = ("node", "attr", "is_left")


def competing(shape: CellShape, state: State) -> exp.Select:
    """(node, attr, level, cum, thr, mask): of every group the cuts on the widest attributes.

    None yet of a group that has fewer than can compete while attributes are left to try.
    """
    return query(
        "select p.node, p.attr, p.level, p.cum, p.thr, p.mask from ("
        " select b.*, t.more,"
        " row_number() over (partition by b.node order by b.rank) as place,"
        " count(*) over (partition by b.node) as allowed"
        " from b join tries as t on t.node = b.node and t.attr = b.attr) as p"
        " where p.place <= :most and (p.allowed >= :most or not p.more)",
        {"b": cuts.cuts(shape, state), **at(state, "tries")},
        most=num(shape.candidates),
    )


def halves(shape: CellShape, state: State) -> exp.Expr:
    """(node, attr, level, is_left, n, extents, [promised]): both sides of these cuts.

    `promised` is what the cells of the side lose on the attribute if that is a tree and is cut to
    its end. A tree pays only when all children of the common ancestor are apart, which takes
    several cuts, so the first of them is judged by what they come to together.
    """
    tree = query(
        "select r.node, r.attr, r.cum <= b.cum as is_left, sum(r.w)::bigint as n"
        " from ranked as r join b on b.node = r.node and b.attr = r.attr"
        " group by r.node, r.attr, r.cum <= b.cum",
        {"b": competing(shape, state), **at(state, "ranked")},
    )
    known = [axis for axis in shape.axes if shape.covers and axis.merged(state, "r")]
    tree = tree.select(*[item for axis in known for item in axis.merged(state, "r")])
    if shape.by_loss:
        tree = tree.select(named(fragment("sum(r.w * :p)", p=_promise(shape, state)), "promised"))
    counted = [axis for axis in shape.axes if axis not in known]
    if not counted:
        return tree
    return (
        query("select m.* from m", {"m": tree})
        .join(_counted(shape, state, counted).subquery("k"), on=same("k", "m", SIDE))
        .select(*[col(item.alias, "k") for axis in counted for item in axis.extent(state, "c")])
    )


def _promise(shape: CellShape, state: State) -> exp.Expr:
    case = exp.Case(this=col("attr", "r"))
    for axis in shape.axes:
        if isinstance(axis, TreeAxis):
            left = axis.child_loss(state, col("v", "r"), col("level", "b"))
            case = case.when(num(axis.index), left)
    return case.else_(num(0)) if case.args.get("ifs") else num(0)


def _counted(shape: CellShape, state: State, counted: list[Axis]) -> exp.Select:
    """(node, attr, is_left, extents) of attributes of which `ranked` does not tell enough."""
    side = exp.paren(cuts.is_left(shape, state, "b"))
    tree = query(
        "select b.node, b.attr, :left as is_left from cells as c join b on b.node = c.node",
        {"b": competing(shape, state), **at(state, "cells")},
        left=side,
    )
    tree = cuts.join_order(shape, state, tree, "b")
    tree = tree.select(*[item for axis in counted for item in axis.extent(state, "c")])
    return tree.group_by(col("node", "b"), col("attr", "b"), side.copy())


def chosen(shape: CellShape, state: State) -> exp.Select:
    """(node, attr, level, cum, thr, mask): the one cut of every group that has any."""
    names = ("node", "attr", "level", "cum", "thr", "mask")
    if not shape.by_loss:
        return competing(shape, state)
    found: exp.Select | QualifiedName = cuts.cuts(shape, state)
    left_over = query(
        "select e.node, e.attr, round(sum(e.n * :loss + e.promised)::numeric, :digits) as loss"
        " from halves as e group by e.node, e.attr",
        at(state, "halves"),
        loss=exp.paren(weighted_loss(shape.axes, state, "e", tried=col("attr", "e"))),
        digits=num(LOSS_DECIMALS),
    )
    least = query(
        "select distinct on (l.node) l.node, l.attr from l order by l.node, l.loss, l.attr",
        {"l": left_over},
    )
    return query(
        "select 1 from b join l on l.node = b.node and l.attr = b.attr",
        {"b": found, "l": least},
    ).select(*[col(name, "b") for name in names], append=False)
