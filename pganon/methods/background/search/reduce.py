"""The baseline: classes along a curve of records with similar priors (Riboni et al.)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pganon.methods.background.search.limits import EPS, Limits
from pganon.methods.background.search.linkage import Vectors, divergences, square
from pganon.methods.background.search.points import Rows
from pganon.methods.background.search.primacy import Classes

_WINDOW = 64
"""Records tried together; twice as many each time that they do not complete a class."""


def js_reduce(
    vectors: npt.NDArray[np.int64],
    probabilities: Vectors,
    sensitive: npt.NDArray[np.int64],
    k: int,
    limits: Limits,
    j: float,
) -> Classes:
    """Classes of k or more records that satisfy the limits, whose priors are within J.

    The first record left takes in the next ones whose priors are within J of those of all records
    taken in, until it has enough. If it never has, it is suppressed, and the others stay.

    Args:
        vectors: by record, the row of its prior; records in the order of the curve.
        probabilities: one distribution per row.
        sensitive: by record, its sensitive value.
    """
    close = square(divergences(probabilities), len(probabilities)) <= j + EPS
    remaining = np.arange(len(vectors))
    classes: list[Rows] = []
    suppressed: list[int] = []
    while len(remaining):
        group = _class(remaining, vectors, close, sensitive, k, limits)
        if group is None:
            suppressed.append(int(remaining[0]))
            remaining = remaining[1:]
        else:
            classes.append(group)
            remaining = np.setdiff1d(remaining, group, assume_unique=True)
    return Classes(classes, np.array(suppressed, dtype=np.int64))


def _class(
    remaining: Rows,
    vectors: npt.NDArray[np.int64],
    close: npt.NDArray[np.bool_],
    sensitive: npt.NDArray[np.int64],
    k: int,
    limits: Limits,
) -> Rows | None:
    """Records that the first one takes in until they are a class, if ever."""
    near = _Near(close)
    counts = np.zeros(len(limits.shares), dtype=np.int64)
    group: list[Rows] = []
    start, window = 0, max(_WINDOW, k)
    while start < len(remaining):
        rows = remaining[start : start + window]
        joining = rows[near.take(vectors[rows])]
        values = sensitive[joining][:, None] == np.arange(len(counts))
        running = counts + np.cumsum(values, axis=0, dtype=np.int64)
        whole = limits.allowed(running) & (running.sum(axis=1) >= k)
        if whole.any():
            return np.concatenate([*group, joining[: whole.argmax() + 1]])
        group.append(joining)
        counts = running[-1] if len(running) else counts
        start, window = start + window, 2 * window
    return None


class _Near:
    """Vectors that are within J of all taken so far."""

    def __init__(self, close: npt.NDArray[np.bool_]) -> None:
        self.close = close
        self.near: npt.NDArray[np.bool_] = np.ones(len(close), dtype=bool)
        # Taking such a vector rules out no other one.
        self.harmless: npt.NDArray[np.bool_] = np.all(close, axis=1)

    def take(self, vectors: npt.NDArray[np.int64]) -> Rows:
        """Places of the vectors that are taken, one after the other."""
        places = np.flatnonzero(self.near[vectors])
        taken = [places[:0]]
        while len(places):
            unsure = ~self.harmless[vectors[places]]
            until = int(unsure.argmax()) if unsure.any() else len(places)
            taken.append(places[:until])
            places = places[until:]
            if len(places):
                vector = int(vectors[places[0]])
                self.near &= self.close[vector]
                self.harmless[vector] = True
                places = places[self.near[vectors[places]]]
        return np.concatenate(taken)
