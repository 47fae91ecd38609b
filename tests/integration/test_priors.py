"""Priors of background knowledge: what the steps make against what the definition says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table
from tests.support.sources.priors import made, priors_policy

G4 = [(20, "F", "x"), (20, "F", "x"), (30, "F", "y"), (40, "F", "x"), (40, "M", "y"),
      (60, "M", "y"), (None, "M", "x")]  # fmt: skip
G4_CELLS = [(20, "F"), (30, "F"), (40, "F"), (40, "M"), (60, "M"), (None, "M")]


@pytest.mark.parametrize(
    ("age", "sex", "expected"),
    [
        pytest.param(0.3, 0.3, (0.867470, 0.478261, 0.765957, 0, 0, 1), id="G4 B=(.3,.3)"),
        pytest.param(0.6, 0.3, (0.736142, 0.712575, 0.660969, 0, 0, 1), id="G4 B=(.6,.3)"),
        pytest.param(
            0.6, 2.0, (0.685950, 0.604828, 0.471545, 0.385596, 0.149321, 1), id="G4 B=(.6,2.0)"
        ),
    ],
)
def test_kernel(db: Database, age: float, sex: float, expected: tuple[float, ...]) -> None:
    make_table(db.connect("source_owner"), {"age": "integer", "sex": "text", "s": "text"}, G4)
    columns: dict[str, Any] = {"age": "q", "sex": "q", "s": "s"}
    found = made(
        db.owner(), priors_policy(columns, {"kernel": {"bandwidth": {"age": age, "sex": sex}}})
    )
    assert found.sensitive == ["x", "y"]
    assert list(found.priors) == G4_CELLS
    assert tuple(round(prior[0], 6) for prior in found.priors.values()) == expected
    assert all(sum(prior) == pytest.approx(1) for prior in found.priors.values())
    assert [row["n"] for row in found.rows("qi_cells", "cell")] == [2, 1, 1, 1, 1, 1]
