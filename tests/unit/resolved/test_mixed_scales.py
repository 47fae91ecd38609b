"""A warning where numbers and categories are clustered together by measures of two scales."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.methods.buckets import slamsa, slicing, sloms
from tests.unit.policy.examples import slamsa_policy, slicing_policy
from tests.unit.policy.test_sloms import sloms_policy
from tests.unit.resolved.registry import resolved

PEARSON = {"association": "pearson"}
APART = {"sensitive_tables": [["cancer", "treatment"], ["symptom"]]}
LISTED = [["sex", "age"], ["born", "cancer"]]


def _warnings(data: dict[str, Any]) -> list[str]:
    method = {"slamsa": slamsa, "slicing": slicing, "sloms": sloms}[data["method"]["name"]]
    return method.warnings(resolved(data), {})


@pytest.mark.parametrize(
    ("data", "warns"),
    [
        (slamsa_policy(PEARSON), True),
        (slamsa_policy(), False),
        (slamsa_policy({**PEARSON, **APART}), False),
        (slamsa_policy({**PEARSON, **APART, "quasi_tables": 2}), True),
        (slamsa_policy({**PEARSON, "sensitive_tables": 1}), False),
        (slicing_policy(**PEARSON), True),
        (slicing_policy(), False),
        (slicing_policy(**PEARSON, columns=LISTED), False),
        (sloms_policy(**PEARSON), True),
        (sloms_policy(**PEARSON, **APART), False),
    ],
)
def test_mixed_scales(data: dict[str, Any], warns: bool) -> None:
    found = _warnings(data)
    assert len(found) == warns
    assert not warns or "association: pearson" in found[0]


def test_one_scale() -> None:
    data = slamsa_policy(PEARSON)
    del data["columns"]["symptom"]
    assert _warnings(data) == []
