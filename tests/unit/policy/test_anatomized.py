"""Methods that divide exact columns among tables: options, divisions, levels and names."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.policy.anatomized import Msb, Slamsa, Slicing
from pganon.policy.loader import load_policy, policy_from
from pganon.policy.model import Policy, SlicingLDiversity, policy_hash
from pganon.policy.schema import policy_schema
from tests.unit.policy.examples import (
    anatomy_policy,
    msb_policy,
    policy,
    slamsa_policy,
    slicing_policy,
)
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems

MODEL = {"model": "slicing_l_diversity", "l": 3}
POLICIES = {"slamsa": slamsa_policy, "slicing": slicing_policy, "msb": msb_policy}


def with_options(name: str, **options: Any) -> dict[str, Any]:
    return slamsa_policy(options) if name == "slamsa" else POLICIES[name](**options)


def with_model(**keys: Any) -> dict[str, Any]:
    return slamsa_policy(privacy=[{**MODEL, **keys}])


# -- options ----------------------------------------------------------------------------------


def test_defaults() -> None:
    assert policy_from(slamsa_policy()).method == Slamsa(
        name="slamsa",
        profile="aligned",
        sensitive_tables=None,
        quasi_tables=1,
        association="contingency",
        clustering="aca+pam",
        link_threshold=0.1,
        block_size=500,
        optimizer="firefly",
        fireflies=12,
        generations=20,
        patience=5,
        attraction=1.0,
        absorption=1.0,
        step=0.25,
        cooling=0.95,
        norm=2.0,
    )
    assert policy_from(slicing_policy()).method == Slicing(
        name="slicing", columns=2, alpha=None, association="msc", clustering="pam"
    )
    assert policy_from(msb_policy()).method == Msb(name="msb", priority="mmdcf", block_size=50_000)


@pytest.mark.parametrize("name", POLICIES)
def test_document_makes_the_same_policy(name: str) -> None:
    found = policy_from(POLICIES[name]())
    assert Policy.model_validate(found.document()) == found
    written_out = POLICIES[name]()
    written_out["method"] = found.method.model_dump(by_alias=True)
    assert policy_hash(policy_from(written_out)) == policy_hash(found)


@pytest.mark.parametrize("count", range(1, 8))
def test_two_sensitive_columns_to_a_table_by_default(count: int) -> None:
    assert Slamsa(name="slamsa").tables(count) == -(-count // 2)
    assert Slamsa(name="slamsa", sensitive_tables="auto").tables(count) == "auto"


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("slamsa", {"sensitive_tables": 1}),
        ("slamsa", {"sensitive_tables": "auto", "quasi_tables": "auto"}),
        ("slamsa", {"sensitive_tables": [["symptom"], ["cancer", "treatment"]]}),
        ("slamsa", {"quasi_tables": [["born", "age"], ["sex"]], "profile": "independent"}),
        ("slamsa", {"sensitive_tables": 3, "quasi_tables": 3}),
        ("slamsa", {"link_threshold": 0, "step": 0, "cooling": 1, "norm": 1, "absorption": 0}),
        ("slamsa", {"optimizer": "base", "association": "pearson", "clustering": "aca"}),
        ("slicing", {"columns": 4}),
        ("slicing", {"columns": "auto"}),
        ("slicing", {"columns": "auto", "alpha": 3}),
        ("slicing", {"columns": 3, "alpha": 2}),
        ("slicing", {"columns": 2, "alpha": 1}),
        ("slicing", {"columns": [["cancer", "sex"], ["age"], ["born"]]}),
        ("msb", {"priority": "mbf", "block_size": 2}),
    ],
)
def test_options(name: str, options: dict[str, Any]) -> None:
    found = policy_from(with_options(name, **options))
    assert Policy.model_validate(found.document()) == found


@pytest.mark.parametrize(
    ("name", "key", "value", "part"),
    [
        ("slamsa", "profile", "independant", "is not a profile of slamsa"),
        ("slamsa", "profile", None, "nothing (null) is not a profile"),
        ("slamsa", "association", "kendall", "is not a measure of association"),
        ("slamsa", "clustering", "pma", "is not a way to cluster columns"),
        ("slamsa", "optimizer", 5, "5 is not an optimizer of slamsa"),
        ("slamsa", "quasi_tables", None, "must be a number of tables, auto or"),
        ("slamsa", "link_threshold", 1.1, "at most 1"),
        ("slamsa", "link_threshold", -0.1, "at least 0"),
        ("slamsa", "link_threshold", "0.1", 'a number, not "0.1"'),
        ("slamsa", "block_size", 1, "at least 2"),
        ("slamsa", "block_size", 500.0, "whole number"),
        ("slamsa", "fireflies", 0, "at least 1"),
        ("slamsa", "fireflies", 1001, "at most 1000"),
        ("slamsa", "generations", 0, "at least 1"),
        ("slamsa", "generations", True, "whole number, not true"),
        ("slamsa", "patience", 0, "at least 1"),
        ("slamsa", "attraction", -1, "at least 0"),
        ("slamsa", "absorption", float("inf"), "finite"),
        ("slamsa", "step", 1.5, "at most 1"),
        ("slamsa", "cooling", 0, "greater than 0"),
        ("slamsa", "norm", 0.5, "at least 1"),
        ("slamsa", "norm", float("nan"), "finite"),
        ("slamsa", "alpha", 2, "not a key"),
        ("slicing", "alpha", 0, "at least 1"),
        ("slicing", "alpha", "all", "whole number"),
        ("slicing", "columns", 0, "at least 1"),
        ("slicing", "columns", 1001, "at most 1000"),
        ("slicing", "sensitive_tables", 2, "not a key"),
        ("slicing", "block_size", 10, "not a key"),
        ("msb", "priority", "mbdf", "is not a priority of msb"),
        ("msb", "block_size", 2**31, "at most"),
    ],
)
def test_options_that_are_wrong(name: str, key: str, value: object, part: str) -> None:
    found = problems(with_options(name, **{key: value}))
    assert found.keys() == {f"method.{key}"}
    assert part in found[f"method.{key}"]


@pytest.mark.parametrize(
    ("name", "key", "value", "suggestion"),
    [
        ("slamsa", "profile", "independant", 'did you mean "independent"?'),
        ("slamsa", "clustering", "aca pam", 'did you mean "aca+pam"?'),
        ("slamsa", "optimiser", "base", 'did you mean "optimizer"?'),
        ("slamsa", "sensitive_tables", "Auto", 'did you mean "auto"?'),
        ("slamsa", "sensitive_tables", "2", "write 2 without quotes"),
        ("slamsa", "sensitive_tables", True, "for example 2, or [[cancer, treatment], [symptom]]"),
        ("slamsa", "sensitive_tables", ["cancer"], "write [cancer]"),
        ("slicing", "association", "mcs", 'did you mean "msc"?'),
        ("slicing", "column", 2, 'did you mean "columns"?'),
        ("msb", "priority", "mmdfc", 'did you mean "mmdcf"?'),
    ],
)
def test_suggestions(name: str, key: str, value: object, suggestion: str) -> None:
    found = suggestions(with_options(name, **{key: value}))
    assert list(found.values()) == [suggestion]


# -- how columns are divided ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tables", "found"),
    [
        ("foo", {"": 'a list of lists of columns, not "foo"'}),
        (2.5, {"": "not 2.5"}),
        ({"a": 1}, {"": "not a mapping"}),
        (0, {"": "at least 1"}),
        ([], {"": "must not be empty"}),
        ([["cancer", "treatment", "symptom"], []], {"[1]": "must not be empty"}),
        ([["cancer"], 3], {"[1]": "must be a list, not 3"}),
        ([["cancer"], [3, "symptom"]], {"[1][0]": "must be a text, not 3"}),
        ([["cancer", "cancer"]], {"[0][1]": '"cancer" stands in the list twice'}),
        ([["cancer", "[a]"], ["[a]", "[a]"]], {"[1][1]": "twice"}),
        (4, {"": "3 columns cannot be divided into 4"}),
        (1000, {"": "3 columns cannot be divided into 1000"}),
        ([["cancer", "treatment"]], {"": 'column "symptom" is in no list'}),
        ([["cancer", "treatment"], ["symptom", "cancer"]], {"": '"cancer" is listed twice'}),
        ([["cancer", "treatment"], ["symptom", "age"]], {"": '"age" is not one of the columns'}),
    ],
)  # fmt: skip
def test_tables_that_are_wrong(tables: object, found: dict[str, str]) -> None:
    """One problem each, at the place in the file, whatever forms there are."""
    with pytest.raises(PolicyError) as caught:
        policy_from(slamsa_policy({"sensitive_tables": tables}))
    said = {str(p.field): p.message for p in caught.value.problems}
    assert len(caught.value.problems) == len(found)
    for place, part in found.items():
        assert part in said[f"method.sensitive_tables{place}"]


def test_columns_that_are_not_there_are_answered_with_the_nearest() -> None:
    tables = [["cancr", "treatment"], ["symptom"]]
    with pytest.raises(PolicyError) as caught:
        policy_from(slamsa_policy({"sensitive_tables": tables}))
    assert {(p.message, p.suggestion) for p in caught.value.problems} == {
        ('"cancr" is not one of the columns', 'did you mean "cancer"?'),
        ('column "cancer" is in no list', "add it to one"),
    }
    assert suggestions(slamsa_policy({"quasi_tables": 4})) == {
        "method.quasi_tables": "write a number up to 3"
    }


def test_places_in_a_file() -> None:
    text = """\
