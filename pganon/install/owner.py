"""A session that works as the owner of pganon's schemas."""

from __future__ import annotations

from pganon import database
from pganon.install import access, state
from pganon.sqlfiles import Connection, ask


def become_owner(conn: Connection, *, named: str | None = None) -> str:
    """SET ROLE to the owner of pganon's schemas and give its name.

    Args:
        named: the owner, where the session logged in as another role that is a member of it.

    Raises:
        InstallError: not installed, another role's and not named, a superuser's session, objects
            of others in pganon's schemas, older than this program (run `pganon upgrade`), newer.
    """
    owner = access.admit(conn, named)
    database.set_role(conn, owner)
    state.check_current(conn)
    complete(conn)
    return owner


def connect_as_owner(
    dsn: str | None,
    *,
    owner: str | None = None,
    settings: database.Settings = database.DEFAULT_SETTINGS,
) -> Connection:
    """A connection whose session works as the owner, as :func:`become_owner` has it."""
    conn = database.connect(dsn, settings=settings)
    try:
        become_owner(conn, named=owner)
    except BaseException:
        conn.close()
        raise
    return conn


def complete(conn: Connection) -> None:
    """Make the secret of the installation, if there is none and nothing was published with one.

    CREATE EXTENSION leaves it to the first command: a dump may bring one.
    """
    row = ask(conn, "install", "lacks_secret").fetchone()
    if row and row[0]:
        ask(conn, "install", "make_secret")
