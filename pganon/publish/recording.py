"""Changes of releases and versions in the state tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName
from pganon.ledger.repository import as_jsonb
from pganon.policy.partition import part_hash
from pganon.publish.release_state import History, Release, Version
from pganon.publish.staging import Staged
from pganon.sqlfiles import Connection, ask
from pganon.steps.relations import PublishedView

_KEPT = (
    *("source", "release", "run_id", "method", "policy_hash", "row_count", "suppressed"),
    *("fingerprint", "source_mark"),
)
_DOCUMENTS = ("policy", "trusted", "partition", "measures")
"""Columns of a version that are attributes of a staged release, as they are or as JSON."""


def add_version(
    conn: Connection, staged: Staged, history: History | None, rows: Sequence[int]
) -> int:
    """Write the release and its next version; return the version's number.

    Args:
        rows: number of rows of each relation of `staged`.
    """
    number = history.versions[0].version + 1 if history and history.versions else 1
    main, judged = staged.views[0].name, staged.judged
    members = [str(one.stored) for one in staged.relations if one.part == "members"]
    added = [
        {"part": one.part, "schema": one.stored.schema, "name": one.stored.name, "rows": found}
        for one, found in zip(staged.relations, rows, strict=True)
    ]
    documents = {
        **{name: getattr(staged, name) for name in _DOCUMENTS},
        "guarantee": staged.promised,
        "evidence": staged.shown_evidence,
        "source_columns": [{"name": name, "type": kind} for name, kind in staged.source_columns],
        "columns": _columns(staged.views),
        "views": [view_as_dict(view) for view in staged.views],
        "relations": [*staged.shared, *added],
        "checks": [check.as_dict() for check in staged.checks],
    }
    increments = [one.as_dict() for one in staged.increments]
    ask(
        conn,
        "publish",
        "add_version",
        **{name: getattr(staged, name) for name in _KEPT},
        **{name: as_jsonb(document) for name, document in documents.items()},
        schema=main.schema,
        view=main.name,
        version=number,
        readers=list(staged.readers),
        reader_ids=list(staged.readers.values()),
        partition_hash=part_hash(staged.partition),
        increments=as_jsonb(increments) if increments else None,
        population=judged.population if judged else None,
        manner=as_jsonb(judged.manner) if judged else None,
        over_versions=judged.over_versions if judged else None,
        sources=list(staged.sources),
        source_fingerprint=staged.prints.source,
        rows_fingerprint=staged.prints.rows,
        members_table=members[0] if members else None,
    )
    return number


def view_as_dict(view: PublishedView) -> dict[str, Any]:
    return {
        "schema": view.name.schema,
        "name": view.name.name,
        "select": view.select,
        "comment": view.comment,
        "columns": [dict(column.__dict__) for column in view.columns],
    }


def _columns(views: Sequence[PublishedView]) -> list[dict[str, Any]]:
    """The description of columns for analysts; `view` as `parse_name` reads it."""
    return [
        {"view": str(view.name), **column.__dict__} for view in views for column in view.columns
    ]


def finish_cohorts(conn: Connection, release: str, run_id: int, records_out: int = 0) -> None:
    """Mark cohorts of the release as finished: the run published or suppressed all of them.

    Args:
        records_out: their records, if all of them are permanently suppressed.
    """
    ask(conn, "publish", "finish_cohorts", release=release, run_id=run_id, records_out=records_out)


def remember_views(conn: Connection, release: str, version: int) -> None:
    """Keep how the server prints the views of a version, which were made just now."""
    ask(conn, "publish", "print_views", release=release, version=version)


def set_views(conn: Connection, release: str, version: int, views: Sequence[PublishedView]) -> None:
    """Keep other comments of the views of a version."""
    ask(
        conn,
        "publish",
        "set_views",
        release=release,
        version=version,
        views=as_jsonb([view_as_dict(view) for view in views]),
        columns=as_jsonb(_columns(views)),
    )


def set_current(conn: Connection, release: Release, version: Version | None) -> None:
    """Which version the views show; None after a drop."""
    view = version.views[0].name if version else release.view
    ask(
        conn,
        "publish",
        "set_current",
        release=release.name,
        version=version.version if version else None,
        schema=view.schema,
        view=view.name,
    )


def drop_stored(conn: Connection, release: str, versions: Sequence[Version]) -> list[int]:
    """Drop the tables that the views of these versions read; rows and private tables remain.

    So do tables that other stored versions share.
    """
    gone = [version for version in versions if version.stored]
    numbers = [version.version for version in gone]
    values = {"release": release, "versions": numbers}
    kept = {QualifiedName(*row) for row in ask(conn, "publish", "kept_tables", **values)}
    tables = {table for version in gone for table in version.data_tables}
    for table in sorted(tables - kept):
        drop_table(conn, table)
    ask(conn, "publish", "mark_dropped", **values)
    return numbers


def drop_table(conn: Connection, name: QualifiedName) -> None:
    """DROP TABLE; names dependent objects."""
    try:
        with conn.transaction():
            conn.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(name.identifier))
    except psycopg.errors.DependentObjectsStillExist as error:
        # The detail of this error lists objects, never values.
        lines = (error.diag.message_detail or "").splitlines()
        raise PreconditionError(
            f"other objects depend on {name}: {'; '.join(lines)}",
            hint="drop them, and build on the published view: stored tables go with their version",
            code=ErrorCode.DEPENDENTS,
        ) from None
