"""Mondrian's cuts as a rule of the rounds; see :mod:`pganon.methods.classes.mondrian`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.methods.classes.mondrian import cuts, loss
from pganon.methods.classes.mondrian.shape import CellShape
from pganon.methods.common.rounds.ranked import ranked
from pganon.methods.common.rounds.rule import RoundTable
from pganon.steps import State


@dataclass(frozen=True)
class BalancedCuts(CellShape):
    """The allowable cut nearest to balance."""

    def cutting(self) -> list[RoundTable]:
        def table(name: str, purpose: str, select: Callable[..., exp.Expr], *given: int):
            return RoundTable(name, purpose, lambda state: select(self, state, *given))

        in_order = "tried values in cutting order"
        hists = [
            table(f"hist{j}", "records per position and sensitive value", cuts.hist, j)
            for j in self.sensitive
        ]
        nearest = table("best", "the cut nearest to balance", cuts.best)
        if self.relaxed:
            return [
                table("ordered", "records in cutting order", cuts.ordered),
                table("ranked", in_order, cuts.ranked_halves),
                *hists,
                nearest,
            ]
        steps = [table("ranked", in_order, ranked), nearest]
        if not self.conditions:
            return steps
        return [
            *steps,
            *[
                table(
                    f"certain{j}", "cuts with a cell of values enough on each side", cuts.certain, j
                )
                for j in self.counted
            ],
            *[
                table(f"sides{j}", "sensitive values on both sides", cuts.sides, j)
                for j in self.sensitive
            ],
            table("checked", "whether both sides hold", cuts.checked),
            *hists,
            table("searched", "the nearest cut that holds", cuts.searched),
        ]

    def cuts(self, state: State) -> exp.Select:
        return cuts.cuts(self, state)

    def chosen(self, state: State) -> exp.Select:
        return loss.least(self, state) if self.by_loss else super().chosen(state)

    def side_columns(self, state: State) -> list[exp.Expr]:
        return [loss.promised(self, state)] if self.by_loss else []

    def is_left(self, state: State, table: str) -> exp.Expr:
        return cuts.is_left(self, state, table)

    def with_place(self, state: State, tree: exp.Select, table: str) -> exp.Select:
        return cuts.join_order(self, state, tree, table)
