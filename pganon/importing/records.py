"""Records of a CSV file, in batches: as text that COPY reads, and by column.

A record passes as it is written where COPY reads the same fields in it; else it is written anew.
Fields are what the `csv` module of Python reads in its strict mode, except that a quoted text is
told from one that is not: only the latter can mean NULL, as in COPY.
"""

from __future__ import annotations

import csv
import io
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import TextIO

from pganon.errors import UsageError
from pganon.importing import lines
from pganon.importing.form import Format, Marks, marks

_BATCH_RECORDS = 4000
_BATCH_CHARACTERS = 4_000_000

_CSV_LIMIT = 131_072

_EXCEL = re.compile('"?sep=(.)"?[\r\n]*')
"""A first line by which Excel knows the separator."""

Cell = str | None


@dataclass
class Column:
    """Values of one column in a batch, each once.

    Attributes:
        nulls: whether there are NULLs.
    """

    values: set[str]
    nulls: bool


@dataclass
class _Batch:
    """Records that were read.

    Attributes:
        lines: records as COPY reads them.
        raw: fields of records in which a word for NULL means NULL.
        read: fields of other records, with None for NULL.
    """

    lines: list[str] = field(default_factory=list)
    raw: list[Sequence[str]] = field(default_factory=list)
    read: list[Sequence[Cell]] = field(default_factory=list)
    characters: int = 0

    @property
    def full(self) -> bool:
        return len(self.lines) >= _BATCH_RECORDS or self.characters >= _BATCH_CHARACTERS


