"""Declared domains as a policy has them: forms, order, roles, and what they do not go with."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PolicyError
from pganon.loading import known, load_policy, policy_from
from pganon.policy.domains import ValueSet
from pganon.policy.model import policy_hash
from pganon.policy.policy_class import policy_schema
from tests.unit.policy.examples import policy, qs_policy, with_column
from tests.unit.policy.test_methods import suggestions
from tests.unit.policy.test_model import problems


def declared(domain: object, **keys: Any) -> dict[str, Any]:
    return with_column(role="quasi_identifying", domain=domain, **keys)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ([0, 120], ("0", "120")),
        ((-1.5, 2), ("-1.5", "2")),
        (["-.5e2", " 1. "], ("-.5e2", "1.")),
        ([Decimal("0.1"), Decimal("0.10000000000000000001")], ("0.1", "0.10000000000000000001")),
        ([dt.date(2020, 1, 1), "2020-01-02"], ("2020-01-01", "2020-01-02")),
        (["2020-01-01", "2020-01-01T00:00:01"], ("2020-01-01", "2020-01-01T00:00:01")),
        (
            ["2020-01-01 00:00", "2020-01-01 00:00:00.000001"],
            ("2020-01-01 00:00", "2020-01-01 00:00:00.000001"),
        ),
        (
            ["2020-01-01T00:00+01:00", "2020-01-01T00:00Z"],
            ("2020-01-01T00:00+01:00", "2020-01-01T00:00Z"),
        ),
        (
            [
                "2020-01-01T00:00",
                dt.datetime(2020, 1, 1, tzinfo=dt.timezone(-dt.timedelta(hours=1))),
            ],
            ("2020-01-01T00:00", "2020-01-01 00:00:00-01:00"),
        ),
    ],
)
def test_forms(written: object, read: tuple[str, str]) -> None:
    found = policy_from(declared(written))
    assert found.columns["x"].domain == read
    assert policy_from(found.document()) == found
    assert policy_hash(policy_from(found.document())) == policy_hash(found)


@pytest.mark.parametrize(
    ("written", "field", "part", "hint"),
    [
        (5, "", "must be a list, not 5", "domain: [0, 120]"),
        ([], "[0]", "is missing", "domain: [0, 120]"),
        ([0, 1, 2], "", "must have at most 2 values", "domain: [0, 120]"),
        ({"min": 0}, "", "must be a list, not a mapping", "domain: [0, 120]"),
        ([None, 1], "[0]", "nothing (null) is not a finite number", "domain: [0, 120]"),
        ([True, 2], "[0]", "true is not a finite number", "domain: [0, 120]"),
        ([0, float("inf")], "[1]", "inf is not a finite number", "domain: [0, 120]"),
        ([float("nan"), 1], "[0]", "nan is not a finite number", "domain: [0, 120]"),
        (["-Infinity", 1], "[0]", "is not a finite number", "domain: [0, 120]"),
        (["0x10", 99], "[0]", '"0x10" is not a finite number', "domain: [0, 120]"),
        ([0, 10**5000], "[1]", "a number is not a finite number", "domain: [0, 120]"),
        (["2020-02-30", "2021-01-01"], "[0]", "is not a finite number", "2020-12-31"),
        (["01/02/2020", "2021-01-01"], "[0]", "is not a finite number", "2020-12-31"),
        (["today", "2021-01-01"], "[0]", "is not a finite number", "2020-12-31"),
        (["2020-01-01T25:00", "2021-01-01"], "[0]", "is not a finite number", "2020-12-31"),
        ([0, "2020-01-01"], "", "one value is a number", "domain: [0, 120]"),
        ([120, 0], "", "the lowest value is above the highest", "exchange the two"),
        (["2020-01-02", "2020-01-01 23:59"], "", "above the highest", "exchange the two"),
        (["2020-01-01T00:00Z", "2020-01-01T00:00+01:00"], "", "above the highest", "exchange"),
        ([1, "1.0"], "", "the lowest value is the highest", "that there could be"),
        (["2020-01-01", "2020-01-01 00:00"], "", "the lowest value is the highest", "could be"),
    ],
)
def test_forms_that_are_wrong(written: object, field: str, part: str, hint: str) -> None:
    data = declared(written)
    assert part in problems(data)[f"columns.x.domain{field}"]
    assert hint in str(suggestions(data)[f"columns.x.domain{field}"])


@pytest.mark.parametrize("role", ["identifying", "individual", "sensitive", "insensitive"])
def test_other_roles_have_none(role: str) -> None:
    found = problems(with_column(role=role, domain=[0, 9]))["columns.x.domain"]
    assert found == f"domain is for quasi_identifying or semi_sensitive columns; this one is {role}"


def test_quasi_sensitive_columns_have_none() -> None:
    data = qs_policy()
    data["columns"]["hour"]["domain"] = [0, 23]
    assert "domain is for quasi_ident" in problems(data)["columns.hour.domain"]


@pytest.mark.parametrize(
    ("keys", "part", "hint"),
    [
        ({"type": "categorical"}, "this column is categorical", "remove domain"),
        ({"type": "ordinal"}, "this column is ordinal", "remove domain"),
        ({"hierarchy": {"intervals": [5]}}, "beside a hierarchy", "remove one of the two"),
    ],
)
def test_what_a_domain_does_not_go_with(keys: dict[str, Any], part: str, hint: str) -> None:
    data = declared([0, 9], **keys)
    assert part in problems(data)["columns.x.domain"]
    assert hint in str(suggestions(data)["columns.x.domain"])


def test_every_problem_has_its_line() -> None:
    text = (
        "release: r\nsource: public.t\ncolumns:\n  age:\n    role: quasi_identifying\n"
        "    domain:\n      - 0\n      - .nan\n  zip:\n    role: sensitive\n    domain: [1, 2]\n"
        "privacy: [{model: k_anonymity, k: 2}]\nmethod: {name: mondrian}\n"
    )
    with pytest.raises(PolicyError) as caught:
        load_policy(text)
    assert [(p.field, p.line) for p in caught.value.problems] == [
        ("columns.age.domain[1]", 8),
        ("columns.zip.domain", 11),
    ]


def test_the_hash_knows_it() -> None:
    without = policy_hash(policy_from(with_column(role="quasi_identifying")))
    hashes = [policy_hash(policy_from(declared(d))) for d in ([0, 9], ["0", 9], [0, 10])]
    assert hashes[0] == hashes[1]
    assert len({without, *hashes}) == 3
    assert policy_hash(policy_from(declared(None))) == without


def test_the_schema_has_it() -> None:
    forms, nothing = policy_schema(known())["$defs"]["ColumnPolicy"]["properties"]["domain"][
        "anyOf"
    ]
    span, listed = forms["oneOf"]
    assert (span["type"], span["minItems"], span["maxItems"]) == ("array", 2, 2)
    assert listed == {"$ref": "#/$defs/ValueSet"}
    assert nothing == {"type": "null"}


# -- listed values ----------------------------------------------------------------------------


def test_listed_values() -> None:
    found = policy_from(declared({"values": ["a", 1, "b"]}, type="categorical"))
    assert found.columns["x"].domain == ValueSet(values=("a", "1", "b"))
    assert policy_from(found.document()) == found
    other = policy_from(declared({"values": ["a", 1]}, type="categorical"))
    assert policy_hash(other) != policy_hash(found)


@pytest.mark.parametrize(
    ("written", "keys", "field", "part"),
    [
        ({"values": []}, {}, ".values", "must not be empty"),
        ({"values": ["a", "a"]}, {}, ".values[1]", "stands in the list twice"),
        ({"values": ["a"], "others": 1}, {}, ".others", "is not a key"),
        ({"values": ["a"]}, {"type": "numeric"}, "", "listed values is for categories"),
        ({"values": ["a"]}, {"type": "ordinal"}, "", "this column is ordinal"),
        ({"values": ["a"]}, {"hierarchy": {"prefix": [1]}}, "", "beside a hierarchy"),
    ],
)
def test_listed_values_that_are_wrong(
    written: object, keys: dict[str, Any], field: str, part: str
) -> None:
    assert part in problems(declared(written, **keys))[f"columns.x.domain{field}"]


@given(st.decimals(allow_nan=False, allow_infinity=False), st.decimals(allow_nan=False))
def test_two_numbers_are_a_domain_if_they_rise(low: Decimal, high: Decimal) -> None:
    data = declared([low, high])
    small = all(abs(x.adjusted()) < 10**4 for x in (low, high) if x.is_finite())
    if low < high and high.is_finite() and small:
        assert policy_from(data).columns["x"].domain == (str(low), str(high))
    else:
        assert problems(data)


def test_without_it_nothing_changes() -> None:
    assert policy_from(policy()).columns["age"].domain is None
    assert "domain" not in policy_from(policy()).document()["columns"]["age"]
