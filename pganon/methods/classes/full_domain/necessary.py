"""What follows of the requirements for any class with more records: sizes and values.

A class that fails it fails the requirements on every node below, too. Values are bits, one per
value of a sensitive column. Most models need some number of distinct ones. t-closeness with equal
distances needs values that have at least the share 1 - t of the source, since the distance is at
least the share of those that are absent.

present<j>  (byte, counts)  records of the source with the values of eight bits, by these, from 0
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from pganon.encode.facts import value_count
from pganon.encode.value_codes import valued
from pganon.encode.work import reference
from pganon.identifiers import QualifiedName
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from pganon.privacy.likeness import DeltaDisclosure, TCloseness
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, num, query, scalar, total
from pganon.steps import State

BITS = 64
_SLACK = 1e-6
"""Shares that differ less are equal, so that rounding excludes no class that passes."""

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
        return {
            index: n
            for index, n in words.items()
            if n <= MOST_WORDS and (self._least(index) or self._nearest(index) is not None)
        }

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
            if self._least(index):
                least = num(self._least(index))
                failing.append(fragment(":d < :l", d=self.distinct(index, table), l=least))
            if self._nearest(index) is not None:
                failing.append(self._too_far(index, table))
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
    def compared(self) -> list[int]:
        """Sensitive columns of which it needs :func:`present`."""
        return [index for index in self.words if self._nearest(index) is not None]

    def present(self, index: int) -> exp.Select:
        """SELECT byte, counts."""
        counted = query(
            "select p.byte, q.bits, coalesce(sum(r.n) filter"
            " (where (q.bits >> (r.value - 1 - 8 * p.byte)::int) & 1 = 1), 0)::bigint as n"
            " from generate_series(0, :last) as p(byte)"
            " cross join generate_series(0, 255) as q(bits)"
            " left join r on (r.value - 1) / 8 = p.byte group by p.byte, q.bits",
            {"r": self.state.work(reference(index, "source"))},
            last=num(self._bytes(index) - 1),
        )
        return query(
            "select c.byte, array_agg(c.n order by c.bits) as counts from c group by c.byte",
            {"c": counted},
        )

    def _bytes(self, index: int) -> int:
        return -(-self.state[value_count(index)] // 8)

    def _too_far(self, index: int, table: str) -> exp.Expr:
        """Whether the values that a class lacks are too many of the source."""
        counts: list[exp.Expr] = []
        for byte in range(self._bytes(index)):
            # Joined to nothing it is unpacked once, not for every class.
            array = query(
                "select p.counts || '{}'::bigint[] from p where p.byte = :b",
                {"p": present(index, self.state)},
                b=num(byte),
            )
            word = col(_column(index, byte // 8), table)
            bits = fragment("(:w >> :s) & 255", w=word, s=num(8 * (byte % 8)))
            counts.append(
                fragment("(:array)[:bits + 1]", array=scalar(array), bits=exp.paren(bits))
            )
        least = query(
            "select (sum(r.n) * :share)::float8 from r",
            {"r": self.state.work(reference(index, "source"))},
            share=exp.Literal.number(repr(1 - (self._nearest(index) or 0) - _SLACK)),
        )
        return fragment(":n < :least", n=exp.paren(total(counts)), least=scalar(least))

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

    def _nearest(self, index: int) -> float | None:
        """The least t of t-closeness with equal distances; None without it."""
        models = [r.model for r in self.spec.measured if r.sensitive == index]
        bounds = [m.t for m in models if isinstance(m, TCloseness) and m.distance == "equal"]
        return min(bounds, default=None)


def present(index: int, state: State) -> QualifiedName:
    """The table of the same name."""
    return state.work(f"present{index}")


def _column(index: int, word: int) -> str:
    return f"b{index}_{word}"
