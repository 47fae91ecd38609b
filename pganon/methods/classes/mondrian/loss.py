"""`choose: loss`: which of the cuts that compete leaves the least loss over all attributes."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import LOSS_DECIMALS, TreeAxis, weighted_loss
from pganon.methods.classes.mondrian import cuts
from pganon.methods.classes.mondrian.shape import CellShape
from pganon.methods.common.rounds.rule import at
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State


def promised(shape: CellShape, state: State) -> exp.Expr:
    """What the cells of a side lose on the attribute if that is a tree and is cut to its end.

    A tree pays only when all children of the common ancestor are apart, which takes several cuts,
    so the first of them is judged by what they come to together.
    """
    case = exp.Case(this=col("attr", "r"))
    for axis in shape.axes:
        if isinstance(axis, TreeAxis):
            left = axis.child_loss(state, col("v", "r"), col("level", "b"))
            case = case.when(num(axis.index), left)
    loss = case.else_(num(0)) if case.args.get("ifs") else num(0)
    return named(fragment("sum(r.w * :p)", p=loss), "promised")


def least(shape: CellShape, state: State) -> exp.Select:
    """(node, attr, level, cum, thr, mask): the one cut of every group that has any."""
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
    names = ("node", "attr", *shape.cut_columns)
    return query(
        "select 1 from b join l on l.node = b.node and l.attr = b.attr",
        {"b": cuts.cuts(shape, state), "l": least},
    ).select(*[col(name, "b") for name in names], append=False)
