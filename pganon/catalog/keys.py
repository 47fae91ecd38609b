"""Keys of records and of people, as one text each."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.catalog.model import Column
from pganon.catalog.values import as_text, equal_key
from pganon.sqltools import cast, col, fragment


def key_text_of(columns: Sequence[Column], table: str) -> exp.Expr:
    """One text that identifies who has these values; NULL where one of them is.

    The same for the same people in other sources, whatever the types of their columns.
    """
    parts = [_part_of_key(column, table) for column in columns]
    if len(parts) == 1:
        return parts[0]
    unknown = exp.or_(*[fragment(":p is null", p=part) for part in parts])
    whole = cast(exp.func("jsonb_build_array", *parts), "text")
    return exp.Case().when(unknown, exp.null()).else_(whole)


def _part_of_key(column: Column, table: str) -> exp.Expr:
    """One text for all spellings that are equal: 1.0 and 1.00 are one person.

    Of types that have none it is one spelling; these identify nobody (resolve.people).
    """
    value = col(column.name, table)
    if column.built_in or column.kind == "citext":
        return cast(exp.paren(equal_key(column, value)), "text")
    return as_text(column, value)
