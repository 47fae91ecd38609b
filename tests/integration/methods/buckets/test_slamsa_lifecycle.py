"""SLAMSA releases after publication, and from version to version."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import joblib
import psycopg
import pytest

from pganon.loading import load_policy
from pganon.publish import lifecycle
from pganon.run import pool
from pganon.run.options import Options
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.support.harness import driver, faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.builders import make_table
from tests.support.sources.registry import records
from tests.support.sources.slamsa import Asked, Shown, buckets, check, read, sizes

NAME = ("public", "stay")
COLUMNS = {"q": "integer", "ward": "text", "x": "text", "y": "text", "z": "text", "w": "text",
           "v": "text"}  # fmt: skip
FIVE = ("x", "y", "z", "w", "v")
APART = {"x": "a", "y": "a", "z": "b", "w": "b", "v": "c"}
"""Columns with one letter have the same values; letters are independent of each other."""


def rows(letters: Mapping[str, str], size: int = 27) -> list[list[Any]]:
    """q is different in every record."""
    digits = {"a": 1, "b": 3, "c": 9}
    found: list[list[Any]] = []
    for n in random.Random(4).sample(range(size), size):
        values = [f"{letters[name]}{n // digits[letters[name]] % 3}" for name in FIVE]
        found.append([n * 7 % size, "EFG"[n % 4 % 3], *values])
    return found


def build(db: Database, table: Sequence[Sequence[Any]]) -> None:
    make_table(db.connect("source_owner"), COLUMNS, table, name=NAME)


def document(**changes: Any) -> dict[str, Any]:
    roles = {name: "sensitive" if name in FIVE else "quasi_identifying" for name in COLUMNS}
    return {
        "release": "stays",
        "source": "public.stay",
        "columns": {name: {"role": role} for name, role in roles.items()},
        "privacy": [{"model": "slicing_l_diversity", "l": 2}],
        "method": {"name": "slamsa", "sensitive_tables": "auto"},
        "publish": {"readers": ["analyst"]},
        "republication": "allow",
        **changes,
    }


def release(db: Database, *, options: Options | None = None, **changes: Any) -> RunResult:
    policy = load_policy(json.dumps(document(**changes)))
    return run_release(policy, dsn=db.dsn("steward"), options=options or Options(force=True))


def seen(db: Database) -> Shown:
    return read(db.connect("analyst"), "stays")


def failing(conn: Connection) -> list[str]:
    return [m.model for m in lifecycle.verify(conn, "stays") if not m.holds]


ASKED = Asked(dict.fromkeys(FIVE, 2), [*COLUMNS])
THREE = [["x", "y"], ["z", "w"], ["v"]]


# -- versions -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_unchanged_source_keeps_its_buckets(db: Database) -> None:
    """Under other numbers, in several blocks; back, and away."""
    build(db, rows(APART))
    method = {"name": "slamsa", "block_size": 9}
    same = {"method": method, "republication": "refuse"}
    assert release(db, **same).version == 1
    first = seen(db)
    check(first, records(COLUMNS, rows(APART)), ASKED)
    assert release(db, **same).version == 2
    second = seen(db)
    check(second, records(COLUMNS, rows(APART)), ASKED)
    (one,), (two,) = first.published.qits, second.published.qits
    assert buckets(one, "q") == buckets(two, "q")
    assert len(buckets(one, "q")) >= 6
    assert first != second
    assert first.tables == second.tables
    conn = db.owner()
    assert lifecycle.show_earlier(conn, "stays").now == 1
    assert seen(db) == first
    assert failing(conn) == []
    lifecycle.drop(conn, "stays")
    assert faults.content(conn, "published.stays_st1") is None
    assert faults.run_tables(conn) == []


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_other_columns_belong_together(db: Database) -> None:
    """The views swap; who has a view on a table of the old columns is named."""
    build(db, rows(APART))
    release(db)
    assert seen(db).tables == THREE
    before = seen(db)
    conn = db.owner()
    conn.execute("CREATE SCHEMA mine; CREATE VIEW mine.v AS SELECT y FROM published.stays_st1")
    changed = rows({**APART, "y": "b", "z": "a"})
    build(db, changed)
    done = release(db)
    assert done.version == 2
    assert any("view mine.v depends on view" in told for told in done.dependents)
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="has other columns now"):
        conn.execute("TABLE mine.v")
    after = seen(db)
    assert after.tables == [["x", "z"], ["y", "w"], ["v"]]
    check(after, records(COLUMNS, changed), ASKED)
    assert list(before.joined[0]) == list(after.joined[0])
    lifecycle.show_earlier(conn, "stays")
    assert seen(db) == before
    assert failing(conn) == []


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_fewer_tables(db: Database) -> None:
    """A view that is not needed any more goes, whoever needs it."""
    build(db, rows(APART))
    release(db)
    before = seen(db)
    assert before.parts.keys() == {"qit", "st1", "st2", "st3"}
    conn = db.owner()
    changed = rows({**APART, "v": "b"})
    build(db, changed)
    conn.execute("CREATE SCHEMA mine; CREATE VIEW mine.v AS SELECT v FROM published.stays_st3")
    assert any("view mine.v depends on view" in told for told in release(db).dependents)
    after = seen(db)
    assert after.tables == [["x", "y"], ["z", "w", "v"]]
    assert after.parts.keys() == {"qit", "st1", "st2"}
    check(after, records(COLUMNS, changed), ASKED)
    one = {"name": "slamsa", "sensitive_tables": 1, "quasi_tables": 2}
    release(db, method=one)
    assert seen(db).parts.keys() == {"qit1", "qit2", "st"}
    check(seen(db), records(COLUMNS, changed), ASKED)
    lifecycle.show_earlier(conn, "stays", 1)
    assert seen(db) == before
    assert failing(conn) == []


# -- work in other processes --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_processes_find_the_same(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    used = mock.Mock(wraps=joblib.Parallel)
    monkeypatch.setattr(joblib, "Parallel", used)
    monkeypatch.setattr(pool, "WORTH", 1)
    table = rows(APART, size=108)
    build(db, table)
    method = {"name": "slamsa", "profile": "independent", "block_size": 12}
    method["sensitive_tables"] = THREE
    found: list[Shown] = []
    for jobs in (1, 2):
        with driver.secrets(faults.SEED):
            release(db, method=method, options=Options(jobs=jobs))
        found.append(seen(db))
        lifecycle.drop(db.owner(), "stays")
    assert [call.kwargs["n_jobs"] for call in used.call_args_list] == [2, 2, 2]
    assert found[0] == found[1]
    assert all(len(sizes(st)) > 27 for st in found[0].published.sts)
    check(found[0], records(COLUMNS, table), ASKED)


# -- commands -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_commands(db: Database, tmp_path: Path) -> None:
    build(db, rows(APART))
    file = tmp_path / "policy.json"
    method = {"name": "slamsa", "profile": "independent", "sensitive_tables": "auto"}
    file.write_text(json.dumps(document(method=method)))
    at, analyst = ("--dsn", db.dsn()), ("--dsn", db.dsn("analyst"))
    planned = pganon("plan", str(file), *at)
    assert planned.code == 0, planned.err
    ran = pganon("run", str(file), *at)
    assert ran.code == 0, ran.err
    found = seen(db)
    check(found, records(COLUMNS, rows(APART)), ASKED)
    assert found.tables == THREE
    links = ["st1_group_id", "st2_group_id", "st3_group_id"]
    assert list(found.parts["qit"][0]) == [*links, "q", "ward"]
    shown = pganon("show", "stays", *analyst)
    assert all(name in shown.out for name in ("stays_qit", "stays_st3", "probability", *links))
    assert pganon("verify", "stays", *at).out.endswith("stays: everything holds\n")
    for part, relation in found.parts.items():
        out = tmp_path / f"{part}.csv"
        written = pganon("export", "stays", "--view", part, "-o", str(out), *analyst)
        assert written.code == 0, written.err
        first, *others = out.read_text().splitlines()
        assert (first.split(","), len(others)) == (list(relation[0]), len(relation))
    dropped = pganon("drop", "stays", "--yes", "--json", *at)
    assert (dropped.code, dropped.json["now"]) == (0, None)
    assert faults.run_tables(db.owner()) == []
