"""Anatomy on Adult (how near the members of a group are) and on a generated table (speed)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import people, support
from benchmarks.mondrian import ADULT
from pganon.importing import Format

MOST_RATIO = 8.0
"""The project's target for a million records and l = 4."""

ADULT_QI = ("age", "education", "marital_status", "race", "sex", "native_country")
PEOPLE_QI = (
    "age", "workclass", "race", "education_num", "marital_status", "sex", "native_country",
)  # fmt: skip

Row = dict[str, Any]


def policy(
    table: str,
    columns: tuple[str, ...],
    l: int,  # noqa: E741
    block_size: int,
    division: str,
) -> dict[str, Any]:
    return {
        "release": f"{table}_{l}_{block_size}_{division}",
        "source": f"public.{table}",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in columns},
            "occupation": {"role": "sensitive"},
        },
        "privacy": [{"model": "anatomy_l_diversity", "column": "occupation", "l": l}],
        "method": {"name": "anatomy", "block_size": block_size, "division": division},
        "republication": "allow",
        "publish": {"keep": 1},
    }


def measure(dsn: str, data: Path | None, rows: int) -> list[Row]:
    found: list[Row] = []
    if data is not None:
        bench = _Bench(dsn, "anatomy_adult", _load(dsn, data), ADULT_QI)
        for division in ("public", "eligible"):
            found += [bench.row(l, size, division) for l in (2, 3, 4) for size in (16, 100, 500)]  # noqa: E741
    people.create(dsn, rows)
    bench = _Bench(dsn, people.TABLE, rows, PEOPLE_QI)
    return found + [bench.row(4, 100, division) for division in ("public", "eligible")]


class _Bench:
    """Runs over one table."""

    def __init__(self, dsn: str, table: str, records: int, columns: tuple[str, ...]) -> None:
        self.dsn, self.table, self.records, self.columns = dsn, table, records, columns
        self.baseline = support.sorted_copy_seconds(dsn, table, [*columns, "occupation"])

    def row(self, l: int, block_size: int, division: str) -> Row:  # noqa: E741
        asked = policy(self.table, self.columns, l, block_size, division)
        measured = support.run_policy(self.dsn, asked)
        utility = measured.result["utility"]
        return {
            "table": self.table,
            "records": self.records,
            "l": l,
            "block_size": block_size,
            "division": division,
            "groups": utility["groups"],
            "spread": utility["gcp"],
            "reconstruction_error": utility["sensitive"]["occupation"]["reconstruction_error"],
            "seconds": measured.seconds,
            "baseline": self.baseline,
            "ratio": measured.seconds / self.baseline,
            "phases": support.phase_seconds(measured),
            "peak_mb": measured.peak_mb,
        }


def _load(dsn: str, data: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.csv"
        support.unpack(data / "adult" / "adult.data.gz", file)
        form = Format(header=False, names=ADULT.split(","), separator=", ")
        return support.load(dsn, file, "anatomy_adult", form)


def show(found: list[Row]) -> None:
    table = Table(title="anatomy: groups of similar records, and time against a sorted copy")
    left = ("table", "division")
    for name in (*left, "records", "l", "block_size", "groups", "spread", "seconds", "ratio"):
        table.add_column(name, justify="left" if name in left else "right")
    for row in found:
        table.add_row(
            *(row["table"], row["division"], f"{row['records']:,}"),
            *(str(row["l"]), f"{row['block_size']:,}"),
            *(f"{row['groups']:,}", f"{row['spread']:.4f}"),
            *(f"{row['seconds']:.1f}", f"{row['ratio']:.1f}"),
        )
    console = Console(width=120)
    console.print(table)
    console.print(f"target: at most {MOST_RATIO:g} times for 1,000,000 records, l = 4")
