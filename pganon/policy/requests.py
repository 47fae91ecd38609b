"""Who may ask for a release, when it is made of itself, and who must agree before it is shown."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError
from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pganon.policy.hierarchies import Declaration
from pganon.policy.labels import Name, no_repeats, read_by, roles_alone
from pganon.policy.refusals import Refusal, refuse, refuse_one, show

_DURATION = re.compile(r"([1-9][0-9]{0,5})(s|min|h|d)")
_UNITS = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days"}


def duration(text: str) -> timedelta:
    """A number with its unit: `30s`, `15min`, `12h`, `30d`."""
    match = _DURATION.fullmatch(text)
    if match is None:
        refuse_one(
            f"{show(text)} is not a duration",
            suggestion="write 30s, 15min, 12h or 30d: number and unit",
        )
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


Duration = Annotated[str, read_by(duration)]


def day(text: str) -> date:
    """A day as ISO 8601 writes it: 2027-06-30."""
    try:
        if re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return date.fromisoformat(text)
    except ValueError:
        pass
    refuse_one(f"{show(text)} is not a day", suggestion="write it like 2027-06-30")


def _schedule(text: str) -> None:
    try:
        next_time(text, "UTC", datetime(2024, 1, 1, tzinfo=UTC))
    except ScheduleProblem as problem:
        refuse_one(str(problem), suggestion='five fields as cron has them, such as "0 3 * * 1"')


def _zone(name: str) -> None:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        refuse_one(
            f"{show(name)} is not a time zone", suggestion="a name such as Europe/Berlin or UTC"
        )


Day = Annotated[str, read_by(day)]
Expression = Annotated[str, Field(max_length=100), read_by(_schedule)]
TimeZone = Annotated[str, Field(max_length=100), read_by(_zone)]

Value = int | float | str
"""A parameter is a number, or a day as a text."""


def _value(value: object) -> object:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        refuse_one("must be a number, or a day such as 2027-06-30")
    if isinstance(value, str):
        day(value)
    return value


Bounded = Annotated[Value, BeforeValidator(_value)]


class Parameter(Declaration):
    """Parameter that a request may choose, with its bounds; `default` where it does not."""

    min: Bounded
    max: Bounded
    default: Bounded | None = None

    @model_validator(mode="after")
    def _in_order(self) -> Parameter:
        if isinstance(self.min, str) != isinstance(self.max, str):
            refuse_one("min and max must both be numbers, or both days")
        if self.min > self.max:  # pyright: ignore[reportOperatorIssue]
            refuse_one(f"min {show(self.min)} is above max {show(self.max)}")
        if self.default is not None and not self.takes(self.default):
            refuse([Refusal(("default",), "is outside of min and max")])
        return self

    def takes(self, value: object) -> bool:
        """Whether it is of the type of the bounds and between them."""
        if isinstance(value, bool) or isinstance(value, str) != isinstance(self.min, str):
            return False
        return isinstance(value, int | float | str) and self.min <= value <= self.max  # pyright: ignore[reportOperatorIssue]


class Requests(Declaration):
    """Who may ask for the release in SQL, with which parameters, and how often."""

    roles: Annotated[
        tuple[Name, ...], Field(strict=False, min_length=1), AfterValidator(no_repeats)
    ]
    parameters: dict[Name, Parameter] = Field(default_factory=dict)
    max_per_day: Annotated[int, Field(ge=1, le=100_000)] | None = None
    max_refused_per_day: Annotated[int, Field(ge=1, le=1000)] = 3
    min_interval: Duration | None = None
    on_change: Literal["run", "fail"] = "fail"


class Approval(Declaration):
    """Whose agreement a verified release needs before it is shown, and how long it waits for it."""

    by: Annotated[tuple[Name, ...], Field(strict=False, min_length=1), AfterValidator(roles_alone)]
    expires: Duration = "30d"


def parameter_of(value: Any) -> Parameter | None:
    """A declared parameter, or None for what is none."""
    from pydantic import ValidationError

    try:
        return Parameter.model_validate(value)
    except ValidationError:
        return None


# Times of a schedule: five fields as cron has them, in a time zone.
#
# Day of the month and day of the week are alternatives where both are restricted. A time that the
# clock skips in spring is the one right after the gap, and one that it repeats in autumn comes
# once.

FIELDS = 5


class ScheduleProblem(ValueError):
    """The expression is none; the message says why."""


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
