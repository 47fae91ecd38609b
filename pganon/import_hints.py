"""Columns that are texts only because a word stands where nothing is known, such as NA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import psycopg
from psycopg import sql

from pganon.inference import DateOrder, infer_types

Connection = psycopg.Connection[Any]

_WORDS = [
    *("NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "#N/A", "#NULL!"),
    *("null", "NULL", "Null", "None", "none", "missing", "unknown", "?", "-", "--", "."),
]
"""Words for what is missing. They are named in messages; other values of a file never are."""


class Form(Protocol):
    """What of the format of a file matters here."""

    @property
    def nulls(self) -> Sequence[str]: ...
    @property
    def dates(self) -> DateOrder: ...


def missing_words(
    conn: Connection, stage: sql.Composable, columns: Sequence[tuple[str, str]], form: Form
) -> tuple[str, ...]:
    """One sentence per text column that would have another type without these words."""
    texts = {n: name for n, (name, kind) in enumerate(columns, start=1) if kind == "text"}
    found = {n: words for n in texts if (words := _words(conn, stage, n))}
    if not found:
        return ()
    kinds = _types_without(conn, stage, list(found), form.dates)
    nulls = [word for word in form.nulls if word]
    return tuple(
        _note(texts[number], words, kind, nulls)
        for (number, words), kind in zip(found.items(), kinds, strict=True)
        if kind != "text"
    )


def _words(conn: Connection, stage: sql.Composable, number: int) -> list[str]:
    rows = conn.execute(
        sql.SQL("SELECT DISTINCT {0} FROM {1} WHERE {0} = ANY (%s) ORDER BY 1").format(
            sql.Identifier(f"c{number}"), stage
        ),
        [_WORDS],
    ).fetchall()
    return [row[0] for row in rows]


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
