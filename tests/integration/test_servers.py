"""The fixtures themselves."""

import pytest

from tests.conftest import origins
from tests.support.harness.cluster import CrashableServer, Database


def test_second_major_version_is_there():
    found = origins()
    if len(found) < 2:
        pytest.skip(f"tests run on {found[0].id if found else 'no server'} only: no second version")
    assert found[0].major != found[1].major


def test_steward_is_an_ordinary_role(db: Database):
    row = db.connect().execute(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles"
        " WHERE rolname = current_user"
    )
    assert row.fetchone() == (False, False, False, False)


def test_steward_reads_sources_but_does_not_own_them(db: Database):
    db.source("CREATE TABLE public.t (a int); INSERT INTO public.t VALUES (1)")
    conn = db.connect()
    assert conn.execute("SELECT a FROM public.t").fetchall() == [(1,)]
    owner = conn.execute(
        "SELECT tableowner FROM pg_tables WHERE schemaname = 'public' AND tablename = 't'"
    )
    assert owner.fetchone() == ("source_owner",)


@pytest.mark.slow
def test_crash_empties_unlogged_tables(crashable_server: CrashableServer):
    with crashable_server.connect() as conn:
        conn.execute("CREATE UNLOGGED TABLE pganon_work.gone AS SELECT 1 AS a")
        conn.execute("CREATE TABLE pganon_stage.kept AS SELECT 1 AS a")
        crashable_server.crash()
    crashable_server.restart()
    with crashable_server.connect() as conn:
        assert conn.execute("SELECT a FROM pganon_work.gone").fetchall() == []
        assert conn.execute("SELECT a FROM pganon_stage.kept").fetchall() == [(1,)]
