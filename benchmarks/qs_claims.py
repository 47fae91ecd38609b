"""What the paper says of its figures, held against the measured ones. Nothing is asserted.

Seconds are those of the method's own steps, since the paper timed the algorithm alone.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator
from itertools import product
from typing import Any

from benchmarks.judging import EQUAL, NOISE, Figure, Row, falls, grows, line, listed, ranked
from benchmarks.qs_names import BLOCKS, COUNTS, EFFICIENT, LOSSES, ONE_BLOCK

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
        yield _trend(claim, seconds[method], rising=rising, part=NOISE)


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
        yield _trend(claim, seconds[method], rising=rising, part=NOISE)


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
    return _pairs(claim, pairs, EQUAL)


def _faster(claim: str, method: str, seconds: dict[str, Points]) -> Row:
    efficient, greedy = seconds[EFFICIENT], seconds[method]
    pairs = {at: (efficient[at], greedy[at]) for at in efficient if at in greedy}
    return _pairs(claim, pairs, NOISE)


def _pairs(claim: str, pairs: dict[Any, tuple[Figure, Figure]], part: float) -> Row:
    return {
        "claim": claim,
        "holds": ranked([*pairs.values()], part)[0],
        "numbers": ", ".join(
            f"{at}: {_shown(low)} / {_shown(high)}" for at, (low, high) in pairs.items()
        ),
    }


def _trend(claim: str, points: Points, *, rising: bool = True, part: float = EQUAL) -> Row:
    holds = (grows if rising else falls)([points[at] for at in sorted(points)], part)
    return {"claim": claim, "holds": holds, "numbers": _listed(points)}


def _linear(claim: str, points: Points) -> Row:
    """Only that it grows is decided: the paper does not say how nearly linear it is."""
    sizes = sorted(points)
    growing = grows([points[size] for size in sizes])
    if not growing:
        return {"claim": claim, "holds": growing, "numbers": _listed(points)}
    each = [points[size].value / size for size in sizes]
    shown = f"of a record {listed(each)}; {_listed(points)}"
    if min(each) > 0:
        logs = [[math.log(size) for size in sizes], [math.log(points[n].value) for n in sizes]]
        shown = f"exponent {statistics.linear_regression(*logs).slope:.3f}, {shown}"
    return {"claim": claim, "holds": None, "numbers": shown}


def _listed(points: Points) -> str:
    return ", ".join(f"{at}: {_shown(value)}" for at, value in points.items())


def _shown(figure: Figure) -> str:
    value = figure.value
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
