"""Files whose columns have types: Parquet, Arrow, workbooks, Stata, SPSS and SAS.

Every column comes as values of one type of Arrow. That of texts which may have another type, as
those of a CSV file, is a dictionary. Numbers that are whole throughout become bigint.
"""

from __future__ import annotations

import datetime as dt
import html
import itertools
import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute
from pyarrow import dataset

from pganon.errors import UsageError
from pganon.importing.content import Content
from pganon.importing.form import Format
from pganon.importing.kinds import MISSING_WORDS

pc: Any = pyarrow.compute
_ROWS = 50_000
_EXACT = 2.0**53
_INDEX = "__index_level_0__"

ERROR_CELLS = "#error"
"""Word of `--null` by which cells with an error, or a formula without a value, are NULL."""

Note = tuple[int, str, str]
"""Number of a column, note, remedy."""


@dataclass
class Columns:
    """Columns that have types; attributes as those of a CsvFile.

    Attributes:
        before: rows of a sheet before the first record.
    """

    header: list[str] | None
    data: dataset.Dataset
    notes: list[Note] = field(default_factory=list)
    before: int | None = None

    @property
    def width(self) -> int:
        return len(self.data.schema)

    def batches(self, wanted: Sequence[int]) -> Iterator[pa.RecordBatch]:
        kinds = self.data.schema
        empty = pa.record_batch([pa.array([], kind) for kind in kinds.types], schema=kinds)
        for batch in itertools.chain([empty], self.data.to_batches(batch_size=_ROWS)):
            stored = [batch.column(number) for number in wanted]
            if self.header and self.before is None:
                names = [self.header[number] for number in wanted]
                stored = list(map(_stored, stored, names))
            yield pa.record_batch(stored, [str(number) for number in wanted])

    def place(self, record: int) -> str:
        """Record, or row of a sheet; both are counted from 1."""
        return f"record {record}" if self.before is None else f"row {self.before + record}"


def columns(content: Content, form: Format) -> Columns:
    """A file of columns: Parquet, Arrow (Feather)."""
    try:
        data = dataset.dataset(str(content.path), format=content.reader)
    except (pa.ArrowInvalid, OSError) as error:
        raise UsageError(f"{content.file} is damaged: it cannot be read") from error
    found = Columns(list(data.schema.names), data)
    if found.header and _INDEX in found.header:
        number = found.header.index(_INDEX)
        found.header[number] = "row_name"
        found.notes.append((number, "row names that pandas writes", "--columns leaves it out"))
    return found


def _held(arrays: Sequence[pa.Array]) -> dataset.Dataset:
    """Columns that are held in memory."""
    return dataset.dataset(pa.table(list(arrays), [str(n) for n in range(len(arrays))]))


def sql_type(kind: pa.DataType) -> str | None:
    """SQL type of the values of a type of Arrow, as they are stored; None: they have none."""
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})" if kind.scale >= 0 else "numeric"
    if pa.types.is_dictionary(kind):
        return "text"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz is None else "timestamptz"
    names = {
        "integer": ("int8", "int16", "int32", "uint8", "uint16"),
        "bigint": ("int64", "uint32"),
        "numeric": ("uint64",),
        "real": ("halffloat", "float"),
        "double precision": ("double",),
        "boolean": ("bool",),
        "date": ("date32[day]",),
        "text": ("string", "large_string"),
    }
    return next((name for name, kinds in names.items() if str(kind) in kinds), None)


def _stored(column: Any, name: str) -> Any:
    """Values that are written as texts which the server reads."""
    kind, is_a = column.type, pa.types
    try:
        if is_a.is_dictionary(kind):
            return _stored(column.cast(kind.value_type), name)
        if is_a.is_timestamp(kind):
            return column.cast(pa.timestamp("us", kind.tz and "UTC"))
        if is_a.is_time(kind):
            return column.cast(pa.time64("us")).cast(pa.string())
        if is_a.is_date64(kind):
            return column.cast(pa.date32())
        if is_a.is_large_string(kind) or is_a.is_string_view(kind) or is_a.is_null(kind):
            return column.cast(pa.string())
    except pa.ArrowInvalid:
        raise UsageError(
            f'column "{name}" has times with nanoseconds, PostgreSQL has microseconds',
            hint="round them in the file, or leave the column out with --columns",
        ) from None
    return column


