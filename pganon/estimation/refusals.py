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
        parts = [] if self.node is None else list(self.node.walk())
        starts = [part.meta["start"] for part in parts if "start" in part.meta]
        if not starts:
            return EstimateRefused(self.message, hint=self.hint)
        before = text[: min(starts)]
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        return EstimateRefused(f"line {line}, column {column}: {self.message}", hint=self.hint)
