"""Work counted in calls, which a busy machine does not change; seconds belong in benchmarks."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar
from unittest import mock

import psycopg

from pganon import database

T = TypeVar("T")

_LINE = re.compile(r"([FB])\t\d+\t(\w+)(.*)", re.DOTALL)
_MADE = re.compile(r"CREATE (?:UNLOGGED )?TABLE")


def calls(act: Callable[[], T]) -> tuple[T, int]:
    """What `act` gives, and the calls of functions that it took.

    A call into C counts once, however long the array that it works on.
    """
    counted = 0
    before = sys.getprofile()

    def count(frame: FrameType, event: str, arg: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        result = act()
    finally:
        sys.setprofile(before)
    return result, counted


@dataclass(frozen=True)
class Sent:
    """What sessions of pganon asked of the server.

    Attributes:
        messages: that were waited for, each a way to the server and back.
        statements: that the server carried out.
        tables: that were created.
    """

    messages: int
    statements: int
    tables: int


def sent(act: Callable[[], T]) -> tuple[T, Sent]:
    """What `act` gives, and what it sent on connections that it opened, as libpq traced it."""
    opened: list[psycopg.Connection[Any]] = []
    opening = database._open
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as file:

        def traced(*arguments: Any) -> psycopg.Connection[Any]:
            conn = opening(*arguments)
            conn.pgconn.trace(file.fileno())
            conn.pgconn.set_trace_flags(psycopg.pq.Trace.SUPPRESS_TIMESTAMPS)
            opened.append(conn)
            return conn

        with mock.patch.object(database, "_open", traced):
            result = act()
        for conn in opened:
            if not conn.closed:
                conn.pgconn.untrace()
        file.seek(0)
        lines = [match.groups() for line in file if (match := _LINE.match(line))]
    return result, Sent(
        messages=sum(line[:2] in (("F", "Query"), ("F", "Sync")) for line in lines),
        statements=sum(line[:2] == ("B", "CommandComplete") for line in lines),
        tables=sum(
            len(_MADE.findall(text))
            for by, kind, text in lines
            if by == "F" and kind in ("Query", "Parse")
        ),
    )
