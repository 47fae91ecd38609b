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

from psycopg import sql

from pganon import sqlfiles
from pganon.catalog.roles import Roles, check_roles, names_of
from pganon.database import at_once
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.identifiers import QualifiedName, own_schema, quote
from pganon.publish import release_state
from pganon.publish.release_state import History
from pganon.sqlfiles import Connection, ask
from pganon.steps.relations import DATA_SCHEMA, PublishedView

_WRITABLE = 4 | 8 | 16  # UPDATE, INSERT, DELETE, as pg_relation_is_updatable counts them


Grant = tuple[str | None, str, str, bool]
"""(column or None for all, role or `public`, privilege, with grant option)"""


@dataclass(frozen=True)
class Standing:
    """A relation that has a name, or a type alone.

    Attributes:
        oid: None of a type.
        mine: whether it belongs to the current role.
        writable: whether rows can be written through it.
        reads: relations that a view reads, each as schema.name without quotes.
        columns: names and types.
        grants: privileges of others than the owner.
    """

    oid: int | None
    kind: str | None
    mine: bool
    writable: bool
    reads: tuple[str, ...]
    columns: list[tuple[str, str]]
    grants: list[Grant]

    @property
    def readers(self) -> set[str]:
        """Roles with SELECT on some column."""
        return {role for _, role, privilege, _ in self.grants if privilege == "SELECT"}


def standing(conn: Connection, names: Collection[QualifiedName]) -> dict[QualifiedName, Standing]:
    """What stands under these names now, as far as anything does."""
    if not names:
        return {}
    schemas = [name.schema for name in names]
    rows = ask(conn, "publish", "relations", schemas=schemas, names=[n.name for n in names])
    return {
        QualifiedName(schema, name): Standing(
            oid,
            kind,
            bool(mine),
            bool(updatable & _WRITABLE),
            tuple(reads),
            [(column, type_name) for column, type_name in columns],
            [(column, role, privilege, option) for column, role, privilege, option in grants],
        )
        for schema, name, oid, kind, mine, updatable, reads, columns, grants in rows
    }


def all_there(conn: Connection, tables: Collection[QualifiedName]) -> bool:
    """Whether relations have all of these names."""
    found = standing(conn, tables)
    return all(name in found and found[name].oid is not None for name in tables)


def replaced(
    name: QualifiedName, found: Standing | None, release: str, history: History | None
) -> Standing | None:
    """The view of this release that stands under a name; None if the name is free.

    A view counts as the release's if pganon made one of that name for it, it still belongs to
    the owner, and it reads nothing but the release's stored tables.

    Raises:
        PreconditionError: name_taken.
    """
    if found is None:
        return None
    ours = (
        found.kind == "v"
        and found.mine
        and history is not None
        and name in history.view_names
        and bool(found.reads)
        and set(found.reads) <= {f"{table.schema}.{table.name}" for table in history.data_tables}
    )
    if not ours:
        kinds = {"v": "a view", "m": "a materialized view", "S": "a sequence", "i": "an index"}
        kind = "a type" if found.kind is None else kinds.get(found.kind, "a table")
        raise PreconditionError(
            f'{name} exists: {kind} that pganon did not make for the release "{release}"',
            hint="rename or drop it, or choose another publish.schema",
            code=ErrorCode.NAME_TAKEN,
        )
    return found


def built_upon(conn: Connection, release: str, views: Sequence[PublishedView]) -> list[str]:
    """Objects that depend on views that :func:`swap` would drop or give other columns."""
    history = release_state.read(conn, release)
    planned = {view.name: view for view in views}
    shown = history.current.views if history and history.current else ()
    dependents: list[str] = []
    found = standing(conn, {*planned, *(view.name for view in shown)})
    for name, there in sorted(found.items(), key=lambda item: item[0]):
        view = planned.get(name)
        if there.oid is not None and not (view and there.columns == _columns(view)):
            rows = ask(conn, "publish", "dependents", oid=there.oid)
            dependents += [f"{built} depends on {name}" for (built,) in rows]
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
    views = sorted(views, key=lambda view: view.name)
    before = standing(conn, [view.name for view in views])
    for view in views:
        there = replaced(view.name, before.get(view.name), release, history)
        if there and there.columns != _columns(view):
            dependents += _removed(conn, "remove_view", {"oid": there.oid})
    made = _create(conn, views)
    describe(conn, views)
    for view in views:
        there = before.get(view.name)
        # Make these the only privileges on a new view, without those on columns that it lacks.
        columns = {column.name for column in view.columns}
        wanted = [
            grant
            for grant in (there.grants if there else [])
            if grant[0] is None or grant[0] in columns
        ]
        if made[view.name].grants != wanted:
            conn.execute("SELECT pganon.seal(%s::oid::regclass)", [made[view.name].oid])
            regrant(conn, view.name, columns, wanted)
        grant(conn, view.name, readers, former)
    return dependents


