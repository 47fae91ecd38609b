"""Rules of the policy model that need no catalog."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from pydantic import ValidationError

from pganon.errors import PolicyError
from pganon.loading import policy_from
from pganon.policy.hierarchies import FORMS, InlineHierarchy, IntervalHierarchy
from pganon.policy.model import policy_hash
from pganon.privacy import population
from pganon.privacy.base import Requirement
from pganon.privacy.frequency import KAnonymity
from pganon.privacy.release import RecordsAtRisk
from pganon.privacy.requirements import requirements_of
from tests.unit.policy.examples import policy, with_column


def problems(data: dict[str, Any]) -> dict[str, str]:
    """Messages by field."""
    with pytest.raises(PolicyError) as caught:
        policy_from(data)
    return {problem.field: problem.message for problem in caught.value.problems}


def test_defaults() -> None:
    found = policy_from(policy())
    assert (found.where, found.individual, found.suppression_limit) == (None, None, 0.0)
    assert (found.on_infeasible, found.republication) == ("refuse", "refuse")
    assert found.records_per_individual == "one"
    assert (found.publish.view_schema, found.publish.readers, found.publish.keep) == (
        "published",
        (),
        3,
    )
    assert (found.method.variant, found.method.choose) == ("strict", "loss")
    age = found.columns["age"]
    assert (age.type, age.hierarchy, age.weight, age.nulls) == (None, None, 1.0, "as_value")


def test_frozen() -> None:
    found = policy_from(policy())
    with pytest.raises(ValidationError):
        found.release = "other"  # type: ignore[misc]


@pytest.mark.parametrize("key", ["release", "source", "columns", "privacy", "method"])
def test_required_keys(key: str) -> None:
    assert problems(policy(**{key: None}))[key] == "is missing"


K_MAP = {
    "model": "k_map",
    "k": 10,
    "sampling_fraction": 0.1,
    "significance": 0.05,
    "estimator": "poisson",
}


UNIQUE = {"model": "population_uniqueness", "population_size": 1000, "share": 0.1}
PROFIT = {"model": "profitability", "gain": 3, "cost": 1, "loss": 2, "benefit": 1}
DELTA = {"model": "delta_presence", "population": "public.people", "max": 0.5}


@pytest.mark.parametrize(
    ("model", "field", "part"),
    [
        ({"model": "k_anonymity", "k": 1}, "k", "at least 2"),
        ({"model": "k_anonymity", "k": "5"}, "k", 'whole number, not "5"'),
        ({"model": "k_anonymity", "k": True}, "k", "whole number, not true"),
        ({"model": "k_anonymity", "k": 5.0}, "k", "whole number, not 5.0"),
        ({"model": "k_anonymity", "k": None}, "k", "not nothing (null)"),
        ({"model": "k_anonymity", "k": 10**40}, "k", "a number"),
        ({"model": "distinct_l_diversity", "column": "job", "l": 1}, "l", "at least 2"),
        ({"model": "distinct_l_diversity", "column": "job", "l": 2.5}, "l", "whole number"),
        ({"model": "entropy_l_diversity", "column": "job", "l": 1.9}, "l", "at least 2"),
        ({"model": "t_closeness", "column": "job", "t": 0}, "t", "greater than 0"),
        ({"model": "t_closeness", "column": "job", "t": 1.01}, "t", "at most 1"),
        ({"model": "t_closeness", "column": "job", "t": "0.2"}, "t", 'a number, not "0.2"'),
        ({"model": "t_closeness", "column": "jbo", "t": 0.2}, "column", "is not declared"),
        ({"model": "t_closeness", "column": "age", "t": 0.2}, "column", "quasi_identifying"),
        ({"model": "t_closeness", "t": 0.2}, "column", "is missing"),
        ({"model": "no_attack", "gain": 1.5, "cost": 2}, "gain", "no attack pays"),
        ({"model": "no_attack", "gain": 1e12, "cost": 1}, "gain", "no class can hold"),
        ({"model": "no_attack", "gain": 3, "cost": 0}, "cost", "greater than 0"),
        ({"model": "no_attack", "gain": 3}, "cost", "is missing"),
        ({"model": "average_risk", "risk": 0.1, "highest": 0.2}, "highest", "both are needed"),
        ({"model": "average_risk", "risk": 0.1, "share": 0}, "share", "both are needed"),
        ({**K_MAP, "sampling_fraction": 0.005}, "sampling_fraction", "too small to tell"),
        ({**K_MAP, "sampling_fraction": 1}, "sampling_fraction", "less than 1"),
        ({**K_MAP, "significance": 0}, "significance", "at least"),
        ({**K_MAP, "estimator": "poison"}, "estimator", "not an estimator of"),
        ({"model": "k_map", "k": 5}, "sampling_fraction", "without a population"),
        ({"model": "k_map", "k": 5, "sampling_fraction": 0.1}, "significance", "is missing"),
        ({**K_MAP, "population": "a.b"}, "sampling_fraction", "not both"),
        ({"model": "delta_presence", "population": "a.b"}, "max", "is missing"),
        ({**DELTA, "max": 1}, "max", "less than 1"),
        ({**DELTA, "min": 0.6}, "min", "above the largest"),
        (UNIQUE, "model", "cannot guarantee population_uniqueness"),
        ({**UNIQUE, "estimator": "pitmann"}, "estimator", "pitman"),
        ({**UNIQUE, "share": 1}, "share", "less than 1"),
        ({**PROFIT, "loss": 0}, "loss", "greater than 0"),
        ({"model": "average_risk", "risk": 0}, "risk", "greater than 0"),
        ({"model": "average_risk", "risk": 1}, "risk", "less than 1"),
        ({"model": "sample_uniqueness", "share": 1}, "share", "less than 1"),
        ({"k": 5}, "", "the key model is missing"),
        ("k_anonymity", "", "must be a mapping"),
    ],
)
def test_models(model: Any, field: str, part: str) -> None:
    found = problems(policy(privacy=[model]))
    assert part in found[f"privacy[0].{field}" if field else "privacy[0]"]


@pytest.mark.parametrize(
    ("method", "model"),
    [
        ("one_dimensional", {"model": "average_risk", "risk": 0.1}),
        ("full_domain", {"model": "sample_uniqueness", "share": 0.1}),
    ],
)
def test_a_model_of_all_classes_stands_beside_one_of_every_class(method: str, model: Any) -> None:
    declared = policy(privacy=[model], method={"name": method})
    declared["columns"]["age"]["hierarchy"] = {"intervals": [5, 10]}
    assert f"{model['model']} bounds no class" in problems(declared)["privacy"]
    declared["privacy"].append({"model": "k_anonymity", "k": 5})
    assert len(policy_from(declared).privacy) == 2


@pytest.mark.parametrize(
    ("method", "part"),
    [
        ({"name": "one_dimensional"}, "without looking at a population"),
        ({"name": "mondrian", "variant": "relaxed"}, "have no side"),
        ({"name": "full_domain", "rounds": 2}, "not known before the last"),
    ],
)
def test_people_of_a_population_are_not_counted(method: Any, part: str) -> None:
    models = [{"model": "k_map", "k": 5, "population": "public.people"}]
    declared = policy(privacy=models, method=method)
    declared["columns"]["age"]["hierarchy"] = {"intervals": [5, 10]}
    assert part in problems(declared)["privacy[0].population"]


def test_the_mean_risk_among_people_bounds_no_class() -> None:
    """No cut is undone for it, so that mondrian needs a model beside it."""
    models = [{"model": "average_risk", "risk": 0.1, "population": "public.people"}]
    declared = policy(privacy=models, method={"name": "mondrian"})
    assert "with a population bounds no class" in problems(declared)["privacy"]
    declared["privacy"].append(DELTA)
    assert len(policy_from(declared).privacy) == 2


def test_profit_is_measured_of_classes_that_are_made_for_others() -> None:
    declared = policy(privacy=[PROFIT], method={"name": "mondrian"})
    assert "no class is made for profitability" in problems(declared)["privacy"]
    declared["privacy"].append({"model": "k_anonymity", "k": 5})
    assert len(policy_from(declared).privacy) == 2
    declared |= {"on_infeasible": "suppress", "suppression_limit": 0.1}
    assert len(policy_from(declared).privacy) == 2
    declared["method"] = {"name": "one_dimensional"}
    assert "helps no class to satisfy profitability" in problems(declared)["on_infeasible"]
    declared["method"] = {"name": "mondrian"}
    declared["privacy"][0] = {**PROFIT, "population": "public.people"}
    assert "before it is known whom they cover" in problems(declared)["privacy[0].population"]


def test_uniques_are_estimated_of_one_level_for_all() -> None:
    declared = policy(privacy=[UNIQUE], method={"name": "full_domain", "rounds": 2})
    declared["columns"]["age"]["hierarchy"] = {"intervals": [5, 10]}
    assert "labels overlap" in problems(declared)["privacy[0].model"]
    declared["method"]["rounds"] = 1
    assert len(policy_from(declared).privacy) == 1


def test_mondrian_satisfies_a_model_of_all_classes_by_itself() -> None:
    models = [{"model": "sample_uniqueness", "share": 0.1}]
    assert len(policy_from(policy(privacy=models, method={"name": "mondrian"})).privacy) == 1


def test_leaving_records_out_makes_no_class_larger() -> None:
    declared = policy(privacy=[K_MAP], method={"name": "mondrian"}, on_infeasible="suppress")
    declared["suppression_limit"] = 0.1
    assert "helps no class to satisfy k_map" in problems(declared)["on_infeasible"]


def test_no_record_has_a_price_beside_a_model_of_all_classes() -> None:
    models = [{"model": "k_anonymity", "k": 5}, {"model": "average_risk", "risk": 0.1}]
    method = {"name": "mondrian", "price": 0.5}
    declared = policy(privacy=models, method=method, suppression_limit=0.1)
    assert "average_risk is a share of what is published" in problems(declared)["method.price"]
    for model in (PROFIT, DELTA):
        declared["privacy"] = [models[0], model]
        assert f"beside {model['model']} no record" in problems(declared)["method.price"]


def test_records_at_risk_are_in_classes_below_a_size() -> None:
    """Of the decimal as it is written: 1/3 is above 0.3333, and 1/10 is not above 0.1."""
    for highest, least in ((0.2, 5), (0.1, 10), (0.3333, 4), (0.34, 3), (0.99, 2)):
        assert RecordsAtRisk(0.1, highest).least == least
        assert 1 / Fraction(least) <= Fraction(str(highest)) < 1 / Fraction(least - 1)


@pytest.mark.parametrize(
    ("gain", "cost", "k"), [(2, 2, 2), (10.5, 3, 4), (0.3, 0.1, 4), (0.29, 0.1, 3), (300, 4, 76)]
)
def test_attacks_that_gain_less_than_they_cost(gain: float, cost: float, k: int) -> None:
    """k is the first with which gain / k, of the decimals, is below the cost."""
    exact = Fraction(str(gain)), Fraction(str(cost))
    assert next(size for size in range(1, 100) if exact[0] / size < exact[1]) == k
    declared = [{"model": "no_attack", "gain": gain, "cost": cost}]
    (held,) = requirements_of(policy_from(policy(privacy=declared)), {})
    assert held == Requirement(KAnonymity.of(k))


def test_attacks_on_people_of_a_population() -> None:
    """The same k, of people; the mean risk is among them, too."""
    named = {"population": "public.people"}
    models = [
        {"model": "no_attack", "gain": 10.5, "cost": 3, **named},
        {"model": "average_risk", "risk": 0.1, "highest": 0.2, "share": 0.3, **named},
    ]
    declared = policy(privacy=models, method={"name": "full_domain"})
    declared["columns"]["age"]["hierarchy"] = {"intervals": [5, 10]}
    held = [one.model for one in requirements_of(policy_from(declared), {})]
    people = "public.people"
    assert held == [
        population.KMap(people, 4),
        population.AverageRisk(people, 0.1),
        population.RecordsAtRisk(people, 0.3, 0.2),
    ]


def test_entropy_takes_fractions_and_whole_numbers() -> None:
    models = [{"model": "entropy_l_diversity", "column": "job", "l": level} for level in (2, 2.5)]
    for model in models:
        assert policy_from(policy(privacy=[model])).privacy[0].l == model["l"]  # type: ignore[union-attr]


def test_privacy_must_not_be_empty_or_repeat() -> None:
    assert problems(policy(privacy=[])) == {"privacy": "privacy is empty"}
    twice = [{"model": "t_closeness", "column": "job", "t": t} for t in (0.1, 0.2)]
    assert "required twice" in problems(policy(privacy=twice))["privacy[1]"]


def test_a_quasi_identifier_is_needed() -> None:
    columns = {"job": {"role": "sensitive"}}
    assert "no column has the role" in problems(policy(columns=columns))["columns"]
    assert "no column has the role" in problems(policy(columns={}))["columns"]


def test_ordered_distance_needs_an_order() -> None:
    data = with_column("x", role="sensitive", type="categorical")
    data["privacy"] = [{"model": "t_closeness", "column": "x", "t": 0.1, "distance": "ordered"}]
    assert "is categorical" in problems(data)["privacy[0].distance"]
    data["columns"]["x"] = {"role": "sensitive", "type": "ordinal"}
    policy_from(data)


def test_hierarchical_distance_and_hierarchy_need_each_other() -> None:
    close = {"model": "t_closeness", "column": "x", "t": 0.1, "distance": "hierarchical"}
    data = with_column("x", role="sensitive")
    data["privacy"] = [close]
    assert "needs a hierarchy" in problems(data)["privacy[0].distance"]
    tree = {"inline": {"*": {"a": ["b", "c"]}}}
    data["columns"]["x"]["hierarchy"] = tree
    policy_from(data)
    data["privacy"] = [{**close, "distance": "equal"}]
    assert "does nothing" in problems(data)["columns.x.hierarchy"]
    data["privacy"] = [close]
    for form in ({"intervals": [5]}, {"date": ["year"]}):
        data["columns"]["x"]["hierarchy"] = form
        assert "not for sensitive columns" in problems(data)["columns.x.hierarchy"]


@pytest.mark.parametrize(
    ("keys", "field", "part"),
    [
        ({"role": "sensitive", "hierarchy": {"prefix": [1]}}, "hierarchy", "does nothing"),
        ({"role": "insensitive", "hierarchy": {"prefix": [1]}}, "hierarchy", "is for quasi_ident"),
        ({"role": "sensitive", "weight": 2}, "weight", "is for quasi_identifying columns"),
        ({"role": "sensitive", "nulls": "suppress"}, "nulls", "as_value, conditional or reject"),
        ({"role": "sensitive", "type": "ordinal", "order": ["a"]}, "order", "not available"),
        ({"role": "sensitive", "nulls": "own_class"}, "nulls", "as_value, conditional or reject"),
        ({"role": "insensitive", "nulls": "reject"}, "nulls", "is for quasi_identifying, "),
        ({"role": "identifying", "type": "numeric"}, "type", "is for quasi_identifying, "),
        ({"role": "identifying", "as": "y"}, "as", "never published"),
        ({"role": "quasi_identifying", "order": ["a"]}, "order", "needs type: ordinal"),
        (
            {"role": "quasi_identifying", "type": "numeric", "order": ["a"]},
            "order",
            "needs type: ordinal",
        ),
        ({"role": "quasi_identifying", "weight": 0}, "weight", "greater than 0"),
        ({"role": "quasi_identifying", "weight": True}, "weight", "not true"),
        ({"role": "quasi_identifying", "weight": float("nan")}, "weight", "finite"),
        ({"role": "quasi_identifying", "type": "text"}, "type", "is not a column type"),
        ({"role": "quasi_identifying", "as": "x" * 64}, "as", "64 bytes"),
        ({"role": "quasi_identifying", "as": ""}, "as", "empty"),
        ({}, "role", "is missing"),
        ("sensitive", "", "must be a mapping"),
    ],
)
def test_columns(keys: Any, field: str, part: str) -> None:
    data = policy()
    data["columns"]["x"] = keys
    assert part in problems(data)[f"columns.x.{field}".rstrip(".")]


@pytest.mark.parametrize("nulls", ["as_value", "own_class", "suppress", "reject"])
def test_nulls_of_quasi_identifiers(nulls: str) -> None:
    found = policy_from(with_column(role="quasi_identifying", nulls=nulls))
    assert found.columns["x"].nulls == nulls


def test_ordinal_without_order_is_the_natural_one() -> None:
    assert policy_from(with_column(role="quasi_identifying", type="ordinal"))


def test_individual() -> None:
    assert policy_from(policy(individual="person")).individual_key == ("person",)
    assert "is not declared" in problems(policy(individual="persn"))["individual"]
    assert "has the role sensitive" in problems(policy(individual="job"))["individual"]
    data = with_column(role="individual")
    assert policy_from(data).individual_key == ("x",)
    data["individual"] = "person"
    assert "has the role individual" in problems(data)["individual"]
    data["individual"] = "x"
    data["columns"]["z"] = {"role": "individual"}
    assert "only one column" in problems(data)["columns.z.role"]


def test_individuals_that_several_columns_tell_apart() -> None:
    data = policy(individual=["person", "x"])
    data["columns"]["x"] = {"role": "identifying"}
    found = policy_from(data)
    assert found.individual_key == ("person", "x")
    assert policy_from(found.document()) == found
    one = policy_from({**data, "individual": ["person"]})
    assert policy_hash(one) == policy_hash(policy_from({**data, "individual": "person"}))
    for wrong, part in (
        (["person", "person"], "stands in the list twice"),
        ([], "must be the name of a column"),
        (["person", 5], "must be the name of a column"),
        ({"a": "person"}, "must be the name of a column"),
    ):
        (message,) = problems({**data, "individual": wrong}).values()
        assert part in message
    assert problems({**data, "individual": ["person", "job"]}).keys() == {"individual[1]"}
    assert problems({**data, "individual": ["nobody", "x"]}).keys() == {"individual[0]"}
    # Of two columns each of which is said to tell people apart, one alone may do so.
    for name in ("person", "x"):
        data["columns"][name] = {"role": "individual"}
    assert policy_from(data).individual_key == ("person", "x")
    del data["individual"]
    assert "only one column" in problems(data)["columns.x.role"]
    with pytest.raises(PolicyError, match=r"write individual: \[person, x\]"):
        policy_from(data)


@pytest.mark.parametrize(
    "schema", ["pganon", "pganon_data", "pg_catalog", "pg_temp_1", "information_schema", ""]
)
def test_schemas_that_are_not_for_views(schema: str) -> None:
    assert "publish.schema" in problems(policy(publish={"schema": schema}))


def test_readers() -> None:
    assert "twice" in problems(policy(publish={"readers": ["a", "a"]}))["publish.readers[1]"]
    assert "must be a list" in problems(policy(publish={"readers": "a"}))["publish.readers"]
    assert policy_from(policy(publish={"readers": ["A b", "c"]})).publish.readers == ("A b", "c")


def test_trust() -> None:
    assert policy_from(policy()).trust == ()
    assert policy_from(policy(trust=["app", "App"])).trust == ("app", "App")
    assert "twice" in problems(policy(trust=["app", "app"]))["trust[1]"]


def test_everybody_is_no_role() -> None:
    said = "public is everybody, and no role"
    assert said in problems(policy(trust=["app", "public"]))["trust[1]"]
    approval = {"approval": {"by": ["public"]}}
    assert said in problems(policy(publish=approval))["publish.approval.by[0]"]
    assert policy_from(policy(publish={"readers": ["public"]})).publish.readers == ("public",)


@pytest.mark.parametrize("name", ["", "x" * 64, "é" * 32, "a\nb", "a\x00b"])
def test_release_names(name: str) -> None:
    assert "release" in problems(policy(release=name))


@pytest.mark.parametrize("source", ["", "a.b.c", "a b", '"a', "a;b"])
def test_sources(source: str) -> None:
    assert "source" in problems(policy(source=source))


def test_hash() -> None:
    base = policy_from(policy())
    written_out = policy_from(
        policy(suppression_limit=0, publish={"keep": 3}, on_infeasible="refuse")
    )
    assert policy_hash(base) == policy_hash(written_out)
    assert len(policy_hash(base)) == 64
    for changed in (
        policy(suppression_limit=0.1),
        policy(privacy=[{"model": "k_anonymity", "k": 6}]),
        policy(columns=dict(reversed(policy()["columns"].items()))),
    ):
        assert policy_hash(policy_from(changed)) != policy_hash(base)


def test_document_makes_the_same_policy() -> None:
    data = with_column(role="quasi_identifying", hierarchy={"inline": {"*": {"a": ["x", 1]}}})
    data["columns"]["x"]["as"] = "y"
    data["publish"] = {"schema": "open", "readers": ["r"]}
    found = policy_from(data)
    assert policy_from(found.document()) == found
    assert policy_from(found.model_dump(by_alias=True)) == found
    assert policy_hash(policy_from(found.document())) == policy_hash(found)


GOOD = {
    "csv": {"csv": "a.csv", "sep": ";", "header": True},
    "table": {"table": "public.t"},
    "inline": {"inline": {"*": {"a": ["x"]}}},
    "function": {"function": 'public."F"'},
    "intervals": {"intervals": [0.5, 1, 10], "origin": -3},
    "date": {"date": ["day", "month", "year"]},
    "prefix": {"prefix": [4, 2]},
    "order": {"order": {"values": ["a", "b", 3], "fanout": [2]}},
    "age": {"age": [5, 10], "top": 80},
    "codes": {"codes": "icd10", "other": True},
    "postcode": {"postcode": "us"},
    "country": {"country": "m49"},
}


def test_every_form_of_hierarchy() -> None:
    assert GOOD.keys() == FORMS.keys()
    for form, declared in GOOD.items():
        found = policy_from(with_column(role="quasi_identifying", hierarchy=declared))
        assert type(found.columns["x"].hierarchy) is FORMS[form]


@pytest.mark.parametrize(
    ("hierarchy", "field", "part"),
    [
        ({"intervals": [5, 7]}, ".intervals[1]", "larger multiple of the width before it, 5"),
        ({"intervals": [5, 5]}, ".intervals[1]", "larger multiple"),
        ({"intervals": [0]}, ".intervals[0]", "greater than 0"),
        ({"intervals": [-5]}, ".intervals[0]", "greater than 0"),
        ({"intervals": ["5"]}, ".intervals[0]", "must be a number"),
        ({"intervals": []}, ".intervals", "must not be empty"),
        ({"intervals": 5}, ".intervals", "must be a list, not 5"),
        ({"intervals": [5], "origin": True}, ".origin", "must be a number"),
        ({"date": ["year", "month"]}, ".date[1]", "month is not coarser than year"),
        ({"date": ["week", "month"]}, ".date[1]", "weeks do not lie inside a month"),
        ({"date": ["minute"]}, ".date[0]", "is not a calendar unit"),
        ({"prefix": [2, 3]}, ".prefix[1]", "3 is not shorter than 2"),
        ({"prefix": [0]}, ".prefix[0]", "at least 1"),
        ({"date": ["5 years", "century"]}, ".date[1]", "does not lie inside one century"),
        ({"date": ["5 years", "year"]}, ".date[1]", "year is not coarser than 5 years"),
        ({"age": [5, 7]}, ".age[1]", "larger multiple of the width before it, 5"),
        ({"age": [20]}, ".top", "the interval of width 20 around 90 would be on both sides"),
        ({"age": [5], "top": 125}, ".top", "at most 120"),
        ({"codes": "icd"}, ".codes", '"icd" is not a classification'),
        ({"postcode": "gb"}, ".postcode", "is not a country with postcodes"),
        ({"country": "iso"}, ".country", "is not a list of regions"),
        ({"codes": "icd10", "postcode": "us"}, ".postcode", "one form, not both"),
        ({"order": {"values": ["a", "a"], "fanout": [2]}}, ".order.values[1]", "twice"),
        ({"order": {"values": ["a"], "fanout": [1]}}, ".order.fanout[0]", "at least 2"),
        ({"order": ["a"]}, ".order", "must be a mapping"),
        ({"csv": "a", "table": "b"}, ".table", "one form, not both csv and table"),
        ({"csv": ""}, ".csv", "must not be empty"),
        ({"csv": "a", "sep": ";;"}, ".sep", "longer than 1"),
        ({"table": "a.b.c"}, ".table", "3 parts"),
        ({"function": "f(x)"}, ".function", "is not a name"),
        ({"tablee": "a"}, ".tablee", "is not a form of hierarchy"),
        ({}, "", "the hierarchy is empty"),
        ([1], "", "must be a mapping"),
        ({"inline": {"a": ["x"], "b": ["y"]}}, ".inline", "more than one top"),
        ({"inline": {"*": {"a": ["x"], "b": ["x"]}}}, ".inline", 'the value "x" occurs twice'),
        ({"inline": [["x", "a", "*"], ["y", "a", "b"]]}, ".inline", "more than one top"),
        (
            {"inline": [["x", "a", "b", "*"], ["y", "a", "c", "*"]]},
            ".inline",
            'the label "a" of level 1 has two parents',
        ),
        ({"inline": {"*": {"a": 3}}}, '.inline."*".a', "mapping or a list"),
        ({"inline": {"*": [1.5]}}, ".inline", "text or a whole number, not 1.5"),
        ({"inline": {"*": [None]}}, ".inline", "not nothing"),
        ({"inline": {"*": []}}, '.inline."*"', "without values"),
        ({"inline": []}, ".inline", "has no values"),
        ({"inline": "x"}, ".inline", "must be a nested mapping"),
    ],
)
def test_hierarchies_that_are_wrong(hierarchy: Any, field: str, part: str) -> None:
    found = problems(with_column(role="quasi_identifying", hierarchy=hierarchy))
    assert part in found[f"columns.x.hierarchy{field}"]


def test_fractions_of_widths_are_exact() -> None:
    declared = {"intervals": [0.1, 0.3, 1.2]}
    found = policy_from(with_column(role="quasi_identifying", hierarchy=declared))
    hierarchy = found.columns["x"].hierarchy
    assert isinstance(hierarchy, IntervalHierarchy)
    assert hierarchy.intervals == (0.1, 0.3, 1.2)


def test_short_branches_repeat_the_value() -> None:
    declared = {"inline": {"*": {"office": {"desk": ["clerk"]}, "none": ["idle"]}}}
    found = policy_from(with_column(role="quasi_identifying", hierarchy=declared))
    hierarchy = found.columns["x"].hierarchy
    assert isinstance(hierarchy, InlineHierarchy)
    assert hierarchy.rows == (
        ("clerk", "desk", "office", "*"),
        ("idle", "idle", "none", "*"),
    )


def test_places_are_those_of_the_file_whatever_a_value_may_be() -> None:
    found = problems(with_column(role="insensitive", shown={"groups": 1}))
    assert found == {"columns.x.shown.groups": "must be at least 2, not 1"}


def test_a_column_with_a_hostile_name_is_in_the_place() -> None:
    levels = {"role": "quasi_identifying", "levels": [1]}
    found = problems(policy(columns={"[key]": levels}))
    assert [field for field in found if "levels" in field] == ['columns."[key]".levels[1]']
