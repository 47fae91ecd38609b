"""Files whose columns have types: Parquet, Arrow, workbooks, Stata, SPSS and SAS.

Every column comes as values of one type of Arrow: texts of workbooks are looked at as those of a
CSV file are, and numbers that are whole throughout become bigint.
"""

from __future__ import annotations

import datetime as dt
import html
import itertools
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
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


class _Rows:
    def place(self, record: int) -> str:
        """A record, counted from 1."""
        return f"record {record}"


class Columns(_Rows):
    """A file of columns: Parquet, Arrow (Feather); attributes as those of a CsvFile."""

    infers = False

    def __init__(self, content: Content, form: Format) -> None:
        try:
            self._data = dataset.dataset(str(content.path), format=content.reader)
        except (pa.ArrowInvalid, OSError) as error:
            raise UsageError(f"{content.file} is damaged: it cannot be read") from error
        self.header = list(self._data.schema.names)
        self.width = len(self.header)
        self.notes: list[Note] = []
        if _INDEX in self.header:
            number = self.header.index(_INDEX)
            self.header[number] = "row_name"
            self.notes.append((number, "row names that pandas writes", "--columns leaves it out"))

    def batches(self, wanted: Sequence[int]) -> Iterator[pa.RecordBatch]:
        kinds = self._data.schema
        empty = pa.record_batch([pa.array([], kind) for kind in kinds.types], schema=kinds)
        for batch in itertools.chain([empty], self._data.to_batches(batch_size=_ROWS)):
            columns = [_stored(batch.column(number), self.header[number]) for number in wanted]
            yield pa.record_batch(columns, [str(number) for number in wanted])


def sql_type(kind: pa.DataType) -> str | None:
    """SQL type of the values of a type of Arrow, as they are stored; None: they have none."""
    if pa.types.is_decimal(kind):
        return f"numeric({kind.precision},{kind.scale})" if kind.scale >= 0 else "numeric"
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


