"""`pganon estimate` as an analyst uses it, and `pganon.estimate`."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

import pganon
from tests.adversarial.test_estimates import released
from tests.support.harness import cli
from tests.support.harness.cluster import Database

QUERY = "SELECT ward, count(*) AS n, avg(days) AS a FROM visits WHERE age < 37 GROUP BY ward"
FIGURES = ("", "_lower", "_upper", "_low", "_high", "_error")
COLUMNS = [
    "ward",
    *[f"n{figure}" for figure in FIGURES],
    *[f"a{figure}" for figure in FIGURES],
    *("classes", "few", "maybe_empty"),
]


@pytest.fixture
def visits(db_after: Any) -> Database:
    db, _ = db_after(released)
    return db


def run(db: Database, *arguments: str) -> cli.Ran:
    return cli.pganon("estimate", "visits", *arguments, "--dsn", db.dsn("analyst"))


def test_every_output_has_the_same_figures(visits: Database):
    shown = json.loads(run(visits, QUERY, "--json", "--sql").out)
    assert (shown["release"], shown["version"]) == ("visits", 1)
    assert [row["ward"] for row in shown["rows"]] == ["W0", "W1", "W2"]
    assert [*shown["rows"][0]] == COLUMNS
    header, *rows = csv.reader(io.StringIO(run(visits, QUERY, "--csv").out))
    assert header == COLUMNS
    assert [float(row[1]) for row in rows] == [row["n"] for row in shown["rows"]]
    answer = pganon.estimate("visits", QUERY, visits.dsn("analyst"))
    assert answer.as_dicts()[0]["n"] == shown["rows"][0]["n"]
    assert (answer.keys, answer.aggregates) == (("ward",), ("n", "a"))
    assert list(answer.to_frame().columns) == COLUMNS
    assert answer.sql == shown["sql"]


def test_the_table_says_how_far_to_trust_it(visits: Database):
    ran = run(visits, QUERY)
    assert ran.code == 0, ran.err
    assert "W0" in ran.out
    assert "they surely hold for the released records" in ran.err
    assert "often too small" in ran.err


def test_dates_are_shown_as_dates(visits: Database):
    text = "SELECT max(seen) AS last FROM visits"
    assert run(visits, text).out.count("2020-03-31") == 2
    row = json.loads(run(visits, f"{text} WHERE age = 25 AND ill = 'd0'", "--json").out)["rows"][0]
    # Perhaps nobody is 25 and has this illness.
    assert (row["last"], row["last_lower"], row["last_error"]) == (None, None, None)
    assert "2020-01-06" <= row["last_upper"] <= "2020-03-31"


def test_the_statement_can_be_run_by_hand(visits: Database):
    text = run(visits, QUERY, "--sql").out.split(";\n")[0]
    with visits.connect("analyst") as analyst:
        rows = analyst.execute(text.encode()).fetchall()
    assert [row[0] for row in rows] == ["W0", "W1", "W2"]


@pytest.mark.slow
def test_the_spread(visits: Database):
    """It changes estimates, and no bounds."""
    text = "SELECT count(*) AS n FROM visits WHERE age < 37"
    column, uniform = (
        pganon.estimate("visits", text, visits.dsn("analyst"), spread).as_dicts()[0]  # pyright: ignore[reportArgumentType]
        for spread in ("column", "uniform")
    )
    assert [column[f"n_{end}"] for end in ("lower", "upper")] == [
        uniform[f"n_{end}"] for end in ("lower", "upper")
    ]
    assert column["n"] != uniform["n"]


def test_errors(visits: Database):
    ran = run(visits, "SELECT count(*)\nFROM visits\nWHERE wards = 'W1'", "--json")
    assert ran.code == 2
    error = ran.json["error"]
    assert error["code"] == "estimate"
    assert error["message"] == "line 3, column 7: the release visits has no column wards"
    assert run(visits, QUERY, "--csv", "--json").code == 2
    other = cli.pganon("estimate", "visit", QUERY, "--dsn", visits.dsn("analyst"))
    assert other.code == 2
    assert "did you mean visits?" in other.err


def test_order_and_limit(visits: Database):
    text = "SELECT ill, count(*) AS n FROM visits WHERE age < 40 GROUP BY 1"
    text += " ORDER BY n DESC, ill LIMIT 3"
    rows = pganon.estimate("visits", text, visits.dsn("analyst")).as_dicts()
    assert len(rows) == 3
    assert [row["n"] for row in rows] == sorted([row["n"] for row in rows], reverse=True)


def test_what_the_release_says_of_its_columns(visits: Database):
    with visits.connect("analyst") as analyst:
        rows = analyst.execute(
            "SELECT column_name, form, kind, attained, part, bucket FROM pganon.release_columns"
            " WHERE release = 'visits' AND view = 'published.visits' ORDER BY position"
        ).fetchall()
    assert rows == [
        ("class_id", None, None, False, None, None),
        ("age", "range", "integer", True, "age", "class_id"),
        ("age_null", "null", "integer", True, "age", "class_id"),
        ("ward", "set", "text", True, "ward", "class_id"),
        ("ward_null", "null", "text", True, "ward", "class_id"),
        ("ill", "exact", "text", False, "records", "class_id"),
        ("days", "exact", "integer", False, "records", "class_id"),
        ("seen", "exact", "date", False, "records", "class_id"),
    ]
