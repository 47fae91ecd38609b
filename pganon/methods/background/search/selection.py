"""Which records of every bucket go to which class of beta-likeness-primacy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.points import Rows


def nearest(
    curve: npt.NDArray[np.int64],
    buckets: npt.NDArray[np.int64],
    leaves: npt.NDArray[np.int64],
    draw: Callable[[int], int],
) -> list[Rows]:
    """Classes of records that are near to a random one along a curve (Algorithm 5, selection).

    The random record is of the first bucket of the class. From every bucket come the records whose
    indexes are nearest to its index; on a tie the lower index, then the first record.

    Args:
        curve: by record, its index on the curve.
        buckets: by record, the number of its bucket.
        leaves: classes x buckets, records taken of each.
        draw: a random number from 0, below the number it is given.

    Returns:
        Records of every class, ascending, in the order of the leaves.
    """
    remaining = _by_bucket(curve, buckets, leaves)
    groups: list[Rows] = []
    for leaf in leaves:
        used = np.flatnonzero(leaf).tolist()
        first = remaining[used[0]]
        middle = curve[first[draw(len(first))]]
        taken: list[Rows] = []
        for bucket in used:
            places = _nearest_places(curve[remaining[bucket]], int(middle), int(leaf[bucket]))
            taken.append(remaining[bucket][places])
            remaining[bucket] = np.delete(remaining[bucket], places)
        groups.append(np.sort(np.concatenate(taken)))
    return groups


def swept(
    order: npt.NDArray[np.int64], buckets: npt.NDArray[np.int64], leaves: npt.NDArray[np.int64]
) -> list[Rows]:
    """Classes of as many records as the leaves say, bucket by bucket in the order of a key.

    Args:
        order: by record, its key: the index on a curve (`sweep`), or a random one (`random`).
        buckets: by record, the number of its bucket.
        leaves: classes x buckets.

    Returns:
        Records of every class, ascending, in the order of the leaves.
    """
    ends = np.cumsum(leaves, axis=0)[:-1]
    parts = [
        np.split(rows, ends[:, bucket])
        for bucket, rows in enumerate(_by_bucket(order, buckets, leaves))
    ]
    return [np.sort(np.concatenate(rows)) for rows in zip(*parts, strict=True)]


def _by_bucket(
    keys: npt.NDArray[np.int64], buckets: npt.NDArray[np.int64], leaves: npt.NDArray[np.int64]
) -> list[Rows]:
    """Records of every bucket by key, then by their number."""
    order = np.argsort(keys, kind="stable")
    rows_of = [order[buckets[order] == bucket] for bucket in range(leaves.shape[1])]
    if [len(rows) for rows in rows_of] != leaves.sum(axis=0).tolist():
        raise ValueError("the classes do not have as many records of every bucket as there are")
    return rows_of


def _nearest_places(sorted_indexes: npt.NDArray[np.int64], middle: int, number: int) -> Rows:
    """Places of so many indexes that are nearest to the middle; the first ones on a tie."""
    at = int(np.searchsorted(sorted_indexes, middle))
    # Equal indexes begin before the window, perhaps, and the first of them come first.
    low = sorted_indexes[max(at - number, 0)]
    start = int(np.searchsorted(sorted_indexes, low))
    window = np.arange(start, min(at + number, len(sorted_indexes)))
    distances = np.abs(sorted_indexes[window] - middle)
    return window[np.argsort(distances, kind="stable")[:number]]