class Workbook:
    """A sheet of a workbook, which is held in memory."""

    infers = True

    def __init__(self, content: Content, form: Format) -> None:
        import python_calamine as calamine

        self._file, self._form = content.file, form
        self.notes: list[Note] = []
        try:
            book = calamine.CalamineWorkbook.from_path(str(content.path))
            name = self._sheet(book)
            sheet = book.get_sheet_by_name(name)
            rows = sheet.to_python(skip_empty_area=False)
            merged = sheet.merged_cell_ranges or []
        except calamine.PasswordError:
            raise UsageError(
                f"{self._file} is encrypted", hint="save it without a password"
            ) from None
        except (calamine.CalamineError, calamine.ZipError, calamine.XmlError) as error:
            raise UsageError(f"{self._file} is damaged, or no workbook") from error
        self._refuse_errors(content, name)
        first = next((n for n, row in enumerate(rows) if any(cell != "" for cell in row)), None)
        if first is None:
            raise UsageError(f'{self._file} is empty: sheet "{name}" has no cells')
        start = first if form.header_row is None else form.header_row - 1
        if any(top <= start <= bottom for (top, _), (bottom, _) in merged) and form.header:
            raise UsageError(
                f"row {start + 1} of {self._file} has merged cells, and should name the columns",
                hint=f"--header-row {start + 2} if the next row does",
            )
        body = rows[start + form.header :]
        while body and all(cell == "" for cell in body[-1]):
            body.pop()
        width = max((len(row) for row in body), default=0)
        head = list(rows[start]) if form.header and start < len(rows) else []
        while width and not any(row[width - 1] != "" for row in (*body, head) if len(row) >= width):
            width -= 1
        self.header = [_text(cell) for cell in head[:width]] if form.header else None
        self.width, self._first_row = width, start + form.header + 1
        self._columns = [
            self._column(number, [row[number] if number < len(row) else "" for row in body])
            for number in range(width)
        ]

    def batches(self, wanted: Sequence[int]) -> Iterator[pa.RecordBatch]:
        columns = [self._columns[number] for number in wanted]
        whole = pa.record_batch(columns, [str(number) for number in wanted])
        for start in range(0, max(whole.num_rows, 1), _ROWS):
            yield whole.slice(start, _ROWS)

    def place(self, record: int) -> str:
        """Row in which a record is; both are counted from 1."""
        return f"row {self._first_row + record - 1}"

    def _sheet(self, book: Any) -> str:
        names = [
            sheet.name
            for sheet in book.sheets_metadata
            if str(sheet.visible).endswith("Visible") and str(sheet.typ).endswith("WorkSheet")
        ]
        if self._form.sheet is not None:
            if self._form.sheet not in book.sheet_names:
                raise UsageError(
                    f'{self._file} has no sheet "{self._form.sheet}"',
                    hint=f"--sheet with one of {', '.join(book.sheet_names)}",
                )
            return self._form.sheet
        full = [name for name in names if book.get_sheet_by_name(name).height]
        if len(full) > 1:
            raise UsageError(
                f"{self._file} has several sheets: {', '.join(full)}", hint="--sheet NAME"
            )
        return full[0] if full else names[0] if names else book.sheet_names[0]

    def _refuse_errors(self, content: Content, sheet: str) -> None:
        """Cells with an error, and formulas without a value, come as empty ones."""
        if ERROR_CELLS in self._form.nulls or content.path is None:
            return
        wrong = 0
        with suppress(zipfile.BadZipFile, KeyError), zipfile.ZipFile(content.path) as archive:
            book = archive.read("xl/workbook.xml").decode(errors="replace")
            targets = archive.read("xl/_rels/workbook.xml.rels").decode(errors="replace")
            for tag in re.findall(r"<(?:\w+:)?sheet\s[^>]*>", book):
                name, number = (re.search(rf'\b{key}="([^"]*)"', tag) for key in ("name", "r:id"))
                if name and number and html.unescape(name[1]) == sheet:
                    for rule in re.findall(r"<Relationship\s[^>]*>", targets):
                        target = re.search(r'Target="/?(?:xl/)?([^"]*)"', rule)
                        if f'Id="{number[1]}"' in rule and target:
                            cells = archive.read(f"xl/{target[1]}")
                            wrong = len(re.findall(rb'<c\b[^>]*\bt="e"', cells))
                            wrong += len(re.findall(rb"(?:</f>|<f\b[^>]*/>)\s*</c>", cells))
        if wrong:
            raise UsageError(
                f'sheet "{sheet}" of {self._file} has {wrong:,} cells with an error, or a formula'
                " without a stored value",
                hint=f"mend them, or --null '' --null '{ERROR_CELLS}' to read them as NULL",
            )

    def _column(self, number: int, cells: list[Any]) -> pa.Array:
        """Values of a column, of one type."""
        nulls = set(self._form.nulls) | {""}
        values = [None if isinstance(cell, str) and cell in nulls else cell for cell in cells]
        kinds = {type(value) for value in values} - {type(None)}
        if not kinds:
            return pa.nulls(len(values), pa.string())
        if kinds <= {bool}:
            return pa.array(values, pa.bool_())
        if kinds <= {int, float}:
            return _numbers(values)
        if kinds <= {dt.date, dt.datetime}:
            # ISO 8601: Arrow reads days and moments alike.
            moments = pa.array([v and _text(v) for v in values]).cast(pa.timestamp("us"))
            days = moments.cast(pa.date32(), safe=False)
            if not pc.all(pc.equal(days.cast(pa.timestamp("us")), moments)).as_py():
                return moments
            if dt.datetime in kinds:
                self.notes.append((number, "a date, as all times are midnight", "--type for times"))
            return days
        if len(kinds) > 1:
            words = {value for value in values if isinstance(value, str)}
            if words <= MISSING_WORDS:
                options = " ".join(f"--null '{word}'" for word in ["", *sorted(words)])
                reason, remedy = f"text because of {', '.join(sorted(words))}", options
            else:
                texts = sum(isinstance(value, str) for value in values)
                reason = f"text because {texts:,} cells are texts and others are not"
                remedy = "make all cells of the column of one kind"
            self.notes.append((number, reason, remedy))
            return pa.array([None if v is None else _text(v) for v in values], pa.large_string())
        plain = [None if value is None else _text(value) for value in values]
        # Only cells of texts are looked at for other types; large_string stays text.
        return pa.array(plain, pa.string() if kinds <= {str} else pa.large_string())


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < _EXACT else repr(cell)
    if isinstance(cell, bool):
        return str(cell).lower()
    return cell.isoformat() if isinstance(cell, dt.date | dt.time) else str(cell)


