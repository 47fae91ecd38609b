"""pganon as an extension of PostgreSQL: what `CREATE EXTENSION pganon` made."""

from __future__ import annotations

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.catalog.citus import cluster_hint
from pganon.error_codes import ErrorCode, SqlState
from pganon.errors import InstallError
from pganon.install import state
from pganon.install.scripts import NAME
from pganon.install.state import Connection


def version(conn: Connection) -> str | None:
    """Version of the extension whose member schema pganon is; None where `init` made it."""
    row = conn.execute(sqlfiles.query("install", "extension")).fetchone()
    return row[0] if row else None


def refuse(conn: Connection, action: str) -> None:
    """Refuse what cannot be done to members of an extension.

    Raises:
        InstallError: extension.
    """
    if version(conn) is not None:
        raise InstallError(
            f"pganon in this database is an extension, which is in the way of {action}",
            hint="run `pganon extension detach` first: all data stay",
            code=ErrorCode.EXTENSION,
        )


def update(conn: Connection, installed: str) -> None:
    """ALTER EXTENSION UPDATE to this program's version; inside a transaction, as the owner.

    Raises:
        InstallError: extension_files, the server has none or others; dependents; open_privileges.
    """
    wanted = state.program_version()
    if not _has_path(conn, installed, wanted):
        raise _files(f"no way from {installed} to {wanted}")
    statement = sql.SQL("ALTER EXTENSION {} UPDATE TO {}").format(
        sql.Identifier(NAME), sql.Identifier(wanted)
    )
    try:
        conn.execute(statement)
    except psycopg.Error as error:
        raise failure(f"the update of the extension to {wanted}", error) from None
    applied = state.read_applied(conn)
    if applied.pending() or applied.objects_differ():
        raise _files(f"another {wanted} than this program")


def failure(what: str, error: psycopg.Error) -> InstallError:
    """The error for SQL files of pganon that failed."""
    if isinstance(error, psycopg.errors.DependentObjectsStillExist):
        # The detail of this error lists objects, never values.
        lines = (error.diag.message_detail or "").splitlines()
        return InstallError(
            f"other objects depend on pganon: {'; '.join(lines)}",
            hint="drop them, run the command again, and create them anew",
            code=ErrorCode.DEPENDENTS,
        )
    text, hint = error.diag.message_primary, error.diag.message_hint or cluster_hint(error)
    if error.sqlstate == SqlState.OPEN_PRIVILEGES:
        return InstallError(text or what, hint=hint, code=ErrorCode.OPEN_PRIVILEGES)
    return InstallError(
        f"{what} failed: {text} [{error.sqlstate}]", hint=hint, code=ErrorCode.INSTALL
    )


def _has_path(conn: Connection, installed: str, wanted: str) -> bool:
    # The function that lists the paths fails where there is no control file. None leads from a
    # version to itself.
    available = conn.execute(sqlfiles.query("install", "extension_available")).fetchone()
    if available is None:
        return False
    path = conn.execute(sqlfiles.query("install", "extension_path"), [installed, wanted])
    return path.fetchone() is not None


def _files(what: str) -> InstallError:
    return InstallError(
        f"the server's files of the extension pganon have {what}",
        hint="put those of `pganon extension build` on the server, or `pganon extension detach`",
        code=ErrorCode.EXTENSION_FILES,
    )