def regrant(
    conn: Connection, name: QualifiedName, columns: Collection[str], grants: Sequence[Grant]
) -> None:
    """Grant privileges on a relation with these columns; skip those on other columns."""
    for column, role, privilege, grantable in grants:
        if column is not None and column not in columns:
            continue
        where = sql.SQL("") if column is None else sql.SQL(" ({})").format(sql.Identifier(column))
        conn.execute(
            sql.SQL("GRANT {}{} ON {} TO {}{}").format(
                sql.SQL(privilege),  # pyright: ignore[reportArgumentType]
                where,
                name.identifier,
                sql.Identifier(role),  # "public" is everybody, quoted or not
                sql.SQL(" WITH GRANT OPTION" if grantable else ""),
            )
        )


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
    ask(conn, "publish", "close_views", release=release)


def tidy_views(conn: Connection, release: str | None = None) -> list[str]:
    """Take away views of a withdrawn release, or of all, that are not in use any more.

    Returns objects of others that depended on them.
    """
    return _removed(conn, "tidy_views", {"release": release})


def _removed(conn: Connection, query: str, values: dict[str, Any]) -> list[str]:
    row = ask(conn, "publish", query, **values).fetchone()
    return list(row[0]) if row else []


def _columns(view: PublishedView) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in view.columns]


def _create(conn: Connection, views: Sequence[PublishedView]) -> dict[QualifiedName, Standing]:
    """Make all views, and see that they are what was planned."""
    statement = sql.SQL("CREATE OR REPLACE VIEW {} AS {}")
    # The text of a view is rendered by pganon with every name quoted.
    selects = {view.name: sql.SQL(view.select) for view in views}  # pyright: ignore
    at_once(conn, [statement.format(name.identifier, text) for name, text in selects.items()])
    made = _made(conn, views)
    if writable := [name for name, there in made.items() if there.writable]:
        # A second relation in FROM makes a view read-only for everybody. The planner removes
        # one row of constants entirely, so conditions still reach the indexes of the table.
        joined = sql.SQL("SELECT s.* FROM ({}) AS s CROSS JOIN (VALUES (1)) AS one(n)")
        texts = {name: joined.format(selects[name]) for name in writable}
        at_once(conn, [statement.format(name.identifier, text) for name, text in texts.items()])
        made = _made(conn, views)
    for view in views:
        _check_made(view, made[view.name])
    return made


def _made(conn: Connection, views: Sequence[PublishedView]) -> dict[QualifiedName, Standing]:
    """What the current role has just made.

    Raises:
        PreconditionError: open_privileges, one is gone, or another role's.
    """
    made = standing(conn, [view.name for view in views])
    for view in views:
        if view.name not in made or not made[view.name].mine:
            raise PreconditionError(
                f"{view.name} was dropped, or given to another role, as soon as it was made",
                hint="event triggers of a superuser can do that: have them spare published views",
                code=ErrorCode.OPEN_PRIVILEGES,
            )
    return made


def _check_made(view: PublishedView, made: Standing) -> None:
    if made.writable:
        raise PreconditionError(
            f"rules let rows be written through {view.name}",
            hint="drop the rules on that view",
            code=ErrorCode.WRITABLE,
        )
    for column, wanted in zip_longest(made.columns, _columns(view)):
        if column != wanted:
            raise PganonError(f"{view.name} has the column {column}, planned was {wanted}")
    outside = [name for name in made.reads if not name.startswith(f"{DATA_SCHEMA}.")]
    if outside or not made.reads:
        raise PganonError(f"{view.name} reads relations that are not stored ones")


def describe(conn: Connection, views: Sequence[PublishedView]) -> None:
    """Comments of views and their columns."""
    comments: list[sql.Composed] = []
    for view in views:
        comment = sql.SQL("COMMENT ON VIEW {} IS {}")
        comments.append(comment.format(view.name.identifier, sql.Literal(view.comment)))
        comments += [
            sql.SQL("COMMENT ON COLUMN {} IS {}").format(
                sql.Identifier(view.name.schema, view.name.name, column.name),
                sql.Literal(column.comment),
            )
            for column in view.columns
        ]
    at_once(conn, comments)


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
    found = ask(conn, "publish", query, schema=name.schema, name=name.name, roles=list(roles))
    return [role for (role,) in found]


