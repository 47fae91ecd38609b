"""What the paper says of its figures, held against the measured ones. Nothing is asserted.

Seconds are those of the method's own steps, since the paper timed the algorithm alone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import product
from typing import Any

from benchmarks.judging import Figure, Row, below, every, falls, grows, line
from benchmarks.qs_names import BLOCKS, COUNTS, EFFICIENT, LOSSES, ONE_BLOCK

LINEAR = 0.99
"""Least square of the correlation for growth that counts as about linear."""
EXPONENTS = (0.85, 1.15)
"""Of the power of the number of records that comes nearest to such growth."""

SECONDS = "method_seconds"

Points = dict[Any, Figure]


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
    seconds = {method: _points(rows, method, "k", SECONDS) for method in methods}
    for method in methods[1:]:
        yield _below(f"{method}: lower GCP than efficient at every k", loss[method], loss)
    for method in methods:
        yield _trend(f"{method}: GCP grows with k", loss[method])
    for method in methods[1:]:
        yield _faster(f"efficient: faster than {method} at every k", method, seconds)
    for method in methods:
        rising = method != EFFICIENT
        claim = f"{method}: seconds {'grow' if rising else 'fall'} with k"
        yield _trend(claim, seconds[method], rising=rising)


def _of_attributes(rows: list[Row]) -> Iterator[Row]:
    methods = _methods(rows)
    loss = {method: _points(rows, method, "attributes", "gcp") for method in methods}
    seconds = {method: _points(rows, method, "attributes", SECONDS) for method in methods}
    for method in methods[1:]:
        yield _below(f"{method}: lower GCP than efficient at every number", loss[method], loss)
        yield _faster(f"efficient: faster than {method} at every number", method, seconds)
    for method in methods:
        claim = f"{method}: GCP falls with attributes per set"
        yield _trend(claim, loss[method], rising=False)
        rising = method == EFFICIENT
        claim = f"{method}: seconds {'grow' if rising else 'fall'} with attributes per set"
        yield _trend(claim, seconds[method], rising=rising)


def _of_size(rows: list[Row]) -> Iterator[Row]:
    methods = _methods(rows)
    loss = {method: _points(rows, method, "rows", "ncp_total") for method in methods}
    for method in methods:
        yield _linear(f"{method}: total NCP grows about linearly with records", loss[method])
    for method in methods[1:]:
        yield _below(f"{method}: lower total NCP than efficient at any size", loss[method], loss)
        seconds = {each: _points(rows, each, "rows", SECONDS) for each in methods}
        yield _faster(f"efficient: faster than {method} at any size", method, seconds)


def _methods(rows: list[Row]) -> list[str]:
    """Those with enough figures for a claim, efficient first."""
    number = {method: sum(row["method"] == method for row in rows) for method in _ORDER}
    return [method for method in _ORDER if number[method] > 1 and number[EFFICIENT] > 1]


_ORDER = (EFFICIENT, BLOCKS, ONE_BLOCK)


def _points(rows: list[Row], method: str, axis: str, value: str) -> Points:
    chosen = [row for row in rows if row["method"] == method]
    return dict(zip((row[axis] for row in chosen), line(chosen, value), strict=True))


def _below(claim: str, greedy: Points, loss: dict[str, Points]) -> Row:
    pairs = {at: (greedy[at], loss[EFFICIENT][at]) for at in greedy if at in loss[EFFICIENT]}
    return _pairs(claim, pairs)


def _faster(claim: str, method: str, seconds: dict[str, Points]) -> Row:
    efficient, greedy = seconds[EFFICIENT], seconds[method]
    return _pairs(claim, {at: (efficient[at], greedy[at]) for at in efficient if at in greedy})


def _pairs(claim: str, pairs: dict[Any, tuple[Figure, Figure]]) -> Row:
    return {
        "claim": claim,
        "holds": every(below(low.value, high.value) for low, high in pairs.values()),
        "numbers": ", ".join(
            f"{at}: {_shown(low)} / {_shown(high)}" for at, (low, high) in pairs.items()
        ),
    }


def _trend(claim: str, points: Points, *, rising: bool = True) -> Row:
    holds = (grows if rising else falls)([points[at] for at in sorted(points)])
    return {"claim": claim, "holds": holds, "numbers": _listed(points)}


def _linear(claim: str, points: Points) -> Row:
    sizes = sorted(points)
    losses = [points[size].value for size in sizes]
    growing = grows([points[size] for size in sizes])
    if not growing:
        return {"claim": claim, "holds": growing, "numbers": _listed(points)}
    exponent = statistics.linear_regression(
        [math.log(size) for size in sizes], [math.log(loss) for loss in losses]
    ).slope
    straight = statistics.correlation(sizes, losses) ** 2
    shown = f"r² of a line {straight:.4f}, exponent {exponent:.3f}; {_listed(points)}"
    holds = straight >= LINEAR and EXPONENTS[0] <= exponent <= EXPONENTS[1]
    return {"claim": claim, "holds": holds, "numbers": shown}


def _listed(points: Points) -> str:
    return ", ".join(f"{at}: {_shown(value)}" for at, value in points.items())


def _shown(figure: Figure) -> str:
    value = figure.value
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
