"""One requester stops nobody else: limits are those of each role, and the queue is fair."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from tests.support.harness import queue
from tests.support.harness.cluster import Connection, Database

ASKED = {"roles": ["public"], "parameters": {"k": {"min": 8, "max": 999}}}


def _ended(db: Database, number: int, requester: str, *, state: str = "refused", ago: str = "2 h"):
    """Requests of a role that ended so long ago."""
    db.admin.execute(
        "INSERT INTO pganon_private.request (release, revision, origin, requester, requester_id,"
        " state, requested_at, finished_at, parameters)"
        " SELECT 'patients', 1, 'request', r.rolname, r.oid, %(state)s, now() - %(ago)s::interval,"
        " now() - %(ago)s::interval, jsonb_build_object('n', n)"
        " FROM generate_series(1, %(number)s) AS n, pg_roles AS r WHERE r.rolname = %(who)s",
        {"number": number, "who": requester, "state": state, "ago": ago},
    )


def _limit(conn: Connection, k: int = 8) -> str:
    with pytest.raises(psycopg.Error) as caught:
        queue.ask(conn, k=k)
    assert caught.value.sqlstate == "PA403", caught.value
    return caught.value.diag.message_primary or ""


@pytest.mark.slow
def test_refusals_of_one_close_the_release_for_nobody_else(db: Database) -> None:
    queue.applied(db, requests=ASKED)
    _ended(db, 3, "analyst")
    assert _limit(db.connect("analyst")).startswith("your requests")
    other = queue.ask(db.connect("source_owner"))
    _ended(db, 50, "steward")
    mine = queue.ask(db.owner(), k=9)
    queue.serve(db)
    assert queue.state(db, mine)[0] == "released"
    assert queue.state(db, other)[0] == "released"


def test_many_refusals_slow_all_down(db: Database) -> None:
    """Attack: many roles try out together what the data allow."""
    queue.applied(db, requests=ASKED)
    _ended(db, 30, "analyst", ago="10 min")
    asked = queue.ask(db.connect("source_owner"))
    mine = queue.ask(db.owner(), k=9)
    due = "SELECT due_at > now() FROM pganon_private.request WHERE id = %s"
    assert db.admin.execute(due, [asked]).fetchone() == (True,)
    assert db.admin.execute(due, [mine]).fetchone() == (False,)
    db.admin.execute("UPDATE pganon_private.request SET finished_at = now() - interval '61 min'")
    assert db.admin.execute(due, [queue.ask(db.connect("source_owner"), k=9)]).fetchone() == (
        False,
    )


def test_a_time_zone_of_the_requester(db: Database) -> None:
    """Attack: a clock that jumped by a day three hours ago, so that a day ago is now."""
    queue.applied(db, requests={**ASKED, "min_interval": "1d"})
    _ended(db, 3, "analyst")
    _ended(db, 1, "steward", state="released")
    conn = db.connect("analyst")
    jump = datetime.now(UTC) - timedelta(hours=3)
    day = min(jump.timetuple().tm_yday, 365)
    zone = f"AAA0BBB-24,J{day}/{jump.hour},J{(day + 30) % 365 + 1}"
    conn.execute("SELECT set_config('TimeZone', %s, false)", [zone])
    ago = conn.execute("SELECT now() - interval '1 day' > now() - interval '1 hour'").fetchone()
    assert ago == (True,), "the attack"
    assert _limit(conn).startswith("your requests")
    other = db.connect("source_owner")
    other.execute("SELECT set_config('TimeZone', %s, false)", [zone])
    assert _limit(other) == 'the release "patients" is made at most once in 1d'


def test_how_many_wait(db: Database) -> None:
    queue.applied(db, requests=ASKED)
    analyst = db.connect("analyst")
    first = [queue.ask(analyst, k=k) for k in range(10, 20)]
    assert _limit(analyst) == '10 of your requests for the release "patients" wait already'
    assert queue.ask(analyst, k=10) == first[0], "an equal one is there"
    analyst.execute("SELECT pganon.cancel_request(%s)", [first[0]])
    queue.ask(analyst, k=8)
    steward = db.owner()
    for k in range(20, 40):
        queue.ask(steward, k=k)


def test_what_was_cancelled_counts(db: Database) -> None:
    """Attack: rows without bound, by asking and cancelling."""
    queue.applied(db, requests=ASKED)
    _ended(db, 100, "analyst", state="cancelled")
    message = _limit(db.connect("analyst"))
    assert message == 'you may request the release "patients" 100 times a day'
    queue.ask(db.connect("source_owner"))


@pytest.mark.slow
def test_the_queue_takes_turns(db: Database) -> None:
    """Attack: one role fills the queue before others ask. What the steward asks comes first."""
    queue.applied(db, requests=ASKED)
    analyst, other, steward = db.connect("analyst"), db.connect("source_owner"), db.owner()
    many = [queue.ask(analyst, k=k) for k in (8, 9, 10)]
    one, two = queue.ask(other, k=11), queue.ask(other, k=12)
    mine = queue.ask(steward, k=13)
    queue.serve(db)
    order = [
        row[0]
        for row in db.admin.execute("SELECT id FROM pganon_private.request ORDER BY started_at")
    ]
    assert order == [mine, many[0], one, many[1], two, many[2]]


def test_old_requests_are_taken_away(db: Database) -> None:
    """Also where nobody asks for the release any more."""
    queue.applied(db, requests=ASKED)
    _ended(db, 5, "analyst", ago="91 days")
    _ended(db, 2, "analyst", ago="89 days")
    kept = db.admin.execute("SELECT min(id) FROM pganon_private.request").fetchone()
    assert kept is not None
    db.admin.execute(
        "INSERT INTO pganon_private.approval (request, decision, role, reason)"
        " VALUES (%s, 'rejected', 'x', 'x')",
        [kept[0]],
    )
    log = queue.serve(db)
    assert queue.states(db) == ["refused"] * 3, "one was decided, two are younger"
    assert "tidied requests=4" in log
    assert queue.serve(db)[1:] == ["stopped served=0"], "and no worker looks at them again"


def test_nobody_hears_when_others_ask(db: Database) -> None:
    """Attack: LISTEN needs no privilege, and a notification names the process that sent it."""
    queue.applied(db, requests=ASKED)
    with psycopg.connect(db.dsn("source_owner"), autocommit=True) as listening:
        listening.execute("LISTEN pganon_request")
        queue.ask(db.connect("analyst"))
        assert list(listening.notifies(timeout=0.2)) == []


@pytest.mark.slow
def test_a_call_says_that_nobody_serves_it(db: Database) -> None:
    queue.applied(db, requests=ASKED)
    told: list[str] = []
    conn = db.connect("analyst")
    conn.execute("SET client_min_messages = notice")
    conn.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    with pytest.raises(psycopg.Error, match="no worker is alive") as caught:
        conn.execute("CALL pganon.release('patients', wait => '1 s')")
    assert caught.value.sqlstate == "PA406"
    assert "no worker is alive" in told[0]
    with queue.serving(db.dsn()):
        told.clear()
        conn.execute("CALL pganon.release('patients')")
    assert not any("no worker" in line for line in told[1:])
