"""Published views of QS k-anonymity, and what is refused, on whole runs."""

from __future__ import annotations

import datetime as dt
import itertools
import math
import random
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from pganon.run.record import RunResult
from tests.support.harness import digests
from tests.support.harness.driver import fetch, leftovers, publish, refused, run
from tests.support.oracles.qs import Attribute, Published, gcp, verify
from tests.support.sources.builders import make_table
from tests.support.sources.qs_runs import METHODS, clustered, members

VEHICLES = {"reg_year": "integer", "colour": "text", "zone": "text", "hour": "integer"}
SETS = {"vehicle": ["reg_year", "colour"], "sighting": ["zone", "hour"]}
ROWS = [
    (2013, "white", "Z1", 8),
    (2018, "black", "Z2", 9),
    (2015, "red", "Z4", 17),
    (2019, "blue", "Z3", 20),
    (2014, "black", "Z1", 9),
    (2018, "white", "Z3", 21),
]


def shown(db: Any, view: str = "r") -> list[dict[str, Any]]:
    text = sql.SQL("SELECT * FROM {}").format(sql.Identifier("published", view))
    return fetch(db.owner(), text)


def clusters_of(db: Any, result: RunResult, key: str = "id") -> dict[int, list[int]]:
    """Keys of the source records in every cluster of a published version."""
    found: dict[int, list[int]] = {}
    told = digests.members(db, result.run_id, "cluster_no", key=key, table=("public", "t"))
    for member, number in told:
        found.setdefault(number, []).append(int(member))
    return found


def rows_of(rows: list[dict[str, Any]]) -> list[Published]:
    return [
        Published(
            row["cluster_no"],
            {name: v for name, v in row.items() if name not in ("cluster_no", "size")},
            row["size"],
        )
        for row in rows
    ]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_worked_example(db: Any, method: str) -> None:
    make_table(db.connect("source_owner"), VEHICLES, ROWS)
    whole = publish(db, clustered(SETS, 9, method=method, count="product"))
    assert shown(db) == [
        {
            "cluster_no": 1,
            "reg_year": [2013, 2014, 2015, 2018, 2019],
            "colour": ["black", "blue", "red", "white"],
            "zone": ["Z1", "Z2", "Z3", "Z4"],
            "hour": [8, 9, 17, 20, 21],
            "size": 6,
        }
    ]
    assert (whole.utility.gcp, whole.released, whole.method) == (1, 6, method)
    alone = publish(db, clustered(SETS, 1, method=method))
    rows = shown(db)
    assert sorted(tuple(v for (v,) in list(row.values())[1:5]) for row in rows) == sorted(ROWS)
    assert {row["size"] for row in rows} == {1}
    assert alone.utility.gcp == 0
    for k, count in ((3, "supported"), (4, "product")):
        result = publish(db, clustered(SETS, k, method=method, count=count))
        known = {"vehicle": {row[:2] for row in ROWS}, "sighting": {row[2:] for row in ROWS}}
        rows = shown(db)
        assert verify(rows_of(rows), SETS, 6, k, 1, known if count == "supported" else None) == []
        found = Counter(tuple(row.values()) for row in shown(db, "r_expanded"))
        assert found == expanded(rows)
        (check,) = [check for check in result.verified if check.symbol == "k"]
        assert (check.model, check.required) == ("qs_k_anonymity", k)
        assert check.measured >= k


def expanded(rows: list[dict[str, Any]]) -> Counter[Any]:
    """The products of the arrays."""
    names = [name for name in rows[0] if name not in ("cluster_no", "size")]
    return Counter(
        (row["cluster_no"], *values)
        for row in rows
        for values in itertools.product(*[row[name] for name in names])
    )


@pytest.mark.slow
def test_what_is_not_quoted_would_break(db: Any) -> None:
    names = ['Reg "year"', "select", "a,b", "%s {x} $1"]
    table = dict(zip(names, VEHICLES.values(), strict=True)) | {"No. 1": "text"}
    source = [(*row, "n" if i < 3 else None) for i, row in enumerate(ROWS)]
    make_table(db.connect("source_owner"), table, source)
    columns = {"select": {"as": "Colour; --"}, "No. 1": {"role": "insensitive", "as": "{bag}"}}
    sets = {'set "1"': names[:2], "'; --": names[2:]}
    for method in METHODS:
        result = publish(db, clustered(sets, 3, columns, method=method, release='R "x"'))
        rows = shown(db, 'R "x"')
        assert list(rows[0]) == [
            "cluster_no",
            names[0],
            "Colour; --",
            *names[2:],
            "{bag}",
            "size",
        ]
        for number, cluster in clusters_of(db, result).items():
            (row,) = [row for row in rows if row["cluster_no"] == number]
            held = [source[record - 1] for record in cluster]
            assert row["Colour; --"] == sorted({values[1] for values in held})
            assert Counter(row["{bag}"]) == Counter(values[4] for values in held)
        bare = [{name: v for name, v in row.items() if name != "{bag}"} for row in rows]
        found = Counter(tuple(row.values()) for row in shown(db, 'R "x"_expanded'))
        assert found == expanded(bare)


