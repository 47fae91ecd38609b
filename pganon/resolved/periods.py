"""Periods of events: which rows a run publishes, by the day of their time."""

from __future__ import annotations

from datetime import date

from pganon.resolved.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.facts import count, label

BOUNDARY = label("boundary", assumed="2000-01-01")
"""The first day of the period that is not over when a run begins."""

TIMED_ROWS = count("timed_rows", assumed=0)
"""Rows of tables with periods that the people of a run have in them."""

LATE = count("late_rows", assumed=0)
"""Rows more than that which earlier people have in periods that were published."""

LEFT_OUT = count("left_out_groups", assumed=0)
"""Groups that a run leaves out of a period."""

_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def closes(spec: ReleaseSpec, state: State) -> bool:
    """Whether a period has ended since the newest version, which a run adds before new people."""
    if spec.growth is None or spec.growth.until is None or state.facts.get(BOUNDARY) is None:
        return False
    return spec.growth.until < state[BOUNDARY]


def window(spec: ReleaseSpec, state: State) -> tuple[str | None, str]:
    """The first day of the period that a run adds, and the day after; None: all before."""
    assert spec.related is not None
    if not closes(spec, state):
        return None, state[BOUNDARY]
    assert spec.growth is not None
    assert spec.growth.until is not None
    start, step = date.fromisoformat(spec.growth.until), _MONTHS[spec.related.every or "year"]
    months = ((start.year * 12 + start.month - 1) // step + 1) * step
    return str(start), str(date(months // 12, months % 12 + 1, 1))


def period_of(spec: ReleaseSpec, state: State) -> str | None:
    """The period that a run adds, if it does."""
    return told(spec, state) if closes(spec, state) else None


def told(spec: ReleaseSpec, state: State) -> str:
    """What views call the period."""
    start, end = window(spec, state)
    if start is None:
        return f"before {end}"
    year, month = start[:4], int(start[5:7])
    every = spec.related.every if spec.related else None
    return {"year": year, "quarter": f"{year}-Q{month // 3 + 1}"}.get(every or "", start[:7])
