"""What readers may infer of sensitive values that are published apart from the records.

Definitions are in docs/reference/measures.md.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Inferred:
    """Results of the deFinetti attack on one sensitive column.

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
    """

    records: int
    limit: float
    confidence: float | None
    accuracy: float | None
    above: float | None
    correct: float | None
    share: float | None

    @property
    def text(self) -> str:
        if self.share is None:
            return "not measured; no bucket is small enough"
        return (
            f"{self.share:.4g} of the records above {self.limit:.4g}; {self.accuracy:.4g} of"
            f" {self.records} guesses right (expected {self.confidence:.4g})"
        )


@dataclass(frozen=True)
class Related:
    """Association of a column with a sensitive one: Cramer's V, corrected for bias."""

    column: str
    sensitive: str
    association: float


def strongest(related: tuple[Related, ...]) -> str:
    return ", ".join(f"{r.column} and {r.sensitive} {r.association:.4g}" for r in related) or "none"
