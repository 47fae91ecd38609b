"""Figures of a version from its evidence, or from those of every run where it has none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from pganon.forms.sentences import details
from pganon.policy.reporting import Limit
from pganon.report.parts import Chance, Number, Part
from pganon.report.sources import Collected
from pganon.report.words import listed

LEFT_OUT = 0.05
"""Share of the records above which it is to be looked at that they are left out."""


def limits(accepted: Sequence[Limit]) -> dict[str, float]:
    """Highest chances to find a person by their names, as in JSON."""
    return {limit.name: float(limit.share) for limit in accepted}


def limit_words(name: str) -> str:
    """`9 %` of a limit with the name `0.09`."""
    return Limit(Fraction(name)).words


def exceeded(smallest: int, accepted: Sequence[Limit]) -> list[str]:
    """Words of the limits that the chance is above, by the size of the smallest group.

    As evidence counts them: the float 1 / 11 is above the fraction.
    """
    return [limit.words for limit in accepted if smallest <= limit.largest]


def against_limits(smallest: int, accepted: Sequence[Limit]) -> tuple[str, str]:
    """All limits, and which of them the chance is above: two notes of the same row."""
    words, above = [limit.words for limit in accepted], exceeded(smallest, accepted)
    every = "the limit" if len(words) == 1 else "both limits" if len(words) == 2 else "all limits"
    named = f"limit{'s' if len(words) > 1 else ''}: {listed(words)}"
    if not above:
        return named, f"within {every}"
    return named, f"above {every if len(above) == len(words) else listed(above)}"


class Figure(Part):
    """A figure inside of a sentence, and how it is written."""

    kind: Literal["count", "number", "percent", "points"]
    value: Number | None


class OfForm(Part):
    """What the form measures of itself: texts and figures, which together are sentences."""

    label: str
    parts: list[str | Figure]


def chance_of(smallest: int, mean: float) -> Chance:
    return Chance(smallest=smallest, highest=1 / smallest, mean=mean)


def chance(found: Collected) -> Chance | None:
    """Of who knows the quasi-identifiers: prosecutor's risk, and on average that of the marketer.

    None where quasi-identifiers are published so that groups say nothing of it.
    """
    sizes = (found.evidence or {}).get("class_sizes", {}).get("release")
    if sizes:
        return chance_of(sizes["smallest"], sizes["groups"] / sizes["people"])
    utility = found.measures.get("utility", {})
    if utility.get("highest_risk"):
        # A class of people who have several records has more of these.
        return chance_of(round(1 / utility["highest_risk"]), utility["mean_risk"])
    return None


def sizes(found: Collected, of: str) -> Mapping[str, Any] | None:
    """Of `release` or `source`; None if they were not measured."""
    return (found.evidence or {}).get("class_sizes", {}).get(of)


def sensitive(found: Collected) -> list[Mapping[str, Any]]:
    """Evidence of sensitive columns."""
    return list((found.evidence or {}).get("sensitive", []))


def of_column(found: Collected, column: str) -> Mapping[str, Any] | None:
    return next((item for item in sensitive(found) if item["column"] == column), None)


def commonest(found: Collected) -> Mapping[str, Any] | None:
    """The sensitive column with the most common value in a group."""
    return max(sensitive(found), key=lambda item: item["most"], default=None)


def largest(item: Mapping[str, Any] | None) -> float:
    """The share of the most common value of all that are shown."""
    return max((value["share"] for value in item["values"]), default=1.0) if item else 1.0


def exact(found: Collected) -> bool:
    """Whether quasi-identifiers are published as they are."""
    return found.utility is not None and found.utility.exact


def most(found: Collected, column: str) -> float | None:
    """The largest share of a group that one value of a column has; None if nobody measured it."""
    evidence = of_column(found, column)
    if evidence is not None:
        return evidence["most"]
    return found.utility.most.get(column) if found.utility else None


def of_form(found: Collected) -> list[OfForm]:
    if found.utility is None or (found.withheld and found.tells is details):
        return []  # these lines have losses
    sentences, smallest = found.tells(found.utility, found.members), found.policy.report.smallest
    return [OfForm(**one.document(smallest, found.members)) for one in sentences]


def candidates(found: Collected) -> list[Mapping[str, Any]]:
    """How many values or combinations groups leave possible, where the form counts them."""
    return list((found.evidence or {}).get("candidates", []))


def fewest(found: Collected, column: str) -> int | None:
    """Values of a column that every group has, where the form counts them."""
    own = (one["smallest"] for one in candidates(found) if one["columns"] == [column])
    return next(own, None)


def combinations(found: Collected) -> list[Mapping[str, Any]]:
    """Those of several columns, which are in place of people who look the same."""
    return [one for one in candidates(found) if one["kind"] == "combinations"]


def whole(found: Collected, item: Mapping[str, Any]) -> str:
    """Of whom the shares of a sensitive column are."""
    if item.get("of") != "hidden":
        return found.members
    return f"{found.members} {'who hide' if found.counts_people else 'that hide'} it"


def left_out(found: Collected) -> float:
    """The share of the records that is not released."""
    records = found.version.released + found.version.suppressed
    return found.version.suppressed / records if records else 0.0
