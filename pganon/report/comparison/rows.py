"""What the page says of every candidate, from the document of the comparison alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pganon.forms.form import STRUCTURE
from pganon.privacy.base import from_below
from pganon.report.comparison.heads import Measure, heads_of
from pganon.report.words import SPACE, number, percent, plain

Candidate = Mapping[str, Any]

LONGEST = 120
"""Characters of a method with its options."""


def rows(candidates: Sequence[Candidate], limit: float) -> list[dict[str, Any]]:
    """A row for each: texts that are no figures of their own."""
    heads = heads_of(list(dict.fromkeys(m for one in candidates for m in _worst(one))))
    return [
        {
            "method": method(one),
            "varied": varied(one),
            "measured": [
                f"{plain(heads[key])}{SPACE}={SPACE}{number(worst)}"
                for key, worst in _worst(one).items()
            ],
            "verdict": verdict(one, limit),
            "state": STATES[one["verdict"]],
        }
        for one in candidates
    ]


STATES = {"candidate": "holds", "above_limit": "look", "beaten": "none", "refused": "none"}
"""How a verdict is marked."""


def verdict(one: Candidate, limit: float) -> str:
    match one["verdict"]:
        case "above_limit":
            return f"above {percent(limit)}"
        case "beaten":
            return f"beaten by {one['beaten_by']}"
        case other:
            return str(other)


def method(one: Candidate, longest: int = LONGEST) -> str:
    """The method with its options, but for those that are varied."""
    options = {k: v for k, v in one["method"].items() if k not in one["varied"] and k != "name"}
    texts = [str(one["method"]["name"]), *(f"{k}: {written(v)}" for k, v in options.items())]
    return plain(", ".join(texts), longest)


def varied(one: Candidate) -> str:
    """`k = 5, l = 2`."""
    return plain(", ".join(equals(k, v) for k, v in one["varied"].items()), LONGEST)


def equals(name: str, value: object) -> str:
    """On one line."""
    return f"{name}{SPACE}={SPACE}{written(value)}"


def written(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def named(one: Candidate) -> str:
    """`2 (mondrian, k = 12)`."""
    return f"{one['number']} ({', '.join(filter(None, [method(one, 60), varied(one)]))})"


def reasons(candidates: Sequence[Candidate]) -> list[dict[str, str]]:
    """Rows {numbers, code, reason}: refusals with those that they are of."""
    found: dict[tuple[str, str], list[str]] = {}
    for one in candidates:
        if one["code"] is not None and one["reason"] is not None:
            found.setdefault((one["code"], one["reason"]), []).append(str(one["number"]))
    return [
        {"numbers": ", ".join(numbers), "code": code.replace("_", " "), "reason": reason}
        for (code, reason), numbers in found.items()
    ]


def _worst(one: Candidate) -> dict[Measure, float]:
    """Requirements as measured, but for the size of groups where the highest chance shows it."""
    figures = one["figures"]
    found: dict[Measure, float] = {}
    for check in figures["verified"] if figures else ():
        key = (check["model"], check["column"], check["symbol"])
        if check["model"] == STRUCTURE or (check["symbol"] == "k" and figures["highest_risk"]):
            continue
        worse = min if from_below(check["bound"]) else max
        found[key] = worse(found.get(key, check["measured"]), check["measured"])
    return found
