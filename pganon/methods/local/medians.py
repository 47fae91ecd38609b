"""Groups by cuts at medians (LGB_MDP): rounds over the weighted cells of all displays together."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.codes import weight_type
from pganon.methods.local.shape import Shape, codes
from pganon.methods.rounds.median import MedianCuts
from pganon.methods.rounds.rounds import CutRounds, start_step
from pganon.sqltools import cast, col, fragment, num, query
from pganon.steps import CreateTable, State, Step


def median_steps(shape: Shape) -> list[Step]:
    """From `placed` to `group_cells`."""
    rule = MedianCuts(axes=shape.axes, minimum_size=shape.k, further=("display",))
    return cut_steps(shape, rule, "cut every group that a median divides", "group_cells")


def block_steps(shape: Shape, block_size: int, table: str) -> list[Step]:
    """From `placed` to a table (gid, display, codes) of groups of about `block_size` records."""
    rule = _BlockCuts(
        axes=shape.axes,
        minimum_size=max(shape.k, (block_size + 1) // 2),
        further=("display",),
        k=shape.k,
        block_size=block_size,
    )
    return cut_steps(shape, rule, "cut what is too large for a block", table)


@dataclass(frozen=True)
class _BlockCuts(MedianCuts):
    """The same as long as a group is too large."""

    k: int = 1
    block_size: int = 1

    @property
    def fewest_right(self) -> int:
        return self.k

    def medians(self, state: State) -> exp.Select:
        return super().medians(state).where(fragment("r.n > :most", most=num(self.block_size)))


def cut_steps(shape: Shape, rule: MedianCuts, purpose: str, table: str) -> list[Step]:
    return [
        CreateTable(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: s.work("cells", round=0),
            lambda s: _cells(shape, s),
        ),
        start_step(shape.axes),
        *CutRounds(rule, purpose, table).steps(),
    ]


def _cells(shape: Shape, state: State) -> exp.Expr:
    """(node, display, codes, w): a display is a group to start from."""
    held = codes(shape, "p")
    weight = cast(fragment("count(*)"), weight_type(state))
    tree = query(
        "select p.display + 1 as node, p.display, :w as w from p",
        {"p": state.work("placed")},
        w=weight,
    ).select(*held)
    return tree.group_by(col("display", "p"), *[code.copy() for code in held])
