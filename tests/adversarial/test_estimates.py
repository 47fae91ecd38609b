"""What an analyst writes never reaches the server but as a SELECT on the views of the release."""

from __future__ import annotations

import json
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

pytestmark = pytest.mark.primary_server_only

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
        None,
        "more than 24 ways",
    ),
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


@pytest.mark.slow
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


def in_sql(conn: Any, query: str, release: str = "visits") -> list[Any]:
    return conn.execute(
        b"SELECT * FROM pganon.estimate(%s, %s::jsonb)", [release, query]
    ).fetchall()


MISSHAPEN = [
    ("null", "the query is an object"),
    ("[]", "the query is an object"),
    ("{}", '"measure" is'),
    ('{"measure": "median"}', '"measure" is'),
    ('{"measure": {"sum": 1}}', '"measure" is'),
    ('{"measure": {"sum": "days", "avg": "days"}}', '"measure" is'),
    ('{"measure": {"count": "days"}}', '"measure" is'),
    ('{"measure": "count", "from": "pg_class"}', "a query has no 'from'"),
    ('{"measure": "count", "where": {"column": "age"}}', "are arrays"),
    ('{"measure": "count", "where": ["age"]}', "a condition is an object"),
    ('{"measure": "count", "where": [{"column": "age"}]}', "a condition is an object"),
    (
        '{"measure": "count", "where": [{"column": {"age": 1}, "eq": 1}]}',
        "a condition is an object",
    ),
    ('{"measure": "count", "by": [1]}', '"by" has names'),
    ('{"measure": "count", "by": ["ill", "ill"]}', '"by" has names'),
    ('{"measure": "count", "by": ["age"]}', "shows a range"),
    ('{"measure": {"sum": "ill"}}', "no number"),
    ('{"measure": "count", "where": [{"column": "Age\\" IS NULL --", "eq": 1}]}', "no column"),
    ('{"measure": "count", "where": [{"column": "ctid", "null": true}]}', "no column"),
    ('{"measure": "count", "where": [{"column": "age", "= 1 OR true --": 1}]}', "not an operator"),
    ('{"measure": "count", "where": [{"column": "age", "eq": null}]}', "one constant"),
    ('{"measure": "count", "where": [{"column": "age", "eq": [1]}]}', "one constant"),
    ('{"measure": "count", "where": [{"column": "age", "between": [1]}]}', "two constants"),
    ('{"measure": "count", "where": [{"column": "age", "in": []}]}', "1 to 10000"),
    ('{"measure": "count", "where": [{"column": "age", "in": [[1]]}]}', "1 to 10000"),
    ('{"measure": "count", "where": [{"column": "age", "null": "yes"}]}', "true or false"),
    ('{"measure": "count", "where": [{"column": "age", "not": 1}]}', "an object of operators"),
    ('{"measure": "count", "where": [{"column": "age", "like": "3%"}]}', "texts"),
    ('{"measure": "count", "where": [{"column": "days", "like": "3%"}]}', "does not fit"),
    ('{"measure": "count", "where": [{"column": "age", "eq": "1; DROP"}]}', "does not fit"),
    ('{"measure": "count", "where": [{"column": "seen", "lt": "now() --"}]}', "does not fit"),
]


def test_queries_of_a_wrong_shape(visits: Database):
    with visits.connect("analyst") as analyst:
        for query, message in MISSHAPEN:
            with pytest.raises(psycopg.Error, match=message) as error:
                in_sql(analyst, query)
            assert error.value.sqlstate == "PA118", query
        with pytest.raises(psycopg.Error, match="the query is an object"):
            analyst.execute("SELECT pganon.estimate('visits', NULL)")


@pytest.mark.parametrize(
    "value", ["d1' OR true --", "\\' OR 1=1 --", "%s", "%L", ":v", "b.z1", "<n>@"]
)
def test_constants_stay_constants(visits: Database, value: str):
    """The one record whose value that is is found, and no other."""
    visits.admin.execute("UPDATE clinic.visit SET ill = %s WHERE id = 1", [value])
    driver.publish(visits, POLICY)
    with visits.connect("analyst") as analyst:
        for condition in ({"eq": value}, {"in": [value]}, {"between": [value, value]}):
            query = {"measure": "count", "where": [{"column": "ill", **condition}], "by": ["ill"]}
            ((key, *_, lower, upper, _, _, _, _, _, _),) = [
                (row[0], *row[1:]) for row in in_sql(analyst, json.dumps(query))
            ]
            assert (key, lower, upper) == ({"ill": value}, 1, 1)


