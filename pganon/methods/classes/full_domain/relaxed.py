"""What follows of the requirements for any class with more records: sizes and distinct values.

A class that fails it fails the requirements on every node below, too. Distinct values are counted
from bits, one per value of a sensitive column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pganon.encode.facts import value_count
from pganon.encode.valued import valued
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from pganon.privacy.likeness import DeltaDisclosure
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, total
from pganon.steps import State

BITS = 64
MOST_WORDS = 16
"""Beyond, distinct values of a column are counted only where the models are measured."""

_NEED_VALUES = (DistinctLDiversity, EntropyLDiversity, RecursiveCLDiversity, RelativeFrequency)
"""Models of which a class needs as many distinct values as records."""


@dataclass(frozen=True)
class Relaxed:
    """Least size of a class, and least distinct values of sensitive columns."""

    spec: ReleaseSpec
    state: State

    @cached_property
    def words(self) -> dict[int, int]:
        """By the index of a sensitive column how many words of bits its values need."""
        every = {item.index: self.state[value_count(item.index)] for item in valued(self.spec)}
        words = {index: -(-count // BITS) for index, count in every.items()}
        return {index: n for index, n in words.items() if n <= MOST_WORDS and self._least(index)}

    @property
    def columns(self) -> list[str]:
        """Columns of bits."""
        return [_column(index, word) for index, n in self.words.items() for word in range(n)]

    def bits(self, table: str) -> list[exp.Expr]:
        """Aggregates over the codes of sensitive values in a table of records."""
        bit = "bit_or(case when (:s - 1) >> 6 = :w then 1::bigint << ((:s - 1) & 63) else 0 end)"
        return [
            named(fragment(bit, s=col(f"s{index}", table), w=num(word)), _column(index, word))
            for index, n in self.words.items()
            for word in range(n)
        ]

    def united(self, table: str) -> list[exp.Expr]:
        """The bits of a union of groups."""
        return [named(fragment("bit_or(:b)", b=col(name, table)), name) for name in self.columns]

    def fails(self, table: str) -> exp.Expr:
        """Whether a class of the table, with `n` records, fails."""
        failing = [fragment(":n < :k", n=col("n", table), k=num(self.spec.minimum_size))]
        for index in self.words:
            least = num(self._least(index))
            failing.append(fragment(":d < :l", d=self.distinct(index, table), l=least))
        return exp.paren(exp.or_(*failing))

    def distinct(self, index: int, table: str) -> exp.Expr:
        """Distinct values of a class of the table."""
        return total(
            [
                fragment("bit_count(:b::bit(64))", b=col(_column(index, word), table))
                for word in range(self.words[index])
            ]
        )

    @property
    def unmeasured(self) -> list[Requirement]:
        """The requirements that it does not settle."""
        return [r for r in self.spec.measured if not self._settles(r)]

    def _settles(self, requirement: Requirement) -> bool:
        model = requirement.model
        if not model.needs_values:
            return True
        return model.counts_distinct and requirement.sensitive in self.words

    def _least(self, index: int) -> int:
        """Distinct values that a class needs of a sensitive column; 0 if no model needs any."""
        models = [r.model for r in self.spec.measured if r.sensitive == index]
        if any(isinstance(model, DeltaDisclosure) for model in models):
            return self.state[value_count(index)]  # a class needs all values of the source
        needed = (model.minimum_size for model in models if isinstance(model, _NEED_VALUES))
        return max(needed, default=0)


def _column(index: int, word: int) -> str:
    return f"b{index}_{word}"
