"""Texts with separators, as batches of Arrow; every column is of texts, with NULL where it is one.

Arrow takes what no CSV file should have (text after a quoted field, a quoted field without an
end). So the `csv` module of Python looks at files with quotes, too; it also finds the line of what
Arrow refuses, whose messages show values.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

import pyarrow as pa
import pyarrow.csv as pacsv

from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.importing.content import Content
from pganon.importing.form import Format

_BLOCK = 2**24
"""Bytes of the text that Arrow reads at once; no record may have more."""

_CHARACTERS = 2**18
_EXCEL = re.compile('"?sep=(.)"?[\r\n]*')
"""A first line by which Excel knows the separator."""
_OTHER_SEPARATORS = (";", "\t", "|")
_UTF_8 = frozenset({"utf-8", "utf-8-sig"})


class CsvFile:
    """A text with separators.

    Attributes:
        header: fields of the line that names the columns; None without one.
        width: number of columns.
        infers: whether texts may have other types.
        notes: (number of a column, note, remedy).
    """

    notes: Sequence[tuple[int, str, str]] = ()
    infers = True

    def __init__(self, content: Content, form: Format) -> None:
        self._content, self._form = content, form
        self._file = content.file
        self._encoding = self._codec()
        self._quoted = False
        with self._text() as text:
            match = _EXCEL.fullmatch(text.readline(100))
            separator, before = (match[1], 1) if match else (None, 0)
            self._delimiter = separator or form.separator or ","
            self._before = (form.header_row or before + 1) - 1
        if self._delimiter == form.quote:
            raise UsageError("the quote must be one character other than the separator")
        self.header: list[str] | None = None
        lines = self._parsed(self._before)
        first, after = next(
            ((row, line) for row, _, line in lines if len(row) > 1 or "".join(row).strip()),
            (None, 0),
        )
        if form.header:
            if first is None:
                raise UsageError(f"{self._file} is empty: it has no header")
            self.header, self._before = first, after
            if len(first) == 1 and not (separator or form.separator):
                self._refuse_undivided(first[0])
        self.width = len(first) if first else len(form.names or ())

    def batches(self, wanted: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """The records, with these columns, in dictionaries of their texts.

        Raises:
            UsageError: with the line where a record has another number of fields, quotes are
                wrong, or there is a character that is none of the encoding, or NUL.
        """
        names = [str(number) for number in range(self.width)]
        form = self._form
        kind = pa.dictionary(pa.int32(), pa.string())
        convert = pacsv.ConvertOptions(
            check_utf8=False,
            column_types=dict.fromkeys(names, kind),
            include_columns=[names[number] for number in wanted],
            null_values=list(form.nulls),
            strings_can_be_null=True,
            quoted_strings_can_be_null=form.force_null,
        )
        parse = pacsv.ParseOptions(
            delimiter=self._delimiter,
            quote_char=form.quote,
            newlines_in_values=True,
            ignore_empty_lines=self.width > 1,
        )
        records = 0
        with self._text() as text:
            for _ in range(self._before):
                text.readline()
            source = _Utf8(text, form.quote)
            read = pacsv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=False)
            try:
                for batch in pacsv.open_csv(pa.PythonFile(source, "r"), read, parse, convert):
                    records += batch.num_rows
                    yield batch
            except pa.ArrowInvalid as error:
                if "Empty CSV" not in str(error):
                    self._strict()
                    raise UsageError(
                        f"{self._file} cannot be divided into records",
                        hint="check --sep and --quote, and that no record is longer than"
                        f" {_BLOCK:,} bytes",
                    ) from None
            except _NulFound:
                raise UsageError(
                    f"{self._file}, line {self._line_with(chr(0))}: a NUL character, which the"
                    " database cannot store",
                    hint="remove it, or check --encoding",
                ) from None
        if source.quoted and not self._quoted:
            self._quoted = True
            if self._strict() != records:
                raise UsageError(
                    f"{self._file} cannot be divided into records in one way alone",
                    hint="check --sep and --quote",
                )

    def place(self, record: int) -> str:
        """Line in which a record begins; both are counted from 1."""
        lines = (line for _, line, _ in self._records())
        return f"line {next(itertools.islice(lines, record - 1, None))}"

    def _records(self) -> Iterator[tuple[list[str], int, int]]:
        """Fields of every record, and its first and last line."""
        for row, first, last in self._parsed(self._before):
            if row or self.width == 1:
                yield row, first, last

    def _strict(self) -> int:
        """Number of records; refuses one that is wrong, by its line."""
        number = 0
        for row, first, _ in self._records():
            number += 1
            if max(len(row), 1) != self.width:
                raise UsageError(
                    f"{self._file}, line {first}: {len(row)} field{'s' * (len(row) != 1)}, there"
                    f" are {self.width} columns",
                    hint="check --sep and --quote; a line that is no record must go",
                )
        return number

    def _parsed(self, passed: int) -> Iterator[tuple[list[str], int, int]]:
        """Rows as the csv module reads them, with their first and last line."""
        csv.field_size_limit(max(csv.field_size_limit(), _BLOCK))
        with self._text() as text:
            for _ in range(passed):
                text.readline()
            rows = csv.reader(
                text, delimiter=self._delimiter, quotechar=self._form.quote, strict=True
            )
            last = 0
            while True:
                try:
                    row = next(rows, None)
                except csv.Error as error:
                    begun = passed + last + 1
                    if "unexpected end" in str(error):
                        what = f"line {begun}: a quoted field has no end"
                    elif "field larger" in str(error):
                        what = f"line {begun}: a field of more than {_BLOCK:,} characters"
                    else:
                        what = (
                            f"line {passed + rows.line_num}: text after the end of a quoted field"
                        )
                    raise UsageError(
                        f"{self._file}, {what}",
                        hint="check --quote and --sep; a quote within a quoted field is written"
                        " twice",
                    ) from None
                if row is None:
                    return
                yield row, passed + last + 1, passed + rows.line_num
                last = rows.line_num

    def _refuse_undivided(self, header: str) -> None:
        """A file of one column whose name looks like several."""
        marks = [mark for mark in _OTHER_SEPARATORS if mark in header]
        if marks or "  " in header.strip():
            shown = {"\t": "tab"}.get(marks[0], f"'{marks[0]}'") if marks else None
            raise UsageError(
                f"{self._file} has one column by the separator ',', and"
                f" {f'a {shown}' if shown else 'several blanks'} in its name",
                hint=f"--sep {shown}, or --sep ',' if there is one column"
                if shown
                else "columns of fixed width are not read: write them as CSV; --sep ',' if there"
                " is one column",
                code=ErrorCode.SEPARATOR,
            )

    @contextmanager
    def _text(self) -> Iterator[TextIO]:
        try:
            with self._content.opened() as stream:
                text = io.TextIOWrapper(stream, self._encoding, newline="")
                text._CHUNK_SIZE = _CHARACTERS  # pyright: ignore[reportAttributeAccessIssue]
                yield text
        except UnicodeError:
            line = self._line_with(None)
            raise UsageError(
                f"{self._file}{f', line {line}' if line else ''}: not"
                f" {codecs.lookup(self._encoding).name.removesuffix('-sig')} text",
                hint="give --encoding, such as --encoding windows-1252 or --encoding latin-1",
            ) from None

    def _line_with(self, character: str | None) -> int | None:
        """The first line with a character, or with bytes that are none.

        None where a unit of the encoding has several bytes: there are no lines after an error.
        """
        try:
            with self._content.opened() as stream:
                text = io.TextIOWrapper(stream, self._encoding, "surrogateescape", newline="")
                return next(
                    number
                    for number, line in enumerate(text, start=1)
                    if (
                        character in line
                        if character
                        else any("\udc80" <= one <= "\udcff" for one in line)
                    )
                )
        except (UnicodeError, StopIteration):
            return None

    def _codec(self) -> str:
        """The codec to use.

        Raises:
            UsageError: it is unknown, or the first bytes are those of another one.
        """
        given = self._form.encoding
        try:
            "".encode(given or "utf-8")  # codecs that are not for text refuse it
            name = codecs.lookup(given or "utf-8").name
        except (LookupError, UnicodeError):
            raise UsageError(f'unknown encoding "{given}"') from None
        with self._content.opened() as stream:
            head = stream.read(4096)
        seen = _encoding_of(head)
        if seen and given is None and head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return seen
        if seen and given is None and seen == "utf-32":
            return seen
        if seen and not name.startswith(seen[:6]):
            raise UsageError(
                f"{self._file} is {seen[:6].upper()} text, not {name}",
                hint=f"give --encoding {seen}",
            )
        # A byte order mark is no part of the first column's name.
        return "utf-8-sig" if name in _UTF_8 else seen or name


def _encoding_of(head: bytes) -> str | None:
    """UTF-32 and UTF-16, by their byte order marks, or since every other byte of Latin letters
    and digits is zero."""
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    pairs = len(head) // 2
    even, odd = head[0 : 2 * pairs : 2].count(0), head[1 : 2 * pairs : 2].count(0)
    if pairs and even == 0 and 2 * odd > pairs:
        return "utf-16-le"
    if pairs and odd == 0 and 2 * even > pairs:
        return "utf-16-be"
    return None


def is_text(kind: pa.DataType) -> bool:
    """Whether a column is of texts, of which the type may be another one."""
    return pa.types.is_string(kind) or pa.types.is_dictionary(kind)


def distinct(column: pa.Array) -> pa.Array:
    """The texts of a column, each once, and no NULL."""
    return (
        column.dictionary if isinstance(column, pa.DictionaryArray) else column.unique().drop_null()
    )


class _NulFound(Exception):
    pass


class _Utf8(io.RawIOBase):
    """Text as UTF-8.

    Attributes:
        quoted: a quote was read.
    """

    def __init__(self, text: TextIO, quote: str) -> None:
        self._text, self._quote, self._rest = text, quote, b""
        self.quoted = False

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if not self._rest:
            characters = self._text.read(size)
            if "\0" in characters:
                raise _NulFound
            self.quoted = self.quoted or self._quote in characters
            self._rest = characters.encode()
        if size < 0:
            size = len(self._rest)
        given, self._rest = self._rest[:size], self._rest[size:]
        return given
