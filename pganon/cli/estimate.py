"""`pganon estimate`: an analyst's query, answered from a release alone."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pganon import plain
from pganon.cli import common
from pganon.cli.progress import progress
from pganon.errors import UsageError

if TYPE_CHECKING:
    from pganon.estimation.ask import Estimates

_NOTES = (
    "bounds: they surely hold for the released records",
    "error: the standard deviation if columns are unrelated within groups. They rarely are, so"
    " it is often too small",
)
_ENDS = ("", "_lower", "_upper", "_error")
_FEW = "few: hardly more than ten groups matter, so their errors do not average out"

_INDEPENDENT = (
    "independent: who has which of several events is not published; the estimate takes them to be"
    " unrelated, and is often far too low"
)


class Spread(StrEnum):
    COLUMN = "column"
    UNIFORM = "uniform"


def register(app: typer.Typer) -> None:
    app.command("estimate")(estimate)


def estimate(
    name: Annotated[str, typer.Argument(help="The release.", show_default=False)],
    query: Annotated[
        str, typer.Argument(help="One SELECT, as for the source.", show_default=False)
    ],
    spread: Annotated[
        Spread, typer.Option("--spread", help="How values lie within ranges and sets.")
    ] = Spread.COLUMN,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the answer as CSV.")] = False,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the SELECT on the release's views as well.")
    ] = False,
    dsn: common.DsnOption = None,
    json: common.JsonOption = False,
) -> None:
    """Answer a query from a release: estimates, and bounds that surely hold."""
    from pganon.estimation import ask
    from pganon.sqltools import readable

    if json and as_csv:
        raise UsageError("--json and --csv exclude each other")
    connected = common.connect(dsn, settings=ask.SETTINGS)
    with connected as conn, progress(f"asking {name}", quiet=json or as_csv or sql):
        found = ask.ask(conn, name, query, spread.value)
    if json:
        shown = {"release": found.release, "version": found.version, "rows": found.as_dicts()}
        common.emit_json({**shown, "sql": found.sql} if sql else shown)
    elif as_csv:
        common.emit_csv(found.columns, found.rows)
    else:
        if sql:
            common.block(readable(found.sql) + ";")
        _show(found)


def _show(found: Estimates) -> None:
    """A row for every aggregate of every group."""
    several = len(found.aggregates) > 1
    figures = ["estimate", "bounds", "error", "classes"]
    names = [*found.keys, *(["aggregate"] if several else []), *figures, ""]
    rows = []
    for row in found.as_dicts():
        flags = [flag for flag in ("few", "maybe_empty", "independent") if row.get(flag)]
        for aggregate in found.aggregates:
            shown = {end: _figure(row[aggregate + end]) for end in _ENDS}
            rows.append(
                [
                    *[plain.text(row[key]) for key in found.keys],
                    *([aggregate] if several else []),
                    shown[""],
                    _range(shown["_lower"], shown["_upper"]),
                    shown["_error"],
                    row["classes"],
                    ", ".join(flag.replace("_", " ") for flag in flags),
                ]
            )
    common.table(names, rows, right=figures, whole=figures)
    for text in _NOTES:
        common.note(text)
    if any(row["few"] for row in found.as_dicts()):
        common.note(_FEW)
    if "independent" in found.columns:
        common.note(_INDEPENDENT)


def _figure(given: float | Decimal | date | None) -> str:
    """Few digits: the rest says nothing."""
    return plain.text(given) if isinstance(given, date) else plain.number(given, 4)


def _range(low: str, high: str) -> str:
    return low if low == high else f"{low} to {high}" if low and high else ""
