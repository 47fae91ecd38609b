"""`publish.labels`: the values below labels, and estimates that use them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg
import pytest

from pganon.errors import InstallError, PolicyError
from pganon.estimation import alternatives
from pganon.estimation.ask import answer, ask
from pganon.estimation.parse import parse_query
from pganon.estimation.refusals import Unsupported
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.estimation.resolve import resolve
from pganon.identifiers import QualifiedName
from tests.integration.estimation.test_in_sql import in_sql, same
from tests.support.harness import driver
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

PATHS = [[f"Z{i}", "low" if i < 4 else "high", "all"] for i in range(9)]
"""Nobody is in Z7 or Z8."""


def policy(**changes: Any) -> dict[str, Any]:
    return {
        "release": "labelled",
        "source": "public.labelled",
        "columns": {
            "id": {"role": "identifying"},
            "zip": {"role": "quasi_identifying", "hierarchy": {"inline": PATHS}},
            "code": {"role": "quasi_identifying", "hierarchy": {"prefix": [1]}},
            "x": {"role": "sensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": 12}],
        "method": {"name": "full_domain"},
        "publish": {"readers": ["analyst"], "labels": True},
        **changes,
    }


@pytest.fixture
def labelled(db: Database) -> Database:
    db.source(
        "CREATE TABLE public.labelled AS SELECT g AS id, 'Z' || g % 7 AS zip, 'c' || g % 2 AS code,"
        " g % 3 AS x FROM generate_series(1, 63) AS g;"
        "ALTER TABLE public.labelled ADD PRIMARY KEY (id)"
    )
    return db


@pytest.mark.slow
def test_conditions_on_values(labelled: Database):
    driver.publish(labelled, policy())
    with labelled.connect("analyst") as analyst:
        shown = analyst.execute(
            "SELECT column_name, label, value FROM published.labelled_labels ORDER BY 3"
        ).fetchall()
        kept = {row[0] for row in analyst.execute("SELECT DISTINCT zip FROM published.labelled")}
        assert kept == {"low", "high"}
        assert shown == [("zip", label, value) for value, label, _ in PATHS]
        text = "SELECT count(*) AS v FROM labelled WHERE {}"
        (row,) = ask(analyst, "labelled", text.format("zip < 'Z4'")).as_dicts()
        assert (row["v_lower"], row["v_upper"], row["v"]) == (36, 36, 36)
        (row,) = ask(analyst, "labelled", text.format("zip IN ('Z0', 'Z6')"), "uniform").as_dicts()
        assert (row["v_lower"], row["v_upper"]) == (0, 63)
        assert row["v"] == pytest.approx(36 / 4 + 27 / 5)
        for condition, where in [
            ({"eq": "Z1"}, "zip = 'Z1'"),
            (
                {"like": "Z%", "not": {"in": ["Z0", "Z8"]}},
                "zip LIKE 'Z%' AND zip NOT IN ('Z0', 'Z8')",
            ),
        ]:
            query = {"measure": "count", "where": [{"column": "zip", **condition}], "by": ["x"]}
            same(
                analyst,
                query,
                f"SELECT x, count(*) AS v FROM labelled WHERE {where} GROUP BY x",
                "labelled",
            )
        query = {"measure": {"avg": "x"}, "by": ["zip"]}
        same(analyst, query, "SELECT zip, avg(x) AS v FROM labelled GROUP BY zip", "labelled")


@pytest.mark.slow
def test_a_view_in_place_of_the_published_one(labelled: Database):
    """Its functions would run with the rights of who asks."""
    driver.publish(labelled, policy())
    labelled.admin.execute(
        "DROP VIEW published.labelled_labels; CREATE VIEW published.labelled_labels AS"
        " SELECT 'zip'::text AS column_name, 'low'::text AS label, 'Z1'::text AS value;"
        "ALTER VIEW published.labelled_labels OWNER TO source_owner;"
        "GRANT SELECT ON published.labelled_labels TO analyst"
    )
    with labelled.connect("analyst") as analyst:
        with pytest.raises(InstallError) as error:
            ask(analyst, "labelled", "SELECT count(*) FROM labelled WHERE zip = 'Z1'")
        assert error.value.code == "foreign_view"
        query = {"measure": "count", "where": [{"column": "zip", "eq": "Z1"}]}
        with pytest.raises(psycopg.Error, match="not the view that was published"):
            in_sql(analyst, query, "labelled")


def test_not_by_default(labelled: Database):
    driver.publish(labelled, policy(publish={"readers": ["analyst"]}))
    found = labelled.admin.execute("SELECT to_regclass('published.labelled_labels')").fetchone()
    assert found == (None,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {
                "method": {"name": "anatomy"},
                "privacy": [{"model": "anatomy_l_diversity", "column": "x", "l": 2}],
            },
            "method anatomy does not publish",
        ),
        (
            {
                "columns": {
                    "id": {"role": "identifying"},
                    "zip": {"role": "identifying"},
                    "code": {"role": "quasi_identifying", "hierarchy": {"prefix": [1]}},
                    "x": {"role": "sensitive"},
                }
            },
            "no column shows labels",
        ),
        ({"release": "r" * 57}, "_labels.* has 64 bytes"),
    ],
)
def test_refusals(labelled: Database, changes: dict[str, Any], message: str):
    with pytest.raises(PolicyError, match=message):
        driver.publish(labelled, policy(**changes))


# -- without them --------------------------------------------------------------------------------

_SHOWN = QualifiedName("worlds", "labelled")
_ZIP = Part("zip", False, _SHOWN, "class_id", None)
_REST = replace(_ZIP, name="records", exact=True)
LABELLED = AskedRelease(
    "released",
    1,
    _SHOWN,
    _ZIP,
    None,
    {
        "zip": Published("zip", "label", "text", '"default"', False, _ZIP, "zip_null"),
        "flu": Published("flu", "exact", "text", '"default"', False, _REST),
        "x": Published("x", "exact", "integer", None, False, _REST),
    },
)


def _fill(conn: psycopg.Connection[Any], flu: str) -> None:
    """Records with each of these in four classes: north, north or none, anywhere, none."""
    conn.execute("CREATE SCHEMA worlds")
    conn.execute(
        "CREATE TABLE worlds.labelled AS"
        " SELECT c AS class_id, z AS zip, missing AS zip_null, f AS flu, 1 AS x FROM"
        " (VALUES (1, 'north', false), (2, 'north', true), (3, '*', false), (4, NULL, true))"
        " AS v(c, z, missing) CROSS JOIN string_to_table(%s, NULL) AS f",
        [flu],
    )


@pytest.mark.parametrize(
    ("where", "bounds"),
    [
        ("zip = 'north' OR flu = 'a'", (6, 10)),
        ("NOT (zip = 'north' OR flu = 'a')", (0, 2)),
        ("(zip = 'north' AND flu = 'a') OR (zip = 'south' AND flu <> 'a')", (1, 8)),
        ("(zip IS NULL AND flu = 'a') OR (zip = 'north' AND flu <> 'a')", (3, 8)),
    ],
)
@pytest.mark.parametrize("listed", ["count(*) n", "count(*) n, sum(x) s"])
def test_labels_may_be_in_alternatives(
    db: Database, where: str, bounds: tuple[int, int], listed: str
):
    """Of a label it is not known whether a condition on what it hides is true."""
    with db.connect() as conn:
        _fill(conn, "abb")
        found = resolve(parse_query(f"SELECT {listed} FROM released WHERE {where}"), LABELLED)
        (row,) = answer(conn, found, "uniform").as_dicts()
    assert (row["n_lower"], row["n_upper"]) == bounds


@pytest.mark.parametrize(
    ("where", "bounds"),
    [
        ("(zip = 'south' AND flu = 'a') OR (zip = 'west' AND flu = 'b')", (0, 6)),
        ("(zip = 'south' AND flu = 'a') OR (zip = 'north' AND flu = 'c')", (2, 9)),
        ("(zip = 'south' OR flu = 'a') AND (zip = 'north' OR flu = 'c')", (0, 12)),
    ],
)
def test_bounds_of_alternatives_alone(db: Database, where: str, bounds: tuple[int, int]):
    """At least as many as one of them has, and at most as many as all of them."""
    assert _bounds(db, where) == bounds


def test_alternatives_alone_are_read_if_there_is_room(
    db: Database, monkeypatch: pytest.MonkeyPatch
):
    """Two alternatives of two conditions each are true in three ways, and not true in four."""
    where = "(zip = 'south' AND flu = 'a') OR (zip = 'west' AND flu = 'b')"
    monkeypatch.setattr(alternatives, "MAX_WAYS", 3 + 4 + 1)
    assert _bounds(db, where) == (0, 9)


def _bounds(db: Database, where: str) -> tuple[int, int]:
    with db.connect() as conn:
        _fill(conn, "abcc")
        found = resolve(parse_query(f"SELECT count(*) n FROM released WHERE {where}"), LABELLED)
        (row,) = answer(conn, found, "uniform").as_dicts()
    assert row["n_lower"] <= row["n_low"] <= row["n"] <= row["n_high"] <= row["n_upper"]
    return row["n_lower"], row["n_upper"]


def test_labels_of_people_with_several_records():
    """Their records are not told apart, so that alternatives are not answered one by one."""
    people = Published("individual_no", "individual", "integer", None, False, _REST)
    columns = {**LABELLED.columns, "individual_no": people}
    asked = replace(LABELLED, person=people, columns=columns)
    where = "(zip = 'a' AND flu = 'a') OR (zip = 'b' AND flu = 'b')"
    with pytest.raises(Unsupported, match="several alternatives"):
        resolve(parse_query(f"SELECT count(*) FROM released WHERE {where}"), asked)


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("count(*) FROM released WHERE zip LIKE 'n%'", "SELECT DISTINCT zip"),
        ("sum(x * 2) FROM released", "2 * sum(a) for sum(2 * a)"),
        ("round(avg(x), 1) FROM released", "round the answer"),
    ],
)
def test_what_to_ask_instead(query: str, hint: str):
    with pytest.raises(Unsupported) as refused:
        resolve(parse_query(f"SELECT {query}"), LABELLED)
    assert hint in (refused.value.hint or "")
