"""Types that texts can have, as patterns over the texts, and as SQL that makes values of them.

Types are tried from narrow to wide: boolean, integer, bigint, numeric, date, timestamp,
timestamptz, else text. Only texts that the type gives back unchanged in meaning count: "00123"
is a code, not a number, and 1/2/2020 says nothing about what is day and month.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

DateOrder = Literal["ymd", "dmy", "mdy"]
"""Order of year, month and day in a date. `ymd` is ISO 8601; the others have the year last, and
`.`, `/` or `-` between numbers that may lack a leading zero."""

SEPARATORS_OF_THOUSANDS: Mapping[str, str] = {
    ".": ".",
    ",": ",",
    "_": "_",
    "'": "'\u2019",
    "\u2019": "'\u2019",
    " ": " \u00a0\u2009\u202f",
    "\u00a0": " \u00a0\u2009\u202f",
    "\u202f": " \u00a0\u2009\u202f",
}
"""Mark between groups of three digits, and the characters that are written for it."""

_MOST_DIGITS = 1000
"""Characters of a number; beyond, a column of numeric could refuse it."""

NUMBERS = frozenset({"integer", "bigint", "numeric"})
TIMES = frozenset({"date", "timestamp", "timestamptz"})


@dataclass(frozen=True)
class Reading:
    """How numbers and dates are written."""

    dates: DateOrder = "ymd"
    decimal: str = "."
    thousands: str | None = None


@dataclass(frozen=True)
class Kind:
    """A type, and the texts that have it.

    Attributes:
        name: SQL type.
        pattern: matches texts of the type, each followed by NUL.
        also: what else must be true of texts that match.
        surely: pattern of texts that have the type and no narrower one after others of it.
        within: the types whose texts all have this type, too.
    """

    name: str
    pattern: re.Pattern[str]
    surely: str
    also: Callable[[Collection[str]], bool] = lambda texts: True
    within: frozenset[str] = frozenset()

    def has(self, texts: Collection[str]) -> bool:
        """Whether all texts have the type; there is at least one."""
        # NUL is in no text that the database can store, so one match decides for all of them.
        return bool(self.pattern.fullmatch("\0".join(texts) + "\0")) and self.also(texts)


def _kind(
    name: str,
    pattern: str,
    also: Callable[[Collection[str]], bool] = lambda texts: True,
    within: Collection[str] = (),
    surely: str | None = None,
) -> Kind:
    whole = re.compile(f"(?>(?:{pattern})\0)++")
    return Kind(name, whole, surely or pattern, also, frozenset(within))


def _fits(digits: int, least: int, most: int, marks: str) -> Callable[[Collection[str]], bool]:
    """Whether whole numbers are from `least` to `most`; those of fewer than `digits` digits are."""
    removed = str.maketrans("", "", marks)

    def fits(texts: Collection[str]) -> bool:
        longest = max(map(len, texts))
        if longest < digits or longest > _MOST_DIGITS:
            return longest < digits
        return all(
            least <= int(text.translate(removed)) <= most for text in texts if len(text) >= digits
        )

    return fits


def _digits(most: int) -> str:
    """Pattern of a whole number of at most so many digits, without marks between them."""
    return f"[+-]?(?:0|[1-9][0-9]{{0,{most - 1}}})"


def _short(texts: Collection[str]) -> bool:
    return max(map(len, texts)) <= _MOST_DIGITS


def _days(order: DateOrder) -> str:
    """Pattern of a day that exists."""
    year = "(?!0000)[0-9]{4}"
    leap = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
    if order == "ymd":
        return (
            f"(?:{year}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
            f"|(?:0[13578]|1[02])-31)|{leap}-02-29)"
        )
    any_month, day = "(?:0?[1-9]|1[0-2])", "(?:0?[1-9]|1[0-9]|2[0-8])"
    pairs = [
        (day, any_month, year),
        ("(?:29|30)", "(?:0?[13-9]|1[0-2])", year),
        ("31", "(?:0?[13578]|1[02])", year),
        ("29", "0?2", leap),
    ]

    def dates(mark: str) -> list[str]:
        return [
            mark.join((d, m, y) if order == "dmy" else (m, d, y)) for d, m, y in pairs
        ]  # the same mark twice

    return f"(?:{'|'.join([*dates('-'), *dates('/'), *dates('[.]')])})"


_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
_LOCAL_CLOCK = (
    "(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
    "|(?:0?[1-9]|1[0-2]):[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)? ?[AaPp][Mm]"
)
_ZONE = " ?(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?)"


@cache
def kinds(reading: Reading) -> tuple[Kind, ...]:
    """The types, narrowest first."""
    written = SEPARATORS_OF_THOUSANDS[reading.thousands] if reading.thousands else ""
    groups = f"|[1-9][0-9]{{0,2}}(?:[{re.escape(written)}][0-9]{{3}})+" if written else ""
    whole = f"(?:0{groups}|[1-9][0-9]*)"
    mark = f"[{reading.decimal}]"
    number = f"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]{{1,2}})?"
    day = _days(reading.dates)
    clock = f"[ T](?:{_CLOCK})" if reading.dates == "ymd" else f" (?:{_LOCAL_CLOCK})"
    return (
        _kind("boolean", "[tTfF]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE]"),
        _kind("integer", f"[+-]?{whole}", _fits(10, -(2**31), 2**31 - 1, written), (), _digits(9)),
        _kind(
            "bigint",
            f"[+-]?{whole}",
            _fits(19, -(2**63), 2**63 - 1, written),
            ["integer"],
            _digits(18),
        ),
        _kind(
            "numeric",
            f"[+-]?{number}",
            _short,
            ["integer", "bigint"],
            f"{_digits(100)}(?:{mark}[0-9]{{0,100}})?(?:[eE][+-]?[0-9]{{1,2}})?",
        ),
        _kind("date", day),
        _kind("timestamp", f"{day}{clock}"),
        _kind("timestamptz", f"{day}{clock}{_ZONE}"),
    )


_YEAR_LAST = {"dmy": r"\3-\2-\1", "mdy": r"\3-\1-\2"}


def canonical(kind: str, reading: Reading) -> tuple[str, tuple[str, ...]]:
    """SQL of the text that a cast to the type reads: a template with {} for the text as it is
    written and for each of the texts that come with it."""
    written = SEPARATORS_OF_THOUSANDS[reading.thousands] if reading.thousands else ""
    if kind in NUMBERS and (written or reading.decimal != "."):
        return "translate({}, {}, {})", (reading.decimal + written, ".")
    if kind in TIMES and reading.dates != "ymd":
        parts = "^([0-9]+)[-./]([0-9]+)[-./]([0-9]{4})"
        return "regexp_replace({}, {}, {})", (parts, _YEAR_LAST[reading.dates])
    return "{}", ()
