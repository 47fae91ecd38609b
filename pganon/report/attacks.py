"""Attacks that were measured on what the policy of the version makes of its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, Literal

from pganon.forms.confidential import GAIN, LOSS, told_finding
from pganon.report.parts import Count, Number, Part, Time
from pganon.report.sources import Collected
from pganon.report.words import number, percent, plain, several, the_columns

_PARTS = ("seed", "people", "control_people", "targets", "known_others")


class Rate(Part):
    """Successes among attempts, with an interval that holds with a confidence of 95 %; null but for
    `attempts`, if they are all but few, also beside other rates."""

    successes: Count | None
    attempts: Count
    share: Number | None
    low: Number | None
    high: Number | None


class Difference(Part):
    """Of two shares, with its interval, or another figure."""

    value: Number
    low: Number
    high: Number


Attack = Literal["singling_out", "linkability", "membership", "inference"]


class Choice(Part):
    """The surest guesses in the release, against as many of a baseline that has not seen whom they
    are of in it. The loss is the anonymity loss coefficient; the value is not told."""

    value: None
    baseline: Literal["groups", "naive_bayes", "model"]
    loss: Difference | None
    attack: Rate
    base: Rate | None
    difference: Difference | None


class Posterior(Part):
    """The chance that somebody is in the source of whom the attacker says so, by the share of his
    list that is."""

    prior: Number
    chance: Number


class Finding(Part):
    """How often an attack succeeded: on the release, on members and others of a shadow release.

    The adversary is `published_row`, `two_sources`, `list`, `whole_record`, `quasi_identifiers`,
    `others_known` or `correlations`, or one that was tried before.
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
    may_gain: bool
    certain: Rate | None
    choice: Choice | None
    value_choice: Choice | None
    posteriors: list[Posterior]


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
    learned: bool
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
        learned=details.get("learned", False),
        findings=[
            Finding(**one, somebody=_somebody(found, one, details["known_others"])) for one in told
        ],
        not_measured=list(details["not_measured"]),
    )


def telling(found: Collected) -> Iterator[str]:
    """Two sentences for every attack that surely gains too much, or perhaps, by the attacker who
    gains most: what counts is the lower end of an interval."""
    attacked = attacks(found)
    gained: dict[tuple[str, str | None], Finding] = {}
    for one in attacked.findings if attacked else ():
        key = (one.attack, one.column)
        if (one.gains or one.may_gain) and (key not in gained or _rank(one) >= _rank(gained[key])):
            gained[key] = one
    for one in gained.values():
        assert attacked is not None
        if one.choice or one.value_choice:
            yield _chosen(found, one, attacked)
            continue
        least = ""
        if one.difference is not None:
            least = (
                f", at least {number(round(100 * one.difference.low, 1))} percentage points with a"
                f" confidence of {percent(0.95)},"
            )
        yield (
            f"{_succeeds(found, one, attacked.known_others)}. The difference{least} is what the"
            " release gives away of them."
        )


def _rank(one: Finding) -> tuple[bool, float]:
    figures = [c.loss.low for c in (one.choice, one.value_choice) if c and c.loss]
    least = one.difference.low if one.difference else GAIN
    return one.gains, max(figures, default=least)


def _chosen(found: Collected, one: Finding, attacked: Attacks) -> str:
    """Of who guesses where he is surest; of two curves that with the higher lower end."""
    both = [c for c in (one.value_choice, one.choice) if c is not None]
    # One whose loss is not told may be the one that gains.
    choice = max(
        both,
        key=lambda c: (c.loss is None or c.loss.value > LOSS, c.loss.low if c.loss else -inf),
    )
    what = the_columns([one.column or ""])
    guessed = what if choice is one.choice else f"one value in {what}"
    text = (
        f"{_knowing(found, one, attacked.known_others)}, and attacks only where he is surest,"
        f" guesses {guessed}"
    )
    if choice.loss is None:
        better = "better" if one.gains else "perhaps better"
        return (
            f"{text} {better} than without these people in the release. By how much is not told, as"
            " it would count few people."
        )
    strangers = "nobody"
    if choice.base is not None:
        strangers = f"{choice.base.successes} of {choice.base.attempts}"
    low, high = (number(round(end, 2)) for end in (choice.loss.low, choice.loss.high))
    return (
        f"{text} of {choice.attack.successes} of {choice.attack.attempts}; without these people"
        f" in the release, of {strangers}. The anonymity loss coefficient is"
        f" {number(round(choice.loss.value, 2))} ({low} to {high}): 0 is what is told of strangers,"
        f" 1 the source itself.{'' if one.gains else ' That may be chance: attack more people.'}"
    )


def _share(rate: Rate | None, smallest: int) -> str:
    assert rate is not None
    return f"all but fewer than {smallest}" if rate.share is None else percent(rate.share)


def _succeeds(found: Collected, one: Finding, others: int) -> str:
    known = the_columns(found.known)
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
        case "list" | "whole_record":
            records = f"{known} of people" if one.adversary == "list" else "whole records of people"
            return f"Who has a list with {records} says that they are in the source of {shares}"
        case _:
            guessed = the_columns([one.column or ""])
            return f"{_knowing(found, one, others)} guesses {guessed} of {shares}"


def _knowing(found: Collected, one: Finding, others: int) -> str:
    known, column = the_columns(found.known), the_columns([one.column or ""])
    beside = ""
    if one.adversary == "others_known":
        members = several(others, "other member", "other members")
        beside = f", and {members} of the group with what they have in {column},"
    elif one.adversary == "correlations":
        beside = f", and how each of them goes with {column},"
    return f"Who knows {known} of a person{beside}"


def _somebody(found: Collected, one: Mapping[str, Any], others: int) -> str:
    """Who the attacker is, and what he does."""
    known, column = the_columns(found.known), the_columns([one["column"] or ""])
    match one["adversary"]:
        case "published_row":
            return "states what a row shows, and is right if that is true of one person alone"
        case "two_sources":
            return f"has two lists of people, each with half of {known}, and connects them"
        case "list":
            return f"has a list of people with {known}, and says who of them is in the source"
        case "whole_record":
            return "has a list of people with all that is released, and says who is in the source"
        case "quasi_identifiers":
            return f"knows {known} of a person, and guesses {column}"
        case "others_known":
            members = several(others, "other member", "other members")
            return f"also knows who {members} of the group are, and what they have in {column}"
        case "correlations":
            return f"knows {known} of a person, and how each of them goes with {column}"
        case other:
            return plain(str(other).replace("_", " "))
