"""Listed values of columns of numbers: 1 is 1.00, whatever the type that the policy says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.harness.driver import refused, run
from tests.support.sources.builders import make_table, policy

VALUES = ["1.00", "2.50", "3.0", "100.00"]
LISTED = [["1.0", "2.5"], ["03", "1e2"]]
KINDS = ["numeric", "numeric(6,2)", "float8"]
TYPE = "categorical"
MESSAGES = {"inline": {"*": {"low": LISTED[0], "high": LISTED[1]}}}
FORMS: list[dict[str, Any]] = [
    MESSAGES,
    {"csv": "levels.csv"},
    {"table": "public.levels"},
    {"order": {"values": [*LISTED[0], *LISTED[1]], "fanout": [2]}},
]


@pytest.mark.parametrize("form", FORMS, ids=[next(iter(form)) for form in FORMS])
@pytest.mark.slow
def test_hierarchies(db: Any, tmp_path: Path, form: dict[str, Any]) -> None:
    """Of columns of all kinds side by side, whose records are in the same order."""
    rows = [
        (value, label)
        for label, part in zip(("low", "high"), LISTED, strict=True)
        for value in part
    ]
    (tmp_path / "levels.csv").write_text("".join(f"{value};{label};*\n" for value, label in rows))
    inserted = ", ".join(f"('{value}', '{label}', '*')" for value, label in rows)
    db.source(f"CREATE TABLE public.levels (v, a, top) AS VALUES {inserted}")
    types = {f"{kind} {said}": (kind, said) for kind in KINDS for said in ({}, {"type": TYPE})}
    kinds = {name: kind for name, (kind, _) in types.items()}
    declared = policy({name: {"hierarchy": form, **said} for name, (_, said) in types.items()}, 2)
    make_table(db.connect("source_owner"), kinds, [[value] * len(kinds) for value in VALUES])
    staged = run(db.owner(), declared, base_dir=tmp_path)
    for name in kinds:
        assert {row[name] for row in staged.rows()} in ({"low", "high"}, {"1.0..2.5", "03..1e2"})
    # A class of one value shows the value, in its shortest form.
    twice = [[value] * len(kinds) for value in VALUES for _ in "ab"]
    make_table(db.connect("source_owner"), kinds, twice)
    staged = run(db.owner(), declared, base_dir=tmp_path)
    for name in kinds:
        assert {row[name] for row in staged.rows()} == {"1", "2.5", "3", "100"}


@pytest.mark.parametrize("kind", [*KINDS, "integer"])
def test_orders(db: Any, kind: str) -> None:
    values = ["3", "1", "20", "100"] if kind == "integer" else ["2.50", "1.00", "1e-7", "1e20"]
    order = ["3.0", "01", "2e1", "100"] if kind == "integer" else ["2.5", "1", "0.0000001", "1e20"]
    order = ["3", "01", "+20", "100"] if kind == "integer" else order
    if kind == "numeric(6,2)":
        values, order = ["2.50", "1.00", "7.1", "90"], ["2.5", "1", "7.100", "90.0"]
    make_table(db.connect("source_owner"), {"q": kind}, [[value] for value in values])
    staged = run(db.owner(), policy({"q": {"type": "ordinal", "order": order}}, 2))
    published = {frozenset(map(float, row["q"])) for row in staged.table("classes")}
    assert published == {frozenset(map(float, values[:2])), frozenset(map(float, values[2:]))}


def test_booleans_and_dates_too(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "boolean"}, [["t"], ["f"]])
    declared = {"type": "categorical", "hierarchy": {"inline": {"*": ["yes", "no"]}}}
    assert {row["q"] for row in run(db.owner(), policy({"q": declared}, 2)).rows()} == {"*"}
    make_table(db.connect("source_owner"), {"q": "boolean"}, [["t"], ["f"], ["t"], ["f"]])
    declared = {"type": "ordinal", "order": ["yes", "no"]}
    assert run(db.owner(), policy({"q": declared}, 2)).utility.gcp == 0


@pytest.mark.parametrize(
    ("kind", "declared", "code", "message", "hint"),
    [
        ("text", {"hierarchy": {"inline": {"*": ["1", "2.5"]}}}, "hierarchy",
         "2 values in 2 records missing from it; 2 are listed in another form of the number, and"
         " the column is text", "cast the column"),
        ("numeric", {"hierarchy": {"inline": {"*": ["1", "2,5"]}}}, "hierarchy",
         "1 value in 1 record missing from it; 1 is listed in another form of the number",
         "with a point"),
        ("text", {"type": "ordinal", "order": ["1.00", "2.5"]}, "order_gap",
         "lacks 1 values that occur in 1 records; 1 is listed in another form", "cast the column"),
        ("numeric", {"hierarchy": {"inline": {"*": ["1", "7"]}}}, "hierarchy",
         "1 value in 1 record missing from it", "add a row"),
    ],
)  # fmt: skip
def test_the_form_of_the_number_is_said(
    db: Any, kind: str, declared: dict[str, Any], code: str, message: str, hint: str
) -> None:
    make_table(db.connect("source_owner"), {"q": kind}, [["1.00"], ["2.50"]])
    with refused(code) as errors:
        run(db.owner(), policy({"q": declared}, 2))
    assert message in str(errors[0])
    assert hint in (errors[0].hint or "")
    assert ("form of the number" in str(errors[0])) == ("form" in message)


@pytest.mark.parametrize("kind", ["text", "public.citext"])
@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (
            {"hierarchy": {"inline": {"*": ["Lima", "oslo", "BONN", "?"]}}},
            "3 values in 3 records missing from it; 2 are listed in other upper and lower case",
        ),
        (
            {"type": "ordinal", "order": ["oslo", "Lima", "Bonn", "?"]},
            "lacks 2 values that occur in 2 records; 1 is listed in other upper and lower case",
        ),
    ],
    ids=["hierarchy", "order"],
)
def test_the_case_of_labels_is_said(
    db: Any, kind: str, declared: dict[str, Any], message: str
) -> None:
    """Also of citext, whose values are equal in any case: labels are shown as they are written."""
    if kind != "text":
        try:
            db.admin.execute("CREATE EXTENSION citext SCHEMA public")
        except psycopg.Error:
            pytest.skip("the server has no citext")
    values = ["Lima", "Oslo", "Bonn", "Rome"]
    make_table(db.connect("source_owner"), {"q": kind}, [[value] for value in values])
    with refused() as errors:
        run(db.owner(), policy({"q": declared}, 2))
    assert message in str(errors[0])
    assert "case matters here, of citext, too" in (errors[0].hint or "")


@pytest.mark.parametrize(
    ("kind", "order", "message"),
    [
        ("numeric", ["1", "2", "1.00"], "1.00 stands in the list twice: 1 is the same value"),
        ("integer", ["1", "2.5"], "2.5 is not a whole number"),
        ("date", ["2020-01-01", "1.2.2020"], "1.2.2020 is not a date"),
    ],
)
def test_orders_are_checked_as_domains_are(
    db: Any, kind: str, order: list[str], message: str
) -> None:
    make_table(db.connect("source_owner"), {"q": kind}, [])
    with refused(None) as errors:
        run(db.owner(), policy({"q": {"type": "ordinal", "order": order}}, 2))
    assert message in str(errors[0]).replace('"', "")
