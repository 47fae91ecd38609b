"""Methods that divide exact columns among tables: options, columns and names."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import known, policy_from
from pganon.methods.buckets.msb.options import Msb
from pganon.methods.buckets.slamsa.options import Slamsa
from pganon.methods.buckets.slicing.options import Slicing
from pganon.policy.model import policy_hash
from pganon.policy.policy_class import policy_schema
from tests.unit.policy.examples import (
    anatomy_policy,
    columns_of,
    msb_policy,
    slamsa_policy,
    slicing_policy,
)
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems

POLICIES = {"slamsa": slamsa_policy, "slicing": slicing_policy, "msb": msb_policy}


def with_options(name: str, **options: Any) -> dict[str, Any]:
    return slamsa_policy(options) if name == "slamsa" else POLICIES[name](**options)


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
        division="eligible",
        optimizer="auto",
        norm=2.0,
    )
    assert policy_from(slicing_policy()).method == Slicing(
        name="slicing", columns=2, alpha=None, association="msc", clustering="pam"
    )
    assert policy_from(msb_policy()).method == Msb(name="msb", priority="mmdcf", block_size=50_000)


@pytest.mark.parametrize("name", POLICIES)
def test_document_makes_the_same_policy(name: str) -> None:
    found = policy_from(POLICIES[name]())
    assert policy_from(found.document()) == found
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
        ("slamsa", {"link_threshold": 0, "norm": 1}),
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
    assert policy_from(found.document()) == found


@pytest.mark.parametrize(
    ("name", "key", "value", "part"),
    [
        ("slamsa", "profile", "independents", "is not a profile of slamsa"),
        ("slamsa", "profile", None, "nothing (null) is not a profile"),
        ("slamsa", "association", "kendall", "is not a measure of association"),
        ("slamsa", "clustering", "pma", "is not a way to cluster columns"),
        ("slamsa", "optimizer", 5, "5 is not an optimizer of slamsa"),
        ("slamsa", "division", "publik", "is not a rule of division"),
        ("slamsa", "quasi_tables", None, "must be a number of tables, auto or"),
        ("slamsa", "link_threshold", 1.1, "at most 1"),
        ("slamsa", "link_threshold", -0.1, "at least 0"),
        ("slamsa", "link_threshold", "0.1", 'a number, not "0.1"'),
        ("slamsa", "block_size", 1, "at least 2"),
        ("slamsa", "block_size", 500.0, "whole number"),
        ("slamsa", "block_size", True, "whole number, not true"),
        ("slamsa", "norm", 0.5, "at least 1"),
        ("slamsa", "norm", float("nan"), "finite"),
        ("slamsa", "alpha", 2, "not a key"),
        ("slicing", "alpha", 0, "at least 1"),
        ("slicing", "alpha", "all", "whole number"),
        ("slicing", "columns", 0, "at least 1"),
        ("slicing", "columns", 1001, "at most 1000"),
        ("slicing", "sensitive_tables", 2, "not a key"),
        ("slicing", "block_size", 10, "not a key"),
        ("msb", "priority", "mbdf", "is not a priority"),
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
        ("slamsa", "profile", "independents", 'did you mean "independent"?'),
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
    assert set(method.part_names(columns_of(4, 3))) >= set(parts)
    assert len(set(method.part_names(columns_of(4, 3)))) == len(method.part_names(columns_of(4, 3)))


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
    assert set(method.added_columns(columns_of(4, 3))) == own | added


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
    schema = policy_schema(known())["$defs"]
    tables = schema["Slicing"]["properties"]["columns"]["oneOf"]
    assert [form.get("type") for form in tables] == ["integer", "string", "array"]
    assert schema["Slamsa"]["properties"]["profile"]["enum"] == ["aligned", "independent"]
    assert set(schema["SlicingLDiversity"]["properties"]) == {
        *("model", "column", "l", "level", "min_size")
    }
    assert schema["SlicingLDiversity"]["required"] == ["model", "l"]
