"""Attacks that were measured on what the policy of the version makes of its data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.report.collected import Collected
from pganon.report.words import listed, plain, several

_PARTS = ("seed", "people", "control_people", "targets", "known_others")

_RATES = ("release", "members", "control", "difference")


def attacks(found: Collected) -> dict[str, Any] | None:
    """The newest attacks, and how many times some were measured; None if they never were."""
    rows = [
        event
        for event in found.events
        if event["event"] == "attacked" and event["run_id"] == found.version.run_id
    ]
    if not rows:
        return None
    newest = rows[-1]
    details = newest["details"]
    return {
        "at": newest["at"].isoformat(),
        "by": newest["by_role"],
        "row": newest["id"],
        "times": len(rows),
        **{name: details[name] for name in _PARTS},
        "findings": [
            {
                "attack": one["attack"],
                "adversary": one["adversary"],
                "column": one["column"],
                "somebody": _somebody(found, one, details["known_others"]),
                **{name: one[name] for name in _RATES},
            }
            for one in details["findings"]
        ],
        "not_measured": [
            {"attack": one["attack"], "reason": one["reason"]} for one in details["not_measured"]
        ],
    }


def _somebody(found: Collected, one: Mapping[str, Any], others: int) -> str:
    """Who the attacker is, and what he does."""
    known, column = listed(found.known), plain(one["column"] or "")
    match one["adversary"]:
        case "published_row":
            return "states what a row shows, and is right if that is true of one person alone"
        case "two_sources":
            return f"has two lists of people, each with half of {known}, and connects them"
        case "quasi_identifiers":
            return f"knows {known} of a person, and guesses {column}"
        case "others_known":
            members = several(others, "other member", "other members")
            return f"also knows who {members} of the group are, and their {column}"
        case "correlations":
            return f"knows {known} of a person, and how each of them goes with {column}"
        case other:
            return plain(str(other).replace("_", " "))
