"""A warning where numbers and categories are clustered together by measures of two scales."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.methods.mixed import mixed_scales
from tests.unit.policy.examples import msb_policy, slamsa_policy, slicing_policy
from tests.unit.spec.registry import resolved

PEARSON = {"association": "pearson"}
APART = {"sensitive_tables": [["cancer", "treatment"], ["symptom"]]}
LISTED = [["sex", "age"], ["born", "cancer"]]


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
        (msb_policy(), False),
    ],
)
def test_mixed_scales(data: dict[str, Any], warns: bool) -> None:
    found = list(mixed_scales(resolved(data)))
    assert len(found) == warns
    assert not warns or "association: pearson" in found[0]


def test_one_scale() -> None:
    data = slamsa_policy(PEARSON)
    del data["columns"]["symptom"]
    assert list(mixed_scales(resolved(data))) == []
