"""The chance to find each person, and people with one value of a quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pganon.report.figures import exceeded
from pganon.report.parts import Count, LimitName, Number, Part
from pganon.report.sources import Collected
from pganon.report.words import listed, percent, plain, value

TIMES = 2
"""How many times the mean of all a subgroup's may be, before the reader is told."""


class Chances(Part):
    """People in steps of as many as may be counted, the mean of their chances, quantiles of these
    with so many people on both sides, and shares of people whose chance is above each limit."""

    people: Count
    mean: Number
    p50: Number | None
    p90: Number | None
    p95: Number | None
    p99: Number | None
    above: dict[LimitName, Number]


class RecordRisk(Part):
    """Of who knows that somebody is in the data."""

    prosecutor: Chances


class Subgroup(Part):
    """People with a value of a column, which is null for NULL, and for the others of whom each has
    one that few have."""

    column: str
    value: str | None
    others: bool
    prosecutor: Chances


def record_risk(found: Collected) -> Mapping[str, Any] | None:
    return (found.evidence or {}).get("record_risk")


def subgroups(found: Collected) -> list[Mapping[str, Any]]:
    return list((found.evidence or {}).get("subgroups", []))


def telling(found: Collected) -> Iterator[str]:
    """Subgroups that are worse off than all together."""
    every = record_risk(found)
    for one in subgroups(found) if every else ():
        assert every is not None
        own, whole = one["prosecutor"], every["prosecutor"]
        who = f"of the people whose {plain(one['column'])} is {_named(one)}"
        above = _above(found, own) - _above(found, whole)
        if above:
            yield (
                f"The chance to find one {who} is {percent(own['p95'])} or more for one in twenty,"
                f" above {listed(sorted(above))}; of all people it is not."
            )
        elif own["mean"] >= TIMES * whole["mean"] > 0:
            yield (
                f"The chance to find one {who} is {percent(own['mean'])} on average, that of all"
                f" people {percent(whole['mean'])}."
            )


def chance_rows(report: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """For the page: where in the document chances are, of whom, and shares above the limits."""
    found = [("record_risk.prosecutor", "everybody", report["record_risk"])]
    found += [
        (f"subgroups.{place}.prosecutor", f"{plain(one['column'])}: {_named(one)}", one)
        for place, one in enumerate(report["subgroups"])
    ]
    return [
        (path, who, [percent(share) for share in one["prosecutor"]["above"].values()])
        for path, who, one in (found if report["subgroups"] else ())
    ]


def _above(found: Collected, chances: Mapping[str, Any]) -> set[str]:
    """Words of the limits that the 95 % quantile is above."""
    if chances["p95"] is None:
        return set()
    return set(exceeded(round(1 / chances["p95"]), found.policy.report.accepted))


def _named(one: Mapping[str, Any]) -> str:
    return "a rare one" if one["others"] else f"“{value(one['value'])}”"
