"""The methods lgb_mdp and lgb_ncp: roles, who hides what, options, models."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pganon.loading import policy_from
from pganon.policy.model import policy_hash
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems

POLICY: dict[str, Any] = {
    "release": "r",
    "source": "public.t",
    "columns": {
        "sex": {"role": "quasi_identifying"},
        "age": {"role": "semi_sensitive", "sensitive_when": {"column": "age_private"}},
        "zip": {"role": "semi_sensitive", "sensitive_when": {"predicate": "vip"}},
        "disease": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k_anonymity", "k": 5},
        {"model": "local_bucket_diversity", "column": "age", "l": 3},
        {"model": "t_closeness", "column": "zip", "t": 0.2, "min_size": 4},
        {"model": "local_bucket_diversity", "column": "disease", "l": 3},
    ],
    "method": {"name": "lgb_mdp"},
}


def made(**changes: Any) -> dict[str, Any]:
    """The policy with other values by path, such as columns__age__weight."""
    found = copy.deepcopy(POLICY)
    for path, value in changes.items():
        at = found
        *most, last = path.split("__")
        for key in most:
            at = at[int(key)] if key.isdigit() else at[key]
        at[int(last) if last.isdigit() else last] = value
    return found


def test_it_loads() -> None:
    policy = policy_from(POLICY)
    assert policy_from(policy.document()) == policy
    written = made(method={"name": "lgb_mdp", "split": "median", "link_threshold": 0.1})
    assert policy_hash(policy_from(written)) == policy_hash(policy)


@pytest.mark.parametrize("name", ["lgb_mdp", "lgb_ncp"])
@pytest.mark.parametrize(
    "options",
    [
        {"assign": "deal", "split": "none", "min_bucket_range": {"age": 10}},
        {"ineligible": "withhold", "small_subsets": "merge"},
        {"buckets": "aligned", "link_threshold": 0.3},
    ],
)
def test_options(name: str, options: dict[str, Any]) -> None:
    policy_from(made(method={"name": name, **options}))


def test_each_half_has_its_own_options() -> None:
    alone = made(privacy=POLICY["privacy"][1:])
    alone["method"] = {"name": "local_bucketization", "buckets": "aligned", "split": "none"}
    policy_from(alone)
    alone["method"]["small_subsets"] = "merge"
    assert "not a key" in problems(alone)["method.small_subsets"]
    alone = made(privacy=POLICY["privacy"][:1])
    alone["method"] = {"name": "local_generalization", "small_subsets": "merge"}
    alone["columns"]["age"]["unprotected"] = "accept"
    policy_from(alone)
    alone["method"]["ineligible"] = "withhold"
    assert "not a key" in problems(alone)["method.ineligible"]
    alone = made(method={"name": "local_generalization"})
    assert "cannot guarantee local_bucket_diversity" in problems(alone)["privacy[1].model"]
    alone = made(privacy=POLICY["privacy"][:1], method={"name": "local_generalization"})
    alone["inference"] = {"limit": 0.6}
    assert "nothing" in problems(alone)["inference"]


@pytest.mark.parametrize(
    ("changes", "field", "part"),
    [
        ({"columns__age": {"role": "semi_sensitive"}}, "columns.age.sensitive_when", "is missing"),
        (
            {"columns__sex__sensitive_when": {"column": "x"}},
            "columns.sex.sensitive_when",
            "is for semi_sensitive",
        ),
        ({"columns__age__sensitive_when": {}}, "columns.age.sensitive_when", "says nothing"),
        (
            {"columns__age__sensitive_when": {"column": "x", "predicate": "y > 1"}},
            "columns.age.sensitive_when",
            "column and predicate; it takes exactly one",
        ),
        (
            {"columns__age__sensitive_when": {"predicate": "disease = 'flu'"}},
            "columns.age.sensitive_when.predicate",
            'reads the column "disease", which is sensitive',
        ),
        (
            {"columns__age__sensitive_when": {"predicate": "zip > 3"}},
            "columns.age.sensitive_when.predicate",
            'reads the column "zip", which is semi_sensitive',
        ),
        (
            {"columns__age__sensitive_when": {"predicate": "random() < 0.5"}},
            "columns.age.sensitive_when.predicate",
            "not allowed",
        ),
        (
            {"columns__age__sensitive_when": {"column": "age"}},
            "columns.age.sensitive_when.column",
            "cannot say itself",
        ),
        (
            {"columns__age_private": {"role": "insensitive"}},
            "columns.age_private.role",
            "must not be published",
        ),
        (
            {"columns__age_private": {"role": "quasi_identifying"}},
            "columns.age_private.role",
            "must not be published",
        ),
        ({"columns__age__weight": 2}, "columns.age.weight", "weight is for quasi_identifying"),
        ({"columns__age__nulls": "own_class"}, "columns.age.nulls", "no nulls: own_class"),
        ({"columns__sex__nulls": "own_class"}, "columns.sex.nulls", "no nulls: own_class"),
        ({"privacy__0": {"model": "k_anonymity", "k": 1}}, "privacy[0].k", "at least 2"),
        (
            {"privacy__2__distance": "hierarchical"},
            "privacy[2].distance",
            "cannot guarantee distance: hierarchical",
        ),
        (
            {
                "privacy__2__distance": "ordered",
                "columns__zip__type": "ordinal",
                "columns__zip__order": ["2", "1"],
            },
            "privacy[2].distance",
            "takes values in their natural order",
        ),
        (
            {"privacy__2__distance": "ordered", "columns__zip__hierarchy": {"prefix": [1]}},
            "privacy[2].distance",
            "takes values in their natural order",
        ),
        (
            {"method__min_bucket_range": {"sex": 3}},
            "method.min_bucket_range.sex",
            "has no buckets",
        ),
        (
            {"method__min_bucket_range": {"zip": 3}},
            "method.min_bucket_range.zip",
            "all values differ",
        ),
        (
            {"method__min_bucket_range": {"age": 3}, "method__buckets": "aligned"},
            "method.min_bucket_range.age",
            "looks at no distance",
        ),
        ({"republication": "warn"}, "republication", "has no republication: warn"),
        ({"republication": "allow"}, "republication", "is not judged yet"),
        ({"method__buckets": "shared"}, "method.buckets", "shared"),
        ({"method__ncp_small": "stop"}, "method.ncp_small", "not a key"),
    ],
)
def test_wrong(changes: dict[str, Any], field: str, part: str) -> None:
    assert part in problems(made(**changes))[field]


def test_a_companion_may_be_declared_as_identifying() -> None:
    policy_from(made(columns__age_private={"role": "identifying"}))


def test_a_predicate_may_read_its_own_column() -> None:
    policy_from(made(columns__age__sensitive_when={"predicate": "age > 60 and sex = 'F'"}))


def test_what_models_leave_open() -> None:
    no_k = made()
    del no_k["privacy"][0]
    assert "how large the groups" in problems(no_k)["privacy"]
    no_principle = made()
    del no_principle["privacy"][3]
    assert 'values of "disease" are to be hidden' in problems(no_principle)["privacy"]
    assert "column: disease, l: 3" in str(suggestions(no_principle)["privacy"])
    two = made()
    two["privacy"].append({"model": "t_closeness", "column": "age", "t": 0.1})
    assert "has local_bucket_diversity already" in problems(two)["privacy[4]"]


def test_nothing_is_hidden() -> None:
    data = made()
    for name in ("age", "zip", "disease"):
        del data["columns"][name]
    data["privacy"] = data["privacy"][:1]
    assert "no column has the role sensitive" in problems(data)["columns"]


def test_names_that_are_too_long() -> None:
    data = made(columns__age__as="a" * 60)
    assert "more than 63 bytes" in problems(data)["columns.age"]


@pytest.mark.parametrize("method", ["lgb_mdp", "local_bucketization", "local_generalization"])
def test_nothing_to_hide(method: str) -> None:
    shown = {"sex": {"role": "quasi_identifying"}, "age": {"role": "insensitive"}}
    data = made(columns=shown, privacy=POLICY["privacy"][:1], method={"name": method})
    assert problems(data)["columns"] == "no column has the role sensitive or semi_sensitive"
    assert suggestions(data)["columns"] == (
        f"declare what the method {method} has to hide, or use the method"
        " one_dimensional, mondrian or full_domain"
    )


@pytest.mark.parametrize("method", ["mondrian", "anatomy"])
def test_other_methods_have_no_use_for_it(method: str) -> None:
    found = problems(made(method={"name": method}))
    assert "no use for columns of role semi_sensitive" in found["columns.age.role"]


def test_size_of_buckets_that_a_method_does_not_make() -> None:
    data = made(method={"name": "mondrian"})
    for name in ("age", "zip"):
        data["columns"][name] = {"role": "sensitive"}
    data["privacy"] = [POLICY["privacy"][0], POLICY["privacy"][2]]
    assert "k_anonymity says the size" in problems(data)["privacy[1].min_size"]
