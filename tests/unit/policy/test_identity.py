"""The methods and models of identity reservation."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.loading import policy_from
from pganon.methods.individuals.options import DAnonyIR, GeneIR
from pganon.policy.model import policy_hash
from tests.unit.policy.examples import columns_of, policy
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems

MODELS: tuple[dict[str, Any], ...] = (
    {"model": "ir_k_anonymity", "k": 2},
    {"model": "ir_kl_anonymity", "column": "job", "k": 3, "l": 2},
    {"model": "ir_alpha_beta_anonymity", "column": "job", "alpha": 0.4, "beta": 1},
    {"model": "eir_l_diversity", "column": "job", "l": 3},
    {"model": "eir_alpha_beta_anonymity", "column": "job", "alpha": 1, "beta": 0.5},
)
TREE = {"inline": {"*": {"young": ["1", "2"], "old": ["3"]}}}


def identity_policy(*models: dict[str, Any], **options: Any) -> dict[str, Any]:
    return policy(
        columns={
            "person": {"role": "individual"},
            "age": {"role": "quasi_identifying", "hierarchy": TREE},
            "job": {"role": "sensitive"},
            "hours": {"role": "insensitive"},
        },
        privacy=[dict(m) for m in models or MODELS],
        method={"name": "danonyir", **options},
    )


def test_defaults() -> None:
    found = policy_from(identity_policy())
    assert found.method == DAnonyIR(name="danonyir", block_size=1000, residuals="generalize")
    written_out = identity_policy(**found.method.model_dump(by_alias=True))
    assert policy_hash(policy_from(written_out)) == policy_hash(found)
    assert policy_from(found.document()) == found
    assert policy_from(identity_policy(name="geneir")).method == GeneIR(name="geneir")


@pytest.mark.parametrize(
    ("options", "field", "part"),
    [
        ({"block_size": 1}, "block_size", "at least 2"),
        ({"residuals": "restore"}, "residuals", "is not a way to treat residuals"),
        ({"handle": "suppress"}, "handle", "not a key"),
        ({"name": "geneir", "block_size": 9}, "block_size", "not a key"),
        ({"name": "geneir", "residuals": "suppress"}, "residuals", "not a key"),
        ({"duplicates": "drop"}, "duplicates", "is not a way to treat records that repeat"),
        ({"qi_conflict": "latest"}, "qi_conflict", "is not a way to treat individuals"),
        ({"most_exposed": 1.5}, "most_exposed", "at most 1"),
        ({"least_count_group": 0}, "least_count_group", "at least 1"),
        ({"name": "danonyr"}, "name", "is not a method"),
    ],
)
def test_options_that_are_wrong(options: dict[str, Any], field: str, part: str) -> None:
    found = problems(identity_policy(**options))
    assert part in found[f"method.{field}"]


@pytest.mark.parametrize("name", ["danonyir", "geneir"])
@pytest.mark.parametrize("model", MODELS, ids=lambda m: m["model"])
def test_every_model_alone(name: str, model: dict[str, Any]) -> None:
    found = policy_from(identity_policy(model, name=name))
    (declared,) = found.privacy
    assert declared.model_dump(exclude_none=True) == model


@pytest.mark.parametrize(
    ("model", "field", "part"),
    [
        ({**MODELS[0], "k": 1}, "k", "at least 2"),
        ({**MODELS[0], "k": 2.5}, "k", "whole number"),
        ({**MODELS[0], "column": "job"}, "column", "not a key"),
        ({**MODELS[1], "k": 0}, "k", "at least 1"),
        ({**MODELS[1], "l": 0}, "l", "at least 1"),
        ({**MODELS[2], "alpha": 0}, "alpha", "greater than 0"),
        ({**MODELS[2], "beta": 1.01}, "beta", "at most 1"),
        ({**MODELS[3], "l": 1}, "l", "at least 2"),
        ({**MODELS[3], "l": 1001}, "l", "at most 1000"),
        ({**MODELS[3], "column": "hours"}, "column", "has the role insensitive"),
        ({**MODELS[3], "column": "jobs"}, "column", "is not declared"),
        ({**MODELS[4], "alpha": -0.1}, "alpha", "greater than 0"),
        ({**MODELS[4], "beta": float("nan")}, "beta", "finite"),
    ],
)
def test_parameters_that_are_wrong(model: dict[str, Any], field: str, part: str) -> None:
    found = problems(identity_policy(model))
    assert found.keys() == {f"privacy[0].{field}"}
    assert part in found[f"privacy[0].{field}"]


def test_bounds_themselves_are_allowed() -> None:
    for model in (
        {**MODELS[1], "k": 1, "l": 1},
        {**MODELS[2], "alpha": 1, "beta": 1},
        {**MODELS[3], "l": 1000},
    ):
        policy_from(identity_policy(model))


@pytest.mark.parametrize("name", ["danonyir", "geneir"])
def test_somebody_must_own_the_records(name: str) -> None:
    data = identity_policy(name=name)
    data["columns"]["person"]["role"] = "identifying"
    assert problems(data) == {
        "columns": f"no column says whose a record is, which the method {name} keeps together"
    }
    assert suggestions(data) == {
        "columns": "declare the column that tells individuals apart with role: individual"
    }
    policy_from({**data, "individual": "person"})


def test_geneir_needs_hierarchies() -> None:
    data = identity_policy(name="geneir")
    data["columns"]["sex"] = {"role": "quasi_identifying"}
    assert problems(data) == {
        "columns.sex": "the method geneir goes up hierarchies, and this column has none"
    }
    assert suggestions(data) == {"columns.sex": "add hierarchy:, or use the method danonyir"}
    data["method"] = {"name": "danonyir"}
    policy_from(data)


def test_roles() -> None:
    data = identity_policy()
    data["columns"]["sick"] = {"role": "sensitive"}
    policy_from(data)
    data = identity_policy({"model": "ir_k_anonymity", "k": 2})
    del data["columns"]["job"]
    assert any("sensitive" in message for message in problems(data).values())
    data = identity_policy()
    data["columns"]["age"]["role"] = "insensitive"
    del data["columns"]["age"]["hierarchy"]
    assert problems(data) == {"columns": "no column has the role quasi_identifying"}
    data = identity_policy()
    data["columns"]["spot"] = {"role": "quasi_sensitive", "set": "a"}
    assert problems(data) == {
        "columns.spot.role": "the method danonyir has no use for columns of role quasi_sensitive"
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [("weight", 2), ("nulls", "own_class")],
)
def test_keys_that_classes_do_not_heed(key: str, value: object) -> None:
    data = identity_policy()
    data["columns"]["age"][key] = value
    assert problems(data).keys() == {f"columns.age.{key}"}


@pytest.mark.parametrize("name", ["danonyir", "geneir"])
def test_values_that_records_counted_as_one_would_lose(name: str) -> None:
    data = identity_policy(name=name, duplicates="collapse")
    assert problems(data) == {
        "columns.hours.role": "records that duplicates: collapse counts as one may have different"
        ' values of "hours"'
    }
    assert suggestions(data) == {
        "columns.hours.role": 'leave "hours" out, or use duplicates: keep;'
        " duplicates belongs under method"
    }
    del data["columns"]["hours"]
    assert policy_from(data).method.encoding.collapses
    assert not policy_from(identity_policy(name=name)).method.encoding.collapses


def test_models_of_other_methods() -> None:
    assert suggestions(identity_policy({"model": "k_anonymity", "k": 3})) == {
        "privacy[0].model": "use ir_k_anonymity, ir_kl_anonymity, ir_alpha_beta_anonymity,"
        " eir_l_diversity or eir_alpha_beta_anonymity, or the method one_dimensional,"
        " mondrian, full_domain, sloms or 9 others"
    }
    other = identity_policy({**MODELS[3]}, name="mondrian")
    del other["columns"]["person"]
    assert "or the method danonyir or geneir" in (suggestions(other)["privacy[0].model"] or "")


def test_added_columns() -> None:
    added = DAnonyIR(name="danonyir").added_columns(columns_of(1, 1))
    assert added == ("class_id", "individual_no")


def test_exclusion_rules_are_not_kept() -> None:
    data = identity_policy()
    data["exclusions"] = [{"when": {"age": "1"}, "never": {"job": "x"}}]
    assert problems(data) == {"exclusions[0]": "the method danonyir does not keep exclusion rules"}


@pytest.mark.parametrize("name", ["danonyir", "geneir"])
def test_nothing_is_left_out_for_a_guarantee_out_of_reach(name: str) -> None:
    found = problems({**identity_policy(name=name), "on_infeasible": "suppress"})
    assert f"the method {name} leaves nothing out" in found["on_infeasible"]
    assert policy_from({**identity_policy(name=name), "on_infeasible": "refuse"})
