"""What differs between two policies, and whether the guarantee becomes weaker."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pganon.applied.compare import HIGHER_IS_STRONGER, LOWER_IS_STRONGER, differences
from pganon.loading import policy_from
from pganon.privacy.models import MODELS
from tests.unit.policy.examples import policy


def _texts(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [d.text for d in differences(policy_from(before), policy_from(after))]


def _k(k: int) -> dict[str, Any]:
    return {"model": "k_anonymity", "k": k}


def _attack(gain: float, cost: float) -> dict[str, Any]:
    return {"model": "no_attack", "gain": gain, "cost": cost}


def _t(t: float) -> dict[str, Any]:
    return {"model": "t_closeness", "column": "job", "t": t}


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ([_k(10)], [_k(5)], "privacy.k_anonymity.k 10 -> 5: weaker"),
        ([_k(5)], [_k(10)], "privacy.k_anonymity.k 5 -> 10: stronger"),
        ([_t(0.2)], [_t(0.3)], "privacy.t_closeness(job).t 0.2 -> 0.3: weaker"),
        ([_t(0.3)], [_t(0.2)], "privacy.t_closeness(job).t 0.3 -> 0.2: stronger"),
        ([_attack(10, 2)], [_attack(10, 1)], "privacy.no_attack.cost 2.0 -> 1.0: stronger"),
        ([_attack(10, 2)], [_attack(8, 2)], "privacy.no_attack.gain 10.0 -> 8.0: weaker"),
    ],
)
def test_bounds(before: list[Any], after: list[Any], text: str) -> None:
    assert _texts(policy(privacy=before), policy(privacy=after)) == [text]


def test_every_number_of_a_model_is_a_bound() -> None:
    """Or is named here, since neither more nor less of it is stronger."""
    numbers = {
        name
        for model in MODELS
        for name, field in model.model_fields.items()
        if re.search(r"\b(int|float)\b", str(field.annotation))
    }
    assert numbers == HIGHER_IS_STRONGER | LOWER_IS_STRONGER | {"smoothing", "population_size"}


def test_what_has_the_name_of_a_bound() -> None:
    """A set of columns may be called `k`."""
    columns = {name: {"role": "quasi_sensitive", "set": name} for name in ("k", "t")}
    model = {"model": "qs_k_anonymity", "k": 2}
    before, after = (
        policy(
            columns=columns,
            privacy=[{**model, "public": {"k": relation}}],
            method={"name": "qs_greedy"},
        )
        for relation in ("public.a", "public.b")
    )
    assert _texts(before, after) == ['privacy.qs_k_anonymity.public.k "public.a" -> "public.b"']


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
