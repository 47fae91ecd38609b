"""Which SQL type a column of texts has, decided by the server over all of its values.

Types are tried from narrow to wide: boolean, integer, bigint, numeric, date, timestamp,
timestamptz, else text. Only texts that the type gives back unchanged in meaning count: "00123"
is a code, not a number, and 1/2/2020 says nothing about what is day and month.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

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

Tests = dict[str, tuple[str, str]]
"""Type -> (pattern, condition on texts that match it). Fixed text of this module only."""

_TESTS: Tests = {
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


DateOrder = Literal["ymd", "dmy", "mdy"]
"""Order of year, month and day in a date. `ymd` is ISO 8601; the others have the year last, and
`.`, `/` or `-` between numbers that may lack a leading zero."""

_PARTS = {"dmy": (3, 2, 1), "mdy": (3, 1, 2)}
"""Places of year, month and day."""


def date_of(column: str, order: DateOrder) -> str:
    """SQL of the date that the text in `column` is."""
    if order == "ymd":
        return f"CAST({column} AS date)"
    return f"make_date({', '.join(_part(column, place) for place in _PARTS[order])})"


def _part(column: str, place: int) -> str:
    return f"split_part(translate({column}, './', '--'), '-', {place})::integer"


def _date_test(order: DateOrder) -> tuple[str, str]:
    if order == "ymd":
        return _TESTS["date"]
    day, month = "(0?[1-9]|[12][0-9]|3[01])", "(0?[1-9]|1[0-2])"
    first, second = (day, month) if order == "dmy" else (month, day)
    year_place, month_place, day_place = (_part("{column}", place) for place in _PARTS[order])
    # The same mark twice; the pattern lets 30 February pass.
    return (
        rf"^{first}([./-]){second}\2(?!0000)[0-9]{{4}}$",
        f"{day_place} <= extract(day FROM make_date({year_place}, {month_place}, 1)"
        " + interval '1 month' - interval '1 day')",
    )


def infer_types(
    conn: Connection, stage: sql.Composable, width: int, dates: DateOrder = "ymd"
) -> list[str]:
    """SQL type per column of `stage`, whose columns c1, c2, ... are texts.

    A sample rules out most types of most columns. What is left is tried over all rows, the
    narrowest type of each column first: almost always one scan with one test per column.
    """
    tests = {**_TESTS, "date": _date_test(dates)}
    candidates = _survivors_of_sample(conn, stage, width, tests)
    _confirm(conn, stage, candidates, tests)
    return [kinds[0] if kinds else "text" for kinds in candidates.values()]


def _survivors_of_sample(
    conn: Connection, stage: sql.Composable, width: int, tests: Tests
) -> dict[int, list[str]]:
    """Types that the first rows allow, narrowest first, by column number."""
    sample = sql.SQL("(SELECT * FROM {} AS t LIMIT {})").format(stage, sql.Literal(_SAMPLE_ROWS))
    pairs = [(number, kind) for number in range(1, width + 1) for kind in tests]
    answers = _answers(conn, sample, pairs, tests)
    return {
        number: [kind for kind in tests if answers[number, kind] is not False]
        for number in range(1, width + 1)
    }


def _confirm(
    conn: Connection, stage: sql.Composable, candidates: dict[int, list[str]], tests: Tests
) -> None:
    """Remove types from the front until the first one of every column holds for all rows."""
    unsure = [number for number, kinds in candidates.items() if kinds]
    while unsure:
        first = [(number, candidates[number][0]) for number in unsure]
        answers = _answers(conn, stage, first, tests)
        failed = [number for (number, _), answer in answers.items() if answer is False]
        for number in failed:
            candidates[number].pop(0)
        unsure = [number for number in failed if candidates[number]]
        for (number, _), answer in answers.items():
            if answer is None:
                candidates[number].clear()


def _answers(
    conn: Connection, rows: sql.Composable, pairs: Sequence[tuple[int, str]], given: Tests
) -> dict[tuple[int, str], bool | None]:
    """Whether all values of a column have a type; None where a column has no value."""
    found: dict[tuple[int, str], bool | None] = {}
    # A select list has at most 1664 entries.
    for start in range(0, len(pairs), 1000):
        part = pairs[start : start + 1000]
        tests = sql.SQL(", ").join(_test(number, given[kind]) for number, kind in part)
        row = conn.execute(sql.SQL("SELECT {} FROM {} AS s").format(tests, rows)).fetchone()
        assert row is not None
        found.update(zip(part, row, strict=True))
    return found


def _test(number: int, test: tuple[str, str]) -> sql.Composable:
    """An aggregate: do all values that are not NULL have this type? NULL without any."""
    pattern, condition = test
    column = sql.Identifier(f"c{number}")
    return sql.SQL(
        "bool_and(CASE WHEN {column} ~ {pattern} THEN {condition} ELSE false END)"
        " FILTER (WHERE {column} IS NOT NULL)"
    ).format(
        column=column,
        pattern=sql.Literal(pattern),
        condition=sql.SQL(condition).format(column=column),  # pyright: ignore[reportArgumentType]
    )
