"""Which server, and the one way to connect to it.

Every connection of pganon gets the same session preamble, so that settings of the role, the
database or the environment cannot change what a statement means.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import Any

import psycopg
from psycopg import conninfo, sql

from pganon import embedded, pooling
from pganon.data_directory import PORT
from pganon.error_codes import ErrorCode
from pganon.errors import DatabaseError, InstallError, PreconditionError, UsageError
from pganon.identifiers import quote
from pganon.server_errors import learn_timeout

MINIMUM_VERSION = 140000
_LIBPQ = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE", "PGUSER")


@dataclass(frozen=True)
class ServerChoice:
    """A server that was chosen.

    Attributes:
        dsn: libpq connection string or URI; empty means libpq's own variables.
        origin: where the choice comes from, for messages.
    """

    dsn: str
    origin: str

    @property
    def description(self) -> str:
        """Database, host and user without the password."""
        parts = conninfo.conninfo_to_dict(self.dsn)
        shown = [f"{key} {parts[key]}" for key in ("dbname", "host", "user") if parts.get(key)]
        return f"{', '.join(shown) or 'libpq defaults'} (from {self.origin})"


@dataclass(frozen=True)
class Settings:
    """Settings of a session that a caller may choose; texts as PostgreSQL's SET takes them."""

    work_mem: str = "64MB"
    statement_timeout: str = "0"
    lock_timeout: str = "60s"
    application_name: str = "pganon"


DEFAULT_SETTINGS = Settings()
RUN_SETTINGS = Settings(work_mem="256MB")
"""Of sessions that compute a release."""

_PREAMBLE: Mapping[str, str] = {
    "client_encoding": "UTF8",
    "search_path": "pg_catalog, pg_temp",
    "row_security": "off",
    "TimeZone": "UTC",
    "DateStyle": "ISO, YMD",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "xmloption": "content",
    "xmlbinary": "base64",
    "jit": "off",
    # Each ordered aggregate is compared with all others: planning a thousand takes minutes.
    "enable_presorted_aggregate": "off",
    "standard_conforming_strings": "on",
    "client_min_messages": "warning",
    "default_transaction_isolation": "read committed",
    "default_transaction_read_only": "off",
    "default_transaction_deferrable": "off",
    "quote_all_identifiers": "off",  # format_type() would quote the names of types
    "transform_null_equals": "off",
    "constraint_exclusion": "partition",  # on: checks of every table are planned, code and all
    "array_nulls": "on",
    "idle_in_transaction_session_timeout": "0",
    # Workers of Citus would get the whole text of a message with a SET LOCAL, and run it.
    "citus.propagate_set_commands": "none",
}

# Not every platform can watch a client's socket, not every version has every limit.
_OPTIONAL: Mapping[str, str] = {
    "client_connection_check_interval": "2s",
    "idle_session_timeout": "0",
    "transaction_timeout": "0",
}


EMBEDDED = "embedded server"
_reached: ContextVar[str | None] = ContextVar("reached", default=None)


def reached() -> str | None:
    """The server and database of the last connection of this thread, for messages."""
    return _reached.get()


def forget_reached() -> None:
    """Forget the server: the next command has reached none yet."""
    _reached.set(None)


def resolve_dsn(dsn: str | None, *, start: bool = False) -> ServerChoice:
    """--dsn, else PGANON_DSN, else libpq's variables, else the embedded server if it runs.

    Args:
        start: start the embedded server if it does not.

    Raises:
        PreconditionError: no_server, there is none.
        UsageError: bad_dsn.
    """
    if dsn:
        return _checked(ServerChoice(dsn, "--dsn"))
    given = os.environ.get("PGANON_DSN")
    if given:
        return _checked(ServerChoice(given, "PGANON_DSN"))
    if any(os.environ.get(name) for name in _LIBPQ):
        return ServerChoice("", "libpq variables")
    cluster = embedded.embedded()
    if not start and not cluster.running():
        raise PreconditionError(
            "no server given, and the embedded server does not run",
            hint="give --dsn or PGANON_DSN, or start the embedded server: `pganon server start`",
            code=ErrorCode.NO_SERVER,
        )
    return ServerChoice(cluster.provide(), EMBEDDED)


def _checked(target: ServerChoice) -> ServerChoice:
    try:
        conninfo.conninfo_to_dict(target.dsn)
    except psycopg.ProgrammingError:
        # libpq's message repeats parts of the text, which may hold a password.
        raise UsageError(
            f"{target.origin} is not a connection string",
            hint="write postgresql://user@host/database or 'host=... dbname=...'",
            code=ErrorCode.BAD_DSN,
        ) from None
    return target


def dsn_like(connection: psycopg.Connection[Any]) -> str:
    """A connection string for additional sessions like this one, with its password.

    Raises:
        UsageError: in_transaction. A run would not see uncommitted rows of the transaction, and
            would wait for its locks.
    """
    info = connection.info
    if connection.closed:
        raise UsageError("the connection is closed")
    if info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        raise UsageError(
            "the connection is inside a transaction, which a run would not see, and might wait for",
            hint="commit or roll back before, or open the connection with autocommit=True",
            code=ErrorCode.IN_TRANSACTION,
        )
    password = {"password": info.password} if info.password else {}
    return conninfo.make_conninfo(info.dsn, **password)


