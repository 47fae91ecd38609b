"""Attack: event triggers of a superuser that grant whatever is made, as automation often does."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pganon.errors import PreconditionError
from pganon.publish import lifecycle, listing, readers
from tests.support.harness import faults, queue
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import COLUMNS, ROWS, release

HELD = """
    SELECT coalesce(r.rolname, 'public') || ' ' || a.privilege_type
    FROM pg_class AS c
    CROSS JOIN LATERAL (
        SELECT c.relacl AS acl
        UNION ALL
        SELECT t.attacl FROM pg_attribute AS t WHERE t.attrelid = c.oid
    ) AS h
    CROSS JOIN LATERAL aclexplode(h.acl) AS a
    LEFT JOIN pg_roles AS r ON r.oid = a.grantee
    WHERE c.oid = 'published.adult'::regclass AND a.grantee <> c.relowner
    ORDER BY 1
"""
ON_VIEW = """GRANT SELECT, INSERT ON published.adult TO PUBLIC;
    GRANT SELECT (age) ON published.adult TO source_owner WITH GRANT OPTION"""


def _automate(
    db: Database,
    granted: str,
    *tags: str,
    rights: str = "DEFINER",
    view: str = "published.adult",
) -> None:
    """Let every command with one of these tags grant; a GRANT of a trigger sets off no other."""
    told = ", ".join(f"'{tag}'" for tag in tags)
    db.admin.execute(
        f"""
        CREATE FUNCTION public.automate() RETURNS event_trigger LANGUAGE plpgsql
            SECURITY {rights} SET search_path = pg_catalog, pg_temp AS $$
        BEGIN
            IF current_setting('tests.busy', true) = 'on' OR to_regclass('{view}') IS NULL
            THEN
                RETURN;
            END IF;
            PERFORM set_config('tests.busy', 'on', true);
            {granted};
            PERFORM set_config('tests.busy', 'off', true);
        END
        $$;
        CREATE EVENT TRIGGER automate ON ddl_command_end WHEN TAG IN ({told})
            EXECUTE FUNCTION public.automate();
        """.encode()
    )


def _held(conn: Connection) -> list[str]:
    return [row[0] for row in conn.execute(HELD).fetchall()]


def _again(conn: Connection) -> None:
    release(conn, rows=ROWS[:2])


def _other_columns(conn: Connection) -> None:
    release(conn, columns=COLUMNS[:2], rows=[r[:2] for r in ROWS])


def _back(conn: Connection) -> None:
    lifecycle.show_earlier(conn, "adult")


def _admit(conn: Connection) -> None:
    readers.change_readers(conn, "adult", add=["source_owner"])


@pytest.mark.parametrize("rights", ["INVOKER", "DEFINER"])
@pytest.mark.parametrize("act", [_again, _other_columns, _back])
def test_what_is_granted_on_a_new_view_is_taken_away(
    db: Database, act: Callable[[Connection], None], rights: str
) -> None:
    conn = db.owner()
    release(conn)
    release(conn)
    conn.execute("GRANT SELECT ON published.adult TO source_owner")
    _automate(db, ON_VIEW, "CREATE VIEW", "COMMENT", rights=rights)
    act(conn)
    assert _held(conn) == ["analyst SELECT", "source_owner SELECT"], "and what there was stays"


@pytest.mark.parametrize("act", [_again, _other_columns, _back, _admit])
def test_what_is_granted_again_stops_publication(
    db: Database, act: Callable[[Connection], None]
) -> None:
    """A trigger that answers every GRANT has the last word, and nothing is published."""
    conn = db.owner()
    release(conn)
    release(conn)
    _automate(db, ON_VIEW, "CREATE VIEW", "GRANT")
    with pytest.raises(PreconditionError, match="to public") as caught:
        act(conn)
    assert caught.value.code == "open_privileges"
    assert _held(conn) == ["analyst SELECT"]
    assert [info.version for info in listing.releases(conn)] == [2]


@pytest.mark.parametrize(
    ("schema", "act"),
    [
        ("pganon_private", _again),
        ("pganon_data", _back),
        ("pganon_stage", _other_columns),
        ("pganon_work", _admit),
    ],
)
def test_what_is_granted_on_private_objects_stops_publication(
    db: Database, act: Callable[[Connection], None], schema: str
) -> None:
    conn = db.owner()
    release(conn)
    release(conn)
    _automate(db, f"GRANT USAGE ON SCHEMA {schema} TO analyst", "CREATE VIEW", "GRANT")
    with pytest.raises(PreconditionError, match=f"USAGE on schema {schema} to analyst") as caught:
        act(conn)
    assert caught.value.code == "open_privileges"
    assert faults.exposed(db.admin) == []
    assert [info.version for info in listing.releases(conn)] == [2]


def test_a_view_that_is_given_away_stops_publication(db: Database) -> None:
    conn = db.owner()
    release(conn)
    _automate(db, "ALTER VIEW published.adult OWNER TO source_owner", "CREATE VIEW")
    with pytest.raises(PreconditionError, match=r"published\.adult") as caught:
        release(conn)
    assert caught.value.code == "open_privileges"


def test_who_was_let_by_others_is_no_reader_less(db: Database) -> None:
    """REVOKE takes only what the owner granted, and says nothing of the rest."""
    conn = db.owner()
    release(conn, readers=("analyst", "source_owner"))
    conn.execute("GRANT SELECT ON published.adult TO analyst WITH GRANT OPTION")
    db.connect("analyst").execute("GRANT SELECT ON published.adult TO source_owner")
    with pytest.raises(PreconditionError, match=r"SELECT on published\.adult to source_owner"):
        readers.change_readers(conn, "adult", remove=["source_owner"])


@pytest.mark.slow
def test_what_is_granted_when_readers_change_alone(db: Database) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn(), faults.policy(publish={"readers": []}))
    opened = "GRANT SELECT ON published.patients TO PUBLIC"
    _automate(db, opened, "GRANT", view="published.patients")
    with pytest.raises(PreconditionError, match=r"SELECT on published\.patients to public"):
        faults.run(db.dsn(), faults.policy(publish={"readers": ["analyst"]}))


@pytest.mark.slow
def test_what_is_granted_when_an_approved_release_is_published(db: Database) -> None:
    queue.applied(db, publish={"readers": ["analyst"], "approval": {"by": ["source_owner"]}})
    asked = queue.ask(db.connect("analyst"))
    queue.serve(db)
    opened = "GRANT USAGE ON SCHEMA pganon_data TO PUBLIC"
    _automate(db, opened, "CREATE VIEW", view="published.patients")
    db.connect("source_owner").execute("SELECT pganon.approve_release(%s, 'seen')", [asked])
    queue.serve(db)
    assert queue.state(db, asked) == ("failed", "open_privileges")
    assert faults.content(db.owner()) is None
