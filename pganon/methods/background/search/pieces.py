"""Neighbouring pieces of a curve put together to blocks that have classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import Counts, Limits


def joined_pieces(
    curves: Sequence[int], histograms: Counts, k: int, limits: Limits
) -> npt.NDArray[np.int64]:
    """By piece, the number of its block, from 0.

    A piece of fewer than k records, or that violates the model, is joined with the next one until
    it no longer does, the last of a curve with the one before. Both models are convex, so this ends
    well where the whole curve satisfies them.

    Args:
        curves: by piece, in order, the curve that it is on.
        histograms: pieces x values.
    """
    starts: list[int] = []
    sums: list[Counts] = []
    for place, curve in enumerate(curves):
        fresh = not starts or curves[starts[-1]] != curve
        if fresh:
            _close(curves, starts, sums, k, limits)
        if fresh or _holds(sums[-1], k, limits):
            starts.append(place)
            sums.append(histograms[place].copy())
        else:
            sums[-1] += histograms[place]
    _close(curves, starts, sums, k, limits)
    return np.searchsorted(starts, np.arange(len(curves)), side="right") - 1


def _close(
    curves: Sequence[int], starts: list[int], sums: list[Counts], k: int, limits: Limits
) -> None:
    """Join the last blocks of a curve until the last one satisfies the model."""
    while (
        len(starts) > 1
        and curves[starts[-2]] == curves[starts[-1]]
        and not _holds(sums[-1], k, limits)
    ):
        starts.pop()
        last = sums.pop()
        sums[-1] += last


def _holds(counts: Counts, k: int, limits: Limits) -> bool:
    return int(counts.sum()) >= k and limits.allows(counts)
