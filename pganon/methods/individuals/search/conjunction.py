"""Several models at once."""

from __future__ import annotations

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
class Every:
    """All of some models: a class satisfies them if it satisfies each."""

    models: tuple[ClassModel, ...]

    @property
    def monotone(self) -> bool:
        return all(model.monotone for model in self.models)

    def state(self) -> ClassState:
        return _Every([model.state() for model in self.models])

    def resume(self, tally: Tally) -> ClassState:
        """A class that satisfies all models, of which this is known.

        More individuals can break bounds on shares and nothing else, so that it takes no more.
        """
        shares = [model for model in self.models if isinstance(model, IRAlphaBeta)]
        return _Every([model.resume(tally) for model in shares])


class _Every:
    def __init__(self, states: Sequence[ClassState]) -> None:
        self.states = states

    @property
    def satisfied(self) -> bool:
        return all(state.satisfied for state in self.states)

    def add(self, person: Person) -> None:
        for state in self.states:
            state.add(person)

    def merge(self, other: _Every) -> None:
        for state, others in zip(self.states, other.states, strict=True):
            state.merge(others)

    def admits(self, person: Person) -> bool:
        return all(state.admits(person) for state in self.states)
