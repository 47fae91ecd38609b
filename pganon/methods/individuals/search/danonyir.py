"""DAnonyIR: classes grown from one individual after the other (Wang, Du, Luo and Li 2019).

Algorithm 1. A class takes the nearest individual or finished class until it satisfies the model.
If the last one cannot, the classes it took in are finished again as they were, which the paper
leaves open; its other individuals join the classes nearest to them or are suppressed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from pganon.methods.common.search.elements import Domain
from pganon.methods.individuals.search.classes import Choice, Class, Classes, Individuals
from pganon.methods.individuals.search.models import ClassModel
from pganon.methods.individuals.search.pool import UNITS, Pool


@dataclass(frozen=True)
class Grown:
    """Classes and who is left out.

    Attributes:
        classes: individuals in the order of insertion; classes in the order of their completion.
        suppressed: individuals in no class.
        loss: information lost, in records times attributes; a suppressed record loses all.
        choices: every decision in its order.
    """

    classes: list[list[int]]
    suppressed: list[int]
    loss: float
    choices: list[Choice]


def danonyir(
    individuals: Individuals,
    model: ClassModel,
    domains: Sequence[Domain],
    *,
    residual: Literal["restore", "paper"] = "restore",
    handle: Literal["loss", "suppress"] = "loss",
    seed_order: Iterable[int] = (),
) -> Grown:
    """Classes that satisfy the model. There are none if everybody has to be suppressed.

    Args:
        individuals: in random order.
        domains: one attribute for every array of parts.
        residual: `paper` gives up classes that the last one took in.
        handle: `suppress` leaves out everybody in no class without looking for one, so that no
            sensitive value decides who is.
        seed_order: individuals from whom classes start, before the others in their order.
    """
    growth = _Growth(individuals, model, domains)
    remaining: list[int] = []
    for seed in chain(seed_order, range(len(individuals.people))):
        if growth.free[seed]:
            remaining = growth.grow(seed, restore=residual == "restore")
    classes, choices = growth.classes, growth.choices
    suppressed = remaining
    if handle == "loss":
        handled = [classes.handle(individual) for individual in remaining]
        suppressed = [choice.number for choice in handled if choice.what == "suppressed"]
        choices += handled
    loss = total_loss(individuals, classes.remaining(), suppressed, domains)
    return Grown([item.members for item in classes.remaining()], suppressed, loss, choices)


def total_loss(
    individuals: Individuals,
    classes: Sequence[Class],
    suppressed: Sequence[int],
    domains: Sequence[Domain],
) -> float:
    """Loss of all records (equation 14)."""
    records = individuals.records
    added = -individuals.base
    for domain, parts in zip(domains, individuals.parts, strict=True):
        added = added + records * domain.costs(parts)
    added[suppressed] = 0
    lost = sum(item.cluster.records * item.cluster.cost for item in classes)
    return float(lost + len(domains) * records[suppressed].sum() - added.sum())


class _Growth:
    """Individuals who are in no class yet, and finished classes.

    Attributes:
        free: per individual, whether they are in no class.
    """

    def __init__(
        self, individuals: Individuals, model: ClassModel, domains: Sequence[Domain]
    ) -> None:
        self.people = individuals.people
        self.pool = Pool(domains, individuals.parts, individuals.records)
        self.classes = Classes(individuals, model, domains)
        self.free = [True] * len(individuals.people)
        self.choices: list[Choice] = []

    def grow(self, seed: int, *, restore: bool) -> list[int]:
        """Grow a class from a seed; individuals that are left if it cannot be finished."""
        item, absorbed = self._start(seed), []
        while not item.state.satisfied and self.pool.count:
            place, distance = self.pool.nearest(item.cluster)
            other, further = self.classes.pool.nearest(item.cluster)
            if distance <= further:
                self._add(item, place, distance)
            else:
                self._absorb(item, other, further)
                absorbed.append(other)
        if item.state.satisfied:
            self.classes.finish(item)
            return []
        return self._restored(item, absorbed) if restore else item.members

    def _start(self, seed: int) -> Class:
        self.pool.compact()
        self.classes.pool.compact()
        item = self.classes.start(seed)
        self.pool.take(self.pool.place(seed))
        self.free[seed] = False
        self._aim(item)
        return item

    def _add(self, item: Class, place: int, distance: float) -> None:
        individual = int(self.pool.labels[place])
        person = self.people[individual]
        self.pool.take(place)
        self.free[individual] = False
        item.members.append(individual)
        item.state.add(person)
        self._aim(item, item.cluster.join(self.pool.element(place), person.records))
        self.choices.append(Choice("individual", individual, distance / UNITS))

    def _absorb(self, item: Class, place: int, distance: float) -> None:
        label = int(self.classes.pool.labels[place])
        other = self.classes.made[label]
        self.classes.pool.take(place)
        item.members += other.members
        item.state.merge(other.state)
        self._aim(item, item.cluster.join(other.cluster.element, other.cluster.records))
        self.choices.append(Choice("class", label, distance / UNITS))

    def _aim(self, item: Class, changed: Sequence[int] | None = None) -> None:
        # A finished class needs no more distances.
        if not item.state.satisfied:
            self.pool.aim(item.cluster, changed)
            self.classes.pool.aim(item.cluster, changed)

    def _restored(self, item: Class, absorbed: Sequence[int]) -> list[int]:
        safe: set[int] = set()
        for place in absorbed:
            self.classes.pool.restore(place)
            safe.update(self.classes.made[int(self.classes.pool.labels[place])].members)
        return [individual for individual in item.members if individual not in safe]
