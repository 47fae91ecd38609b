"""Values of a policy that a column of the source cannot have, as far as a type alone says so.

The language of PostgreSQL 14: hexadecimal and grouped digits are no numbers. Types that are not
listed, and checks of domains, are left to the server.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from decimal import Decimal

from pganon.catalog.model import Column

Comparable = Decimal | datetime.date | bool

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_NOT_FINITE = ("nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_PRECISION = re.compile(r"numeric\(([0-9]+),(-?[0-9]+)\)")
_BITS = {"smallint": 15, "integer": 31, "bigint": 63}
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class Unreadable(ValueError):
    """A text is no value of a type; the message says what one would be."""


def readable(column: Column, text: str) -> Comparable | None:
    """The value that a text stands for; None if only the server can tell.

    Raises:
        Unreadable: the server could not read it as a value of the column's type.
    """
    reader = _READERS.get(column.kind)
    return reader(column, text.strip(" \t\n\r\f\v")) if reader else None


def _whole(column: Column, text: str) -> Decimal:
    if not _WHOLE.fullmatch(text):
        raise Unreadable("a whole number")
    bits = _BITS.get(column.base, 63)
    value = Decimal(text)
    if not -(2**bits) <= value < 2**bits:
        raise Unreadable(f"within the range of {column.base}")
    return value


def _number(column: Column, text: str) -> Decimal | None:
    if text.lower() in _NOT_FINITE:
        return None
    if not _NUMBER.fullmatch(text):
        raise Unreadable("a number")
    value = Decimal(text)
    if (limits := _PRECISION.fullmatch(column.base)) is not None:
        precision, scale = map(int, limits.groups())
        if abs(value) >= Decimal(10) ** (precision - scale):
            raise Unreadable(f"within the range of {column.base}")
    return value


def _date(column: Column, text: str) -> datetime.date | None:
    # Words such as `today` change their meaning, and 01/02/2020 means what a setting says.
    if text.lower() in ("infinity", "-infinity"):
        return None
    try:
        if _DATE.fullmatch(text):
            return datetime.date.fromisoformat(text)
    except ValueError:
        pass
    raise Unreadable("a date like 2020-01-31")


def _boolean(column: Column, text: str) -> bool:
    """Beginnings of the words count, where they are of one word."""
    word = text.lower()
    meant = {
        value
        for value, words in ((True, _TRUE), (False, _FALSE))
        for known in words
        if word and known.startswith(word)
    }
    if len(meant) != 1:
        raise Unreadable("true or false")
    return meant.pop()


_READERS: dict[str, Callable[[Column, str], Comparable | None]] = {
    "integer": _whole,
    "numeric": _number,
    "float": _number,
    "date": _date,
    "boolean": _boolean,
}
