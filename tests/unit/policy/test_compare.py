"""What differs between two policies, and whether the guarantee becomes weaker."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.applied.compare import differences
from pganon.loading import policy_from
from tests.unit.policy.examples import policy


def _texts(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [d.text for d in differences(policy_from(before), policy_from(after))]


def _k(k: int) -> dict[str, Any]:
    return {"model": "k_anonymity", "k": k}


def _t(t: float) -> dict[str, Any]:
    return {"model": "t_closeness", "column": "job", "t": t}


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ([_k(10)], [_k(5)], "privacy.k_anonymity.k 10 -> 5: weaker"),
        ([_k(5)], [_k(10)], "privacy.k_anonymity.k 5 -> 10: stronger"),
        ([_t(0.2)], [_t(0.3)], "privacy.t_closeness(job).t 0.2 -> 0.3: weaker"),
        ([_t(0.3)], [_t(0.2)], "privacy.t_closeness(job).t 0.3 -> 0.2: stronger"),
    ],
)
def test_bounds(before: list[Any], after: list[Any], text: str) -> None:
    assert _texts(policy(privacy=before), policy(privacy=after)) == [text]


def test_models_that_come_and_go() -> None:
    both, one = policy(privacy=[_k(5), _t(0.2)]), policy(privacy=[_k(5)])
    assert "privacy.t_closeness(job).t 0.2 -> not there: weaker" in _texts(both, one)
    assert "privacy.t_closeness(job).t not there -> 0.2: stronger" in _texts(one, both)


def test_other_keys() -> None:
    after = policy(publish={"readers": ["x"]}, suppression_limit=0.1)
    assert _texts(policy(), after) == [
        'publish.readers [] -> ["x"]',
        "suppression_limit 0.0 -> 0.1",
    ]
    assert _texts(policy(), policy(republication="refuse")) == [], "a default, written out"


def test_the_order_of_columns() -> None:
    columns = policy()["columns"]
    turned = dict(reversed(columns.items()))
    found = _texts(policy(), policy(columns=turned))
    assert found == [f"columns {', '.join(columns)} -> {', '.join(turned)}"]
