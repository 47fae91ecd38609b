"""Bars: sizes of groups, the commonest value, distributions, and people in every version."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from pganon.report.charts import svg
from pganon.report.words import count, number, percent, sentence, value

_TOP, _FOOT = 14, 132
_LEFT = 36


def _scale(highest: float) -> tuple[float, list[float]]:
    """The top of the axis, and its marks."""
    for top in (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0):
        if highest <= top:
            return top, [0, top / 2, top]
    return 1.0, [0, 0.5, 1.0]


def _axis(top: float, marks: Sequence[float]) -> list[str]:
    parts: list[str] = []
    for mark in marks:
        y = _height(mark, top)
        parts.append(svg.line(_LEFT, y, svg.WIDTH, y, "grid" if mark else "axis"))
        parts.append(svg.text(_LEFT - 6, y + 4, f"{100 * mark:g} %", "m s", "end"))
    return parts


def _height(share: float, top: float) -> float:
    return _FOOT - (_FOOT - _TOP) * min(share / top, 1)


def _columns(
    shares: Sequence[tuple[str, float, float | None]], label: str, after: Sequence[str] = ()
) -> str:
    """Bars of the release, and what the source has, as an outline; `after` is drawn over them."""
    top, marks = _scale(max([s for _, s, _ in shares] + [b or 0.0 for _, _, b in shares] + [0.0]))
    wide = (svg.WIDTH - _LEFT) / max(len(shares), 1)
    parts = _axis(top, marks)
    said: list[str] = []
    for place, (name, share, before) in enumerate(shares):
        x, y = _LEFT + place * wide, _height(share, top)
        if before:
            y0 = _height(before, top)
            parts.append(svg.bar(x + wide * 0.1, y0, wide * 0.36, _FOOT - y0, "src"))
        if share:
            alone = before is None
            left, part = (0.15, 0.7) if alone else (0.52, 0.36)
            parts.append(svg.bar(x + wide * left, y, wide * part, _FOOT - y))
        if name:
            parts.append(svg.text(x + wide / 2, _FOOT + 17, name, "m s", "middle"))
        said.append(f"{name}: {percent(share)}{_before(before)}")
    return svg.chart(_FOOT + 26, f"{label}. " + "; ".join(said), [*parts, *after])


def _before(share: float | None) -> str:
    return "" if share is None else f" ({percent(share)} in the source)"


# -- sizes of groups ----------------------------------------------------------------------------


_ENDS = (1, 2, 5, 10, 20, 50, 100)
"""The last size of every bin but the one without an end."""


def sizes(
    release: Mapping[str, Any],
    source: Mapping[str, Any] | None,
    counted: str,
    by: str = "size of their group",
) -> str:
    """Per cent of the people or records that are counted, by the size of their group or else."""
    found = _by_size(release)
    before = _by_size(source) if source else {}
    names = list(dict.fromkeys([*before, *found]))
    names.sort(key=lambda bounds: (bounds[0], bounds[1] or math.inf))
    while len(names) > 1 and not found.get(names[-1]) and not before.get(names[-1]):
        names.pop()
    shares = [
        (_size(name), found.get(name, 0.0), before.get(name, 0.0) if source else None)
        for name in names
    ]
    return _columns(shares, f"{sentence(counted)} by the {by}")


def _by_size(found: Mapping[str, Any]) -> dict[tuple[int, int | None], float]:
    return {_bounds(b, found["largest"]): b["people"] / found["people"] for b in found["bins"]}


def _bounds(found: Mapping[str, Any], largest: int) -> tuple[int, int | None]:
    """Without sizes that no group has, where bins were put together up to the last."""
    if found["to"] is not None or largest < found["from"]:
        return found["from"], found["to"]
    return found["from"], next((end for end in _ENDS if largest <= end), None)


def _size(bounds: tuple[int, int | None]) -> str:
    first, last = bounds
    if last is None:
        return f"{first}+"
    return str(first) if first == last else f"{first}-{last}"


# -- the commonest value ------------------------------------------------------------------------

_QUARTERS = ((0.0, "start"), (0.25, "middle"), (0.5, "middle"), (0.75, "middle"), (1.0, "end"))


def commonest(found: Mapping[str, Any], counted: str) -> str | None:
    """Per cent of the people by the share of the most common value in their group; None if they
    are too few."""
    people = sum(one["people"] for one in found["bins"])
    if people == 0:
        return None
    top, marks = _scale(max(one["people"] / people for one in found["bins"]))
    parts = _axis(top, marks)
    wide = svg.WIDTH - _LEFT - 4
    said: list[str] = []
    for one in found["bins"]:
        share = one["people"] / people
        if share == 0:
            continue
        # A bin of several steps is as wide as they are, and as high as one of them would be.
        each = share * 0.05 / (one["to"] - one["from"])
        y = _height(each, top)
        x = _LEFT + wide * one["from"]
        parts.append(svg.bar(x + 1, y, wide * (one["to"] - one["from"]) - 2, _FOOT - y))
        said.append(f"{percent(one['from'])} to {percent(one['to'])}: {percent(share)}")
    for mark, anchor in _QUARTERS:
        parts.append(svg.text(_LEFT + wide * mark, _FOOT + 17, f"{100 * mark:g} %", "m s", anchor))
    limit = found["limit"]
    if limit is not None and limit < 1:
        x = _LEFT + wide * limit
        parts += [svg.line(x, 4, x, _FOOT, "lim")]
        side = "end" if limit > 0.6 else "start"
        parts.append(svg.text(x + (-5 if side == "end" else 5), 12, "limit", "lim-t", side))
    label = f"{sentence(counted)} by how common the most common value of their group is"
    return svg.chart(_FOOT + 26, f"{label}. " + "; ".join(said), parts)


# -- distributions ------------------------------------------------------------------------------


def distribution(found: Mapping[str, Any]) -> str | None:
    """Bars of the release, and a line or ticks of the source; None if nothing can be shown."""
    if not found["bins"]:
        return None
    return _in_steps(found) if found["kind"] == "steps" else _by_value(found)


def _in_steps(found: Mapping[str, Any]) -> str:
    bins = found["bins"]
    top, marks = _scale(max(max(one["source"], one["release"]) for one in bins))
    wide = (svg.WIDTH - _LEFT) / len(bins)
    parts = _axis(top, marks)
    points: list[tuple[float, float]] = []
    said: list[str] = []
    every = -(-len(bins) // 6)
    for place, one in enumerate(bins):
        x, y = _LEFT + place * wide, _height(one["release"], top)
        parts.append(svg.bar(x + 1, y, wide - 2, _FOOT - y))
        points += [(x, _height(one["source"], top)), (x + wide, _height(one["source"], top))]
        if place and place % every == 0 and place * wide < svg.WIDTH - _LEFT - 12:
            parts.append(
                svg.text(x, _FOOT + 17, _edge(one["from"], found["unit"]), "m s", "middle")
            )
        said.append(
            f"{step_name(one, found['unit'])}: {percent(one['release'])}{_before(one['source'])}"
        )
    return svg.chart(_FOOT + 26, "Distribution. " + "; ".join(said), [*parts, svg.path(points)])


def step_name(one: Mapping[str, Any], unit: str) -> str:
    """`under 20`, `20 to 25`, `85 and more`."""
    if one["from"] is None and one["below"] is None:
        return "all"
    if one["from"] is None:
        return f"under {_edge(one['below'], unit)}"
    if one["below"] is None:
        return f"{_edge(one['from'], unit)} and more"
    return f"{_edge(one['from'], unit)} to {_edge(one['below'], unit)}"


def _edge(at: float, unit: str) -> str:
    match unit:
        case "year":
            return str(int(at))
        case "month":
            return f"{int(at) // 12}-{int(at) % 12 + 1:02d}"
        case "day":
            return _day(int(at))
        case _:
            return f"{at:,.0f}" if abs(at) >= 10_000 else f"{at:g}"


def _day(at: int) -> str:
    try:
        return (date(2000, 1, 1) + timedelta(days=at)).isoformat()
    except OverflowError:
        return number(at)


def _by_value(found: Mapping[str, Any]) -> str:
    rows = [(value(one["value"]), one["release"], one["source"]) for one in found["bins"]]
    others = found["others"]
    if others:
        rows.append((f"{others['values']} others", others["release"], others["source"]))
    return lying(rows, "Distribution")


def lying(
    rows: Sequence[tuple[str, float, float | None]],
    label: str,
    ticked: str = "in the source",
    limits: Sequence[float] = (),
) -> str:
    """Bars that lie, with their names before and their shares behind them, and ticks.

    Limits above all bars and ticks are not drawn. They cross no share, which stand in a column.
    """
    left = min(150, 14 + max(svg.CHARACTER * min(len(name), 22) for name, _, _ in rows))
    right = svg.WIDTH - 52
    highest = max([max(share, tick or 0.0) for _, share, tick in rows] + [1e-9])
    parts: list[str] = []
    said: list[str] = []
    for place, (name, share, tick) in enumerate(rows):
        y = 4 + 20 * place
        long = (right - left) * share / highest
        parts.append(svg.text(left - 8, y + 12, name, "", "end", left - 8))
        parts.append(svg.bar(left, y + 2, long, 12))
        at = right - left if limits else long
        if tick is not None:
            x = left + (right - left) * tick / highest
            parts.append(svg.line(x, y, x, y + 16, "tick"))
            at = max(at, x - left)
        parts.append(svg.text(left + at + 7, y + 12, percent(share), "m s"))
        also = "" if tick is None else f" ({percent(tick)} {ticked})"
        said.append(f"{name}: {percent(share)}{also}")
    for limit in limits:
        if limit <= highest:
            x = left + (right - left) * limit / highest
            parts.append(svg.line(x, 0, x, 8 + 20 * len(rows), "lim"))
    parts.append(svg.line(left, 0, left, 8 + 20 * len(rows), "axis"))
    return svg.chart(8 + 20 * len(rows), f"{label}. " + "; ".join(said), parts)


# -- versions ---------------------------------------------------------------------------------

SHOWN = 12


def versions(found: Sequence[Mapping[str, Any]], counted: str) -> str:
    """The newest of them, oldest first."""
    rows = sorted(found, key=lambda one: one["version"] or math.inf)[-SHOWN:]
    highest = max(max(one["released"] for one in rows), 1)
    parts: list[str] = []
    said: list[str] = []
    for place, one in enumerate(rows):
        y = 4 + 20 * place
        long = (svg.WIDTH - 64 - 64) * one["released"] / highest
        name = "waits" if one["version"] is None else f"version {one['version']}"
        parts.append(svg.text(0, y + 12, name, room=64))
        parts.append(svg.bar(64, y + 2, long, 12))
        parts.append(svg.text(64 + long + 7, y + 12, count(one["released"]), "m s"))
        said.append(f"{name}: {count(one['released'])}")
    return svg.chart(
        8 + 20 * len(rows), f"{sentence(counted)} in every version. " + "; ".join(said), parts
    )
