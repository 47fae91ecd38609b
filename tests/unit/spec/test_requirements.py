"""What slicing_l_diversity requires of which columns, and what is warned of."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.policy.loader import policy_from
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import BucketSize, SlicingLDiversity
from pganon.privacy.registry import requirements_of
from pganon.run.warnings import unbounded
from tests.unit.policy.examples import msb_policy, slamsa_policy, slicing_policy
from tests.unit.spec.registry import resolved

NUMBERS = {"cancer": 0, "treatment": 1, "symptom": 2}


def policy_of(*models: dict[str, Any]) -> dict[str, Any]:
    return slamsa_policy(privacy=[{"model": "slicing_l_diversity", **keys} for keys in models])


def required(*models: dict[str, Any]) -> list[Requirement]:
    return requirements_of(policy_from(policy_of(*models)), NUMBERS)


def of(column: str, l: int, level: str = "attribute") -> Requirement:  # noqa: E741
    return Requirement(SlicingLDiversity(l, level), NUMBERS[column], column)


def test_without_a_column_it_is_about_every_one() -> None:
    assert required({"l": 3}) == [of("cancer", 3), of("treatment", 3), of("symptom", 3)]


def test_of_one_column() -> None:
    assert required({"l": 3, "column": "symptom"}) == [of("symptom", 3)]


def test_the_same_is_required_once() -> None:
    found = required({"l": 3}, {"l": 3, "column": "cancer"}, {"l": 4, "column": "symptom"})
    assert found == [of("cancer", 3), of("treatment", 3), of("symptom", 3), of("symptom", 4)]


def test_of_whole_tables() -> None:
    found = required({"l": 4, "level": "tuple"}, {"l": 2, "column": "cancer"})
    assert found == [Requirement(SlicingLDiversity(4, "tuple")), of("cancer", 2)]


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


# -- warnings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("models", "warning"),
    [
        ([{"l": 3}], None),
        ([{"l": 3, "column": name} for name in NUMBERS], None),
        ([{"l": 3}, {"l": 5, "level": "tuple"}], None),
        (
            [{"l": 3, "column": "cancer"}, {"l": 3, "column": "symptom"}],
            "no requirement is about the sensitive column treatment; how many records of a bucket"
            " share a value there is not verified",
        ),
        (
            [{"l": 3, "column": "treatment", "min_size": 9}],
            "no requirement is about the sensitive columns cancer, symptom; how many records of a"
            " bucket share a value there is not verified",
        ),
        (
            [{"l": 3, "column": "cancer"}, {"l": 3, "level": "tuple"}],
            "no requirement is about the sensitive columns treatment, symptom alone; level: tuple"
            " bounds the values of a whole sensitive table, and all of them may share the value of"
            " one column",
        ),
    ],
)
def test_columns_that_nothing_bounds_are_warned_of(
    models: list[dict[str, Any]], warning: str | None
) -> None:
    assert list(unbounded(resolved(policy_of(*models)))) == ([warning] if warning else [])


def test_methods_with_one_sensitive_column_have_it_bounded() -> None:
    assert list(unbounded(resolved(slicing_policy()))) == []
    assert list(unbounded(resolved(msb_policy()))) == []
