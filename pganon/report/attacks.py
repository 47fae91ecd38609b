"""Attacks that were measured on what the policy of the version makes of its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pganon.forms.confidential import GAIN, told_finding
from pganon.report.parts import Count, Number, Part, Time
from pganon.report.sources import Collected
from pganon.report.words import number, percent, plain, several, the_columns

_PARTS = ("seed", "people", "control_people", "targets", "known_others")


class Rate(Part):
    """Successes among attempts, with an interval that holds with a confidence of 95 %; null but for
    `attempts`, if they are all but few."""

    successes: Count | None
    attempts: Count
    share: Number | None
    low: Number | None
    high: Number | None


class Difference(Part):
    """Of two shares, with its interval."""

    value: Number
    low: Number
    high: Number


Attack = Literal["singling_out", "linkability", "inference"]


class Finding(Part):
    """How often an attack succeeded: on the release, on members and others of a shadow release.

    The adversary is `published_row`, `two_sources`, `quasi_identifiers`, `others_known` or
    `correlations`, or one that was tried before.
    """

    attack: Attack
    adversary: str
    column: str | None
    somebody: str
    release: Rate | None
    members: Rate | None
    control: Rate | None
    difference: Difference | None
    gains: bool


class NotMeasured(Part):
    """An attack that was not tried."""

    attack: Attack
    reason: str


class Attacks(Part):
    """The newest attacks, their row of the ledger, and how many times some were measured."""

    at: Time
    by: str
    row: int
    times: int
    seed: int
    people: Count
    control_people: Count
    targets: Count
    known_others: Count
    findings: list[Finding]
    not_measured: list[NotMeasured]


def attacks(found: Collected) -> Attacks | None:
    """The newest attacks, and how many times some were measured; None if they never were."""
    rows = [
        event
        for event in found.events
        if event["event"] == "attacked" and event["run_id"] == found.version.run_id
    ]
    if not rows or found.withheld:
        return None
    newest = rows[-1]
    details = newest["details"]
    told = [told_finding(one, found.policy.report.smallest) for one in details["findings"]]
    return Attacks(
        at=newest["at"],
        by=newest["by_role"],
        row=newest["id"],
        times=len(rows),
        **{name: details[name] for name in _PARTS},
        findings=[
            Finding(**one, somebody=_somebody(found, one, details["known_others"])) for one in told
        ],
        not_measured=list(details["not_measured"]),
    )


def telling(found: Collected) -> Iterator[str]:
    """Two sentences for every attack that surely gains more than `GAIN`, by the attacker who
    gains most: what counts is the lower end of the interval of the difference."""
    attacked = attacks(found)
    gained: dict[tuple[str, str | None], Finding] = {}
    for one in attacked.findings if attacked else ():
        key = (one.attack, one.column)
        if one.gains and _least(one) >= _least(gained.get(key)):
            gained[key] = one
    for one in gained.values():
        assert attacked is not None
        least = ""
        if one.difference is not None:
            least = (
                f", at least {number(round(100 * _least(one), 1))} percentage points with a"
                f" confidence of {percent(0.95)},"
            )
        yield (
            f"{_succeeds(found, one, attacked.known_others)}. The difference{least} is what the"
            " release gives away of them."
        )


def _least(one: Finding | None) -> float:
    return GAIN if one is None or one.difference is None else one.difference.low


def _share(rate: Rate | None, smallest: int) -> str:
    assert rate is not None
    return f"all but fewer than {smallest}" if rate.share is None else percent(rate.share)


def _succeeds(found: Collected, one: Finding, others: int) -> str:
    known, column = the_columns(found.known), the_columns([one.column or ""])
    smallest = found.policy.report.smallest
    inside, outside = _share(one.members, smallest), _share(one.control, smallest)
    shares = f"{inside} of the people in the release, and {outside} of those who were held out"
    match one.adversary:
        case "published_row":
            return (
                f"What a row shows is true of exactly one person in the release for {inside} of the"
                f" rows that were tried, and of one who was held out for {outside}"
            )
        case "two_sources":
            return f"Who has two lists of people, each with half of {known}, connects {shares}"
        case "others_known":
            members = several(others, "other member", "other members")
            beside = f", and {members} of the group with what they have in {column},"
        case "correlations":
            beside = f", and how each of them goes with {column},"
        case _:
            beside = ""
    return f"Who knows {known} of a person{beside} guesses {column} of {shares}"


def _somebody(found: Collected, one: Mapping[str, Any], others: int) -> str:
    """Who the attacker is, and what he does."""
    known, column = the_columns(found.known), the_columns([one["column"] or ""])
    match one["adversary"]:
        case "published_row":
            return "states what a row shows, and is right if that is true of one person alone"
        case "two_sources":
            return f"has two lists of people, each with half of {known}, and connects them"
        case "quasi_identifiers":
            return f"knows {known} of a person, and guesses {column}"
        case "others_known":
            members = several(others, "other member", "other members")
            return f"also knows who {members} of the group are, and what they have in {column}"
        case "correlations":
            return f"knows {known} of a person, and how each of them goes with {column}"
        case other:
            return plain(str(other).replace("_", " "))
