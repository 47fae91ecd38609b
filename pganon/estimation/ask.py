"""Asking a release: the whole way from the text of a query to its answer."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

from pganon import database
from pganon.errors import UsageError
from pganon.estimation.boxes import Spread, fitted
from pganon.estimation.cuts import Use
from pganon.estimation.parse import parse_query
from pganon.estimation.question import Question
from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.estimation.release import Published, read_release
from pganon.estimation.resolve import resolve
from pganon.estimation.results import Estimates
from pganon.estimation.statement import MAX_GROUPS, asked, written
from pganon.install import access
from pganon.publish.sessions import translated
from pganon.sqltools import statement

Connection = psycopg.Connection[Any]

SETTINGS = database.Settings(statement_timeout="60s")


def estimate(name: str, query: str, dsn: str | None = None, spread: Spread = "column") -> Estimates:
    """Answer an aggregate query on a release: estimates, sure bounds, likely ranges.

    Only views that the role of the connection may read are read, in one read-only transaction.

    Args:
        name: the release.
        query: one SELECT with count(*), count, sum, avg, min or max of columns, from the release
            alone, as it would be written for the source; WHERE, GROUP BY, HAVING.
        dsn: libpq connection string; default: that of the command line.
        spread: `column`: values are as frequent as the whole release makes plausible; `uniform`:
            every source that fits what is published is equally likely.

    Raises:
        EstimateRefused: the query has no estimate, or not yet; says where.
        LedgerError: unknown_release.
        DatabaseError: the server.
    """
    with database.connect(dsn, settings=SETTINGS) as conn:
        return ask(conn, name, query, spread)


def ask(conn: Connection, name: str, query: str, spread: Spread = "column") -> Estimates:
    """As :func:`estimate`, on a connection that is not in a transaction."""
    if spread not in ("column", "uniform"):
        raise UsageError("spread is column or uniform")
    try:
        parsed = parse_query(query)
        with translated(), conn.transaction():
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            release = read_release(conn, name)
            question = resolve(parsed, release)
            _hold(conn, question)
            return answer(conn, question, spread)
    except Unsupported as refused:
        raise refused.in_text(query) from None


def answer(conn: Connection, question: Question, spread: Spread) -> Estimates:
    """Run a question on the views that it names."""
    release = question.release
    columns = [release.columns[n] for part in question.parts if not part.exact for n in [part.name]]
    try:
        values = {c.name: fitted(conn, c, spread, _uses(question, c)) for c in columns}
        select = statement(written(asked(question, values)))
        cursor = conn.execute(select)
    except psycopg.DataError as error:
        raise EstimateRefused(
            f"the condition fails on a value that a class covers ({error.sqlstate})",
            hint="write it so that no value makes it fail",
        ) from None
    rows = cursor.fetchall()
    if len(rows) > MAX_GROUPS:
        raise EstimateRefused(f"the answer has more than {MAX_GROUPS} groups")
    names = tuple(column.name for column in cursor.description or ())
    aggregates = tuple(name for name, _ in question.aggregates)
    keys = tuple(item.name for item in question.items if item.name not in aggregates)
    return Estimates(
        release.name, release.version, names, keys, aggregates, tuple(rows), select.as_string()
    )


def _uses(question: Question, column: Published) -> list[Use]:
    uses = [Use(condition, key=False) for condition in question.conditions(column.part)]
    return uses + [Use(k.expression, key=True) for k in question.keys if k.part == column.part]


def _hold(conn: Connection, question: Question) -> None:
    """Keep the views as they are until the end, and see that only the release's tables are read."""
    views = dict.fromkeys([question.release.home.view, *[p.view for p in question.parts]])
    for view in views:
        conn.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(view.identifier))
        access.check_view(conn, view)
