"""Columns that are texts only because a word stands where nothing is known, such as NA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import psycopg
from psycopg import sql

from pganon.importing.inference import DateOrder, infer_types

Connection = psycopg.Connection[Any]

_WORDS = [
    *("NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "#N/A", "#NULL!"),
    *("null", "NULL", "Null", "None", "none", "missing", "unknown", "?", "-", "--", "."),
]
"""Words for missing values. They are named in messages; other values of a file never are."""

_COLUMNS_AT_ONCE = 1000
"""A select list has at most 1664 entries."""


class FileFormat(Protocol):
    """What of the format of a file matters here."""

    @property
    def nulls(self) -> Sequence[str]: ...
    @property
    def dates(self) -> DateOrder: ...


def missing_words(
    conn: Connection, stage: sql.Composable, columns: Sequence[tuple[str, str]], form: FileFormat
) -> tuple[str, ...]:
    """One sentence per text column that would have another type without these words."""
    texts = {n: name for n, (name, kind) in enumerate(columns, start=1) if kind == "text"}
    found = _words(conn, stage, list(texts))
    if not found:
        return ()
    kinds = _types_without(conn, stage, list(found), form.dates)
    nulls = [word for word in form.nulls if word]
    return tuple(
        _note(texts[number], words, kind, nulls)
        for (number, words), kind in zip(found.items(), kinds, strict=True)
        if kind != "text"
    )


def _words(conn: Connection, stage: sql.Composable, numbers: Sequence[int]) -> dict[int, list[str]]:
    """The words that occur in these columns, by column."""
    found: dict[int, list[str]] = {}
    for start in range(0, len(numbers), _COLUMNS_AT_ONCE):
        part = numbers[start : start + _COLUMNS_AT_ONCE]
        words = sql.SQL(", ").join(
            sql.SQL("array_agg(DISTINCT {0}) FILTER (WHERE {0} = ANY ({1}))").format(
                sql.Identifier(f"c{number}"), sql.Literal(_WORDS)
            )
            for number in part
        )
        row = conn.execute(sql.SQL("SELECT {} FROM {}").format(words, stage)).fetchone()
        found |= {n: list(there) for n, there in zip(part, row or (), strict=True) if there}
    return found


def _types_without(
    conn: Connection, stage: sql.Composable, numbers: Sequence[int], dates: DateOrder
) -> list[str]:
    values = sql.SQL(", ").join(
        sql.SQL("CASE WHEN {0} <> ALL ({1}) THEN {0} END AS {2}").format(
            sql.Identifier(f"c{number}"), sql.Literal(_WORDS), sql.Identifier(f"c{place}")
        )
        for place, number in enumerate(numbers, start=1)
    )
    rest = sql.SQL("(SELECT {} FROM {})").format(values, stage)
    return infer_types(conn, rest, len(numbers), dates)


def _note(column: str, words: Sequence[str], kind: str, nulls: Sequence[str]) -> str:
    options = " ".join(f"--null '{word}'" for word in ("", *nulls, *words))
    shown = ", ".join(words)
    return (
        f'column "{column}" is text because of {shown}; if nothing is known there, {options}'
        f" makes it {kind}"
    )
