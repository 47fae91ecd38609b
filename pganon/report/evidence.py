"""Figures that a run stored for reports."""

from __future__ import annotations

from typing import Literal

from pganon.report.parts import Count, LimitName, Number, Part, ShareBin, SizeBin, key

Above = dict[LimitName, Count | None]
"""People with a chance above each limit; null if few would be counted by it."""


class Sizes(Part):
    """Groups by their sizes. Bins are of as many people as the policy says, or of nobody."""

    people: Count
    groups: Count
    smallest: int
    largest: int
    alone: Count | None
    above: Above
    bins: list[SizeBin]


class InRelease(Part):
    """The chance of people of the population to be in the release: the highest, and that of one in
    twenty at least."""

    highest: Number
    p95: Number | None


class InPopulation(Part):
    """People of the population whom classes cover, or for whom their records stand by their
    weights, and chances to pick the one of a record."""

    smallest: Count
    highest: Number
    mean: Number | None
    above: Above
    by_weights: bool
    presence: InRelease | None


class Candidates(Part):
    """Values or combinations that groups leave possible, by their people."""

    of: str
    columns: list[str]
    kind: Literal["values", "combinations"]
    people: Count
    groups: Count
    smallest: int
    largest: int
    bins: list[SizeBin]


class Value(Part):
    """A value that is not rare: its share of all, the highest one in a group, and the limit."""

    value: str | None
    share: Number
    highest: Number
    limit: Number | None


class OtherValues(Part):
    """Values that are not named, and a multiple of its share that one of them is above."""

    values: Count
    share: Number
    times_over: int | None


class Sensitive(Part):
    """How common values of a column are in groups: the most common one, and each of them. Those
    that are `missing`, as the policy declares, are not taken for the most common one."""

    column: str
    of: Literal["all", "hidden"]
    missing: list[str | None]
    most: Number
    mean: Number | None
    bins: list[ShareBin]
    values: list[Value]
    others: OtherValues | None
    limit: Number | None


class StepBin(Part):
    """Shares of values from an edge on and below another; the first and the last have no end."""

    first: Number | None = key("from")
    below: Number | None
    source: Number
    release: Number


class Steps(Part):
    """A distribution of numbers, or of times in a unit (years, months since 0, days since 2000)."""

    kind: Literal["steps"]
    unit: Literal["", "year", "month", "day"]
    bins: list[StepBin]
    largest_error: Number | None


class ValueBin(Part):
    value: str | None
    source: Number
    release: Number


class OtherBins(Part):
    values: Count
    source: Number
    release: Number


class Values(Part):
    """A distribution by value."""

    kind: Literal["values"]
    bins: list[ValueBin]
    others: OtherBins | None
    largest_error: Number | None


class Attribute(Part):
    """A quasi-identifier: the information that is lost, from 0 to 1, and what is null of releases
    without evidence. `exact`: share of the records with one value; `width` of the others. `of`: all
    records, or those that show it.
    """

    column: str
    lost: Number | None
    form: Literal["range", "set", "values", "label", "mean", "mode", "exact"] | None
    of: Literal["all", "shown"] | None
    exact: Number | None
    width: Number | None
    unit: Literal["levels", "days", "numbers", "values"] | None
    distribution: Steps | Values | None
