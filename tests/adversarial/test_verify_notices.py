"""Attack: a published view that says something else, and doors that were opened, unnoticed."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PreconditionError
from pganon.publish import lifecycle
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import release

pytestmark = pytest.mark.slow

COLUMNS = "r.class_id, r.age, r.disease"

REPLACED = {
    "members": f"""
        SELECT {COLUMNS} FROM pganon_data.r{{run}}_records AS r
        JOIN pganon_private.r{{run}}_members AS m ON true
    """,
    "filter": f"SELECT {COLUMNS} FROM pganon_data.r{{run}}_records AS r WHERE r.class_id = 1",
    "cross join": f"""
        SELECT {COLUMNS} FROM pganon_data.r{{run}}_records AS r
        CROSS JOIN pganon_data.r{{run}}_records AS o
    """,
    "function": """
        SELECT r.class_id, r.age, r.disease || public.peep() AS disease
        FROM pganon_data.r{run}_records AS r
    """,
    "other column": """
        SELECT r.class_id, r.age, r.age::text AS disease FROM pganon_data.r{run}_records AS r
    """,
    "nothing": """
        SELECT r.class_id, r.age, r.disease FROM pganon_data.r{run}_records AS r LIMIT 0
    """,
    "table of the run before": f"SELECT {COLUMNS} FROM pganon_data.r{{before}}_records AS r",
}

PEEP = """
    CREATE FUNCTION public.peep() RETURNS text SECURITY DEFINER LANGUAGE sql
        AS 'SELECT count(*)::text FROM pganon_private.version';
"""


def failing(conn: Connection, name: str = "adult") -> list[tuple[str, str]]:
    return [(m.model, m.against) for m in lifecycle.verify(conn, name) if not m.holds]


@pytest.mark.parametrize("what", REPLACED)
@pytest.mark.parametrize("printed_by", ["this server", "another server", "nobody"])
def test_a_view_that_says_something_else(db: Database, what: str, printed_by: str) -> None:
    """Also where another version of the server printed its definition, or none was kept."""
    conn = db.owner()
    db.admin.execute("GRANT CREATE ON SCHEMA public TO steward")
    conn.execute(PEEP.encode())
    before = release(conn).run_id
    run = release(conn).run_id
    change = {
        "this server": "v.item",
        "another server": 'v.item || \'{"printed_by": "13", "definition": ""}\'',
        "nobody": "v.item - 'printed_by' - 'definition'",
    }[printed_by]
    conn.execute(
        "UPDATE pganon_private.version AS s SET views ="
        f" (SELECT jsonb_agg({change}) FROM jsonb_array_elements(s.views) AS v(item))".encode()
    )
    assert failing(conn) == []
    text = REPLACED[what].format(run=run, before=before)
    conn.execute(f"CREATE OR REPLACE VIEW published.adult AS {text}".encode())
    assert failing(conn) == [("view", "published.adult")]


@pytest.mark.parametrize(
    "change",
    [
        "ALTER VIEW published.adult SET (security_barrier = true)",
        "ALTER VIEW published.adult OWNER TO source_owner",
        "DROP VIEW published.adult; CREATE TABLE published.adult (class_id bigint)",
        """
        CREATE FUNCTION public.f() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
        CREATE TRIGGER t INSTEAD OF INSERT ON published.adult
            FOR EACH ROW EXECUTE FUNCTION public.f()
        """,
    ],
)
def test_a_view_that_is_another_thing(db: Database, change: str) -> None:
    conn = db.owner()
    release(conn)
    db.admin.execute(change.encode())
    assert ("view", "published.adult") in failing(conn)


def test_a_view_that_a_rollback_made_is_known(db: Database) -> None:
    conn = db.owner()
    release(conn)
    release(conn, joined=True)
    lifecycle.show_earlier(conn, "adult")
    assert failing(conn) == []


OPENED = {
    "GRANT SELECT ON pganon_data.r{run}_records TO PUBLIC": "private schemas",
    "GRANT SELECT (record) ON pganon_private.r{run}_members TO analyst": "private schemas",
    "GRANT SELECT ON pganon_private.run_secret TO PUBLIC": "private schemas",
    "GRANT USAGE ON SCHEMA pganon_private TO analyst": "private schemas",
    "GRANT CREATE ON SCHEMA pganon_work TO source_owner": "private schemas",
    "GRANT UPDATE ON SEQUENCE pganon_private.ledger_id_seq TO analyst": "private schemas",
    "GRANT EXECUTE ON FUNCTION pganon_private.refuse_change() TO PUBLIC": "private schemas",
    "GRANT SELECT ON pganon.ledger TO source_owner": "schema pganon",
    "GRANT INSERT (result) ON pganon.action TO PUBLIC": "schema pganon",
    "GRANT EXECUTE ON FUNCTION pganon.verify(text) TO analyst": "schema pganon",
    "GRANT CREATE ON SCHEMA published TO PUBLIC": "schema published",
    "GRANT SELECT ON published.adult TO PUBLIC": "published.adult",
    "GRANT SELECT (age) ON published.adult TO source_owner": "published.adult",
    "GRANT INSERT ON published.adult TO analyst": "published.adult",
    "GRANT SELECT ON published.adult TO analyst WITH GRANT OPTION": "published.adult",
}


@pytest.mark.parametrize("grant", OPENED)
def test_an_opened_door(db: Database, grant: str) -> None:
    conn = db.owner()
    run = release(conn).run_id
    conn.execute(grant.format(run=run).encode())
    assert failing(conn) == [("privileges", OPENED[grant])]
    done = pganon("verify", "adult", "--dsn", db.dsn())
    assert done.code == 1
    assert "NOT everything holds" in done.out


@pytest.mark.parametrize("grant", [g for g, where in OPENED.items() if where == "private schemas"])
def test_no_run_behind_an_open_door(db: Database, grant: str) -> None:
    db.source(faults.SOURCE)
    conn = db.owner()
    first = faults.run(db.dsn()).run_id
    conn.execute(
        grant.format(run=first).replace("(record) ON pganon_private", "ON pganon_private").encode()
    )
    with pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn())
    assert caught.value.code == "open_privileges"
    assert "REVOKE" in str(caught.value.hint)
    assert faults.version(conn) == 1
    assert faults.events(conn) == ["started", "released"]


LEDGER = "SELECT on pganon.ledger"


def test_a_run_warns_of_readers_that_nobody_named(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    db.owner().execute("GRANT SELECT ON published.patients TO PUBLIC, source_owner")
    db.owner().execute("GRANT CREATE, USAGE ON SCHEMA published TO source_owner")
    db.owner().execute("GRANT SELECT ON pganon.ledger TO source_owner")
    warnings: Any = faults.run(db.dsn()).warnings
    said = "others may do more than the policies say: "
    stays = [
        "CREATE on schema published to source_owner",
        "SELECT on pganon.ledger to source_owner",
    ]
    assert [text.removeprefix(said).split(", ") for text in warnings if text.startswith(said)] == [
        [
            *stays,
            "SELECT on published.patients to public",
            "SELECT on published.patients to source_owner",
        ]
    ]
    # Use of a schema shows nothing by itself.
    named = faults.policy(publish={"readers": ["analyst", "public", "source_owner"]})
    warnings = faults.run(db.dsn(), named).warnings
    assert [text for text in warnings if text.startswith(said)] == [said + ", ".join(stays)]
