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
from pganon.identifiers import quote
from pganon.policy.refusals import show

Comparable = Decimal | datetime.date | bool
Bound = Decimal | datetime.date | datetime.datetime

_WHOLE = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = r"[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?"
_MOMENT = re.compile(rf"{_DATE.pattern}[ T]{_TIME}(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)?")
_NOT_FINITE = ("nan", "inf", "+inf", "-inf", "infinity", "+infinity", "-infinity")
_PRECISION = re.compile(r"numeric\(([0-9]+),(-?[0-9]+)\)")
_BITS = {"smallint": 15, "integer": 31, "bigint": 63}
_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


class Unreadable(ValueError):
    """A text is not a value of a type; the message describes a valid one."""


def readable(column: Column, text: str) -> Comparable | None:
    """The value that a text denotes; None if only the server can decide.

    Raises:
        Unreadable: the server could not read it as a value of the column's type.
    """
    if column.kind == "enum":
        if text not in column.labels:
            raise Unreadable(f"a label of {column.base}")
        return Decimal(column.labels.index(text))
    reader = _READERS.get(column.kind)
    return reader(column, text.strip(" \t\n\r\f\v")) if reader else None


def reading(column: Column, text: str) -> Comparable | str | None:
    """As :func:`readable`, but returns the problem of the text instead of raising an error."""
    try:
        return readable(column, text)
    except Unreadable as wanted:
        return misread(column, text, wanted)


def misread(column: Column, text: str, wanted: Unreadable) -> str:
    return f"column {quote(column.name)} is {column.type_name}; {show(text)} is not {wanted}"


def bound(text: str) -> Bound:
    """The finite number, the date or the timestamp (ISO 8601) that a text denotes.

    Raises:
        Unreadable: it denotes none.
    """
    if _NUMBER.fullmatch(text):
        return Decimal(text)
    try:
        if _DATE.fullmatch(text):
            return datetime.date.fromisoformat(text)
        if _MOMENT.fullmatch(text):
            return datetime.datetime.fromisoformat(text)
    except ValueError:
        pass
    raise Unreadable("a number, a date or a timestamp")


def on_one_line(low: Bound, high: Bound) -> tuple[Bound, Bound]:
    """Both in comparable form: a date is its first moment, a time without zone is in UTC.

    Raises:
        Unreadable: one is a number and the other is not.
    """
    if isinstance(low, Decimal) != isinstance(high, Decimal):
        raise Unreadable("of the same type")
    return _moment(low), _moment(high)


def _moment(value: Bound) -> Bound:
    if isinstance(value, Decimal):
        return value
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime.combine(value, datetime.time.min)
    return value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)


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
