"""Answers: estimates with sure bounds, error and likely range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pganon.frames import Frame, table


@dataclass(frozen=True)
class Estimates:
    """The answer to a query.

    For an aggregate `a` there are the columns `a` (the estimate), `a_lower` and `a_upper` (bounds
    that surely hold for the released records), `a_low` and `a_high` (the likely range) and
    `a_error` (the standard deviation that the model gives). Of min and max the estimate and the
    error are None unless the bounds meet. Behind them are `classes`, the number
    of groups of which the release does not say how many records match; `few`, whether so few of
    them matter that errors do not average out; and `maybe_empty`, whether no record may match. Of
    related tables there is `independent` where several things of a person are taken to be, such as
    two events. Rows of events have an estimate alone.

    Attributes:
        release, version: which version answered.
        columns: names, in order.
        keys, aggregates: those of the list, in order.
        rows: of one row per group.
        sql: the SELECT on the views of the release that was run.
    """

    release: str
    version: int
    columns: tuple[str, ...]
    keys: tuple[str, ...]
    aggregates: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    sql: str

    def to_frame(self) -> Frame:
        """A pandas frame with one row per group."""
        return table(self.columns, self.rows)

    def as_dicts(self) -> list[dict[str, Any]]:
        """One dict per group."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]
