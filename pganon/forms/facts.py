"""Facts that methods and forms observe of every run, for who shows or records it."""

from __future__ import annotations

from typing import Any

from pganon.encode.facts import KEPT
from pganon.resolved.model import Microaggregated, ReleaseSpec
from pganon.steps import State
from pganon.steps.facts import RECORDS, Fact, count, measure

SUPPRESSED = count("suppressed")
"""Records of the source that are not released. Every method observes it."""


def failed_records(state: State) -> int:
    """Those of them that a method left out, and no rule for NULL."""
    return (state.facts.get(SUPPRESSED) or 0) - (state[RECORDS] - state[KEPT])


NUMBERED = count("numbered")
"""The greatest number of a group of the versions that the release adds to."""

EARLIER_RECORDS = count("earlier_records")
EARLIER_SUPPRESSED = count("earlier_suppressed")
"""Records that the release has so far, and those of them that are permanently suppressed."""

LEAVING = count("leaving", assumed=0)
"""Groups that the run withdraws, as somebody in them left."""


def leaving_of(place: int) -> Fact[int]:
    """Those of them that the increment at a place made."""
    return count(f"leaving{place}", assumed=0)


PUBLISHED = count("published")
"""Records that are released, counted in the staged relations."""

MEASURE = "measure_"
"""Prefix of the names of the figures of every run."""

CLASSES = count("classes", MEASURE)
RELEASED = count("released", MEASURE)
SMALLEST = count("smallest_class", MEASURE)
LARGEST = count("largest_class", MEASURE)
SQUARES = measure("squares", MEASURE)
WEIGHTED_LOSS = measure("weighted_loss", MEASURE)
"""Groups of a release, whatever its form calls them: how many there are, their records, the sum of
the squared sizes, and the loss of every record added up."""


def withheld_values(item: Microaggregated) -> Fact[int]:
    """Values of a column that no mean has, as their classes have too few."""
    return count("withheld_values", f"groups{item.index}_", assumed=0)


GROUPS_OF_PEOPLE = count("groups", "people_")


def few_people(place: int) -> Fact[int]:
    """Those of them with records of fewer people, by a key of `owners`, than the least records that
    the requirements ask for."""
    return count(f"few{place}", "people_")


PARTITIONS = count("partitions", MEASURE)
"""Sets of buckets that sensitive values are in."""


def ncp(index: int) -> Fact[float]:
    """Mean loss of a quasi-identifier over the released records."""
    return measure(f"ncp{index}", MEASURE)


def losses(spec: ReleaseSpec) -> list[Fact[Any]]:
    """Facts that :func:`pganon.metrics.loss.basic` gives."""
    sizes = [CLASSES, RELEASED, SMALLEST, LARGEST, measure("mean_class", MEASURE)]
    return [*sizes, SQUARES, WEIGHTED_LOSS, *[ncp(a.index) for a in spec.attributes]]


def objective(place: int) -> Fact[float]:
    """How compact the buckets of a partition are, where they were searched for."""
    return measure("objective", f"buckets{place}_")


def baseline(place: int) -> Fact[float]:
    """The same of the buckets that the search began with."""
    return measure("baseline", f"buckets{place}_")
