"""Types that texts have, by how numbers and dates are written."""

from __future__ import annotations

import calendar
import datetime

import pytest

from pganon.errors import UsageError
from pganon.importing.form import Format
from pganon.importing.inference import ColumnType
from pganon.importing.kinds import DateOrder, Reading, kinds


def kind_of(values: list[str], reading: Reading) -> str:
    column = ColumnType(reading)
    for value in values:
        column.add_values({value})
    together = ColumnType(reading)
    together.add_values(set(values))
    assert together.name == column.name
    return column.name


@pytest.mark.parametrize(
    ("decimal", "thousands", "values", "kind"),
    [
        (",", None, ["1,5", "-,5", "+2,", "1e3", "7"], "numeric"),
        (",", None, ["1.5"], "text"),
        (",", ".", ["1.234", "12.345.678", "-1.000"], "integer"),
        (",", ".", ["1.234,56", "1234,5", "0,1"], "numeric"),
        (",", ".", ["9.223.372.036.854.775.807"], "bigint"),
        (",", ".", ["9.223.372.036.854.775.808"], "numeric"),
        (",", ".", ["2.147.483.648"], "bigint"),
        (",", ".", ["1.23"], "text"),
        (",", ".", ["0.123"], "text"),
        (",", ".", ["1234.567"], "text"),
        (",", ".", ["1.234.56"], "text"),
        (".", ",", ["1,234.5e2"], "numeric"),
        (".", "'", ["1'234.50", "1\u2019234"], "numeric"),
        (".", " ", ["1 234", "1\u00a0234", "1\u202f234", "1234"], "integer"),
        (".", " ", [" 1"], "text"),
        (".", "_", ["1_000"], "integer"),
        (".", None, ["1" * 5000], "text"),
        (".", None, ["9" * 999], "numeric"),
        (".", None, ["1\n2"], "text"),
    ],
)
def test_numbers(decimal: str, thousands: str | None, values: list[str], kind: str) -> None:
    assert kind_of(values, Reading("ymd", decimal, thousands)) == kind


@pytest.mark.parametrize(
    ("order", "pattern"),
    [("ymd", "{y:04}-{m:02}-{d:02}"), ("dmy", "{d}/{m}/{y:04}"), ("mdy", "{m}.{d:02}.{y:04}")],
)
def test_days_are_those_of_the_calendar(order: DateOrder, pattern: str) -> None:
    (date,) = (kind for kind in kinds(Reading(order)) if kind.name == "date")
    for year in (1, 4, 1900, 2000, 2020, 2023, 2100, 9999):
        for month in range(14):
            for day in range(33):
                real = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
                assert date.has([pattern.format(y=year, m=month, d=day)]) == real, (
                    year,
                    month,
                    day,
                )
    assert not date.has([pattern.format(y=0, m=1, d=1)])
    assert date.has(
        [pattern.format(y=day.year, m=day.month, d=day.day) for day in [datetime.date.today()]]
    )


@pytest.mark.parametrize(
    ("order", "values", "kind"),
    [
        ("dmy", ["31.12.2019 23:59", "1.2.2020 7:05:06.123456"], "timestamp"),
        ("mdy", ["12/31/2019 11:59 PM", "1/2/2020 7:05:06 am"], "timestamp"),
        ("dmy", ["31.12.2019 23:59Z", "1.2.2020 10:00 +0530"], "timestamptz"),
        ("dmy", ["31.12.2019 24:00"], "text"),
        ("dmy", ["31.12.2019 13:00 PM"], "text"),
        ("dmy", ["31.12.2019", "31.12.2019 10:00"], "text"),
        ("ymd", ["31.12.2019 10:00"], "text"),
    ],
)
def test_date_times(order: DateOrder, values: list[str], kind: str) -> None:
    assert kind_of(values, Reading(order)) == kind


def test_an_earlier_value_is_not_forgotten() -> None:
    column = ColumnType(Reading())
    for part in ({"1", "2"}, set(), {"3000000000"}, {"1"}, {"1.5"}):
        column.add_values(part)
    assert column.name == "numeric"
    column.add_values({"t"})
    assert column.name == "text"
    column.add_values({"1"})
    assert column.name == "text"


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"decimal": ",", "thousands": ","}, "cannot mark both"),
        ({"thousands": "."}, "cannot mark both"),
        ({"decimal": ";"}, "must be a point or a comma"),
        ({"thousands": "5"}, "between thousands must be"),
        ({"thousands": "ab"}, "between thousands must be"),
    ],
)
def test_marks_that_cannot_be(form: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        Format(**form).check()  # type: ignore[arg-type]
    assert caught.value.hint