# -- whether a release can be published there -----------------------------------------------------


def check_target(
    conn: Connection,
    release: str,
    source: str,
    names: Sequence[QualifiedName],
    readers: Sequence[str],
    roles: Roles,
    trusted: Roles,
) -> History | None:
    """Refuse what publication would refuse for names, roles and privileges; gives the release.

    Args:
        source: the policy's source as a :class:`Staged` release will have it.
        names: the release's views.
        roles: numbers of the readers.
        trusted: roles whose schemas releases may be published in.

    Raises:
        LedgerError: other_source.
        PreconditionError: missing_role, replaced_role, bad_schema, foreign_schema, no_create,
            no_grant, name_taken.
    """
    history = release_state.read(conn, release)
    release_state.check_source(history, source)
    check_readers(conn, readers, roles)
    for schema in _schemas(conn, {name.schema for name in names}):
        _check_owner(schema, trusted)
        _check_schema(conn, schema, readers)
    found = standing(conn, names)
    for name in names:
        replaced(name, found.get(name), release, history)
    return history


def check_readers(
    conn: Connection,
    readers: Iterable[str],
    roles: Roles,
    remedy: str = "correct publish.readers",
    again: str = "apply the policy again",
) -> None:
    """Refuse readers that do not exist, or are others than those that were named.

    Raises:
        PreconditionError: missing_role, replaced_role.
    """
    check_roles(conn, list(readers), roles, "readers", remedy=remedy, again=again)


@dataclass(frozen=True)
class _Schema:
    """A schema to publish in.

    Attributes:
        may_create: whether the current role may, there or, if it is missing, in the database.
        may_grant: whether it may let others use it.
        owner: None if it is missing; `number` is the owner's.
        safe: whether that is the current role or a superuser.
    """

    name: str
    exists: bool
    may_create: bool
    may_grant: bool
    owner: str | None
    number: int | None
    safe: bool


def _schemas(conn: Connection, names: Collection[str]) -> list[_Schema]:
    rows = ask(conn, "publish", "schemas", names=sorted(names)).fetchall()
    return [_Schema(*row) for row in rows]


def _check_owner(schema: _Schema, trusted: Roles) -> None:
    """Whoever owns a schema can drop the views in it and put others in their place."""
    if schema.safe or schema.owner is None or schema.number in trusted.values():
        return
    owner = quote(schema.owner)
    raise PreconditionError(
        f"the schema {quote(schema.name)} belongs to the role {owner}, which could put other"
        " views in the place of releases",
        hint=f"choose another publish.schema, or accept it with trust: [{owner}]",
        code=ErrorCode.FOREIGN_SCHEMA,
    )


def _check_schema(conn: Connection, schema: _Schema, readers: Sequence[str]) -> None:
    name = quote(schema.name)
    if own_schema(schema.name):
        raise PreconditionError(
            f"releases cannot be published in the schema {name}",
            hint="choose another publish.schema",
            code=ErrorCode.BAD_SCHEMA,
        )
    if not schema.may_create:
        what = f"in the schema {name}" if schema.exists else f"the schema {name}"
        raise PreconditionError(
            f"the owner of pganon may not create {what}",
            hint="grant CREATE and USAGE on it to that role"
            if schema.exists
            else "grant CREATE on the database to that role",
            code=ErrorCode.NO_CREATE,
        )
    if schema.may_grant:
        return
    rows = ask(conn, "publish", "lack_usage", schema=schema.name, roles=list(readers))
    lacking = [quote(row[0]) for row in rows.fetchall()]
    if lacking:
        raise PreconditionError(
            f"these roles may not use the schema {name}: {', '.join(lacking)}",
            hint="have the owner of the schema grant USAGE on it to them",
            code=ErrorCode.NO_GRANT,
        )


def ensure_schemas(conn: Connection, names: Collection[str], trusted: Roles) -> None:
    """Make the schemas that are missing, open to their owner alone.

    Raises:
        PreconditionError: foreign_schema.
    """
    for schema in _schemas(conn, names):
        if schema.exists:
            _check_owner(schema, trusted)
            continue
        conn.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema.name)))
        held = conn.execute(sqlfiles.query("install", "foreign_privileges"), [[schema.name]])
        for (statement,) in held.fetchall():
            conn.execute(statement.encode())