def workbook(content: Content, form: Format) -> Columns:
    """A sheet of a workbook."""
    import python_calamine as calamine

    file = content.file
    try:
        book = calamine.CalamineWorkbook.from_path(str(content.path))
        name = _sheet(book, content, form)
        sheet = book.get_sheet_by_name(name)
        rows = sheet.to_python(skip_empty_area=False)
        merged = sheet.merged_cell_ranges or []
    except calamine.PasswordError:
        raise UsageError(f"{file} is encrypted", hint="save it without a password") from None
    except (calamine.CalamineError, calamine.ZipError, calamine.XmlError) as error:
        raise UsageError(f"{file} is damaged, or no workbook") from error
    if ERROR_CELLS not in form.nulls:
        _refuse_errors(content, name)
    filled = [n for n, row in enumerate(rows) if any(cell != "" for cell in row)]
    start = form.header_row - 1 if form.header_row else min(filled, default=0)
    rows = rows[start : max(filled, default=-1) + 1]
    if not rows:
        raise UsageError(f'{file} is empty: sheet "{name}" has no cells')
    if any(top <= start <= bottom for (top, _), (bottom, _) in merged) and form.header:
        raise UsageError(
            f"row {start + 1} of {file} has merged cells, and should name the columns",
            hint=f"--header-row {start + 2} if the next row does",
        )
    sheet_columns = [list(cells) for cells in zip(*rows, strict=True)]
    while all(cell == "" for cell in sheet_columns[-1]):
        sheet_columns.pop()
    header = [_text(cells.pop(0)) for cells in sheet_columns] if form.header else None
    arrays: list[pa.Array] = []
    notes: list[Note] = []
    for number, cells in enumerate(sheet_columns):
        values = [None if isinstance(v, str) and v in {"", *form.nulls} else v for v in cells]
        array, note = _cells(values)
        arrays.append(array)
        notes += [(number, *note)] if note else []
    return Columns(header, _held(arrays), notes, start + form.header)


def _sheet(book: Any, content: Content, form: Format) -> str:
    names = [
        sheet.name
        for sheet in book.sheets_metadata
        if str(sheet.visible).endswith("Visible") and str(sheet.typ).endswith("WorkSheet")
    ]
    if form.sheet is not None:
        if form.sheet not in book.sheet_names:
            raise UsageError(
                f'{content.file} has no sheet "{form.sheet}"',
                hint=f"--sheet with one of {', '.join(book.sheet_names)}",
            )
        return form.sheet
    full = [name for name in names if book.get_sheet_by_name(name).height]
    if len(full) > 1:
        raise UsageError(
            f"{content.file} has several sheets: {', '.join(full)}", hint="--sheet NAME"
        )
    return [*full, *names, *book.sheet_names][0]


def _refuse_errors(content: Content, sheet: str) -> None:
    """Cells with an error, and formulas without a value, come as empty ones."""
    wrong = 0
    with suppress(zipfile.BadZipFile, KeyError), zipfile.ZipFile(content.path) as archive:

        def tags(file: str, name: str) -> list[dict[str, str]]:
            text = archive.read(file).decode(errors="replace")
            found = re.findall(rf"<(?:\w+:)?{name}\s[^>]*>", text)
            return [dict(re.findall(r'([\w:]+)="([^"]*)"', tag)) for tag in found]

        rules = tags("xl/_rels/workbook.xml.rels", "Relationship")
        targets = {rule["Id"]: rule["Target"].removeprefix("/xl/") for rule in rules}
        for found in tags("xl/workbook.xml", "sheet"):
            if html.unescape(found["name"]) == sheet:
                cells = archive.read(f"xl/{targets[found['r:id']]}")
                wrong += len(re.findall(rb'<c\b[^>]*\bt="e"', cells))
                wrong += len(re.findall(rb"(?:</f>|<f\b[^>]*/>)\s*</c>", cells))
    if wrong:
        raise UsageError(
            f'sheet "{sheet}" of {content.file} has {wrong:,} cells with an error, or a formula'
            " without a stored value",
            hint=f"mend them, or --null '' --null '{ERROR_CELLS}' to read them as NULL",
        )