TYPES: dict[str, list[str]] = {
    "smallint": ["-3", "7"],
    "integer": ["2147483647", "-2147483648", "0"],
    "bigint": [str(2**53), str(2**53 + 1), "5"],
    "numeric": ["0.1", "0.100000000000000000000000000001", "123456789012345678901234567890"],
    "numeric(5,2)": ["1.00", "2.50", "10"],
    "real": ["0.1", "3.4e38", "-1e-38"],
    "double precision": ["0.1", "0.30000000000000004", "1e300"],
    "date": ["2020-02-29", "4713-01-01 BC", "5874897-12-31"],
    "timestamp": ["2020-01-01 12:00", "2020-01-01 00:00"],
    "timestamptz": ["2020-01-01 00:00+05", "2020-01-01 00:00+00"],
    "boolean": ["t", "f"],
    "text": ["b", "a", "Z", "ä", "NULL", "", 'q"{,}'],
    "varchar(5)": ["b", "a", "B"],
    "char(3)": ["b", "ab", "B"],
    "name": ["b", "a"],
    "uuid": [str(uuid.UUID(int=i << 96)) for i in (9, 10, 3)],
    'public."Mood"': ["sad", "happy", "ok"],
    "public.age": ["3", "20"],
    "public.code": ["b", "a", "C"],
}
OBJECTS = """
CREATE TYPE public."Mood" AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN public.age AS integer CHECK (value >= 0);
CREATE DOMAIN public.code AS varchar(5);
"""

STORED = {
    'public."Mood"': "::text[]",
    "public.age": "::integer[]",
    "public.code": "::varchar(5)[]",
}
"""Of enums and domains the cast to what is published."""


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_arrays_have_the_type_of_the_column(db: Any) -> None:
    db.source(OBJECTS)
    rng = random.Random(5)
    names = {f"q{i}": kind for i, kind in enumerate(TYPES)}
    rows = [[rng.choice([*values, None]) for values in TYPES.values()] for _ in range(14)]
    source = db.connect("source_owner")
    make_table(source, names, rows)
    sets = {"a": list(names)[:9], "b": list(names)[9:]}
    declared = clustered(sets, 3, method="qs_efficient")
    result = publish(db, {**declared, "trust": ["source_owner"]})
    conn = db.owner()
    assert result.utility.clusters > 1
    published = sql.Identifier(*result.view.split("."))
    told = digests.members(db, result.run_id, "cluster_no", table=("public", "t"))
    conn.execute("CREATE TEMP TABLE told (id integer, cluster_no bigint)")
    with conn.cursor() as cursor:
        cursor.executemany("INSERT INTO told VALUES (%s, %s)", told)
    members = sql.Identifier("told")
    for name, kind in names.items():
        collated = kind.startswith(("text", "varchar", "char", "name", "public.code"))
        wrong = fetch(
            conn,
            sql.SQL(
                "SELECT p.{name}::text AS shown, e.held::text FROM {published} AS p"
                " CROSS JOIN LATERAL ("
                "SELECT array_agg(u.v ORDER BY u.v {collation}){stored} AS held FROM"
                " (SELECT DISTINCT s.{name} AS v FROM public.t AS s JOIN {members} AS m"
                " ON m.id = s.id WHERE m.cluster_no = p.cluster_no) AS u) AS e"
                " WHERE p.{name}::text IS DISTINCT FROM e.held::text"
                " OR pg_typeof(p.{name}) <> pg_typeof(e.held)"
            ).format(
                name=sql.Identifier(name),
                published=published,
                members=members,
                collation=sql.SQL('COLLATE "C"' if collated else ""),
                stored=sql.SQL(STORED.get(kind, "")),
            ),
        )
        assert wrong == [], kind


def test_citext(db: Any) -> None:
    if db.admin.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'citext'").rowcount < 1:
        pytest.skip("the server has no citext")
    db.admin.execute("CREATE EXTENSION citext SCHEMA public")
    rows = [["Ab", 1], ["aB", 2], ["AB", 3], ["c", 4]]
    make_table(db.connect("source_owner"), {"q": "public.citext", "n": "integer"}, rows)
    publish(db, clustered({"a": ["q"], "b": ["n"]}, 2))
    rows_shown = shown(db)
    assert len(rows_shown) == 1, rows_shown
    (row,) = rows_shown
    assert row["q"].lower() == "{ab,c}"  # the driver knows no citext[]


