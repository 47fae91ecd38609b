"""Exclusion rules against the catalog: columns, and values that a type cannot have."""

from __future__ import annotations

import datetime
import re
from decimal import Decimal
from typing import Any

import pytest

from pganon.catalog.model import Kind
from pganon.errors import PolicyError
from pganon.loading import load_policy
from pganon.policy.exclusions import Between
from pganon.policy.values import Unreadable, readable
from pganon.resolved.resolve import resolve
from tests.unit.policy.examples import policy, with_rules
from tests.unit.resolved.registry import REGISTRY, column, problems, resolved

NEVER = {"cancer": "Prostate"}


def test_a_rule_per_sensitive_column() -> None:
    spec = resolved(
        with_rules(
            {"when": {"sex": "F", "age": {"max": 17}}, "never": {"symptom": [1, 2.5], **NEVER}},
            {"when": {"born": "2020-01-31"}, "never": {"treatment": True}},
        )
    )
    assert [
        (
            [(a.index, a.column.name, when) for a, when in rule.when],
            rule.sensitive.index,
            rule.values,
        )
        for rule in spec.rules
    ] == [
        ([(1, "sex", ("F",)), (0, "age", Between(max="17"))], 2, ("1", "2.5")),
        ([(1, "sex", ("F",)), (0, "age", Between(max="17"))], 0, ("Prostate",)),
        ([(2, "born", ("2020-01-31",))], 1, ("true",)),
    ]
    assert spec.rules[0].label == "sex, age excludes symptom, cancer"


@pytest.mark.parametrize(
    ("kind", "base", "text", "value"),
    [
        ("integer", "smallint", "32767", Decimal(32767)),
        ("integer", "smallint", "-32768", Decimal(-32768)),
        ("integer", "bigint", " +9223372036854775807\n", Decimal(2**63 - 1)),
        ("numeric", "numeric", "-.5e2", Decimal(-50)),
        ("numeric", "numeric", "1.", Decimal(1)),
        ("numeric", "numeric", "NaN", None),
        ("numeric", "numeric(5,2)", "-999.99", Decimal("-999.99")),
        ("numeric", "numeric(2,-3)", "99000", Decimal(99000)),
        ("numeric", "numeric(3,5)", "0.00999", Decimal("0.00999")),
        ("float", "real", "1e10", Decimal(10**10)),
        ("float", "double precision", "-Infinity", None),
        ("date", "date", "2020-02-29", datetime.date(2020, 2, 29)),
        ("date", "date", "infinity", None),
        ("boolean", "boolean", "T", True),
        ("boolean", "boolean", " of ", False),
        ("boolean", "boolean", "1", True),
        ("enum", "public.stage", "II", Decimal(1)),
        # What only the server can tell.
        ("text", "text", "", None),
        ("timestamp", "timestamp without time zone", "yesterday", None),
        ("uuid", "uuid", "x", None),
    ],
)
def test_readable(kind: Kind, base: str, text: str, value: object) -> None:
    found = readable(column("x", kind, base), text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("kind", "base", "text", "wanted"),
    [
        ("integer", "integer", "abc", "a whole number"),
        ("integer", "integer", "", "a whole number"),
        ("integer", "integer", "17.0", "a whole number"),
        ("integer", "integer", "1e3", "a whole number"),
        ("integer", "integer", "0x1F", "a whole number"),
        ("integer", "integer", "1_000", "a whole number"),
        ("integer", "integer", "٣", "a whole number"),
        ("integer", "integer", "true", "a whole number"),
        ("integer", "integer", "2147483648", "within the range of integer"),
        ("integer", "smallint", "-32769", "within the range of smallint"),
        ("numeric", "numeric", "1,5", "a number"),
        ("numeric", "numeric", ".", "a number"),
        ("numeric", "numeric(5,2)", "1000", "within the range of numeric(5,2)"),
        ("numeric", "numeric(5,2)", "-1e3", "within the range of numeric(5,2)"),
        ("numeric", "numeric(3,5)", "0.01", "within the range of numeric(3,5)"),
        ("float", "real", "x", "a number"),
        ("date", "date", "2020", "a date like 2020-01-31"),
        ("date", "date", "2021-02-29", "a date like 2020-01-31"),
        ("date", "date", "01/02/2020", "a date like 2020-01-31"),
        ("date", "date", "today", "a date like 2020-01-31"),
        ("boolean", "boolean", "o", "true or false"),
        ("boolean", "boolean", "", "true or false"),
        ("boolean", "boolean", "2", "true or false"),
        ("boolean", "boolean", "truth", "true or false"),
    ],
)
def test_unreadable(kind: Kind, base: str, text: str, wanted: str) -> None:
    with pytest.raises(Unreadable, match=f"^{re.escape(wanted)}$"):
        readable(column("x", kind, base), text)


