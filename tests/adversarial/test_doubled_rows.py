"""Fault: a table of the run has rows twice, so that a record is released more than once.

Groups look larger than they are, and a record that is there twice can hide one that is gone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from psycopg import sql

from pganon.errors import PganonError
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.builders import make_table

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

NAME = ("public", "person")
TYPES = {
    "person": "text",
    "age": "integer",
    "zip": "text",
    "disease": "text",
    "drug": "text",
    "mark": "integer",
}
ROWS = [
    (f"p{n}", 20 + n % 7, f"Z{n % 5}", ("flu", "gout", "cold")[n % 3], ("a", "b", "c")[n % 3], n)
    for n in range(24)
]
MARKS = {
    "records": "SELECT mark FROM published.people",
    "groups": "SELECT mark FROM published.people_qit",
    "clusters": "SELECT unnest(mark) FROM published.people",
}
QUASI = {"age": {"role": "quasi_identifying"}, "zip": {"role": "quasi_identifying"}}
SETS = {
    "age": {"role": "quasi_sensitive", "set": "one"},
    "zip": {"role": "quasi_sensitive", "set": "two"},
}
DISEASE = {"disease": {"role": "sensitive"}}
BOTH = {**DISEASE, "drug": {"role": "sensitive"}}
PERSON = {"person": {"role": "individual"}}


def _slicing(**more: Any) -> dict[str, Any]:
    return {"model": "slicing_l_diversity", "l": 2, **more}


# Columns, requirements, method, and where the marks of the records are published.
RELEASES: dict[str, tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any], str]] = {
    "mondrian": (
        {**QUASI, **DISEASE},
        [{"model": "k_anonymity", "k": 4}],
        {"name": "mondrian"},
        "records",
    ),
    "anatomy": (
        {**QUASI, **DISEASE},
        [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}],
        {"name": "anatomy", "block_size": 4},
        "groups",
    ),
    "slamsa": (
        {**QUASI, **BOTH},
        [_slicing(column="disease"), _slicing(column="drug")],
        {"name": "slamsa"},
        "groups",
    ),
    "sloms": (
        {**QUASI, **BOTH},
        [{"model": "k_anonymity", "k": 2}, _slicing(level="unique")],
        {"name": "sloms", "sensitive_tables": [["disease"], ["drug"]], "link_threshold": 1},
        "groups",
    ),
    "danonyir": (
        {**QUASI, **DISEASE, **PERSON},
        [{"model": "ir_kl_anonymity", "column": "disease", "k": 2, "l": 2}],
        {"name": "danonyir"},
        "records",
    ),
    "qs_greedy": (
        SETS,
        [{"model": "qs_k_anonymity", "k": 4, "count": "product"}],
        {"name": "qs_greedy"},
        "clusters",
    ),
}

ROUND = re.compile(r"_(\d+)$")
DOUBLED = "INSERT INTO {0} SELECT * FROM {0}"
ONE_FOR_ANOTHER = (
    "WITH held AS (SELECT t.*, t.ctid AS tested_row FROM {0} AS t ORDER BY t.ctid LIMIT 2),"
    " gone AS (DELETE FROM {0} WHERE ctid = (SELECT max(tested_row) FROM held))"
    " INSERT INTO {0} SELECT t.* FROM {0} AS t WHERE t.ctid = (SELECT min(tested_row) FROM held)"
)


def _policy(name: str) -> LoadedPolicy:
    columns, privacy, method, _ = RELEASES[name]
    return load_policy(
        json.dumps(
            {
                "release": "people",
                "source": "public.person",
                "columns": {**columns, "mark": {"role": "insensitive"}},
                "privacy": privacy,
                "method": method,
            }
        )
    )


@pytest.fixture
def source(db: Database) -> Database:
    """Its table has no key: the memory of a release cannot tell its records apart."""
    make_table(db.connect("source_owner"), TYPES, ROWS, name=NAME)
    db.source("ALTER TABLE public.person DROP COLUMN id", grant=False)
    return db


def _tables(conn: Connection) -> list[str]:
    """Work tables of the run, named without its number."""
    rows = conn.execute(
        "SELECT substring(tablename, '^r[0-9]+_(.*)$') FROM pg_tables"
        " WHERE schemaname = 'pganon_work' ORDER BY 1"
    )
    return [name for (name,) in rows]


def _change(conn: Connection, table: str, statement: str) -> None:
    row = conn.execute(
        "SELECT tablename FROM pg_tables WHERE schemaname = 'pganon_work'"
        " AND substring(tablename, '^r[0-9]+_(.*)$') = %s",
        [table],
    ).fetchone()
    assert row is not None
    name = sql.Identifier("pganon_work", row[0])
    conn.execute(sql.SQL(statement).format(name))  # pyright: ignore[reportArgumentType]


class Saboteur:
    """Changes one work table as soon as it is there."""

    def __init__(self, db: Database, table: str, statement: str) -> None:
        self._conn = db.owner()
        self._table = table
        self._statement = statement
        self.done = False

    def __call__(self, step: str) -> None:
        if not self.done and self._table in _tables(self._conn):
            self.done = True
            _change(self._conn, self._table, self._statement)


def _run(db: Database, name: str, table: str, statement: str) -> str | None:
    """Code of the refusal; None: a release was published, in which every record is once."""
    saboteur = Saboteur(db, table, statement)
    code, suppressed = None, 0
    try:
        suppressed = faults.run(db.dsn(), _policy(name), before=saboteur, jobs=1).suppressed
    except PganonError as error:
        code = error.code
    assert saboteur.done, table
    if code is not None:
        assert faults.run_tables(db.owner()) == []
        return code
    assert suppressed == 0, (table, statement)
    marks = [mark for (mark,) in db.owner().execute(MARKS[RELEASES[name][3]].encode())]
    assert sorted(marks) == list(range(len(ROWS))), (table, statement)
    return None


@pytest.mark.parametrize("name", RELEASES)
def test_a_doubled_dictionary(source: Database, name: str) -> None:
    assert _run(source, name, "dict0", DOUBLED) == "unbalanced"


LOOKED_UP = [
    ("mondrian", "grouped_classes"),
    ("anatomy", "starts"),
    ("anatomy", "numbers_b0"),
    ("slamsa", "grouped"),
    ("sloms", "generalized"),
    ("sloms", "numbers_b1"),
    ("danonyir", "individuals"),
    ("danonyir", "numbers_individual_no"),
    ("qs_greedy", "assigned"),
    ("qs_greedy", "cells"),
    ("qs_greedy", "cluster_records"),
    ("sloms", "vectors_0"),
]


@pytest.mark.parametrize("statement", [DOUBLED, ONE_FOR_ANOTHER], ids=["doubled", "exchanged"])
@pytest.mark.parametrize(("name", "table"), LOOKED_UP)
def test_what_a_record_is_looked_up_in(
    source: Database, name: str, table: str, statement: str
) -> None:
    assert _run(source, name, table, statement) is not None


@pytest.mark.parametrize("name", ["mondrian", "anatomy", "qs_greedy"])
def test_a_record_in_place_of_another(source: Database, name: str) -> None:
    """The memory knows records by their key."""
    source.source("ALTER TABLE public.person ADD PRIMARY KEY (mark)", grant=False)
    assert _run(source, name, "coded", ONE_FOR_ANOTHER) == "unbalanced"


ENCODED = {
    "snap",
    "coded",
    "histogram0",
    *(f"{kind}{n}" for kind in ("dict", "values") for n in (0, 1)),
}
"""Tables that the same steps make for every method."""


@pytest.fixture
def all_tables(source: Database) -> Callable[[str], Iterator[str]]:
    """Every work table that a run of a release makes, but for what is tried elsewhere.

    Those of later rounds are made by the steps of the first, those that all methods have by the
    same steps for each.
    """

    def found(name: str) -> Iterator[str]:
        conn, seen = source.owner(), set[str]()
        faults.run(source.dsn(), _policy(name), before=lambda _: seen.update(_tables(conn)), jobs=1)
        later = {table for table in seen if (match := ROUND.search(table)) and match[1] != "0"}
        elsewhere = {table for release, table in LOOKED_UP if release == name}
        alike = ENCODED if name != next(iter(RELEASES)) else set[str]()
        yield from sorted(seen - later - elsewhere - alike)

    return found


@pytest.mark.parametrize("name", RELEASES)
def test_any_table_of_a_run(
    source: Database, all_tables: Callable[[str], Iterator[str]], name: str
) -> None:
    """Whatever is doubled, no release has a record twice."""
    tables = list(all_tables(name))
    assert tables
    for table in tables:
        _run(source, name, table, DOUBLED)
