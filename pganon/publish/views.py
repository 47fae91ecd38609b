"""Published views: making them, swapping them, and who may read them.

Views belong to the owner, read only stored tables, depend on no object of pganon, and nobody
can write through them. Where the columns stay the same, CREATE OR REPLACE keeps grants and
dependent objects of a view; otherwise it is recreated, with its grants, and what others have built
on the one before is refused to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import psycopg
from psycopg import sql

from pganon import sqlfiles
from pganon.catalog.roles import Roles, check_roles, names_of
from pganon.database import at_once
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import QualifiedName, quote
from pganon.publish import release_state
from pganon.publish.grants import privileges_on, set_privileges
from pganon.publish.release_state import History
from pganon.steps.relations import DATA_SCHEMA, PublishedView

Connection = psycopg.Connection[Any]

_WRITABLE = 4 | 8 | 16  # UPDATE, INSERT, DELETE, as pg_relation_is_updatable counts them


@dataclass(frozen=True)
class ExistingRelation:
    """A relation that has a name.

    Attributes:
        mine: whether it belongs to the current role.
        writable: whether rows can be written through it.
        reads: relations that a view reads, each as schema.name without quotes.
    """

    oid: int
    kind: str
    mine: bool
    writable: bool
    reads: tuple[str, ...]


def find(conn: Connection, name: QualifiedName) -> ExistingRelation | None:
    row = conn.execute(sqlfiles.query("publish", "relation"), name.__dict__).fetchone()
    if row is None:
        return None
    return ExistingRelation(row[0], row[1], row[2], bool(row[3] & _WRITABLE), tuple(row[4]))


def made_view(conn: Connection, name: QualifiedName) -> ExistingRelation:
    """Return the view of that name, which the current role has just made or granted on.

    Raises:
        PreconditionError: open_privileges, it is gone, or another role's.
    """
    relation = find(conn, name)
    if relation is None or not relation.mine:
        raise PreconditionError(
            f"{name} was dropped, or given to another role, as soon as it was made",
            hint="event triggers of a superuser can do that: have them spare published views",
            code=ErrorCode.OPEN_PRIVILEGES,
        )
    return relation


def check_free(
    conn: Connection, name: QualifiedName, release: str, history: History | None
) -> ExistingRelation | None:
    """Return the view of this release under that name; None if the name is free.

    A view counts as the release's if pganon made one of that name for it, it still belongs to
    the owner, and it reads nothing but the release's stored tables.
    """
    relation = find(conn, name)
    if relation is None:
        row = conn.execute(sqlfiles.query("publish", "type_exists"), name.__dict__).fetchone()
        if row and row[0]:
            raise _taken(name, release, "a type")
        return None
    ours = (
        relation.kind == "v"
        and relation.mine
        and history is not None
        and name in history.view_names
        and bool(relation.reads)
        and set(relation.reads) <= {f"{table.schema}.{table.name}" for table in history.data_tables}
    )
    if not ours:
        kinds = {"v": "a view", "m": "a materialized view", "S": "a sequence", "i": "an index"}
        raise _taken(name, release, kinds.get(relation.kind, "a table"))
    return relation


def _taken(name: QualifiedName, release: str, what: str) -> PreconditionError:
    return PreconditionError(
        f'{name} exists: {what} that pganon did not make for the release "{release}"',
        hint="rename or drop it, or choose another publish.schema",
        code=ErrorCode.NAME_TAKEN,
    )


def built_upon(conn: Connection, release: str, views: Sequence[PublishedView]) -> list[str]:
    """Objects that depend on views that :func:`swap` would drop or give other columns."""
    history = release_state.read(conn, release)
    planned = {view.name: view for view in views}
    shown = history.current.views if history and history.current else ()
    dependents: list[str] = []
    for name in sorted({*planned, *(view.name for view in shown)}):
        relation = find(conn, name)
        view = planned.get(name)
        if relation and not (view and _same_columns(conn, relation, view)):
            dependents += [f"{built} depends on {name}" for built in _dependents(conn, relation)]
    return dependents


def swap(
    conn: Connection,
    release: str,
    history: History | None,
    views: Sequence[PublishedView],
    readers: Roles,
    former: Collection[int],
) -> list[str]:
    """Make the views show a version, which is the current one, inside a transaction.

    Returns objects of others that depended on views that are gone or have other columns.

    Args:
        history: the release before the publication.
        former: numbers of roles that are readers no more.

    Raises:
        PreconditionError: name_taken, replaced_role, no_grant, open_privileges.
    """
    dependents = remove_views(conn, release)
    for view in sorted(views, key=lambda view: view.name):
        relation = check_free(conn, view.name, release, history)
        grants = privileges_on(conn, relation.oid) if relation else []
        if relation and not _same_columns(conn, relation, view):
            dependents += _removed(conn, "remove_view", {"oid": relation.oid})
        made = _create(conn, view)
        set_privileges(conn, view.name, made.oid, {column.name for column in view.columns}, grants)
        grant(conn, view.name, readers, former)
    return dependents


def remove_views(conn: Connection, release: str) -> list[str]:
    """Take away views that the current version does not have, all if there is none.

    Returns objects of others that depended on them.
    """
    return _removed(conn, "remove_views", {"release": release})


def dependent_texts(dependents: Sequence[str]) -> list[str]:
    """Messages about dependent objects of others, each as the server describes it."""
    return [f"what others have built is of no use any more: {line}" for line in dependents]


def close_views(conn: Connection, release: str) -> None:
    """Shut readers out of all views of a release, at once: it waits for nobody who reads them."""
    conn.execute(sqlfiles.query("publish", "close_views"), {"release": release})


def tidy_views(conn: Connection, release: str | None = None) -> list[str]:
    """Take away views of a withdrawn release, or of all, that are not in use any more.

    Returns objects of others that depended on them.
    """
    return _removed(conn, "tidy_views", {"release": release})


def _removed(conn: Connection, query: str, values: dict[str, Any]) -> list[str]:
    row = conn.execute(sqlfiles.query("publish", query), values).fetchone()
    return list(row[0]) if row else []


def _same_columns(conn: Connection, relation: ExistingRelation, view: PublishedView) -> bool:
    columns = conn.execute(sqlfiles.query("publish", "columns"), {"oid": relation.oid}).fetchall()
    return columns == [(column.name, column.type) for column in view.columns]


def _dependents(conn: Connection, relation: ExistingRelation) -> list[str]:
    rows = conn.execute(sqlfiles.query("publish", "dependents"), {"oid": relation.oid}).fetchall()
    return [row[0] for row in rows]


def _create(conn: Connection, view: PublishedView) -> ExistingRelation:
    # The text of the view is rendered by pganon with every name quoted.
    select = sql.SQL(view.select)  # pyright: ignore[reportArgumentType]
    statement = sql.SQL("CREATE OR REPLACE VIEW {} AS {}")
    conn.execute(statement.format(view.name.identifier, select))
    made = made_view(conn, view.name)
    if made.writable:
        # A second relation in FROM makes a view read-only for everybody. The planner removes
        # one row of constants entirely, so conditions still reach the indexes of the table.
        joined = sql.SQL("SELECT s.* FROM ({}) AS s CROSS JOIN (VALUES (1)) AS one(n)")
        conn.execute(statement.format(view.name.identifier, joined.format(select)))
        made = made_view(conn, view.name)
    if made.writable:
        raise PreconditionError(
            f"rules let rows be written through {view.name}",
            hint="drop the rules on that view",
            code=ErrorCode.WRITABLE,
        )
    _check_made(conn, view, made)
    describe(conn, view)
    return made


def _check_made(conn: Connection, view: PublishedView, made: ExistingRelation) -> None:
    columns = conn.execute(sqlfiles.query("publish", "columns"), {"oid": made.oid}).fetchall()
    planned = [(column.name, column.type) for column in view.columns]
    for column, wanted in zip_longest(columns, planned):
        if column != wanted:
            raise PganonError(f"{view.name} has the column {column}, planned was {wanted}")
    outside = [name for name in made.reads if not name.startswith(f"{DATA_SCHEMA}.")]
    if outside or not made.reads:
        raise PganonError(f"{view.name} reads relations that are not stored ones")


def describe(conn: Connection, view: PublishedView) -> None:
    """Comments of a view and its columns."""
    columns = [
        sql.SQL("COMMENT ON COLUMN {} IS {}").format(
            sql.Identifier(view.name.schema, view.name.name, column.name),
            sql.Literal(column.comment),
        )
        for column in view.columns
    ]
    comment = sql.SQL("COMMENT ON VIEW {} IS {}")
    at_once(conn, [comment.format(view.name.identifier, sql.Literal(view.comment)), *columns])


def former_readers(history: History | None, readers: Roles) -> set[int]:
    """Numbers of readers of a release that are none of these."""
    before = history.release.roles.values() if history else ()
    return set(before) - set(readers.values())


def grant(conn: Connection, name: QualifiedName, readers: Roles, former: Iterable[int]) -> None:
    """Grant SELECT to the readers, revoke it from former ones, and check the result.

    A former reader loses it whatever it is called by now.
    """
    for role in names_of(conn, former).values():
        conn.execute(
            sql.SQL("REVOKE SELECT ON {} FROM {}").format(name.identifier, sql.Identifier(role))
        )
    for role in readers:
        for lacking in _lacking(conn, "lack_usage", name, [role]):
            conn.execute(
                sql.SQL("GRANT USAGE ON SCHEMA {} TO {}").format(
                    sql.Identifier(name.schema), sql.Identifier(lacking)
                )
            )
        conn.execute(
            sql.SQL("GRANT SELECT ON {} TO {}").format(name.identifier, sql.Identifier(role))
        )
    # The grants were by name.
    check_roles(
        conn, readers, readers, "readers", remedy="correct them", again="run the release again"
    )
    # GRANT on somebody else's schema is only a warning.
    for query, what in (
        ("lack_usage", f"use the schema {quote(name.schema)}"),
        ("lack_select", f"read {name}"),
    ):
        lacking = _lacking(conn, query, name, list(readers))
        if lacking:
            raise PreconditionError(
                f"these roles may not {what}: {', '.join(quote(role) for role in lacking)}",
                hint="have the owner of the schema grant USAGE on it to them",
                code=ErrorCode.NO_GRANT,
            )


def _lacking(conn: Connection, query: str, name: QualifiedName, roles: Sequence[str]) -> list[str]:
    if not roles:
        return []
    values = {**name.__dict__, "roles": list(roles)}
    return [row[0] for row in conn.execute(sqlfiles.query("publish", query), values).fetchall()]
