"""Floats: sums as the server rounds them, zero, infinity and NaN."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import psycopg
import pytest

from pganon.estimation.ask import ask
from tests.support.harness import cli, driver
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

SOURCE = """
    CREATE TABLE public.visit AS SELECT i AS id, 20 + i % 10 AS age, i % 4 AS job,
        (CASE WHEN i % 10 = 0 THEN 0 ELSE i % 37 * 0.1 END)::real AS dose, (i * 0.3)::real AS cost,
        i * 0.3::double precision AS price, NULL::integer AS nothing,
        CASE i % 10 WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' WHEN 3 THEN 'NaN'
            WHEN 4 THEN NULL ELSE 1.5 END::double precision AS x
        FROM generate_series(1, 300) AS i;
    ALTER TABLE public.visit ADD PRIMARY KEY (id);
    GRANT SELECT ON public.visit TO steward
"""
POLICY: dict[str, Any] = {
    "release": "visits",
    "source": "public.visit",
    "columns": {
        "id": {"role": "identifying"},
        "dose": {"role": "quasi_identifying"},
        "age": {"role": "quasi_identifying"},
        "job": {"role": "sensitive"},
        **{name: {"role": "insensitive"} for name in ("cost", "price", "x", "nothing")},
    },
    "privacy": [{"model": "k_anonymity", "k": 5}],
    "method": {"name": "mondrian"},
    "publish": {"readers": ["analyst"]},
}


def released(db: Database) -> None:
    db.source(SOURCE)
    driver.publish(db, POLICY)


@pytest.fixture
def visits(db_after: Any) -> Database:
    db, _ = db_after(released)
    return db


WHERES = ("true", "cost > 2", "dose < 1", "dose = 0", "dose <= 0", "dose < 1e-50", "price < 0.9")


@pytest.mark.parametrize("column", ["cost", "price", "dose"])
@pytest.mark.slow
def test_sums_and_means_as_the_server_rounds_them_are_within_the_bounds(
    visits: Database, column: str
):
    """In any order of the rows; what is added up first decides what is rounded away."""
    text = f"SELECT sum({column}) AS s, avg({column}) AS a, count(*) AS n FROM"
    for where in WHERES:
        about = "age > 0" if where == "true" else where
        with visits.connect("analyst") as conn:
            (found,) = ask(conn, "visits", f"{text} visits WHERE {about}").as_dicts()
        for order in ("id", "id DESC", "-cost", "md5(id::text)"):
            rows = f"(SELECT * FROM public.visit ORDER BY {order} OFFSET 0) AS v"
            s, a, n = visits.admin.execute(f"{text} {rows} WHERE {about}".encode()).fetchall()[0]
            assert found["s_lower"] <= s <= found["s_upper"], (about, order)
            assert found["a_lower"] <= a <= found["a_upper"], (about, order)
            assert found["n_lower"] <= n <= found["n_upper"], (about, order)


@pytest.mark.parametrize("measure", ["sum", "avg"])
def test_sql_has_the_bounds_of_the_program(visits: Database, measure: str):
    with visits.connect("analyst") as conn:
        for column in ("cost", "price"):
            (row,) = ask(conn, "visits", f"SELECT {measure}({column}) AS v FROM visits").as_dicts()
            query = json.dumps({"measure": {measure: column}})
            found = conn.execute(
                "SELECT lower, upper FROM pganon.estimate('visits', %s)", [query]
            ).fetchall()
            assert found == [(row["v_lower"], row["v_upper"])]
            assert row["v_lower"] < row["v"] < row["v_upper"]


def shown(db: Database, text: str, *more: str) -> str:
    ran = cli.pganon("estimate", "visits", text, *more, "--dsn", db.dsn("analyst"))
    assert ran.code == 0, ran.err
    return ran.out


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        ("max(x)", "NaN"),
        ("min(x)", "-Infinity"),
        ("min(x) FILTER (WHERE x > 2)", "Infinity"),
        ("max(x) - min(x)", "NaN"),
        ("count(x)", "270"),
    ],
)
def test_infinity_and_nan_are_printed_as_the_server_prints_them(
    visits: Database, what: str, wanted: str
):
    text = f"SELECT {what} AS m FROM visits"
    assert f" {wanted} " in shown(visits, text)
    (row,) = json.loads(shown(visits, text, "--json"))["rows"]
    assert str(row["m"]).removesuffix(".0") == wanted
    _, cells = csv.reader(io.StringIO(shown(visits, text, "--csv")))
    assert cells[0].removesuffix(".0") == wanted
    if "-" in what:
        # Infinity less infinity is no bound.
        assert row["m_lower"] is row["m_upper"] is None


def test_keys_that_are_no_numbers(visits: Database):
    text = "SELECT x, count(*) AS n FROM visits GROUP BY x"
    found = [row["x"] for row in json.loads(shown(visits, text, "--json"))["rows"]]
    assert found == ["-Infinity", 1.5, "Infinity", "NaN", None]
    keys = [row[0] for row in csv.reader(io.StringIO(shown(visits, text, "--csv")))]
    assert keys == ["x", "-Infinity", "1.5", "Infinity", "NaN", ""]


@pytest.mark.parametrize("measure", ["avg", "min", "max"])
def test_nothing_to_average_or_to_compare_is_told(visits: Database, measure: str):
    with visits.connect("analyst") as conn:
        for column, empty in (("nothing", True), ("cost", False)):
            text = f"SELECT {measure}({column}) AS v FROM visits"
            (row,) = ask(conn, "visits", text).as_dicts()
            assert row["maybe_empty"] == empty
            if measure == "avg":
                query = json.dumps({"measure": {"avg": column}})
                found = conn.execute(
                    "SELECT maybe_empty FROM pganon.estimate('visits', %s)", [query]
                ).fetchall()
                assert found == [(empty,)]


@pytest.mark.parametrize("scale", ["1e200", "1e-200"])
@pytest.mark.parametrize("role", ["insensitive", "quasi_identifying"])
def test_numbers_whose_squares_are_beyond_double_precision(db: Database, scale: str, role: str):
    """The refusal names the column, and speaks of no condition; counts are answered."""
    db.source(SOURCE)
    db.source(f"UPDATE public.visit SET price = price * {scale}", grant=False)
    columns = {**POLICY["columns"], "price": {"role": role}}
    driver.publish(db, {**POLICY, "columns": columns})
    with db.connect("analyst") as conn:
        for text in ("sum(price)", "avg(price)", "max(price)", "sum(price), count(*)"):
            with driver.refused("estimate") as caught:
                ask(conn, "visits", f"SELECT {text} FROM visits WHERE dose > 1")
            assert "numbers of price are too" in caught[0].message
            assert "condition" not in caught[0].message
        assert ask(conn, "visits", "SELECT count(*) AS v FROM visits WHERE price > 0").as_dicts()
        # Ranges of floats are not estimated in SQL at all.
        for measure in ("sum", "avg") if role == "insensitive" else ():
            question = json.dumps({"measure": {measure: "price"}})
            with pytest.raises(psycopg.Error, match="numbers of price are too") as error:
                conn.execute("SELECT * FROM pganon.estimate('visits', %s)", [question])
            assert error.value.sqlstate == "PA118"
