"""Fault: a transaction pooler, which breaks session locks, between client and server."""

from __future__ import annotations

from typing import Any

import pytest

from pganon import database
from pganon.errors import PreconditionError
from pganon.install.owner import become_owner
from tests.support.harness import faults
from tests.support.harness.cluster import Database


class _Pooled:
    """A connection whose statements reach two sessions in turn, outside of transactions."""

    def __init__(self, *sessions: Any) -> None:
        self._sessions = sessions
        self._count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sessions[0], name)

    def execute(self, *arguments: Any) -> Any:
        if self._sessions[0].info.transaction_status == 0:
            self._count += 1
        return self._sessions[self._count % len(self._sessions)].execute(*arguments)

    def close(self) -> None:
        for session in self._sessions:
            session.close()


def test_a_run_through_a_pooler_is_refused(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    db.source(faults.SOURCE)
    direct = database.connect
    conn = db.owner()
    for sessions in (2, 3):

        def pooled(*given: Any, number: int = sessions, **settings: Any) -> Any:
            found = [direct(*given, **settings) for _ in range(number)]
            for session in found:
                become_owner(session)
            return _Pooled(*found)

        monkeypatch.setattr(database, "connect", pooled)
        with pytest.raises(PreconditionError) as caught:
            faults.run(db.dsn())
        monkeypatch.setattr(database, "connect", direct)
        assert caught.value.code == "pooler"
        assert caught.value.exit_code == 2
        assert faults.events(conn) == []
        assert faults.run_tables(conn) == []
    assert faults.run(db.dsn()).version == 1


def test_a_lost_lock_stops_publication(db: Database) -> None:
    """A pooler that was missed: the locks are asked for again in the publishing transaction."""
    db.source(faults.SOURCE)
    conn = db.owner()
    lost = (
        "SELECT pg_catalog.pg_advisory_unlock_all() FROM"
        " (SELECT set_config('search_path', 'pg_catalog', true)) AS s"
    )
    held: list[Any] = []

    def lose(connection: Any) -> None:
        held.append(connection)

    hook = faults.at("publish.publish", lambda: held[0].execute(lost))
    with faults.run_connection(lose), pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn(), before=hook)
    assert caught.value.code == "lock_lost"
    assert faults.content(conn) is None
    assert faults.run_tables(conn) == []
    assert faults.events(conn) == ["started", "failed: lock_lost"]
