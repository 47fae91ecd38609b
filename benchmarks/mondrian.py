"""Mondrian on Adult (quality), ACS 2018 (speed) and a generated table (size)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import support
from pganon.importing import Format

ADULT = (
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,"
    "capital_gain,capital_loss,hours_per_week,native_country,income"
)
ADULT_QI = ["age", "education", "marital_status", "race", "sex", "native_country"]
ACS_QI = ["AGEP", "SCHL", "SEX", "RAC1P", "RELP", "STATE"]
ACS_CATEGORICAL = {"SEX", "RAC1P", "RELP"}

# Lowest GCP of any tool measured on the same rows, and the project's own targets.
BEST_PEER = {(5, 0): 0.0106, (10, 0): 0.0194, (50, 0): 0.0647, (5, 3): 0.0112}
TARGET = {
    ("width", 5, 0): 0.0100,
    ("width", 10, 0): 0.0185,
    ("width", 50, 0): 0.0620,
    ("width", 5, 3): 0.0110,
    ("loss", 5, 0): 0.0088,
    ("loss", 10, 0): 0.0170,
    ("loss", 50, 0): 0.0545,
}


def policy(
    release: str,
    table: str,
    quasi_identifiers: list[str],
    k: int,
    *,
    l: int = 0,  # noqa: E741
    sensitive: str | None = None,
    choose: str = "width",
    categorical: set[str] = frozenset(),  # pyright: ignore[reportArgumentType]
) -> dict[str, Any]:
    columns: dict[str, Any] = {
        name: {"role": "quasi_identifying"}
        | ({"type": "categorical"} if name in categorical else {})
        for name in quasi_identifiers
    }
    privacy: list[dict[str, Any]] = [{"model": "k_anonymity", "k": k}]
    if sensitive:
        columns[sensitive] = {"role": "sensitive"}
    if l:
        privacy.append({"model": "distinct_l_diversity", "column": sensitive, "l": l})
    return {
        "release": release,
        "source": f"public.{table}",
        "columns": columns,
        "privacy": privacy,
        "method": {"name": "mondrian", "choose": choose},
        "republication": "allow",
        "publish": {"keep": 1},
    }


def adult(dsn: str, data: Path) -> list[dict[str, Any]]:
    """GCP on the 30,162 complete rows, no hierarchies, nothing suppressed."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "adult.csv"
        support.unpack(data / "adult" / "adult.data.gz", file, missing="?")
        form = Format(header=False, names=ADULT.split(","), separator=", ")
        rows = support.load(dsn, file, "adult", form)
    found: list[dict[str, Any]] = []
    for choose in ("width", "loss"):
        for k, l in ((5, 0), (10, 0), (50, 0), (5, 3)):  # noqa: E741
            measured = support.run_policy(
                dsn,
                policy(
                    f"adult_{choose}_{k}_{l}",
                    "adult",
                    ADULT_QI,
                    k,
                    l=l,
                    sensitive="occupation",
                    choose=choose,
                ),
            )
            utility = measured.result["utility"]
            found.append(
                {
                    "choose": choose,
                    "k": k,
                    "l": l or None,
                    "rows": rows,
                    "classes": utility["classes"],
                    "gcp": utility["gcp"],
                    "target": TARGET.get((choose, k, l)),
                    "best_peer": BEST_PEER[(k, l)],
                    "seconds": measured.seconds,
                }
            )
    return found


def acs(dsn: str, data: Path) -> list[dict[str, Any]]:
    """1,402,639 real rows, k = 10, against the sorted copy of the same table."""
    support.load(dsn, data / "acs2018" / "acs2018_income.csv.gz", "acs", Format())
    baseline = support.sorted_copy_seconds(dsn, "acs", ACS_QI)
    return [
        _timed(
            dsn,
            f"acs2018, k = 10, {choose}",
            policy(f"acs_{choose}", "acs", ACS_QI, 10, choose=choose, categorical=ACS_CATEGORICAL),
            baseline,
        )
        for choose in ("width", "loss")
    ]


def generated(dsn: str, rows: int) -> list[dict[str, Any]]:
    """A generated table of any size: does it finish, and in how much memory."""
    support.execute(
        dsn,
        "CREATE TABLE generated AS SELECT"
        " (18 + 70 * power(random(), 1.6))::int AS age,"
        " (1 + 16 * power(random(), 0.7))::int AS education,"
        " (ARRAY['f', 'm'])[1 + (random() < 0.49)::int] AS sex,"
        " 'region ' || (40 * power(random(), 2))::int AS region,"
        " (30 * power(random(), 1.5))::int AS occupation"
        f" FROM generate_series(1, {int(rows)})",
    )
    support.execute(dsn, "ANALYZE generated")
    columns = ["age", "education", "sex", "region"]
    baseline = support.sorted_copy_seconds(dsn, "generated", columns)
    return [
        _timed(
            dsn,
            f"generated, {rows:,} rows, k = 10",
            policy("generated", "generated", columns, 10, sensitive="occupation"),
            baseline,
        )
    ]


def _timed(dsn: str, what: str, release: dict[str, Any], baseline: float) -> dict[str, Any]:
    measured = support.run_policy(dsn, release)
    return {
        "what": what,
        "rows": measured.result["records"],
        "classes": measured.result["utility"]["classes"],
        "gcp": measured.result["utility"]["gcp"],
        "seconds": measured.seconds,
        "baseline": baseline,
        "ratio": measured.seconds / baseline,
        "peak_mb": measured.peak_mb,
        "phases": support.phase_seconds(measured),
    }


def show_quality(rows: list[dict[str, Any]]) -> None:
    shown = Table(
        title="Adult, 30,162 complete rows, 6 quasi-identifiers: GCP", title_justify="left"
    )
    for name in ("choose", "k", "l", "classes", "GCP", "target", "best peer", "ratio", "seconds"):
        shown.add_column(name, justify="left" if name == "choose" else "right")
    for row in rows:
        shown.add_row(
            row["choose"],
            str(row["k"]),
            str(row["l"] or ""),
            str(row["classes"]),
            f"{row['gcp']:.5f}",
            f"{row['target']:.4f}" if row["target"] else "",
            f"{row['best_peer']:.4f}",
            f"{row['gcp'] / row['best_peer']:.2f}",
            f"{row['seconds']:.1f}",
        )
    Console().print(shown)


def show_speed(rows: list[dict[str, Any]]) -> None:
    shown = Table(title="From run to published, against a sorted copy", title_justify="left")
    for name in ("what", "rows", "classes", "seconds", "baseline s", "ratio", "peak MB"):
        shown.add_column(name, justify="left" if name == "what" else "right")
    for row in rows:
        shown.add_row(
            row["what"],
            f"{row['rows']:,}",
            f"{row['classes']:,}",
            f"{row['seconds']:.1f}",
            f"{row['baseline']:.2f}",
            f"{row['ratio']:.1f}",
            f"{row['peak_mb']:.0f}",
        )
    Console().print(shown)
    for row in rows:
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in row["phases"].items())
        Console().print(f"{row['what']}: {parts}", soft_wrap=True)
