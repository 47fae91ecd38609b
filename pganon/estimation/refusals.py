"""Queries that are refused: reason, place in the text, and what to write instead."""

from __future__ import annotations

from sqlglot import exp

from pganon.error_codes import ErrorCode
from pganon.errors import EXIT_USAGE, PganonError


class EstimateRefused(PganonError):
    """The query cannot be estimated from the release."""

    exit_code = EXIT_USAGE
    code = ErrorCode.ESTIMATE


class Unsupported(Exception):
    """A query that cannot be estimated, before its text is at hand.

    Attributes:
        node: the part of the query at fault; None where there is none.
    """

    def __init__(self, message: str, node: exp.Expr | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.node = node
        self.hint = hint

    def in_text(self, text: str) -> EstimateRefused:
        """The error with line and column, both from 1, of the part at fault."""
        start = _start(self.node) if self.node is not None else None
        if start is None:
            return EstimateRefused(self.message, hint=self.hint)
        return EstimateRefused(f"{place(text, start)}: {self.message}", hint=self.hint)


def place(text: str, start: int) -> str:
    before = text[:start]
    return f"line {before.count(chr(10)) + 1}, column {start - before.rfind(chr(10))}"


def _start(node: exp.Expr) -> int | None:
    """Offset of the first token of a part that the parser has kept."""
    starts = [part.meta["start"] for part in node.walk() if "start" in part.meta]
    return min(starts, default=None)