def test_the_type_below_a_domain_counts() -> None:
    domain = column("x", "integer", "smallint", "public.years")
    with pytest.raises(Unreadable, match="range of smallint"):
        readable(domain, "40000")


@pytest.mark.parametrize(
    ("when", "never", "field", "message"),
    [
        ({"age": {"min": "abc"}}, NEVER, "when.age.min",
         'column age is smallint; "abc" is not a whole number'),
        ({"age": {"min": 1, "max": 17.5}}, NEVER, "when.age.max",
         'column age is smallint; "17.5" is not a whole number'),
        ({"age": 40000}, NEVER, "when.age",
         'column age is smallint; "40000" is not within the range of smallint'),
        ({"age": ["5", "young"]}, NEVER, "when.age[1]",
         'column age is smallint; "young" is not a whole number'),
        ({"sex": "F", "born": "1999"}, NEVER, "when.born",
         'column born is date; "1999" is not a date like 2020-01-31'),
        ({"sex": "F"}, {"treatment": ["yes", "maybe"]}, "never.treatment[1]",
         'column treatment is boolean; "maybe" is not true or false'),
        ({"sex": "F"}, {"symptom": "x" * 60}, "never.symptom",
         f'column symptom is numeric(5,2); "{"x" * 40}..." is not a number'),
        ({"age": {"min": 20, "max": 3}}, NEVER, "when.age",
         "min is above max, so the rule is about nobody"),
        ({"born": {"min": "2020-01-02", "max": "2020-01-01"}}, NEVER, "when.born",
         "min is above max, so the rule is about nobody"),
    ],
)  # fmt: skip
def test_values_of_another_type(
    when: dict[str, Any], never: dict[str, Any], field: str, message: str
) -> None:
    data = with_rules({"when": {"sex": "F"}, "never": NEVER}, {"when": when, "never": never})
    assert problems(data) == {f"exclusions[1].{field}": message}


@pytest.mark.parametrize("bounds", [{"min": 5, "max": 5}, {"min": -1}, {"max": "+3"}])
def test_ranges(bounds: dict[str, Any]) -> None:
    resolved(with_rules({"when": {"age": bounds}, "never": NEVER}))


def test_every_problem_at_once_with_lines() -> None:
    loaded = load_policy("""\
release: registry
source: public.registry
columns:
  age: {role: quasi_identifying}
  "Born on": {role: quasi_identifying}
  born: {role: quasi_identifying}
  cancer: {role: sensitive, as: count}
privacy:
  - {model: slicing_l_diversity, l: 3}
method: {name: slamsa}
exclusions:
  - when: {age: [1,
      old]}
    never: {cancer: Prostate}
  - when:
      born: {min: never,
        max: x}
      "Born on": x
    never: {cancer: Prostate}
""")
    with pytest.raises(PolicyError) as caught:
        resolve(loaded.policy, REGISTRY, lines=loaded.lines)
    assert {(p.line, p.field) for p in caught.value.problems} == {
        (5, 'columns."Born on"'),
        (7, "columns.cancer"),
        (13, "exclusions[0].when.age[1]"),
        (16, "exclusions[1].when.born.min"),
        (17, "exclusions[1].when.born.max"),
    }


def test_the_key_of_a_population_is_of_the_source() -> None:
    columns = {"age": {"role": "quasi_identifying"}}
    named = policy(columns=columns, population={"name": "n", "key": "nope"})
    assert "population.key" in problems(named)
    assert resolved(policy(columns=columns, population={"name": "n", "key": "person"}))
