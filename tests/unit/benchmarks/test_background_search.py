"""Priors by a kernel, as for who is left out of a table whose priors are not known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks import background_search
from benchmarks.background_tables import Drawn, Source
from pganon.methods.background.search.points import Nominal, Ordered

PEOPLE = [(20, "f", "a"), (30, "f", "b"), (30, "m", "a"), (60, "f", "c"), (20, "f", "b")]


def believed(age: int, gender: str) -> Sequence[float]:
    """By its definition, with a bandwidth of 0.5 for age and 2 for gender; ages span 40."""
    found = dict.fromkeys("abc", 0.0)
    for other, same, value in PEOPLE:
        near = 1 - (abs(other - age) / 40 / 0.5) ** 2
        alike = 1 if same == gender else 1 - (1 / 2) ** 2
        found[value] += max(near, 0) * alike
    return [weight / sum(found.values()) for weight in found.values()]


def test_kernel() -> None:
    quasi = {"age": "integer", "gender": "text"}
    source = Source("t", quasi, "s", lambda *_: PEOPLE, bandwidth={"age": 0.5, "gender": 2})
    cells = sorted({person[:2] for person in PEOPLE})
    found = background_search._priors(Drawn(source, PEOPLE), cells)
    for cell, prior in zip(cells, found, strict=True):
        assert list(prior) == pytest.approx(believed(*cell))


@pytest.mark.parametrize(
    ("classes", "gcp", "rgcp", "links", "suppressed"),
    [
        ([[0, 1, 2], [3, 4, 5]], 8.1, 8.1, 2.0, 0),
        ([[0, 2, 4], [1, 3, 5]], 10.8, 10.8, 4 / 3, 0),
        ([[0, 1, 2]], 3.6, 24.0, 1.0, 3),
        ([], 0.0, 48.0, 0.0, 6),
    ],
)
def test_figures_of_classes(
    classes: list[list[int]], gcp: float, rgcp: float, links: float, suppressed: int
) -> None:
    """G11; without classes everything is suppressed, which costs four times all there is."""
    ages = [0, 0.1, 0.2, 0.5, 0.7, 1]
    attributes = [Ordered(np.array(ages)), Nominal(np.array([1, 1, 2, 2, 2, 1]), 2)]
    found = background_search.figures(attributes, [np.array(rows) for rows in classes])
    values = 6 * 2
    assert found["gcp"] == pytest.approx(gcp / values)
    assert found["rgcp"] == pytest.approx(rgcp / values)
    assert (found["rl"], found["linked"]) == pytest.approx((links, links / 6))
    assert (found["classes"], found["suppressed"]) == (len(classes), suppressed)
    assert found["smallest"] == found["average"] == (3 if classes else 0)
