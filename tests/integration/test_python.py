"""The functions for programs: connections that are given."""

from __future__ import annotations

import psycopg
import pytest

from pganon import PganonError, run_release
from tests.support.harness import faults
from tests.support.harness.cluster import Database


def test_a_connection_says_where(db: Database) -> None:
    db.source(faults.SOURCE)
    with psycopg.connect(db.dsn()) as connection:
        assert run_release(faults.policy(), connection=connection).version == 1
        assert run_release(faults.policy(), connection=connection).outcome == "unchanged"
        # It is still what it was: the run has sessions of its own.
        row = connection.execute("SELECT current_user, current_setting('search_path')").fetchone()
        assert row == ("steward", '"$user", public')


@pytest.mark.parametrize("failed", [False, True])
def test_a_connection_inside_a_transaction(db: Database, failed: bool) -> None:
    """Its own lock would let the run wait until it gives up."""
    db.source(faults.SOURCE)
    db.admin.execute("GRANT ALL ON public.patient TO steward")
    with psycopg.connect(db.dsn()) as connection:
        connection.execute("LOCK TABLE public.patient")
        if failed:
            with pytest.raises(psycopg.Error):
                connection.execute("SELECT 1/0")
        with pytest.raises(PganonError, match="inside a transaction") as caught:
            run_release(faults.policy(), connection=connection)
        assert (caught.value.code, caught.value.exit_code) == ("in_transaction", 2)
        assert "commit or roll back" in (caught.value.hint or "")
        connection.rollback()
        assert run_release(faults.policy(), connection=connection).version == 1
    with pytest.raises(PganonError, match="closed"):
        run_release(faults.policy(), connection=connection)
