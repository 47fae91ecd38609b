"""pganon.estimate in SQL answers as the program does, where it answers."""

from __future__ import annotations

import random
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pganon.estimation.ask import ask
from tests.integration.estimation.test_every_form import After
from tests.integration.methods.test_conformance import released
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection

pytestmark = pytest.mark.primary_server_only

FIGURES = ("", "_lower", "_upper", "_low", "_high", "_error")
CONDITIONS: dict[str, list[tuple[dict[str, Any], str]]] = {
    "age": [
        ({"between": [21, 23]}, "age BETWEEN 21 AND 23"),
        ({"lt": 24.5, "ne": 21}, "age < 24.5 AND age <> 21"),
        ({"in": [20, 22, 26]}, "age IN (20, 22, 26)"),
        ({"not": {"between": [22, 30]}}, "NOT age BETWEEN 22 AND 30"),
        ({"gt": 22}, "age > 22"),
        ({"ge": 22, "le": 25}, "age >= 22 AND age <= 25"),
    ],
    "zip": [
        ({"eq": "Z1"}, "zip = 'Z1'"),
        ({"null": True}, "zip IS NULL"),
        ({"null": False, "ne": "Z2"}, "zip IS NOT NULL AND zip <> 'Z2'"),
        ({"like": "Z%", "not": {"in": ["Z3", "Z4"]}}, "zip LIKE 'Z%' AND NOT zip IN ('Z3', 'Z4')"),
    ],
    "disease": [
        ({"eq": "d1"}, "disease = 'd1'"),
        ({"in": ["d0", "d2"]}, "disease IN ('d0', 'd2')"),
    ],
    "cost": [({"lt": 40}, "cost < 40"), ({"not": {"lt": 30}}, "NOT cost < 30")],
}
MEASURES: list[tuple[Any, str]] = [
    ("count", "count(*)"),
    ({"sum": "cost"}, "sum(cost)"),
    ({"avg": "cost"}, "avg(cost)"),
    ({"sum": "age"}, "sum(age)"),
    ({"avg": "age"}, "avg(age)"),
]


def in_sql(conn: Connection, query: dict[str, Any], release: str = "visits") -> list[Any]:
    cursor = conn.execute("SELECT * FROM pganon.estimate(%s, %s)", [release, Jsonb(query)])
    return cursor.fetchall()


def same(conn: Connection, query: dict[str, Any], text: str, release: str = "visits") -> None:
    """Both answers have the same groups and figures."""
    found = in_sql(conn, query, release)
    wanted = ask(conn, release, text, "uniform").as_dicts()
    names = [*(f"v{end}" for end in FIGURES), "classes", "few", "maybe_empty"]
    by_key = {tuple(sorted((key or {}).items(), key=str)): row for key, *row in found}
    assert len(found) == len(by_key) == len(wanted), text
    for row in wanted:
        key = tuple(sorted(((k, row[k]) for k in query.get("by", [])), key=str))
        for name, one, other in zip(names, by_key[key], [row[n] for n in names], strict=True):
            if one is None or other is None:
                assert one is other, (text, name)
            else:
                assert float(one) == pytest.approx(float(other), rel=1e-9, abs=1e-9), (text, name)


@pytest.mark.parametrize("method", ["mondrian", "one_dimensional", "anatomy", "slicing"])
@pytest.mark.slow
def test_the_same_as_from_the_program(db_after: After, method: str):
    db, _ = db_after(released, method)
    db.admin.execute("GRANT USAGE ON SCHEMA published TO analyst")
    db.admin.execute("GRANT SELECT ON ALL TABLES IN SCHEMA published TO analyst")
    draw = random.Random(method)
    with db.connect("analyst") as analyst:
        for number in range(12):
            names = draw.sample(list(CONDITIONS), draw.choice([0, 1, 2, 3]))
            chosen = [(name, *draw.choice(CONDITIONS[name])) for name in names]
            given, measure = MEASURES[number % 5]
            by = draw.choice([[], [], ["disease"], ["zip"], ["zip", "disease"]])
            query = {
                "measure": given,
                "where": [{"column": n, **c} for n, c, _ in chosen],
                "by": by,
            }
            text = f"SELECT {', '.join([*by, measure])} AS v FROM visits"
            text += f" WHERE {' AND '.join(t for *_, t in chosen)}" if chosen else ""
            text += f" GROUP BY {', '.join(by)}" if by else ""
            same(analyst, query, text)


