"""Sums of row hashes: nothing is computed twice."""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.secrets import row_sums
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, render


def sums(*keys: str) -> str:
    row = exp.func("row", col("a", "t"))
    return render(row_sums(QualifiedName("s", "t"), row, [col(key, "t") for key in keys]))


def test_without_a_key_rows_are_hashed_and_added_up_once() -> None:
    assert sums().count("HASH_RECORD_EXTENDED") == 1
    assert sums().count("HASHTEXTEXTENDED") == 2


def test_with_a_key_they_are_hashed_with_it_too() -> None:
    assert sums("id").count("HASH_RECORD_EXTENDED") == 2
    assert sums("id").count("HASHTEXTEXTENDED") == 4
