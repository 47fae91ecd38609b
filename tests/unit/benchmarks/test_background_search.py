"""Priors by a kernel, as for who is left out of a table whose priors are not known."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from benchmarks import background_search
from benchmarks.background_tables import Drawn, Source

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
