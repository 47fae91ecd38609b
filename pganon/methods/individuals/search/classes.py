"""Individuals, and the classes made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from pganon.methods.common.search.elements import Domain
from pganon.methods.individuals.search.models import ClassModel, ClassState
from pganon.methods.individuals.search.pool import UNITS, Element, GrowingClass, Pool


class Counted(Protocol):
    """An individual, of whom a model may want to know more."""

    @property
    def records(self) -> int: ...


@dataclass(frozen=True, eq=False)
class Individuals:
    """Individuals in the order in which ties are broken; they are called by their place.

    Attributes:
        parts: per attribute the array of their parts, as the attribute makes it.
        people: their sensitive values, as the model takes them.
        base: what their element costs more than their records, summed over the records.
    """

    parts: Sequence[np.ndarray]
    people: Sequence[Counted]
    base: np.ndarray

    def __post_init__(self) -> None:
        sizes = {part.shape[1] for part in self.parts} | {len(self.base)}
        if sizes != {len(self.people)} or not self.parts:
            raise ValueError("attributes are needed, with a part for every individual")

    @property
    def records(self) -> np.ndarray:
        return np.array([person.records for person in self.people], dtype=np.int64)


@dataclass(frozen=True)
class Choice:
    """One decision of the search: an individual or a class joined a class, or nothing was near.

    Attributes:
        what: `individual` and `class` join the growing class, `residual` joins a finished one,
            `suppressed` joins none.
        number: of the individual, or of the class in the order in which classes were finished.
        distance: to the class joined, or to the nearest one if `suppressed`; infinite without any.
    """

    what: Literal["individual", "class", "residual", "suppressed"]
    number: int
    distance: float


@dataclass(eq=False)
class Class:
    """Members in the order of insertion, with what the model and the distances need of them."""

    members: list[int]
    state: ClassState
    cluster: GrowingClass


class Classes:
    """Finished classes in the order in which they were finished."""

    def __init__(
        self, individuals: Individuals, model: ClassModel, domains: Sequence[Domain]
    ) -> None:
        self.individuals = individuals
        self.model = model
        self.domains = domains
        self.made: list[Class] = []
        self.pool = Pool(domains, [part[:, :0] for part in individuals.parts], np.zeros(0))

    def start(self, individual: int) -> Class:
        """A class of one individual, not finished."""
        state = self.model.state()
        state.add(self.individuals.people[individual])
        return Class([individual], state, self._single(individual))

    def finish(self, item: Class) -> None:
        self.pool.append(len(self.made), item.cluster)
        self.made.append(item)

    def make(self, members: Sequence[int]) -> None:
        """Finish a class of the members given."""
        item = self.start(members[0])
        for individual in members[1:]:
            single = self._single(individual)
            item.members.append(individual)
            item.state.add(self.individuals.people[individual])
            item.cluster.join(single.element, single.records)
        self.finish(item)

    def adopt(self, element: Element, records: int, state: ClassState) -> None:
        """Finish a class of others, of which this is known."""
        self.finish(Class([], state, GrowingClass(self.domains, element, records)))

    def remaining(self) -> list[Class]:
        return [self.made[label] for label in self.pool.remaining()]

    def handle(self, individual: int, *, limited: bool = True) -> Choice:
        """Add an individual to the nearest class that still satisfies the model (Algorithm 7).

        If it is `limited`, only where that loses less than suppressing all their records does.
        """
        person, single = self.individuals.people[individual], self._single(individual)
        self.pool.aim(single)
        distances = self.pool.distances(single)
        most = np.inf
        if limited:
            spare = person.records * len(self.domains) - float(self.individuals.base[individual])
            most = np.rint(spare * UNITS)
        worth = np.flatnonzero(distances < most)
        for place in worth[np.argsort(distances[worth], kind="stable")].tolist():
            item = self.made[int(self.pool.labels[place])]
            if item.state.admits(person):
                self._add(place, item, individual, single)
                return Choice("residual", individual, float(distances[place]) / UNITS)
        return Choice("suppressed", individual, float(distances.min(initial=np.inf)) / UNITS)

    def _add(self, place: int, item: Class, individual: int, single: GrowingClass) -> None:
        item.members.append(individual)
        item.state.add(self.individuals.people[individual])
        item.cluster.join(single.element, single.records)
        self.pool.put(place, item.cluster)

    def _single(self, individual: int) -> GrowingClass:
        pairs = zip(self.domains, self.individuals.parts, strict=True)
        element = tuple(domain.part(parts, individual) for domain, parts in pairs)
        return GrowingClass(self.domains, element, self.individuals.people[individual].records)
