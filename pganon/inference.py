"""Which SQL type a column of texts has, decided by the server over all of its values.

Types are tried from narrow to wide: boolean, integer, bigint, numeric, date, timestamp,
timestamptz, else text. Only texts that the type gives back unchanged in meaning count: "00123"
is a code, not a number, and 1/2/2020 says nothing about what is day and month.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

Connection = psycopg.Connection[Any]

_SAMPLE_ROWS = 1000

_WHOLE = "^[+-]?(0|[1-9][0-9]{0,18})$"
_NUMBER = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?$"
_DAY = "(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_TIME = r"[ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?"
_ZONE = " ?(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)"

# The pattern of a day lets 30 February pass; this counts the days of the month.
_REAL_DAY = """
    substr({column}, 9, 2)::integer <= extract(day FROM
        make_date(substr({column}, 1, 4)::integer, substr({column}, 6, 2)::integer, 1)
        + interval '1 month' - interval '1 day')
"""

# Type -> (pattern, condition on texts that match it). Fixed text of this module only.
_TESTS: dict[str, tuple[str, str]] = {
    "boolean": ("^(?:[tTfF]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])$", "true"),
    "integer": (_WHOLE, "{column}::numeric BETWEEN -2147483648 AND 2147483647"),
    "bigint": (_WHOLE, "{column}::numeric BETWEEN -9223372036854775808 AND 9223372036854775807"),
    "numeric": (_NUMBER, "length({column}) <= 1000"),
    "date": (f"^{_DAY}$", _REAL_DAY),
    "timestamp": (f"^{_DAY}{_TIME}$", _REAL_DAY),
    "timestamptz": (f"^{_DAY}{_TIME}{_ZONE}$", _REAL_DAY),
}


def infer_types(conn: Connection, stage: sql.Composable, width: int, rows: int) -> list[str]:
    """SQL type per column of `stage`, whose columns c1, c2, ... are texts.

    A sample rules out most types of most columns; the rest is decided over all rows in one scan.
    """
    candidates = [list(_TESTS) for _ in range(width)]
    candidates = _surviving(conn, stage, candidates, limit=_SAMPLE_ROWS)
    if rows > _SAMPLE_ROWS:
        candidates = _surviving(conn, stage, candidates, limit=None)
    empty = _empty_columns(conn, stage, candidates)
    return [
        kinds[0] if kinds and number not in empty else "text"
        for number, kinds in enumerate(candidates, start=1)
    ]


def _surviving(
    conn: Connection, stage: sql.Composable, candidates: Sequence[list[str]], limit: int | None
) -> list[list[str]]:
    wanted = [(number, kind) for number, kinds in enumerate(candidates, 1) for kind in kinds]
    if not wanted:
        return [list(kinds) for kinds in candidates]
    answers: list[Any] = []
    # A select list has at most 1664 entries.
    for start in range(0, len(wanted), 1000):
        part = wanted[start : start + 1000]
        tests = sql.SQL(", ").join(_test(number, kind) for number, kind in part)
        rows = sql.SQL("(SELECT * FROM {} LIMIT {})").format(stage, sql.Literal(limit))
        query = sql.SQL("SELECT {} FROM {} AS s").format(tests, rows if limit else stage)
        answers.extend(conn.execute(query).fetchone() or [None] * len(part))
    holds = {pair: answer is not False for pair, answer in zip(wanted, answers, strict=True)}
    return [
        [kind for kind in kinds if holds[number, kind]]
        for number, kinds in enumerate(candidates, 1)
    ]


def _test(number: int, kind: str) -> sql.Composable:
    """An aggregate: do all values that are not NULL have this type? NULL without any."""
    pattern, condition = _TESTS[kind]
    column = sql.Identifier(f"c{number}")
    return sql.SQL(
        "bool_and(CASE WHEN {column} ~ {pattern} THEN {condition} ELSE false END)"
        " FILTER (WHERE {column} IS NOT NULL)"
    ).format(
        column=column,
        pattern=sql.Literal(pattern),
        condition=sql.SQL(condition).format(column=column),  # pyright: ignore[reportArgumentType]
    )


def _empty_columns(
    conn: Connection, stage: sql.Composable, candidates: Sequence[list[str]]
) -> set[int]:
    """Columns that still may be everything: those without a single value."""
    return {n for n, kinds in enumerate(candidates, 1) if len(kinds) == len(_TESTS)}
