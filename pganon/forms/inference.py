"""Inference, by readers, of sensitive values that are published apart from the records.

Definitions are in docs/reference/measures.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Inferred:
    """Results of the deFinetti attack on one sensitive column, by the learner that tells most.

    All are None if no bucket was small enough to be attacked.

    Attributes:
        records: records of the buckets that were attacked.
        limit: probability above which a value counts as inferred.
        confidence: mean over these records of the probability of the likeliest value.
        accuracy: share of them that have it.
        above: share of them whose likeliest value has a probability above `limit`.
        correct: share of the latter that have it; None if there are none.
        share: the largest share of the records with a probability above `limit` that is right at
            least as often, the most confident first: values that are inferred, not only guessed.
        allowed: the probability of a value that the column's model allows, 1/l: `accuracy` may be
            as high; None in versions before it was compared.
        advantage: share of the records whose values would have to be certain, if others are
            guessed with `allowed`, for as many right guesses; 0 if chance explains them.
    """

    records: int
    limit: float
    confidence: float | None
    accuracy: float | None
    above: float | None
    correct: float | None
    share: float | None
    allowed: float | None = None
    advantage: float | None = None

    @property
    def told(self) -> float | None:
        """The share of the records that a policy compares: the worse of both."""
        return None if self.share is None else max(self.share, self.advantage or 0.0)

    @property
    def text(self) -> str:
        if self.share is None:
            return "not measured; no bucket is small enough"
        allowed = "" if self.allowed is None else f", allowed {self.allowed:.4g}"
        return (
            f"{self.share:.4g} of the records above {self.limit:.4g}; {self.accuracy:.4g} of"
            f" {self.records} guesses right (expected {self.confidence:.4g}{allowed})"
        )


@dataclass(frozen=True)
class Related:
    """Association of a column with a sensitive one: Cramer's V, corrected for bias."""

    column: str
    sensitive: str
    association: float


def strongest(related: tuple[Related, ...]) -> str:
    return ", ".join(f"{r.column} and {r.sensitive} {r.association:.4g}" for r in related) or "none"
