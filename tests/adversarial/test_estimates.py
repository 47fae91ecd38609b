"""What an analyst writes never reaches the server but as a SELECT on the views of the release."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
import sqlglot
from sqlglot import exp

from pganon.errors import PganonError
from pganon.estimation.ask import ask
from pganon.estimation.refusals import EstimateRefused
from tests.support.harness import driver
from tests.support.harness.cluster import Database

SOURCE = """
    CREATE SCHEMA clinic;
    CREATE TABLE clinic.visit AS SELECT g AS id, 20 + g % 30 AS age, 'W' || g % 3 AS ward,
        'd' || g % 5 AS ill, g % 7 AS days, date '2020-01-01' + g AS seen
        FROM generate_series(1, 90) AS g;
    ALTER TABLE clinic.visit ADD PRIMARY KEY (id);
    GRANT USAGE ON SCHEMA clinic TO steward;
    GRANT SELECT ON clinic.visit TO steward
"""
POLICY: dict[str, Any] = {
    "release": "visits",
    "source": "clinic.visit",
    "columns": {
        "id": {"role": "identifying"},
        "age": {"role": "quasi_identifying"},
        "ward": {"role": "quasi_identifying"},
        "ill": {"role": "sensitive"},
        "days": {"role": "insensitive"},
        "seen": {"role": "insensitive"},
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


REFUSED = [
    ("SELECT * FROM visits", 8, "single records"),
    ("SELECT age FROM visits", 8, "only aggregates and keys"),
    ("SELECT DISTINCT age FROM visits", None, "DISTINCT"),
    ("SELECT count(DISTINCT age) FROM visits", 8, "distinct"),
    ("SELECT count(*) FROM visits, pg_class", None, "join"),
    ("SELECT count(*) FROM visits JOIN pg_class ON true", None, "join"),
    ("SELECT count(*) FROM visits UNION SELECT 1", None, "not a SELECT"),
    ("WITH v AS (SELECT 1) SELECT count(*) FROM visits", None, "WITH"),
    ("SELECT count(*) FROM (SELECT 1) AS visits", None, "sub-select"),
    ("SELECT count(*) FROM pg_class", 22, "not from the release"),
    ("SELECT count(*) FROM clinic.visits", 22, "not from the release"),
    ("SELECT count(*) FROM visits; DROP TABLE x", None, "more than one"),
    ("DELETE FROM visits", None, "not a SELECT"),
    ("SELECT count(*) FROM visits WHERE agee = 1", 35, "no column agee"),
    ("SELECT count(*) FROM visits WHERE v.age = 1", 35, 'no table "v"'),
    ("SELECT count(*) FROM visits WHERE age = days", 41, "are apart"),
    ("SELECT count(*) FROM visits WHERE pg_sleep(9) IS NULL", 35, "pg_sleep"),
    ("SELECT count(*) FROM visits WHERE ill = $1", 42, "parameter"),
    ("SELECT count(*) FROM visits WHERE ill::regclass IS NULL", 35, "cast"),
    ("SELECT count(*) FROM visits WHERE EXISTS (SELECT 1)", None, "sub-select"),
    ("SELECT count(*) FROM visits WHERE age IN (SELECT 1)", None, "sub-select"),
    ("SELECT count(*) FROM visits WHERE ill OPERATOR(public.=) 'x'", None, ""),
    ("SELECT count(*) OVER () FROM visits", 8, "OVER"),
    ("SELECT median(age) FROM visits", 8, "median"),
    ("SELECT count(*) FROM visits GROUP BY ROLLUP (ill)", 46, "rollup"),
    ("SELECT count(*) FROM visits HAVING median(days) > 1", 36, "median"),
    ("SELECT count(*) FILTER (WHERE pg_sleep(9) IS NULL) FROM visits", 31, "pg_sleep"),
    ("SELECT median(age) FILTER (WHERE ill = 'd1') FROM visits", 8, "median"),
    ("SELECT count(*) FILTER (WHERE ill = 'd1') OVER () FROM visits", 8, "OVER"),
    ("SELECT count(*) FILTER (WHERE age = days) FROM visits", 37, "are apart"),
    ("SELECT count(*) || ill FROM visits", 8, "only combined"),
    ("SELECT 1 + pg_sleep(9) * count(*) FROM visits", 12, "only combined"),
    ("SELECT count(*)::text FROM visits", 8, "only combined"),
    ("SELECT count(*) FROM visits HAVING days > 1", 36, "aggregates and keys"),
    ("SELECT count(*) FROM visits HAVING pg_sleep(9) IS NULL", 36, "pg_sleep"),
    ("SELECT sum(ill) FROM visits", 12, "takes a number"),
    ("SELECT max(ill) FROM visits", 12, "takes a number or a date"),
    ("SELECT count(*) FROM visits WHERE true", None, "must be about a column"),
    ("SELECT count(*) AS classes FROM visits", None, "would be named classes"),
    ("SELECT count(* FROM visits", 16, "cannot be read"),
    ("SELECT count(*) AS n, sum(days) AS n FROM visits", None, "two columns"),
    ("SELECT count(*) AS n, sum(days) AS n_error FROM visits", None, "two columns"),
    (
        "SELECT count(*) FROM visits WHERE "
        + " OR ".join(f"(age = {20 + i} AND ill = 'd{i}')" for i in range(5)),
        36,
        "more than 8 conditions",
    ),
    ("SELECT avg(age) FROM visits WHERE age < 30 OR ill = 'd1'", None, "alternative"),
    ("", None, "not a SELECT"),
    ("SELECT count(*) FROM visits WHERE " + "(" * 3000, None, ""),
    ("SELECT count(*) FROM visits WHERE " + " AND ".join(["age > 1"] * 600), None, "parts"),
]


def test_what_is_refused(visits: Database):
    """Each with its place, before any of it reaches the server."""
    with visits.connect("analyst") as analyst:
        for text, column, words in REFUSED:
            with pytest.raises(EstimateRefused) as refused:
                ask(analyst, "visits", text)
            assert words in refused.value.message, (text, refused.value.message)
            if column is not None:
                place = f"line 1, column {column}: "
                assert refused.value.message.startswith(place), refused.value.message


ODD = [
    """SELECT count(*) FROM visits WHERE ill = 'd1'' OR 1=1 --'""",
    r"SELECT count(*) FROM visits WHERE ill = '\'",
    """SELECT count(*) /* ; DROP TABLE x; */ AS "a""; b" FROM visits -- DELETE""",
    """SELECT count(*) FROM published."visits" AS "x y" WHERE "x y"."ill" = $$d1$$""",
    "SELECT ill, count(*) AS n FROM visits WHERE ward LIKE 'W%' GROUP BY ill ORDER BY n LIMIT 2",
    "SELECT count(*) FROM visits WHERE ill = '%s {} :x @ #'",
    "SELECT COUNT(*) FROM VISITS WHERE AGE BETWEEN 20 AND 30",
    "SELECT count(*) FROM visits WHERE (age < 30 AND ill = 'd1') OR (age > 40 AND ill = 'd2')",
    "SELECT ill, count(*) FROM visits GROUP BY 1 HAVING count(*) > 17 AND ill <> 'd1; --'",
    "SELECT ill, avg(days) FILTER (WHERE ward = 'x''; --') FROM visits GROUP BY 1 LIMIT 2",
]


def test_only_selects_on_the_views_reach_the_server(visits: Database):
    with visits.connect("analyst") as analyst:
        for text in ODD:
            try:
                found = ask(analyst, "visits", text)
            except EstimateRefused:
                continue
            (tree,) = sqlglot.parse(found.sql, dialect="postgres")
            assert isinstance(tree, exp.Select)
            own = {cte.alias for cte in tree.find_all(exp.CTE)}
            read = {(t.db, t.name) for t in tree.find_all(exp.Table) if t.name}
            assert {r for r in read if r[0]} == {("published", "visits")}
            assert {name for schema, name in read if not schema} <= own
            assert not list(tree.find_all(exp.DML, exp.DDL))


def test_every_odd_text_is_one_value(visits: Database):
    """Quotes, backslashes and placeholders in a constant are what they are in SQL."""
    with visits.connect("analyst") as analyst:
        for text in (ODD[0], ODD[1], ODD[5]):
            (row,) = ask(analyst, "visits", text).as_dicts()
            assert row["count_upper"] == 0
        (row,) = ask(analyst, "visits", ODD[6]).as_dicts()
        assert row["count_lower"] > 0


def test_a_transaction_that_only_reads(visits: Database, monkeypatch: pytest.MonkeyPatch):
    """One snapshot, and nothing can be written in it."""
    seen = []

    def look(conn: Any, question: Any, spread: Any) -> Any:
        settings = "transaction_read_only", "transaction_isolation"
        seen.append([conn.execute(f"SHOW {name}".encode()).fetchone()[0] for name in settings])
        raise EstimateRefused("stop")

    monkeypatch.setattr("pganon.estimation.ask.answer", look)
    with visits.connect("analyst") as analyst, pytest.raises(EstimateRefused, match="stop"):
        ask(analyst, "visits", "SELECT count(*) FROM visits")
    assert seen == [["on", "repeatable read"]]


def test_who_may_not_read_may_not_ask(visits: Database):
    visits.admin.execute("REVOKE SELECT ON published.visits FROM analyst")
    with visits.connect("analyst") as analyst, pytest.raises(PganonError) as error:
        ask(analyst, "visits", "SELECT count(*) FROM visits")
    assert error.value.code == "unknown_release"


def test_operators_and_functions_of_others(visits: Database):
    """Those that the analyst's search path finds first are not called."""
    visits.admin.execute(
        "CREATE SCHEMA planted; GRANT USAGE ON SCHEMA planted TO PUBLIC;"
        "CREATE FUNCTION planted.lie(text, text) RETURNS boolean LANGUAGE sql"
        " AS 'SELECT true';"
        "CREATE OPERATOR planted.= (LEFTARG = text, RIGHTARG = text, FUNCTION = planted.lie);"
        "CREATE FUNCTION planted.floor(numeric) RETURNS numeric LANGUAGE sql AS 'SELECT 1 / 0.0'"
    )
    visits.admin.execute("ALTER ROLE analyst SET search_path = planted, pg_catalog")
    try:
        with visits.connect("analyst") as analyst:
            text = "SELECT count(*) FROM visits WHERE ill = 'd1' AND floor(age::numeric) > 0"
            (row,) = ask(analyst, "visits", text).as_dicts()
            assert (row["count_lower"], row["count_upper"]) == (18, 18)
    finally:
        visits.admin.execute("ALTER ROLE analyst RESET search_path")


def test_a_view_in_place_of_the_release_is_not_read(visits: Database):
    """Who owns the schema could put another one there."""
    visits.admin.execute("ALTER VIEW published.visits RENAME TO hidden")
    visits.admin.execute("CREATE VIEW published.visits AS TABLE clinic.visit")
    visits.admin.execute("GRANT SELECT ON published.visits TO analyst")
    with visits.connect("analyst") as analyst, pytest.raises(PganonError) as error:
        ask(analyst, "visits", "SELECT count(*) FROM visits")
    assert error.value.code == "unknown_release"


def test_a_condition_that_fails_on_a_value(visits: Database):
    """The error names no value."""
    with visits.connect("analyst") as analyst, pytest.raises(EstimateRefused) as refused:
        ask(analyst, "visits", "SELECT count(*) FROM visits WHERE 1 / (age - age) > 0")
    assert refused.value.message == "the condition fails on a value that a class covers (22012)"


def test_a_connection_is_left_as_it_was(visits: Database):
    with visits.connect("analyst") as analyst:
        ask(analyst, "visits", "SELECT count(*) FROM visits")
        assert analyst.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
