"""Declared domains of a policy against the types of their columns."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator
from decimal import Decimal

from pganon.catalog.model import Column
from pganon.identifiers import quote
from pganon.policy.domains import Domain, ValueSet
from pganon.policy.refusals import Refusal, show
from pganon.policy.values import Unreadable, bound, misread, readable


def domain_refusals(column: Column, domain: Domain, *, categorical: bool) -> Iterator[Refusal]:
    """Refusals of a domain that does not fit its column; places are below that of the domain."""
    if not isinstance(domain, ValueSet):
        yield from type_refusals(column, domain)
    elif categorical:
        yield from _listed_refusals(column, domain.values, ("values",))
    else:
        yield Refusal(
            (),
            f"column {quote(column.name)} is {column.type_name}; a domain of listed values is for"
            " categories",
            "write the lowest and the highest value, domain: [0, 120], or add type: categorical",
        )


def order_refusals(column: Column, order: tuple[str, ...]) -> Iterator[Refusal]:
    """Refusals of the order of a column's values; places are below that of the order."""
    return _listed_refusals(column, order, ())


def order_of(column: Column, order: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """The values of an order, each in the one text that :func:`pganon.catalog.values.order_label`
    gives to all spellings of it: 1.00 is 1."""
    return None if order is None else tuple(_spelled(column, text) for text in order)


def _spelled(column: Column, text: str) -> str:
    try:
        value = readable(column, text)
    except Unreadable:
        return text  # it is refused
    match value:
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value.normalize():f}" if value else "0"
        case _ if column.is_number:
            return _NOT_FINITE[text.strip().lower()]
        case _:
            return text


_NOT_FINITE = {
    "nan": "NaN",
    **{f"{sign}{word}": "Infinity" for sign in ("", "+") for word in ("inf", "infinity")},
    **{f"-{word}": "-Infinity" for word in ("inf", "infinity")},
}


def _listed_refusals(
    column: Column, values: tuple[str, ...], place: tuple[str | int, ...]
) -> Iterator[Refusal]:
    """Values that are none of the column's type, or that equal another one of the list."""
    seen: dict[object, str] = {}
    for at, text in enumerate(values):
        try:
            value = _value(column, text)
        except Unreadable as wanted:
            yield Refusal((*place, at), misread(column, text, wanted))
            continue
        if value in seen:
            same = "" if seen[value] == text else f": {show(seen[value])} is the same value"
            message = f"{show(text)} stands in the list twice{same}"
            yield Refusal((*place, at), message, "keep one")
        seen.setdefault(value, text)


def _value(column: Column, text: str) -> object:
    """The value that a text stands for, as equal as the database would find it.

    Raises:
        Unreadable: it is no value of the column's type.
    """
    if column.kind in ("timestamp", "timestamptz"):
        _check(column, text)
        return bound(text)
    if column.kind == "uuid":
        try:
            return uuid.UUID(text)
        except ValueError:
            raise Unreadable("a uuid") from None
    value = readable(column, text)
    return text if value is None else value


def type_refusals(column: Column, domain: tuple[str, str]) -> Iterator[Refusal]:
    """Refusals of a span that the column's type does not allow; places are below the domain's."""
    if not (column.is_number or column.is_time):
        yield Refusal(
            (),
            f"column {quote(column.name)} is {column.type_name}; a domain is for numbers, dates"
            " and timestamps",
            "remove domain",
        )
        return
    for at, text in enumerate(domain):
        try:
            _check(column, text)
        except Unreadable as wanted:
            yield Refusal((at,), misread(column, text, wanted))


def _check(column: Column, text: str) -> None:
    if column.kind not in ("timestamp", "timestamptz"):
        readable(column, text)
        return
    value = bound(text)
    if not isinstance(value, datetime.date):
        raise Unreadable("a timestamp like 2020-01-31 13:00")
    # The server would ignore the zone, and mean another moment.
    zone = isinstance(value, datetime.datetime) and value.tzinfo is not None
    if zone and column.kind == "timestamp":
        raise Unreadable("a timestamp without time zone like 2020-01-31 13:00")
