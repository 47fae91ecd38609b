"""Reads what a report for readers is built from, as any of them can."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from psycopg import sql

from pganon.cli.common import program
from pganon.identifiers import QualifiedName
from pganon.install import access
from pganon.publish import listing
from pganon.publish.sessions import translated
from pganon.report.readers.document import Commonest, Seen
from pganon.sqlfiles import Connection, ask, dicts
from pganon.sqltools import cast, col, fragment, query, statement


def see(conn: Connection, name: str) -> Seen:
    """A release, from views that its readers may read; one snapshot.

    Raises:
        LedgerError: unknown_release.
        InstallError: objects of others in pganon's schemas, or in place of its views.
    """
    with translated(), conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        access.admit_reader(conn)
        found = _described(conn, name)
        if found is None:
            raise listing.unknown(conn, name)
        for view in found.views:
            shown = QualifiedName.of(view)
            conn.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(shown.identifier))
            access.check_view(conn, shown)
        return replace(
            found,
            sizes=_sizes(conn, found),
            commonest={
                column: _of(conn, column, view, bucket, weight)
                for column, view, bucket, weight in found.counted()
            },
        )


def _described(conn: Connection, name: str) -> Seen | None:
    row = ask(conn, "report", "shown", release=name).fetchone()
    if row is None:
        return None
    columns = dicts(conn, "report", "shown_columns", release=name)
    version, method, published_at, guarantee = row
    return Seen(name, version, method, published_at, guarantee, columns, program())


def _sizes(conn: Connection, seen: Seen) -> Sequence[tuple[int, int]]:
    if seen.bucket is None:
        return ()
    person = seen.individual
    size = (
        fragment("count(*)")
        if person is None
        else fragment("count(distinct :person)", person=col(person, "v"))
    )
    groups = query(
        "select :size as n from v group by :bucket",
        {"v": QualifiedName.of(seen.views[0])},
        size=size,
        bucket=col(seen.bucket, "v"),
    )
    counted = query("select g.n, count(*) from g group by g.n order by g.n", {"g": groups})
    return conn.execute(statement(counted)).fetchall()


def _of(
    conn: Connection, column: str, view: str, bucket: str, weight: str | None
) -> Sequence[Commonest]:
    number = fragment("count(*)") if weight is None else fragment("sum(:w)", w=col(weight, "v"))
    values = query(
        "select :bucket as bucket, :number as n from v group by :bucket, :value",
        {"v": QualifiedName.of(view)},
        bucket=col(bucket, "v"),
        number=cast(number, "bigint"),
        value=col(column, "v"),
    )
    groups = query(
        "select max(n.n) as most, sum(n.n)::bigint as records, count(*) as held from n"
        " group by n.bucket",
        {"n": values},
    )
    counted = query(
        "select g.most, g.records, g.held, count(*) from g group by g.most, g.records, g.held"
        " order by g.most, g.records, g.held",
        {"g": groups},
    )
    return [Commonest(*row) for row in conn.execute(statement(counted)).fetchall()]
