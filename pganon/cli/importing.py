"""`pganon import`: a CSV file becomes a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pganon.cli import common
from pganon.cli.progress import progress


class Dates(StrEnum):
    """What `--dates` takes."""

    YMD = "ymd"
    DMY = "dmy"
    MDY = "mdy"


def register(app: typer.Typer) -> None:
    app.command("import")(import_)


def import_(
    file: Annotated[Path, typer.Argument(help="A .csv or .csv.gz file.", show_default=False)],
    table: Annotated[str, typer.Argument(help="table or schema.table", show_default=False)],
    no_header: Annotated[
        bool, typer.Option("--no-header", help="The first line holds data; give --names.")
    ] = False,
    names: Annotated[
        list[str] | None,
        typer.Option(
            "--names", help="Column names, separated by commas; repeatable.", show_default=False
        ),
    ] = None,
    sep: Annotated[
        str | None,
        typer.Option(
            "--sep", help="Separator; default: ','. ', ' skips blanks.", show_default=False
        ),
    ] = None,
    null: Annotated[
        list[str] | None,
        typer.Option("--null", help="A text that means NULL (default: the empty one); repeatable."),
    ] = None,
    quote: Annotated[str, typer.Option("--quote", help="Quoting character.")] = '"',
    encoding: Annotated[str, typer.Option("--encoding", help="Encoding of the file.")] = "utf-8",
    lower: Annotated[bool, typer.Option("--lower", help="Names of columns in lower case.")] = False,
    dates: Annotated[
        Dates, typer.Option("--dates", help="Order of day, month and year in dates.")
    ] = Dates.YMD,
    key: Annotated[
        list[str] | None,
        typer.Option(
            "--key",
            help="Columns of the primary key, separated by commas; repeatable.",
            show_default=False,
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Drop an existing table; keeps its grants.")
    ] = False,
    dsn: common.DsnOption = None,
    json: common.JsonOption = False,
) -> None:
    """Make a table from a CSV file.

    The types of its columns are inferred from all rows.
    """
    from pganon.importing import files as engine

    form = engine.Format(
        header=not no_header,
        names=None if names is None else common.names(names),
        separator=sep,
        nulls=("",) if null is None else tuple(null),
        quote=quote,
        encoding=encoding,
        lower=lower,
        dates=dates.value,
    )
    with common.connect(dsn) as conn, progress(f"reading {file.name}", quiet=json) as bar:

        def report(rows: int) -> None:
            for task in bar.task_ids:
                bar.update(task, description=f"{file.name}: {rows:,} rows")

        done = engine.import_file(
            conn,
            file,
            table,
            form=form,
            key=common.names(key or ()),
            replace=replace,
            report=report,
        )
    if json:
        common.emit_json(done.as_dict())
        return
    common.line(f"{done.table}: {done.rows:,} {'row' if done.rows == 1 else 'rows'}")
    common.table(["column", "type"], done.columns)
    for note in done.notes:
        common.note(f"note: {note}")
