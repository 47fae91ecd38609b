"""Risk against use: a mark for every candidate, and a line for every method."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pganon.report.charts import svg
from pganon.report.charts.svg import CHARACTER
from pganon.report.comparison.series import Series
from pganon.report.words import percent

HEIGHT = 12
RADIUS = 6
_NEAR, _FAR = 8, 17
_HIDES, _NEARER, _AWAY, _CROSSES = 100, 4, 2, 1
"""What speaks against a place: it hides something; another mark is nearer to it; it is far away; a
line crosses it."""


@dataclass(frozen=True)
class Box:
    """A rectangle with these corners."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def within(self, other: Box) -> bool:
        return (
            other.left <= self.left
            and self.right <= other.right
            and other.top <= self.top
            and self.bottom <= other.bottom
        )


Point = tuple[float, float]


def placed(
    texts: Sequence[tuple[Point, str]],
    marks: Sequence[Point],
    lines: Sequence[tuple[Point, Point]],
    frame: Box,
) -> list[Box | None]:
    """A place for every text beside its point, or None where there is none.

    Args:
        marks: all of them, with or without a text.
        lines: that a text had better not cross.
    """
    full = [Box(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in marks]
    found: list[Box | None] = []
    for point, text in texts:
        others = [other for other in marks if other != point]
        boxes = [(box, cost) for box, cost in _around(point, text) if box.within(frame)]
        costs = [
            (cost + _cost(box, full, lines) + _nearer(box, point, others), n)
            for n, (box, cost) in enumerate(boxes)
        ]
        cost, best = min(costs, default=(_HIDES, 0))
        box = boxes[best][0] if cost < _HIDES else None
        found.append(box)
        full += [box] if box else []
    return found


def _around(point: Point, text: str) -> list[tuple[Box, int]]:
    """Beside it, right first, and then farther away, with what speaks against that."""
    x, y = point
    wide = CHARACTER * len(text)
    boxes: list[tuple[Box, int]] = []
    for gap, away in ((_NEAR, 0), (_FAR, _AWAY)):
        for left, middle in (
            (x + gap, y),
            (x - gap - wide, y),
            (x + gap - 2, y - gap),
            (x - gap - wide + 2, y + gap),
            (x - gap - wide + 2, y - gap),
            (x + gap - 2, y + gap),
            (x - wide / 2, y - gap - HEIGHT / 2),
            (x - wide / 2, y + gap + HEIGHT / 2),
        ):
            box = Box(left, middle - HEIGHT / 2, left + wide, middle + HEIGHT / 2)
            boxes.append((box, away))
    return boxes


def _cost(box: Box, full: Sequence[Box], lines: Sequence[tuple[Point, Point]]) -> int:
    hidden = sum(box.meets(other) for other in full)
    crossed = sum(_crosses(box, line) for line in lines)
    return _HIDES * hidden + _CROSSES * crossed


def _nearer(box: Box, point: Point, others: Sequence[Point]) -> int:
    """That the label may be taken for that of other marks."""
    own = _distance(box, point)
    return _NEARER * sum(_distance(box, other) <= own for other in others)


def _distance(box: Box, point: Point) -> float:
    x, y = point
    across = max(box.left - x, 0, x - box.right)
    up = max(box.top - y, 0, y - box.bottom)
    return math.hypot(across, up)


def _crosses(box: Box, line: tuple[Point, Point]) -> bool:
    """By points along the line, which are nearer to each other than a text is high."""
    (x1, y1), (x2, y2) = line
    steps = max(1, int(max(abs(x2 - x1), abs(y2 - y1)) / 4))
    return any(
        box.left <= x1 + (x2 - x1) * n / steps <= box.right
        and box.top <= y1 + (y2 - y1) * n / steps <= box.bottom
        for n in range(steps + 1)
    )


_LEFT, _RIGHT, _TOP, _FOOT = 42, 326, 22, 258
_FRAME = Box(_LEFT + 2, _TOP - 6, svg.WIDTH, _FOOT - 1)

Figures = Mapping[str, Any]


def risk_map(series: Sequence[Series], use: str, label: str) -> str | None:
    """The average chance against a figure of use; None for fewer than two candidates.

    Args:
        use: name of the figure.
        label: what it is.
    """
    shown = [(one, m) for one in series for m in one.marks if m.figures[use] is not None]
    if len(shown) < 2:
        return None
    right, across = _scale(max(m.figures["mean_risk"] for _, m in shown))
    top, up = _scale(max(m.figures[use] for _, m in shown))

    def at(figures: Figures) -> Point:
        x = _LEFT + (_RIGHT - _LEFT) * figures["mean_risk"] / right
        return x, _FOOT - (_FOOT - _TOP) * figures[use] / top

    parts = _axes(right, across, top, up, label)
    lines = [
        (one, [at(m.figures) for m in one.marks if m.figures[use] is not None]) for one in series
    ]
    parts += [svg.path(points, f"ru c{one.style % 3}") for one, points in lines if one.joined]
    parts += [mark(*at(m.figures), one.style, full=m.remains) for one, m in shown]
    parts += _labels(shown, lines, at)
    said = "; ".join(
        f"{one.name}, {m.said}: {percent(m.figures['mean_risk'])} and {percent(m.figures[use])}"
        for one, m in shown
    )
    title = f"Average chance to find a person against {label}"
    return svg.chart(300, f"{title}. {said}", parts)


def mark(x: float, y: float, style: int, *, full: bool) -> str:
    """A shape and a colour of 12 pairs."""
    kind = f"mk c{style % 3}{' full' if full else ''}"
    match style % 4:
        case 0:
            return svg.dot(x, y, kind)
        case 1:
            return svg.bar(x - 4.5, y - 4.5, 9, 9, kind)
        case 2:
            points = [(x, y - 5.5), (x + 5.5, y + 4.5), (x - 5.5, y + 4.5)]
        case _:
            points = [(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y)]
    return svg.shape(points, kind)


def _scale(highest: float) -> tuple[float, list[float]]:
    """The end of an axis from 0, and its marks: at most six."""
    if highest <= 0:
        return 0.01, [0, 0.01]
    least = highest * 1.04 / 5
    power = 10.0 ** math.floor(math.log10(least))
    step = next(power * n for n in (1, 2, 2.5, 5, 10) if power * n >= least)
    steps = math.ceil(highest * 1.04 / step)
    return step * steps, [step * n for n in range(steps + 1)]


def _axes(
    right: float, across: Sequence[float], top: float, up: Sequence[float], label: str
) -> list[str]:
    parts: list[str] = []
    for value in across:
        x = _LEFT + (_RIGHT - _LEFT) * value / right
        parts.append(svg.line(x, _TOP, x, _FOOT, "grid" if value else "axis"))
        parts.append(svg.text(x, _FOOT + 16, _percent(value), "m s", "middle"))
    for value in up:
        y = _FOOT - (_FOOT - _TOP) * value / top
        parts.append(svg.line(_LEFT, y, _RIGHT, y, "grid" if value else "axis"))
        parts.append(svg.text(_LEFT - 6, y + 4, _percent(value), "m s", "end"))
    middle = (_LEFT + _RIGHT) / 2
    parts.append(svg.text(middle, _FOOT + 35, "average chance to find a person", "m s", "middle"))
    parts.append(svg.text(0, 11, label, "m s"))
    return parts


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _labels(
    shown: Sequence[tuple[Series, Any]],
    lines: Sequence[tuple[Series, Sequence[Point]]],
    at: Callable[[Figures], Point],
) -> list[str]:
    points = [at(m.figures) for _, m in shown]
    crossed = [pair for one, found in lines if one.joined for pair in pairwise(found)]
    texts = [(point, m.text) for point, (_, m) in zip(points, shown, strict=True)]
    return [
        svg.text(box.left, box.bottom - 2, text, "s")
        for (_, text), box in zip(texts, placed(texts, points, crossed, _FRAME), strict=True)
        if box is not None
    ]