class Records:
    """The records of an open file.

    Attributes:
        marks: separator and quote of the file.
        says_separator: whether the separator is more than a default.
        null: unquoted text that COPY is to read as NULL.
        line: number of the last line that was read.
    """

    def __init__(self, text: TextIO, form: Format, file: Path) -> None:
        self._file = file
        self._form = form
        self._lines = lines.Lines(text, file)
        self._pending: Iterator[str] = iter(())
        self.line = 0
        excel = self._excel_separator()
        self.says_separator = form.separator is not None or excel is not None
        default = "," if excel is None else excel
        self.marks = marks(default if form.separator is None else form.separator, form.quote)
        self._grammar = _Grammar(self.marks, file)
        self._nulls = frozenset(form.nulls)
        self.null = "" if "" in self._nulls else f"null-{secrets.token_hex(16)}"
        self._words = self._nulls - {self.null}
        # What is sure of a field must not hold a separator, and words for NULL are not looked for.
        self._can_be_sure = (
            self.marks.separator in ",;|\t"
            and self.marks.separator not in (form.decimal, form.thousands)
            and form.nulls in (("",), [""])
            and not (form.force_null or self.marks.skips)
            and self.marks.quote.isascii()
        )
        self._passes = all(mark.isascii() for mark in (self.marks.separator, self.marks.quote))

    @property
    def copy_marks(self) -> tuple[str, str]:
        """Separator and quote of the records that COPY reads, which takes ASCII alone."""
        return (self.marks.separator, self.marks.quote) if self._passes else (",", '"')

    def header(self) -> list[str] | None:
        """Fields of the first record that is not blank; None if there is none."""
        for line in self._following():
            if line.strip():
                return [text for text, _ in self._grammar.fields(self._whole(line), self.line)]
        return None

    def batches(
        self, width: int, surely: Callable[[str], re.Pattern[str] | None] = lambda any_text: None
    ) -> Iterator[tuple[str, int, list[Column]]]:
        """The records that follow, as (text that COPY reads, number of records, columns).

        Blank lines are records of one column, and nothing in a file of several.

        Args:
            surely: called now and then with a pattern of any field that is not empty; gives one of
                lines that need not be divided; batches of these alone come without columns.

        Raises:
            UsageError: a record has another number of fields than `width`, or its quotes are
                wrong.
        """
        while text := self._lines.block(self.line):
            pattern = surely(self._grammar.any_text) if self._can_be_sure and width > 1 else None
            if pattern is not None and pattern.fullmatch(text):
                number = text.count("\n")
                self.line += number
                yield text.replace("\r\n", "\n"), number, []
            else:
                self._pending = io.StringIO(text, newline="")
                yield from self._read(width)

    def _read(self, width: int) -> Iterator[tuple[str, int, list[Column]]]:
        """The batches of the lines that are pending."""
        batch = _Batch()
        quote, separator = self.marks.quote, self.marks.separator
        plain = self._passes and not self.marks.skips and width > 1
        for line in self._numbered(self._pending):
            if plain and quote not in line:
                text = line.rstrip("\r\n")
                cells = text.split(separator)
                if len(cells) == width:
                    if not self._words.isdisjoint(cells):
                        text = separator.join(self.null if c in self._words else c for c in cells)
                    batch.lines.append(text)
                    batch.raw.append(cells)
                    batch.characters += len(text)
                elif text.strip():
                    raise self._ragged(len(cells), width)
            elif width == 1 or line.strip():
                self._add(batch, line, width)
            if batch.full:
                yield self._taken(batch, width)
                batch = _Batch()
        if batch.lines:
            yield self._taken(batch, width)

    def _add(self, batch: _Batch, line: str, width: int) -> None:
        """Add the record that begins with this line."""
        record = self._whole(line)
        cells = self._passing(record)
        if cells is not None:
            text = record
            batch.raw.append(cells)
        else:
            fields = self._grammar.fields(record, self.line)
            cells = [self._cell(text, quoted=quoted) for text, quoted in fields]
            text = self._written(cells)
            batch.read.append(cells)
        if len(cells) != width:
            raise self._ragged(len(cells), width)
        batch.lines.append(text)
        batch.characters += len(text)

    def _passing(self, record: str) -> list[str] | None:
        """The fields, if COPY reads the same, and all that are words for NULL are NULL."""
        grammar = self._grammar
        # A line `\\.` of its own would end COPY; the module csv has a limit for fields.
        if "\\." in record or len(record) > _CSV_LIMIT:
            return None
        if not self._passes or self.marks.skips or not grammar.strict.fullmatch(record):
            return None
        reader = csv.reader(
            [record], delimiter=self.marks.separator, quotechar=self.marks.quote, strict=True
        )
        cells = next(reader, None) or [""]
        if self._nulls.isdisjoint(cells):
            return cells
        read = grammar.quoted_empty.search(record) or self._words.intersection(cells)
        return None if read else cells

    def _cell(self, text: str, *, quoted: bool) -> Cell:
        return None if text in self._nulls and (self._form.force_null or not quoted) else text

    def _written(self, cells: Sequence[Cell]) -> str:
        separator, quote = self.copy_marks
        return separator.join(
            self.null if cell is None else f"{quote}{cell.replace(quote, quote * 2)}{quote}"
            for cell in cells
        )

    def _taken(self, batch: _Batch, width: int) -> tuple[str, int, list[Column]]:
        columns = [Column(set(), nulls=False) for _ in range(width)]
        for column, cells in zip(columns, zip(*batch.raw, strict=True), strict=bool(batch.raw)):
            values = set(cells)
            column.nulls = not self._nulls.isdisjoint(values)
            column.values = values - self._nulls if column.nulls else values
        for column, cells in zip(columns, zip(*batch.read, strict=True), strict=bool(batch.read)):
            values = set(cells)
            column.nulls |= None in values
            column.values.update(cell for cell in values if cell is not None)
        return "\n".join(chain(batch.lines, [""])), len(batch.lines), columns

    def _numbered(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            self.line += 1
            yield line

    def _following(self) -> Iterator[str]:
        """The lines that are pending, and then those of the file."""
        yield from self._numbered(self._pending)
        while line := self._lines.one(self.line):
            self.line += 1
            yield line

    def _whole(self, line: str) -> str:
        """The record that begins with this line, without the line end after it."""
        if self.marks.quote not in line or not self._grammar.is_open(line):
            return line.rstrip("\r\n")
        begun = self.line
        record = io.StringIO(newline="")  # a list of short lines would take many times as much
        record.write(line)
        for following in self._following():
            record.write(following)
            if record.tell() > lines.LONGEST:
                break
            if self.marks.quote in following and not self._grammar.stays_open(following):
                return record.getvalue().rstrip("\r\n")
        raise UsageError(
            f"{self._file}, line {begun}: a quoted field has no end",
            hint="check --quote; a quote within a quoted field is written twice",
        )

    def _ragged(self, fields: int, width: int) -> UsageError:
        return UsageError(
            f"{self._file}, line {self.line}: {fields} {'field' if fields == 1 else 'fields'},"
            f" there are {width} columns",
            hint="check --sep and --quote",
        )

    def _excel_separator(self) -> str | None:
        """The separator that the first line says, which is then no record."""
        first = self._lines.one(self.line)
        said = _EXCEL.fullmatch(first)
        if said is None:
            self._lines.give_back(first)
            return None
        self.line += 1
        return said[1]


class _Grammar:
    """Patterns of records with these marks, and the fields of one."""

    def __init__(self, given: Marks, file: Path) -> None:
        self._file = file
        self._marks = given
        s, q = re.escape(given.separator), re.escape(given.quote)
        skip = " *+" if given.skips else ""
        inner = f"(?:[^{q}]|{q}{q})*+"
        self.strict = re.compile(
            f"(?>{q}{inner}{q}|[^{q}{s}]*+)(?:{s}(?>{q}{inner}{q}|[^{q}{s}]*+))*+"
        )
        field = f"(?>{q}{inner}{q}|(?!{q})[^{s}]*+)"
        self._open = re.compile(f"(?:{skip}{field}{s})*+{skip}{q}{inner}")
        self._close = re.compile(f"{inner}{q}")
        self._field = re.compile(f"{skip}(?:{q}({inner}){q}|(?!{q})([^{s}]*+))({s}|\\Z)")
        self.any_text = f"(?>[^{q}{s}\r\n]++|{q}(?:[^{q}\r\n]|{q}{q})*+{q})"
        self.quoted_empty = re.compile(f"(?<![^{s}]){q}{q}(?![^{s}])")

    def is_open(self, line: str) -> bool:
        """Whether a quoted field goes on after this line, in which no field has begun before."""
        return self._open.fullmatch(line) is not None

    def stays_open(self, line: str) -> bool:
        """Whether a quoted field goes on after this line, in which one has begun before."""
        closed = self._close.match(line)
        if closed is None:
            return True
        rest = line[closed.end() :]
        return rest.startswith(self._marks.separator) and self.is_open(rest[1:])

    def fields(self, record: str, line: int) -> list[tuple[str, bool]]:
        """The fields of a record, and whether they are quoted.

        Raises:
            UsageError: something stands between the end of a quoted field and the separator.
        """
        fields: list[tuple[str, bool]] = []
        place = 0
        while True:
            match = self._field.match(record, place)
            if match is None:
                raise UsageError(
                    f"{self._file}, line {line}: text after the end of a quoted field",
                    hint="check --quote and --sep; a quote within a quoted field is written twice",
                )
            quoted, plain, separator = match.groups()
            if quoted is None:
                fields.append((plain, False))
            else:
                quote = self._marks.quote
                fields.append((quoted.replace(quote * 2, quote), True))
            if not separator:
                return fields
            place = match.end()
