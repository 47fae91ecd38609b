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
    "integer": (
        _WHOLE,
        "length({column}) < 10 OR {column}::numeric BETWEEN -2147483648 AND 2147483647",
    ),
    "bigint": (
        _WHOLE,
        "length({column}) < 19 OR {column}::numeric"
        " BETWEEN -9223372036854775808 AND 9223372036854775807",
    ),
    "numeric": (_NUMBER, "length({column}) <= 1000"),
    "date": (f"^{_DAY}$", _REAL_DAY),
    "timestamp": (f"^{_DAY}{_TIME}$", _REAL_DAY),
    "timestamptz": (f"^{_DAY}{_TIME}{_ZONE}$", _REAL_DAY),
}


def infer_types(conn: Connection, stage: sql.Composable, width: int) -> list[str]:
    """SQL type per column of `stage`, whose columns c1, c2, ... are texts.

    A sample rules out most types of most columns. What is left is tried over all rows, the
    narrowest type of each column first: almost always one scan with one test per column.
    """
    candidates = _survivors_of_sample(conn, stage, width)
    _confirm(conn, stage, candidates)
    return [kinds[0] if kinds else "text" for kinds in candidates.values()]


def _survivors_of_sample(
    conn: Connection, stage: sql.Composable, width: int
) -> dict[int, list[str]]:
    """Types that the first rows allow, narrowest first, by column number."""
    sample = sql.SQL("(SELECT * FROM {} LIMIT {})").format(stage, sql.Literal(_SAMPLE_ROWS))
    pairs = [(number, kind) for number in range(1, width + 1) for kind in _TESTS]
    answers = _answers(conn, sample, pairs)
    return {
        number: [kind for kind in _TESTS if answers[number, kind] is not False]
        for number in range(1, width + 1)
    }


def _confirm(conn: Connection, stage: sql.Composable, candidates: dict[int, list[str]]) -> None:
    """Remove types from the front until the first one of every column holds for all rows."""
    unsure = [number for number, kinds in candidates.items() if kinds]
    while unsure:
        answers = _answers(conn, stage, [(number, candidates[number][0]) for number in unsure])
        failed = [number for (number, _), answer in answers.items() if answer is False]
        for number in failed:
            candidates[number].pop(0)
        unsure = [number for number in failed if candidates[number]]
        for (number, _), answer in answers.items():
            if answer is None:
                candidates[number].clear()


def _answers(
    conn: Connection, rows: sql.Composable, pairs: Sequence[tuple[int, str]]
) -> dict[tuple[int, str], bool | None]:
    """Whether all values of a column have a type; None where a column has no value."""
    found: dict[tuple[int, str], bool | None] = {}
    # A select list has at most 1664 entries.
    for start in range(0, len(pairs), 1000):
        part = pairs[start : start + 1000]
        tests = sql.SQL(", ").join(_test(number, kind) for number, kind in part)
        row = conn.execute(sql.SQL("SELECT {} FROM {} AS s").format(tests, rows)).fetchone()
        assert row is not None
        found.update(zip(part, row, strict=True))
    return found


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
