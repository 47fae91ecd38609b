"""Models of identity reservation, measured while a class grows.

Wang, Du, Luo and Li (2019, definitions 3.1 to 3.8 and Algorithms 4 to 6). All comparisons are of
whole numbers, so equality with a bound is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

from pganon.methods.common.search.masks import mask_of
from pganon.methods.individuals.search.hitting_sets import LazyWitness


@dataclass(frozen=True)
class Person:
    """Records of an individual in a class.

    Attributes:
        counts: records of every sensitive code, each at least 1; NULL has a code like any other.
    """

    counts: Mapping[int, int]

    def __post_init__(self) -> None:
        if not self.counts or min(self.counts.values()) < 1:
            raise ValueError("an individual needs records, and every value of theirs one")

    @cached_property
    def records(self) -> int:
        return sum(self.counts.values())

    @cached_property
    def mask(self) -> int:
        """The set of sensitive codes, as bits."""
        return mask_of(self.counts)


@dataclass(frozen=True)
class Tally:
    """Counts of a class that bounds on shares read.

    Attributes:
        people: number of individuals.
        records: number of records.
        largest: most records of one individual.
        of_value: records of every sensitive code.
        holders: individuals that have every sensitive code.
    """

    people: int
    records: int
    largest: int
    of_value: Mapping[int, int]
    holders: Mapping[int, int]


class ClassState(Protocol):
    """A class so far, of what its model counts as individuals."""

    @property
    def satisfied(self) -> bool: ...

    def add(self, person: Any) -> None: ...

    def merge(self, other: Any) -> None:
        """Add the individuals of another class of the same model, which stays as it is."""
        ...

    def admits(self, person: Any) -> bool:
        """Whether the class would satisfy the model with one more individual."""
        ...


class ClassModel(Protocol):
    """A model: what a new class of nobody is like."""

    @property
    def monotone(self) -> bool:
        """Whether a class that satisfies the model does so with any further individual."""
        ...

    def state(self) -> ClassState: ...


@dataclass(frozen=True)
class IRKL:
    """IR (k, l)-anonymity: k individuals and l distinct values; with l = 1 IR k-anonymity."""

    k: int
    l: int = 1  # noqa: E741 (the letter of the definition)
    monotone = True

    def __post_init__(self) -> None:
        _whole(self.k, self.l)

    def state(self) -> ClassState:
        return _Distinct(self)


@dataclass(frozen=True)
class EIRL:
    """EIR l-diversity: every hitting set of the individuals' sets of values has l values."""

    l: int  # noqa: E741 (the letter of the definition)
    monotone = True

    def __post_init__(self) -> None:
        _whole(self.l)

    def state(self) -> ClassState:
        return _Hit(self.l)


@dataclass(frozen=True)
class IRAlphaBeta:
    """IR (alpha, beta)-anonymity: bounds on an individual's and on a value's share of records.

    Attributes:
        individuals: EIR (alpha, beta)-anonymity: the value's share is of the individuals.
    """

    alpha: Fraction
    beta: Fraction
    individuals: bool = False
    monotone = False

    def __post_init__(self) -> None:
        if not (0 < self.alpha <= 1 and 0 < self.beta <= 1):
            raise ValueError("alpha and beta must lie in (0, 1]")

    def state(self) -> ClassState:
        return _Shares(self)

    def resume(self, tally: Tally) -> ClassState:
        """A class of which this is known."""
        state = _Shares(self)
        state.largest = tally.largest
        counts = tally.holders if self.individuals else tally.of_value
        state.extend(tally.people, tally.records, counts)
        return state


def eir_alpha_beta(alpha: Fraction, beta: Fraction) -> IRAlphaBeta:
    """EIR (alpha, beta)-anonymity."""
    return IRAlphaBeta(alpha, beta, individuals=True)


def _whole(*parameters: int) -> None:
    if min(parameters) < 1:
        raise ValueError("k and l must be integers >= 1")


class _Distinct:
    def __init__(self, model: IRKL) -> None:
        self.model = model
        self.people = 0
        self.values = 0

    @property
    def satisfied(self) -> bool:
        return self.people >= self.model.k and self.values.bit_count() >= self.model.l

    def add(self, person: Person) -> None:
        self.people += 1
        self.values |= person.mask

    def merge(self, other: _Distinct) -> None:
        self.people += other.people
        self.values |= other.values

    def admits(self, person: Person) -> bool:
        enough = self.people + 1 >= self.model.k
        return enough and (self.values | person.mask).bit_count() >= self.model.l


class _Hit:
    def __init__(self, l: int) -> None:  # noqa: E741
        self.witness = LazyWitness(l)

    @property
    def satisfied(self) -> bool:
        return self.witness.satisfied

    def add(self, person: Person) -> None:
        self.witness.add(person.mask)

    def merge(self, other: _Hit) -> None:
        self.witness.merge(other.witness)

    def admits(self, person: Person) -> bool:
        if self.satisfied:
            return True
        trial = LazyWitness(self.witness.l)
        trial.merge(self.witness)
        return trial.add(person.mask)


class _Shares:
    def __init__(self, model: IRAlphaBeta) -> None:
        self.model = model
        self.people = self.records = 0
        self.largest = 0
        self.counts: dict[int, int] = {}
        self.most = 0

    @property
    def satisfied(self) -> bool:
        return self.people > 0 and self._within(self.people, self.records, self.largest, self.most)

    def add(self, person: Person) -> None:
        self.largest = max(self.largest, person.records)
        self.extend(1, person.records, self._counted(person))

    def merge(self, other: _Shares) -> None:
        self.largest = max(self.largest, other.largest)
        self.extend(other.people, other.records, other.counts)

    def admits(self, person: Person) -> bool:
        largest = max(self.largest, person.records)
        counts = self._counted(person)
        most = max(self.counts.get(value, 0) + number for value, number in counts.items())
        records = self.records + person.records
        return self._within(self.people + 1, records, largest, max(self.most, most))

    def _counted(self, person: Person) -> Mapping[int, int]:
        return dict.fromkeys(person.counts, 1) if self.model.individuals else person.counts

    def extend(self, people: int, records: int, counts: Mapping[int, int]) -> None:
        self.people += people
        self.records += records
        # Counts only grow, so the greatest needs no second look at the others.
        for value, number in counts.items():
            count = self.counts[value] = self.counts.get(value, 0) + number
            self.most = max(self.most, count)

    def _within(self, people: int, records: int, largest: int, most: int) -> bool:
        whole = people if self.model.individuals else records
        return _at_most(largest, self.model.alpha, records) and _at_most(
            most, self.model.beta, whole
        )


def _at_most(part: int, share: Fraction, whole: int) -> bool:
    return part * share.denominator <= share.numerator * whole
