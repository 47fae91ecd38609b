"""The measuring functions for a session that is not of pganon's owner.

A function runs with the privileges of its caller, and its owner can replace it. So a role calls the
functions that it owns, or those of an owner that it names. For everybody else the same functions
are created from this program's files in the temporary schema of the session, and disappear with the
transaction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import InstallError
from pganon.install import access
from pganon.sqlfiles import Connection

INSTALLED = b"pganon"
TEMPORARY = b"pg_temp"

_FOLDER = "functions/measure/"
_SCHEMA = re.compile(rb"\bpganon\.")


@contextmanager
def functions(conn: Connection, named: str | None = None) -> Iterator[bytes]:
    """The schema of measuring functions that this session may call, for the length of a block.

    Raises:
        InstallError: not_owner or superuser, where no temporary functions can be made; what
            :func:`pganon.install.access.admit` raises where an owner is named.
    """
    try:
        access.admit(conn, named)
    except InstallError as error:
        if error.code not in (ErrorCode.NOT_OWNER, ErrorCode.SUPERUSER):
            raise
        refusal = error
    else:
        yield INSTALLED
        return
    with conn.transaction(force_rollback=True):
        try:
            with conn.transaction():
                for text in _measuring():
                    conn.execute(text)
        except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction):
            raise refusal from None
        yield TEMPORARY


def moved(text: bytes, schema: bytes) -> bytes:
    """SQL text that calls pganon's functions, for functions in another schema."""
    return _SCHEMA.sub(schema + b".", text)


def _measuring() -> Iterator[bytes]:
    for item in sqlfiles.object_set().objects:
        # Those that read pganon's tables are of no use to others.
        if item.path.startswith(_FOLDER) and b"pganon_private" not in item.text:
            yield moved(item.text, TEMPORARY)
