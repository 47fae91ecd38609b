"""Which clusters of prior beliefs can be published, from their histograms alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import BetaLimits, Counts, Limits, Model
from pganon.methods.background.search.linkage import Dendrogram


@dataclass(frozen=True, eq=False)
class Kept:
    """Records that remain when no further cluster has to be dropped.

    Attributes:
        clusters: by cluster, whether it is kept, if only in part.
        counts: clusters x values, the records that are kept.
        published: records by value of the clusters kept.
        limits: against the source and what is published; None if nothing is.
    """

    clusters: npt.NDArray[np.bool_]
    counts: Counts
    published: Counts
    limits: Limits | None


def kept(histograms: Counts, source: Counts, k: int, model: Model) -> Kept:
    """Clusters of k or more records that satisfy the model as a whole, so that classes exist.

    A release is compared with the distribution of the source and with its own. Dropping clusters
    changes the latter, so clusters that violate the model are dropped in turn until none does.

    Args:
        histograms: clusters x values.
        source: records by value of the complete source.
    """
    return _stable(histograms, source, k, model, _allowed)


def trimmed(histograms: Counts, source: Counts, k: int, model: Model) -> Kept:
    """The same, but of a cluster that violates the model the largest part that satisfies it stays.

    Args:
        histograms: clusters x values.
        source: records by value of the complete source.
        model: beta-likeness.
    """
    return _stable(histograms, source, k, model, _trimmed)


def _stable(
    histograms: Counts, source: Counts, k: int, model: Model, part: Callable[[Counts, Any], Counts]
) -> Kept:
    """Args: part: of clusters, what satisfies the limits."""
    counts, shares = np.asarray(histograms), np.asarray(source) / np.sum(source)
    references = [shares]
    while True:
        limits = model.limits(*references)
        remaining = part(counts, limits)
        remaining = remaining * (remaining.sum(axis=1) >= k)[:, None]
        published = remaining.sum(axis=0)
        stays = remaining.any(axis=1)
        if not stays.any():
            return Kept(stays, remaining, published, None)
        if len(references) == 2 and (remaining == counts).all():
            return Kept(stays, remaining, published, limits)
        counts, references = remaining, [shares, published / published.sum()]


def _allowed(histograms: Counts, limits: Limits) -> Counts:
    return histograms * limits.allowed(histograms)[:, None]


def _trimmed(histograms: Counts, limits: BetaLimits) -> Counts:
    return np.array([trim(counts, limits) for counts in histograms])


def smallest_j(
    blocks: Sequence[tuple[Dendrogram, Counts]], source: Counts, k: int, model: Model
) -> float | None:
    """The smallest J at which every cluster is kept; None if all records together would not be.

    Clusters only grow with J, and the union of clusters that can be kept can be kept.

    Args:
        blocks: clustered each by itself, unless J is 1; with the histograms of the vectors.
    """
    levels = [0.0, *np.unique(np.concatenate([tree.levels for tree, _ in blocks])).tolist(), 1.0]

    def all_kept(j: float) -> bool:
        merged = np.concatenate([by_cluster(counts, tree.labels(j)) for tree, counts in blocks])
        if j >= 1:
            merged = merged.sum(axis=0, keepdims=True)
        return bool(kept(merged, source, k, model).clusters.all())

    at = bisect_left(levels, True, key=all_kept)
    return levels[at] if at < len(levels) else None


def by_cluster(histograms: Counts, labels: npt.NDArray[np.int64]) -> Counts:
    """Histograms of vectors added up to those of their clusters."""
    counts = np.zeros((int(labels.max()) + 1, histograms.shape[1]), dtype=np.int64)
    np.add.at(counts, labels, histograms)
    return counts


def trim(counts: Counts, limits: BetaLimits) -> Counts:
    """Records by value of the largest part of a set that satisfies beta-likeness; maybe none.

    Who sees that the others are missing knows that their values are those at their limits.
    """
    remaining = np.asarray(counts)
    while True:
        lowered = np.minimum(remaining, limits.caps(remaining.sum()))
        if (lowered == remaining).all():
            return remaining
        remaining = lowered
