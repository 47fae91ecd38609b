"""Format of a file to import: separators, words for NULL, how numbers and dates are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pganon.errors import UsageError
from pganon.importing.kinds import SEPARATORS_OF_THOUSANDS, DateOrder, Reading


@dataclass(frozen=True)
class Format:
    """How the file is written.

    Attributes:
        header: the first line names the columns.
        names: names to use; with a header they replace it.
        separator: one character, or one followed by blanks that are skipped (", "). None: what a
            first line `sep=;` says; else a comma, but not if that makes one column of what
            another separator would divide.
        nulls: texts that mean NULL where they are not quoted.
        force_null: they mean NULL where they are quoted, too, as with FORCE_NULL of COPY.
        quote: the quoting character.
        encoding: a Python codec; None: UTF-8, or UTF-16 if a byte order mark says so.
        lower: names of the header in lower case, which SQL need not quote.
        dates: order of the parts of dates and date-times.
        decimal: the mark before the decimals of a number, "." or ",".
        thousands: the mark between groups of three digits; None: there is none.
    """

    header: bool = True
    names: Sequence[str] | None = None
    separator: str | None = None
    nulls: Sequence[str] = ("",)
    force_null: bool = False
    quote: str = '"'
    encoding: str | None = None
    lower: bool = False
    dates: DateOrder = "ymd"
    decimal: str = "."
    thousands: str | None = None

    @property
    def reading(self) -> Reading:
        return Reading(self.dates, self.decimal, self.thousands)

    def check(self) -> None:
        """Refuse what contradicts itself.

        Raises:
            UsageError: the quote is no character, or one of the marks of numbers is none.
        """
        if len(self.quote) != 1 or self.quote in "\r\n\0":
            raise UsageError("the quote must be one character other than the separator")
        if self.decimal not in (".", ","):
            raise UsageError("the decimal mark must be a point or a comma", hint="--decimal ,")
        if self.thousands is None:
            return
        if self.thousands not in SEPARATORS_OF_THOUSANDS:
            raise UsageError(
                "the mark between thousands must be a point, a comma, a blank, an apostrophe or _",
                hint="--decimal , --thousands .",
            )
        if self.thousands == self.decimal:
            raise UsageError(
                f"'{self.decimal}' cannot mark both the decimals and the thousands",
                hint="--decimal , --thousands . for 1.234,5; --thousands , for 1,234.5",
            )


@dataclass(frozen=True)
class Marks:
    """Characters that divide a file into records and fields.

    Attributes:
        separator: one character.
        quote: one character.
        skips: whether blanks after a separator are skipped.
    """

    separator: str
    quote: str
    skips: bool


def marks(separator: str, quote: str) -> Marks:
    """The separator of fields, from the options.

    Raises:
        UsageError: not one character, or the same twice.
    """
    text = {"\\t": "\t", "tab": "\t"}.get(separator, separator)
    mark = text.rstrip(" ") or text[:1]
    if len(mark) != 1 or mark in "\r\n\0":
        raise UsageError(
            "the separator must be one character, or one followed by blanks",
            hint="--sep ',' or --sep ', ' or --sep '\\t'",
        )
    if quote == mark:
        raise UsageError("the quote must be one character other than the separator")
    return Marks(mark, quote, text != mark)
