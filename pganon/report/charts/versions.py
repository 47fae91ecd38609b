"""People in every version."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pganon.report.charts import svg
from pganon.report.words import count, sentence

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
