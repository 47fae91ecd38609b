"""beta-likeness-primacy on histograms: buckets of values, and how many of each go to a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import BetaLimits, Counts, Shares, most_records
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


def beta_partition(counts: Counts, limits: BetaLimits) -> list[list[int]] | None:
    """The fewest buckets of values such that no bucket has more than one of its values may have.

    Algorithm 5, beta_Partition. Values follow each other by share in the reference; a bucket is a
    run of them. Among partitions of as few buckets the last bucket is as long as possible, then
    the one before it. A class in which every bucket is within the limit of its rarest value
    satisfies beta-likeness.

    Args:
        counts: records by value.

    Returns:
        Values of every bucket, the rarest first; None if there is no such partition, which is so
        if and only if the records do not satisfy beta-likeness.
    """
    counts = np.asarray(counts)
    present = np.flatnonzero(counts)
    values = present[np.argsort(limits.shares[present], kind="stable")]
    until = np.concatenate([[0], np.cumsum(counts[values])])
    caps = limits.caps(int(counts.sum()))[values]
    none = len(values) + 1
    fewest = np.full(len(values) + 1, none)
    fewest[0] = 0
    starts = np.zeros(len(values) + 1, dtype=np.int64)
    for end in range(1, len(values) + 1):
        runs = np.where(until[end] - until[:end] <= caps[:end], fewest[:end] + 1, none)
        starts[end] = runs.argmin()
        fewest[end] = runs[starts[end]]
    if fewest[-1] == none:
        return None
    buckets: list[list[int]] = []
    end = len(values)
    while end:
        buckets.insert(0, values[starts[end] : end].tolist())
        end = int(starts[end])
    return buckets


def bucket_limits(buckets: list[list[int]], limits: BetaLimits) -> Shares:
    """By bucket, its largest share in a class: that of its rarest value."""
    return limits.f[[bucket[0] for bucket in buckets]]


def beta_split(sizes: Counts, f: Shares, k: int) -> npt.NDArray[np.int64]:
    """Records of every bucket in every class: halves of halves, as long as both satisfy.

    Algorithm 5, beta_Split.

    Args:
        sizes: records by bucket.
        f: by bucket, the largest share in a class.

    Returns:
        classes x buckets, leaves of the tree from left to right.
    """
    nodes = np.asarray(sizes, dtype=np.int64)[None]
    places = np.zeros(1, dtype=np.int64)
    leaves: list[npt.NDArray[np.int64]] = []
    complete: list[npt.NDArray[np.int64]] = []
    # Halves of no records end the tree, so it has at most as many levels as the sizes have bits.
    for level in range(int(nodes.max(initial=1)).bit_length() + 1, -1, -1):
        left = nodes // 2
        right = nodes - left
        split = _holds(left, f, k) & _holds(right, f, k)
        leaves.append(nodes[~split])
        complete.append(places[~split] << level)
        nodes = np.stack([left[split], right[split]], axis=1).reshape(-1, nodes.shape[1])
        places = np.stack([2 * places[split], 2 * places[split] + 1], axis=1).reshape(-1)
    order = np.argsort(np.concatenate(complete))
    return np.concatenate(leaves)[order]


def _holds(nodes: npt.NDArray[np.int64], f: Shares, k: int) -> npt.NDArray[np.bool_]:
    records = nodes.sum(axis=1)
    return (records >= k) & (nodes <= most_records(f, records)).all(axis=1)


@dataclass(frozen=True)
class Planner:
    """Divides the records of a block by their values.

    Attributes:
        k: fewest records of a class.
        slack: share of its limit that a bucket leaves free, where that is possible. The fewest
            buckets are so full that halves of the block often violate the limit by rounding.
    """

    k: int
    slack: float = 0.0

    def plan(self, counts: Counts, limits: BetaLimits) -> tuple[list[list[int]], Counts]:
        """Buckets of values, and classes x buckets: how many records each class gets.

        Args:
            counts: records by value; k or more, which satisfy beta-likeness.
        """
        tighter = BetaLimits(limits.f * (1 - self.slack), limits.shares)
        buckets = beta_partition(counts, tighter) or beta_partition(counts, limits)
        if buckets is None:
            raise ValueError("the records do not satisfy beta-likeness")
        sizes = np.array([counts[bucket].sum() for bucket in buckets])
        return buckets, beta_split(sizes, bucket_limits(buckets, limits), self.k)
