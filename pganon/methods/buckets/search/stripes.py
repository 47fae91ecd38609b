"""Rows dealt out in stripes: the most frequent values first, to one group after the other.

With floor(n / l) groups no value of an eligible condition comes to a group twice (the stripe form
of Anatomy, Xiao and Tao 2006). Any first groups and the others then satisfy the condition, however
near to its limit the bucket is. Nothing keeps similar rows together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pganon.methods.buckets.search.conditions import Codes


def striped(codes: Codes) -> Iterator[np.ndarray]:
    """Orderings by group, one per condition that binds; that with the least room comes first.

    Rows of a group are in the order of the frequency of their value, the value and their rank.
    """
    rows = codes.values.shape[1]
    starts = np.searchsorted(codes.owner, np.arange(len(codes.least)))
    most = np.maximum.reduceat(codes.totals, starts) if len(starts) else codes.totals
    for condition in np.argsort(-codes.least * most, kind="stable"):
        least = int(codes.least[condition])
        if least > 1:
            values = codes.values[condition]
            by_frequency = np.lexsort((values, -codes.totals[values]))
            groups = np.arange(rows) % (rows // least)
            yield by_frequency[np.argsort(groups, kind="stable")]
