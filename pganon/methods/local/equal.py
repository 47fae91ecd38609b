"""One group for records that show the same: what is not hidden is published exactly."""

from __future__ import annotations

from sqlglot import exp

from pganon.forms.work import GROUP_CELLS
from pganon.methods.local.displays import shown_check
from pganon.methods.local.placed import placed
from pganon.methods.local.shape import Shape, codes
from pganon.sqltools import col, named, query
from pganon.steps import CreateTable, State, Step


def equal_steps(shape: Shape) -> list[Step]:
    """From `placed` to `group_cells`."""
    return [
        CreateTable(
            "group_cells",
            "a group for each combination of values that are shown",
            lambda s: s.work(GROUP_CELLS),
            lambda s: _cells(shape, s),
        ),
        shown_check(shape, lambda s: s.work(GROUP_CELLS)),
    ]


def _cells(shape: Shape, state: State) -> exp.Expr:
    keys = [col("display", "p"), *codes(shape, "p")]
    order = exp.Order(expressions=[exp.Ordered(this=key.copy()) for key in keys])
    number = exp.Window(this=exp.RowNumber(), order=order)
    tree = query("select 1 from p", {"p": placed(shape, state)})
    tree = tree.select(named(number, "gid"), *keys, append=False)
    return tree.group_by(*[key.copy() for key in keys])
