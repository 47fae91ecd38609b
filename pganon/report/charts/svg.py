"""SVG elements. All texts are escaped here, and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from pganon.report.words import plain

WIDTH = 340
CHARACTER = 6.4
"""Pixels of a character, on average."""


def text(
    x: float, y: float, content: str, kind: str = "", anchor: str = "start", room: float = WIDTH
) -> str:
    """Cut to the room that it has."""
    shown = plain(content, max(2, int(room / CHARACTER)))
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text class="t {kind}" x="{x:.1f}" y="{y:.1f}"{at}>{escape(shown)}</text>'


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def bar(x: float, y: float, width: float, height: float, kind: str = "rel") -> str:
    """A bar that is seen even if it is next to nothing."""
    wide, high = max(width, 0.6), max(height, 0.6)
    return f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{high:.1f}"/>'


def dot(x: float, y: float, kind: str = "rel", radius: float = 5) -> str:
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}"/>'


def path(points: Iterable[tuple[float, float]], kind: str = "step") -> str:
    """A line through these points."""
    shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{shown}"/>'


def shape(points: Iterable[tuple[float, float]], kind: str) -> str:
    """A closed figure with these corners."""
    shown = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polygon class="{kind}" points="{shown}"/>'


def symbol(part: str) -> str:
    """A mark in a line of text, which says what it is."""
    return f'<svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true">{part}</svg>'


def chart(height: float, label: str, parts: Iterable[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}" height="{height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}'
        f' aria-label="{escape(plain(label, 4000))}">{"".join(parts)}</svg>'
    )
