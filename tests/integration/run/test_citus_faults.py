"""Runs over work tables in shards, of which a server or the client is killed.

On a given cluster, see `tests/support/harness/citus.py` and `citus_worker.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pganon.errors import Interrupted
from pganon.run.tables import clean
from tests.integration.methods.test_conformance import unverified
from tests.support.harness import citus, faults
from tests.support.harness.citus import STAYS, policy
from tests.support.harness.citus_worker import Worker, worker
from tests.support.harness.cluster import Database

pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]

VIEW = "published.killed"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Database]:
    """With a release, and a table of the coordinator."""
    with citus.cluster() as database:
        database.source(STAYS)
        database.source("CREATE TABLE public.stay_here AS SELECT * FROM public.stay")
        faults.run(database.dsn(), policy("killed"))
        yield database


@pytest.fixture
def victim(cluster: Database) -> Iterator[Worker]:
    with worker(cluster) as one:
        yield one


@pytest.mark.parametrize(
    ("step", "busy"),
    [
        ("snapshot.snapshot", True),
        ("encode.coded", False),
        ("encode.coded", True),
        ("partition.cells", False),
        ("recode.records", True),
        ("verify.balance", False),
    ],
    ids=lambda given: {True: "in a statement", False: "before it"}.get(given, given),
)
def test_a_worker_that_is_killed_ends_the_run_and_nothing_else(
    cluster: Database, victim: Worker, step: str, busy: bool
) -> None:
    """Nothing unverified is published, what was published stays readable, other runs go on, and
    after the worker is back the same run succeeds and nothing is left on any server."""
    conn = cluster.owner()
    before, rows = faults.version(conn, "killed"), faults.content(conn, VIEW)
    assert before is not None

    def kill() -> None:
        victim.kill_in_a_statement(cluster) if busy else victim.kill()

    with pytest.raises(Interrupted, match="another server of the cluster failed"):
        faults.run(cluster.dsn(), policy("killed"), before=faults.at(step, kill))
    assert faults.events(conn, "killed")[-1] == "failed: interrupted"
    assert (faults.version(conn, "killed"), faults.content(conn, VIEW)) == (before, rows)
    assert unverified(conn, "killed") == []
    left = faults.run_tables(conn)
    assert {name.split("_", 2)[2] for name in left} <= {"snap", "coded", "cell_classes"}
    assert clean(conn).remaining == tuple(left)
    done = faults.run(cluster.dsn(), policy("here", source="public.stay_here"))
    assert done.released == 2400
    victim.start()
    done = faults.run(cluster.dsn(), policy("killed"))
    assert (done.version, done.released) == (before + 1, 2400)
    assert (faults.run_tables(conn), citus.on_servers(cluster)) == ([], [])


def test_a_worker_that_is_killed_does_not_keep_back_what_was_verified(
    cluster: Database, victim: Worker
) -> None:
    conn = cluster.owner()
    before = faults.version(conn, "killed")
    assert before is not None
    at = faults.at("publish.publish", victim.kill)
    assert faults.run(cluster.dsn(), policy("killed"), before=at).version == before + 1
    assert len(faults.content(conn, VIEW) or ()) == 2400
    victim.start()
    assert not clean(conn).remaining
    assert (faults.run_tables(conn), citus.on_servers(cluster)) == ([], [])


def test_a_client_that_is_killed_leaves_tables_in_shards_until_it_is_tidied(
    cluster: Database,
) -> None:
    conn = cluster.owner()
    before = faults.version(conn, "killed")
    assert before is not None
    with (
        faults.ForkServer() as server,
        server.stopped(cluster.dsn(), "encode.tidy", loaded=policy("killed")),
    ):
        run = clean(conn).alive
        names = {name.partition("_")[2] for name in citus.on_servers(cluster)}
        assert {"snap", "coded"} <= names
    faults.wait_until(lambda: not clean(conn).alive)
    assert faults.run(cluster.dsn(), policy("killed")).version == before + 1
    assert (faults.run_tables(conn), citus.on_servers(cluster)) == ([], [])
    failed = conn.execute(
        b"SELECT run_id FROM pganon.ledger WHERE details ->> 'reason' IS NOT NULL"
    )
    assert failed.fetchall() == [(run[0],)]
