"""Lines as SVG."""

from __future__ import annotations

import re

import pytest

from benchmarks import charts
from benchmarks.charts import Point


def test_lines() -> None:
    """Numbers in their order, whatever that of the rows; draws as a line from least to most."""
    series = {
        "a <b>": [Point(20, 0.4), Point(3, 0.1, 0.05, 0.3)],
        "c": [Point(3, 0.2), Point(10, 0.2)],
    }
    drawn = charts.lines(series, "k", "loss")
    assert "loss by k. a &lt;b&gt;: 20: 0.4, 3: 0.1; c: 3: 0.2, 10: 0.2" in drawn
    places = [float(x) for x in re.findall(r'<text class="t m" x="([\d.]+)" y="189', drawn)]
    assert places == sorted(places)
    assert len(places) == 3
    first = re.findall(r'<line class="s0" x1="([\d.]+)" y1="([\d.]+)" x2="\1" y2="([\d.]+)"', drawn)
    assert {(low, high) for _, low, high in first} == {("22.0", "22.0"), ("153.2", "59.5")}
    assert drawn.count('<polyline class="s0"') == 1


def test_the_top_is_a_round_number() -> None:
    assert "a: 1: 0" in charts.lines({"a": [Point(1, 0.0)]}, "k", "loss")
    tops = [charts._nice(value) for value in (0, 0.03, 0.4, 4.2, 110)]
    assert tops == pytest.approx([1.0, 0.03, 0.4, 5, 200])


def test_two_figures() -> None:
    """Points on a plane: as far from the left as they are large, and not connected."""
    series = {"a": [Point(0.3, 1.0), Point(0.15, 2.0)], "b": [Point(0.0, 4.0)]}
    drawn = charts.lines(series, "risk", "loss", measured=True)
    assert "<polyline" not in drawn
    placed = [
        (kind, float(x), float(y))
        for kind, x, y in re.findall(r'class="(s\d)" cx="([\d.]+)" cy="([\d.]+)" r="3"', drawn)
    ]
    assert placed == [("s0", 310, 134.5), ("s0", 187, 97), ("s1", 64, 22)]
    assert [mark in drawn for mark in (">0</text>", ">0.15</text>", ">0.3</text>")] == [True] * 3


def test_names_are_not_connected() -> None:
    drawn = charts.lines({"a": [Point("age", 1.0), Point("sex", 25_000.0)]}, "column", "loss")
    assert "<polyline" not in drawn
    assert drawn.count("<circle") == 3  # one in the key
    assert [text for text in ("15k", "30k") if f">{text}<" in drawn] == ["15k", "30k"]
