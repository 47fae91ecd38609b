"""The chance to find each person, and people with one value of a quasi-identifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pganon.report.charts.bars import lying
from pganon.report.figures import exceeded
from pganon.report.parts import Count, LimitName, Number, Part
from pganon.report.sources import Collected
from pganon.report.words import listed, percent, plain, value

TIMES = 2
"""How many times the mean of all a subgroup's may be, before the reader is told."""


_CHANCE = {
    "prosecutor": "The chance",
    "journalist": "The chance of who does not know who is in the data",
}


class Chances(Part):
    """People in steps of as many as may be counted, the mean of their chances, quantiles of these
    with so many people on both sides, and shares of people whose chance is above each limit."""

    people: Count
    mean: Number | None
    p50: Number | None
    p90: Number | None
    p95: Number | None
    p99: Number | None
    above: dict[LimitName, Number]


class RecordRisk(Part):
    """Of who knows that somebody is in the data, and of who does not, where people of a population
    are counted."""

    prosecutor: Chances
    journalist: Chances | None


class Subgroup(Part):
    """People with a value of a column, which is null for NULL, and for the others of whom each has
    one that few have."""

    column: str
    value: str | None
    others: bool
    prosecutor: Chances
    journalist: Chances | None


def record_risk(found: Collected) -> Mapping[str, Any] | None:
    every = (found.evidence or {}).get("record_risk")
    return every and {"journalist": None, **every}


def subgroups(found: Collected) -> list[Mapping[str, Any]]:
    return [{"journalist": None, **one} for one in (found.evidence or {}).get("subgroups", [])]


def telling(found: Collected) -> Iterator[str]:
    """Subgroups that are worse off than all together."""
    every = record_risk(found)
    if every is None:
        return
    for one in subgroups(found):
        who = f"of the people whose {plain(one['column'])} is {_named(one)}"
        for attacker, chance in _CHANCE.items():
            own, whole = one[attacker], every[attacker]
            if own is None or whole is None:
                continue
            above = _above(found, own) - _above(found, whole)
            if above:
                yield (
                    f"{chance} to find one {who} is {percent(own['p95'])} or more for"
                    f" one in twenty, above {listed(sorted(above))}; of all people it is not."
                )
            elif own["mean"] and whole["mean"] and own["mean"] >= TIMES * whole["mean"]:
                yield (
                    f"{chance} to find one {who} is {percent(own['mean'])} on average,"
                    f" that of all people {percent(whole['mean'])}."
                )


def chance_rows(report: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """For the page: where in the document chances are, of whom, and shares above the limits."""
    return [
        (path, who, [percent(share) for share in one["prosecutor"]["above"].values()])
        for path, who, one in _rows(report)
    ]


def chance_bars(report: Mapping[str, Any]) -> dict[str, str]:
    """By attacker, the means with ticks at one in twenty."""
    drawn: dict[str, str] = {}
    for attacker, chance in _CHANCE.items():
        rows = [
            (who, one[attacker]["mean"], one[attacker]["p95"])
            for _, who, one in _rows(report)
            if one[attacker] and one[attacker]["mean"]
        ]
        if rows:
            label, limits = f"{chance} to find a person, on average", report["risk"]["limits"]
            drawn[attacker] = lying(rows, label, "for one in twenty", [*limits.values()])
    return drawn


def _rows(report: Mapping[str, Any]) -> list[tuple[str, str, Mapping[str, Any]]]:
    if not report["subgroups"]:
        return []
    named = (
        (f"subgroups.{place}", f"{plain(one['column'])}: {_named(one)}", one)
        for place, one in enumerate(report["subgroups"])
    )
    return [("record_risk", "everybody", report["record_risk"]), *named]


def _above(found: Collected, chances: Mapping[str, Any]) -> set[str]:
    """Words of the limits that the 95 % quantile is above."""
    if chances["p95"] is None:
        return set()
    return set(exceeded(round(1 / chances["p95"]), found.policy.report.accepted))


def _named(one: Mapping[str, Any]) -> str:
    return "a rare one" if one["others"] else f"“{value(one['value'])}”"
