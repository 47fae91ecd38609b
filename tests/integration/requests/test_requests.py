"""Requests from SQL: who may ask for what, what is told, and what a worker makes of it."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.harness import faults, queue
from tests.support.harness.cluster import Database


def _refused(conn: psycopg.Connection, state: str, text: str, *values: object) -> str:
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(text.encode(), values)
    assert caught.value.sqlstate == state, caught.value
    return caught.value.diag.message_primary or ""


def test_from_a_request_to_a_release(db: Database) -> None:
    queue.applied(db)
    analyst = db.connect("analyst")
    asked = queue.ask(analyst)
    assert queue.ask(analyst) == asked, "an equal one waits"
    later = "SELECT pganon.request_release('patients', not_before => now() + interval '1 day')"
    row = analyst.execute(later).fetchone()
    assert row is not None
    assert row[0] != asked
    log = queue.serve(db)
    assert [line.split()[0] for line in log] == ["started", "claimed", "released", "stopped"]
    listed = "SELECT id, release, state, version, code FROM pganon.requests ORDER BY id"
    assert analyst.execute(listed).fetchall() == [
        (asked, "patients", "released", 1, None),
        (row[0], "patients", "waiting", None, None),
    ]
    assert analyst.execute("SELECT count(*) FROM published.patients").fetchone() == (24,)
    again = queue.ask(analyst)
    queue.serve(db)
    assert queue.state(db, again) == ("unchanged", None)
    assert queue.state(db, asked) == ("released", None)


def test_parameters_within_their_bounds(db: Database) -> None:
    queue.applied(db)
    analyst = db.connect("analyst")
    asked = queue.ask(analyst, k=12)
    queue.serve(db)
    assert queue.state(db, asked) == ("released", None)
    faults.guarantee_holds(db.owner(), k=12)
    ask = "SELECT pganon.request_release('patients', %s::text::jsonb)"
    for given, message in (
        ('{"k": 13}', 'the parameter "k" must be from 8 to 12'),
        ('{"k": 7.9}', 'the parameter "k" must be from 8 to 12'),
        ('{"k": "9"}', 'the parameter "k" must be from 8 to 12'),
        ('{"k": null}', 'the parameter "k" must be from 8 to 12'),
        ('{"l": 2}', 'the policy declares no parameter "l"'),
        ("[8]", "parameters are a JSON object of at most 1024 bytes"),
        ('{"k": "' + "x" * 2000 + '"}', "parameters are a JSON object of at most 1024 bytes"),
    ):
        assert _refused(analyst, "PA402", ask, given) == message
    assert queue.states(db) == ["released"]


def test_days_stand_in_the_condition(db: Database) -> None:
    asked = {
        **queue.ASKED,
        "parameters": {
            "after": {"min": 20, "max": 30},
            "day": {"min": "2026-01-01", "max": "2026-12-31"},
        },
    }
    queue.applied(db, requests=asked, where="age > :after and DATE '2026-06-01' >= :day")
    analyst = db.connect("analyst")
    for day in ("2025-12-31", "2026-13-01", "2026-1-1", "x"):
        given = f'{{"day": "{day}"}}'
        _refused(
            analyst, "PA402", "SELECT pganon.request_release('patients', %s::text::jsonb)", given
        )
    queue.ask(analyst, after=22, day="2026-05-01")
    queue.serve(db)
    count = "SELECT count(*) FROM published.patients"
    row = db.owner().execute("SELECT count(*) FROM public.patient WHERE age > 22").fetchone()
    assert analyst.execute(count).fetchone() == row


def test_who_may_ask(db: Database) -> None:
    """A role that may not learns no more than of a release that there is not."""
    queue.applied(db)
    stranger = db.connect("source_owner")
    ask = "SELECT pganon.request_release(%s)"
    for name in ("patients", "nothing"):
        message = _refused(stranger, "PA401", ask, name)
        assert message == f'there is no release "{name}" that "source_owner" may request'
    queue.apply(db, requests={"roles": ["public"]})
    queue.ask(stranger)
    listed = db.connect("analyst").execute("SELECT * FROM pganon.requests").fetchall()
    assert listed == [], "of others"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        stranger.execute("SELECT pganon.withdraw_release('patients')")


def test_set_role_decides_who_asks(db: Database) -> None:
    queue.applied(db)
    with queue.role(db, "person", member_of="analyst") as (name,):
        db.admin.execute(f"ALTER ROLE {name} NOINHERIT".encode())
        conn = db.connect(name)
        conn.execute("SET ROLE analyst")
        asked = queue.ask(conn)
        row = db.owner().execute(
            "SELECT requester, login FROM pganon_private.request WHERE id = %s", [asked]
        )
        assert row.fetchone() == ("analyst", name)


def test_limits(db: Database) -> None:
    queue.applied(db, requests={**queue.ASKED, "max_per_day": 2, "min_interval": "1h"})
    analyst = db.connect("analyst")
    first, second = queue.ask(analyst, k=8), queue.ask(analyst, k=9)
    ask = "SELECT pganon.request_release('patients', '{\"k\": 10}')"
    assert _refused(analyst, "PA403", ask) == 'you may request the release "patients" 2 times a day'
    analyst.execute("SELECT pganon.cancel_request(%s)", [second])
    _refused(analyst, "PA403", ask)
    queue.serve(db)
    assert queue.state(db, first) == ("released", None)
    queue.apply(db, requests={**queue.ASKED, "min_interval": "1h"})
    message = _refused(analyst, "PA403", ask)
    assert message == 'the release "patients" is made at most once in 1h'
    assert queue.ask(db.owner(), k=11) > second, "the steward has no limits"


def test_cancelling(db: Database) -> None:
    queue.applied(db)
    analyst, stranger = db.connect("analyst"), db.connect("source_owner")
    asked = queue.ask(analyst)
    cancel = "SELECT pganon.cancel_request(%s)"
    message = _refused(stranger, "PA411", cancel, asked)
    assert message == f'there is no request {asked} of "source_owner"'
    analyst.execute(cancel.encode(), [asked])
    message = _refused(analyst, "PA409", cancel, asked)
    assert message == f"request {asked} does not wait any more: it is cancelled"
    assert queue.ask(analyst) > asked
    db.owner().execute("SELECT pganon.cancel_request(max(id)) FROM pganon_private.request")
    assert queue.states(db) == ["cancelled", "cancelled"]


def test_unchecked_policies(db: Database) -> None:
    """A worker looks at what was applied in SQL; what cannot be used makes nothing."""
    queue.applied(db)
    conn, analyst = db.owner(), db.connect("analyst")
    bad = """SELECT pganon.apply_policy('{"release": "patients", "source": "public.patient",
        "requests": {"roles": ["analyst"]}, "columns": {"age": {"role": "quasi"}}}')"""
    assert conn.execute(bad.encode()).fetchone() == (2,)
    asked = queue.ask(analyst)
    queue.serve(db)
    assert queue.state(db, asked) == ("failed", "unchecked")
    code = "SELECT code FROM pganon.requests WHERE id = %s"
    assert analyst.execute(code.encode(), [asked]).fetchone() == ("unchecked",)
    assert faults.events(conn) == ["unchecked"]
    message = _refused(analyst, "PA404", "SELECT pganon.request_release('patients')")
    assert message == 'the policy of the release "patients" cannot be used as it is'


