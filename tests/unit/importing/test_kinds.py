"""Types that texts have, by how numbers and dates are written."""

from __future__ import annotations

import calendar
import datetime
import decimal
import re

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import UsageError
from pganon.importing import kinds
from pganon.importing.form import DateOrder, Format
from pganon.importing.kinds import Inference


def kind_of(values: list[str], form: Format) -> str:
    """The type, whether texts come one by one or together, beside columns of other types."""
    one, together = Inference(1), Inference(3)
    for value in values:
        one.add({0: pa.array([value])})
    together.add({0: pa.array(["y"]), 1: pa.array(values), 2: pa.array(["1"])})
    kind = kinds.kind_of(together.columns[1], form)
    assert kinds.kind_of(one.columns[0], form) == kind
    assert [kinds.kind_of(together.columns[n], form) for n in (0, 2)] == ["text", "integer"]
    return kind


@pytest.mark.parametrize(
    ("decimal", "thousands", "values", "kind"),
    [
        (",", None, ["1,5", "-,5", "+2,", "7"], "numeric"),
        (",", None, ["1.5"], "text"),
        (",", ".", ["1.234", "12.345.678", "-1.000"], "integer"),
        (",", ".", ["1.234,56", "1234,5", "0,1"], "numeric"),
        (",", ".", ["223.372.036.854.775.807"], "bigint"),
        (",", ".", ["9.223.372.036.854.775.808"], "numeric"),
        (",", ".", ["2.147.483.648"], "bigint"),
        (",", ".", ["1.23"], "text"),
        (",", ".", ["0.123"], "text"),
        (",", ".", ["1234.567"], "text"),
        (",", ".", ["1.234.56"], "text"),
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
    assert kind_of(values, Format(decimal=decimal, thousands=thousands)) == kind


@pytest.mark.parametrize(
    ("order", "pattern"),
    [("ymd", "{y:04}-{m:02}-{d:02}"), ("dmy", "{d}/{m}/{y:04}"), ("mdy", "{m}.{d:02}.{y:04}")],
)
@pytest.mark.slow
def test_days_are_those_of_the_calendar(order: DateOrder, pattern: str) -> None:
    def is_date(year: int, month: int, day: int) -> bool:
        text = pattern.format(y=year, m=month, d=day)
        return kind_of([text], Format(dates=order)) == "date"

    for year in (1, 1900, 2000, 2023, 9999):
        for month in (0, 1, 2, 4, 12, 13):
            for day in (0, 1, 28, 29, 30, 31, 32):
                real = 1 <= month <= 12 and 1 <= day <= calendar.monthrange(year, month)[1]
                assert is_date(year, month, day) == real, (year, month, day)
    assert not is_date(0, 1, 1)
    today = datetime.date.today()
    assert is_date(today.year, today.month, today.day)


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
    assert kind_of(values, Format(dates=order)) == kind


def test_an_earlier_value_is_not_forgotten() -> None:
    inference = Inference(1)
    found: list[str] = []
    for part in (["1", "2"], [], ["3000000000"], ["1"], ["1.5"], ["t"], ["1"]):
        inference.add({0: pa.array(part, pa.string())})
        found.append(kinds.kind_of(inference.columns[0], Format()))
    assert found == ["integer", "integer", "bigint", "bigint", "numeric", "text", "text"]


@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=False, allow_infinity=False).map(repr),
            st.integers(-(10**20), 10**20).map(str),
            st.from_regex(r"-?[0-9]{1,3}([.][0-9]{0,3})?(e[+-][0-9]{2})?", fullmatch=True),
        ),
        min_size=1,
        max_size=4,
    )
)
@pytest.mark.slow
def test_numbers_give_their_texts_back(values: list[str]) -> None:
    """Apart from a `.0`, which double precision does not write."""
    kind = kind_of(values, Format())
    for value in values:
        if kind in ("integer", "bigint"):
            assert str(int(value)) == value
            assert abs(int(value)) < (2**31 if kind == "integer" else 2**63)
        elif kind == "numeric":
            assert f"{decimal.Decimal(value):f}" == value
        elif kind == "double precision":
            assert float8(value) == value.removesuffix(".0")


def float8(text: str) -> str:
    """As the server writes it: the fewest digits that give the number back, with an exponent
    below 1e-04 and from 1e+15 on."""
    number = float(text)
    # Of the shortest text: `.15e` of the number rounds the half in 2 ** -24 to another number.
    shortest = decimal.Decimal(repr(number)).normalize()
    shown = re.sub(
        r"e([+-])(\d)$", r"e\g<1>0\2", f"{shortest:.{len(shortest.as_tuple().digits) - 1}e}"
    )
    exponent = int(shown.split("e")[1])
    if number and not -4 <= exponent < 15:
        return shown
    return f"{decimal.Decimal(shown):f}"


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
        Format(**form).check("text")  # type: ignore[arg-type]
    assert caught.value.hint