def test_names_stay_names(db: Database):
    """A column and a release may be called anything."""
    name = "a\"b' :v %L @ \\"
    quoted = '"' + name.replace('"', '""') + '"'
    db.source(SOURCE + f"; ALTER TABLE clinic.visit RENAME age TO {quoted}")
    columns = {name if key == "age" else key: value for key, value in POLICY["columns"].items()}
    driver.publish(db, {**POLICY, "columns": columns})
    with db.connect("analyst") as analyst:
        query = {"measure": {"avg": name}, "where": [{"column": name, "ge": 0, "null": False}]}
        ((_, _, lower, upper, *_),) = in_sql(analyst, json.dumps(query))
        assert 20 <= lower <= upper <= 50


def test_operators_of_others_are_not_called_in_sql(visits: Database):
    visits.admin.execute(
        "CREATE SCHEMA planted; GRANT USAGE ON SCHEMA planted TO PUBLIC;"
        "CREATE FUNCTION planted.lie(text, text) RETURNS boolean LANGUAGE sql"
        " AS 'SELECT true';"
        "CREATE OPERATOR planted.= (LEFTARG = text, RIGHTARG = text, FUNCTION = planted.lie);"
        "CREATE FUNCTION planted.least(bigint, bigint) RETURNS bigint"
        " LANGUAGE sql AS 'SELECT 0::bigint'"
    )
    with visits.connect("analyst") as analyst:
        analyst.execute("SET search_path = planted, pg_catalog")
        query = '{"measure": "count", "where": [{"column": "ill", "eq": "d1"}]}'
        ((_, _, lower, upper, *_),) = in_sql(analyst, query)
        assert (lower, upper) == (18, 18)


def test_a_type_whose_owner_made_operators(db: Database):
    """They would run with the rights of who asks. An enum is published as text."""
    db.source(
        SOURCE + "; CREATE TYPE clinic.grade AS ENUM ('d0', 'd1', 'd2', 'd3', 'd4');"
        "ALTER TABLE clinic.visit ALTER ill TYPE clinic.grade USING ill::clinic.grade"
    )
    driver.publish(db, POLICY)
    with db.connect("analyst") as analyst:
        query = '{"measure": "count", "where": [{"column": "ill", "lt": "d2"}], "by": ["ill"]}'
        assert [row[0] for row in in_sql(analyst, query)] == [{"ill": "d0"}, {"ill": "d1"}]
        db.admin.execute(
            "UPDATE pganon_private.version SET columns = replace(columns::text,"
            ' \'"kind": "text"\', \'"kind": "clinic.grade"\')::jsonb'
        )
        with pytest.raises(psycopg.Error, match="ill is of the type clinic"):
            in_sql(analyst, query)


def test_who_may_not_read_may_not_ask_in_sql(visits: Database):
    query = '{"measure": "count"}'
    with visits.connect("analyst") as analyst:
        assert in_sql(analyst, query)[0][2] == 90
        with pytest.raises(psycopg.Error, match="no release") as error:
            in_sql(analyst, query, "other")
        assert error.value.sqlstate == "PA401"
        visits.admin.execute("REVOKE SELECT ON published.visits FROM analyst")
        with pytest.raises(psycopg.Error, match="no release"):
            in_sql(analyst, query)


def test_a_view_in_place_of_a_published_one(db: Database):
    """Of the tables of a bucket one is another role's now: its functions would run for who asks."""
    db.source(SOURCE)
    anatomy = {
        "privacy": [{"model": "anatomy_l_diversity", "column": "ill", "l": 3}],
        "method": {"name": "anatomy"},
    }
    driver.publish(db, {**POLICY, **anatomy})
    query = '{"measure": "count", "where": [{"column": "age", "lt": 30}], "by": ["ill"]}'
    with db.connect("analyst") as analyst:
        assert len(in_sql(analyst, query)) == 5
        db.admin.execute("REVOKE SELECT ON published.visits_st FROM analyst")
        with pytest.raises(psycopg.Error, match="permission denied"):
            in_sql(analyst, query)
        db.admin.execute(
            "DROP VIEW published.visits_st;"
            "CREATE VIEW published.visits_st AS SELECT 1 AS group_id, 'd1' AS ill, 1 AS count;"
            "ALTER VIEW published.visits_st OWNER TO source_owner;"
            "GRANT SELECT ON published.visits_st TO analyst"
        )
        with pytest.raises(psycopg.Error, match="not the view that was published") as error:
            in_sql(analyst, query)
        assert error.value.sqlstate == "PA118"
