"""Sources that Citus distributes over several servers.

Rows of a distributed table are in shards, which other servers (workers) read in sessions of their
own: with their own settings, and each at an instant of its own. Where a database has no Citus,
nothing here does more than ask for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.catalog.model import DistributedRead, Relation, Shards
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, quote
from pganon.sqlfiles import Connection, ask, dicts


def distributed_reads(
    conn: Connection,
    statements: Iterable[Sequence[QualifiedName]],
    *,
    installed: bool | None = None,
) -> tuple[DistributedRead, ...]:
    """How Citus distributes what statements over these relations read; of the others nothing.

    Args:
        installed: whether there is Citus; None: it is asked for.

    Raises:
        PreconditionError: as :func:`check_sessions`; cluster_differs.
    """
    if not (is_installed(conn) if installed is None else installed):
        return ()
    found = [_distributed_read(conn, relations) for relations in statements]
    reads = tuple(read for read in found if read is not None)
    if reads:
        _check_sessions(conn)
        _check_servers(conn)
    return reads


def distributed(conn: Connection) -> list[int]:
    """Numbers of all tables that Citus distributes, where there is Citus."""
    row = ask(conn, "citus", "distributed").fetchone()
    return row[0] if row else []


def shards_of(conn: Connection, source: Relation) -> Shards | None:
    """The shards that a table itself is in, if the current role may read what places its rows.

    Where there is Citus.
    """
    row = ask(conn, "citus", "shards", table=source.oid).fetchone()
    column = source.column(row[0]) if row and row[0] is not None else None
    return Shards(source.name, column.name) if column is not None and column.readable else None


def statistics_of_shard(
    conn: Connection, table: Relation, names: Sequence[str]
) -> tuple[float, list[tuple[float, list[float]]]] | None:
    """Rows of one of a table's shards, and of columns how many values they have, and how frequent.

    As ANALYZE saw it there: this server has no statistics of the table. None if no server says so.
    """
    row = ask(conn, "citus", "statistics", table=table.oid, names=list(names)).fetchone()
    return (row[0], row[1] or []) if row else None


def check_sessions(conn: Connection) -> None:
    """Refuse a current role that could not read what Citus distributes, or would run what others
    made there, where there is Citus.

    Raises:
        PreconditionError: cluster_login, cluster_path.
    """
    if is_installed(conn):
        _check_sessions(conn)


def prepare_reading(conn: Connection, relations: Sequence[QualifiedName], *, at_once: bool) -> None:
    """Have shards read in this transaction as this session would read them, where there is Citus.

    Workers get the session's settings wherever there is Citus: functions may read what the catalog
    says nothing of.

    Args:
        at_once: lock the tables against writers, where that is needed and the role may.

    Raises:
        PreconditionError: as :func:`check_sessions`; cluster_differs.
    """
    read = _distributed_read(conn, relations)
    if read is not None:
        _check_sessions(conn)
        _check_servers(conn)
    _set_on_workers(conn)
    if at_once and read is not None and read.locked:
        names = sql.SQL(", ").join(name.identifier for name in read.locked)
        conn.execute(sql.SQL("LOCK TABLE {} IN SHARE MODE").format(names))


def changes_in_shards(conn: Connection, sources: Sequence[str]) -> str | None:
    """What the servers of shards count of changes; empty without shards, None if one is silent.

    Where there is Citus.

    Args:
        sources: names, always in double quotes.
    """
    row = ask(conn, "citus", "changes", sources=list(sources)).fetchone()
    return row[0] if row else None


def seal_shards(conn: Connection, table: QualifiedName) -> None:
    """Let nobody but the owner read an empty table in shards, on any server.

    After the transaction that made it, in which other sessions do not see it.

    Raises:
        PreconditionError: cluster_shards.
    """
    others = _others(conn, table)
    if others:
        roles = [sql.Identifier(role) if role else sql.SQL("PUBLIC") for role in others]
        text = sql.SQL("REVOKE ALL ON {} FROM {} CASCADE")
        conn.execute(text.format(table.identifier, sql.SQL(", ").join(roles)))
        others = _others(conn, table)
    if others is None or others:
        raise PreconditionError(
            f"shards of {table} stay readable to others on another server of the cluster, or it"
            " does not say to whom",
            hint="revoke the default privileges that other roles gave there",
            code=ErrorCode.CLUSTER_SHARDS,
        )


def _others(conn: Connection, table: QualifiedName) -> list[str] | None:
    row = ask(conn, "citus", "others", schema=table.schema, name=table.name).fetchone()
    return row[0] if row else None


@contextmanager
def in_shards(conn: Connection) -> Iterator[None]:
    """A transaction that reads tables of pganon in shards, as this session would read them."""
    with conn.transaction():
        _set_on_workers(conn)
        yield


def _set_on_workers(conn: Connection) -> None:
    """What expressions can see of this session's settings, for those of its transaction on workers.

    They get a SET LOCAL that is alone in its message, and no set_config(). Propagation is switched
    off again at once: they would get, and run, the whole text of a later message with a SET LOCAL.
    What they send may be as large as a table.
    """
    settings = ask(conn, "citus", "settings").fetchall()
    conn.execute(b"SET LOCAL citus.propagate_set_commands = 'local'")
    conn.execute(b"SET LOCAL search_path = pg_catalog, pg_temp")
    for name, value in settings:
        conn.execute(sql.SQL("SET LOCAL {} = {}").format(sql.Identifier(name), sql.Literal(value)))
    conn.execute(b"SET LOCAL citus.propagate_set_commands = 'none'")
    conn.execute(b"SET LOCAL citus.max_intermediate_result_size = -1")


def is_installed(conn: Connection) -> bool:
    """Whether there is Citus in this database."""
    row = ask(conn, "citus", "installed").fetchone()
    return bool(row and row[0])


def _check_sessions(conn: Connection) -> None:
    row = ask(conn, "citus", "role").fetchone()
    if row is None:
        return
    role = quote(row[0])
    if not row[1]:
        raise PreconditionError(
            f"Citus logs in to the other servers of the cluster as {role}, and that role may not",
            hint=f"run ALTER ROLE {role} LOGIN, and let it connect to all servers of the cluster",
            code=ErrorCode.CLUSTER_LOGIN,
        )
    if not row[2]:
        raise PreconditionError(
            f"on the other servers of the cluster, sessions of {role} would run functions of"
            " whoever may create in a schema of their search path: Citus calls its own by name",
            hint=f"as a superuser, run ALTER ROLE {role} SET search_path = pg_catalog, pg_temp",
            code=ErrorCode.CLUSTER_PATH,
        )


def _check_servers(conn: Connection) -> None:
    """Refuse servers on which an expression may mean something else than here."""
    command = sqlfiles.query("citus", "server")
    here = json.loads(conn.execute(command).fetchall()[0][0])
    found = conn.execute(
        b"SELECT n.nodeid, n.success, n.result FROM pg_catalog.run_command_on_all_nodes(%s) AS n",
        [command.decode()],
    ).fetchall()
    for node, success, result in found:
        there = json.loads(result) if success else None
        if there is None:
            problem = "does not say which locale it has"
        elif there["locale"] != here["locale"]:
            names = sorted(k for k, v in here["locale"].items() if v != there["locale"].get(k))
            problem = f"has another locale for its database than this one ({', '.join(names)})"
        elif extra := sorted({*there["settings"]} - {*here["settings"]}):
            problem = f"has settings for its database or the role that this one lacks: {extra[0]}"
        else:
            continue
        raise PreconditionError(
            f"server {node} of the cluster {problem}: expressions could mean something else there",
            hint="let all servers have databases of one locale and the same settings;"
            " pg_dist_node has the names of servers",
            code=ErrorCode.CLUSTER_DIFFERS,
        )


def cluster_hint(error: psycopg.Error) -> str | None:
    """What helps where Citus made an object on another server, which refused it to the role."""
    refused = isinstance(error, psycopg.errors.InsufficientPrivilege)
    if not refused or "while executing command on" not in (error.diag.context or ""):
        return None
    return (
        "the role is unknown to another server of the cluster, or may not create there; in this"
        " database, as a superuser: GRANT CREATE ON DATABASE to the role again, CREATE TYPE"
        " public.known AS (one integer), ALTER TYPE public.known OWNER TO the role, DROP TYPE"
        " public.known"
    )


def _distributed_read(
    conn: Connection, relations: Sequence[QualifiedName]
) -> DistributedRead | None:
    schemas = [name.schema for name in relations]
    tables = dicts(conn, "citus", "tables", schemas=schemas, names=[one.name for one in relations])
    distributed = [_name(row) for row in tables if row["distributed"]]
    if not distributed:
        return None
    if sum(row["pieces"] for row in tables) < 2:
        return DistributedRead(tuple(distributed))
    wanted = [row for row in tables if not row["locked_with"]]
    unlocked = tuple(_name(row) for row in wanted if not row["may_lock"])
    locked = () if unlocked else tuple(map(_name, wanted))
    return DistributedRead(tuple(distributed), locked, unlocked)


def _name(row: dict[str, Any]) -> QualifiedName:
    return QualifiedName(row["schema"], row["name"])
