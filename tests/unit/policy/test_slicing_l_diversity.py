"""The model slicing_l_diversity in a policy: keys, levels, and the methods that have it."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.loading import policy_from
from pganon.privacy.models import SlicingLDiversity
from tests.unit.policy.examples import msb_policy, policy, slamsa_policy, slicing_policy
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems

MODEL = {"model": "slicing_l_diversity", "l": 3}
POLICIES = {"slamsa": slamsa_policy, "slicing": slicing_policy, "msb": msb_policy}


def with_model(**keys: Any) -> dict[str, Any]:
    return slamsa_policy(privacy=[{**MODEL, **keys}])


def test_model_defaults() -> None:
    (model,) = policy_from(slamsa_policy()).privacy
    assert model == SlicingLDiversity(
        model="slicing_l_diversity", column=None, l=3, level="attribute", min_size=1
    )


@pytest.mark.parametrize(
    ("keys", "field", "part"),
    [
        ({"l": 1}, "l", "at least 2"),
        ({"l": 2.5}, "l", "whole number, not 2.5"),
        ({"l": 2**31}, "l", "at most"),
        ({"min_size": 0}, "min_size", "at least 1"),
        ({"min_size": "5"}, "min_size", 'not "5"'),
        ({"level": "tuples"}, "level", "is not a level of slicing_l_diversity"),
        ({"level": "unique"}, "level", "the method slamsa cannot guarantee level: unique"),
        ({"level": "tuple", "column": "cancer"}, "column", "level: tuple is about whole sensitive"),
        ({"column": "age"}, "column", "has the role quasi_identifying"),
        ({"column": "cancr"}, "column", "is not declared"),
        ({"column": 5}, "column", "must be a text"),
        ({"k": 5}, "k", "not a key"),
    ],
)
def test_models_that_are_wrong(keys: dict[str, Any], field: str, part: str) -> None:
    found = problems(with_model(**keys))
    assert found.keys() == {f"privacy[0].{field}"}
    assert part in found[f"privacy[0].{field}"]


@pytest.mark.parametrize(
    ("data", "suggestion"),
    [
        (with_model(level="unique"), "use level: attribute or tuple, or the method msb or sloms"),
        (
            slamsa_policy({"name": "msb"}),
            "use level: unique, or the method slicing or slamsa",
        ),
        (
            slamsa_policy({"name": "msb"}, privacy=[{**MODEL, "level": "tuple"}]),
            "use level: unique, or the method slamsa",
        ),
    ],
)
def test_levels_are_answered_with_methods_that_have_them(
    data: dict[str, Any], suggestion: str
) -> None:
    assert suggestions(data) == {"privacy[0].level": suggestion}


def test_level_tuple_is_not_for_slicing() -> None:
    data = slicing_policy()
    data["privacy"][0]["level"] = "tuple"
    assert suggestions(data) == {"privacy[0].level": "use level: attribute, or the method slamsa"}


@pytest.mark.parametrize(
    ("models", "twice"),
    [
        ([{"l": 3}, {"l": 4}], 1),
        ([{"l": 3, "level": "tuple"}, {"l": 4, "level": "tuple"}], 1),
        ([{"l": 3, "column": "cancer"}, {"l": 4, "column": "cancer"}], 1),
        ([{"l": 3}, {"l": 4, "level": "tuple"}], None),
        ([{"l": 3}, {"l": 4, "column": "cancer"}, {"l": 5, "column": "symptom"}], None),
    ],
)
def test_models_that_stand_twice(models: list[dict[str, Any]], twice: int | None) -> None:
    data = slamsa_policy(privacy=[{**MODEL, **keys} for keys in models])
    if twice is None:
        policy_from(data)
    else:
        assert problems(data).keys() == {f"privacy[{twice}]"}


def test_methods_and_models_that_do_not_meet() -> None:
    assert suggestions(policy(privacy=[MODEL]))["privacy[0].model"] == (
        "use k_anonymity, no_attack, k_map, delta_presence, average_risk, sample_uniqueness,"
        " profitability, alpha_k_anonymity, distinct_l_diversity, entropy_l_diversity,"
        " recursive_cl_diversity, t_closeness, beta_likeness, delta_disclosure or event_share,"
        " or the method slicing, slamsa, msb or sloms"
    )
    other = slamsa_policy(privacy=[{"model": "anatomy_l_diversity", "column": "cancer", "l": 3}])
    assert suggestions(other) == {
        "privacy[0].model": "use slicing_l_diversity, or the method anatomy"
    }
    examples = {
        "slamsa": "{model: slicing_l_diversity, l: 3}",
        "slicing": "{model: slicing_l_diversity, column: disease, l: 3}",
        "msb": "{model: slicing_l_diversity, l: 3, level: unique}",
    }
    for name, example in examples.items():
        data = POLICIES[name]()
        data["privacy"] = []
        assert suggestions(data) == {"privacy": f"write at least {example}"}
