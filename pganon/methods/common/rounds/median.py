"""Cuts at the lower median of the widest attribute that it divides well enough.

The values of every kind of attribute are in the order of their codes, NULL first; trees are
ignored. Equal values stay together. Only the median of an attribute is tried: where it leaves a
side too small, the next attribute by normalized width is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis
from pganon.methods.common.rounds.rounds import ranked
from pganon.methods.common.rounds.rule import CutRule, at, round_table
from pganon.methods.common.search.medians import DECIMALS
from pganon.sqltools import col, fragment, num, query
from pganon.steps import CreateTable, State


@dataclass(frozen=True)
class MedianCuts(CutRule):
    """The rule of LGB_MDP (Li, He, Sun), for groups of at least `minimum_size` records.

    An attribute of which a group has one value, or which is 0 in all of its cells because they do
    not show it, has no width there and is never tried. Which width that is, the axes say.

    Attributes:
        further: columns that distinguish cells with the same codes. They are carried along to the
            groups, and nothing is decided by them.
    """

    further: tuple[str, ...] = ()

    @property
    def carried(self) -> list[str]:
        return list(self.further)

    @property
    def kept(self) -> list[str]:
        return list(self.further)

    @property
    def fewest_right(self) -> int:
        """Fewest records on the right of a median that divides its attribute."""
        return self.minimum_size

    def loss(self, axis: Axis, state: State, table: str) -> exp.Expr:
        """More than 0 for different values, though their places may be the same float."""
        if not isinstance(axis, OrderedAxis):
            return axis.loss(state, table)
        return fragment(
            "greatest(:loss, case when :lo < :hi then 1e-300 else 0 end)",
            loss=exp.paren(axis.loss(state, table)),
            lo=col(f"lo{axis.index}", table),
            hi=col(f"hi{axis.index}", table),
        )

    def rank(self, loss: exp.Expr) -> exp.Expr:
        return fragment("round(:loss::numeric, :digits)", loss=loss, digits=num(DECIMALS))

    def cutting(self) -> Sequence[CreateTable]:
        return [
            round_table("ranked", "tried values in cutting order", lambda s: ranked(self, s)),
            round_table("best", "the cut at the median", self.medians),
        ]

    def medians(self, state: State) -> exp.Select:
        """(node, attr, rank, cum, thr): the median of every try that it divides.

        The lower median is the first value up to which there are at least half of the records, so
        that the right side is never the larger one.
        """
        return query(
            "select r.node, r.attr, t.rank, r.cum, r.v as thr from ranked as r"
            " join tries as t on t.node = r.node and t.attr = r.attr"
            " where 2 * r.cum >= r.n and 2 * (r.cum - r.w) < r.n and r.n - r.cum >= :fewest",
            at(state, "ranked", "tries"),
            fewest=num(self.fewest_right),
        )