@pytest.mark.parametrize(
    "text",
    [
        "apply_policy('[]')",
        "apply_policy('{}')",
        "apply_policy('{\"release\": 3}')",
        "apply_policy('{\"release\": \"x\"}', '[]')",
        'apply_policy(\'{"release": "x"}\', \'{"a": 1}\')',
        "apply_policy(NULL)",
    ],
)
def test_what_is_no_policy(db: Database, text: str) -> None:
    _refused(db.owner(), "PA402", f"SELECT pganon.{text}")


def test_revisions(db: Database) -> None:
    assert queue.applied(db).revision == 1
    assert queue.apply(db).revision == 1, "the same texts"
    assert queue.apply(db, suppression_limit=0.1).revision == 2
    assert queue.apply(db).revision == 3, "the newest one counts"
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.connect("analyst").execute('SELECT pganon.apply_policy(\'{"release": "x"}\')')


def test_a_policy_that_changed_ends_what_waits(db: Database) -> None:
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    queue.apply(db, suppression_limit=0.1)
    queue.serve(db)
    assert queue.state(db, asked) == ("failed", "changed")
    assert faults.content(db.owner()) is None


def test_the_named_revision_runs(db: Database) -> None:
    """The policy changed between request and run."""
    queue.applied(db)
    asked = queue.ask(db.connect("analyst"))
    queue.apply(db, suppression_limit=0.1, requests={**queue.ASKED, "on_change": "run"})
    queue.serve(db)
    assert queue.state(db, asked) == ("released", None)
    row = db.owner().execute("SELECT policy ? 'suppression_limit' FROM pganon_private.version")
    assert row.fetchone() == (False,)


def test_asserting(db: Database) -> None:
    stored = queue.applied(db)
    analyst, stranger = db.connect("analyst"), db.connect("source_owner")
    _refused(analyst, "PA401", "SELECT pganon.assert_release('patients')")
    queue.ask(analyst)
    queue.serve(db)
    ask = "SELECT pganon.assert_release('patients', %s, %s)"
    assert analyst.execute(ask.encode(), [stored.policy_hash, "1 hour"]).fetchone() == (1,)
    assert analyst.execute(ask.encode(), [None, None]).fetchone() == (1,)
    message = _refused(analyst, "PA412", ask, "abc", None)
    assert message == 'version 1 of the release "patients" has another policy'
    message = _refused(analyst, "PA412", ask, None, "0")
    assert message == 'version 1 of the release "patients" is older than 00:00:00'
    message = _refused(stranger, "PA401", ask, None, None)
    assert message == 'there is no release "patients" that "source_owner" may read'
    # Other readers, the same version: the policy is that of the last run that found it right.
    changed = queue.apply(db, publish={"readers": ["analyst"], "keep": 2})
    db.owner().execute("SELECT pganon.request_release('patients')")
    queue.serve(db)
    assert analyst.execute(ask.encode(), [changed.policy_hash, None]).fetchone() == (1,)
    _refused(analyst, "PA412", ask, stored.policy_hash, None)


