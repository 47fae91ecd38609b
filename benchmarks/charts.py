"""Lines over what varies, as SVG that stands alone: in a light and in a dark page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pganon.report.charts import svg

_TOP, _FOOT, _LEFT, _RIGHT = 22, 172, 46, 328
_STYLE = """<style>
svg{--ink:#1f1d1a;--soft:#6d6a64;--hair:#dcd8cf;--c0:#0072b2;--c1:#c4500a;--c2:#00805d;\
--c3:#a3487f;--c4:#9a6b00;--c5:#5c5850}
@media (prefers-color-scheme:dark){svg{--ink:#ece8df;--soft:#b6b1a7;--hair:#3a3f46;--c0:#6bb2ec;\
--c1:#ff9d66;--c2:#5fd0a8;--c3:#e39bc8;--c4:#e8bd55;--c5:#b9b4a9}}
text{font:12px system-ui,sans-serif;fill:var(--ink)}
.m{fill:var(--soft)}
.axis{stroke:var(--ink)}.grid{stroke:var(--hair)}
polyline{fill:none;stroke-width:1.8}
"""
_LINES = 6
_STYLE += "".join(
    f".s{n}{{stroke:var(--c{n});fill:var(--c{n})}}polyline.s{n}{{fill:none}}\n"
    for n in range(_LINES)
)
_STYLE += "</style>"


@dataclass(frozen=True)
class Point:
    """A mean and, of several draws, the least and the greatest."""

    x: object
    y: float
    least: float | None = None
    most: float | None = None

    @property
    def ends(self) -> tuple[float, float]:
        return (
            self.y if self.least is None else self.least,
            self.y if self.most is None else self.most,
        )


def lines(
    series: Mapping[str, Sequence[Point]], x_label: str, y_label: str, *, measured: bool = False
) -> str:
    """At most six lines; the values of `x` at equal distances, in their order.

    Values that are no numbers are not connected.

    Args:
        measured: `x` is a figure from 0 on, too: points on a plane, not connected.
    """
    values = sorted_values(point.x for points in series.values() for point in points)
    connected = not measured and all(isinstance(value, int | float) for value in values)
    shares = {x: place / (len(values) - 1) if values[1:] else 0.5 for place, x in enumerate(values)}
    marks = shares
    if measured:
        end = _nice(max(float(str(value)) for value in values))
        shares = {value: float(str(value)) / end for value in values}
        marks = {end * share: share for share in (0, 0.5, 1)}
    top = _nice(max(point.ends[1] for points in series.values() for point in points))
    parts = [_STYLE, svg.text(0, 12, y_label, "m")]
    for mark in (0.0, top / 2, top):
        y = _height(mark, top)
        parts.append(svg.line(_LEFT, y, _RIGHT, y, "grid" if mark else "axis"))
        parts.append(svg.text(_LEFT - 6, y + 4, _short(mark), "m", "end"))
    for value, share in marks.items():
        parts.append(svg.text(_at(share), _FOOT + 17, shown(value), "m", "middle"))
    parts.append(svg.text((_LEFT + _RIGHT) / 2, _FOOT + 34, x_label, "m", "middle"))
    said: list[str] = []
    for number, (name, points) in enumerate(series.items()):
        kind = f"s{number % _LINES}"
        aside = 0.0 if measured else 3 * (number - (len(series) - 1) / 2)
        placed = [(_at(shares[point.x]) + aside, point) for point in points]
        parts += _line(placed, top, kind, connected=connected)
        y = _FOOT + 54 + 17 * number
        parts += [svg.dot(_LEFT + 4, y - 4, kind, 4), svg.text(_LEFT + 14, y, name)]
        listed = ", ".join(f"{shown(point.x)}: {point.y:.4g}" for point in points)
        said.append(f"{name}: {listed}")
    height = _FOOT + 60 + 17 * len(series)
    return svg.chart(height, f"{y_label} by {x_label}. " + "; ".join(said), parts) + "\n"


def _line(
    placed: Sequence[tuple[float, Point]], top: float, kind: str, *, connected: bool
) -> Iterable[str]:
    """The line, and at every point a bar from the least to the greatest."""
    if connected:
        path = " ".join(f"{x:.1f},{_height(point.y, top):.1f}" for x, point in placed)
        yield f'<polyline class="{kind}" points="{path}"/>'
    for x, point in placed:
        low, high = point.ends
        yield svg.line(x, _height(low, top), x, _height(high, top), kind)
        yield svg.dot(x, _height(point.y, top), kind, 3)


def sorted_values(values: Iterable[object]) -> list[object]:
    """Without repetition; numbers by size, others in their order."""
    distinct = list(dict.fromkeys(values))
    numbers = [value for value in distinct if isinstance(value, int | float)]
    return [*sorted(numbers)] if len(numbers) == len(distinct) else distinct


def shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(mark: float) -> str:
    return f"{mark / 1000:g}k" if mark >= 10_000 else f"{mark:g}"


def _at(share: float) -> float:
    return _LEFT + 18 + (_RIGHT - _LEFT - 36) * share


def _height(value: float, top: float) -> float:
    return _FOOT - (_FOOT - _TOP) * value / top


def _nice(highest: float) -> float:
    """The next round number."""
    if highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next(
        step * power for step in (1, 2, 3, 4, 5, 6, 8, 10) if highest <= step * power * (1 + 1e-9)
    )
