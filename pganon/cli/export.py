"""`pganon export`: a release becomes a file."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.cli.release import Name, reader
from pganon.identifiers import quote


class Numeric(StrEnum):
    """Values of `--numeric`."""

    TEXT = "text"
    FLOAT64 = "float64"


def register(app: typer.Typer) -> None:
    app.command()(export)


def export(
    name: Name,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File: .csv, .csv.gz or .parquet.", show_default=False),
    ],
    view: Annotated[
        str | None,
        typer.Option("--view", help="Which view of the release, or its part; default: the first."),
    ] = None,
    version: Annotated[
        int | None, typer.Option("--version", help="A stored version (steward only).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    safe_csv: Annotated[
        bool,
        typer.Option("--safe-csv", help="Write no cell that spreadsheets take for a formula."),
    ] = False,
    numeric: Annotated[
        Numeric | None,
        typer.Option(
            "--numeric",
            help="In Parquet, numbers that no decimal holds (default: text).",
            show_default=False,
        ),
    ] = None,
    dsn: common.DsnOption = None,
    owner: common.OwnerOption = None,
    json: common.JsonOption = False,
) -> None:
    """Write a release to a file."""
    from pganon.publish import export as exporting

    with reader(dsn, owner) as conn, progress(f"writing {output.name}", quiet=json) as bar:

        def report(rows: int) -> None:
            for task in bar.task_ids:
                bar.update(task, description=f"{output.name}: {rows:,} rows")

        done = exporting.export(
            conn,
            name,
            output,
            view=view,
            version=version,
            replace=force,
            safe_csv=safe_csv,
            numeric=None if numeric is None else numeric.value,
            report=report,
        )
    if json:
        common.emit_json(asdict(done))
    else:
        rows = f"{done.rows:,} {'row' if done.rows == 1 else 'rows'}"
        common.line(f"{done.file}: {rows} of {done.view}, version {done.version}")
        for column in done.not_decimal:
            kind = (numeric or Numeric.TEXT).value
            common.note(
                f"note: {quote(column)} is {kind}: no decimal of 38 digits holds its numbers"
            )
