"""Types that texts can have: a type holds if all texts have it, and it gives its texts back.

"007" is a code and no number, 1E50 too, and 1/2/2020 says nothing about what is day and month. The
narrowest type holds: boolean, integer, bigint, numeric, double precision, date, timestamp,
timestamptz, uuid, else text. Only numbers and dates in a declared form may be written otherwise
than the type writes them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute

from pganon.importing.form import THOUSANDS, Reading

pc: Any = pyarrow.compute

MISSING_WORDS = frozenset(
    {
        *("", " ", "NA", "N/A", "n/a", "na", "N.A.", "n.a.", "<NA>", "NaN", "nan", "NAN", "NaT"),
        *("#N/A", "#NULL!", "#VALUE!", "#DIV/0!", "#REF!", "ND", "N/D", "k.A.", "nil", "\\N", "N"),
        *("null", "NULL", "Null", "(null)", "None", "none", "NONE", "missing", "Missing"),
        *("MISSING", "unknown", "Unknown", "UNKNOWN", "?", "-", "--", "---", ".", "..", "..."),
        *("*", "**", ":", "/", "x", "X", "u", "U", "_", "\u2013", "\u2014", "\u2026"),
    }
)
"""Words for missing values. They are named in messages; other values of a file never are."""

NUMBERS = frozenset({"integer", "bigint", "numeric", "double precision"})
TIMES = frozenset({"date", "timestamp", "timestamptz"})

_LONGEST = 1000
"""Characters of a number; beyond, a column of numeric could refuse it."""

_PAIRS = (("true", "false"), ("TRUE", "FALSE"), ("True", "False"), ("t", "f"))
_UUID = r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
_SECONDS = "(?P<second>:[0-5][0-9](?P<part>[.][0-9]{1,6})?)?"
_CLOCK = f"(?P<clock>(?:[01][0-9]|2[0-3]):[0-5][0-9]){_SECONDS}"
_MINUTES = ":[0-5][0-9](?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
_ANY_CLOCK = f"(?P<clock>(?:[01]?[0-9]|2[0-3]){_MINUTES}|(?:0?[1-9]|1[0-2]){_MINUTES} ?[AaPp][Mm])"
_ZONE = r"(?P<zone> ?(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?))?"


@dataclass(frozen=True)
class Patterns:
    """What numbers and dates look like in a reading, as patterns of RE2."""

    whole: str
    decimal: str
    time: str
    """Groups: y, m, d, and of a date-time sep, clock, second, part, zone."""

    @classmethod
    def of(cls, reading: Reading) -> Patterns:
        if reading.decimal == "." and reading.thousands is None:
            whole, decimal = "^(0|-?[1-9][0-9]*)$", "^-?(0|[1-9][0-9]*)[.][0-9]+$"
        else:
            marks = re.escape(THOUSANDS[reading.thousands]) if reading.thousands else ""
            groups = f"|[1-9][0-9]{{0,2}}(?:[{marks}][0-9]{{3}})+" if marks else ""
            number = f"(?:0{groups}|[1-9][0-9]*)"
            mark = f"[{reading.decimal}]"
            whole = f"^[+-]?{number}$"
            decimal = f"^[+-]?(?:{number}{mark}[0-9]*|{mark}[0-9]+)$"
        if reading.dates == "ymd":
            day, clock = "(?P<y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})", f"(?P<sep>[ T]){_CLOCK}"
        else:
            order = "dm" if reading.dates == "dmy" else "md"
            first, second = (f"(?P<{name}>[0-9]{{1,2}})" for name in order)
            # The same mark twice: RE2 has no references to groups.
            marked = "|".join(
                f"{first}{mark}{second}{mark}(?P<y>[0-9]{{4}})".replace("?P<", f"?P<{n}")
                for n, mark in enumerate(("-", "/", "[.]"))
            )
            day, clock = f"(?:{marked})", f"(?P<sep> ){_ANY_CLOCK}"
        return cls(whole, decimal, f"^{day}(?:{clock}{_ZONE})?$")

    def days(self, texts: pa.Array) -> tuple[pa.Array, pa.Array]:
        """(days as ISO 8601 writes them or NULL, groups of the pattern)."""
        found = pc.extract_regex(texts, self.time)
        fields = [kind.name for kind in cast(Any, found.type)]

        def part(name: str) -> pa.Array:
            parts = [pc.struct_field(found, one) for one in fields if one.strip("012") == name]
            return parts[0] if len(parts) == 1 else pc.binary_join_element_wise(*parts, "")

        year, month, day = part("y"), part("m"), part("d")
        padded = [pc.utf8_lpad(one, 2, "0") for one in (month, day)]
        return pc.binary_join_element_wise(year, *padded, "-"), found


def _are_days(days: pa.Array) -> bool:
    """Whether all are days of the years 1 to 9999."""
    try:
        pc.cast(days, pa.date32())
    except pa.ArrowInvalid:
        return False
    return not pc.any(pc.starts_with(days, "0000")).as_py()


def canonical(texts: pa.Array, kind: str, reading: Reading) -> pa.Array:
    """pa.Array that COPY reads as the type, of those that are written in this reading."""
    if kind in NUMBERS and (reading.thousands or reading.decimal != "."):
        if reading.thousands:
            texts = pc.replace_substring_regex(
                texts, f"[{re.escape(THOUSANDS[reading.thousands])}]", ""
            )
        return pc.replace_substring(texts, reading.decimal, ".")
    if kind in TIMES and reading.dates != "ymd":
        days, _ = Patterns.of(reading).days(texts)
        rest = pc.replace_substring_regex(texts, "^[0-9]+[-./][0-9]+[-./][0-9]{4}", "")
        return pc.binary_join_element_wise(days, rest, "")
    return texts


@dataclass
class Found:
    """What the texts of a column are so far.

    Attributes:
        nulls: there was a NULL.
        words: words for missing values that occur as values.
        refused: some of the texts because of which no type holds.
    """

    nulls: bool = False
    words: set[str] = field(default_factory=set)
    refused: pa.Array | None = None
    seen: bool = False
    alive: set[str] = field(
        default_factory=lambda: {"number", "float", "time", "uuid", *map("/".join, _PAIRS)}
    )
    both: set[str] = field(default_factory=set)
    whole: bool = True
    exponents: bool = False
    longest: int = 0
    scales: set[int] = field(default_factory=set)
    zeros: bool = False
    days: bool = False
    shapes: set[tuple[str, str, bool]] = field(default_factory=set)
    parts: set[int] = field(default_factory=set)
    short: bool = False

    @property
    def ambiguous(self) -> bool:
        """Numbers whose decimals end in 0 in some values only: versions, such as 1.1 and 1.10."""
        return "number" in self.alive and self.zeros and len(self.scales) > 1

    def kind(self, reading: Reading) -> str | None:
        """The type of all texts but words for missing values; None without any of these."""
        if not self.seen:
            return None
        for pair in _PAIRS:
            if "/".join(pair) in self.alive and (pair[0] != "t" or self.both == {"t", "f"}):
                return "boolean"
        plain = reading.decimal == "." and reading.thousands is None
        if "number" in self.alive and self.longest <= _LONGEST:
            if self.whole:
                return (
                    "integer" if self.longest < 10 else "bigint" if self.longest < 19 else "numeric"
                )
            if not (plain and self.ambiguous):
                return "numeric"
        if plain and self.exponents and "float" in self.alive:
            return "double precision"
        if "time" in self.alive:
            return self._time(reading)
        return "uuid" if "uuid" in self.alive else "text"

    def _time(self, reading: Reading) -> str:
        if self.days:
            return "text" if self.shapes else "date"
        separators, zones, seconds = (set(part) for part in zip(*self.shapes, strict=True))
        zoned = {zone != "" for zone in zones}
        kind = "text" if len(zoned) > 1 else "timestamptz" if zoned == {True} else "timestamp"
        if reading.dates != "ymd":
            return kind
        one_zone = zones in ({""}, {"Z"}) or (zones <= {"+00", "+00:00", "-00"} and len(zones) == 1)
        one_form = len(separators) == len(seconds) == 1 and not (self.short and len(self.parts) > 1)
        return kind if one_zone and one_form else "text"


class Inference:
    """Types of the columns of a file, from the distinct texts of one batch after the other."""

    def __init__(self, columns: int, reading: Reading) -> None:
        self.columns = [Found() for _ in range(columns)]
        self._reading = reading
        self._patterns = Patterns.of(reading)

    def add(self, texts: Mapping[int, pa.Array]) -> None:
        """Learn from the distinct texts, none of them NULL, of columns of a batch."""
        asked = {n: each for n, each in texts.items() if len(each) and self.columns[n].alive}
        if not asked:
            return
        # A call per pattern and column would mostly compile patterns.
        every = pa.concat_arrays([each.cast(pa.string()) for each in asked.values()])
        words = _mask(pc.is_in(every, pa.array(sorted(MISSING_WORDS))))
        owner = np.repeat(np.arange(len(asked)), [len(each) for each in asked.values()])
        numbers = list(asked)
        for place in np.unique(owner[words]):
            mine = words & (owner == place)
            self.columns[numbers[place]].words.update(every.filter(pa.array(mine)).to_pylist())
        every, owner = every.filter(pa.array(~words)), owner[~words]
        if not len(every):
            return
        self._learn(every, owner, [self.columns[number] for number in numbers])

    def _learn(self, every: pa.Array, owner: npt.NDArray[Any], columns: list[Found]) -> None:
        starts = np.flatnonzero(np.r_[True, owner[1:] != owner[:-1]])
        ends = np.r_[starts[1:], len(owner)]
        present = [columns[owner[start]] for start in starts]
        asked = set[str]().union(*(column.alive for column in present))

        def all_of(mask: npt.NDArray[np.bool_]) -> list[bool]:
            return np.logical_and.reduceat(mask, starts).tolist()

        plain = self._reading.decimal == "." and self._reading.thousands is None
        alive: dict[str, list[bool]] = {}
        whole = decimal = exponent = np.zeros(len(owner), bool)
        if asked & {"number", "float"}:
            whole = _mask(pc.match_substring_regex(every, self._patterns.whole))
            decimal = _mask(pc.match_substring_regex(every, self._patterns.decimal))
            if plain:
                decimal &= ~_mask(pc.match_substring_regex(every, "^-0[.]0+$"))
            alive["number"] = all_of(whole | decimal)
            if plain and "float" in asked:
                exponent = _mask(
                    pc.match_substring_regex(every, r"^-?[1-9]([.][0-9]*[1-9])?e[+-][0-9]{2,3}$")
                )
                exact = _mask(
                    pc.match_substring_regex(every, r"^-?(0|[1-9][0-9]*)([.]0|[.][0-9]*[1-9])?$")
                ) & ~_mask(pc.match_substring_regex(every, r"^-?0[.]0000"))
                digits = pc.utf8_length(pc.replace_substring_regex(every, "[-.]|[.]0$", ""))
                alive["float"] = all_of(
                    exponent | (exact & (digits.to_numpy(zero_copy_only=False) <= 15))
                )
        if "time" in asked:
            alive["time"] = all_of(_mask(pc.match_substring_regex(every, self._patterns.time)))
        if "uuid" in asked:
            alive["uuid"] = all_of(_mask(pc.match_substring_regex(every, _UUID)))
        for pair in _PAIRS:
            if "/".join(pair) in asked:
                alive["/".join(pair)] = all_of(_mask(pc.is_in(every, pa.array(pair))))
        for place, (column, start, end) in enumerate(zip(present, starts, ends, strict=True)):
            mine = every.slice(start, end - start)
            column.seen = True
            column.alive &= {name for name, holds in alive.items() if holds[place]}
            if column.alive & {"number", "float"}:
                one = slice(start, end)
                column.whole &= bool(whole[one].all())
                self._learn_numbers(column, mine, decimal[one], exponent[one])
            if "time" in column.alive:
                self._learn_times(column, mine)
            if "t/f" in column.alive:
                column.both.update(mine.to_pylist())
            if not column.alive:
                column.refused = mine.slice(0, 100)

    def _learn_numbers(
        self,
        column: Found,
        texts: pa.Array,
        decimal: npt.NDArray[np.bool_],
        exponent: npt.NDArray[np.bool_],
    ) -> None:
        marks = THOUSANDS[self._reading.thousands] if self._reading.thousands else ""
        plain = pc.replace_substring_regex(texts, f"[-+{re.escape(marks)}]", "")
        column.longest = max(column.longest, pc.max(pc.utf8_length(plain)).as_py())
        if not (decimal | exponent).all():
            column.scales.add(0)
        if decimal.any():
            tails = pc.replace_substring_regex(texts.filter(pa.array(decimal)), "^.*[.,]", "")
            column.scales |= set(pc.unique(pc.utf8_length(tails)).to_pylist())
            column.zeros |= bool(pc.any(pc.match_substring_regex(tails, "^[0-9]+0$")).as_py())
        if exponent.any():
            column.exponents = True
            if not all(map(_is_float8, texts.filter(pa.array(exponent)).to_pylist())):
                column.alive.discard("float")

    def _learn_times(self, column: Found, texts: pa.Array) -> None:
        days, found = self._patterns.days(texts)
        if not _are_days(days):
            column.alive.discard("time")
            return
        part = partial(pc.struct_field, found)
        timed = pc.not_equal(part("clock"), "")
        column.days |= not pc.all(timed).as_py()
        seconds: list[bool] = [False] * len(texts)
        if self._reading.dates == "ymd":
            seconds = pc.not_equal(part("second"), "").to_pylist()
            column.parts |= set(pc.unique(pc.utf8_length(part("part"))).to_pylist())
            column.short |= bool(pc.any(pc.ends_with(part("part"), "0")).as_py())
        shapes = zip(part("sep").to_pylist(), part("zone").to_pylist(), seconds, strict=True)
        column.shapes |= {shape for shape in shapes if shape[0]}


def _mask(found: Any) -> npt.NDArray[np.bool_]:
    return pc.fill_null(found, False).to_numpy(zero_copy_only=False)


def _is_float8(text: str) -> bool:
    """Whether a text with an exponent is what the server writes of its number."""
    number = float(text)
    if number in (float("inf"), float("-inf"), 0.0):
        return False
    sign, digits, exponent = Decimal(repr(number)).normalize().as_tuple()
    exponent = cast(int, exponent) + len(digits) - 1
    written = "".join(map(str, digits))
    mantissa = written[0] + (f".{written[1:]}" if len(written) > 1 else "")
    server = f"{'-' * sign}{mantissa}e{'-' if exponent < 0 else '+'}{abs(exponent):02}"
    return text == server and (exponent < -4 or exponent >= 15)
