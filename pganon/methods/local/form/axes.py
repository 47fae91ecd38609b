"""Losses relative to the values that are shown. Hidden values do not count.

The methods compare unordered values by the loss of their paper, (values covered) / (values), 0 for
a single one. What is published of a release is :func:`ncp`, as of every other method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, NominalAxis, OrderedAxis, TreeAxis
from pganon.methods.common.attribute_arrays import attribute_arrays
from pganon.methods.common.block_search import Given
from pganon.methods.common.search.attributes import Values
from pganon.methods.local.form import facts
from pganon.resolved.model import Attribute, Scale
from pganon.sqltools import col, fragment, named, num, total
from pganon.steps import State
from pganon.steps.facts import Fact


class ShownLine(OrderedAxis):
    """A line whose length is the declared domain, else the span of the values that are shown."""

    def length(self, state: State) -> float:
        if self.attribute.domain is not None:
            return 1.0
        return state[facts.length(self.index)] or 1.0

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

    def domain(self, state: State) -> int:
        return self.number(state)

    def number(self, state: State) -> int:
        """Number of values that a group could cover."""
        declared = self.attribute.values
        if declared is not None:
            return len(declared) + state[facts.null_shown(self.index)]
        return int(state[facts.length(self.index)])

    def loss(self, state: State, table: str) -> exp.Expr:
        return fragment(
            "case when :d < 2 then 0 else :d::float8 / :m end",
            d=exp.paren(self.distinct(state, table)),
            m=num(max(self.number(state), 1)),
        )


def ncp(axis: Axis, state: State, table: str) -> exp.Expr:
    """NCP of what a group shows; see docs/reference/measures.md."""
    if isinstance(axis, ShownNames):
        return axis.loss_of(state, exp.paren(axis.distinct(state, table)))
    return axis.loss(state, table)


def paper_loss(axis: Axis, state: State, ncp: exp.Expr) -> exp.Expr:
    """The loss of the paper where a group has this NCP."""
    if not isinstance(axis, NominalAxis):
        return ncp
    values = max(axis.domain(state), 1)
    return fragment(
        "case when :ncp > 0 then (:ncp * :others + 1) / :m else 0 end",
        ncp=exp.paren(ncp),
        others=num(values - 1),
        m=num(values),
    )


_AXES = {Scale.ORDERED: ShownLine, Scale.NOMINAL: ShownNames, Scale.TREE: TreeAxis}


def shown_axes(attributes: tuple[Attribute, ...]) -> tuple[Axis, ...]:
    """The axes of attributes, with the losses of this module."""
    return tuple(_AXES[attribute.scale](attribute) for attribute in attributes)


def shown_arrays(axis: Axis, state: State, given: Given) -> Values:
    """The values of an attribute, with the length of the line that is shown."""
    values = attribute_arrays(axis, state, given)
    return replace(values, length=axis.length(state)) if isinstance(axis, ShownLine) else values


def measured_facts(axis: Axis) -> list[Fact[Any]]:
    """Facts of the columns of :func:`measured`."""
    if isinstance(axis, ShownLine):
        return [facts.length(axis.index)]
    if isinstance(axis, ShownNames):
        return [facts.length(axis.index), facts.null_shown(axis.index)]
    return []


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
        return [named(length, facts.length(axis.index).column)]
    if isinstance(axis, ShownNames):
        count = _different(axis, state, table, shown)
        null = fragment("count(*) filter (where :c = 0 and :shown)", c=code, shown=shown)
        missing = fragment("least(:null, 1)::int", null=null)
        return [
            named(count, facts.length(axis.index).column),
            named(missing, facts.null_shown(axis.index).column),
        ]
    return []


def _different(axis: ShownNames, state: State, table: str, shown: exp.Expr) -> exp.Expr:
    """Number of codes that are shown; few codes as bits, which parallel workers can combine."""
    extent = [
        exp.Filter(this=item.this, expression=exp.Where(this=shown.copy()))
        for item in axis.extent(state, table)
    ]
    if not axis.words(state):
        return extent[0]
    bits = [fragment("coalesce(bit_count((:word)::bit(64)), 0)", word=word) for word in extent]
    return total(bits)
