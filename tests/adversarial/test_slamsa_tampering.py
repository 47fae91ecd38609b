"""Fault: somebody changes a SLAMSA release before or after it is published."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.publish import lifecycle
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import stays

pytestmark = pytest.mark.primary_server_only

QIT, ST1, ST2 = "{data}.{run}_qit", "{data}.{run}_st1", "{data}.{run}_st2"
MEMBERS = "{private}.{run}_members"
FIRST, STRUCTURE, DIVERSITY = "group_id = 1", {"structure"}, {"slicing_l_diversity"}


def one(relation: str, end: str = "min") -> str:
    return f"WHERE ctid = (SELECT {end}(t.ctid) FROM {relation} AS t WHERE t.group_id = 1)"


# What is done, what finds it before publication (None: not tried), and what does in the store.
TAMPERED: dict[str, tuple[str, str | None, set[str]]] = {
    "count raised": (
        f"UPDATE {ST1} SET count = 9 {one(ST1)}",
        "verification",
        STRUCTURE | DIVERSITY,
    ),
    "count moved": (
        f"UPDATE {ST2} SET count = 0 {one(ST2)}; UPDATE {ST2} SET count = 2 {one(ST2, 'max')}",
        None,
        STRUCTURE | DIVERSITY,
    ),
    "row moved to another bucket": (
        f"UPDATE {ST2} SET group_id = 2 {one(ST2)}",
        "verification",
        STRUCTURE | DIVERSITY,
    ),
    "value changed": (
        f"UPDATE {ST1} AS a SET drug = b.drug FROM {ST1} AS b WHERE a.group_id = 1"
        " AND b.group_id = 1 AND a.drug <> b.drug",
        "verification",
        DIVERSITY,
    ),
    "rows of a bucket gone": (f"DELETE FROM {ST2} WHERE {FIRST}", None, STRUCTURE),
    "record in another bucket": (f"UPDATE {QIT} SET group_id = 2 {one(QIT)}", None, STRUCTURE),
    "record gone": (f"DELETE FROM {QIT} {one(QIT)}", "unbalanced", STRUCTURE),
    "record without a bucket": (f"UPDATE {QIT} SET group_id = NULL {one(QIT)}", None, STRUCTURE),
    # What keeps the promise is found by the fingerprint alone.
    "numbers swapped in one table": (
        f"UPDATE {ST2} SET group_id = 3 - group_id WHERE group_id IN (1, 2)",
        None,
        set(),
    ),
    "quasi-identifier changed": (f"UPDATE {QIT} SET age = -1 {one(QIT)}", None, set()),
    "memory changed": (f"UPDATE {MEMBERS} SET group_id = group_id + 1", None, set()),
}


@pytest.fixture
def source(db: Database) -> Database:
    """Buckets of three records without a value twice."""
    stays.build(db, [(n, "Z", "F", 1, f"d{n}", f"u{n}", f"s{n}") for n in range(12)])
    return db


def tamper(db: Database, name: str, run: int, **schemas: str) -> None:
    with db.owner().transaction():
        db.owner().execute(TAMPERED[name][0].format(run=f"r{run}", **schemas).encode())


def tamper_staged(db: Database, name: str) -> None:
    found = db.owner().execute(
        "SELECT substring(tablename, '[0-9]+')::integer FROM pg_tables"
        " WHERE schemaname = 'pganon_stage' AND tablename ~ '_st1$'"
    )
    ((run,),) = found.fetchall()
    tamper(db, name, run, data="pganon_stage", private="pganon_stage")


def policy() -> Any:
    return stays.policy(privacy=stays.requirement(3), options={"optimizer": "base"})


def nothing_is_published(conn: Connection, code: str) -> None:
    assert stays.views(conn) == []
    assert faults.run_tables(conn) == []
    assert faults.events(conn, "stays")[-1].endswith(f": {code}")


@pytest.mark.slow
def test_nothing_tampered_with_is_published(source: Database) -> None:
    """What makes another release that holds is found by the stamps, all else by verification."""
    for name, (_, found, _) in TAMPERED.items():
        codes = {found} if found else {"verification", "changed_after_verification"}
        hook = faults.at("verify.fingerprint", lambda name=name: tamper_staged(source, name))
        with pytest.raises(PganonError) as caught:
            faults.run(source.dsn(), policy(), before=hook, jobs=1)
        assert hook.reached  # type: ignore[attr-defined]
        assert caught.value.code in codes, name
        nothing_is_published(source.owner(), caught.value.code)


@pytest.mark.slow
def test_nothing_changed_after_verification_is_published(source: Database) -> None:
    for name in ("numbers swapped in one table", "memory changed"):
        hook = faults.at("publish.publish", lambda name=name: tamper_staged(source, name))
        with pytest.raises(PganonError) as caught:
            faults.run(source.dsn(), policy(), before=hook)
        assert caught.value.code == "changed_after_verification"
        nothing_is_published(source.owner(), "changed_after_verification")


def failing(conn: Connection) -> list[Any]:
    return [m for m in lifecycle.verify(conn, "stays") if not m.holds]


def test_verify_finds_what_was_changed_in_the_store(source: Database) -> None:
    conn = source.owner()
    run = faults.run(source.dsn(), policy()).run_id
    assert failing(conn) == []
    for name, (text, _, found) in TAMPERED.items():
        schemas = {"run": f"r{run}", "data": "pganon_data", "private": "pganon_private"}
        with conn.transaction(force_rollback=True):
            conn.execute(text.format(**schemas).encode())
            seen = {m.model for m in failing(conn)}
        assert seen - {"row_count"} == found | {"fingerprint"}, name
    assert failing(conn) == []
    for view in stays.views(conn):
        row = conn.execute("SELECT definition FROM pg_views WHERE viewname = %s", [view]).fetchone()
        assert row is not None
        with conn.transaction(force_rollback=True):
            conn.execute(
                f"CREATE OR REPLACE VIEW published.{view} AS SELECT v.* FROM"
                f" ({row[0].rstrip(';')}) AS v, pganon_private.run_secret AS s".encode()
            )
            replaced = [(m.model, m.against) for m in failing(conn)]
        assert replaced == [("view", f"published.{view}")]


@pytest.mark.slow
def test_independent_links_are_verified(source: Database) -> None:
    """Every link by itself, though no bucket is shared."""
    options = {**stays.METHODS["independent, sliced"], "optimizer": "base"}
    run = stays.release(source, privacy=stays.requirement(3), options=options).run_id
    conn = source.owner()
    last = f"pganon_data.r{run}_qit2"
    for text in (
        f"UPDATE {last} SET st1_group_id = 3 - st1_group_id WHERE st1_group_id = 1",
        f"UPDATE {last} SET st2_group_id = 3 - st2_group_id WHERE st2_group_id = 1",
        f"UPDATE {last} SET group_id = 3 - group_id WHERE group_id = 1",
        f"UPDATE pganon_data.r{run}_qit1 SET group_id = 3 - group_id WHERE group_id = 1",
        f"UPDATE {last} SET count = count + 1 WHERE ctid = (SELECT min(ctid) FROM {last})",
    ):
        with conn.transaction(force_rollback=True):
            conn.execute(text.encode())
            assert {"structure", "fingerprint"} <= {m.model for m in failing(conn)}, text
    assert failing(conn) == []
