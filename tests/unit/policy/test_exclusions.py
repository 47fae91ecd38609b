"""Exclusion rules as a policy declares them: forms, columns, places, and how many there can be."""

from __future__ import annotations

import datetime
import json
from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import known, load_policy, policy_from
from pganon.policy.exclusions import Between, Exclusion
from pganon.policy.model import policy_hash
from pganon.policy.policy_class import policy_schema
from tests.unit.policy.examples import (
    anatomy_policy,
    msb_policy,
    policy,
    slamsa_policy,
    slicing_policy,
    with_rules,
)
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems

NEVER = {"cancer": "Prostate"}


def rule(when: object = None, never: object = None) -> dict[str, Any]:
    return {
        "when": {"sex": "F"} if when is None else when,
        "never": NEVER if never is None else never,
    }


def only(data: dict[str, Any]) -> Exclusion:
    (exclusion,) = policy_from(data).exclusions
    return exclusion


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("F", ("F",)),
        (["F", "x"], ("F", "x")),
        (5, ("5",)),
        (-1.5, ("-1.5",)),
        (True, ("true",)),
        ([False, 0], ("false", "0")),
        (datetime.date(2020, 1, 31), ("2020-01-31",)),
        ("", ("",)),
        ({"min": 3}, Between(min="3")),
        ({"max": "2020-01-31"}, Between(max="2020-01-31")),
        ({"min": 0, "max": 17.5}, Between(min="0", max="17.5")),
        ({"min": 3, "max": None}, Between(min="3")),
    ],
)
def test_conditions(written: object, read: object) -> None:
    assert only(with_rules(rule(when={"age": written}))).when == {"age": read}


@pytest.mark.parametrize(
    ("written", "read"), [("a", ("a",)), (["a", 2], ("a", "2")), (True, ("true",))]
)
def test_excluded_values(written: object, read: tuple[str, ...]) -> None:
    assert only(with_rules(rule(never={"cancer": written}))).never == {"cancer": read}


def test_forms_that_say_the_same() -> None:
    listed = policy_from(with_rules(rule({"sex": ["F"], "age": [5]}, {"cancer": ["Prostate"]})))
    scalar = policy_from(with_rules(rule({"sex": "F", "age": 5})))
    assert policy_hash(listed) == policy_hash(scalar)
    assert policy_from(scalar.document()) == scalar
    between = policy_from(with_rules(rule({"age": {"min": 3}})))
    assert policy_from(between.document()) == between
    assert policy_hash(between) != policy_hash(scalar)
    assert policy_hash(policy_from(with_rules())) == policy_hash(policy_from(slamsa_policy()))


def test_a_label_has_no_values() -> None:
    found = only(with_rules(rule({"sex": "F", "age": 5}, {"cancer": "a", "symptom": "b"})))
    assert found.label == "sex, age excludes cancer, symptom"


@pytest.mark.parametrize(
    ("exclusions", "field", "part"),
    [
        ({"when": {"sex": "F"}}, "", "must be a list, not a mapping"),
        ("sex", "", 'must be a list, not "sex"'),
        (["sex"], "[0]", "must be a mapping"),
        ([rule({})], "[0].when", "must not be empty"),
        ([rule(never={})], "[0].never", "must not be empty"),
        ([rule(5)], "[0].when", "must be a mapping, not 5"),
        ([rule(never=["cancer"])], "[0].never", "must be a mapping, not a list"),
        ([rule({"sex": []})], "[0].when.sex", "must not be empty"),
        ([rule({"sex": None})], "[0].when.sex", "not nothing (null)"),
        ([rule({"sex": ["F", None]})], "[0].when.sex[1]", "not nothing (null)"),
        ([rule({"sex": [["F"]]})], "[0].when.sex[0]", "not a list"),
        ([rule({"age": {}})], "[0].when.age", "needs min, max or both"),
        ([rule({"age": {"min": None}})], "[0].when.age", "needs min, max or both"),
        ([rule({"age": {"min": [1]}})], "[0].when.age.min", "not a list"),
        ([rule({"age": {"mn": 3}})], "[0].when.age.mn", "not a key"),
        ([rule(never={"cancer": []})], "[0].never.cancer", "must not be empty"),
        ([rule(never={"cancer": {"min": 3}})], "[0].never.cancer", "not a mapping"),
        ([rule(never={"cancer": [{"a": 1}]})], "[0].never.cancer[0]", "not a mapping"),
        ([rule(), {**rule(), "unless": 1}], "[1].unless", "not a key"),
    ],
)
def test_forms_that_are_wrong(exclusions: object, field: str, part: str) -> None:
    """One problem each: nothing of how a union is validated shows in it."""
    with pytest.raises(PolicyError) as caught:
        policy_from(slamsa_policy(exclusions=exclusions))
    (problem,) = caught.value.problems
    assert problem.field == f"exclusions{field}"
    assert part in problem.message


