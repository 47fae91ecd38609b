"""Limits of a class on its sensitive values: beta-likeness or t-closeness.

Both compare the histogram of a class with reference distributions, and both are convex: the load
of a union of classes is at most the larger of theirs. Several references hold together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.int64]
"""Records by sensitive value, in the last axis."""

Shares = npt.NDArray[np.float64]

SLACK = 1e-12
"""Part by which a limit may be exceeded: caps and distances are products of rounded shares."""

DECIMALS = 12
"""Loads, distances and costs are rounded to it before they are compared: ties are ties anywhere."""

EPS = 1e-9
"""Differences of rounded numbers up to it decide nothing."""

Variant = Literal["enhanced", "basic"]


class Limits(ABC):
    """Limits of one model against its references.

    Attributes:
        shares: by value, the smallest share in any reference.
    """

    shares: Shares

    @abstractmethod
    def loads(self, counts: Counts) -> npt.NDArray[np.float64]:
        """By row of the array, the part of what the model allows that is used up. Rounded.

        Above 1 it is too much, far above where the class has a value that none may have. No
        records have no load.
        """

    @abstractmethod
    def allowed(self, counts: Counts) -> npt.NDArray[np.bool_]:
        """By row of the array, whether the class satisfies the model."""

    @abstractmethod
    def loads_with(self, counts: Counts) -> npt.NDArray[np.float64]:
        """By value, the load of one class with one more record of this value."""

    def load(self, counts: Counts) -> float:
        return float(self.loads(counts[None])[0])

    def allows(self, counts: Counts) -> bool:
        return bool(self.allowed(counts[None])[0])


@dataclass(frozen=True, eq=False)
class BetaLimits(Limits):
    """beta-likeness: no value has more than the part f of a class.

    Attributes:
        f: by value, the largest share in a class; it grows with `shares`.
        shares: by value, the smallest share in any reference.
    """

    f: Shares
    shares: Shares

    def cap(self, value: int, records: int) -> int:
        """Most records of the value in a class of so many."""
        return int(self.caps(records)[value])

    def caps(self, records: npt.ArrayLike) -> Counts:
        """The same for all values, by number of records."""
        return most_records(self.f, np.asarray(records))

    def loads(self, counts: Counts) -> npt.NDArray[np.float64]:
        records = np.maximum(counts.sum(axis=-1), 1)
        return np.round((counts * self._per_share).max(axis=-1, initial=0) / records, DECIMALS)

    def allowed(self, counts: Counts) -> npt.NDArray[np.bool_]:
        return np.all(counts <= self.caps(counts.sum(axis=-1)), axis=-1)

    def loads_with(self, counts: Counts) -> npt.NDArray[np.float64]:
        most = (counts * self._per_share).max(initial=0)
        loads = np.maximum((counts + 1) * self._per_share, most) / (counts.sum() + 1)
        return np.round(loads, DECIMALS)

    @cached_property
    def _per_share(self) -> Shares:
        return np.divide(1.0, self.f, out=np.full(len(self.f), _TOO_MUCH), where=self.f > 0)


_TOO_MUCH = 1e200
"""Load per record of a value that no class may have; finite, so that no such record is no load."""


@dataclass(frozen=True, eq=False)
class ClosenessLimits(Limits):
    """t-closeness: earth mover's distance of a class from every reference.

    Attributes:
        t: largest distance.
        ordered: whether neighbours in the order of the values are 1 / (m - 1) apart; else all
            values are equally far apart.
        references: one distribution per row. A value missing in one has no place in its order.
        open: whether classes may have such values, which then have their places all the same.
    """

    t: float
    ordered: bool
    references: Shares
    open: bool = False

    @cached_property
    def shares(self) -> Shares:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.references.min(axis=0)

    def distances(self, counts: Counts) -> npt.NDArray[np.float64]:
        """By row of the array, the largest distance from a reference. Rounded."""
        shares = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
        furthest = [self._distances(shares - reference, reference) for reference in self.references]
        return np.round(np.max(furthest, axis=0), DECIMALS)

    def loads(self, counts: Counts) -> npt.NDArray[np.float64]:
        return self._per_t(self.distances(counts))

    def allowed(self, counts: Counts) -> npt.NDArray[np.bool_]:
        expected = (self.shares > 0) | (counts == 0) | self.open
        return expected.all(axis=-1) & (self.distances(counts) <= self.t + SLACK)

    def loads_with(self, counts: Counts) -> npt.NDArray[np.float64]:
        return self.loads(counts + np.eye(len(counts), dtype=np.int64))

    def _distances(self, excess: Shares, reference: Shares) -> Shares:
        if not self.ordered:
            return np.abs(excess).sum(axis=-1) / 2
        compared = excess[..., (reference > 0) | self.open]
        moved = np.abs(np.cumsum(compared, axis=-1))[..., :-1].sum(axis=-1)
        return moved / max(compared.shape[-1] - 1, 1)

    def _per_t(self, distances: Shares) -> Shares:
        if self.t > 0:
            return np.round(distances / self.t, DECIMALS)
        return np.where(distances > 0, np.inf, 0.0)


class Model(Protocol):
    """A requirement on sensitive values, without its references."""

    def limits(self, *references: Shares) -> Limits:
        """Limits against all of these distributions together."""
        ...


@dataclass(frozen=True)
class Likeness:
    """beta-likeness (Cao and Karras 2012)."""

    beta: float
    variant: Variant = "enhanced"

    def limits(self, *references: Shares) -> BetaLimits:
        # The largest share grows with the share, so the smallest of these decides.
        shares = np.min(references, axis=0)
        return BetaLimits(self.largest_shares(shares), shares)

    def largest_shares(self, shares: Shares) -> Shares:
        """f by share in the reference: p (1 + beta), enhanced p (1 + min(beta, -ln p))."""
        if self.variant == "basic":
            return shares * (1 + self.beta)
        surprise = -np.log(np.where(shares > 0, shares, 1.0))
        return shares * (1 + np.minimum(self.beta, surprise))


@dataclass(frozen=True)
class Closeness:
    """t-closeness (Li et al. 2007) with the equal or the ordered distance."""

    t: float
    ordered: bool = False
    open: bool = False

    def limits(self, *references: Shares) -> ClosenessLimits:
        return ClosenessLimits(self.t, self.ordered, np.array(references), self.open)


@dataclass(frozen=True, eq=False)
class Fixed:
    """A requirement against the same distributions, whatever is released.

    Values that none of them has may come; no class may have one under beta-likeness.
    """

    model: Model
    references: tuple[Shares, ...]

    @classmethod
    def to(cls, model: Likeness | Closeness, *records: Sequence[int]) -> Fixed:
        """Args: records: by value, of every distribution."""
        opened = replace(model, open=True) if isinstance(model, Closeness) else model
        return cls(opened, tuple(np.array(counts) / np.sum(counts) for counts in records))

    def limits(self, *references: Shares) -> Limits:
        return self.model.limits(*self.references)


def limits_against(model: Model, *records: Counts) -> Limits:
    """The same from records by value."""
    return model.limits(*[counts / counts.sum() for counts in records])


def smallest_classes(limits: BetaLimits) -> Counts:
    """By value, fewest records of a class that has it; 0 where no class may have it."""
    least = np.ceil((1 - SLACK) / np.where(limits.f > 0, limits.f, np.inf))
    return least.astype(np.int64)


def most_records(f: Shares, records: npt.NDArray[np.int64]) -> Counts:
    """Most records that are no larger share than f: an axis for f behind those of the records."""
    return np.floor(f * records[..., None] * (1 + SLACK)).astype(np.int64)
