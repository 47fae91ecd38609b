"""Where the labels of marks stand so that they hide neither marks nor each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pganon.report.charts.svg import CHARACTER

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
