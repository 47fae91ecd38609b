"""Puts pganon's schemas into a database, brings them forward, takes them out.

Everything happens in one transaction under one lock, as a role that needs nothing but CREATE on
the database. Private schemas and tables are closed to everybody but their owner, whatever
ALTER DEFAULT PRIVILEGES says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.catalog.citus import check_sessions, cluster_hint
from pganon.database import check_encoding, set_role
from pganon.error_codes import ErrorCode, SqlState
from pganon.errors import InstallError, PreconditionError, UsageError
from pganon.identifiers import OWN_SCHEMAS
from pganon.install import access, scripts, state
from pganon.install.owner import complete
from pganon.install.scripts import NAME
from pganon.sqlfiles import Connection, ask

_REMOVED = ("pganon_work", "pganon_stage")


@dataclass(frozen=True)
class Outcome:
    """Result of an installer call.

    Attributes:
        action: init, upgrade, uninstall or detach.
        changed: False when there was nothing to do.
        owner: role that owns the schemas.
        migrations: names of the migrations applied now.
        objects: number of functions and views created now.
        version: version of this program.
        kept: schemas that stay after an uninstall.
        dropped: what others had built on functions or views that are gone, as the server says it.
    """

    action: str
    changed: bool
    owner: str
    version: str
    migrations: Sequence[str] = ()
    objects: int = 0
    kept: Sequence[str] = ()
    dropped: Sequence[str] = ()

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def init(conn: Connection, *, named: str | None = None) -> Outcome:
    """Install, or find everything in place; an older installation wants :func:`upgrade`.

    Args:
        named: role to install as, or that installed, where it is not the one that logged in.
    """
    check_encoding(conn)
    try:
        return _init(conn, named)
    except (psycopg.errors.DuplicateSchema, psycopg.errors.UniqueViolation):
        # Another session made the schemas after the check: now they can be checked.
        return _init(conn, named)


def _init(conn: Connection, named: str | None) -> Outcome:
    with _transaction(conn):
        owner, installed = _claim(conn, named)
        check_sessions(conn)
        if installed.installed:
            state.check_current(conn)
        else:  # perhaps of a database that was restored, without the privileges upon it
            _creator(conn)
        return _bring_forward(conn, "init", owner, installed)


def upgrade(conn: Connection, *, named: str | None = None) -> Outcome:
    """Apply everything that the database lacks: migrations, then functions, views and grants."""
    with _transaction(conn), _dropped(conn) as dropped:
        if not state.read(conn).installed:
            raise state.missing()
        owner, installed = _claim(conn, named)
        check_sessions(conn)
        of_extension = version(conn)
        if of_extension is None:
            done = _bring_forward(conn, "upgrade", owner, installed)
        else:
            done = _update(conn, owner, of_extension)
        return replace(done, dropped=tuple(dropped))


def uninstall(conn: Connection, *, purge: bool = False, named: str | None = None) -> Outcome:
    """Drop pganon's functions and work schemas; with `purge` the ledger and history, too.

    Published views, the tables behind them and, without `purge`, pganon_private stay.
    """
    with _transaction(conn), _dropped(conn) as dropped:
        if not state.read(conn).has_migrations:
            raise InstallError("pganon is not installed in this database", code=ErrorCode.MISSING)
        owner, installed = _claim(conn, named)
        applied = state.read_applied(conn)
        state.check_not_newer(applied)
        refuse(conn, "uninstall")
        changed = "pganon" in installed.owners or purge
        _execute(conn, scripts.drop_objects(None), "dropping functions and views")
        if "pganon" in installed.owners:
            _drop_schema(conn, "pganon", "RESTRICT")
        for name in _REMOVED:
            _drop_schema(conn, name, "CASCADE")
        if purge:
            dropped += [row[0] for row in ask(conn, "install", "built_aside")]
            _drop_schema(conn, "pganon_private", "CASCADE")
            if _count_data(conn) == 0:
                _drop_schema(conn, "pganon_data", "RESTRICT")
        kept = [name for name in OWN_SCHEMAS if name in state.read(conn).owners]
        return Outcome(
            "uninstall", changed, owner, state.program_version(), kept=kept, dropped=tuple(dropped)
        )


def detach(conn: Connection, *, named: str | None = None) -> Outcome:
    """Make of the extension what :func:`init` makes; all data stay."""
    with _transaction(conn):
        if not state.read(conn).installed:
            raise state.missing()
        owner, _ = _claim(conn, named)
        changed = version(conn) is not None
        if changed:
            _run_script(conn, "detach")
        return Outcome("detach", changed, owner, state.program_version())


@contextmanager
def _transaction(conn: Connection) -> Iterator[None]:
    """A transaction in which every statement sees everything committed before it."""
    if conn.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        raise UsageError("the installer needs a connection without an open transaction")
    with conn.transaction():
        conn.execute(b"SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
        yield


@contextmanager
def _dropped(conn: Connection) -> Iterator[list[str]]:
    """Objects of others that scripts drop, and warn of."""
    dropped: list[str] = []

    def note(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.sqlstate == SqlState.OBJECTS_DROPPED:
            dropped.extend((diagnostic.message_detail or "").splitlines())

    conn.execute(b"SET LOCAL client_min_messages = warning")
    conn.add_notice_handler(note)
    try:
        yield dropped
    finally:
        conn.remove_notice_handler(note)


def _claim(conn: Connection, named: str | None) -> tuple[str, state.Installation]:
    """Become the owner of existing schemas and lock them, or refuse those of another role."""
    installed = state.read(conn)
    if installed.has_migrations:
        owner = access.owner_of(installed)
        access.check_actor(conn, owner, named)
        access.check_objects(conn, owner)
        set_role(conn, owner, local=True)
        ask(conn, "install", "lock")
        return owner, state.read(conn)
    _refuse_leftover_data(conn, installed)
    for name in installed.owners:
        raise access.foreign_schema(name, "it is there without pganon_private.migration")
    wanted = access.chosen(named)
    if wanted is not None:
        access.check_actor(conn, wanted, wanted)
        set_role(conn, wanted, local=True)
    return _creator(conn), installed


def _refuse_leftover_data(conn: Connection, installed: state.Installation) -> None:
    if set(installed.owners) != {"pganon_data"}:
        return
    count = _count_data(conn)
    raise InstallError(
        f"schema pganon_data holds {count} relations of releases whose ledger was purged",
        hint="drop it with its views (DROP SCHEMA pganon_data CASCADE), or rename it",
        code=ErrorCode.LEFTOVER,
    )


def _creator(conn: Connection) -> str:
    row = ask(conn, "install", "may_create").fetchone()
    if row is None or not row[0]:
        database, role = (row[1], row[2]) if row else ("", "")
        raise PreconditionError(
            f'the role "{role}" may not create schemas in the database "{database}"',
            hint=f'GRANT CREATE ON DATABASE "{database}" TO "{role}"',
            code=ErrorCode.NO_CREATE,
        )
    return str(row[2])


def _update(conn: Connection, owner: str, installed: str) -> Outcome:
    applied = state.read_applied(conn)
    state.check_known(applied)
    pending = [migration.name for migration in applied.pending()]
    if not pending and not applied.objects_differ():
        return Outcome("upgrade", False, owner, state.program_version())
    update(conn, installed)
    objects = len(sqlfiles.object_set().objects)
    return Outcome("upgrade", True, owner, state.program_version(), pending, objects)


def _bring_forward(
    conn: Connection, action: str, owner: str, installed: state.Installation
) -> Outcome:
    missing = [name for name in OWN_SCHEMAS if name not in installed.owners]
    for name in missing:
        try:
            conn.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(name)))
        except psycopg.errors.InsufficientPrivilege as error:
            if cluster_hint(error) is None:
                raise
            raise failure(f"creating the schema {name}", error) from None
    applied = state.read_applied(conn) if installed.has_migrations else state.Applied((), None)
    state.check_known(applied)
    pending = applied.pending()
    redo = bool(missing or pending or applied.objects_differ())
    if redo:
        if installed.has_migrations:
            _execute(conn, scripts.make_way(), "dropping functions and views")
        _migrate(conn, pending)
        objects = _create_objects(conn, replaced=installed.has_migrations)
        applied_names = [migration.name for migration in pending]
        return Outcome(action, True, owner, state.program_version(), applied_names, objects)
    return Outcome(action, False, owner, state.program_version())


def _migrate(conn: Connection, pending: Sequence[sqlfiles.Migration]) -> None:
    for migration in pending:
        _execute(conn, migration.text, f"migrations/{migration.name}")
    # Only now: the first migration makes the table.
    for migration in pending:
        conn.execute(
            sqlfiles.query("install", "add_migration"),
            [migration.number, migration.name, migration.checksum, state.program_version()],
        )
    complete(conn)


def _create_objects(conn: Connection, *, replaced: bool) -> int:
    wanted = sqlfiles.object_set()
    for item in wanted.objects:
        text = scripts.replace_object(item) if replaced else item.text
        _execute(conn, text, f"sql/{item.path}")
    # Functions are open to everybody when they are made, and default privileges may open more.
    _run_script(conn, "close")
    _execute(conn, wanted.grants, "sql/grants.sql")
    conn.execute(
        sqlfiles.query("install", "add_object_set"),
        [wanted.checksum, wanted.manifest, state.program_version()],
    )
    return len(wanted.objects)


def _drop_schema(conn: Connection, name: str, behaviour: str) -> None:
    statement = sql.SQL("DROP SCHEMA IF EXISTS {} {}").format(
        sql.Identifier(name), sql.SQL("CASCADE" if behaviour == "CASCADE" else "RESTRICT")
    )
    _execute(conn, statement, f"dropping the schema {name}")


def _run_script(conn: Connection, name: str) -> None:
    _execute(conn, sqlfiles.install_script(name), f"sql/install/{name}.sql")


def _execute(conn: Connection, text: bytes | sql.Composed, what: str) -> None:
    try:
        conn.execute(text)
    except psycopg.Error as error:
        raise failure(what, error) from None


def _count_data(conn: Connection) -> int:
    row = ask(conn, "install", "data_relations").fetchone()
    return int(row[0]) if row else 0


def version(conn: Connection) -> str | None:
    """Version of the extension whose member schema pganon is; None where `init` made it."""
    row = ask(conn, "install", "extension").fetchone()
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
    available = ask(conn, "install", "extension_available").fetchone()
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
