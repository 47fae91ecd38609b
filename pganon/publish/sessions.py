"""Sessions of the steward and of readers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from pganon.error_codes import ErrorCode
from pganon.errors import InstallError
from pganon.install import access
from pganon.install.owner import become_owner
from pganon.server_errors import translate
from pganon.sqlfiles import Connection, ask


def become_steward(conn: Connection, *, named: str | None = None) -> bool:
    """Become the owner if the session may; False for a role that can only read."""
    try:
        become_owner(conn, named=named)
    except InstallError as error:
        if error.code != ErrorCode.NOT_OWNER:
            raise
        return False
    return True


def is_steward(conn: Connection) -> bool:
    """Whether the statements of this session act as the owner of pganon."""
    owner = access.installed_owner(conn)
    return ask(conn, "lifecycle", "current_role").fetchone() == (owner,)


@contextmanager
def translated() -> Iterator[None]:
    """Errors of the server in the block become errors of pganon."""
    try:
        yield
    except psycopg.Error as error:
        raise translate(error) from None
