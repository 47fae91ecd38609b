"""Losses of the method: shares of what is shown, not of what the source has.

The loss of unordered values is (values covered) / (values), 0 for a single one; that of a line is
relative to the span of the values that are shown. Hidden values count in neither.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis
from pganon.spec.model import Attribute, Scale
from pganon.sqltools import col, fragment, named, num
from pganon.steps import State


class ShownLine(OrderedAxis):
    """A line whose length is the declared domain, else the span of the values that are shown."""

    def length(self, state: State) -> float:
        if self.attribute.domain is not None:
            return 1.0
        return float(state.facts[length_fact(self)] or 0) or 1.0  # pyright: ignore

    def loss(self, state: State, table: str) -> exp.Expr:
        span = fragment(
            "(:hi - :lo) / :length",
            hi=self.position(state, col(f"hi{self.index}", table)),
            lo=self.position(state, col(f"lo{self.index}", table)),
            length=exp.Literal.number(repr(self.length(state))),
        )
        return self._mixed_costs_one(state, table, span)


class ShownNames(NominalAxis):
    """Unordered values, NULL among them where it is shown."""

    def number(self, state: State) -> int:
        """All values that a group could cover."""
        declared = self.attribute.values
        shown = state.count(length_fact(self))
        return shown if declared is None else len(declared) + state.count(null_fact(self))

    def loss(self, state: State, table: str) -> exp.Expr:
        return fragment(
            "case when :d < 2 then 0 else :d::float8 / :m end",
            d=exp.paren(self.distinct(state, table)),
            m=num(max(self.number(state), 1)),
        )


_AXES = {Scale.ORDERED: ShownLine, Scale.NOMINAL: ShownNames, Scale.TREE: TreeAxis}


def shown_axes(attributes: tuple[Attribute, ...]) -> tuple[Axis, ...]:
    return tuple(_AXES[attribute.scale](attribute) for attribute in attributes)


def length_fact(axis: Axis) -> str:
    """Fact: the span of the values of a line that are shown, or the number of names."""
    return f"shown{axis.index}"


def null_fact(axis: Axis) -> str:
    """Fact: 1 if a NULL is shown."""
    return f"shown_null{axis.index}"


def measured(axis: Axis, state: State, table: str, shown: exp.Expr) -> list[exp.Expr]:
    """Aggregates over records that become these facts; `shown` says which show the column."""
    code = col(axis.code, table)
    if isinstance(axis, ShownLine):
        ends = [
            axis.position(state, fragment(f"{end}(:c) filter (where :c > 0 and :shown)", **parts))
            for parts in ({"c": code, "shown": shown},)
            for end in ("max", "min")
        ]
        length = fragment("coalesce(:hi - :lo, 0)", hi=ends[0], lo=ends[1])
        return [named(length, length_fact(axis))]
    if isinstance(axis, ShownNames):
        count = fragment("count(distinct :c) filter (where :shown)", c=code, shown=shown)
        null = fragment("count(*) filter (where :c = 0 and :shown)", c=code, shown=shown)
        missing = fragment("least(:null, 1)::int", null=null)
        return [named(count, length_fact(axis)), named(missing, null_fact(axis))]
    return []
