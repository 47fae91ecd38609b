"""Declared domains of a policy against the types of their columns."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Iterator

from pganon.catalog.model import Column
from pganon.identifiers import quote
from pganon.policy.domains import Domain, ValueSet
from pganon.policy.refusals import Refusal, show
from pganon.policy.values import Unreadable, bound, misread, readable


def domain_refusals(column: Column, domain: Domain, *, categorical: bool) -> Iterator[Refusal]:
    """Refusals of a domain that does not fit its column; places are below that of the domain."""
    if isinstance(domain, ValueSet):
        return _value_refusals(column, domain.values, categorical=categorical)
    return type_refusals(column, domain)


def _value_refusals(
    column: Column, values: tuple[str, ...], *, categorical: bool
) -> Iterator[Refusal]:
    if not categorical:
        yield Refusal(
            (),
            f"column {quote(column.name)} is {column.type_name}; a domain of listed values is for"
            " categories",
            "write the lowest and the highest value, domain: [0, 120], or add type: categorical",
        )
        return
    seen: set[object] = set()
    for at, text in enumerate(values):
        try:
            value = _value(column, text)
        except Unreadable as wanted:
            yield Refusal(("values", at), misread(column, text, wanted))
            continue
        if value in seen:
            yield Refusal(("values", at), f"{show(text)} stands in the list twice", "keep one")
        seen.add(value)


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
