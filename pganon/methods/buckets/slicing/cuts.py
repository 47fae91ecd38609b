"""Slicing's cuts as a rule of the rounds: at the lower median, where both halves are diverse.

A bucket is cut at the lower median of the attribute with the largest normalized width among those
that the median divides, the first of equals. If a half violates the requirement, the bucket stays
whole; other attributes are not tried (Li et al. 2012). NULL is last.

The requirement is on every bucket: for each combination of quasi-identifiers in the sensitive
column, a sensitive value has at most 1/l of the bucket's records with it. The paper's p(t, v) is a
mean of these shares over the buckets that a tuple matches. So it is at most 1/l for every tuple,
fake ones included, and also for a reader who knows the bucket of a tuple.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.methods.common.rounds.median import MedianCuts
from pganon.methods.common.rounds.rule import at, round_table
from pganon.sqltools import col, fragment, num, query
from pganon.steps import CreateTable, State


@dataclass(frozen=True, kw_only=True)
class SlicingCuts(MedianCuts):
    """The rule for cells with `beside`, the number of their combination, and a sensitive value.

    Attributes:
        further: the names of these two columns.
        l: least ratio of the records of a combination to those with its most frequent value.
    """

    l: int  # noqa: E741 (the field's own letter)

    @property
    def kept(self) -> list[str]:
        return []

    @property
    def fewest_right(self) -> int:
        return 1

    def code_key(self, axis: Axis, state: State, code: exp.Expr, level: exp.Expr) -> exp.Expr:
        if not axis.has_null(state):
            return code
        return fragment("coalesce(nullif(:c, 0), :last)", c=code, last=num(axis.size(state) + 1))

    def cutting(self) -> list[CreateTable]:
        sides = round_table("sides", "whether both halves satisfy the requirement", self.sides)
        return [*super().cutting(), sides]

    def cuts(self, state: State) -> exp.Select:
        return query(
            "select b.* from best as b join sides as s on s.node = b.node where s.allowed",
            at(state, "best", "sides"),
        )

    def untried(self, state: State) -> exp.Select:
        """Untried nodes that no median divides; others are cut at their median or stay whole."""
        return query(
            "select t.node, t.more from t where not exists"
            " (select 1 from sides as s where s.node = t.node)",
            {"t": super().untried(state), **at(state, "sides")},
        )

    def sides(self, state: State) -> exp.Select:
        """(node, allowed) of every bucket that a median divides."""
        beside, value = self.further
        halves = query(
            "select c.node, :left as side, :beside as beside, :value as value, sum(c.w) as n"
            " from cells as c join t on t.node = c.node group by 1, 2, 3, 4",
            {"t": self.competing(state, super().cuts(state)), **at(state, "cells")},
            left=self.is_left(state, "t"),
            beside=col(beside, "c"),
            value=col(value, "c"),
        )
        worst = query(
            "select h.node, h.side, h.beside, sum(h.n) as n, max(h.n) * :l <= sum(h.n) as holds"
            " from h group by h.node, h.side, h.beside",
            {"h": halves},
            l=num(self.l),
        )
        sized = query(
            "select w.node, w.side, sum(w.n) >= :smallest and bool_and(w.holds) as holds from w"
            " group by w.node, w.side",
            {"w": worst},
            smallest=num(self.minimum_size),
        )
        return query(
            "select z.node, bool_and(z.holds) as allowed from z group by z.node", {"z": sized}
        )
