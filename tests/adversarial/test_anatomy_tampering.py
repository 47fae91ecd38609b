"""Fault: somebody changes an anatomized release before or after it is published."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.publish import lifecycle
from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.sources import visits

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

QIT, ST, MEMBERS = "{data}.{run}_qit", "{data}.{run}_st", "{private}.{run}_members"
ONE = "WHERE ctid = (SELECT min(t.ctid) FROM {0} AS t WHERE t.group_id = 1)"
ST1, QIT1 = ONE.replace("{0}", ST), ONE.replace("{0}", QIT)

# What is done, the check that finds it before publication, and those that find it in the store.
TAMPERED: dict[str, tuple[str, str | None, set[str]]] = {
    "count raised": (
        f"UPDATE {ST} SET count = 2 {ST1}",
        "verification",
        {"structure", "anatomy_l_diversity"},
    ),
    "count moved": (
        f"UPDATE {ST} SET count = 0 {ST1};"
        f" UPDATE {ST} SET count = 2 WHERE ctid = (SELECT max(t.ctid) FROM {ST} AS t"
        " WHERE t.group_id = 1)",
        "verification",
        {"structure", "anatomy_l_diversity"},
    ),
    "count unknown": (
        f"INSERT INTO {ST} VALUES (1, 'invented', NULL)",
        "verification",
        {"structure"},
    ),
    "counts negative": (
        f"INSERT INTO {ST} VALUES (1, 'x', -1), (1, 'y', 1)",
        "verification",
        {"structure"},
    ),
    "value moved": (
        f"UPDATE {ST} AS a SET disease = b.disease FROM {ST} AS b"
        f" WHERE a.group_id = 1 AND b.group_id = 1 AND a.disease <> b.disease"
        f" AND a.ctid = (SELECT min(t.ctid) FROM {ST} AS t WHERE t.group_id = 1)",
        "verification",
        {"anatomy_l_diversity"},
    ),
    "value gone": (
        f"DELETE FROM {ST} {ST1}",
        "verification",
        {"structure", "anatomy_l_diversity"},
    ),
    "values of a group gone": (
        f"DELETE FROM {ST} WHERE group_id = 1",
        "verification",
        {"structure"},
    ),
    "record gone": (f"DELETE FROM {QIT} {QIT1}", "unbalanced", {"structure"}),
    "record added": (
        f"INSERT INTO {QIT} SELECT * FROM {QIT} {QIT1}",
        "unbalanced",
        {"structure"},
    ),
    "record without a group": (
        f"UPDATE {QIT} SET group_id = NULL {QIT1}",
        "verification",
        {"structure"},
    ),
    "record in another group": (
        f"UPDATE {QIT} SET group_id = 2 {QIT1}",
        "verification",
        {"structure"},
    ),
    "a group gone": (
        f"DELETE FROM {QIT} WHERE group_id = 1; DELETE FROM {ST} WHERE group_id = 1",
        "unbalanced",
        set(),
    ),
    "groups united": (
        f"UPDATE {QIT} SET group_id = 2 WHERE group_id = 1;"
        f" UPDATE {ST} SET group_id = 2 WHERE group_id = 1",
        None,
        set(),
    ),
    "all gone": (f"TRUNCATE {QIT}, {ST}", "interrupted", {"anatomy_l_diversity"}),
    # What keeps the promise is found by the fingerprint alone.
    "quasi-identifiers changed": (f"UPDATE {QIT} SET ward = 'x' {QIT1}", None, set()),
    "memory changed": (f"UPDATE {MEMBERS} SET group_id = group_id + 1", None, set()),
}


@pytest.fixture
def source(db: Database) -> Database:
    # Every value is rare enough that two groups together hold none too often.
    visits.build(db, [(n, "Z", "a", n % 3, f"d{n % 9}") for n in range(36)])
    return db


def tamper(db: Database, name: str, run: int, **schemas: str) -> None:
    text = TAMPERED[name][0].format(run=f"r{run}", **schemas)
    with db.owner().transaction():
        db.owner().execute(text.encode())


def tamper_staged(db: Database, name: str) -> None:
    row = (
        db.owner()
        .execute(
            "SELECT substring(tablename, '[0-9]+')::integer FROM pg_tables"
            " WHERE schemaname = 'pganon_stage' AND tablename ~ '_st$'"
        )
        .fetchone()
    )
    assert row is not None
    tamper(db, name, row[0], data="pganon_stage", private="pganon_stage")


def nothing_is_published(db: Database, code: str) -> None:
    conn = db.owner()
    assert [faults.content(conn, f"published.{view}") for view in visits.VIEWS] == [None] * 3
    assert faults.run_tables(conn) == []
    assert faults.events(conn, "visits")[-1].endswith(f": {code}")


def test_nothing_tampered_with_is_published(source: Database) -> None:
    """What makes another release that holds is found by the stamps."""
    for name, (_, found, _) in TAMPERED.items():
        code = found or "changed_after_verification"
        hook = faults.at("verify.fingerprint", lambda name=name: tamper_staged(source, name))
        with pytest.raises(PganonError) as caught:
            faults.run(source.dsn(), visits.policy(), before=hook, jobs=1)
        assert hook.reached  # type: ignore[attr-defined]
        assert caught.value.code == code, name
        nothing_is_published(source, code)


@pytest.mark.parametrize("name", ["groups united", "quasi-identifiers changed", "memory changed"])
def test_nothing_changed_after_verification_is_published(source: Database, name: str) -> None:
    hook = faults.at("publish.publish", lambda: tamper_staged(source, name))
    with pytest.raises(PganonError) as caught:
        faults.run(source.dsn(), visits.policy(), before=hook)
    assert caught.value.code == "changed_after_verification"
    nothing_is_published(source, "changed_after_verification")


def test_verify_finds_what_was_changed_in_the_store(source: Database) -> None:
    conn = source.owner()
    for name, (_, _, found) in TAMPERED.items():
        done = faults.run(source.dsn(), visits.policy())
        assert [m for m in lifecycle.verify(conn, "visits") if not m.holds] == [], name
        tamper(source, name, done.run_id, data="pganon_data", private="pganon_private")
        failing = {m.model for m in lifecycle.verify(conn, "visits") if not m.holds}
        assert failing - {"row_count"} == found | {"fingerprint"}, name
        lifecycle.drop(conn, "visits")


def test_looks_of_one_value_are_not_two_values(db: Database) -> None:
    """1.0 and 1.00 in one group are the same number twice, however they are stored."""
    visits.build(db, [(n, "Z", "a", 1, None) for n in range(9)])
    db.source("ALTER TABLE public.visit ALTER disease TYPE numeric USING id", grant=False)
    done = visits.release(db)
    conn = db.owner()
    conn.execute(
        f"UPDATE pganon_data.r{done.run_id}_st SET disease = CASE ctid WHEN"
        f" (SELECT min(t.ctid) FROM pganon_data.r{done.run_id}_st AS t WHERE t.group_id = 1)"
        " THEN 1.0 ELSE 1.00 END WHERE group_id = 1".encode()
    )
    failing: dict[str, Any] = {
        m.model: m.measured for m in lifecycle.verify(conn, "visits") if not m.holds
    }
    assert failing.keys() == {"anatomy_l_diversity", "fingerprint"}
    assert failing["anatomy_l_diversity"] == 1


@pytest.mark.parametrize("view", visits.VIEWS)
def test_verify_finds_a_view_that_reads_something_else(source: Database, view: str) -> None:
    visits.release(source)
    conn = source.owner()
    row = conn.execute("SELECT definition FROM pg_views WHERE viewname = %s", [view]).fetchone()
    assert row is not None
    conn.execute(
        f"CREATE OR REPLACE VIEW published.{view} AS SELECT v.* FROM ({row[0].rstrip(';')}) AS v,"
        " pganon_private.run_secret AS s".encode()
    )
    failing = [m for m in lifecycle.verify(conn, "visits") if not m.holds]
    assert [(m.model, m.against) for m in failing] == [("view", f"published.{view}")]
