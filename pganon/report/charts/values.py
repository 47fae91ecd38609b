"""Sensitive values: the share of all people, and the highest in a group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.report.charts import svg
from pganon.report.words import number, percent, value

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


def finding(found: Mapping[str, Any]) -> str:
    """The title of the chart."""
    times = max((one["highest"] / one["share"] for one in found["values"]), default=1.0)
    if times < 1.05:
        return "Every group has the shares of the whole"
    return f"Up to {number(round(times, 1))} times the share in the whole"
