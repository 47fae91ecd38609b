"""Tables of the benchmark of QS k-anonymity."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.qs import SETS, K

Row = dict[str, Any]

_LEFT = frozenset({"distances", "count", "method", "claim", "numbers", "holds"})
_WIDTH = 120

_SWEEPS = {
    "by_k": ("k", "k", "Adult, 4 attributes per set"),
    "by_attributes": ("attributes", "attributes", f"Adult, k = {K}"),
    "by_size": ("rows", "records", f"Random subsets of Adult, k = {K}, 4 attributes per set"),
}


def show(report: dict[str, Any]) -> None:
    """All tables that the report has figures for."""
    if report.get("figures"):
        _figures(report["figures"])
        _combinations(report["figures"])
    for part, (key, label, title) in _SWEEPS.items():
        if report.get(part):
            _sweep(title, key, label, report[part])
    if report.get("size"):
        _size(report["size"])
    if report.get("claims"):
        _claims(report["claims"])
    for setting, why in report["skipped"].items():
        _console().print(f"skipped: {setting}: {why}", soft_wrap=True, highlight=False)


def _console() -> Console:
    """At least so wide that no column of a table is squeezed."""
    return Console(width=max(_WIDTH, Console().width))


def _table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    shown = Table(title=title, title_justify="left")
    for name in columns:
        shown.add_column(name, justify="left" if name in _LEFT else "right")
    for row in rows:
        shown.add_row(*row)
    _console().print(shown)


def _figures(rows: list[Row]) -> None:
    _table(
        f"Adult, {rows[0]['rows']:,} rows, k = {K}; baseline: sorted copy,"
        f" {rows[0]['baseline']:.3f} s",
        [
            *("distances", "count", "method", "clusters", "GCP", "to one block", "total NCP"),
            *("seconds", "to baseline", "within target"),
        ],
        [
            [
                *(
                    row["loss"],
                    row["count"],
                    row["method"],
                    f"{row['clusters']:,.0f}",
                    f"{row['gcp']:.4f}",
                ),
                f"{row['gcp_over_one_block']:.3f}",
                *_loss_and_time(row),
                f"{row['ratio']:.0f}",
                _target(row),
            ]
            for row in rows
        ],
    )


def _combinations(rows: list[Row]) -> None:
    _table(
        f"The same runs: combinations per cluster (least/mean/most), k = {K}",
        [
            *("distances", "count", "method"),
            *(f"{name} {kind}" for name in SETS for kind in ("product", "supported")),
            "single values",
        ],
        [
            [
                *(row["loss"], row["count"], row["method"]),
                *(_spread(row[kind][name]) for name in SETS for kind in ("product", "supported")),
                f"{row['constants']:,.0f}",
            ]
            for row in rows
        ],
    )


def _sweep(title: str, key: str, label: str, rows: list[Row]) -> None:
    _table(
        title,
        [
            *("distances", "count", "method", label, "clusters", "GCP", "total NCP"),
            *("seconds", "of the method", "single values"),
        ],
        [
            [
                *(
                    row["loss"],
                    row["count"],
                    row["method"],
                    f"{row[key]:,}",
                    f"{row['clusters']:,.0f}",
                ),
                f"{row['gcp']:.4f}",
                *_loss_and_time(row),
                f"{row['method_seconds']:.2f}",
                f"{row['constants']:,.0f}",
            ]
            for row in rows
        ],
    )


def _size(rows: list[Row]) -> None:
    _table(
        f"Generated table, {rows[0]['rows']:,} rows, k = {K}; baseline: sorted copy,"
        f" {rows[0]['baseline']:.2f} s",
        [
            *("distances", "count", "method", "clusters", "GCP", "total NCP"),
            *("seconds", "to baseline", "within target", "peak MB"),
        ],
        [
            [
                *(
                    row["loss"],
                    row["count"],
                    row["method"],
                    f"{row['clusters']:,.0f}",
                    f"{row['gcp']:.4f}",
                ),
                *_loss_and_time(row),
                f"{row['ratio']:.1f}",
                _target(row),
                f"{row['peak_mb']:.0f}",
            ]
            for row in rows
        ],
    )
    for row in rows:
        parts = ", ".join(f"{name} {seconds:.1f}" for name, seconds in row["phases"].items())
        _console().print(f"{row['count']}: {parts}", soft_wrap=True)


def _claims(rows: list[Row]) -> None:
    _table(
        "Claims of the paper on these figures",
        ["distances", "count", "claim", "holds", "numbers"],
        [
            [
                *(row["loss"], row["count"], row["claim"]),
                "holds" if row["holds"] else "does not hold",
                row["numbers"],
            ]
            for row in rows
        ],
    )


def _loss_and_time(row: Row) -> tuple[str, str]:
    return f"{row['ncp_total']:,.0f}", f"{row['seconds']:.1f}"


def _target(row: Row) -> str:
    return {None: "", True: "yes", False: "no"}[row["target_met"]]


def _spread(found: dict[str, float]) -> str:
    return f"{found['least']:,.0f}/{found['mean']:,.1f}/{found['most']:,.0f}"
