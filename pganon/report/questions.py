"""What could go wrong: questions about a release, and what remains of each.

The first three are those of the European data protection authorities (WP216, 2014).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pganon.privacy.base import FINER, HOLDS
from pganon.report import figures, guarantee
from pganon.report.parts import Part
from pganon.report.sources import Collected
from pganon.report.words import (
    count,
    exactly,
    guess,
    once,
    percent,
    plain,
    sentence,
    several,
    the_columns,
)

Name = Literal["singling out", "inference", "linkability", "other members", "presence"]
Result = Literal["bounded", "not bounded", "not measured", "does not apply"]
BOUNDED: Result = "bounded"
OPEN: Result = "not bounded"
UNKNOWN: Result = "not measured"
IDLE: Result = "does not apply"


class Question(Part):
    """What somebody could do, and what remains of it."""

    name: Name
    somebody: str
    remains: str
    result: Result


def questions(found: Collected) -> list[Question]:
    somebody = "has several versions or releases of the same people, and compares them"
    remains = over_versions(found)
    judged = found.version.over_versions
    result = BOUNDED if judged in (HOLDS, FINER) else UNKNOWN if judged is None else OPEN
    return [
        _singling_out(found),
        *_inference(found),
        *_combinations(found),
        *_events(found),
        _question("linkability", somebody, remains, result),
        _others(found),
        _presence(found),
    ]


def _singling_out(found: Collected) -> Question:
    chance = figures.chance(found)
    somebody = (
        f"knows {found.knowing} of a person and that the person is in the data, and looks"
        " for the record"
    )
    if chance is None and figures.exact(found):
        hidden = found.of_role("sensitive", "semi_sensitive")
        remains = (
            f"{sentence(exactly(found.known))}, so a person can be found by them. What is hidden is"
            f" which value in {the_columns(hidden, 'or')} belongs to whom."
        )
        return _question("singling out", somebody, remains, OPEN)
    if chance is None:
        why = found.apart or "groups of this form do not say how many people look the same"
        remains = f"{sentence(why)}."
        result = IDLE if found.apart else UNKNOWN
        return _question("singling out", somebody, remains, result)
    group = (
        "Some are alone in their group"
        if chance.smallest == 1
        else f"A group of at least {chance.smallest} {found.members}"
    )
    remains = (
        f"{group}: {guess(alone=found.version.over_versions != HOLDS)} is right with a chance of at"
        f" most {once(chance.smallest)}, and of {percent(chance.mean)} on average."
    )
    bounded = guarantee.fewest_people(found) > 1
    return _question("singling out", somebody, remains, BOUNDED if bounded else OPEN)


def _inference(found: Collected) -> Iterator[Question]:
    """One of the columns whose most common values are limited, one of the others."""
    by_result: dict[Result, list[str]] = {}
    for column in found.of_role("sensitive", "semi_sensitive"):
        share = figures.largest(figures.of_column(found, column))
        limit = guarantee.most_of(found, column, share)
        result = BOUNDED if limit is not None and limit < 1 else OPEN
        by_result.setdefault(result, []).append(column)
    for result, names in by_result.items():
        left = [f"{several(n, 'value')} in {the_columns([c])}" for c, n in _fewest(found, names)]
        remains = [f"At least {', '.join(left)} remain."] if left else []
        if shares := list(_shares(found, names)):
            remains.append(f"The most common value has at most {', '.join(shares)}.")
        if result == OPEN:
            remains.append("No requirement limits how common it is.")
        somebody = "does not look for the record, but reads off what the group has in"
        yield _question("inference", f"{somebody} {the_columns(names)}", " ".join(remains), result)


def _fewest(found: Collected, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    for name in names:
        values = guarantee.fewest_values(found, name) or figures.fewest(found, name)
        if values is not None:
            yield name, values


def _shares(found: Collected, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        evidence, most = figures.of_column(found, name), figures.most(found, name)
        if evidence is not None:
            mean = percent(evidence["mean"])
            yield f"{percent(most)} of a group in {the_columns([name])} ({mean} on average)"
        elif most is not None:
            yield f"{percent(most)} of a group or bucket in {the_columns([name])}"


def _combinations(found: Collected) -> list[Question]:
    bounded = guarantee.fewest_combinations(found) > 1
    return [
        _question(
            "inference",
            f"knows the other columns of a person, and wants to know {the_columns(one['columns'])}",
            f"At least {count(one['smallest'])} combinations remain that exist. They need not be"
            " equally likely.",
            BOUNDED if bounded else OPEN,
        )
        for one in figures.combinations(found)
    ]


def _events(found: Collected) -> Iterator[Question]:
    event = guarantee.commonest_event(found)
    if event is not None:
        yield _question(
            "inference",
            "knows that a person has rows of another table, and wants to know what they say",
            "At most"
            f" {percent(event['measured'])} of those in the group who have rows share a value, in"
            f" {the_columns([plain(event['column'])])}. What is likelier beside another value, or a"
            " coarser one, is not bounded.",
            BOUNDED,
        )


def over_versions(found: Collected) -> str:
    """Which rule holds over all versions, in a sentence or two."""
    match found.version.over_versions:
        case None:
            return (
                "Not judged: the policy names no column that tells people apart, so nobody can say"
                " who is in several versions."
            )
        case state if state == HOLDS:
            return (
                "Every group is new, or the same as in earlier versions, or made of whole earlier"
                " groups. So what is required of one version also holds for who has all of them,"
                " and knows who was in which group."
            )
        case state if state == FINER:
            return (
                "This version follows from a finer one. Who has that one has its bounds, not those"
                " of this version."
            )
        case _:
            return (
                "Groups cross those of another version about the same people. What is required does"
                " not hold for who has both."
            )


def _others(found: Collected) -> Question:
    remains = "Each known member makes the group smaller by one."
    chance = figures.chance(found)
    if chance is not None and chance.smallest > 1:
        remains += f" Who knows {chance.smallest - 1} of the smallest group knows the last one."
    return _question("other members", "knows the values of other members of a group", remains, OPEN)


def _presence(found: Collected) -> Question:
    somebody = "wants to know whether a person is in the data at all"
    measured = guarantee.presence(found)
    if not measured:
        return _question("presence", somebody, "The release does not hide it.", OPEN)
    chances = " and ".join(f"at {bound} {percent(share)}" for bound, share in measured)
    remains = f"Of anybody in the population it can be concluded with a chance of {chances}."
    return _question("presence", somebody, remains, BOUNDED)


def _question(name: Name, somebody: str, remains: str, result: Result) -> Question:
    return Question(name=name, somebody=somebody, remains=remains, result=result)
