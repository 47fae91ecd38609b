"""Whose code runs when a relation is read.

Functions in a view, in an index or in a check of a table that others own run with the privileges of
the session that reads, even during planning. So the relations that a policy names are searched
before, and code of a role that is neither trusted nor a superuser is refused. Of a table that Citus
distributes nothing is searched on other servers: whoever could put code there is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, nullcontext

import psycopg
from psycopg import sql

from pganon.catalog.citus import distributed, is_installed, prepare_reading
from pganon.catalog.model import ExternalObjects
from pganon.catalog.roles import EVERYBODY
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName, first_few, quote
from pganon.server_errors import ROW_SECURITY, UNFILTERED
from pganon.sqlfiles import Connection, ask, dicts

_NAMED = 5
"""How many objects a message names."""


def check_code(
    conn: Connection,
    external: ExternalObjects,
    trusted: Collection[int],
    *,
    citus: bool,
    option: bool = False,
) -> None:
    """Refuse code of roles that are not trusted.

    Args:
        trusted: numbers of roles in addition to the current one, the session's and superusers.
        citus: whether there is Citus.
        option: trusted roles come from the command line, not from a policy.

    Raises:
        PreconditionError: untrusted_code.
    """
    parameters = {
        "relation_schemas": [name.schema for name in external.relations],
        "relations": [name.name for name in external.relations],
        "function_schemas": [name.schema for name in external.functions],
        "functions": [name.name for name in external.functions],
        "trusted": list(trusted),
        "distributed": distributed(conn) if citus else [],
    }
    objects = dicts(conn, "catalog", "untrusted_code", **parameters)
    if not objects:
        return
    named = [f"{row['kind']} {row['name']} of {quote(row['owner'])}" for row in objects]
    names = ", ".join(map(str, (*external.relations, *external.functions)))
    owners = dict.fromkeys(quote(row["owner"]) for row in objects)
    key = (
        " ".join(f"--trust {owner}" for owner in owners)
        if option
        else f"trust: [{', '.join(owners)}]"
    )
    remedy = f"if their owners may do whatever this role may, write {key}"
    if EVERYBODY in owners:
        remedy = "revoke that right from PUBLIC on all servers of the cluster"
    raise PreconditionError(
        f"{names} would run code of others with the rights of {quote(objects[0]['role'])}:"
        f" {first_few(named, _NAMED)}",
        hint=f"{remedy}; else have them copy the data into a table of yours",
        code=ErrorCode.UNTRUSTED_CODE,
    )


@contextmanager
def reading(
    conn: Connection,
    external: ExternalObjects,
    trusted: Collection[int],
    *,
    option: bool = False,
    only: bool = False,
    at_once: bool = False,
) -> Iterator[None]:
    """A transaction that reads relations of others, and ends in an error if their code may run.

    Checked under a lock, before anything is planned; and again when all has been read, because who
    owns a table can give it an index in between, and a function cannot be locked.

    Args:
        only: nothing is written, so whatever the transaction did is undone.
        at_once: where Citus has tables in several shards, and the role may, nobody writes to them
            meanwhile; else shards are read at an instant each.
    """
    with conn.transaction(force_rollback=only):
        _lock(conn, external.relations)
        before = _objects(conn, external)
        # Who makes it later distributes nothing that this transaction holds locks on.
        citus = is_installed(conn)
        check_code(conn, external, trusted, citus=citus, option=option)
        if citus:
            prepare_reading(conn, external.relations, at_once=at_once)
        yield
        check_code(conn, external, trusted, citus=citus, option=option)
        if _objects(conn, external) != before:
            raise PreconditionError(
                f"{', '.join(map(str, external.functions))} changed while it was called",
                hint="run the release again",
                code=ErrorCode.SOURCE_CHANGED,
            )


def _objects(conn: Connection, external: ExternalObjects) -> list[tuple[object, ...]]:
    """Which functions bear the names, and which version of each."""
    if not external.functions:
        return []
    schemas = [name.schema for name in external.functions]
    names = [name.name for name in external.functions]
    return ask(conn, "catalog", "functions", schemas=schemas, names=names).fetchall()


def filters_rows(conn: Connection, relation: QualifiedName) -> bool:
    """Whether policies of row-level security apply to what this role reads, also through views.

    Of what it may not read, or what is not there, nothing is filtered.
    """
    within = conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE
    try:
        with conn.transaction(force_rollback=True) if within else nullcontext():
            _lock(conn, (relation,))
    except psycopg.errors.InsufficientPrivilege as error:
        return error.diag.source_function == ROW_SECURITY
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName):
        return False  # what reads it says what it was to be
    return False


def check_row_security(conn: Connection, external: ExternalObjects) -> None:
    """Refuse relations of which this role would be shown some rows only.

    Raises:
        PreconditionError: row_security.
    """
    for relation in external.relations:
        if filters_rows(conn, relation):
            raise PreconditionError(
                f"policies of row-level security would hide rows of {relation}",
                hint=UNFILTERED,
                code=ErrorCode.ROW_SECURITY,
            )


def _lock(conn: Connection, relations: Sequence[QualifiedName]) -> None:
    """ACCESS SHARE locks on relations and on those that views read, until the transaction ends.

    LOCK TABLE takes no materialized view, no foreign table, and wants a privilege on the whole
    table. A prepared statement is parsed, which takes the locks, and is not planned.
    """
    for relation in relations:
        text = sql.SQL("PREPARE pganon_lock AS SELECT FROM {}; DEALLOCATE pganon_lock")
        conn.execute(text.format(relation.identifier))
