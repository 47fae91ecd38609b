"""What a method asks of columns, models and names, and the rules of QS sets."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from pganon.errors import PolicyError
from pganon.identifiers import MAX_BYTES
from pganon.loading import known, load_policy, policy_from
from pganon.methods.buckets.anatomy.options import Anatomy
from pganon.methods.buckets.slamsa.options import Slamsa
from pganon.methods.buckets.sloms.options import Sloms
from pganon.methods.classes.mondrian.options import Mondrian
from pganon.methods.classes.one_dimensional.options import OneDimensional
from pganon.methods.clusters.qs.options import QsEfficient, QsGreedy
from pganon.methods.common.bucket_options import SEPARATE_TABLES
from pganon.methods.local.options import LocalBucketization
from pganon.policy.columns import Role
from pganon.policy.model import policy_hash
from pganon.policy.options import part_name
from pganon.policy.policy_class import policy_schema
from pganon.policy.words import ROLES
from pganon.privacy.models import AnatomyLDiversity, LocalBucketDiversity, QSKAnonymity
from tests.unit.policy.examples import anatomy_policy, policy, qs_policy, with_column
from tests.unit.policy.test_model import problems

QS = {"model": "qs_k_anonymity", "k": 4}
ANATOMY = {"model": "anatomy_l_diversity", "column": "job", "l": 3}


def suggestions(data: dict[str, Any]) -> dict[str, str | None]:
    """Suggestions by field."""
    with pytest.raises(PolicyError) as caught:
        policy_from(data)
    return {str(problem.field): problem.suggestion for problem in caught.value.problems}


def with_model(**keys: Any) -> dict[str, Any]:
    return qs_policy(privacy=[{**QS, **keys}])


def with_qs_column(**keys: Any) -> dict[str, Any]:
    data = qs_policy()
    data["columns"]["x"] = {"role": "quasi_sensitive", "set": "sighting", **keys}
    return data


# -- words and classes ------------------------------------------------------------------------


def test_every_role_has_its_word() -> None:
    assert get_args(Role) == ROLES


@pytest.mark.parametrize("name", tuple(known().methods))
def test_what_a_method_says_is_made_of_known_words(name: str) -> None:
    options = known().methods[name]
    assert options.roles <= set(ROLES)
    assert options.roles >= {"identifying", "individual", options.grouped}
    assert options.models <= set(known().models)
    assert options.adds


def test_every_model_and_role_has_a_method() -> None:
    assert set(known().models) == {
        model for options in known().methods.values() for model in options.models
    }
    assert set(ROLES) == {role for options in known().methods.values() for role in options.roles}


def test_defaults() -> None:
    assert policy_from(qs_policy()).method == QsGreedy(name="qs_greedy", block_size=2048)
    efficient = policy_from(qs_policy(method={"name": "qs_efficient"})).method
    assert efficient == QsEfficient(name="qs_efficient", block_size=16_384)
    (model,) = policy_from(qs_policy()).privacy
    assert isinstance(model, QSKAnonymity)
    assert (model.k, model.count, model.min_values, model.public) == (4, "supported", 1, {})


def test_which_methods_number_records() -> None:
    assert not Mondrian(name="mondrian").encoding.numbers_records
    assert Mondrian(name="mondrian", variant="relaxed").encoding.numbers_records
    assert QsGreedy(name="qs_greedy").encoding.numbers_records
    assert not Anatomy(name="anatomy").encoding.numbers_records
    assert Anatomy(name="anatomy").encoding.order == "drawn"


def test_values_of_keys_that_methods_admit() -> None:
    strict, relaxed = (Mondrian(name="mondrian", variant=v) for v in ("strict", "relaxed"))
    assert strict.admits("regions", "leaves")
    (refusal,) = relaxed.key_refusals({}, {"regions": "leaves"})
    assert refusal.suggestion == "use variant: strict, or regions: none"
    line = OneDimensional(name="one_dimensional")
    (refusal,) = line.key_refusals({}, {"regions": "leaves"})
    assert refusal.suggestion == "use the method mondrian, or regions: none"
    assert line.admits("refresh", "increments")
    (refusal,) = QsGreedy(name="qs_greedy").key_refusals({}, {"regions": "leaves"})
    assert refusal.suggestion == "use regions: none"
    assert strict.admits("republication", "allow")
    local = LocalBucketization(name="local_bucketization")
    assert local.admits("republication", "refuse")
    assert not local.admits("republication", "allow")


def test_readers_of_separate_buckets() -> None:
    """Who knows which values of two tables go together can intersect their buckets."""
    independent = Slamsa(name="slamsa", profile="independent")
    for separate in (independent, Sloms(name="sloms")):
        assert separate.assumes(2) == (SEPARATE_TABLES,)
        assert separate.assumes(1) == ()
    assert Slamsa(name="slamsa").assumes(2) == ()
    local = LocalBucketization(name="local_bucketization")
    assert local.assumes(2) == (SEPARATE_TABLES, *local.assumes(1))


def test_values_repeat_in_aligned_buckets_alone() -> None:
    model = LocalBucketDiversity(model="local_bucket_diversity", column="s", l=3)
    measures = [
        LocalBucketization(name="local_bucketization", buckets=buckets).measures(model)[0]
        for buckets in ("independent", "aligned")
    ]
    levels = [measure.parameters["level"] for measure in measures]
    assert levels == ["unique", "attribute"]


def test_a_column_with_a_model_may_be_unprotected_where_it_may_be_constant() -> None:
    column = {"role": "sensitive", "unprotected": "accept"}
    data = policy(
        columns={"q": {"role": "quasi_identifying"}, "s": column},
        privacy=[
            {"model": "k_anonymity", "k": 5},
            {"model": "beta_likeness", "column": "s", "beta": 2},
        ],
    )
    message = 'beta_likeness is about the column "s", which is protected then'
    assert problems({**data, "method": {"name": "mondrian"}}) == {"columns.s.unprotected": message}
    assert policy_from({**data, "method": {"name": "kinc"}})


def test_methods_by_what_they_support() -> None:
    supporting = known().supporting
    assert supporting("exclusions") == ["slamsa"]
    assert supporting("invariant") == ["anatomy", "slamsa"]
    assert set(supporting("reference")) > {"mondrian", "beta_primacy"}


def test_the_schema_has_the_new_parts() -> None:
    schema = policy_schema(known())["$defs"]
    assert "set" in schema["ColumnPolicy"]["properties"]
    assert "block_size" in schema["QsGreedy"]["properties"]
    assert set(schema["QSKAnonymity"]["properties"]) == {
        *("model", "k", "count", "min_values", "public")
    }


def test_document_makes_the_same_policy() -> None:
    found = policy_from(with_model(public={"sighting": "public.t"}, min_values=2))
    assert policy_from(found.document()) == found
    written_out = policy_from(with_model(count="supported", min_values=1, public={}))
    assert policy_hash(written_out) == policy_hash(policy_from(qs_policy()))
    assert policy_hash(found) != policy_hash(written_out)


# -- options ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "field", "part"),
    [
        ({"name": "qs_greedy", "block_size": 1}, "method.block_size", "at least 2"),
        ({"name": "qs_greedy", "block_size": "9"}, "method.block_size", 'not "9"'),
        ({"name": "qs_greedy", "variant": "strict"}, "method.variant", "not a key"),
        ({"name": "mondrian", "block_size": 9}, "method.block_size", "not a key"),
        ({"name": "mondrian", "choose": "x"}, "method.choose", "is not a way to choose"),
        ({"name": "qs_gredy"}, "method.name", "is not a method"),
    ],
)
def test_options_that_are_wrong(method: Any, field: str, part: str) -> None:
    found = problems(qs_policy(method=method))
    assert part in found[field]


def test_a_key_is_answered_with_those_of_its_method() -> None:
    method = {"name": "qs_efficient", "blocksize": 9}
    assert suggestions(qs_policy(method=method)) == {
        "method.blocksize": 'did you mean "block_size"?'
    }


# -- method against the rest of the policy ----------------------------------------------------


@pytest.mark.parametrize("role", ["quasi_identifying", "sensitive"])
def test_roles_that_a_qs_method_does_not_have(role: str) -> None:
    data = qs_policy()
    data["columns"]["x"] = {"role": role}
    assert problems(data) == {
        "columns.x.role": f"the method qs_greedy has no use for columns of role {role}"
    }
    assert suggestions(data)["columns.x.role"] == (
        "use role identifying, individual, quasi_sensitive or insensitive, or the method"
        " one_dimensional, mondrian, full_domain, danonyir or 16 others"
    )


def test_roles_that_mondrian_does_not_have() -> None:
    data = policy()
    data["columns"]["x"] = {"role": "quasi_sensitive", "set": "a"}
    assert "no use for columns of role quasi_sensitive" in problems(data)["columns.x.role"]
    assert str(suggestions(data)["columns.x.role"]).endswith(
        "or the method qs_greedy or qs_efficient"
    )


@pytest.mark.parametrize(
    "model",
    [{"model": "k_anonymity", "k": 2}, {"model": "t_closeness", "column": "speed", "t": 0.2}],
)
def test_models_that_a_qs_method_cannot_guarantee(model: dict[str, Any]) -> None:
    data = qs_policy(privacy=[QS, model])
    assert problems(data)["privacy[1].model"] == (
        f"the method qs_greedy cannot guarantee {model['model']}"
    )
    size = model["model"] == "k_anonymity"
    others = (
        "one_dimensional, mondrian, full_domain, sloms or 9 others"
        if size
        else "one_dimensional, mondrian, full_domain, lgb_mdp or 7 others"
    )
    assert suggestions(data)["privacy[1].model"] == f"use qs_k_anonymity, or the method {others}"


def test_models_that_mondrian_cannot_guarantee() -> None:
    data = policy(privacy=[QS])
    assert problems(data) == {
        "privacy[0].model": "the method mondrian cannot guarantee qs_k_anonymity"
    }
    suggestion = str(suggestions(data)["privacy[0].model"])
    assert suggestion.startswith("use k_anonymity, ")
    assert suggestion.endswith(", or the method qs_greedy or qs_efficient")


def test_the_model_stands_exactly_once() -> None:
    assert "required twice" in problems(qs_policy(privacy=[QS, {**QS, "k": 5}]))["privacy[1]"]
    assert suggestions(qs_policy(privacy=[])) == {
        "privacy": "write at least {model: qs_k_anonymity, k: 5}"
    }
    assert suggestions(policy(privacy=[])) == {
        "privacy": "write at least {model: k_anonymity, k: 5}"
    }


def test_columns_to_group_by_are_needed() -> None:
    data = qs_policy(columns={"plate": {"role": "identifying"}})
    assert problems(data) == {"columns": "no column has the role quasi_sensitive"}
    assert problems(policy(columns={})) == {"columns": "no column has the role quasi_identifying"}


def test_two_sets_are_needed() -> None:
    data = qs_policy()
    for column in data["columns"].values():
        if "set" in column:
            column["set"] = "all"
    assert problems(data) == {
        "columns": 'QS k-anonymity needs at least two QS sets; all columns are in "all"'
    }


def test_nothing_is_concluded_from_what_is_wrong_in_itself() -> None:
    one_set = qs_policy(privacy=[{"model": "k_anonymity", "k": 2}])
    one_set["columns"]["zone"] = one_set["columns"]["hour"] = {"role": "quasi_sensitve"}
    assert problems(one_set).keys() == {
        *("columns.zone.role", "columns.hour.role", "privacy[0].model")
    }
    wrong_method = qs_policy(
        method={"name": "qs_greedy", "block_size": 0}, privacy=[{**QS, "k": 0}]
    )
    wrong_method["columns"]["x"] = {"role": "sensitive"}
    assert problems(wrong_method).keys() == {"method.block_size", "privacy[0].k"}


def test_everything_at_once_with_lines() -> None:
    text = """\
