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


def policy(table: str, columns: tuple[str, ...], l: int, block_size: int) -> dict[str, Any]:  # noqa: E741
    return {
        "release": f"{table}_{l}_{block_size}",
        "source": f"public.{table}",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in columns},
            "occupation": {"role": "sensitive"},
        },
        "privacy": [{"model": "anatomy_l_diversity", "column": "occupation", "l": l}],
        "method": {"name": "anatomy", "block_size": block_size},
        "republication": "allow",
        "publish": {"keep": 1},
    }


def measure(dsn: str, data: Path | None, rows: int) -> list[Row]:
    found: list[Row] = []
    if data is not None:
        records = _load(dsn, data)
        columns = (*ADULT_QI, "occupation")
        baseline = support.sorted_copy_seconds(dsn, "anatomy_adult", list(columns))
        for l in (2, 4, 6):  # noqa: E741
            for block_size in (4 * l, 500, records):
                asked = policy("anatomy_adult", ADULT_QI, l, block_size)
                found.append(_row(dsn, asked, records, l, block_size, baseline))
    people.create(dsn, rows)
    baseline = support.sorted_copy_seconds(dsn, people.TABLE, [*PEOPLE_QI, "occupation"])
    for block_size in (500, 16):
        asked = policy(people.TABLE, PEOPLE_QI, 4, block_size)
        found.append(_row(dsn, asked, rows, 4, block_size, baseline))
    return found


def _load(dsn: str, data: Path) -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.csv"
        support.unpack(data / "adult" / "adult.data.gz", file)
        form = Format(header=False, names=ADULT.split(","), separator=", ")
        return support.load(dsn, file, "anatomy_adult", form)


def _row(
    dsn: str,
    asked: dict[str, Any],
    records: int,
    l: int,  # noqa: E741
    block_size: int,
    baseline: float,
) -> Row:
    measured = support.run_policy(dsn, asked)
    utility = measured.result["utility"]
    return {
        "source": asked["source"],
        "records": records,
        "l": l,
        "block_size": block_size,
        "groups": utility["groups"],
        "spread": utility["gcp"],
        "reconstruction_error": utility["reconstruction_error"],
        "seconds": measured.seconds,
        "baseline": baseline,
        "ratio": measured.seconds / baseline,
        "phases": support.phase_seconds(measured),
        "peak_mb": measured.peak_mb,
    }


def show(found: list[Row]) -> None:
    table = Table(title="anatomy: groups of similar records, and time against a sorted copy")
    for name in ("source", "records", "l", "block_size", "groups", "spread", "seconds", "ratio"):
        table.add_column(name, justify="left" if name == "source" else "right")
    for row in found:
        table.add_row(
            *(row["source"], f"{row['records']:,}", str(row["l"]), f"{row['block_size']:,}"),
            *(f"{row['groups']:,}", f"{row['spread']:.4f}"),
            *(f"{row['seconds']:.1f}", f"{row['ratio']:.1f}"),
        )
    console = Console()
    console.print(table)
    console.print(f"target: at most {MOST_RATIO:g} times for 1,000,000 records, l = 4")