def test_columns_with_names_of_forms() -> None:
    """A column may be named like what a union calls its members."""
    names = ("range", "values", "Between", "int", "a[b]")
    data = with_rules(*[rule({name: {"min": [1]}}) for name in names])
    data["columns"] |= {name: {"role": "quasi_identifying"} for name in names}
    assert problems(data).keys() == {
        *(f"exclusions[{i}].when.{name}.min" for i, name in enumerate(names[:4])),
        'exclusions[4].when."a[b]".min',
    }


def test_keys_that_are_missing_or_not_known() -> None:
    assert suggestions(with_rules({"wen": {"sex": "F"}, "never": NEVER})) == {
        "exclusions[0].when": "for example when: {sex: F}",
        "exclusions[0].wen": 'did you mean "when"?',
    }
    assert suggestions(with_rules({"when": {"sex": "F"}})) == {
        "exclusions[0].never": "for example never: {cancer: Prostate}"
    }
    assert suggestions(with_rules(rule({"age": {"mx": 3}}))) == {
        "exclusions[0].when.age.mx": 'did you mean "max"?'
    }
    data = with_rules(rule())
    data["exclusion"] = data.pop("exclusions")
    assert suggestions(data) == {"exclusion": 'did you mean "exclusions"?'}


@pytest.mark.parametrize(
    ("when", "never", "field", "message", "suggestion"),
    [
        ({"sxe": "F"}, NEVER, "when.sxe", "is not declared under columns", 'did you mean "sex"?'),
        ({"sex": "F"}, {"cancr": "a"}, "never.cancr", "is not declared", 'did you mean "cancer"?'),
        ({"cancer": "a"}, {"symptom": "b"}, "when.cancer", "has the role sensitive", None),
        ({"clinic": "a"}, NEVER, "when.clinic", "has the role insensitive", None),
        ({"person": "a"}, NEVER, "when.person", "has the role identifying", None),
        ({"sex": "F"}, {"age": 5}, "never.age", "has the role quasi_identifying", None),
    ],
)
def test_columns_that_are_wrong(
    when: object, never: object, field: str, message: str, suggestion: str | None
) -> None:
    data = with_rules(rule(when, never))
    assert problems(data).keys() == {f"exclusions[0].{field}"}
    assert message in problems(data)[f"exclusions[0].{field}"]
    if suggestion:
        assert suggestions(data)[f"exclusions[0].{field}"] == suggestion


def test_nothing_is_concluded_from_a_wrong_column() -> None:
    data = with_rules(rule())
    data["columns"]["sex"] = {"role": "quasi_identifyng"}
    assert problems(data).keys() == {"columns.sex.role"}


@pytest.mark.parametrize("data", [policy(), anatomy_policy(), slicing_policy(), msb_policy()])
def test_methods_that_do_not_keep_rules(data: dict[str, Any]) -> None:
    columns = data["columns"]
    sensitive = next(name for name in columns if columns[name]["role"] == "sensitive")
    data["exclusions"] = [rule({"age": 5}, {sensitive: "a"})]
    name = data["method"]["name"]
    assert problems(data) == {"exclusions[0]": f"the method {name} does not keep exclusion rules"}
    assert suggestions(data)["exclusions[0]"] == "use the method slamsa, or remove it"


def test_places_in_a_file() -> None:
    text = """\
release: registry
source: public.registry
columns:
  age: {role: quasi_identifying}
  sex: {role: quasi_identifying}
  cancer: {role: sensitive}
privacy:
  - {model: slicing_l_diversity, l: 3}
method: {name: slamsa}
exclusions:
  - {when: {sex: F}, never: {cancer: Prostate}}
  - when:
      sex: [F,
        [M]]
      age: {max: 5,
        mn: 3}
    never:
      cancr: Lung
"""
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    assert [(p.line, p.field) for p in caught.value.problems] == [
        (14, "exclusions[1].when.sex[1]"),
        (16, "exclusions[1].when.age.mn"),
    ]
    with pytest.raises(PolicyError) as caught:
        load_policy(text.replace("[M]]", "M]").replace("mn:", "min:"))
    (problem,) = caught.value.problems
    assert (problem.line, problem.field) == (18, "exclusions[1].never.cancr")


def test_schema() -> None:
    schema = policy_schema(known())
    assert "exclusions" in schema["properties"]
    found = schema["$defs"]["Exclusion"]
    assert found["required"] == ["when", "never"]
    between, values = found["properties"]["when"]["additionalProperties"]["oneOf"]
    assert between == {"$ref": "#/$defs/Between"}
    assert values == found["properties"]["never"]["additionalProperties"]
    assert [form["type"] for form in values["anyOf"]] == [
        *("string", "integer", "number", "boolean", "array")
    ]
    json.dumps(schema)
