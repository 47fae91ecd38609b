"""`pganon import`: a file becomes a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pganon.cli import common
from pganon.cli.progress import progress
from pganon.errors import UsageError
from pganon.importing.form import EXTRA, Format

if TYPE_CHECKING:
    from pganon.importing.files import Imported


class Dates(StrEnum):
    """Values of `--dates`."""

    YMD = "ymd"
    DMY = "dmy"
    MDY = "mdy"


class Labels(StrEnum):
    """Values of `--labels`."""

    LABELS = "labels"
    CODES = "codes"


def register(app: typer.Typer) -> None:
    app.command("import")(import_)


_File = Annotated[
    Path,
    typer.Argument(
        help="CSV, a workbook, Parquet, Stata, SPSS or SAS; also packed as .gz, .zip and the like.",
        show_default=False,
    ),
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
    typer.Option("--sep", help="Separator, or tab; default: ','.", show_default=False),
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
_HeaderRow = Annotated[
    int | None,
    typer.Option("--header-row", help="Row that names the columns, from 1.", show_default=False),
]
_Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns", help="Only these columns, separated by commas; repeatable.", show_default=False
    ),
]
_Types = Annotated[
    list[str] | None,
    typer.Option(
        "--type", help="Type of a column, as in age=integer; repeatable.", show_default=False
    ),
]
_Text = Annotated[bool, typer.Option("--text", help="Infer no types: all texts stay texts.")]
_Sheet = Annotated[
    str | None, typer.Option("--sheet", help="Sheet of a workbook.", show_default=False)
]
_LabelsOption = Annotated[
    Labels, typer.Option("--labels", help="Labels of codes in files of Stata and SPSS.")
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
    header_row: _HeaderRow = None,
    names: _Names = None,
    columns: _Columns = None,
    types: _Types = None,
    text: _Text = False,
    sheet: _Sheet = None,
    labels: _LabelsOption = Labels.LABELS,
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
    """Make a table from a file.

    The types of columns of texts are inferred from all rows.
    """
    form = Format(
        header=not no_header,
        header_row=header_row,
        names=None if names is None else common.names(names),
        columns=None if columns is None else common.names(columns),
        types=_declared(types or []),
        text=text,
        sheet=sheet,
        labels=labels is Labels.LABELS,
        separator={"\\t": "\t", "tab": "\t"}.get(sep or "", sep),
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


def _declared(types: list[str]) -> dict[str, str]:
    for given in types:
        if "=" not in given:
            raise UsageError(f'--type {given}: no "=" in it', hint="--type age=integer")
    return {column: kind for column, _, kind in (given.rpartition("=") for given in types)}


def _imported(
    file: Path,
    table: str,
    form: Format,
    key: list[str],
    dsn: str | None,
    *,
    replace: bool,
    quiet: bool,
) -> Imported:
    try:
        from pganon.importing.files import import_file
    except ImportError as error:
        raise UsageError(f"importing needs {error.name}, which is missing", hint=EXTRA) from None
    with common.connect(dsn) as conn, progress(f"reading {file.name}", quiet=quiet) as bar:

        def report(rows: int) -> None:
            for task in bar.task_ids:
                bar.update(task, description=f"{file.name}: {rows:,} rows")

        return import_file(conn, file, table, form=form, key=key, replace=replace, report=report)


def _show(imported: Imported) -> None:
    rows = imported.rows
    common.line(f"{imported.table}: {rows:,} {'row' if rows == 1 else 'rows'}")
    common.table(["column", "type"], imported.columns)
    if imported.notes:
        common.table(
            ["column", "note", "remedy"],
            [(note.column, note.note, note.remedy) for note in imported.notes],
        )
