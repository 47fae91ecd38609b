"""What a reader who holds the priors concludes, from the definitions; nothing is fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.support.oracles.background_search import Beta, posterior

MOST = 8
EPS = 1e-9

Matrix = list[list[float]]


@dataclass(frozen=True)
class Members:
    """A class: the priors of its members, and its values, in no order of the members."""

    priors: Sequence[Sequence[float]]
    values: Sequence[int]

    @property
    def counts(self) -> list[int]:
        return [self.values.count(v) for v in range(len(self.priors[0]))]

    @property
    def exact(self) -> Matrix | None:
        return posterior(self.priors, self.counts)

    @property
    def estimate(self) -> Matrix | None:
        """P(s | r) ~ c_s omega_r(s) / sum of omega(s) over the class."""
        counts = self.counts
        sums = [sum(prior[v] for prior in self.priors) for v in range(len(counts))]
        if any(c and not total for c, total in zip(counts, sums, strict=True)):
            return None
        rows = [
            [c * p / total if c else 0.0 for c, p, total in zip(counts, prior, sums, strict=True)]
            for prior in self.priors
        ]
        if not all(map(sum, rows)):
            return None
        return [[p / sum(row) for p in row] for row in rows]

    def gain(self, found: Matrix) -> float:
        shares = [c / len(self.priors) for c in self.counts]
        return max(p - q for row in found for p, q in zip(row, shares, strict=True))


@dataclass(frozen=True)
class Audit:
    """Classes, and what beta-likeness allows of them."""

    classes: Sequence[Members]
    rule: Beta

    def _above(self, row: Sequence[float]) -> bool:
        shares = self.rule.p
        return any(
            p > (self.rule.f(shares[v]) if v < len(shares) else 0) + EPS
            for v, p in enumerate(row)
            if v < len(shares)
        )

    @property
    def believed(self) -> float:
        rows = [prior for members in self.classes for prior in members.priors]
        return sum(map(self._above, rows)) / len(rows)

    def concluded(self, name: str) -> tuple[float, float, float] | None:
        """Largest posterior, largest gain, share of the records above; None without classes."""
        tried = [c for c in self.classes if name == "estimate" or len(c.priors) <= MOST]
        both = [(c, found) for c in tried if (found := getattr(c, name)) is not None]
        if not both:
            return None
        rows = [row for _, found in both for row in found]
        return (
            max(max(row) for row in rows),
            max(members.gain(found) for members, found in both),
            sum(map(self._above, rows)) / len(rows),
        )

    @property
    def counted(self) -> int:
        return sum(len(c.priors) <= MOST and c.exact is not None for c in self.classes)

    @property
    def impossible(self) -> int:
        return sum(c.estimate is None for c in self.classes)