HEIGHTS = {"ab": ("a", "*"), "ac": ("a", "*"), "bb": ("b", "*"), "bc": ("b", "*")}


@pytest.mark.parametrize(
    "form",
    [
        {"csv": "levels.csv"},
        {"inline": {"*": {"A": ["ab", "ac"], "B": ["bb", "bc"]}}},
        {"prefix": [1]},
        {"order": {"values": sorted(HEIGHTS), "fanout": [2]}},
    ],
    ids=lambda form: next(iter(form)),
)
@pytest.mark.primary_server_only
@pytest.mark.slow
def test_loss_in_a_hierarchy_is_by_height(db: Any, tmp_path: Path, form: dict[str, Any]) -> None:
    (tmp_path / "levels.csv").write_text("ab;A;*\nac;A;*\nbb;B;*\nbc;B;*\n")
    rows = [[value, n] for n, value in enumerate([*HEIGHTS, *HEIGHTS])]
    make_table(db.connect("source_owner"), {"q": "text", "n": "integer"}, rows)
    attributes = {
        "a": [Attribute("q", "tree", dict(enumerate([q for q, _ in rows], 1)), HEIGHTS)],
        "b": [Attribute("n", "numeric", dict(enumerate([n for _, n in rows], 1)))],
    }
    for k, method in itertools.product((2, 4), METHODS):
        declared = clustered({"a": ["q"], "b": ["n"]}, k, {"q": {"hierarchy": form}}, method=method)
        staged = run(db.owner(), declared, base_dir=tmp_path)
        found = list(members(staged).values())
        assert math.isclose(staged.utility.gcp, gcp(found, attributes))
        assert {v for row in staged.table("clusters") for v in row["q"]} == set(HEIGHTS)
    assert staged.utility.ncp["q"] == 1


# -- NULL, conditions, individuals -------------------------------------------------------------


@pytest.mark.slow
def test_nulls(db: Any) -> None:
    rows = [*ROWS, (None, "red", "Z1", None), (2015, None, None, 7)]
    make_table(db.connect("source_owner"), VEHICLES, rows)
    publish(db, clustered(SETS, 8))
    (row,) = shown(db)
    assert row["reg_year"] == [2013, 2014, 2015, 2018, 2019, None]
    assert row["colour"] == ["black", "blue", "red", "white", None]
    assert row["hour"] == [7, 8, 9, 17, 20, 21, None]
    suppress = {"reg_year": {"nulls": "suppress"}}
    with refused("suppression_limit"):
        publish(db, clustered(SETS, 3, suppress))
    result = publish(db, clustered(SETS, 3, suppress, suppression_limit=0.125))
    assert (result.records, result.released, result.suppressed) == (8, 7, 1)
    rows_shown = shown(db)
    assert sum(row["size"] for row in rows_shown) == 7
    assert all(None not in row["reg_year"] for row in rows_shown)
    with refused("infeasible") as errors:
        publish(db, clustered(SETS, 8, suppress, suppression_limit=1.0))
    assert "has only 7 value combinations in 7 records" in str(errors[0])
    with refused("nulls_rejected"):
        publish(db, clustered(SETS, 3, {"zone": {"nulls": "reject"}}))
    assert leftovers(db) == []


@pytest.mark.primary_server_only
def test_where(db: Any) -> None:
    make_table(db.connect("source_owner"), VEHICLES, ROWS)
    result = publish(db, clustered(SETS, 3, where="hour < 18"))
    assert result.records == 4
    assert {v for row in shown(db) for v in row["hour"]} == {8, 9, 17}
    with refused("infeasible") as errors:
        publish(db, clustered(SETS, 5, where="hour < 18"))
    assert 'QS set "vehicle" has only 4 value combinations in 4 records' in str(errors[0])


