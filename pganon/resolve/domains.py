"""Declared domains of a policy against the types of their columns."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from pganon.catalog.model import Column
from pganon.identifiers import quote
from pganon.policy.refusals import Refusal
from pganon.policy.values import Unreadable, bound, misread, readable


def type_refusals(column: Column, domain: tuple[str, str]) -> Iterator[Refusal]:
    """What the type of a column has against its domain; places are below that of the domain."""
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