release: vehicles
source: public.vehicles
columns:
  year: {role: quasi_sensitive, set: [a, b]}
  zone: {role: quasi_sensitive, set: b, nulls: own_class}
  hour: {role: quasi_sensitive}
  fine: {role: sensitive}
privacy:
  - {model: qs_k_anonymity, k: 0}
  - {model: k_anonymity, k: 5}
method: {name: qs_greedy}
"""
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    assert {(p.line, p.field) for p in caught.value.problems} == {
        (4, "columns.year.set"),
        (5, "columns.zone.nulls"),
        (6, "columns.hour.set"),
        (7, "columns.fine.role"),
        (9, "privacy[0].k"),
        (10, "privacy[1].model"),
    }
    assert all(p.suggestion for p in caught.value.problems if p.field != "privacy[0].k")


@pytest.mark.parametrize("name", ["x" * 54, "é" * 27])
def test_names_of_further_views_fit(name: str) -> None:
    assert len(part_name(name, "expanded").encode()) == MAX_BYTES
    policy_from(qs_policy(release=name))
    assert problems(qs_policy(release=name + "x")) == {
        "release": 'the name of its view "..._expanded" has 64 bytes, PostgreSQL allows 63'
    }
    assert suggestions(qs_policy(release=name + "x")) == {
        "release": "choose a name of at most 54 bytes"
    }
    policy_from(policy(release=name + "x"))


def test_a_release_that_is_no_name_has_one_problem() -> None:
    data = qs_policy(release="x" * 64)
    with pytest.raises(PolicyError) as caught:
        policy_from(data)
    assert [p.field for p in caught.value.problems] == ["release"]
    assert problems(qs_policy(release=5)).keys() == {"release"}


# -- columns ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "field", "part"),
    [
        ({"set": None}, "set", "belongs to a QS set"),
        ({"set": ["a", "b"]}, "set", "must be a text, not a list"),
        ({"set": 5}, "set", "must be a text, not 5"),
        ({"set": ""}, "set", "empty"),
        ({"set": "a\nb"}, "set", "control characters"),
        ({"set": "x" * 64}, "set", "64 bytes"),
        ({"nulls": "own_class"}, "nulls", "as_value, suppress or reject, not own_class"),
        ({"weight": 2}, "weight", "is for quasi_identifying columns; this one is quasi_sensitive"),
        ({"order": ["a"]}, "order", "needs type: ordinal"),
        ({"role": "insensitive"}, "set", "is for quasi_sensitive columns; this one is insensitive"),
        ({"role": "identifying"}, "set", "is for quasi_sensitive columns"),
        ({"role": "quasi_identifying"}, "set", "is for quasi_sensitive columns"),
    ],
)
def test_columns_that_are_wrong(keys: dict[str, Any], field: str, part: str) -> None:
    assert part in problems(with_qs_column(**keys))[f"columns.x.{field}"]


@pytest.mark.parametrize(
    "keys",
    [
        {"nulls": "as_value"}, {"nulls": "suppress"}, {"nulls": "reject"}, {"as": "y"},
        {"type": "categorical"}, {"type": "ordinal", "order": ["a", "b"]},
        {"hierarchy": {"intervals": [5]}}, {"hierarchy": {"date": ["year"]}},
        {"set": "a third one"},
    ],
)  # fmt: skip
def test_columns(keys: dict[str, Any]) -> None:
    found = policy_from(with_qs_column(**keys)).columns["x"]
    assert (found.role, found.qs_set) == ("quasi_sensitive", keys.get("set", "sighting"))


# -- the model --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "field", "part"),
    [
        ({"k": 0}, "k", "at least 1"),
        ({"k": 2.5}, "k", "whole number, not 2.5"),
        ({"count": "all"}, "count", "is not a way to count combinations"),
        ({"min_values": 0}, "min_values", "at least 1"),
        ({"public": "public.t"}, "public", "must be a mapping"),
        ({"public": {"sighting": "a.b.c"}}, "public.sighting", "3 parts"),
        ({"public": {"sighting": 5}}, "public.sighting", "must be a text"),
        ({"public": {"sigthing": "t"}}, "public.sigthing", "no column is in the QS set"),
        ({"public": {"x" * 64: "t"}}, f"public.{'x' * 64}", "64 bytes"),
        ({"public": {"sighting": "t"}, "count": "product"}, "public", "reads no table"),
        ({"column": "zone"}, "column", "not a key"),
    ],
)
def test_models_that_are_wrong(keys: dict[str, Any], field: str, part: str) -> None:
    assert part in problems(with_model(**keys))[f"privacy[0].{field}"]


def test_an_unknown_set_is_answered_with_the_nearest() -> None:
    data = with_model(public={"sigthing": "t"})
    assert suggestions(data) == {"privacy[0].public.sigthing": 'did you mean "sighting"?'}


@pytest.mark.parametrize(
    "keys",
    [
        {"k": 1}, {"count": "product"}, {"count": "product", "public": {}}, {"min_values": 3},
        {"public": {"sighting": 'public."T"', "registration": "t"}},
    ],
)  # fmt: skip
def test_models(keys: dict[str, Any]) -> None:
    policy_from(with_model(**keys))


# -- anatomy ----------------------------------------------------------------------------------


def test_anatomy_defaults() -> None:
    found = policy_from(anatomy_policy())
    assert found.method == Anatomy(name="anatomy", block_size=100, division="public")
    (model,) = found.privacy
    assert isinstance(model, AnatomyLDiversity)
    assert (model.column, model.l, model.level) == ("job", 3, "attribute")
    assert policy_from(found.document()) == found
    written_out = anatomy_policy(privacy=[{**ANATOMY, "level": "attribute"}])
    assert policy_hash(policy_from(written_out)) == policy_hash(found)
    unique = policy_from(anatomy_policy(privacy=[{**ANATOMY, "level": "unique"}]))
    assert policy_hash(unique) != policy_hash(found)
    assert "level" in policy_schema(known())["$defs"]["AnatomyLDiversity"]["properties"]


@pytest.mark.parametrize(
    ("keys", "field", "part"),
    [
        ({"l": 1}, "l", "at least 2"),
        ({"l": 2.5}, "l", "whole number, not 2.5"),
        ({"l": "3"}, "l", 'not "3"'),
        ({"l": 2**31}, "l", "at most"),
        ({"level": "tuple"}, "level", "is not a level of anatomy_l_diversity"),
        ({"column": "age"}, "column", "has the role quasi_identifying"),
        ({"column": "hours"}, "column", "has the role insensitive"),
        ({"column": "jbo"}, "column", "is not declared"),
        ({"k": 3}, "k", "not a key"),
    ],
)
def test_anatomy_models_that_are_wrong(keys: dict[str, Any], field: str, part: str) -> None:
    found = problems(anatomy_policy(privacy=[{**ANATOMY, **keys}]))
    assert part in found[f"privacy[0].{field}"]


@pytest.mark.parametrize(
    ("keys", "field", "part"),
    [
        ({"variant": "strict"}, "variant", "not a key"),
        ({"block_size": 1}, "block_size", "at least 2"),
        ({"block_size": 2**31}, "block_size", "at most"),
    ],
)
def test_anatomy_options_that_are_wrong(keys: dict[str, Any], field: str, part: str) -> None:
    method = {"name": "anatomy", **keys}
    assert part in problems(anatomy_policy(method=method))[f"method.{field}"]


def with_anatomy_column(name: str, **keys: Any) -> dict[str, Any]:
    data = anatomy_policy()
    data["columns"][name] = keys
    return data


def test_anatomy_protects_one_sensitive_column() -> None:
    data = with_anatomy_column("income", role="sensitive")
    assert problems(data) == {
        "columns.income.role": 'the method anatomy protects one sensitive column; "job" is it'
    }
    assert suggestions(data)["columns.income.role"] == (
        'leave "income" out, or use the method slamsa, msb or sloms: values of both columns in one'
        " group, or in two releases, can be put together"
    )
    data["columns"]["city"] = {"role": "sensitive"}
    assert problems(data).keys() == {"columns.income.role", "columns.city.role"}
    none = with_anatomy_column("job", role="insensitive")
    assert problems(none)["columns"] == "no column has the role sensitive"
    assert suggestions(none)["columns"] == (
        "declare what the method anatomy has to unlink from a person"
    )


def test_anatomy_needs_a_quasi_identifier() -> None:
    data = with_anatomy_column("age", role="insensitive")
    assert problems(data) == {"columns": "no column has the role quasi_identifying"}


def test_nothing_is_concluded_about_sensitive_columns_from_a_wrong_one() -> None:
    data = with_anatomy_column("income", role="secret")
    assert problems(data).keys() == {"columns.income.role"}


@pytest.mark.parametrize(
    ("keys", "field", "message", "suggestion"),
    [
        ({"weight": 2}, "weight", "publishes exact values, of which no weight", "remove weight"),
        ({"nulls": "own_class"}, "nulls", "own_class keeps nothing apart",
         "use nulls: as_value, suppress or reject"),
    ],
)  # fmt: skip
def test_keys_that_say_nothing_of_exact_values(
    keys: dict[str, Any], field: str, message: str, suggestion: str
) -> None:
    data = with_anatomy_column("x", role="quasi_identifying", **keys)
    assert message in problems(data)[f"columns.x.{field}"]
    assert suggestions(data)[f"columns.x.{field}"] == suggestion


@pytest.mark.parametrize("nulls", ["as_value", "suppress", "reject"])
def test_rules_for_null_of_exact_values(nulls: str) -> None:
    policy_from(with_anatomy_column("x", role="quasi_identifying", nulls=nulls, weight=1))


@pytest.mark.parametrize(
    ("nulls", "known"),
    [("as_value", True), ("reject", True), ("suppress", False), ("own_class", False)],
)
def test_rules_for_null_of_what_is_sensitive(nulls: str, known: bool) -> None:
    data = with_anatomy_column("job", role="sensitive", nulls=nulls)
    if known:
        policy_from(data)
    else:
        assert "as_value, conditional or reject" in problems(data)["columns.job.nulls"]


def test_models_and_methods_that_do_not_meet() -> None:
    other = anatomy_policy(privacy=[ANATOMY, {"model": "k_anonymity", "k": 2}])
    assert problems(other) == {
        "privacy[1].model": "the method anatomy cannot guarantee k_anonymity"
    }
    assert suggestions(other)["privacy[1].model"] == (
        "use anatomy_l_diversity, or the method one_dimensional, mondrian, full_domain, sloms"
        " or 9 others"
    )
    assert str(suggestions(policy(privacy=[ANATOMY]))["privacy[0].model"]).endswith(
        ", or the method anatomy"
    )
    assert (
        "required twice"
        in problems(anatomy_policy(privacy=[ANATOMY, {**ANATOMY, "l": 4}]))["privacy[1]"]
    )
    assert suggestions(anatomy_policy(privacy=[])) == {
        "privacy": "write at least {model: anatomy_l_diversity, column: disease, l: 3}"
    }


def test_quasi_sensitive_columns_are_not_for_anatomy() -> None:
    data = with_anatomy_column("x", role="quasi_sensitive", set="a")
    assert "no use for columns of role quasi_sensitive" in problems(data)["columns.x.role"]


def test_names_of_qit_and_st_fit() -> None:
    policy_from(anatomy_policy(release="x" * 59))
    assert problems(anatomy_policy(release="x" * 60)) == {
        "release": 'the name of its view "..._qit" has 64 bytes, PostgreSQL allows 63'
    }
    assert suggestions(anatomy_policy(release="x" * 60)) == {
        "release": "choose a name of at most 59 bytes"
    }


def test_a_file_of_a_hierarchy_is_csv() -> None:
    found = suggestions(with_column(role="quasi_identifying", hierarchy={"file": "a.csv"}))
    assert found == {"columns.x.hierarchy.file": 'did you mean "csv"?'}
