"""What the paper says of its figures, held against the measured ones. Nothing is asserted.

Seconds of the method are those of its own steps; the paper timed the algorithm alone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import product
from typing import Any

from benchmarks.judging import NOISE, Row, below, every, falls, grows
from benchmarks.qs_names import BLOCKS, COUNTS, EFFICIENT, LOSSES, ONE_BLOCK

LINEAR = 0.99
"""Least square of the correlation for growth that counts as about linear."""

CLOCKS = {"seconds": "run", "method_seconds": "method"}

Points = dict[Any, float]


def evaluate(report: dict[str, Any]) -> list[Row]:
    """Claim, verdict and numbers, for every loss, count and method that was measured."""
    found: list[Row] = []
    for loss, count in product(LOSSES, COUNTS):
        chosen = {
            part: [
                row
                for row in report.get(part, ())
                if (row["loss"], row["count"]) == (loss, count) and "refused" not in row
            ]
            for part in ("by_k", "by_attributes", "by_size")
        }
        claims = [
            *_of_k(chosen["by_k"]),
            *_of_attributes(chosen["by_attributes"]),
            *_of_size(chosen["by_size"]),
        ]
        found += [{**claim, "loss": loss, "count": count} for claim in claims]
    return found


def _of_k(rows: list[Row]) -> Iterator[Row]:
    methods = _methods(rows)
    loss = {method: _points(rows, method, "k", "gcp") for method in methods}
    for method in methods[1:]:
        yield _below(f"{method}: lower GCP than efficient at every k", loss[method], loss)
    for method in methods:
        yield _trend(f"{method}: GCP grows with k", loss[method])
    for clock, name in CLOCKS.items():
        seconds = {method: _points(rows, method, "k", clock) for method in methods}
        for method in methods[1:]:
            yield _faster(f"efficient: faster than {method} at every k ({name})", method, seconds)
        for method in methods:
            rising = method != EFFICIENT
            yield _trend(
                f"{method}: seconds of the {name} {'grow' if rising else 'fall'} with k",
                seconds[method],
                rising=rising,
                noise=NOISE,
            )


def _of_attributes(rows: list[Row]) -> Iterator[Row]:
    methods = _methods(rows)
    loss = {method: _points(rows, method, "attributes", "gcp") for method in methods}
    for method in methods[1:]:
        yield _below(f"{method}: lower GCP than efficient at every number", loss[method], loss)
        for clock, name in CLOCKS.items():
            seconds = {each: _points(rows, each, "attributes", clock) for each in methods}
            claim = f"efficient: faster than {method} at every number ({name})"
            yield _faster(claim, method, seconds)
    for method in methods:
        yield _trend(
            f"{method}: GCP falls with attributes per set",
            _points(rows, method, "attributes", "gcp"),
            rising=False,
        )
        for clock, name in CLOCKS.items():
            rising = method == EFFICIENT
            yield _trend(
                f"{method}: seconds of the {name} {'grow' if rising else 'fall'}"
                " with attributes per set",
                _points(rows, method, "attributes", clock),
                rising=rising,
                noise=NOISE,
            )


def _of_size(rows: list[Row]) -> Iterator[Row]:
    methods = _methods(rows)
    loss = {method: _points(rows, method, "rows", "ncp_total") for method in methods}
    for method in methods:
        yield _linear(f"{method}: total NCP grows about linearly with records", loss[method])
    for method in methods[1:]:
        yield _below(f"{method}: lower total NCP than efficient at any size", loss[method], loss)
        for clock, name in CLOCKS.items():
            seconds = {each: _points(rows, each, "rows", clock) for each in methods}
            yield _faster(f"efficient: faster than {method} at any size ({name})", method, seconds)


def _methods(rows: list[Row]) -> list[str]:
    """Those with enough figures for a claim, efficient first."""
    number = {method: sum(row["method"] == method for row in rows) for method in _ORDER}
    return [method for method in _ORDER if number[method] > 1 and number[EFFICIENT] > 1]


_ORDER = (EFFICIENT, BLOCKS, ONE_BLOCK)


def _points(rows: list[Row], method: str, axis: str, value: str) -> Points:
    return {row[axis]: row[value] for row in rows if row["method"] == method}


def _below(claim: str, greedy: Points, loss: dict[str, Points]) -> Row:
    pairs = {at: (greedy[at], loss[EFFICIENT][at]) for at in greedy if at in loss[EFFICIENT]}
    return _pairs(claim, pairs)


def _faster(claim: str, method: str, seconds: dict[str, Points]) -> Row:
    efficient, greedy = seconds[EFFICIENT], seconds[method]
    return _pairs(claim, {at: (efficient[at], greedy[at]) for at in efficient if at in greedy})


def _pairs(claim: str, pairs: dict[Any, tuple[float, float]]) -> Row:
    return {
        "claim": claim,
        "holds": every(below(low, high) for low, high in pairs.values()),
        "numbers": ", ".join(
            f"{at}: {_shown(low)} / {_shown(high)}" for at, (low, high) in pairs.items()
        ),
    }


def _trend(claim: str, points: Points, *, rising: bool = True, noise: float = 0.0) -> Row:
    holds = (grows if rising else falls)([points[at] for at in sorted(points)], noise)
    return {"claim": claim, "holds": holds, "numbers": _listed(points)}


def _linear(claim: str, points: Points) -> Row:
    sizes = sorted(points)
    losses = [points[size] for size in sizes]
    if not grows(losses):
        return {"claim": claim, "holds": grows(losses), "numbers": _listed(points)}
    exponent = statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(loss) for loss in losses]
    ).slope
    straight = statistics.correlation(sizes, losses) ** 2
    return {
        "claim": claim,
        "holds": straight >= LINEAR,
        "numbers": f"r² of a line {straight:.4f}, exponent {exponent:.3f}; {_listed(points)}",
    }


def _listed(points: Points) -> str:
    return ", ".join(f"{at}: {_shown(value)}" for at, value in points.items())


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
