"""Lines with dots: chances before and after, sensitive values, errors of random questions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pganon.report.charts import svg
from pganon.report.figures import limit_words
from pganon.report.words import number, once, percent, value

_LEFT, _RIGHT, _MIDDLE = 4, 300, 34
_TOPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def errors(found: Mapping[str, Any] | None) -> str | None:
    """None where no questions were asked, or only their median is known."""
    if found is None or found["median"] is None or found.get("most") is None:
        return None
    quarter, median, three, most = (
        found[name] for name in ("quarter", "median", "three_quarters", "most")
    )
    top = next((top for top in _TOPS if most <= top), most)

    def at(error: float) -> float:
        return _LEFT + (_RIGHT - _LEFT) * min(error / top, 1)

    parts: list[str] = []
    for mark in (0, top / 2, top):
        parts.append(svg.line(at(mark), 8, at(mark), 60, "grid" if mark else "axis"))
        anchor = "start" if mark == 0 else "middle"
        parts.append(svg.text(at(mark), 77, percent(mark), "m s", anchor))
    parts.append(svg.line(at(three), _MIDDLE, at(most), _MIDDLE, "link"))
    parts.append(svg.bar(at(quarter), _MIDDLE - 9, at(three) - at(quarter), 18))
    parts.append(svg.line(at(median), _MIDDLE - 14, at(median), _MIDDLE + 14, "tick"))
    parts.append(svg.line(at(most), _MIDDLE - 6, at(most), _MIDDLE + 6, "link"))
    said = (
        f"a quarter below {percent(quarter)}; half below {percent(median)}; three quarters below"
        f" {percent(three)}; 19 of 20 below {percent(most)}"
    )
    return svg.chart(84, f"Relative errors of random counts. {said}", parts)


_ROWS = {"highest": "highest", "mean": "on average"}


def risk(found: Mapping[str, Any]) -> str | None:
    """None if the release's is not known."""
    release, source = found["release"], found["source"]
    if release is None:
        return None
    left, right = 84, 326
    least = min(one["mean"] for one in (release, source) if one)
    decades = max(1, math.ceil(-math.log10(min(least, 0.1)) - 1e-9))

    def at(chance: float) -> float:
        return right + (right - left) * math.log10(max(chance, 10**-decades)) / decades

    parts: list[str] = []
    said: list[str] = []
    for power in range(decades + 1):
        x = at(10**-power)
        parts.append(svg.line(x, 26, x, 118, "grid"))
        label = f"{10 ** (2 - power):.{max(0, power - 2)}f} %"
        anchor = "end" if power == 0 else "start" if power == decades else "middle"
        parts.append(svg.text(x, 136, label, "m s", anchor))
    limits = found["limits"]
    for limit in limits.values():
        parts.append(svg.line(at(limit), 20, at(limit), 118, "lim"))
    named = ", ".join(map(limit_words, limits))
    label = f"limits: {named}" if len(limits) > 1 else f"limit: {named}"
    x = min(max(at(max(limits.values())) + 4, left), right - 40)
    parts.append(svg.text(x, 14, label, "lim-t", "middle"))
    for row, (name, label) in enumerate(_ROWS.items()):
        y = 48 + 42 * row
        parts.append(svg.text(0, y + 4, label, room=left - 12))
        if source:
            parts.append(svg.line(at(release[name]), y, at(source[name]), y, "link"))
            parts.append(svg.dot(at(source[name]), y, "src"))
        parts.append(svg.dot(at(release[name]), y))
        before = f", {percent(source[name])} in the source" if source else ""
        said.append(f"{label}: {percent(release[name])}{before}")
    return svg.chart(144, "Chance to find a person. " + "; ".join(said), parts)


def risk_title(found: Mapping[str, Any]) -> str:
    """The title of the chart."""
    release, source = found["release"], found["source"]
    if source is None:
        return f"At most {once(release['smallest'])}"
    return f"From {once(source['smallest'])} to {once(release['smallest'])}"


_ROW = 20


def values(found: Mapping[str, Any]) -> str | None:
    """None if all values are too rare to be named."""
    rows = found["values"]
    if not rows:
        return None
    names = [value(one["value"]) for one in rows]
    left = min(150, 14 + max(svg.CHARACTER * min(len(name), 22) for name in names))
    right = svg.WIDTH - 40
    highest = max(one["highest"] for one in rows)
    top = next((top for top in (0.1, 0.2, 0.4, 0.6, 0.8) if highest <= top), 1.0)
    parts: list[str] = []
    said: list[str] = []
    foot = 6 + _ROW * len(rows)

    def at(share: float) -> float:
        return left + (right - left) * min(share / top, 1)

    for mark in (0, top / 2, top):
        parts.append(svg.line(at(mark), 0, at(mark), foot, "grid" if mark else "axis"))
        anchor = "start" if mark == 0 else "middle"
        parts.append(svg.text(at(mark), foot + 16, f"{100 * mark:g} %", "m s", anchor))
    limits = {one["limit"] for one in rows}
    common = limits.pop() if len(limits) == 1 else None
    if common is not None and common <= top:
        parts.append(svg.line(at(common), 0, at(common), foot, "lim"))
    for place, (name, one) in enumerate(zip(names, rows, strict=True)):
        y = 4 + _ROW * place
        limit = one["limit"]
        parts.append(svg.text(left - 8, y + 12, name, "", "end", left - 8))
        parts.append(svg.line(at(one["share"]), y + 8, at(one["highest"]), y + 8, "link"))
        parts.append(svg.line(at(one["share"]), y + 1, at(one["share"]), y + 15, "tick"))
        parts.append(svg.dot(at(one["highest"]), y + 8))
        if common is None and limit is not None and limit <= top:
            parts.append(svg.line(at(limit), y, at(limit), y + 16, "lim"))
        end = at(max(one["share"], one["highest"]))
        parts.append(svg.text(end + 9, y + 12, percent(one["highest"]), "m s"))
        said.append(f"{name}: {percent(one['share'])} of all, {percent(one['highest'])} in a group")
    label = "Share of every value among all, and the highest in a group"
    return svg.chart(foot + 24, f"{label}. " + "; ".join(said), parts)


def values_title(found: Mapping[str, Any]) -> str:
    """The title of the chart."""
    times = max((one["highest"] / one["share"] for one in found["values"]), default=1.0)
    if times < 1.05:
        return "Every group has the shares of the whole"
    return f"Up to {number(round(times, 1))} times the share in the whole"
