"""How the columns of a policy are divided among tables, and what leaves nothing apart."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import load_policy, policy_from
from tests.unit.policy.examples import slamsa_policy, slicing_policy
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems


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
    data["columns"]["cancer"]["role"] = "secret"
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