@pytest.mark.slow
def test_withdrawing(db: Database) -> None:
    queue.applied(db, schedule="0 3 * * 1")
    analyst, steward = db.connect("analyst"), db.owner()
    queue.ask(analyst)
    queue.serve(db)
    waiting = queue.ask(analyst)
    steward.execute("SELECT pganon.withdraw_release('patients')")
    assert queue.state(db, waiting) == ("cancelled", "withdrawn")
    assert faults.content(steward) is None
    assert faults.events(steward)[-1] == "withdrawn"
    assert steward.execute("SELECT * FROM pganon_private.schedule").fetchall() == []
    stored = "SELECT dropped_at FROM pganon_private.version"
    assert steward.execute(stored).fetchall() == [(None,)], "versions stay"
    message = _refused(analyst, "PA411", "SELECT pganon.request_release('patients')")
    assert message == 'the release "patients" was withdrawn'
    _refused(analyst, "PA401", "SELECT pganon.assert_release('patients')")
    _refused(steward, "PA401", "SELECT pganon.withdraw_release('patients')")
    queue.ask(steward)
    queue.serve(db)
    faults.guarantee_holds(steward)


def test_equal_requests_of_others_are_answered(db: Database) -> None:
    queue.applied(db)
    mine, other = queue.ask(db.connect("analyst")), queue.ask(db.owner())
    queue.serve(db)
    assert mine != other
    row = db.owner().execute(
        "SELECT count(DISTINCT run_id), min(version), max(version) FROM pganon_private.request"
    )
    assert row.fetchone() == (1, 1, 1)


@pytest.mark.parametrize("how", ["CALL pganon.drop_release", "SELECT pganon.request_drop"])
def test_dropping(db: Database, how: str) -> None:
    """As `pganon drop` does, by a worker; what is asked of the release ends with it."""
    queue.applied(db, schedule="0 3 * * 1")
    analyst, steward = db.connect("analyst"), db.owner()
    queue.ask(analyst)
    queue.serve(db)
    later = analyst.execute(
        "SELECT pganon.request_release('patients', not_before => '2999-01-01')"
    ).fetchone()
    assert later is not None
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        analyst.execute(f"{how}('patients')".encode())
    told: list[str] = []
    steward.execute("SET client_min_messages = notice")
    steward.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    with queue.serving(db.dsn()):
        steward.execute(f"{how}('patients')".encode())
        faults.wait_until(lambda: queue.states(db) == ["released", "cancelled", "released"])
    if how.startswith("CALL"):
        assert told[-1] == 'request 3 for the release "patients": dropped'
    assert queue.state(db, later[0]) == ("cancelled", "withdrawn")
    assert faults.content(steward) is None
    assert faults.events(steward)[-1] == "dropped"
    stored = "SELECT dropped_at IS NOT NULL FROM pganon_private.version"
    assert steward.execute(stored).fetchall() == [(True,)]
    assert steward.execute("SELECT * FROM pganon_private.schedule").fetchall() == []
    message = _refused(steward, "PA401", f"{how}('patients')")
    assert message == 'there is no release "patients" that is shown'
    inside = "DO $$ BEGIN BEGIN CALL pganon.drop_release('patients'); END; END $$"
    _refused(steward, "PA405", f"BEGIN; {inside}")


def test_dropping_what_others_use(db: Database) -> None:
    """Objects that depend on the views do not stop it, nor what the steward has built."""
    queue.applied(db)
    steward = db.owner()
    queue.ask(steward)
    queue.serve(db)
    steward.execute("CREATE SCHEMA made CREATE VIEW upon AS SELECT * FROM published.patients")
    steward.execute("SELECT pganon.request_drop('patients')")
    queue.serve(db)
    assert queue.state(db, 2) == ("released", None)
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="was withdrawn"):
        steward.execute("TABLE made.upon")


@pytest.mark.slow
def test_reverting(db: Database) -> None:
    queue.applied(db)
    steward = db.owner()
    told: list[str] = []
    steward.execute("SET client_min_messages = notice")
    steward.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
    for k in (8, 9):
        queue.ask(steward, k=k)
    queue.serve(db)
    assert faults.version(steward) == 2
    with queue.serving(db.dsn()):
        steward.execute("CALL pganon.revert_release('patients')")
        assert told[-1] == 'request 3 for the release "patients": released, version 1'
        assert faults.version(steward) == 1
        steward.execute("CALL pganon.revert_release('patients')")
    assert told[-1] == 'request 4 for the release "patients": withdrawn'
    assert faults.content(steward) is None
    assert queue.states(db) == ["released"] * 4
