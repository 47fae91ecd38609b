"""Groups by cuts at medians (LGB_MDP): rounds over the weighted cells of all displays together.

Rounds cut large groups; the rest is :mod:`pganon.methods.local.median_search`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.facts import weight_type
from pganon.forms.work import GROUP_CELLS
from pganon.methods.common.rounds.median import MedianCuts
from pganon.methods.common.rounds.rounds import CutRounds, start_step
from pganon.methods.local.context import Context, codes
from pganon.methods.local.displays import shown_check
from pganon.methods.local.median_search import BLOCK, CELLS, GROUPS, final_cells, search_steps
from pganon.methods.local.placed import placed
from pganon.sqltools import cast, col, fragment, num, query
from pganon.steps import CreateTable, DropTables, State, Step


def median_steps(context: Context) -> list[Step]:
    """From `placed` to `group_cells`."""
    rule = MedianCuts(axes=context.axes, minimum_size=context.k, further=("display",))
    rounds = CutRounds(
        rule,
        "cut every group that a median divides, as long as there are large ones",
        GROUP_CELLS.name,
        most=BLOCK,
        beside=tuple(search_steps(context)),
        groups_beside=lambda s: final_cells(context, s),
    )
    return [
        *start_steps(context),
        *rounds.steps(),
        DropTables("tidy", "what was cut in blocks", lambda s: [s.work(CELLS), s.work(GROUPS)]),
    ]


def block_steps(context: Context, block_size: int, table: str) -> list[Step]:
    """From `placed` to a table (gid, display, codes) of groups of about `block_size` records."""
    rule = _BlockCuts(
        axes=context.axes,
        minimum_size=max(context.k, (block_size + 1) // 2),
        further=("display",),
        k=context.k,
        block_size=block_size,
    )
    return [
        *start_steps(context),
        *CutRounds(rule, "cut what is too large for a block", table).steps(),
    ]


@dataclass(frozen=True)
class _BlockCuts(MedianCuts):
    """Cuts at medians of the groups that are too large."""

    k: int = 1
    block_size: int = 1

    @property
    def fewest_right(self) -> int:
        return self.k

    def medians(self, state: State) -> exp.Select:
        return super().medians(state).where(fragment("r.n > :most", most=num(self.block_size)))


def start_steps(context: Context) -> list[Step]:
    """From `placed` to the cells and the groups that rounds start from."""
    return [
        CreateTable(
            "cells",
            "equal records collapse into weighted cells",
            lambda s: s.work("cells", round=0),
            lambda s: _cells(context, s),
        ),
        shown_check(context, lambda s: s.work("cells", round=0)),
        start_step(context.axes),
    ]


def _cells(context: Context, state: State) -> exp.Expr:
    """(node, display, codes, w): a display is a group to start from."""
    held = codes(context, "p")
    weight = cast(fragment("count(*)"), weight_type(state))
    tree = query(
        "select p.display + 1 as node, p.display, :w as w from p",
        {"p": placed(context, state)},
        w=weight,
    ).select(*held)
    return tree.group_by(col("display", "p"), *[code.copy() for code in held])
