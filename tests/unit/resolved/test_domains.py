"""Declared domains against the catalog: bounds have to be of the column's type."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.catalog.model import Kind
from pganon.policy.domains import ValueSet
from pganon.resolved.columns import domain_refusals, type_refusals
from tests.unit.policy.examples import policy
from tests.unit.resolved.registry import column, problems, resolved


@pytest.mark.parametrize(
    ("kind", "base", "domain"),
    [
        ("integer", "smallint", ("-32768", "32767")),
        ("integer", "bigint", ("0", "9223372036854775807")),
        ("numeric", "numeric", ("-1e9999", ".5")),
        ("numeric", "numeric(5,2)", ("0", "999.999")),
        ("float", "real", ("0", "1e300")),
        ("date", "date", ("1900-01-01", "2020-02-29")),
        ("timestamp", "timestamp without time zone", ("2020-01-01", "2020-01-01 12:00:00.5")),
        ("timestamptz", "timestamp with time zone", ("2020-01-01", "2020-01-01T12:00")),
        ("timestamptz", "timestamp with time zone", ("2020-01-01T00:00Z", "2020-01-01 00:00-02")),
    ],
)
def test_bounds_of_the_type(kind: Kind, base: str, domain: tuple[str, str]) -> None:
    assert list(type_refusals(column("x", kind, base), domain)) == []


@pytest.mark.parametrize(
    ("kind", "base", "domain", "wrong"),
    [
        ("integer", "smallint", ("0", "32768"), {1: "within the range of smallint"}),
        ("integer", "integer", ("0.5", "1e1"), {0: "a whole number", 1: "a whole number"}),
        ("integer", "integer", ("2020-01-01", "2021-01-01"), {0: "a whole", 1: "a whole"}),
        ("numeric", "numeric(5,2)", ("0", "1000"), {1: "within the range of numeric(5,2)"}),
        ("float", "real", ("2020-01-01", "2021-01-01"), {0: "a number", 1: "a number"}),
        ("date", "date", ("0", "9"), {0: "a date like", 1: "a date like"}),
        ("date", "date", ("2020-01-01", "2020-01-01 12:00"), {1: "a date like 2020-01-31"}),
        ("timestamp", "timestamp without time zone", ("0", "9"), {0: "a timestamp", 1: "a time"}),
        (
            "timestamp",
            "timestamp without time zone",
            ("2020-01-01", "2020-01-02T00:00Z"),
            {1: "a timestamp without time zone"},
        ),
        ("timestamptz", "timestamp with time zone", ("0", "9"), {0: "a timestamp", 1: "a time"}),
    ],
)
def test_bounds_of_another_type(
    kind: Kind, base: str, domain: tuple[str, str], wrong: dict[int, str]
) -> None:
    found = {r.place: r.message for r in type_refusals(column("x", kind, base), domain)}
    assert list(found) == [(at,) for at in wrong]
    for at, part in wrong.items():
        assert f'column x is {base}; "{domain[at]}" is not {part}' in found[(at,)]


@pytest.mark.parametrize(
    ("kind", "base"), [("text", "text"), ("boolean", "boolean"), ("enum", "public.zone")]
)
def test_columns_without_a_line(kind: Kind, base: str) -> None:
    (found,) = type_refusals(column("x", kind, base), ("0", "9"))
    assert (found.place, found.suggestion) == ((), "remove domain")
    assert found.message == f"column x is {base}; a domain is for numbers, dates and timestamps"


def over(**domains: Any) -> dict[str, Any]:
    columns = {n: {"role": "quasi_identifying", "domain": d} for n, d in domains.items()}
    return policy(source="public.registry", columns=columns)


def test_attributes_have_it() -> None:
    spec = resolved(over(age=[0, 120], born=["1900-01-01", "2020-01-01"]))
    assert [a.domain for a in spec.attributes] == [("0", "120"), ("1900-01-01", "2020-01-01")]


def test_problems_are_said_at_once() -> None:
    assert set(problems(over(age=[0.5, 1], born=[0, 1], sex=[0, 1], symptom=[-1, 1000]))) == {
        "columns.age.domain[0]",
        "columns.born.domain[0]",
        "columns.born.domain[1]",
        "columns.sex.domain",
        "columns.symptom.domain[1]",
    }


# -- listed values ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "base", "values", "wrong"),
    [
        ("text", "text", ("a", "A", "a "), {}),
        ("integer", "integer", ("1", "02", "2"), {2: "twice"}),
        ("integer", "integer", ("x",), {0: "is not a whole number"}),
        ("numeric", "numeric", ("1", "1.0"), {1: "twice"}),
        ("boolean", "boolean", ("yes", "no", "t"), {2: "twice"}),
        ("uuid", "uuid", ("A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "x"), {1: "is not a uuid"}),
        ("timestamp", "timestamp", ("2020-01-01", "now"), {1: "is not"}),
    ],
)
def test_listed_values_of_the_type(
    kind: Kind, base: str, values: tuple[str, ...], wrong: dict[int, str]
) -> None:
    listed = domain_refusals(column("x", kind, base), ValueSet(values=values), categorical=True)
    found = {r.place: r.message for r in listed}
    assert found.keys() == {("values", at) for at in wrong}
    for at, part in wrong.items():
        assert part in found[("values", at)]


def test_numbers_that_are_no_categories_have_no_listed_values() -> None:
    (found,) = domain_refusals(
        column("x", "integer", "integer"), ValueSet(values=("1",)), categorical=False
    )
    assert "is for categories" in found.message
    assert "add type: categorical" in (found.suggestion or "")
