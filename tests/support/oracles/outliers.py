"""What Mondrian leaves out of final classes, from the rule in the docs, class by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.support.oracles.definitions import Attribute, Group, Mondrian


class Undecided(Exception):
    """Equally good candidates, of which the limit allows some alone."""


@dataclass(frozen=True)
class Candidate:
    """What a class may leave out.

    Attributes:
        worth: gain per record that is left out.
        kept: what stays; nothing, if the whole class goes.
        order: what decides between equal ones of a class.
    """

    worth: float
    less: int
    kept: Group
    order: tuple[int, ...]


@dataclass(frozen=True)
class Outliers:
    """The brute force.

    Attributes:
        method: the partitioning with its attributes and requirements.
        price: of a record that is left out, as a share of the largest loss.
    """

    method: Mondrian
    price: float

    def remaining(self, groups: Sequence[Group], allowed: int) -> list[Group]:
        """The classes without what is left out, at most `allowed` records.

        Raises:
            Undecided: where it depends on the numbers of classes.
        """
        classes = [list(group) for group in groups]
        while allowed > 0:
            best = {number: self._best(group, allowed) for number, group in enumerate(classes)}
            offers = [
                (one.worth, number, one)
                for number, one in best.items()
                if one is not None and (not one.kept or self.method.satisfied(one.kept))
            ]
            offers.sort(key=lambda offer: -offer[0])
            taken: list[tuple[int, Candidate]] = []
            total = 0
            for worth, number, one in offers:
                if total + one.less > max(allowed // 2, one.less):
                    if any(best[other].worth == worth for other, _ in taken):  # pyright: ignore
                        raise Undecided
                    break
                total += one.less
                taken.append((number, one))
            if not taken:
                break
            allowed -= total
            for number, one in taken:
                classes[number] = one.kept
            classes = [group for group in classes if group]
        return classes

    def _best(self, group: Group, allowed: int) -> Candidate | None:
        offers = [one for one in self.candidates(group) if one.less <= allowed and one.worth > 0]
        return min(offers, key=lambda one: (-one.worth, one.less, one.order), default=None)

    def candidates(self, group: Group) -> Iterator[Candidate]:
        """All of a class, whether or not they pay or are allowed."""
        before = len(group) * self.method.weighted_loss(group)
        price = self.price * sum(attribute.weight for attribute in self.method.attributes)
        yield Candidate(self._worth(before, len(group), price), len(group), [], (99,))
        for i in self._tried(group):
            for order, kept in _sides(self.method.attributes[i], group, i):
                if len(kept) >= self.method.smallest:
                    less = len(group) - len(kept)
                    gain = before - len(kept) * self.method.weighted_loss(kept)
                    yield Candidate(self._worth(gain, less, price), less, kept, (i, *order))

    @staticmethod
    def _worth(gain: float, less: int, price: float) -> float:
        return round((gain - price * less) / less, 9)

    def _tried(self, group: Group) -> list[int]:
        losses = [
            (-attribute.loss([record.qi[i] for record in group]) * attribute.weight, i)
            for i, attribute in enumerate(self.method.attributes)
        ]
        widest = [i for loss, i in sorted(losses) if loss < 0]
        small = len(group) < 4 * self.method.smallest
        by_loss = self.method.candidates if self.method.choose == "loss" else 1
        return widest[: 12 if small else by_loss]


def _sides(attribute: Attribute, group: Group, i: int) -> Iterator[tuple[tuple[int, int], Group]]:
    """(position, side) and what a class keeps there: up to a value, or from one on."""
    present = {record.qi[i] for record in group}
    key = {record: attribute.key(record.qi[i], present) for record in group}
    often = Counter(key.values())
    order = sorted(often, key=lambda k: (-often[k] if attribute.by_frequency else 0, k))
    for place in range(len(order)):
        if place < len(order) - 1:
            yield (place, 1), [record for record in group if key[record] in order[: place + 1]]
        if place > 0:
            yield (place, 0), [record for record in group if key[record] in order[place:]]
