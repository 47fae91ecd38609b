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
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pacsv

from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.importing.content import Content
from pganon.importing.form import Format

pc: Any = pyarrow.compute

_BLOCK = 2**24
"""Bytes of the text that Arrow reads at once; no record may have more."""

_EXCEL = re.compile('"?sep=(.)"?[\r\n]*')
"""A first line by which Excel knows the separator."""
_OTHER_SEPARATORS = {";": "';'", "\t": "tab", "|": "'|'"}
_NO_TEXT = re.compile("[\udc80-\udcff]")
"""Bytes that are none of the encoding, as `surrogateescape` shows them."""


class CsvFile:
    """A text with separators.

    Attributes:
        header: fields of the line that names the columns; None without one.
        width: number of columns.
        notes: (number of a column, note, remedy).
    """

    notes: Sequence[tuple[int, str, str]] = ()

    def __init__(self, content: Content, form: Format) -> None:
        self._content, self._form = content, form
        self._file = content.file
        self._encoding = self._codec()
        match = _EXCEL.fullmatch(next(self._lines(), "")[:100])
        separator, before = (match[1], 1) if match else (None, 0)
        self._delimiter = separator or form.separator or ","
        self._before = (form.header_row or before + 1) - 1
        if self._delimiter == form.quote:
            raise UsageError("the quote must be one character other than the separator")
        self.header: list[str] | None = None
        rows = self._parsed()
        first, after = next(
            ((row, line) for row, _, line in rows if len(row) > 1 or "".join(row).strip()),
            (None, 0),
        )
        if form.header:
            if first is None:
                raise UsageError(f"{self._file} is empty: it has no header")
            self.header, self._before = first, after
            if len(first) == 1 and not (separator or form.separator):
                self._refuse_undivided(first[0])
        self.width = len(first) if first else len(form.names or ())
        self._unchecked = self._encoding != "utf-8-sig"
        with content.path.open("rb") as stream:
            blocks = iter(partial(stream.read, 2**20), b"")
            self._unchecked |= any(form.quote.encode() in block for block in blocks)

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
        read = pacsv.ReadOptions(
            column_names=names,
            skip_rows=self._before,
            encoding="utf8" if self._encoding == "utf-8-sig" else self._encoding,
            block_size=_BLOCK,
            use_threads=False,
        )
        records = 0
        try:
            for batch in pacsv.open_csv(str(self._content.path), read, parse, convert):
                if any(pc.any(pc.match_substring(each.dictionary, "\0")).as_py() for each in batch):
                    self._check()
                records += batch.num_rows
                yield batch
        except (pa.ArrowInvalid, UnicodeError):
            # Nothing after the header is an error to Arrow.
            if self._check():
                raise UsageError(
                    f"{self._file} cannot be divided into records",
                    hint="check --sep and --quote, and that no record is longer than"
                    f" {_BLOCK:,} bytes",
                ) from None
        if self._unchecked and self._check() != records:
            raise UsageError(
                f"{self._file} cannot be divided into records in one way alone",
                hint="check --sep and --quote",
            )
        self._unchecked = False

    def place(self, record: int) -> str:
        """Line in which a record begins; both are counted from 1."""
        lines = (line for _, line in self._records())
        return f"line {next(itertools.islice(lines, record - 1, None))}"

    def _records(self) -> Iterator[tuple[list[str], int]]:
        """Fields of every record, and its first line."""
        return ((row, line) for row, line, _ in self._parsed() if row or self.width == 1)

    def _check(self) -> int:
        """Number of records; refuses one that is wrong, by its line."""
        number = 0
        for row, line in self._records():
            number += 1
            if max(len(row), 1) != self.width:
                raise UsageError(
                    f"{self._file}, line {line}: {len(row)} field{'s' * (len(row) != 1)}, there"
                    f" are {self.width} columns",
                    hint="check --sep and --quote; a line that is no record must go",
                )
        return number

    def _parsed(self) -> Iterator[tuple[list[str], int, int]]:
        """Rows as the csv module reads them, with their first and last line."""
        csv.field_size_limit(max(csv.field_size_limit(), _BLOCK))
        rows = csv.reader(
            itertools.islice(self._lines(), self._before, None),
            delimiter=self._delimiter,
            quotechar=self._form.quote,
            strict=True,
        )
        last = self._before
        try:
            for row in rows:
                yield row, last + 1, self._before + rows.line_num
                last = self._before + rows.line_num
        except csv.Error as error:
            what = f"line {self._before + rows.line_num}: text after the end of a quoted field"
            if "unexpected end" in str(error):
                what = f"line {last + 1}: a quoted field has no end"
            elif "field larger" in str(error):
                what = f"line {last + 1}: a field of more than {_BLOCK:,} characters"
            raise UsageError(
                f"{self._file}, {what}",
                hint="check --quote and --sep; a quote within a quoted field is written twice",
            ) from None

    def _lines(self) -> Iterator[str]:
        """Lines of the text; refuses one that is none, or that the database cannot store."""
        number: int | None = 0
        with self._content.path.open("rb") as stream:
            text = io.TextIOWrapper(stream, self._encoding, "surrogateescape", newline="")
            try:
                for number, line in enumerate(text, start=1):
                    if "\0" in line:
                        raise UsageError(
                            f"{self._file}, line {number}: a NUL character, which the database"
                            " cannot store",
                            hint="remove it, or check --encoding",
                        )
                    if _NO_TEXT.search(line):
                        break
                    yield line
                else:
                    return
            except UnicodeError:
                # Where a unit of the encoding has several bytes, there are no lines after it.
                number = None
        raise UsageError(
            f"{self._file}{f', line {number}' if number else ''}: not"
            f" {codecs.lookup(self._encoding).name.removesuffix('-sig')} text",
            hint="give --encoding, such as --encoding windows-1252 or --encoding latin-1",
        )

    def _refuse_undivided(self, header: str) -> None:
        """A file of one column whose name looks like several."""
        shown = next((name for mark, name in _OTHER_SEPARATORS.items() if mark in header), None)
        if shown or "  " in header.strip():
            raise UsageError(
                f"{self._file} has one column by the separator ',', and"
                f" {f'a {shown}' if shown else 'several blanks'} in its name",
                hint=f"--sep {shown}, or --sep ',' if there is one column"
                if shown
                else "columns of fixed width are not read: write them as CSV; --sep ',' if there"
                " is one column",
                code=ErrorCode.SEPARATOR,
            )

    def _codec(self) -> str:
        """The codec to use.

        Raises:
            UsageError: it is unknown, or the first bytes are those of another one.
        """
        given = self._form.encoding or "utf-8"
        try:
            "".encode(given)  # codecs that are not for text refuse it
            name = codecs.lookup(given).name
        except (LookupError, UnicodeError):
            raise UsageError(f'unknown encoding "{given}"') from None
        with self._content.path.open("rb") as stream:
            head = stream.read(4096)
        seen = _encoding_of(head)
        if self._form.encoding is None and seen in ("utf-16", "utf-32"):
            return seen
        if seen and not name.startswith(seen[:6]):
            raise UsageError(
                f"{self._file} is {seen[:6].upper()} text, not {name}",
                hint=f"give --encoding {seen}",
            )
        # A byte order mark is no part of the first column's name.
        return "utf-8-sig" if name == "utf-8" else seen or name


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
