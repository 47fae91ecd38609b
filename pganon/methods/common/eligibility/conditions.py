"""Frequency conditions of a method on the buckets of its strata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from pganon.encode.records import NUMBER
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, num
from pganon.steps import State
from pganon.steps.facts import count, or_null

FAILS = or_null(count("fails"))
"""First condition that a stratum violates; None if strata are too small or all are eligible."""

ALL = "the table"
"""Name of the one stratum of records that are not divided."""


@dataclass(frozen=True)
class Frequency:
    """A condition on every bucket: no value of a column in more than 1/l of its records.

    Attributes:
        column: work column with a code of the value.
        columns: indexes of the sensitive columns that it is made from.
        raised: whether l is one more than the policy asks for, because of NULL.
    """

    column: str
    columns: tuple[int, ...]
    l: int  # noqa: E741 (the field's own letter)
    raised: bool = False


@dataclass(frozen=True)
class Conditions:
    """Conditions of a method on the records of its strata.

    Attributes:
        first: the records before any is left out: `order`, codes and the columns of conditions.
        keep: columns that later steps read.
        conditions: by the state of the run, since they may be about tables that it decided.
        stratum: column of `first` with the stratum; None: all records are one.
        minimum: fewest records of a stratum.
        among: what a stratum is, for messages.
        remedy: how all records become one stratum, for messages.
        model: name of the privacy model.
        order: column with a random order of the records.
    """

    spec: ReleaseSpec
    first: Callable[[State], QualifiedName]
    keep: Callable[[State], Sequence[str]]
    conditions: Callable[[State], Sequence[Frequency]]
    model: str
    stratum: str | None = None
    minimum: int = 1
    among: Callable[[State], str] = lambda state: ALL
    remedy: Callable[[State], str | None] = lambda state: None
    order: str = NUMBER

    def table(self, state: State, number: int) -> QualifiedName:
        """The records after so many rounds of leaving some out."""
        return self.first(state) if number == 0 else state.work("kept", round=number)

    def records(self, state: State) -> QualifiedName:
        """The records of the current round."""
        return self.table(state, state.round)

    def part(self, table: str) -> exp.Expr:
        """The stratum of a row of `table`."""
        return num(0) if self.stratum is None else col(self.stratum, table)
