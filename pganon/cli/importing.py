"""`pganon import`: a CSV file becomes a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.importing import files as engine
from pganon.importing.form import Format


class Dates(StrEnum):
    """Values of `--dates`."""

    YMD = "ymd"
    DMY = "dmy"
    MDY = "mdy"


def register(app: typer.Typer) -> None:
    app.command("import")(import_)


_File = Annotated[
    Path, typer.Argument(help="A CSV file: plain, .gz, or a .zip of one file.", show_default=False)
]
_TableName = Annotated[str, typer.Argument(help="table or schema.table", show_default=False)]
_NoHeader = Annotated[
    bool, typer.Option("--no-header", help="The first line holds data; give --names.")
]
_Names = Annotated[
    list[str] | None,
    typer.Option(
        "--names", help="Column names, separated by commas; repeatable.", show_default=False
    ),
]
_Separator = Annotated[
    str | None,
    typer.Option("--sep", help="Separator; default: ','. ', ' skips blanks.", show_default=False),
]
_Null = Annotated[
    list[str] | None,
    typer.Option(
        "--null", help="An unquoted text that means NULL (default: the empty one); repeatable."
    ),
]
_ForceNull = Annotated[
    bool, typer.Option("--force-null", help="Quoted texts mean NULL, too; as in COPY.")
]
_Quote = Annotated[str, typer.Option("--quote", help="Quoting character.")]
_Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="Encoding of the file; default: UTF-8.", show_default=False),
]
_Lower = Annotated[bool, typer.Option("--lower", help="Names of columns in lower case.")]
_Dates = Annotated[
    Dates, typer.Option("--dates", help="Order of day, month and year in dates and date-times.")
]
_Decimal = Annotated[str, typer.Option("--decimal", help="Decimal mark of numbers: '.' or ','.")]
_Thousands = Annotated[
    str | None,
    typer.Option("--thousands", help="Mark between groups of three digits.", show_default=False),
]
_Key = Annotated[
    list[str] | None,
    typer.Option(
        "--key",
        help="Columns of the primary key, separated by commas; repeatable.",
        show_default=False,
    ),
]
_Replace = Annotated[
    bool, typer.Option("--replace", help="Drop an existing table; keeps its grants.")
]


def import_(
    file: _File,
    table: _TableName,
    no_header: _NoHeader = False,
    names: _Names = None,
    sep: _Separator = None,
    null: _Null = None,
    force_null: _ForceNull = False,
    quote: _Quote = '"',
    encoding: _Encoding = None,
    lower: _Lower = False,
    dates: _Dates = Dates.YMD,
    decimal: _Decimal = ".",
    thousands: _Thousands = None,
    key: _Key = None,
    replace: _Replace = False,
    dsn: common.DsnOption = None,
    json: common.JsonOption = False,
) -> None:
    """Make a table from a CSV file.

    The types of its columns are inferred from all rows.
    """
    form = Format(
        header=not no_header,
        names=None if names is None else common.names(names),
        separator=sep,
        nulls=("",) if null is None else tuple(null),
        force_null=force_null,
        quote=quote,
        encoding=encoding,
        lower=lower,
        dates=dates.value,
        decimal=decimal,
        thousands=thousands,
    )
    imported = _imported(file, table, form, common.names(key), dsn, replace=replace, quiet=json)
    if json:
        common.emit_json(imported.as_dict())
    else:
        _show(imported)


def _imported(
    file: Path,
    table: str,
    form: Format,
    key: list[str],
    dsn: str | None,
    *,
    replace: bool,
    quiet: bool,
) -> engine.Imported:
    with common.connect(dsn) as conn, progress(f"reading {file.name}", quiet=quiet) as bar:

        def report(rows: int) -> None:
            for task in bar.task_ids:
                bar.update(task, description=f"{file.name}: {rows:,} rows")

        return engine.import_file(
            conn, file, table, form=form, key=key, replace=replace, report=report
        )


def _show(imported: engine.Imported) -> None:
    rows = imported.rows
    common.line(f"{imported.table}: {rows:,} {'row' if rows == 1 else 'rows'}")
    common.table(["column", "type"], imported.columns)
    if imported.notes:
        common.table(
            ["column", "note", "remedy"],
            [(note.column, note.note, note.remedy) for note in imported.notes],
        )
