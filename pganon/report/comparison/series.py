"""Lines of the maps of risk against use: a method, with a mark for every value that was tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pganon.report.comparison.rows import Candidate, equals, method
from pganon.report.words import plain

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