@pytest.mark.primary_server_only
@pytest.mark.parametrize("method", METHODS)
def test_individuals(db: Any, method: str) -> None:
    rows = [(*row, i % 5) for i, row in enumerate(ROWS)]
    make_table(db.connect("source_owner"), {**VEHICLES, "who": "integer"}, rows)
    declared = clustered(SETS, 2, {"who": {"role": "individual"}}, method=method)
    with refused("several_records_per_individual"):
        publish(db, declared)
    assert leftovers(db) == []
    accepted = publish(db, {**declared, "records_per_individual": "many_accepted"})
    assert any("several records" in warning for warning in accepted.warnings)
    assert "who" not in shown(db)[0]
    found = clusters_of(db, accepted, "who")
    assert sorted(itertools.chain(*found.values())) == [0, 0, 1, 2, 3, 4]


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_records_without_a_key(db: Any) -> None:
    source = db.connect("source_owner")
    make_table(source, VEHICLES, [*ROWS, *ROWS])
    source.execute("ALTER TABLE public.t DROP COLUMN id")
    for method in METHODS:
        publish(db, clustered(SETS, 3, method=method))
        assert sum(row["size"] for row in shown(db)) == 12


# -- what cannot be released -------------------------------------------------------------------

INFEASIBLE: list[tuple[dict[str, Any], str]] = [
    (
        {"k": 40, "count": "product"},
        'QS set "vehicle" has only 20 value combinations in 6 records; k = 40 cannot be reached',
    ),
    (
        {"k": 7},
        'QS set "vehicle" has only 6 value combinations in 6 records; k = 7 cannot be reached',
    ),
    (
        {"k": 2, "min_values": 5},
        "column colour has only 4 values in 6 records; min_values = 5 cannot be reached",
    ),
]


@pytest.mark.parametrize("method", METHODS)
def test_infeasible(db: Any, method: str) -> None:
    make_table(db.connect("source_owner"), VEHICLES, ROWS)
    for asked, text in INFEASIBLE:
        with refused("infeasible") as errors:
            publish(db, clustered(SETS, method=method, **asked))
        assert str(errors[0]) == text
        assert leftovers(db) == []
    tables_left = db.admin.execute(
        "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relname ~ '^r[0-9]*(_|$)'"
        " AND c.relkind IN ('r', 'v', 'm') AND c.relnamespace::regnamespace::text"
        " IN ('published', 'pganon_data', 'pganon_private', 'pganon_work', 'pganon_stage')"
        " AND c.relname NOT IN ('releases', 'run_secret')"
    ).fetchall()
    assert tables_left == []
    events = db.owner().execute("SELECT event FROM pganon_private.ledger ORDER BY id").fetchall()
    assert events == [("started",), ("refused",)] * len(INFEASIBLE)


@pytest.mark.primary_server_only
@pytest.mark.parametrize("count", ["supported", "product"])
@pytest.mark.slow
def test_a_set_of_constants(db: Any, count: str) -> None:
    rows = [[n, "x", dt.date(2020, 1, 1)] for n in range(5)]
    make_table(db.connect("source_owner"), {"n": "integer", "x": "text", "d": "date"}, rows)
    sets = {"a": ["n"], "QS2": ["x", "d"]}
    with refused("infeasible") as errors:
        publish(db, clustered(sets, 2, count=count))
    assert 'QS set "QS2" has only 1 value combinations in 5 records' in str(errors[0])
    for method in METHODS:
        assert publish(db, clustered(sets, 1, count=count, method=method)).utility.gcp == 0


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_blocks_that_would_be_too_large_for_greedy(db: Any) -> None:
    """Of 40 records one makes the difference, so no piece but its own reaches k."""
    rows = [[n == 7, n] for n in range(40)]
    make_table(db.connect("source_owner"), {"q": "boolean", "n": "integer"}, rows)
    sets = {"a": ["q"], "b": ["n"]}
    small = {"name": "qs_greedy", "block_size": 4}
    with refused("blocks_too_uniform") as errors:
        publish(db, clustered(sets, 2, method=small))
    assert "a block of 40 different records would be needed, block_size is 4" in str(errors[0])
    assert "qs_efficient" in str(errors[0].hint)
    assert leftovers(db) == []
    for method in (
        {"name": "qs_greedy", "block_size": 5},
        {"name": "qs_efficient", "block_size": 4},
    ):
        publish(db, clustered(sets, 2, method=method))
        (row,) = shown(db)
        assert row["q"] == [False, True]
        assert row["size"] == 40


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.parametrize(
    ("method", "count"), [("qs_greedy", "product"), ("qs_efficient", "supported")]
)
def test_products_beyond_what_a_number_holds(db: Any, method: str, count: str) -> None:
    names = [f"a{i}" for i in range(12)]
    rows = [[n] * 13 for n in range(50)]
    make_table(db.connect("source_owner"), dict.fromkeys([*names, "b"], "integer"), rows)
    sets = {"a": names, "b": ["b"]}
    result: Any = publish(db, clustered(sets, 40, method=method, count=count))
    assert result.utility.product["a"].least == 50.0**12
    assert result.utility.supported["a"].least == 50