def _numbers(values: list[Any]) -> pa.Array:
    """Numbers: bigint where all are whole."""
    array = pa.array(values, pa.float64())
    whole = pc.all(pc.and_(pc.equal(pc.floor(array), array), pc.less(pc.abs(array), _EXACT)))
    return array.cast(pa.int64()) if whole.as_py() and array.null_count < len(array) else array


class Statistics(_Rows):
    """A file of Stata, SPSS or SAS."""

    infers = False

    def __init__(self, content: Content, form: Format) -> None:
        import pyreadstat

        self._file = content.file
        self.notes: list[Note] = []
        read: Callable[..., Any] = getattr(pyreadstat, f"read_{content.reader}")
        options = {"encoding": form.encoding} if form.encoding and content.reader != "por" else {}
        self._read = partial(self._reading, read, str(content.path), options)
        user_missing = {"user_missing": True} if content.reader == "sav" else {}
        _, meta = self._read(metadataonly=True, **user_missing)
        self.header = list(meta.column_names)
        self.width = len(self.header)
        self._labels = dict(meta.variable_value_labels) if form.labels else {}
        self._kinds: dict[str, set[type]] = {name: set() for name in self.header}
        self._whole = dict.fromkeys(self.header, True)
        self._codes: dict[str, set[Any]] = {name: set() for name in self._labels}
        self._look(meta)

    def _reading(self, read: Any, path: str, options: dict[str, Any], **more: Any) -> Any:
        import pyreadstat

        try:
            return read(path, output_format="dict", **options, **more)
        except pyreadstat.ReadstatError as error:
            raise UsageError(
                f"{self._file} is damaged, or of an encoding or version that is not read",
                hint="--encoding, such as --encoding latin1, or write it anew as Parquet",
            ) from error

    def _chunks(self) -> Iterator[dict[str, list[Any]]]:
        done = 0
        while True:
            chunk, _ = self._read(row_offset=done, row_limit=_ROWS)
            rows = len(next(iter(chunk.values()), []))
            if rows:
                yield chunk
            done += rows
            if rows < _ROWS:
                return

    def _look(self, meta: Any) -> None:
        for chunk in self._chunks():
            for name, values in chunk.items():
                for value in set(values):
                    if value is None or value != value:
                        continue
                    self._kinds[name].add(type(value))
                    if isinstance(value, float):
                        self._whole[name] &= value.is_integer() and abs(value) < _EXACT
                    if name in self._codes:
                        self._codes[name].add(value)
        for name, codes in self._codes.items():
            labels = [self._labels[name].get(code) for code in codes]
            if None in labels or len(set(labels)) < len(labels) or not codes:
                del self._labels[name]
            else:
                note = f"labels in the place of {len(codes)} codes"
                self.notes.append((self.header.index(name), note, "--labels codes for the codes"))
        for name, ranges in meta.missing_ranges.items():
            if ranges:
                note = "values that are declared missing are NULL"
                self.notes.append((self.header.index(name), note, "--columns leaves it out"))

    def batches(self, wanted: Sequence[int]) -> Iterator[pa.RecordBatch]:
        for chunk in self._chunks():
            columns = [self._column(self.header[n], chunk[self.header[n]]) for n in wanted]
            yield pa.record_batch(columns, [str(number) for number in wanted])

    def _column(self, name: str, values: list[Any]) -> pa.Array:
        known = [None if value != value else value for value in values]
        kinds = self._kinds[name]
        if name in self._labels:
            return pa.array([self._labels[name].get(value) for value in known], pa.string())
        if dt.datetime in kinds:
            return pa.array(known, pa.timestamp("us"))
        if dt.date in kinds:
            return pa.array(known, pa.date32())
        if kinds and kinds <= {int, float}:
            numbers = pa.array(known, pa.float64())
            return numbers.cast(pa.int64()) if self._whole[name] else numbers
        return pa.array([value if value is None else _text(value) for value in known], pa.string())
