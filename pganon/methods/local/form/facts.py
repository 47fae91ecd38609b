"""Facts of a run of local generalization and bucketization."""

from __future__ import annotations

from functools import cache

from pganon.forms.facts import MEASURE
from pganon.steps.facts import Fact, count, counts, flag, label, measure

SUBSETS = (
    count("subsets", "subsets_", assumed=2),
    count("small", "subsets_", assumed=0),
    count("few", "subsets_", assumed=0),
)
"""Different masks, those below k, and their records."""

SHOWN_CELLS = count("shown_cells", assumed=1000)
"""Combinations of values over which lengths are measured."""

BLOCKS = count("blocks")
"""Blocks that are divided independently."""


@cache
def length(index: int) -> Fact[float]:
    """The span of the values of a line that are shown, or the number of names."""
    return measure(f"shown{index}")


@cache
def null_shown(index: int) -> Fact[int]:
    """1 if a NULL is shown."""
    return count(f"shown_null{index}", assumed=0)


@cache
def withheld(index: int) -> Fact[bool]:
    """Whether all values of a column are withheld, since none could be in buckets."""
    return flag("withheld", f"eligible{index}_", assumed=False)


@cache
def hidden(index: int) -> tuple[Fact[int], ...]:
    """Hidden values of a column, the most of one value, the number of different values."""
    return counts("cells", "most", "kinds", of=f"eligible{index}_")


@cache
def eligible(index: int) -> tuple[Fact[int] | Fact[bool], ...]:
    """The facts of :func:`hidden`, whether buckets are impossible, and :func:`withheld`."""
    of = f"eligible{index}_"
    return (
        *hidden(index),
        flag("short", of, assumed=False),
        withheld(index),
    )


@cache
def narrow(index: int) -> Fact[int]:
    """1 if values in buckets of the column would not be far enough apart."""
    return count("narrow", f"plan{index}_", assumed=0)


LINKS = label("links", assumed="[[0, 1, 40, 1, 0]]")
"""Of every pair of columns with buckets: their indexes, the records that hide both, Cramer's V, and
whether one determines the other, as the text of a JSON array of arrays."""

CHUNKS = count("chunks", "strata_")
"""Chunks of records whose buckets several columns share."""

STRATA = (CHUNKS, *counts("lead", "stratum", "item", "cells", "most", of="strata_"))
"""CHUNKS, and of the column of a stratum that is nearest to its limit: the first column of its
set, the stratum, the column, its hidden values there, and the most of one value."""

GROUPS, SMALLEST, LARGEST = counts("groups", "smallest", "largest", of=MEASURE)


@cache
def ncp(index: int) -> Fact[float]:
    """The NCP of a column, in [0, 1]."""
    return measure(f"ncp{index}", MEASURE)


@cache
def bucket_sizes(index: int) -> tuple[Fact[int], ...]:
    """Values in buckets of a column, buckets, the smallest and the largest."""
    return counts("cells", "buckets", "smallest", "largest", of=f"measure_buckets{index}_")


@cache
def bucket_share(index: int) -> Fact[float]:
    """The largest share of one value in a bucket of a column, in [0, 1]."""
    return measure("share", f"measure_buckets{index}_")
