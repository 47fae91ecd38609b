"""A column of role `weight`: how a policy may declare it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pganon.encode.weights import weight_steps
from pganon.errors import PolicyError
from pganon.loading import policy_from
from pganon.plan.build import build_plan
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
        ({"a": {"role": "weight"}, "b": {"role": "weight"}}, "withholds replicate weights"),
        ({"a": {"role": "weight", "as": "w"}}, "not published without shown"),
        ({"a": {"role": "identifying", "shown": "mean"}}, "shown is for weight, insensitive"),
        ({"a": {"role": "weight", "shown": 50}}, "known: none, mean, range"),
        ({"a": {"role": "weight", "shown": "exact"}}, "known: none, mean, range"),
        ({"a": {"role": "weight", "hierarchy": {"intervals": [5]}}}, "hierarchy is for"),
    ],
)
def test_what_a_policy_may_not_say(columns: dict[str, object], part: str) -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from(policy(columns={**AGE, **columns}))
    assert part in str(caught.value)


SHOWN = {"role": "weight", "shown": "range"}


@pytest.mark.parametrize(
    "changes",
    [
        {"method": {"name": "danonyir"}, "privacy": [{"model": "eir_l_diversity", "l": 2}]},
        {"method": {"name": "anatomy"}},
        {"records_per_individual": "many_accepted", "individual": "person"},
    ],
)
def test_means_are_of_classes_with_a_record_of_each(changes: dict[str, object]) -> None:
    columns = {**AGE, "person": {"role": "identifying"}, "job": {"role": "sensitive"}}
    with pytest.raises(PolicyError) as caught:
        policy_from(policy(columns={**columns, "a": SHOWN}, **changes))
    assert "weights are shown by classes of one record per person" in str(caught.value)
    assert "one_dimensional" in str(caught.value)


@pytest.mark.parametrize("method", ["one_dimensional", "mondrian", "full_domain"])
def test_means_decide_no_groups(method: str) -> None:
    columns = {"sex": {"role": "quasi_identifying", "hierarchy": {"prefix": [1]}}}
    said = policy(columns=columns, method={"name": method})
    weighed = {**columns, "symptom": {**SHOWN, "as": "weight"}}
    spec = resolved({**said, "columns": weighed})
    assert [item.names for item in spec.averaged] == [
        ("weight", "weight_range", "weight_low", "weight_high")
    ]
    assert spec.partition == resolved(said).partition


@pytest.mark.parametrize(
    "column", [{**SHOWN}, {"role": "insensitive", "shown": {"groups": 3}}, {"role": "insensitive"}]
)
def test_records_of_means_are_not_read_in_shards(column: dict[str, object]) -> None:
    """They are added up where their classes are."""
    spec = resolved(policy(columns={**AGE, "symptom": column}))
    shards: Any = object()
    kept = build_plan(replace(spec, shards=shards)).spec.shards
    assert kept is (None if "shown" in column else shards)


@pytest.mark.parametrize(
    ("as_", "part"),
    [
        ("age", "two published columns would be named age"),
        ("class_id", "a column that pganon adds"),
        ("w" * 60, "more than 63 bytes"),
    ],
)
def test_names_of_means_are_free(as_: str, part: str) -> None:
    found = problems(policy(columns={**AGE, "symptom": {**SHOWN, "as": as_}}))
    assert part in found["columns.symptom"]
