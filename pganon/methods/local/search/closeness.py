"""Buckets of a column under t-closeness: close to the distribution of all hidden values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from pganon.methods.local.search.assignment import Histogram, Plan, dealt_out

Numbers = npt.NDArray[np.float64]

_AT_ONCE = 1 << 20
"""Most numbers of cells in memory at a time."""


def close_buckets(
    histogram: Histogram,
    least: int,
    *,
    ordered: bool,
    fits: Callable[[float], bool],
    reference: Sequence[float] | None = None,
) -> Plan:
    """As many buckets as possible, of `least` cells or more, none too far from the whole.

    Cells are dealt out in the order of their values. One bucket of all cells is the last resort.

    Args:
        histogram: of at least `least` cells.
        ordered: whether distances follow the order of the values; else all are equal.
        fits: whether a distance is small enough.
        reference: reference distribution by code, from 1; None: that of all cells.
    """
    total = sum(n for _, n in histogram)
    tried = 0
    for size in range(least, total + 1):
        buckets = total // size
        if buckets == tried:
            continue
        tried = buckets
        if fits(farthest(histogram, buckets, ordered=ordered, reference=reference)):
            return dealt_out(histogram, buckets)
    if reference is not None:
        return dealt_out(histogram, 1)
    raise AssertionError("one bucket of all cells has no distance to them")


def farthest(
    histogram: Histogram,
    buckets: int,
    *,
    ordered: bool,
    reference: Sequence[float] | None = None,
) -> float:
    """The largest distance of a bucket, of so many that cells are dealt out to, to the whole."""
    if reference is not None:
        by_code = dict(histogram)
        histogram = [(code, by_code.get(code, 0)) for code in range(1, len(reference) + 1)]
    counts = np.array([n for _, n in histogram], dtype=np.float64)
    whole = counts / counts.sum() if reference is None else np.array(reference)
    worst = 0.0
    for part in _dealt(histogram, buckets):
        shares = part / part.sum(axis=1, keepdims=True)
        worst = max(worst, float(_distances(shares - whole, ordered=ordered).max()))
    return worst


def _distances(excess: Numbers, *, ordered: bool) -> Numbers:
    if not ordered:
        return np.maximum(excess, 0).sum(axis=1)
    moved = np.abs(np.cumsum(excess, axis=1))[:, :-1].sum(axis=1)
    return moved / max(excess.shape[1] - 1, 1)


def _dealt(histogram: Histogram, buckets: int) -> Iterator[Numbers]:
    """Cells per bucket and value, some buckets at a time."""
    counts = np.array([n for _, n in histogram], dtype=np.int64)
    starts = (np.cumsum(counts) - counts) % buckets
    rounds, rest = counts // buckets, counts % buckets
    step = max(1, _AT_ONCE // len(counts))
    for first in range(0, buckets, step):
        number = np.arange(first, min(first + step, buckets))[:, None]
        yield (rounds + ((number - starts) % buckets < rest)).astype(np.float64)