def connect(
    dsn: str | None = None, *, settings: Settings = DEFAULT_SETTINGS
) -> psycopg.Connection[tuple[object, ...]]:
    """A connection in autocommit mode with the session preamble applied.

    Raises:
        DatabaseError, PreconditionError: no connection; server_version; pooler.
    """
    target = resolve_dsn(dsn)
    conn = _open(target)
    _reached.set(_description(conn, target))
    try:
        version = conn.info.server_version
        if version < MINIMUM_VERSION:
            raise PreconditionError(
                f"pganon needs PostgreSQL {MINIMUM_VERSION // 10000} or later, "
                f"the server is {version // 10000}",
                code=ErrorCode.SERVER_VERSION,
            )
        pooling.check_unshared(conn, lambda: _open(target))
        set_up(conn, settings)
        if settings.statement_timeout != DEFAULT_SETTINGS.statement_timeout:
            learn_timeout(conn)
    except BaseException:
        conn.close()
        raise
    return conn


def check_encoding(conn: psycopg.Connection[Any]) -> None:
    """Refuse a database whose texts are bytes without a meaning: nobody could compare or hide them.

    Raises:
        PreconditionError: server_encoding.
    """
    if conn.info.parameter_status("server_encoding") == "SQL_ASCII":
        raise PreconditionError(
            "the database has the encoding SQL_ASCII: nobody knows which characters its bytes are",
            hint="restore a dump of it into a database with the encoding UTF8",
            code=ErrorCode.SERVER_ENCODING,
        )


def _open(target: ServerChoice) -> psycopg.Connection[tuple[object, ...]]:
    try:
        return psycopg.connect(target.dsn, autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        # Indented lines are libpq's advice on the line before them.
        lines = [line for line in str(error).splitlines() if line and not line[0].isspace()]
        raise DatabaseError(
            f"cannot connect to {target.description}: {lines[-1].strip() if lines else ''}",
            sqlstate=error.sqlstate,
            hint="check that the server is running and that the role may log in",
        ) from None


def _description(conn: psycopg.Connection[tuple[object, ...]], target: ServerChoice) -> str:
    """The target of a connection, even if it was given only in part."""
    info = conn.info
    port = f":{info.port}" if info.port != PORT else ""
    return (
        f"database {quote(info.dbname)} on {info.host}{port}, role {quote(info.user)}"
        f" (from {target.origin})"
    )


def set_up(conn: psycopg.Connection[tuple[object, ...]], settings: Settings) -> None:
    """The session preamble and the settings; may be called again."""
    chosen = asdict(settings)
    try:
        set_session(conn, {**_PREAMBLE, **_OPTIONAL, **chosen})
    except psycopg.errors.InvalidParameterValue:
        _apply_singly(conn, chosen)


def _apply_singly(conn: psycopg.Connection[tuple[object, ...]], chosen: Mapping[str, str]) -> None:
    """One after the other, where the server does not take all settings."""
    set_session(conn, _PREAMBLE)
    for name, value in chosen.items():
        try:
            set_session(conn, {name: value})
        except psycopg.errors.InvalidParameterValue as e:
            # The server's words for a setting name what was written and the units there are.
            raise UsageError(
                f"--{name.replace('_', '-')} {value}: {e.diag.message_primary}",
                hint=e.diag.message_hint,
                code=ErrorCode.BAD_SETTING,
            ) from None
    for name, value in _OPTIONAL.items():
        try:
            set_session(conn, {name: value})
        except psycopg.errors.InvalidParameterValue:
            continue


def set_session(
    conn: psycopg.Connection[tuple[object, ...]],
    wanted: Mapping[str, str],
    *,
    at_most: Sequence[str] = (),
) -> None:
    """Settings that this version has.

    Args:
        at_most: whole numbers that stay what they are where they are less.
    """
    conn.execute(
        b"SELECT pg_catalog.set_config(s.name, CASE WHEN s.name OPERATOR(pg_catalog.=)"
        b" ANY (%s::pg_catalog.text[]) THEN (SELECT pg_catalog.min(n.value::pg_catalog.int4)"
        b" ::pg_catalog.text FROM (VALUES (s.value), (pg_catalog.current_setting(s.name)))"
        b" AS n(value)) ELSE s.value END, false)"
        b" FROM ROWS FROM (pg_catalog.unnest(%s::pg_catalog.text[]),"
        b" pg_catalog.unnest(%s::pg_catalog.text[])) AS s(name, value)"
        b" WHERE pg_catalog.current_setting(s.name, true) IS NOT NULL",
        [list(at_most), list(wanted), list(wanted.values())],
    )


def at_once(conn: psycopg.Connection[Any], statements: Sequence[sql.Composed]) -> None:
    """Have the server carry out several statements that give nothing, as one."""
    body = sql.SQL("BEGIN {}; END").format(sql.SQL("; ").join(statements))
    conn.execute(sql.SQL("DO {}").format(sql.Literal(body.as_string(conn))))


def set_role(
    conn: psycopg.Connection[tuple[object, ...]], owner: str, *, local: bool = False
) -> None:
    """SET [LOCAL] ROLE, with a message that says what is missing."""
    text = b"SET LOCAL ROLE {}" if local else b"SET ROLE {}"
    statement = sql.SQL(text.decode()).format(sql.Identifier(owner))  # pyright: ignore[reportArgumentType]
    try:
        conn.execute(statement)
    except psycopg.errors.InsufficientPrivilege:
        raise InstallError(
            f'pganon in this database belongs to the role "{owner}"',
            hint="connect as that role, or as a member of it",
            code=ErrorCode.NOT_OWNER,
        ) from None
