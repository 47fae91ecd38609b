"""Causes of an error in a step, which are looked for after the step has failed."""

from __future__ import annotations

from typing import Any

import psycopg

from pganon import sqlfiles
from pganon.catalog.introspect import read_relation
from pganon.catalog.model import Relation
from pganon.error_codes import ErrorCode
from pganon.errors import (
    DatabaseError,
    ExpressionError,
    OutOfRangeError,
    PganonError,
    PreconditionError,
)
from pganon.identifiers import first_few, quote
from pganon.resolved.model import ReleaseSpec

Connection = psycopg.Connection[Any]

OUT_OF_RANGE = psycopg.errors.NumericValueOutOfRange.sqlstate


def source_changed(before: Relation, now: Relation) -> PreconditionError:
    """The refusal of a source that is not as the plan found it; names the first column."""
    return PreconditionError(
        f"{_difference(before, now)} changed while the run began",
        hint="run the release again",
        code=ErrorCode.SOURCE_CHANGED,
    )


def changed_meanwhile(conn: Connection, spec: ReleaseSpec) -> PganonError | None:
    """Why the source cannot be read any more; None if it is as the plan found it."""
    try:
        now = read_relation(conn, spec.policy.source)
    except PreconditionError:
        return PreconditionError(
            f"{spec.source.name} was dropped or renamed while the run began",
            hint="correct `source`, or run the release again when it is back",
            code=ErrorCode.SOURCE_CHANGED,
        )
    gone = [name for name in spec.source.column_names if name not in now.column_names]
    if gone:
        return PreconditionError(
            f"column {quote(gone[0])} of {spec.source.name} was dropped or renamed while the run"
            " began",
            hint="correct the policy, or run the release again when it is back",
            code=ErrorCode.SOURCE_CHANGED,
        )
    return source_changed(spec.source, now) if now != spec.source else None


def _difference(before: Relation, now: Relation) -> str:
    columns = {column.name: column for column in now.columns}
    for column in before.columns:
        if columns.get(column.name, column) != column:
            return f"column {quote(column.name)} of {before.name}"
    return f"the definition of {before.name}"


def out_of_range(spec: ReleaseSpec, error: DatabaseError) -> DatabaseError:
    """The same error with the columns of which numbers may be of any size; itself without any."""
    columns = [item.column for item in (*spec.attributes, *spec.sensitive, *spec.carried)]
    names = [quote(column.name) for column in columns if column.kind in ("numeric", "float")]
    if not names:
        return error
    return OutOfRangeError(
        "numbers are too large to compute with, in"
        f" {'the column' if len(names) == 1 else 'one of the columns'} {first_few(names)}"
        f" [{error.sqlstate}] (step {error.step})",
        sqlstate=error.sqlstate,
        step=error.step,
        hint="leave numbers beyond 1e300 out with `where`, or scale the column in a view",
    )


def computed(conn: Connection, spec: ReleaseSpec, error: ExpressionError) -> DatabaseError:
    """The same error with what is computed while the source is read, apart from views."""
    values = {"oid": spec.source.oid, "columns": list(spec.source.column_names)}
    rows = conn.execute(sqlfiles.query("catalog", "virtual_columns"), values).fetchall()
    places: list[str] = []
    if rows:
        names = first_few([quote(row[0]) for row in rows])
        places.append(f"generated columns of {spec.source.name} ({names})")
    if spec.where is not None:
        places.append("`where` of the policy")
    if any(hidden.when is not None for hidden in spec.hidden):
        places.append("`sensitive_when` of the policy")
    return error.within(" or ".join(places)) if places else error
