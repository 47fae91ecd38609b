"""The four figures that come first, each with its limit and the result in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pganon.policy.reporting import Limit
from pganon.report import figures, guarantee
from pganon.report.collected import Collected
from pganon.report.words import count, percent, plain

_UNMEASURED = "no run measured it"
_HIGHEST = "Highest chance to find a person"
_SAYS_NOTHING = "groups of this form do not say it"

HOLDS, LOOK, NONE = "holds", "look", "none"
IDLE = "does not apply"


def outcome(found: Collected) -> list[dict[str, Any]]:
    """Rows {name, label, figure, notes, result, status}."""
    return [_smallest(found), _chance(found), _common(found), _left_out(found)]


def _smallest(found: Collected) -> dict[str, Any]:
    chance, label = figures.chance(found), "Smallest group"
    combinations = figures.combinations(found)
    if chance is None and combinations:
        return _fewest(found, min(one["smallest"] for one in combinations))
    if chance is None:
        return _exactly(found, "smallest", label)
    required = guarantee.fewest_people(found)
    bounded = required > 1
    return row(
        "smallest",
        label,
        _people(chance.smallest, found.members),
        f"required: {count(required)}",
        "holds" if bounded else "no limit is required",
        HOLDS if bounded else LOOK,
    )


def _fewest(found: Collected, smallest: int) -> dict[str, Any]:
    """Where combinations are counted, and not people who look the same."""
    required = guarantee.fewest_combinations(found)
    return row(
        "smallest",
        "Fewest combinations that remain",
        count(smallest),
        f"required: {count(required)}",
        "holds" if required > 1 else "no limit is required",
        HOLDS if required > 1 else LOOK,
    )


def _chance(found: Collected) -> dict[str, Any]:
    chance = figures.chance(found)
    if chance is None:
        return _exactly(found, "chance", _HIGHEST)
    return chance_row(chance.smallest, found.policy.report.accepted)


def chance_row(smallest: int, accepted: Sequence[Limit]) -> dict[str, Any]:
    """The chance to find a person in the smallest group, of either edition."""
    limits, said = figures.against_limits(smallest, accepted)
    status = LOOK if figures.exceeded(smallest, accepted) else HOLDS
    return row("chance", _HIGHEST, percent(1 / smallest), limits, said, status)


def _common(found: Collected) -> dict[str, Any]:
    item = figures.commonest(found)
    if item is None:
        return _of_form(found)
    share = max((one["share"] for one in item["values"]), default=1.0)
    limit = guarantee.most_of(found, item["column"], share)
    limited = limit is not None and limit < 1
    return row(
        "common",
        f"Most common {plain(item['column'], 30)} in a group",
        percent(item["most"]),
        f"at most; on average {percent(item['mean'])}",
        f"limit {percent(limit)} holds"
        if limited and limit is not None
        else "no limit is required",
        HOLDS if limited else LOOK,
    )


def _left_out(found: Collected) -> dict[str, Any]:
    version = found.version
    share = figures.left_out(found)
    return row(
        "left_out",
        "Records left out",
        count(version.suppressed),
        f"of {count(version.released + version.suppressed)} in the source",
        "none" if version.suppressed == 0 else percent(share),
        LOOK if share > figures.LEFT_OUT else HOLDS,
    )


def _of_form(found: Collected) -> dict[str, Any]:
    """The same from the figures of every run."""
    shares = found.utility.most if found.utility else {}
    column = max(shares, key=lambda name: shares[name], default=None)
    if column is None and not found.of_role("sensitive", "semi_sensitive"):
        note = "no column is declared as sensitive"
        return row("common", "Most common sensitive value in a group", "none", note, IDLE, NONE)
    if column is None:
        return _unknown("common", "Most common sensitive value in a group")
    limit = guarantee.most_of(found, column, 1.0)
    limited = limit is not None and limit < 1
    return row(
        "common",
        f"Most common {plain(column, 30)} in a group or bucket",
        percent(shares[column]),
        "at most",
        f"limit {percent(limit)} holds"
        if limited and limit is not None
        else "no limit is required",
        HOLDS if limited else LOOK,
    )


def _exactly(found: Collected, name: str, label: str) -> dict[str, Any]:
    """Where no group of people who look the same is published."""
    if found.apart:
        return row(name, label, "none", found.apart, IDLE, NONE)
    if not figures.exact(found):
        return _unknown(name, label, _why(found))
    note = "what others may know is published exactly"
    return row(name, label, "exact", note, "not limited", LOOK)


def _unknown(name: str, label: str, why: str = _UNMEASURED) -> dict[str, Any]:
    return row(name, label, "?", why, "not measured", NONE)


def _why(found: Collected) -> str:
    return _SAYS_NOTHING if found.measured else _UNMEASURED


def _people(number: int, members: str) -> str:
    one = "person" if members == "people" else "record"
    return f"{count(number)} {members}" if number != 1 else f"1 {one}"


def row(name: str, label: str, figure: str, note: str, result: str, status: str) -> dict[str, Any]:
    """A figure with its limit and the result in words."""
    return {
        "name": name,
        "label": label,
        "figure": figure,
        "note": note,
        "result": result,
        "status": status,
    }
