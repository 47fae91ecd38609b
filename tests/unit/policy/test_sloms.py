"""The method sloms: options, models and names."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.loading import policy_from
from pganon.methods.buckets.sloms.options import Sloms
from pganon.policy.model import policy_hash
from tests.unit.policy.examples import columns_of, slamsa_policy
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems

UNIQUE = {"model": "slicing_l_diversity", "l": 3, "level": "unique"}
K = {"model": "k_anonymity", "k": 5}


def sloms_policy(*models: dict[str, Any], **options: Any) -> dict[str, Any]:
    return slamsa_policy(
        {"name": "sloms", **options}, privacy=[dict(m) for m in models or (UNIQUE,)]
    )


def test_defaults() -> None:
    found = policy_from(sloms_policy())
    assert found.method == Sloms(
        name="sloms",
        sensitive_tables=None,
        association="contingency",
        clustering="pam",
        link_threshold=0.1,
        priority="mmdcf",
        block_size=5000,
    )
    written_out = sloms_policy(**found.method.model_dump(by_alias=True, exclude={"name"}))
    assert policy_hash(policy_from(written_out)) == policy_hash(found)


@pytest.mark.parametrize(
    "options",
    [
        {"sensitive_tables": "auto", "clustering": "aca+pam"},
        {"sensitive_tables": [["symptom"], ["cancer", "treatment"]], "link_threshold": 1},
        {"priority": "mbf", "block_size": 2, "association": "msc"},
    ],
)
def test_options(options: dict[str, Any]) -> None:
    found = policy_from(sloms_policy(K, UNIQUE, **options))
    assert policy_from(found.document()) == found


@pytest.mark.parametrize(
    ("options", "field", "part"),
    [
        ({"priority": "mbdf"}, "priority", "is not a priority"),
        ({"block_size": 1}, "block_size", "at least 2"),
        ({"quasi_tables": 2}, "quasi_tables", "not a key"),
        ({"profile": "aligned"}, "profile", "not a key"),
        ({"k": 3}, "k", "not a key"),
        ({"sensitive_tables": 4}, "sensitive_tables", "3 columns cannot be divided into 4"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], field: str, part: str) -> None:
    found = problems(sloms_policy(**options))
    assert found.keys() == {f"method.{field}"}
    assert part in found[f"method.{field}"]


def test_models() -> None:
    """Classes may have a k; that alone does not say how sensitive values are unlinked."""
    policy_from(sloms_policy(K, UNIQUE))
    only_k = sloms_policy(K)
    assert problems(only_k) == {
        "privacy": "no model says how well the method sloms has to unlink sensitive values"
    }
    assert suggestions(only_k) == {
        "privacy": "add {model: slicing_l_diversity, l: 3, level: unique}"
    }
    assert suggestions(sloms_policy({**UNIQUE, "level": "attribute"})) == {
        "privacy[0].level": "use level: unique, or the method slicing or slamsa"
    }
    wrong = sloms_policy(UNIQUE, {"model": "t_closeness", "column": "cancer", "t": 0.2})
    assert suggestions(wrong) == {
        "privacy[1].model": "use k_anonymity or slicing_l_diversity, or the method"
        " one_dimensional, mondrian, full_domain, lgb_mdp or 7 others"
    }


@pytest.mark.parametrize(
    ("key", "value", "part"),
    [
        ("weight", 2, "gives all columns the same weight"),
        ("nulls", "own_class", "it has no nulls: own_class"),
    ],
)
def test_keys_that_classes_do_not_heed(key: str, value: object, part: str) -> None:
    data = sloms_policy()
    data["columns"]["age"][key] = value
    found = problems(data)
    assert found.keys() == {f"columns.age.{key}"}
    assert part in found[f"columns.age.{key}"]


def test_roles_and_rules() -> None:
    data = sloms_policy()
    for name in ("cancer", "treatment", "symptom"):
        del data["columns"][name]
    assert problems(data) == {"columns": "no column has the role sensitive"}
    rules = sloms_policy()
    rules["exclusions"] = [{"when": {"sex": "F"}, "never": {"cancer": "Prostate"}}]
    assert problems(rules) == {"exclusions[0]": "the method sloms does not keep exclusion rules"}


@pytest.mark.parametrize(
    ("options", "parts", "links"),
    [
        ({}, {"qit", "st1", "st2"}, {"st1_group_id", "st2_group_id"}),
        ({"sensitive_tables": 1}, {"qit", "st"}, {"st_group_id"}),
        (
            {"sensitive_tables": "auto"},
            {"qit", "st", "st1", "st2"},
            {"st_group_id", "st1_group_id", "st2_group_id"},
        ),
    ],
)
def test_names(options: dict[str, Any], parts: set[str], links: set[str]) -> None:
    """Of three quasi-identifiers and three sensitive columns."""
    method = Sloms(name="sloms", **options)
    assert set(method.part_names(columns_of(3, 3))) == parts
    own = {"class_id", "group_id", "count", "probability"}
    assert set(method.added_columns(columns_of(3, 3))) == own | links
