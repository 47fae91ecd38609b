"""Records of classes that are counted instead of sorted: the same rows in the same order."""

from __future__ import annotations

import random
from typing import Any

import pytest
from psycopg import sql

from pganon.methods.common.form import class_records
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, run
from tests.support.sources.builders import make_table, policy

NEVER, ALWAYS = 10**9, 0
KINDS: dict[str, list[str | None]] = {
    "numeric": ["1.0", "1.00", "2", "10", None],
    "double precision": ["0", "-0", "1e3", None],
    "text": ["b", "B", "a", "a ", None],
    "char(3)": ["a", "ab", None],
    "date": ["2020-02-29", "1999-01-01", None],
    "boolean": ["true", "false", None],
}


def rows_of(
    db: Database, monkeypatch: pytest.MonkeyPatch, records: int, document: dict[str, Any]
) -> list[str]:
    """The stored records as they follow each other.

    Args:
        records: of them for each different one, from which on they are counted.
    """
    with monkeypatch.context() as patch:
        patch.setattr(class_records, "_PER_DIFFERENT", records)
        return stored(run(db.owner(), document))


def stored(staged: Staged) -> list[str]:
    name = staged.state.stage("records").identifier
    rows = fetch(
        staged.conn, sql.SQL("SELECT t::text AS row FROM {} AS t ORDER BY ctid").format(name)
    )
    return [row["row"] for row in rows]


def build(db: Database, kinds: dict[str, str]) -> None:
    rng = random.Random(len(kinds))
    rows = [
        [
            rng.randint(1, 12),
            rng.choice("xyz"),
            *[rng.choice(KINDS[kind]) for kind in kinds.values()],
        ]
        for _ in range(240)
    ]
    make_table(db.connect("source_owner"), {"a": "integer", "b": "text", **kinds}, rows)


@pytest.mark.parametrize(
    ("kinds", "roles"),
    [
        ([], "sensitive"),
        (["numeric"], "sensitive"),
        (["char(3)", "text"], "insensitive"),
        ([*KINDS], "sensitive"),
        ([*KINDS], "insensitive"),
    ],
)
def test_the_same_rows_in_the_same_order(
    db: Database, monkeypatch: pytest.MonkeyPatch, kinds: list[str], roles: str
) -> None:
    named = {f"v{place}": kind for place, kind in enumerate(kinds)}
    build(db, named)
    columns = {"a": {}, "b": {}, **{name: {"role": roles} for name in named}}
    check(db, monkeypatch, policy(columns, 5))


def test_the_same_rows_of_divided_cells(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key, so that records may be equal in all that decides."""
    build(db, {"v": "numeric"})
    columns = {"a": {}, "b": {}, "v": {"role": "sensitive"}}
    document = policy(columns, 5, method={"name": "one_dimensional", "variant": "relaxed"})
    db.connect("source_owner").execute("ALTER TABLE public.t DROP CONSTRAINT t_pkey")
    check(db, monkeypatch, document)


def check(db: Database, monkeypatch: pytest.MonkeyPatch, document: dict[str, Any]) -> None:
    sorted_rows, counted = (
        rows_of(db, monkeypatch, records, document) for records in (NEVER, ALWAYS)
    )
    assert len(counted) == 240
    assert counted == sorted_rows


@pytest.mark.usefixtures("steps_alone")
def test_what_is_counted(db: Database) -> None:
    """Few different records, by the statistics of the columns; not where every record differs."""
    build(db, {"v": "boolean"})
    few = run(db.owner(), policy({"a": {}, "b": {}, "v": {"role": "insensitive"}}, 60))
    assert few.state[class_records.DIFFERENT] <= 4 * 4
    assert class_records._pays(few.state)
    make_table(
        db.connect("source_owner"),
        {"a": "integer", "v": "integer"},
        [[n % 3, n] for n in range(300)],
    )
    many = run(db.owner(), policy({"a": {}, "v": {"role": "insensitive"}}, 60))
    assert many.state[class_records.DIFFERENT] == 300
    assert not class_records._pays(many.state)


def test_numbered_records_are_not_counted(db: Database) -> None:
    build(db, {})
    document = policy({"a": {}, "b": {}}, 5, method={"name": "mondrian", "variant": "relaxed"})
    assert run(db.owner(), document).state.facts.get(class_records.DIFFERENT) is None
