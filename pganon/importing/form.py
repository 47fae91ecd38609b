"""What is said of a file to import: how it is written, and what of it is wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

from pganon.errors import UsageError

EXTRA = "pip install 'pganon[files]'"

DateOrder = Literal["ymd", "dmy", "mdy"]
"""Order of year, month and day in a date. `ymd` is ISO 8601; the others have the year last, and
`.`, `/` or `-` between numbers that may lack a leading zero."""

THOUSANDS: Mapping[str, str] = {
    mark: marks for marks in (".", ",", "_", "'\u2019", " \u00a0\u2009\u202f") for mark in marks
}
"""Mark between groups of three digits, and the characters that are written for it."""


ANY = frozenset({"text", "workbook", "statistics", "columns"})
"""Kinds of files: texts with separators; workbooks; files of Stata, SPSS and SAS; Parquet and
Arrow."""
_TEXT, _SHEET = frozenset({"text"}), frozenset({"text", "workbook"})


@dataclass(frozen=True)
class Format:
    """How the file is written. `files` of a field says for which kinds it can be given.

    Attributes:
        header: the first line names the columns.
        header_row: number of the line or row that does, from 1; those before it are passed over.
        names: names to use; with a header they replace it.
        columns: the columns that are wanted, by the names that the table gets; None: all.
        types: SQL types of columns, by these names; others are inferred.
        text: nothing is inferred, all texts stay texts.
        sheet: the one of a workbook.
        labels: whether labels take the place of codes, where all codes have different ones.
        separator: one character of ASCII. None: what a first line `sep=;` says; else a comma, but
            not if that makes one column of what another separator would divide.
        nulls: texts that mean NULL where they are not quoted.
        force_null: they mean NULL where they are quoted, too, as with FORCE_NULL of COPY.
        quote: the quoting character, of ASCII.
        encoding: a Python codec; None: UTF-8, or UTF-16 if a byte order mark says so.
        lower: names of the header in lower case, which SQL need not quote.
        dates: order of the parts of dates and date-times.
        decimal: the mark before the decimals of a number, "." or ",".
        thousands: the mark between groups of three digits; None: there is none.
    """

    header: bool = field(default=True, metadata={"files": _SHEET})
    header_row: int | None = field(default=None, metadata={"files": _SHEET})
    names: Sequence[str] | None = None
    columns: Sequence[str] | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    text: bool = field(default=False, metadata={"files": _SHEET})
    sheet: str | None = field(default=None, metadata={"files": frozenset({"workbook"})})
    labels: bool = field(default=True, metadata={"files": frozenset({"statistics"})})
    separator: str | None = field(default=None, metadata={"files": _TEXT})
    nulls: Sequence[str] = field(default=("",), metadata={"files": _SHEET})
    force_null: bool = field(default=False, metadata={"files": _TEXT})
    quote: str = field(default='"', metadata={"files": _TEXT})
    encoding: str | None = field(
        default=None, metadata={"files": frozenset({"text", "statistics"})}
    )
    lower: bool = False
    dates: DateOrder = field(default="ymd", metadata={"files": _SHEET})
    decimal: str = field(default=".", metadata={"files": _SHEET})
    thousands: str | None = field(default=None, metadata={"files": _SHEET})

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as the server writes them."""
        return self.decimal == "." and self.thousands is None

    def check(self, kind: str) -> None:
        """Refuse what contradicts itself, or says something of a file of another kind.

        Raises:
            UsageError: names the option.
        """
        plain = Format()
        for given in fields(self):
            differs = getattr(self, given.name) != getattr(plain, given.name)
            if differs and kind not in given.metadata.get("files", ANY):
                raise UsageError(
                    f"--{_OPTIONS.get(given.name, given.name.replace('_', '-'))} says nothing of"
                    " a file of this kind, whose columns have types or names of their own",
                    hint="leave it out",
                )
        for name, mark in (("separator", self.separator), ("quote", self.quote)):
            if mark is not None and (len(mark) != 1 or not mark.isascii() or mark in "\r\n\0"):
                raise UsageError(
                    f"the {name} must be one character of ASCII",
                    hint="--sep ',' or --sep tab; blanks after separators are part of a field",
                )
        if self.header_row is not None and self.header_row < 1:
            raise UsageError("rows are counted from 1", hint="--header-row 2")
        if self.decimal not in (".", ","):
            raise UsageError("the decimal mark must be a point or a comma", hint="--decimal ,")
        if self.thousands is not None and self.thousands not in THOUSANDS:
            raise UsageError(
                "the mark between thousands must be a point, a comma, a blank, an apostrophe or _",
                hint="--decimal , --thousands .",
            )
        if self.thousands == self.decimal:
            raise UsageError(
                f"'{self.decimal}' cannot mark both the decimals and the thousands",
                hint="--decimal , --thousands . for 1.234,5; --thousands , for 1,234.5",
            )


_OPTIONS = {"header": "no-header", "separator": "sep", "nulls": "null"}
