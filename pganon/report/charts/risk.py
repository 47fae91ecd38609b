"""The chance to find a person before and after, on a logarithmic line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from pganon.report.charts import svg
from pganon.report.figures import limit_words
from pganon.report.words import once, percent

_LEFT, _RIGHT = 84, 326
_ROWS = {"highest": "highest", "mean": "on average"}


def risk(found: Mapping[str, Any]) -> str | None:
    """None if the release's is not known."""
    release, source = found["release"], found["source"]
    if release is None:
        return None
    least = min(one["mean"] for one in (release, source) if one)
    decades = max(1, math.ceil(-math.log10(min(least, 0.1)) - 1e-9))

    def at(chance: float) -> float:
        return _RIGHT + (_RIGHT - _LEFT) * math.log10(max(chance, 10**-decades)) / decades

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
    x = min(max(at(max(limits.values())) + 4, _LEFT), _RIGHT - 40)
    parts.append(svg.text(x, 14, label, "lim-t", "middle"))
    for row, (name, label) in enumerate(_ROWS.items()):
        y = 48 + 42 * row
        parts.append(svg.text(0, y + 4, label, room=_LEFT - 12))
        if source:
            parts.append(svg.line(at(release[name]), y, at(source[name]), y, "link"))
            parts.append(svg.dot(at(source[name]), y, "src"))
        parts.append(svg.dot(at(release[name]), y))
        before = f", {percent(source[name])} in the source" if source else ""
        said.append(f"{label}: {percent(release[name])}{before}")
    return svg.chart(144, "Chance to find a person. " + "; ".join(said), parts)


def finding(found: Mapping[str, Any]) -> str:
    """The title of the chart."""
    release, source = found["release"], found["source"]
    if source is None:
        return f"At most {once(release['smallest'])}"
    return f"From {once(source['smallest'])} to {once(release['smallest'])}"
