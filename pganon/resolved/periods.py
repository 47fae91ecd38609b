"""Periods of events: which rows a run publishes, by the day of their time."""

from __future__ import annotations

from pganon.steps import State
from pganon.steps.facts import count, label, or_null

START = or_null(label("period_start"))
"""The first day of the period that a run adds to groups that there are; None: it adds none."""

END = label("period_end", assumed="2000-01-01")
"""The day before which rows are published."""

PERIOD = label("period", assumed="before 2000-01-01")
"""What views call the period."""

TIMED_ROWS = count("timed_rows", assumed=0)
"""Rows of tables with periods that the people of a run have in them."""

LATE = count("late_rows", assumed=0)
"""Rows more than that which earlier people have in periods that were published."""

LEFT_OUT = count("left_out_groups", assumed=0)
"""Groups that a run leaves out of a period."""


def closes(state: State) -> bool:
    """Whether a period has ended since the newest version, which a run adds before new people."""
    return state.facts.get(START) is not None
