"""What slicing_l_diversity requires of which columns, and what is warned of."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import policy_from
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import BucketSize, SlicingLDiversity
from pganon.privacy.requirements import requirements_of, unprotected_columns, warnings
from tests.unit.policy.examples import msb_policy, policy, slamsa_policy, slicing_policy
from tests.unit.resolved.registry import resolved

NUMBERS = {"cancer": 0, "treatment": 1, "symptom": 2}


def policy_of(*models: dict[str, Any]) -> dict[str, Any]:
    return slamsa_policy(privacy=[{"model": "slicing_l_diversity", **keys} for keys in models])


def required(*models: dict[str, Any]) -> list[Requirement]:
    return requirements_of(policy_from(policy_of(*models)), NUMBERS)


def of(column: str, l: int, level: str = "attribute") -> Requirement:  # noqa: E741
    return Requirement(SlicingLDiversity.of(l, level), NUMBERS[column], column)


def test_without_a_column_it_is_about_every_one() -> None:
    assert required({"l": 3}) == [of("cancer", 3), of("treatment", 3), of("symptom", 3)]


def test_of_one_column() -> None:
    assert required({"l": 3, "column": "symptom"}) == [of("symptom", 3)]


def test_the_same_is_required_once() -> None:
    found = required({"l": 3}, {"l": 3, "column": "cancer"}, {"l": 4, "column": "symptom"})
    assert found == [of("cancer", 3), of("treatment", 3), of("symptom", 3), of("symptom", 4)]


def test_of_whole_tables() -> None:
    found = required({"l": 4, "level": "tuple"}, {"l": 2, "column": "cancer"})
    assert found == [Requirement(SlicingLDiversity.of(4, "tuple")), of("cancer", 2)]


@pytest.mark.parametrize("keys", [{}, {"column": "cancer"}, {"level": "tuple"}])
def test_size_is_required_of_buckets_whatever_the_column(keys: dict[str, Any]) -> None:
    found = required({"l": 3, "min_size": 10, **keys})
    assert found[-1] == Requirement(BucketSize(10))
    assert found[:-1] == required({"l": 3, **keys})
    assert resolved(policy_of({"l": 3, "min_size": 10, **keys})).minimum_size == 10


def test_the_largest_size_counts() -> None:
    sizes = ({"l": 3, "column": "cancer", "min_size": 5}, {"l": 7, "min_size": 2})
    assert resolved(policy_of(*sizes)).minimum_size == 7
    assert BucketSize(5) in [r.model for r in required(*sizes)]


def test_unique_values_of_every_column() -> None:
    found = requirements_of(policy_from(msb_policy()), NUMBERS)
    assert found == [of(name, 3, "unique") for name in NUMBERS]


def test_names_for_messages_and_the_ledger() -> None:
    (requirement,) = required({"l": 3, "level": "tuple"})
    assert (requirement.model.name, requirement.model.parameters) == (
        "slicing_l_diversity",
        {"l": 3, "level": "tuple"},
    )
    (_, size) = required({"l": 3, "column": "cancer", "min_size": 5})
    assert (size.model.name, size.model.parameters) == ("bucket_size", {"k": 5})


# -- columns that no model is about -----------------------------------------------------------

WHOLE = " alone (level: tuple bounds values of a whole sensitive table)"


@pytest.mark.parametrize(
    ("models", "named", "alone"),
    [
        ([{"l": 3}], [], ""),
        ([{"l": 3, "column": name} for name in NUMBERS], [], ""),
        ([{"l": 3}, {"l": 5, "level": "tuple"}], [], ""),
        ([{"l": 3, "column": "cancer"}, {"l": 3, "column": "symptom"}], ["treatment"], ""),
        ([{"l": 3, "column": "treatment", "min_size": 9}], ["cancer", "symptom"], ""),
        (
            [{"l": 3, "column": "cancer"}, {"l": 3, "level": "tuple"}],
            ["treatment", "symptom"],
            WHOLE,
        ),
    ],
)
def test_columns_that_no_model_is_about_are_warned_of(
    models: list[dict[str, Any]], named: list[str], alone: str
) -> None:
    columns = f"s {', '.join(named)}" if len(named) > 1 else f" {''.join(named)}"
    assert warnings(policy_from(policy_of(*models))) == [
        f"no model is about the sensitive column{columns}{alone}; add a model, or say that it is"
        " meant with unprotected: accept, with the column"
        for _ in named[:1]
    ]
    assert [item.column.name for item in resolved(policy_of(*models)).unprotected] == named


def test_a_model_that_counts_records_is_about_no_column() -> None:
    assert unprotected_columns(policy_from(policy())) == ["job"]


def test_what_is_accepted_is_not_warned_of() -> None:
    declared = policy_of({"l": 3, "column": "cancer"})
    declared["columns"]["symptom"]["unprotected"] = "accept"
    assert unprotected_columns(policy_from(declared)) == ["treatment"]


@pytest.mark.parametrize("model", [{"l": 3}, {"l": 3, "column": "symptom"}])
def test_what_is_protected_cannot_be_accepted_as_unprotected(model: dict[str, Any]) -> None:
    declared = policy_of(model)
    declared["columns"]["symptom"]["unprotected"] = "accept"
    with pytest.raises(PolicyError, match="slicing_l_diversity is about the column"):
        policy_from(declared)


def test_methods_with_one_sensitive_column_have_it_bounded() -> None:
    assert unprotected_columns(policy_from(slicing_policy())) == []
    assert unprotected_columns(policy_from(msb_policy())) == []
