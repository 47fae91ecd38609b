"""Refusals of too much suppression name the option that may leave fewer records out."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pganon.methods.common.suppression import suppression_problem
from pganon.methods.registry import methods
from pganon.steps import State
from pganon.steps.facts import RECORDS, Facts


def hint(method: str, options: dict[str, Any], released: int) -> str:
    chosen = methods()[method].options.model_validate({"name": method, **options})
    policy = SimpleNamespace(method=chosen)
    spec: Any = SimpleNamespace(policy=policy, suppression_limit=0.1)
    row = {"released": released, "suppressed": 100 - released}
    refusal = suppression_problem(spec, row, State(7, Facts({RECORDS.name: 100})))
    assert refusal is not None
    return str(refusal.hint)


@pytest.mark.parametrize("released", [0, 50])
@pytest.mark.parametrize(
    ("method", "options", "instead"),
    [
        ("kinc", {"residual": "suppress"}, "residual: absorb"),
        ("kagg_mic", {"residual": "suppress"}, "residual: absorb"),
        ("danonyir", {"residuals": "suppress"}, "residuals: generalize"),
        ("kinc", {}, None),
        ("danonyir", {}, None),
        ("js_reduce", {}, None),
        ("mondrian", {}, None),
    ],
)
def test_the_other_way_to_treat_residuals(
    method: str, options: dict[str, Any], instead: str | None, released: int
) -> None:
    _, _, said = hint(method, options, released).partition("; ")
    assert said == (f"{instead} may leave fewer out" if instead else "")
