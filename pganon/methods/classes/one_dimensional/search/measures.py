"""Privacy models measured over counts of sensitive values, windows by windows.

The same definitions as the aggregates of :mod:`pganon.privacy.frequency` and
:mod:`pganon.privacy.likeness`, which decide in the end: every class is verified from the published
relations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pganon.privacy.base import Model
from pganon.privacy.frequency import EntropyLDiversity, RecursiveCLDiversity, RelativeFrequency
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Reference:
    """A distribution that classes are compared with.

    Attributes:
        shares: by code of the value, from 0.
        order: the codes from the first to the last value.
        nodes: levels x values: the ancestor of each value, numbered from 0; None without a tree.
    """

    shares: Floats
    order: Ints
    nodes: Ints | None = None


Holds = Callable[[Ints], Bools]
"""Of counts, windows x values, whether each window satisfies a model."""


def holds(model: Model, reference: Reference | None) -> Holds:
    """The condition of a model that reads counts of values.

    Args:
        reference: where the model needs one.
    """
    if isinstance(model, RelativeFrequency):
        return lambda counts: _no_share_above(model, counts)
    measure = _measure(model, reference)

    def satisfied(counts: Ints) -> Bools:
        with np.errstate(divide="ignore", invalid="ignore"):
            # Only compared: the condition on one measure is that on an array of them.
            return model.satisfied_by(measure(counts))  # pyright: ignore

    return satisfied


def _measure(model: Model, reference: Reference | None) -> Callable[[Ints], Floats]:
    if isinstance(model, EntropyLDiversity):
        return _effective_number
    if isinstance(model, RecursiveCLDiversity):
        return lambda counts: _recursive(counts, model.l)
    assert reference is not None
    if isinstance(model, BetaLikeness):
        return lambda counts: _gain(counts, reference.shares, enhanced=model.variant == "enhanced")
    if isinstance(model, DeltaDisclosure):
        return lambda counts: _disclosure(counts, reference.shares)
    assert isinstance(model, TCloseness)
    distance = {"ordered": _ordered, "hierarchical": _hierarchical}.get(model.distance, _equal)
    return lambda counts: distance(counts, reference)


def _no_share_above(model: RelativeFrequency, counts: Ints) -> Bools:
    """In whole numbers: a share equal to the bound satisfies."""
    totals, number = np.unique(counts.sum(axis=1), return_inverse=True)
    limit = model.limit
    most = [int(total) * limit.numerator // limit.denominator for total in totals.tolist()]
    return counts.max(axis=1, initial=0) <= np.array(most, dtype=np.int64)[number]


def _effective_number(counts: Ints) -> Floats:
    terms = np.arange(counts.max() + 1, dtype=float)
    terms[2:] *= np.log(terms[2:])
    terms[:2] = 0
    total = counts.sum(axis=1)
    return np.exp(np.log(total) - terms[counts].sum(axis=1) / total)


def _recursive(counts: Ints, l: int) -> Floats:  # noqa: E741 - the literature's name
    most, tail = counts.max(axis=1), counts.sum(axis=1)
    rest, rows = counts.copy(), np.arange(len(counts))
    for _ in range(min(l - 1, counts.shape[1])):
        frequent = rest.argmax(axis=1)
        tail -= rest[rows, frequent]
        rest[rows, frequent] = 0
    return np.where(tail > 0, most / tail, np.inf)


def _shares(counts: Ints) -> Floats:
    return counts / counts.sum(axis=1, keepdims=True)


def _equal(counts: Ints, reference: Reference) -> Floats:
    return np.maximum(_shares(counts) - reference.shares, 0).sum(axis=1)


def _ordered(counts: Ints, reference: Reference) -> Floats:
    order = reference.order
    moved = np.cumsum(_shares(counts)[:, order] - reference.shares[order], axis=1)
    return np.abs(moved).sum(axis=1) / max(len(order) - 1, 1)


def _hierarchical(counts: Ints, reference: Reference) -> Floats:
    assert reference.nodes is not None
    shares, distance = _shares(counts), np.zeros(len(counts))
    for nodes in reference.nodes:
        members = np.zeros((len(nodes), int(nodes.max()) + 1))
        members[np.arange(len(nodes)), nodes] = 1
        excess = shares @ members - reference.shares @ members
        distance += np.maximum(excess, 0).sum(axis=1)
    return distance / len(reference.nodes)


def _gain(counts: Ints, shares: Floats, *, enhanced: bool) -> Floats:
    gain = np.where(counts > 0, _shares(counts) / shares, 0.0)
    largest = np.maximum(gain.max(axis=1) - 1, 0)
    if not enhanced:
        return largest
    # The slack covers the rounding of shares, as in SQL.
    allowed = np.where(counts > 0, gain - 1 <= 1e-12 - np.log(shares), True)
    return np.where(allowed.all(axis=1), largest, np.inf)


def _disclosure(counts: Ints, shares: Floats) -> Floats:
    occurring = shares > 0
    lacking = (counts[:, occurring] == 0).any(axis=1) | (counts[:, ~occurring] > 0).any(axis=1)
    gain = np.abs(np.log(_shares(counts)[:, occurring] / shares[occurring])).max(axis=1)
    return np.where(lacking, np.inf, gain)
