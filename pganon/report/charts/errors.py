"""Errors of random questions: the middle half, the median, and what one in twenty is above."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pganon.report.charts import svg
from pganon.report.words import percent

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
