"""Several models at once, each about one sensitive column or about none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pganon.methods.individuals.search.models import (
    ClassModel,
    ClassState,
    IRAlphaBeta,
    Person,
    Tally,
)


@dataclass(frozen=True)
class Individual:
    """Records of an individual, by the sensitive column."""

    columns: tuple[Person, ...]

    @classmethod
    def of(cls, codes: Sequence[Sequence[int]]) -> Individual:
        """Args: codes: by column, that of every record."""
        return cls(tuple(Person(Counter(column)) for column in codes))

    @property
    def records(self) -> int:
        return self.columns[0].records


@dataclass(frozen=True)
class Every:
    """All of some models: a class satisfies them if it satisfies each.

    Attributes:
        models: with the place of the column that they are about; any of one about none.
        columns: number of sensitive columns.
    """

    models: tuple[tuple[int, ClassModel], ...]
    columns: int = 1

    @property
    def monotone(self) -> bool:
        return all(model.monotone for _, model in self.models)

    def state(self) -> ClassState:
        return _Every([(column, model.state()) for column, model in self.models])

    def resume(self, tallies: Sequence[Tally]) -> ClassState:
        """A class that satisfies all models, of which this is known of every column.

        More individuals can break bounds on shares and nothing else, so that it takes no more.
        """
        shares = [(at, model) for at, model in self.models if isinstance(model, IRAlphaBeta)]
        return _Every([(at, model.resume(tallies[at])) for at, model in shares])


class _Every:
    def __init__(self, states: Sequence[tuple[int, ClassState]]) -> None:
        self.states = states

    @property
    def satisfied(self) -> bool:
        return all(state.satisfied for _, state in self.states)

    def add(self, person: Individual) -> None:
        for column, state in self.states:
            state.add(person.columns[column])

    def merge(self, other: _Every) -> None:
        for (_, state), (_, others) in zip(self.states, other.states, strict=True):
            state.merge(others)

    def admits(self, person: Individual) -> bool:
        return all(state.admits(person.columns[column]) for column, state in self.states)
