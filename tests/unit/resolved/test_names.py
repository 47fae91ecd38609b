"""Names of columns and views that methods with several tables add."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.identifiers import QualifiedName
from pganon.resolved.model import Shown
from tests.unit.policy.examples import (
    anatomy_policy,
    msb_policy,
    policy,
    slamsa_policy,
    slicing_policy,
)
from tests.unit.resolved.registry import problems, resolved

INDEPENDENT = {"profile": "independent"}
OWN = ("group_id", "count")


def renamed(data: dict[str, Any], column: str, name: str) -> dict[str, Any]:
    data["columns"][column]["as"] = name
    return data


@pytest.mark.parametrize("column", ["age", "cancer", "clinic"])
@pytest.mark.parametrize(
    ("data", "name"),
    [
        *[(make, name) for make in (slamsa_policy, slicing_policy, msb_policy) for name in OWN],
        (slamsa_policy, "probability"),
        (slamsa_policy, "expected"),
        (slicing_policy, "expected"),
        (msb_policy, "probability"),
        (lambda: slamsa_policy(INDEPENDENT), "st1_group_id"),
        (lambda: slamsa_policy(INDEPENDENT), "st2_group_id"),
        (lambda: slamsa_policy({**INDEPENDENT, "sensitive_tables": 1}), "st_group_id"),
        (lambda: slamsa_policy({**INDEPENDENT, "sensitive_tables": "auto"}), "st_group_id"),
        (lambda: slamsa_policy({**INDEPENDENT, "sensitive_tables": "auto"}), "st2_group_id"),
    ],
)
def test_names_that_the_method_adds_are_taken(data: Any, name: str, column: str) -> None:
    assert problems(renamed(data(), column, name)) == {
        f"columns.{column}": f"{name} is a column that pganon adds"
    }


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (slamsa_policy, "st1_group_id"),
        (slamsa_policy, "class_id"),
        (msb_policy, "expected"),
        (slicing_policy, "st_group_id"),
        (lambda: slamsa_policy(INDEPENDENT), "st3_group_id"),
        (lambda: slamsa_policy({**INDEPENDENT, "sensitive_tables": 1}), "st1_group_id"),
    ],
)
def test_names_that_it_does_not_add_are_free(data: Any, name: str) -> None:
    assert resolved(renamed(data(), "age", name)).attributes[0].published == name


def test_two_columns_of_different_tables_have_different_names() -> None:
    data = renamed(slamsa_policy(), "symptom", "treatment")
    assert problems(data) == {"columns.symptom": "two published columns would be named treatment"}


@pytest.mark.parametrize("make", [slamsa_policy, slicing_policy, msb_policy])
def test_quasi_identifiers_are_exact(make: Any) -> None:
    spec = resolved(make())
    assert {a.form for a in spec.attributes} == {Shown.EXACT}
    assert [a.published_type for a in spec.attributes] == ["smallint", "text", "date"]
    assert {a.null_column for a in spec.attributes} == {None}
    assert spec.view_of("st1") == QualifiedName("published", "registry_st1")


def test_sensitive_columns_are_numbered_in_the_order_of_the_policy() -> None:
    spec = resolved(slamsa_policy({"sensitive_tables": [["symptom"], ["treatment", "cancer"]]}))
    assert [(s.index, s.column.name) for s in spec.sensitive] == [
        (0, "cancer"),
        (1, "treatment"),
        (2, "symptom"),
    ]
    data = anatomy_policy(source="public.registry")
    data["columns"] = {"age": {"role": "quasi_identifying"}, "cancer": {"role": "sensitive"}}
    data["privacy"][0]["column"] = "cancer"
    assert resolved(data).rules == ()


@pytest.mark.parametrize("name", ["age_low", "age_null"])
def test_ends_of_ranges_and_columns_with_nulls_have_names_of_their_own(name: str) -> None:
    columns = {
        "age": {"role": "quasi_identifying"},
        "cancer": {"role": "insensitive", "as": name},
    }
    data = policy(source="public.registry", columns=columns)
    assert problems(data) == {"columns.age": f"two published columns would be named {name}"}
