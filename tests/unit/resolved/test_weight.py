"""A column of role `weight`: how a policy may declare it."""

from __future__ import annotations

import pytest

from pganon.encode.weights import weight_steps
from pganon.errors import PolicyError
from pganon.loading import policy_from
from tests.unit.policy.examples import policy
from tests.unit.resolved.registry import problems, resolved

AGE = {"age": {"role": "quasi_identifying"}}


def test_it_is_read_and_neither_published_nor_grouped_by() -> None:
    plain = policy(columns=AGE)
    weighed = policy(columns={**AGE, "symptom": {"role": "weight"}})
    spec = resolved(weighed)
    assert spec.weight is not None
    assert spec.weight.name == "symptom"
    assert not {"symptom"} & {c.column.name for c in (*spec.attributes, *spec.carried)}
    assert "symptom" not in spec.unreleased
    assert spec.partition == resolved(plain).partition, "the groups are the same"


def test_risk_is_counted_of_one_record_each() -> None:
    weighed = {**AGE, "person": {"role": "identifying"}, "symptom": {"role": "weight"}}
    once = policy(columns=weighed, individual="person")
    assert len(weight_steps(resolved(once))) == 1
    assert weight_steps(resolved({**once, "records_per_individual": "many_accepted"})) == ()
    assert weight_steps(resolved(policy(columns=AGE))) == ()


def test_weights_are_numbers() -> None:
    found = problems(policy(columns={**AGE, "clinic": {"role": "weight"}}))
    assert "weights are numbers" in found["columns.clinic.role"]


@pytest.mark.parametrize(
    ("columns", "part"),
    [
        ({"a": {"role": "weight"}, "b": {"role": "weight"}}, "only one column"),
        ({"a": {"role": "weight", "as": "w"}}, "never published"),
        ({"a": {"role": "weight", "hierarchy": {"intervals": [5]}}}, "hierarchy is for"),
    ],
)
def test_what_a_policy_may_not_say(columns: dict[str, object], part: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from(policy(columns={**AGE, **columns}))
    assert part in str(caught.value)