def _cells(values: list[Any]) -> tuple[pa.Array, tuple[str, str] | None]:
    """Values of one type, and a note with its remedy."""
    kinds = {type(value) for value in values} - {type(None)}
    if not kinds:
        return pa.nulls(len(values), pa.string()), None
    if kinds <= {bool}:
        return pa.array(values, pa.bool_()), None
    if kinds <= {int, float}:
        return _numbers(pa.array(values, pa.float64())), None
    texts = [None if value is None else _text(value) for value in values]
    if kinds <= {dt.date, dt.datetime}:
        # ISO 8601: Arrow reads days and moments alike.
        moments = pa.array(texts).cast(pa.timestamp("us"))
        days = moments.cast(pa.date32(), safe=False)
        if not pc.all(pc.equal(days.cast(pa.timestamp("us")), moments)).as_py():
            return moments, None
        note = ("a date, as all times are midnight", "--type for times")
        return days, note if dt.datetime in kinds else None
    note = None
    if len(kinds) > 1:
        words = {value for value in values if isinstance(value, str)}
        count = sum(isinstance(value, str) for value in values)
        note = (
            f"text because {count:,} cells are texts and others are not",
            "make all cells of the column of one kind",
        )
        if not words:
            note = ("text because cells are of several kinds", note[1])
        elif words <= MISSING_WORDS:
            options = " ".join(f"--null '{word}'" for word in ["", *sorted(words)])
            note = (f"text because of {', '.join(sorted(words))}", options)
    array = pa.array(texts, pa.string())
    return array.dictionary_encode() if kinds <= {str} else array, note


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < _EXACT else repr(cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)


def _numbers(array: Any) -> pa.Array:
    """Numbers: bigint where all are whole."""
    whole = pc.all(pc.and_(pc.equal(pc.floor(array), array), pc.less(pc.abs(array), _EXACT)))
    return array.cast(pa.int64()) if whole.as_py() else array


def statistics(content: Content, form: Format) -> Columns:
    """A file of Stata, SPSS or SAS."""
    import pyreadstat

    read: Any = getattr(pyreadstat, f"read_{content.reader}")
    options: dict[str, Any] = {"output_format": "dict"}
    if form.encoding and content.reader != "por":
        options["encoding"] = form.encoding
    missing = {"user_missing": True} if content.reader == "sav" else {}
    parts: list[pa.Table] = []
    try:
        _, meta = read(str(content.path), metadataonly=True, **options, **missing)
        while not parts or parts[-1].num_rows == _ROWS:
            rows = {"row_offset": len(parts) * _ROWS, "row_limit": _ROWS}
            chunk, _ = read(str(content.path), **rows, **options)
            # NaN is a missing value, as in pandas.
            arrays = [pa.array(chunk[name], from_pandas=True) for name in meta.column_names]
            parts.append(pa.table(arrays, meta.column_names))
        table = pa.concat_tables(parts, promote_options="permissive")
        together = [pa.concat_arrays(column.chunks) for column in table.columns]
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # their texts have values
        raise UsageError(
            f"{content.file} has a column of several types, or of over 2 GB of text",
            hint="leave it out with --columns, or write the file anew as Parquet",
        ) from None
    except pyreadstat.ReadstatError as error:
        raise UsageError(
            f"{content.file} is damaged, or of an encoding or version that is not read",
            hint="--encoding, such as --encoding latin1, or write it anew as Parquet",
        ) from error
    arrays: list[pa.Array] = []
    notes: list[Note] = []
    each: Any
    for number, (name, each) in enumerate(zip(meta.column_names, together, strict=True)):
        column = each
        codes = column.unique().drop_null()
        named = meta.variable_value_labels.get(name, {}) if form.labels else {}
        labels = [named.get(code) for code in codes.to_pylist()]
        if labels and None not in labels and len(set(labels)) == len(labels):
            column = pa.array(labels, pa.string()).take(pc.index_in(column, codes))
            note = f"labels in the place of {len(labels)} codes"
            notes.append((number, note, "--labels codes for the codes"))
        elif not labels:
            column = pa.nulls(len(column), pa.string())
        elif pa.types.is_floating(column.type):
            column = _numbers(column)
        elif pa.types.is_time(column.type):
            column = pa.array([v and v.isoformat() for v in column.to_pylist()], pa.string())
        arrays.append(column)
        if meta.missing_ranges.get(name):
            note = "values that are declared missing are NULL"
            notes.append((number, note, "--columns leaves it out"))
    return Columns(list(meta.column_names), _held(arrays), notes)
