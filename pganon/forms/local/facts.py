"""What a run of local generalization and bucketization observes."""

from __future__ import annotations

from functools import cache

from pganon.published.facts import MEASURE
from pganon.steps.facts import Fact, count, counts, flag, label, measure

SUBSETS = counts("subsets", "small", "few", of="subsets_")
"""Different masks, those below k, and their records."""

RELEASED_HERE = count("shown_records", assumed=1000)
"""Records over which lengths are measured."""

BLOCKS = count("blocks")
"""Blocks that are divided by themselves."""


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
    """The same, and what follows from it."""
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


@cache
def few(one: int, other: int) -> Fact[bool]:
    """Whether too few records hide both columns to measure their association."""
    return flag("few", f"linked{one}_{other}_", assumed=False)


@cache
def linked(one: int, other: int) -> tuple[Fact[int] | Fact[bool] | Fact[str], ...]:
    of = f"linked{one}_{other}_"
    return (
        count("records", of),
        few(one, other),
        label("association", of),
        label("dependencies", of),
    )


GROUPS, SMALLEST, LARGEST = counts("groups", "smallest", "largest", of=MEASURE)


@cache
def ncp(index: int) -> Fact[float]:
    return measure(f"ncp{index}", MEASURE)


@cache
def bucket_sizes(index: int) -> tuple[Fact[int], ...]:
    """Values in buckets of a column, buckets, the smallest and the largest."""
    return counts("cells", "buckets", "smallest", "largest", of=f"measure_buckets{index}_")


@cache
def bucket_share(index: int) -> Fact[float]:
    return measure("share", f"measure_buckets{index}_")
