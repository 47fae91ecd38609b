"""Pairs of attributes that predict a sensitive value better than each attribute does.

Naive Bayes takes attributes as independent of each other among the records with a value. Where it
is the sum of two attributes, neither predicts it and both together do. Such pairs are joined to
one attribute (semi-naive Bayes; Kononenko, EWSL 1991).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

RECORDS = 5_000
"""Most records by which pairs are chosen."""

ATTRIBUTES = 20
"""Most attributes of which pairs are made, in the order of the columns: there are 190 pairs."""

Pair = tuple[int, int]


@dataclass(frozen=True)
class Labels:
    """Kinds of the values of records, as codes from 0, with weights.

    Attributes:
        record: to which a kind belongs; a record may have several kinds.
        kind, weight: the kind, and how probable it is.
    """

    record: Ints
    kind: Ints
    weight: Floats


def joined(attributes: Sequence[Ints], pairs: Sequence[Pair]) -> list[Ints]:
    """The attributes, with both of a pair as one."""
    single = set(range(len(attributes))) - {at for pair in pairs for at in pair}
    return [
        *[attributes[at] for at in sorted(single)],
        *[_joint(attributes[one], attributes[other]) for one, other in pairs],
    ]


def _joint(one: Ints, other: Ints) -> Ints:
    return np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1]


def telling(attributes: Sequence[Ints], labels: Labels) -> list[Pair]:
    """Pairs with more information than both attributes, and than any pair has by chance.

    The best ones come first, and every attribute is in one of them at most. What chance does is
    seen by attributes of other records.
    """
    if len(attributes) < 2:
        return []
    gains = _gains(_Sample.of(attributes, labels))
    least = max(abs(by_chance) for _, by_chance in gains.values())
    chosen: list[Pair] = []
    for pair in sorted(gains, key=lambda pair: (-gains[pair][0], pair)):
        if gains[pair][0] > least and not {at for other in chosen for at in other} & {*pair}:
            chosen.append(pair)
    return chosen


def _gains(sample: _Sample) -> dict[Pair, Floats]:
    """Information of every pair beyond that of its attributes: as they are, and by chance."""
    gains = [sample.excess(codes) for codes in sample.attributes]
    return {
        (i, j): sample.excess(_joint(sample.attributes[i], sample.attributes[j]))
        - gains[i]
        - gains[j]
        for i, j in combinations(range(len(gains)), 2)
    }


@dataclass(frozen=True)
class _Sample:
    """Some of the records.

    Attributes:
        others: two orders of the records, in which each has the attributes of another one.
    """

    attributes: list[Ints]
    labels: Labels
    others: tuple[Ints, Ints]

    @classmethod
    def of(cls, attributes: Sequence[Ints], labels: Labels) -> _Sample:
        step = -(-len(attributes[0]) // RECORDS)
        taken = labels.record % step == 0
        some = [codes[::step] for codes in attributes[:ATTRIBUTES]]
        random = np.random.default_rng(0)
        return cls(
            some,
            Labels(labels.record[taken] // step, labels.kind[taken], labels.weight[taken]),
            (random.permutation(len(some[0])), random.permutation(len(some[0]))),
        )

    def excess(self, codes: Ints) -> Floats:
        """Information beyond what an attribute seems to have by chance, of the records' own values
        and of those that other records have."""
        chance, again = (self._information(codes[order]) for order in self.others)
        return np.array([self._information(codes) - chance, again - chance])

    def _information(self, codes: Ints) -> float:
        """Mutual information of the attribute and the kind of value, in nats."""
        kinds = int(self.labels.kind.max()) + 1
        pairs, place = np.unique(
            codes[self.labels.record] * kinds + self.labels.kind, return_inverse=True
        )
        both = np.bincount(place, weights=self.labels.weight)
        code, kind = pairs // kinds, pairs % kinds
        apart = np.bincount(code, weights=both)[code] * np.bincount(kind, weights=both)[kind]
        return float((both * np.log(both * both.sum() / apart)).sum() / both.sum())
