"""A query resolved against a release: which conditions are on which part of its columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from sqlglot import exp

from pganon.estimation.release import AskedRelease, Part, Published

Measure = Literal["count", "sum", "avg", "min", "max", "persons"]


@dataclass(frozen=True)
class Leaf:
    """A condition on columns of one part, counted where it is true."""

    part: Part
    condition: exp.Expr


@dataclass(frozen=True)
class Joined:
    """Conditions on different parts, all of which (`every`), or one of which, must hold."""

    every: bool
    items: tuple[Formula, ...]


Formula = Leaf | Joined


@dataclass(frozen=True)
class Key:
    """An expression of GROUP BY over the columns of one part."""

    part: Part
    expression: exp.Expr


@dataclass(frozen=True)
class Aggregate:
    """An aggregate of the list.

    Attributes:
        measure: `persons` is the number of individuals.
        column: what is counted, added or averaged; None for count(*).
    """

    measure: Measure
    column: Published | None


@dataclass(frozen=True)
class Item:
    """A column of the answer: a key by its number, or an aggregate."""

    name: str
    what: int | Aggregate


@dataclass(frozen=True)
class Question:
    """A query.

    Attributes:
        leaves: of WHERE, the condition on every part that must hold by itself.
        others: alternatives of WHERE on parts that are nowhere else.
        tangles: what of WHERE has conditions on one part in several places.
        having: what estimates and keys of a group must fulfil: `a` and `k` with their numbers are
            the columns.
        order: columns of the answer to sort by, each with whether it is descending, and whether
            missing values come first.
    """

    release: AskedRelease
    items: tuple[Item, ...]
    keys: tuple[Key, ...]
    leaves: Mapping[Part, Leaf] = field(default_factory=dict)
    others: tuple[Joined, ...] = ()
    tangles: tuple[Formula, ...] = ()
    having: exp.Expr | None = None
    order: tuple[tuple[str, bool, bool], ...] = ()
    limit: int | None = None

    @property
    def aggregates(self) -> list[tuple[str, Aggregate]]:
        return [(i.name, i.what) for i in self.items if isinstance(i.what, Aggregate)]

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts that the query is about, in order of first use."""
        found = [*self.leaves, *parts_of(self.others), *parts_of(self.tangles)]
        found += [key.part for key in self.keys]
        found += [a.column.part for _, a in self.aggregates if a.column is not None]
        if self.release.person is not None:
            found.append(self.release.person.part)
        return tuple(dict.fromkeys(found))

    def conditions(self, part: Part) -> list[exp.Expr]:
        """Those of WHERE on a part, one but in tangles."""
        formulas = [*self.leaves.values(), *self.others, *self.tangles]
        found = [leaf for formula in formulas for leaf in leaves_of(formula)]
        return [leaf.condition for leaf in dict.fromkeys(found) if leaf.part == part]

    def columns(self, part: Part) -> list[Published]:
        return [c for c in self.release.columns.values() if c.part == part]


def leaves_of(formula: Formula) -> Iterator[Leaf]:
    if isinstance(formula, Leaf):
        yield formula
        return
    for item in formula.items:
        yield from leaves_of(item)


def parts_of(formulas: Sequence[Formula]) -> list[Part]:
    return [leaf.part for formula in formulas for leaf in leaves_of(formula)]
