"""Arrays with an element per remembered column."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.sqltools import cast, col, num


def element(array: str, table: str, number: int) -> exp.Expr:
    """Of the column with this number, from 1."""
    return exp.Bracket(this=col(array, table), expressions=[num(number - 1)])


def bigints(items: Sequence[exp.Expr]) -> exp.Expr:
    return cast(exp.Array(expressions=list(items)), "bigint[]")
