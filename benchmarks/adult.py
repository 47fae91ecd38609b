"""The table Adult: census records of 1994."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks import support
from pganon.importing.form import Format

COLUMNS = (
    "age", "workclass", "fnlwgt", "education", "education_num", "marital_status", "occupation",
    "relationship", "race", "sex", "capital_gain", "capital_loss", "hours_per_week",
    "native_country", "income",
)  # fmt: skip
QUASI = ("age", "education", "marital_status", "race", "sex", "native_country")


def lines(data: Path, *, complete: bool = True, name: str = "adult.data.gz") -> list[str]:
    """All 32,561 records, or the 30,162 in which nothing is missing."""
    found = support.lines_of(data / "adult" / name, without="?" if complete else None)
    return [line.replace(", ", ",") for line in found]


def load(dsn: str, table: str, records: Iterable[str], columns: Iterable[str] = COLUMNS) -> int:
    """(Re)create a table of these records; how many there are."""
    form = Format(header=False, names=list(columns))
    return support.load(dsn, table, records, form)
