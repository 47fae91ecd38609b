"""Attack: event triggers of a superuser that grant whatever is made, as automation often does."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from pganon.database import set_role
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName
from pganon.publish import lifecycle, listing
from pganon.publish.privileges import unopened
from pganon.run import grants
from pganon.server_errors import translate
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
    grants.change_readers(conn, "adult", add=["source_owner"])


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


OPENED = {
    "GRANT SELECT ON published.other TO PUBLIC": "SELECT on published.other to public",
    "GRANT SELECT (age) ON published.other TO source_owner": "published.other.age to source_owner",
    "GRANT SELECT ON published.other TO analyst WITH GRANT OPTION": "GRANT OPTION FOR SELECT",
    "GRANT USAGE ON SCHEMA published TO source_owner": "USAGE on schema published",
    "GRANT CREATE ON SCHEMA published TO PUBLIC": "CREATE on schema published to public",
    "GRANT CREATE ON SCHEMA pganon TO source_owner": "CREATE on schema pganon to source_owner",
    "GRANT SELECT ON pganon.ledger TO PUBLIC": "SELECT on pganon.ledger to public",
    "GRANT INSERT (result) ON pganon.action TO PUBLIC": "INSERT on pganon.action.result to public",
    "GRANT EXECUTE ON FUNCTION pganon.verify(text) TO PUBLIC": "EXECUTE on pganon.verify",
    "ALTER VIEW published.other OWNER TO source_owner": "ownership of published.other",
    """ALTER SCHEMA published OWNER TO source_owner;
    GRANT ALL ON SCHEMA published TO steward""": "ownership of schema published by source_owner",
    "ALTER TABLE pganon_private.schedule OWNER TO source_owner": "ownership of pganon_private",
    "ALTER FUNCTION pganon.measures() OWNER TO source_owner": "ownership of pganon.measures",
    "ALTER VIEW published.other SET (security_barrier = on)": "options of published.other",
    "ALTER VIEW pganon.action RESET (check_option)": "options of pganon.action",
    "ALTER FUNCTION pganon.measures() SECURITY DEFINER": "rights of its owner in pganon.measures",
    """ALTER TABLE pganon_private.run_secret ENABLE ROW LEVEL SECURITY;
    CREATE POLICY p ON pganon_private.run_secret USING (true)""": "row-level security of pganon",
    "GRANT steward TO source_owner": "membership of source_owner in steward",
    "GRANT pg_read_all_data TO source_owner": "membership of source_owner in pg_read_all_data",
}
"""What a trigger may do with the rights of its owner, and what is said of it."""


def _within(conn: Connection, act: str) -> None:
    """What a trigger does inside of a transaction of the steward's; then all is compared."""
    with conn.transaction():
        conn.execute("SET LOCAL ROLE steward")
        with unopened(conn):
            conn.execute("RESET ROLE")
            conn.execute(act.encode())
            conn.execute("SET LOCAL ROLE steward")


def test_what_a_transaction_may_not_open(db: Database) -> None:
    release(db.owner())
    release(db.owner(), "other")
    for act, said in OPENED.items():
        with pytest.raises(psycopg.Error) as caught:
            _within(db.admin, act)
        error = translate(caught.value)
        assert (error.code, said in error.message) == ("open_privileges", True), act
    _within(db.admin, "REVOKE SELECT ON published.other FROM analyst")
    # Withdrawn, and in use still: its readers are nobody.
    db.owner().execute("UPDATE pganon_private.release SET current_version = NULL")
    with pytest.raises(psycopg.Error, match=r"SELECT on published\.other to analyst"):
        _within(db.admin, "GRANT SELECT ON published.other TO analyst")


def test_a_trigger_that_takes_another_role(db: Database) -> None:
    """What follows would be done, and compared, as the role that logged in."""
    release(db.owner())
    _automate(db, "PERFORM set_config('role', 'none', false)", "COMMENT", rights="INVOKER")
    with queue.role(db, "member", member_of="steward") as (member,):
        conn = db.connect(member)
        set_role(conn, "steward")
        with pytest.raises(PreconditionError, match="ownership of ") as caught:
            release(conn)
        assert caught.value.code == "open_privileges"


def test_default_privileges_of_a_trigger_open_nothing(db: Database) -> None:
    conn = db.owner()
    release(conn)
    _automate(
        db,
        "ALTER DEFAULT PRIVILEGES FOR ROLE steward GRANT ALL ON TABLES TO PUBLIC",
        "ALTER TABLE",
    )
    release(conn, columns=COLUMNS[:2], rows=[r[:2] for r in ROWS])
    assert _held(conn) == ["analyst SELECT"]
    assert all(found.holds for found in lifecycle.verify(conn, "adult"))


def _withdraw(conn: Connection) -> None:
    lifecycle.withdraw(conn, "adult")


def _withdraw_in_sql(conn: Connection) -> None:
    try:
        conn.execute("SELECT pganon.withdraw_release('adult')")
    except psycopg.Error as error:
        raise translate(error) from None


def _drop(conn: Connection) -> None:
    lifecycle.drop(conn, "adult")


@pytest.mark.parametrize("act", [_again, _back, _admit, _withdraw, _withdraw_in_sql, _drop])
def test_whatever_shows_or_withdraws_opens_nothing_else(
    db: Database, act: Callable[[Connection], None]
) -> None:
    conn = db.owner()
    release(conn)
    release(conn)
    release(conn, "other")
    opened = ("SELECT ON pganon.ledger", "CREATE ON SCHEMA published", "SELECT ON published.other")
    granted = "; ".join(f"GRANT {what} TO PUBLIC" for what in opened)
    _automate(db, granted, "CREATE VIEW", "GRANT", "REVOKE")
    with pytest.raises(PreconditionError) as caught:
        act(conn)
    assert caught.value.code == "open_privileges"
    for what in opened:
        assert f"{what} to public".lower() in caught.value.message.lower()
    assert all(found.holds for found in lifecycle.verify(conn, "other"))
    assert [(info.release, info.version) for info in listing.releases(conn)] == [
        ("adult", 2),
        ("other", 1),
    ]


def test_what_the_steward_granted_before_stays(db: Database) -> None:
    """On other releases and on what pganon has, too; `verify` counts it."""
    conn = db.owner()
    release(conn)
    release(conn, "other", readers=("analyst", "source_owner"))
    for grant in (
        "SELECT ON published.other TO PUBLIC",
        "CREATE ON SCHEMA published TO source_owner",
        "SELECT ON pganon.ledger TO source_owner",
    ):
        conn.execute(f"GRANT {grant}".encode())
    for act in (_again, _other_columns, _back, _admit):
        act(conn)
    grants.change_readers(conn, "other", remove=["source_owner"])
    lifecycle.drop(conn, "adult")
    failing = {m.against: m.measured for m in lifecycle.verify(conn, "other") if not m.holds}
    assert failing == {"schema pganon": 1, "schema published": 1, "published.other": 1}
    # As of readers who can become the owner, who are not remembered as readers.
    conn.execute("UPDATE pganon_private.version SET readable_by = '{}', readable_ids = '{}'")
    grants.change_readers(conn, "other", remove=["analyst"])


def test_a_schema_that_was_open_before(db: Database) -> None:
    conn = db.owner()
    db.admin.execute("GRANT CREATE, USAGE ON SCHEMA public TO steward")
    release(conn, view=QualifiedName("public", "adult"))
    assert all(found.holds for found in lifecycle.verify(conn, "adult"))


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
        grants.change_readers(conn, "adult", remove=["source_owner"])


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
