"""Expected re-identifications by their definition: loops over persons, sums term by term."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cache


@cache
def individual_risk(records: int, share: float) -> float:
    """Mean of 1 / F, where F - records is how many people fail to be drawn before that many are."""
    total, absent = 0.0, 0
    probability = share**records
    while True:
        term = probability / (records + absent)
        total += term
        if absent > records / share and term < 1e-18 * total:
            return total
        probability *= (records + absent) / (absent + 1) * (1 - share)
        absent += 1


@dataclass(frozen=True)
class Row:
    """A record: what is known of it, whose it is, and whom that person lives with."""

    key: Hashable
    person: Hashable
    weight: float = 1
    household: Hashable = None


def by_weights(rows: Sequence[Row]) -> dict[Hashable, float]:
    """The highest individual risk of every person."""
    found: dict[Hashable, float] = {}
    for row in rows:
        members = {other.person: other.weight for other in rows if other.key == row.key}
        share = min(1.0, len(members) / sum(members.values()))
        risk = individual_risk(len(members), share)
        found[row.person] = max(risk, found.get(row.person, 0))
    return found


def in_population(rows: Sequence[Row], everybody: Sequence[Hashable]) -> dict[Hashable, float]:
    """1 / people of the population with the same key, at its highest, of every person."""
    found: dict[Hashable, float] = {}
    for row in rows:
        members = {other.person for other in rows if other.key == row.key}
        people = max(len(members), sum(key == row.key for key in everybody))
        found[row.person] = max(1 / people, found.get(row.person, 0))
    return found


def of_households(rows: Sequence[Row], risks: dict[Hashable, float]) -> dict[Hashable, float]:
    """Of every person the probability that somebody of the household is found."""
    homes = {row.person: row.household for row in rows}
    return {
        person: 1
        - math.prod(1 - risks[other] for other, home in homes.items() if home == homes[person])
        for person in risks
    }


def threshold(risks: Sequence[float], share: float) -> float:
    """The highest risk such that all records up to it add up to at most a share of their number."""
    fitting = [
        risk
        for risk in risks
        if sum(other for other in risks if other <= risk) <= share * len(risks)
    ]
    return max(fitting, default=0)
