"""How the page names columns and values, and says of several columns what is the same of all."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.loading import policy_from
from pganon.privacy.requirements import warnings
from pganon.report.charts.lines import risk, risk_title
from pganon.report.document import document
from pganon.report.page import page, required
from tests.support.sources.pages import documents
from tests.support.sources.reports import EVIDENCE, MEASURES, POLICY, collected
from tests.unit.report.test_page import check_figures, shown

NAMES = ("age", "sex", "diagnosis", "days")
LISTED = re.compile(r"\b[Cc]olumns? (?:zz\w+(?:, | and | or )?)+")
TEXTS = {"summary", "comments", "text", "remains", "somebody", "sentence", "parts", "note"}
"""Keys of sentences; labels and cells of tables are no sentences."""


def texts(found: Any, key: str = "") -> list[str]:
    if isinstance(found, str):
        return [found] if key in TEXTS else []
    if isinstance(found, dict):
        return [text for name, one in found.items() for text in texts(one, name)]
    return [text for one in found for text in texts(one, key)] if isinstance(found, list) else []


@pytest.mark.parametrize("name", list(documents()))
def test_columns_are_named_as_columns(name: str):
    """Names of which nobody could guess that they are columns: `_ageg5yr`, `true`."""
    written = json.dumps(documents()[name], default=str)
    for column in NAMES:
        written = re.sub(rf"\b{column}\b", f"zz{column}", written)
    found = texts(json.loads(written))
    named = [text for text in found if "zz" in text]
    assert len(named) >= 5
    for text in named:
        assert "zz" not in LISTED.sub("", text), text


COLUMNS = ("diabetic", "asthma", "smoking")


def of_columns(most: float = 1.0, last: dict[str, Any] | None = None) -> dict[str, Any]:
    """A report about three sensitive columns without a requirement; `last` changes the last one."""
    roles = {**POLICY["columns"], **{name: {"role": "sensitive"} for name in COLUMNS}}
    policy = {
        **POLICY,
        "columns": {name: role for name, role in roles.items() if name != "diagnosis"},
        "privacy": [{"model": "k_anonymity", "k": 12}],
    }
    values = [{"value": "no", "share": 0.8, "highest": round(most, 6)}]
    values.append({"value": "yes", "share": 0.1, "highest": 0.6})
    sensitive: list[dict[str, Any]] = [
        {"column": name, "of": "all", "most": most, "mean": 0.81, "bins": [], "others": None}
        for name in COLUMNS
    ]
    for one in sensitive:
        one["values"] = values
    sensitive[-1] |= last or {}
    checks = [check for check in MEASURES["verified"] if check["column"] is None]
    found = replace(
        collected(policy, evidence={**EVIDENCE, "sensitive": sensitive}),
        measures={**MEASURES, "verified": checks},
        source_columns=list(roles),
    )
    return document(found)


def written(report: dict[str, Any]) -> list[str]:
    return [text.replace("\u00a0", " ") for text in report["comments"]]


def test_what_is_the_same_of_several_columns_is_said_once():
    report = of_columns()
    box = written(report)
    same = [text for text in box if "have the same value" in text]
    assert same == [
        "In at least one group all have the same value: “no” in the column diabetic, “no” in the"
        " column asthma, “no” in the column smoking. Whoever finds the group knows it without"
        " finding the record."
    ]
    (more,) = [text for text in box if "far more than the whole" in text]
    assert more.count("“yes” in the column") == 3
    assert more.endswith("No requirement limits this in the columns diabetic, asthma and smoking.")
    (bare,) = [text for text in box if "No requirement is about" in text]
    assert bare.startswith("No requirement is about the columns diabetic, asthma and smoking,")
    inferred = [one for one in report["questions"] if one["name"] == "inference"]
    assert [one["somebody"].split(" has ")[1] for one in inferred] == [
        "in the columns diabetic, asthma and smoking"
    ]
    assert inferred[0]["remains"].count("100\u00a0% of a group in the column") == 3
    assert report["summary"].count("all have the same value in the columns") == 1
    assert "In no group" not in report["summary"]
    assert shown(page(report)).count("Readers know the shares in the whole") == 1


def test_columns_of_which_not_the_same_is_true_are_apart():
    box = written(of_columns(0.9))
    (said,) = [text for text in box if "have the same value" in text]
    assert "over half" in said
    assert "“no” in the column asthma (90 %)" in said
    report = of_columns(0.62)
    summary = report["summary"].replace("\u00a0", " ")
    assert "In no group do more than 62 % have the same value in the columns diabetic," in summary
    both = of_columns(0.62, {"most": 0.7})
    summary = both["summary"].replace("\u00a0", " ")
    assert "in the columns diabetic or asthma, or more than 70 % in the column smoking." in summary


def test_a_rare_value_is_not_named():
    """Attack: the most common value of a group is one that few people have."""
    values = [{"value": "no", "share": 0.9, "highest": 0.95}]
    box = " ".join(written(of_columns(last={"values": values})))
    assert "a rare one in the column smoking" in box
    assert "“no” in the column smoking" not in box


@pytest.mark.parametrize(
    ("value", "asked"),
    [("Not applicable", True), ("N/A", True), ("99", True), ("no", False), ("negative", False)],
)
def test_values_that_may_say_nothing_are_looked_at_until_they_are_declared(value: str, asked: bool):
    """Attack: who has "not applicable" as therapy of a disease does not have it."""
    values = [{"value": value, "share": 0.7, "highest": 1.0}]
    box = " ".join(written(of_columns(last={"values": values})))
    assert f"“{value}” in the column smoking. Whoever finds the group knows it" in box
    assert (f"Perhaps “{value}” in the column smoking says nothing" in box) == asked


def test_a_value_that_is_declared_as_missing_is_no_alarm_and_is_named():
    values = [
        {"value": "n/a", "share": 0.7, "highest": 1.0},
        {"value": "20 a day", "share": 0.3, "highest": 0.4},
    ]
    report = of_columns(last={"most": 0.4, "missing": ["n/a", "gone"], "values": values})
    box = written(report)
    (same,) = [text for text in box if "have the same value" in text]
    assert "smoking" not in same
    assert not any("Perhaps" in text for text in box)
    (declared,) = [text for text in box if "declares as missing" in text]
    assert "“n/a” and “gone” in the column smoking." in declared
    assert "“n/a” and “gone” counts as missing" in shown(page(report))
    assert "what the policy declares as missing in the column smoking is no" in report["summary"]
    assert "declares as missing" not in of_columns()["summary"]
    few = [{**values[0], "highest": 0.4}, values[1]]
    report = of_columns(last={"most": 0.4, "missing": ["n/a"], "values": few})
    assert not any("declares as missing" in text for text in report["comments"])


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ({"nowhere": ["n/a"]}, 'column "nowhere" is not declared'),
        ({"age": ["n/a"]}, 'column "age" has the role quasi_identifying'),
        ({"diagnosis": []}, "must not be empty"),
        ({"diagnosis": ["a", "a"]}, "stands in the list twice"),
        ({"diagnosis": [1.5]}, "a text or a whole number"),
    ],
)
def test_missing_values_are_those_of_sensitive_columns(missing: dict[str, Any], said: str):
    with pytest.raises(PolicyError, match=re.escape(said)):
        policy_from({**POLICY, "report": {"missing": missing}})


def test_missing_values_are_texts_or_null():
    policy = policy_from({**POLICY, "report": {"missing": {"diagnosis": [99, "n/a", None]}}})
    assert policy.report.missing == {"diagnosis": ("99", "n/a", None)}


def test_a_requirement_of_several_columns_is_a_row_with_what_was_measured_of_each():
    names = ("diagnosis", "days", "ward")
    roles = {**POLICY["columns"], **{name: {"role": "sensitive"} for name in names}}
    models = [
        {"model": "distinct_l_diversity", "column": name, "l": 3 if name == "ward" else 2}
        for name in names
    ]
    of_one = {"model": "distinct_l_diversity", "symbol": "l", "bound": ">=", "against": ""}
    checks = [
        {**of_one, "column": name, "required": model["l"], "measured": 5 + place}
        for place, (name, model) in enumerate(zip(names, models, strict=True))
    ]
    policy = {**POLICY, "columns": roles, "privacy": models}
    found = collected(policy, measures={**MEASURES, "verified": checks}, evidence=None)
    report = document(found)
    html = page(report)
    assert check_figures(html, report) >= 6
    text = shown(html)
    said = "in the columns diagnosis and days, each by itself. distinct l-diversity"
    assert f"Every group has at least 2 different values {said} at least 2 5 diagnosis 6" in text
    assert "Every group has at least 3 different values in the column ward." in text
    assert text.count("different values in") == 2


def test_a_model_that_limits_nothing_is_no_limit():
    """At t = 0.95 a value that a tenth have may be all of a group; at t = 0.4 half of it."""
    roles = {**POLICY["columns"], "asthma": {"role": "sensitive"}}
    far = {"value": "yes", "share": 0.1, "highest": 0.5}
    names = ("diagnosis", "asthma")
    sensitive = [{**EVIDENCE["sensitive"][0], "column": n, "values": [far]} for n in names]
    models = [
        {"model": "t_closeness", "column": name, "t": t}
        for name, t in zip(names, (0.95, 0.4), strict=True)
    ]
    policy = {**POLICY, "columns": roles, "privacy": models}
    found = collected(policy, evidence={**EVIDENCE, "sensitive": sensitive}, measures={})
    (said,) = [text for text in document(found)["comments"] if "far more" in text]
    assert said.endswith("No requirement limits this in the column diagnosis.")


def test_columns_of_which_the_run_warned_are_not_named_twice():
    policy = {**POLICY, "privacy": [{"model": "k_anonymity", "k": 12}]}
    (warned,) = warnings(policy_from(policy))
    for text, bare in ((warned, False), ("something else", True)):
        found = collected(policy, measures={"verified": [], "warnings": [text]})
        comments = document(found)["comments"]
        assert any("No requirement is about" in comment for comment in comments) == bare
        assert f"The run warned: {text}." in comments


def test_requirements_that_differ_are_rows_of_their_own():
    check = {"name": "m", "published": "a", "sentence": "It is so in the column a."}
    other = {**check, "published": "b", "sentence": "It is so in the column b."}
    rows = required([{**check, "required": 2}, {**other, "required": 3}, {**other, "required": 2}])
    assert rows == [
        ("It is so in the columns a and b, each by itself.", [0, 2]),
        ("It is so in the column b.", [1]),
    ]


def test_chances_are_written_in_one_way():
    chance = {"smallest": 4000, "highest": 1 / 4000, "mean": 1 / 5000}
    found = {"release": chance, "source": None, "limits": {"0.09": 0.09}}
    assert risk_title(found).replace("\u00a0", " ") == "At most 0.025 % (1 in 4,000)"
    drawn = risk(found)
    assert drawn is not None
    assert [f">{mark} %<" in drawn for mark in ("0.01", "0.1", "1", "10", "100")] == [True] * 5
