"""What could go wrong: questions about a release, and what remains of each.

The first three are those of the European data protection authorities (WP216, 2014).
"""

from __future__ import annotations

from typing import Literal

from pganon.privacy.model_scope import FINER, HOLDS
from pganon.report import figures, guarantee
from pganon.report.parts import Part
from pganon.report.sources import Collected
from pganon.report.words import count, guess, listed, number, percent, sentence

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
    return [
        _singling_out(found),
        *_inference(found),
        *_combinations(found),
        _linkability(found),
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
            f"What others may know ({listed(found.known)}) is published exactly, so a person can be"
            f" found by it. What is hidden is which {listed(hidden, 'or')} belongs to whom."
        )
        return _question("singling out", somebody, remains, OPEN)
    if chance is None:
        why = found.apart or "groups of this form do not say how many people look the same"
        remains = f"{sentence(why)}."
        result = IDLE if found.apart else UNKNOWN
        return _question("singling out", somebody, remains, result)
    average = f"once in {number(round(1 / chance.mean, 1))} on average."
    remains = (
        f"Some are alone in their group: a guess is right for certain, and {average}"
        if chance.smallest == 1
        else f"A group of at least {chance.smallest} {found.members}:"
        f" {guess(alone=found.version.over_versions != HOLDS)} is right once in"
        f" {chance.smallest} times at most, and {average}"
    )
    bounded = guarantee.fewest_people(found) > 1
    return _question("singling out", somebody, remains, BOUNDED if bounded else OPEN)


def _inference(found: Collected) -> list[Question]:
    rows: list[Question] = []
    for column in found.of_role("sensitive", "semi_sensitive"):
        evidence = next((i for i in figures.sensitive(found) if i["column"] == column), None)
        limit = guarantee.most_of(found, column, figures.largest(evidence))
        values = guarantee.fewest_values(found, column) or figures.fewest(found, column)
        remains = []
        if values is not None:
            remains.append(f"At least {values} values of {column} remain.")
        most = figures.most(found, column)
        if evidence is not None:
            remains.append(
                f"The most common one has at most {percent(evidence['most'])} of a group,"
                f" {percent(evidence['mean'])} on average."
            )
        elif most is not None:
            remains.append(f"The most common one has at most {percent(most)} of a group or bucket.")
        if limit is None or limit >= 1:
            remains.append("No requirement limits how common it is.")
        rows.append(
            _question(
                "inference",
                f"does not look for the record, but reads off what the group has in {column}",
                " ".join(remains),
                BOUNDED if limit is not None and limit < 1 else OPEN,
            )
        )
    return rows


def _combinations(found: Collected) -> list[Question]:
    bounded = guarantee.fewest_combinations(found) > 1
    return [
        _question(
            "inference",
            f"knows the other columns of a person, and wants to know {listed(one['columns'])}",
            f"At least {count(one['smallest'])} combinations remain that exist. They need not be"
            " equally likely.",
            BOUNDED if bounded else OPEN,
        )
        for one in figures.combinations(found)
    ]


def _linkability(found: Collected) -> Question:
    somebody = "has several versions or releases of the same people, and compares them"
    remains = over_versions(found)
    judged = found.version.over_versions
    result = BOUNDED if judged in (HOLDS, FINER) else UNKNOWN if judged is None else OPEN
    return _question("linkability", somebody, remains, result)


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
