"""Times of a schedule: five fields as cron has them, in a time zone.

Day of the month and day of the week are alternatives where both are restricted. A time that the
clock skips in spring is the one right after the gap, and one that it repeats in autumn comes once.
"""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

FIELDS = 5


class ScheduleProblem(ValueError):
    """The expression is none; the message says why."""


def check_expression(expression: str) -> None:
    """Refuse what is not a schedule, or never comes.

    Raises:
        ScheduleProblem: the field at fault.
    """
    next_time(expression, "UTC", datetime(2024, 1, 1, tzinfo=UTC))


def next_time(expression: str, time_zone: str, after: datetime) -> datetime:
    """The first time of a schedule after a moment, in UTC.

    Raises:
        ScheduleProblem: the expression is none.
    """
    fields = expression.split()
    if len(fields) != FIELDS:
        raise ScheduleProblem(f"a schedule has {FIELDS} fields, not {len(fields)}")
    try:
        next_one = next(CronSim(expression, after.astimezone(ZoneInfo(time_zone))))
    except CronSimError as error:
        raise ScheduleProblem(str(error)) from None
    except StopIteration:
        raise ScheduleProblem("the time never comes") from None
    return next_one.astimezone(UTC)