release: registry
source: public.registry
columns:
  age: {role: quasi_identifying}
  cancer: {role: sensitive}
  symptom: {role: sensitive}
privacy:
  - {model: slicing_l_diversity, l: 3}
method:
  name: slamsa
  norm: 0
  sensitive_tables:
    - [cancer]
    - 3
  quasi_tables: [[age,
    age]]
"""
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    assert [(p.line, p.field) for p in caught.value.problems] == [
        (11, "method.norm"),
        (14, "method.sensitive_tables[1]"),
        (16, "method.quasi_tables[0][1]"),
    ]


def test_nothing_is_concluded_from_a_wrong_column() -> None:
    data = slamsa_policy({"sensitive_tables": 4})
    data["columns"]["cancer"]["role"] = "sensitiv"
    assert problems(data).keys() == {"columns.cancer.role"}


@pytest.mark.parametrize(
    ("options", "key", "message", "suggestion"),
    [
        ({"columns": 1}, "columns", "one table would hold all", "write columns: 2"),
        ({"columns": 1, "alpha": 9}, "columns", "one table would hold all", "write columns: 2"),
        ({"columns": [["cancer", "age", "sex", "born"]]}, "columns", "one table would hold all",
         "write columns: 2"),
        ({"columns": 5}, "columns", "4 columns cannot be divided into 5", "write a number up to 4"),
        ({"alpha": 5}, "alpha", "of 5 columns leaves 0 of 3 quasi-identifiers for 1 other table",
         "write a number up to 3"),
        ({"alpha": 4}, "alpha", "of 4 columns leaves 0 of 3", "write a number up to 3"),
        ({"alpha": 4, "columns": "auto"}, "alpha", "leaves 0 of 3", "write a number up to 3"),
        ({"alpha": 3, "columns": 3}, "alpha", "leaves 1 of 3 quasi-identifiers for 2 other tables",
         "write a number up to 2"),
        ({"alpha": 2, "columns": [["cancer", "age"], ["sex", "born"]]}, "alpha", "already say",
         "remove alpha"),
    ],
)  # fmt: skip
def test_slicing_leaves_something_apart(
    options: dict[str, Any], key: str, message: str, suggestion: str
) -> None:
    data = slicing_policy(**options)
    found = problems(data)
    assert found.keys() == {f"method.{key}"}
    assert message in found[f"method.{key}"]
    assert suggestions(data)[f"method.{key}"] == suggestion


def test_slicing_of_one_quasi_identifier() -> None:
    data = slicing_policy(columns="auto")
    del data["columns"]["sex"], data["columns"]["born"]
    assert "one table would hold" in problems(data)["method.columns"]
    for method in ({"columns": "auto", "alpha": 1}, {"columns": 2}):
        data["method"] = {"name": "slicing", **method}
        policy_from(data)
    data["method"] = {"name": "slicing", "columns": 3, "alpha": 1}
    assert suggestions(data) == {
        "method.columns": "write a number up to 2",
        "method.alpha": "write fewer columns",
    }


# -- the model --------------------------------------------------------------------------------


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
        ({"level": "tupel"}, "level", "is not a level of slicing_l_diversity"),
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
        (with_model(level="unique"), "use level: attribute or tuple, or the method msb"),
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
        "use k_anonymity, alpha_k_anonymity, distinct_l_diversity, entropy_l_diversity,"
        " recursive_cl_diversity, t_closeness, beta_likeness or delta_disclosure, or the method"
        " slicing, slamsa or msb"
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


# -- columns ----------------------------------------------------------------------------------


def test_how_many_sensitive_columns() -> None:
    two = slicing_policy()
    two["columns"]["treatment"] = {"role": "sensitive"}
    assert problems(two).keys() == {"columns.treatment.role"}
    for name in POLICIES:
        data = POLICIES[name]()
        for column in ("cancer", "treatment", "symptom"):
            data["columns"].pop(column, None)
        assert problems(data) == {"columns": "no column has the role sensitive"}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("key", "value"), [("weight", 2), ("nulls", "own_class")])
def test_keys_that_say_nothing_of_exact_values(name: str, key: str, value: object) -> None:
    data = POLICIES[name]()
    data["columns"]["age"][key] = value
    assert problems(data).keys() == {f"columns.age.{key}"}


# -- names ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "parts"),
    [
        (Slamsa(name="slamsa"), ("qit", "st1", "st2")),
        (Slamsa(name="slamsa", sensitive_tables=1), ("qit", "st")),
        (Slamsa(name="slamsa", sensitive_tables="auto"), ("qit", "st", "st1", "st2")),
        (Slamsa(name="slamsa", sensitive_tables=(("a",), ("b",), ("c",))),
         ("qit", "st1", "st2", "st3")),
        (Slamsa(name="slamsa", quasi_tables=2), ("qit1", "qit2", "st1", "st2")),
        (Slamsa(name="slamsa", quasi_tables="auto"),
         ("qit", "qit1", "qit2", "qit3", "st1", "st2")),
        (Slicing(name="slicing"), ("qit", "st")),
        (Slicing(name="slicing", columns=3), ("qit", "qit1", "qit2", "st")),
        (Slicing(name="slicing", columns=(("a", "b", "s"), ("c",))), ("qit", "st")),
        (Msb(name="msb"), ("qit", "st")),
    ],
)  # fmt: skip
def test_parts(method: Slamsa | Slicing | Msb, parts: tuple[str, ...]) -> None:
    """Of four quasi-identifiers and three sensitive columns."""
    assert set(method.part_names(4, 3)) >= set(parts)
    assert len(set(method.part_names(4, 3))) == len(method.part_names(4, 3))


@pytest.mark.parametrize(
    ("options", "added"),
    [
        ({}, set()),
        ({"profile": "independent"}, {"st1_group_id", "st2_group_id"}),
        ({"profile": "independent", "sensitive_tables": 1}, {"st_group_id"}),
        ({"profile": "independent", "sensitive_tables": "auto"},
         {"st_group_id", "st1_group_id", "st2_group_id"}),
    ],
)  # fmt: skip
def test_added_columns(options: dict[str, Any], added: set[str]) -> None:
    method = Slamsa(name="slamsa", **options)
    own = {"group_id", "count", "probability", "expected"}
    assert set(method.added_columns(3)) == own | added


@pytest.mark.parametrize(
    ("name", "options", "part"),
    [
        ("slamsa", {}, "qit"),
        ("slamsa", {"quasi_tables": 2}, "qit1"),
        ("slicing", {"columns": 3}, "qit1"),
        ("slicing", {}, "qit"),
        ("msb", {}, "qit"),
    ],
)
def test_names_of_parts_fit(name: str, options: dict[str, Any], part: str) -> None:
    """One problem, of the longest name."""
    longest = 62 - len(part)
    data = with_options(name, **options)
    policy_from({**data, "release": "x" * longest})
    with pytest.raises(PolicyError) as caught:
        policy_from({**data, "release": "x" * (longest + 1)})
    (problem,) = caught.value.problems
    assert problem.field == "release"
    assert problem.message == (
        f'the name of its view "..._{part}" has 64 bytes, PostgreSQL allows 63'
    )
    assert problem.suggestion == f"choose a name of at most {longest} bytes"


def test_a_long_name_of_two_tables_is_one_problem() -> None:
    with pytest.raises(PolicyError) as caught:
        policy_from(anatomy_policy(release="x" * 61))
    assert len(caught.value.problems) == 1


# -- schema -----------------------------------------------------------------------------------


def test_the_schema_has_every_form() -> None:
    schema = policy_schema()["$defs"]
    tables = schema["Slicing"]["properties"]["columns"]["oneOf"]
    assert [form.get("type") for form in tables] == ["integer", "string", "array"]
    assert schema["Slamsa"]["properties"]["profile"]["enum"] == ["aligned", "independent"]
    assert set(schema["SlicingLDiversity"]["properties"]) == {
        *("model", "column", "l", "level", "min_size")
    }
    assert schema["SlicingLDiversity"]["required"] == ["model", "l"]
