"""Lines of the maps of risk against use: a method, with a mark for every value that was tried."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pganon.forms.form import STRUCTURE
from pganon.privacy.base import from_below
from pganon.report.words import SPACE, number, percent, plain

STYLES = 12
"""Marks that can be told apart."""


@dataclass(frozen=True)
class Mark:
    """A candidate on the map.

    Attributes:
        text: beside it, such as `k = 5`.
        remains: whether it is a candidate still.
    """

    text: str
    said: str
    remains: bool
    figures: Mapping[str, Any]


@dataclass(frozen=True)
class Series:
    """Marks of one method, in the order of what is varied.

    Attributes:
        style: number of its shape and colour.
        joined: whether a line through its marks means anything.
    """

    name: str
    style: int
    joined: bool
    marks: Sequence[Mark]


def series_of(candidates: Sequence[Candidate]) -> list[Series]:
    """Of all candidates that have a chance to find a person.

    A line follows the parameter with most numbers; other parameters make lines of their own.
    """
    having = [one for one in candidates if one["figures"] and one["figures"]["mean_risk"]]
    along = _along(having)
    lines: dict[str, list[Candidate]] = {}
    for one in having:
        beside = [equals(k, v) for k, v in one["varied"].items() if k != along]
        lines.setdefault(", ".join([method(one), *beside]), []).append(one)
    numbered = len(lines) > STYLES
    return [
        Series(
            plain(name, 120),
            style % STYLES,
            joined=len(ordered) > 1 and not numbered,
            marks=[_mark(one, along, numbered=numbered) for one in ordered],
        )
        for style, (name, ordered) in enumerate(
            (name, sorted(found, key=lambda one: one["varied"].get(along, 0)))
            for name, found in lines.items()
        )
    ]


def _along(candidates: Sequence[Candidate]) -> str | None:
    values: dict[str, set[float]] = {}
    words: set[str] = set()
    for one in candidates:
        for name, value in one["varied"].items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                values.setdefault(name, set()).add(value)
            else:
                words.add(name)
    found = {name: len(tried) for name, tried in values.items() if name not in words}
    return max(found, key=lambda name: found[name], default=None)


def _mark(one: Candidate, along: str | None, *, numbered: bool) -> Mark:
    number = str(one["number"])
    value = one["varied"].get(along)
    short = number if numbered or value is None else equals(along or "", value)
    return Mark(
        plain(short, 16),
        f"candidate {number}" if short == number else f"candidate {number}, {short}",
        one["verdict"] == "candidate",
        one["figures"],
    )


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


Measure = tuple[str, str | None, str]
"""Model, column and symbol: of several distributions that it is compared with the worst counts."""


def heads_of(measures: Collection[Measure], taken: Collection[str] = ()) -> Mapping[Measure, str]:
    """The symbol, with the column or the model where it would not say which.

    Args:
        taken: heads of other columns.
    """
    for heads in (
        {key: key[2] for key in measures},
        {(m, of, symbol): f"{symbol} of {of}" if of else symbol for m, of, symbol in measures},
    ):
        if len(set(heads.values())) == len(heads):
            break
    else:
        several = len({column for _, column, _ in measures}) > 1
        heads = {
            (model, column, symbol): " ".join(
                filter(None, [model, column if several else None, symbol])
            )
            for model, column, symbol in measures
        }
    return {key: f"measured {head}" if head in taken else head for key, head in heads.items()}
