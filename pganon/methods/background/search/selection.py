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
    """Classes of records that are near to each other along a curve (Algorithm 5, selection).

    The first is a random record of the first bucket of the class. From every bucket come the
    records whose indexes are nearest to one of those that are in the class already; on a tie the
    lower index, then the first record.

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
        taken = np.zeros(0, dtype=np.int64)
        members = curve[[first[draw(len(first))]]]
        for bucket in used:
            places = _nearest_places(curve[remaining[bucket]], members, int(leaf[bucket]))
            taken = np.append(taken, remaining[bucket][places])
            remaining[bucket] = np.delete(remaining[bucket], places)
            members = np.sort(curve[taken])
        groups.append(np.sort(taken))
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


def _nearest_places(
    indexes: npt.NDArray[np.int64], members: npt.NDArray[np.int64], number: int
) -> Rows:
    """Places of so many indexes that are nearest to a member; the first ones on a tie. Both are
    sorted."""
    above = np.searchsorted(members, indexes).clip(max=len(members) - 1)
    below = (above - 1).clip(min=0)
    distances = np.minimum(np.abs(indexes - members[above]), np.abs(indexes - members[below]))
    return np.argsort(distances, kind="stable")[:number]