TYPED: dict[str, tuple[str, str, list[tuple[dict[str, Any], str]]]] = {
    "d": (
        "date",
        "date '2024-01-01' + g % 50",
        [
            ({"lt": "2024-01-20"}, "d < '2024-01-20'"),
            ({"eq": "2024-01-20"}, "d = '2024-01-20'"),
            (
                {"not": {"between": ["2024-01-10", "2024-02-01"]}},
                "NOT d BETWEEN '2024-01-10' AND '2024-02-01'",
            ),
        ],
    ),
    "t": (
        "timestamp",
        "timestamp '2024-01-01' + (g * 7919 % 2400) * interval '1 hour'",
        [
            ({"le": "2024-02-01 12:00"}, "t <= '2024-02-01 12:00'"),
            ({"gt": "2024-03-01"}, "t > '2024-03-01'"),
        ],
    ),
    "p": (
        "numeric",
        "nullif((g * 37 % 100) / 4.0, 3)",
        [
            ({"ge": 12.5}, "p >= 12.5"),
            ({"eq": 12.5}, "p = 12.5"),
            ({"ne": 5, "lt": 20}, "p <> 5 AND p < 20"),
            ({"null": True}, "p IS NULL"),
        ],
    ),
    "c": (
        "numeric(6,2)",
        "(g * 37 % 100) / 4.0",
        [({"ge": 12.5}, "c >= 12.5"), ({"in": [0.25, 5]}, "c IN (0.25, 5)")],
    ),
}


@pytest.mark.parametrize("column", TYPED)
@pytest.mark.slow
def test_ranges_of_other_types(db: Database, column: str):
    kind, value, conditions = TYPED[column]
    db.source(
        f"CREATE TABLE public.typed AS SELECT g AS id, ({value})::{kind} AS {column}, g % 3 AS x"
        " FROM generate_series(1, 120) AS g; ALTER TABLE public.typed ADD PRIMARY KEY (id)"
    )
    roles = {"id": "identifying", column: "quasi_identifying", "x": "sensitive"}
    policy = {
        "release": "typed",
        "source": "public.typed",
        "columns": {name: {"role": role} for name, role in roles.items()},
        "privacy": [{"model": "k_anonymity", "k": 7}],
        "method": {"name": "mondrian"},
    }
    driver.publish(db, policy)
    measured = [] if column in "dt" else [({m: column}, f"{m}({column})") for m in ("sum", "avg")]
    with db.connect() as conn:
        for condition, text in conditions:
            for given, measure in [*MEASURES[:1], *measured, ({"avg": "x"}, "avg(x)")]:
                query = {"measure": given, "where": [{"column": column, **condition}]}
                same(conn, query, f"SELECT {measure} AS v FROM typed WHERE {text}", "typed")


def test_labels(db: Database):
    db.source(
        "CREATE TABLE public.labelled AS SELECT g AS id, 'Z' || g % 7 AS zip, g % 3 AS x"
        " FROM generate_series(1, 60) AS g; ALTER TABLE public.labelled ADD PRIMARY KEY (id)"
    )
    paths = [[f"Z{i}", "low" if i < 4 else "high", "all"] for i in range(7)]
    policy = {
        "release": "labelled",
        "source": "public.labelled",
        "columns": {
            "id": {"role": "identifying"},
            "zip": {"role": "quasi_identifying", "hierarchy": {"inline": paths}},
            "x": {"role": "sensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": 12}],
        "method": {"name": "full_domain"},
    }
    driver.publish(db, policy)
    with db.connect() as conn:
        for condition, text in [
            ({"eq": "low"}, "zip = 'low'"),
            ({"ne": "low"}, "zip <> 'low'"),
            ({"in": ["low", "Z5"]}, "zip IN ('low', 'Z5')"),
            ({"not": {"eq": "Z1"}}, "NOT zip = 'Z1'"),
        ]:
            query = {
                "measure": "count",
                "where": [{"column": "zip", **condition}, {"column": "x", "eq": 1}],
            }
            same(
                conn,
                query,
                f"SELECT count(*) AS v FROM labelled WHERE {text} AND x = 1",
                "labelled",
            )
        with pytest.raises(psycopg.Error, match="labels of a hierarchy"):
            in_sql(conn, {"measure": "count", "where": [{"column": "zip", "lt": "Z"}]}, "labelled")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("danonyir", "several records per individual"),
        ("sloms", "several groups per record"),
        ("lgb_mdp", "several groups per record"),
        ("qs_greedy", "has no column cost"),
    ],
)
def test_forms_that_sql_refuses(db_after: After, method: str, message: str):
    """Of clusters what is in arrays of all records."""
    db, _ = db_after(released, method)
    with db.connect() as conn, pytest.raises(psycopg.Error, match=message):
        in_sql(conn, {"measure": {"sum": "cost"}})


def test_types_that_are_compared(db: Database):
    """Those of the server alone."""
    db.admin.execute("CREATE TYPE public.mood AS ENUM ('sad'); CREATE DOMAIN public.code AS text")
    kinds = ["numeric(6,2)", "character(3)", "timestamp with time zone", "public.mood"]
    kinds += ["public.code", "integer[]", "json", "regclass", "nothing"]
    found = db.admin.execute(
        "SELECT pganon.plain_type(k) FROM unnest(%s::text[]) WITH ORDINALITY AS u(k, i) ORDER BY i",
        [kinds],
    )
    wanted = ["numeric", "bpchar", "timestamp with time zone", *[None] * 6]
    assert [row[0] for row in found] == wanted
