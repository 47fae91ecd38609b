"""Asking a release: the whole way from the text of a query to its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from pganon import database
from pganon.errors import UsageError
from pganon.estimation.answers import MAX_GROUPS, joined
from pganon.estimation.boxes import Fitted, Spread, fitted
from pganon.estimation.cuts import Use
from pganon.estimation.parse import parse_query
from pganon.estimation.question import Resolved
from pganon.estimation.refusals import EstimateRefused, Unsupported
from pganon.estimation.release import read_release
from pganon.estimation.resolve import resolve
from pganon.frames import Frame, table
from pganon.identifiers import quote
from pganon.install import access
from pganon.publish.sessions import translated
from pganon.sqlfiles import Connection
from pganon.sqltools import statement

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
            resolved = resolve(parsed, release)
            # Keep the views as they are until the end, and see that only the release's tables are
            # read.
            parts = [resolved.release.home, *resolved.parts]
            columns = resolved.release.columns.values()
            labels = [c.labels for c in columns if c.labels is not None and c.part in parts]
            events = [view for fact in resolved.release.facts.values() for view in fact.views]
            views = dict.fromkeys([*[part.view for part in parts], *labels, *events])
            for view in views:
                conn.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(view.identifier))
                access.check_view(conn, view)
            return answer(conn, resolved, spread)
    except Unsupported as refused:
        raise refused.in_text(query) from None


def answer(conn: Connection, resolved: Resolved, spread: Spread) -> Estimates:
    """Run a query on the views that it names."""
    release = resolved.release
    values: dict[str, Fitted] = {}
    try:
        for part in resolved.parts:
            if not part.exact and not part.events:
                conditions = [c for q in resolved.questions for c in q.conditions_on(part)]
                uses = [Use(condition, key=False) for condition in dict.fromkeys(conditions)]
                keys = [k.expression for k in resolved.questions[0].keys if k.part == part]
                uses += [Use(key, key=True) for key in keys]
                column = release.columns[part.name]
                values[column.name] = fitted(conn, column, spread, uses)
        select = statement(joined(resolved, values))
        cursor = conn.execute(select)
        rows = cursor.fetchall()
    except psycopg.DataError as error:
        if error.sqlstate is None:
            raise EstimateRefused("the answer has a date beyond those of Python") from None
        measured = _measured(resolved)
        if isinstance(error, psycopg.errors.NumericValueOutOfRange) and measured:
            raise EstimateRefused(
                f"numbers of {measured} are too large or too small: their sums or squares are"
                " beyond double precision",
                hint="ask for count(*), or about a release of a view that scales the column",
            ) from None
        raise EstimateRefused(
            f"the condition fails on a value that a class covers ({error.sqlstate})",
            hint="write it so that no value makes it fail",
        ) from None
    except psycopg.errors.UndefinedFunction:
        raise EstimateRefused(
            "a constant does not fit the type of its column",
            hint="labels of hierarchies are texts: compare them with a text",
        ) from None
    if len(rows) > MAX_GROUPS:
        raise EstimateRefused(f"the answer has more than {MAX_GROUPS} groups")
    names = tuple(column.name for column in cursor.description or ())
    keys = tuple(item.name for item in resolved.items if isinstance(item.what, int))
    aggregates = tuple(item.name for item in resolved.items if item.name not in keys)
    return Estimates(
        release.name, release.version, names, keys, aggregates, tuple(rows), select.as_string()
    )


def _measured(resolved: Resolved) -> str:
    """Columns of which numbers are computed with."""
    measured = [a.column.name for q in resolved.questions for a in q.aggregates if a.column]
    return ", ".join(map(quote, dict.fromkeys(measured)))


@dataclass(frozen=True)
class Estimates:
    """The answer to a query.

    For an aggregate `a` there are the columns `a` (the estimate), `a_lower` and `a_upper` (bounds
    that surely hold for the released records), `a_low` and `a_high` (the likely range) and
    `a_error` (the standard deviation that the model gives). Of min and max the estimate and the
    error are None unless the bounds meet. Behind them are `classes`, the number
    of groups of which the release does not say how many records match; `few`, whether so few of
    them matter that errors do not average out; and `maybe_empty`, whether no record may match. Of
    related tables there is `independent` where several things of a person are taken to be, such as
    two events. Rows of events have an estimate alone.

    Attributes:
        release, version: which version answered.
        columns: names, in order.
        keys, aggregates: those of the list, in order.
        rows: of one row per group.
        sql: the SELECT on the views of the release that was run.
    """

    release: str
    version: int
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    aggregates: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    sql: str

    def to_frame(self) -> Frame:
        """A pandas frame with one row per group."""
        return table(self.columns, self.rows)

    def as_dicts(self) -> list[dict[str, Any]]:
        """One dict per group."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]
