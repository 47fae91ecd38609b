"""Types that texts can have: a type holds if all texts have it, and it gives its texts back.

"007" is a code and no number, 1E50 too, and 1/2/2020 says nothing about what is day and month. The
narrowest type holds: boolean, integer, bigint, numeric, double precision, date, timestamp,
timestamptz, uuid, else text. Only numbers and dates in a declared form may be written otherwise
than the type writes them.

What a text can be is decided by its *shape*, in which every digit is 9. A column has few of them,
so one look at the texts says which types it has, however numbers and dates are written.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute

from pganon.importing.form import THOUSANDS, Format

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

_LONGEST = 1000
"""Digits of a number; beyond, a column of numeric could refuse it."""

_BOOLEANS = (("true", "false"), ("TRUE", "FALSE"), ("True", "False"), ("t", "f"))
_MARKS = "".join(dict.fromkeys("".join(THOUSANDS.values())))
_SECONDS = "(?::[0-5][0-9](?:[.][0-9]{1,6})?)?"
_MINUTES = f":[0-5][0-9]{_SECONDS}"
_ZONE = "(?: ?(?:Z|[+-](?:0[0-9]|1[0-4])(?::?[0-5][0-9])?))?"
_MONEY = "[$\u20ac\u00a3\u00a5]"

Shapes = Mapping[str | None, "Seen"]
"""Shapes of the texts of a column; None: that of texts that are only texts."""


class Seen(NamedTuple):
    """Records with a shape, and the first of them, from 1."""

    records: int
    first: int


def _numbers(texts: pa.Array) -> pa.Array:
    """Digits as 9, but a zero that leads as z; after a decimal mark the last as o, four as w.

    A negative zero has the sign ~.
    """
    for pattern, mark in (
        ("^-(0[.]0+)$", r"~\1"),
        ("([.,][0-9]*)0$", r"\1o"),
        ("^(-?0[.])0000", r"\1wwww"),
        ("^([+-]?)0", r"\1z"),
        ("[0-9]", "9"),
    ):
        texts = pc.replace_substring_regex(texts, pattern, mark)
    return texts


def _times(texts: pa.Array) -> pa.Array:
    """Orders in which the numbers are a day, then the time; None if there are none.

    In it digits are 9; the last zero of a part of a second is o, those of no offset are z.
    """
    days = pc.replace_substring_regex(texts, "[ T].*$", "").dictionary_encode()
    orders = pa.array([_orders(day) for day in days.dictionary.to_pylist()], pa.string())
    clocks = pc.replace_substring_regex(texts, "^[^ T]*", "")
    for pattern, mark in (
        ("([.][0-9]*)0([^0-9]|$)", r"\1o\2"),
        ("([+-])00(:00)?$", r"\1zz\2"),
        ("[0-9]", "9"),
    ):
        clocks = pc.replace_substring_regex(clocks, pattern, mark)
    return pc.binary_join_element_wise(orders.take(days.indices), clocks, "")


def _orders(day: str) -> str | None:
    one, two, three = (int(part) for part in re.split("[-./]", day))
    orders = {"y": (one, two, three), "d": (three, two, one), "m": (three, one, two)}
    found = ""
    for order in "y" if re.match("[0-9]{4}", day) else "dm":
        try:
            dt.date(*orders[order])
        except ValueError:
            continue
        found += order
    return found or None


_SHAPES: Mapping[str, Any] = {
    f"[+-]?(?:[0-9]+|[0-9]{{1,3}}(?:[{_MARKS}][0-9]{{3}})+)?(?:[.,][0-9]*)?": _numbers,
    "-?[1-9](?:[.][0-9]*[1-9])?e[+-][0-9]{2,3}": lambda texts: pa.array(
        ["e" if _is_float8(text) else None for text in texts.to_pylist()], pa.string()
    ),
    f"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:[ T](?:[01][0-9]|2[0-3]){_MINUTES}{_ZONE})?"
    # The same mark twice: RE2 has no references to groups.
    f"|[0-9]{{1,2}}(?:-[0-9]{{1,2}}-|/[0-9]{{1,2}}/|[.][0-9]{{1,2}}[.])[0-9]{{4}}(?: (?:"
    f"(?:[01]?[0-9]|2[0-3]){_MINUTES}|(?:0?[1-9]|1[0-2]){_MINUTES} ?[AaPp][Mm]){_ZONE})?": _times,
    "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}": "uuid",
    r"[0-9]{1,2}[- /.]?\pL{3,9}[.]?[- /,]?[0-9]{2,4}": "month",
    f"[(+-]?{_MONEY} ?[0-9][0-9.,' ]*(?:%|[)]|{_MONEY})?"
    f"|[(][0-9][0-9.,' ]*[)]|[+-]?[0-9][0-9.,' ]*(?:%|{_MONEY})": "money",
    "|".join(map(re.escape, sorted({*MISSING_WORDS, *sum(_BOOLEANS, ())}))): lambda texts: texts,
}
"""Patterns of whole texts, and the shape; of several that match the last holds."""


def shapes_of(texts: pa.Array) -> pa.Array:
    """The shape of every text."""
    shapes = pa.nulls(len(texts), pa.string())
    for pattern, shape in _SHAPES.items():
        found = pc.match_substring_regex(texts, f"^(?:{pattern})$")
        if pc.any(found).as_py():
            new = shape(texts.filter(found)) if callable(shape) else pa.scalar(shape)
            shapes = pc.replace_with_mask(shapes, found, new)
    return shapes


class Inference:
    """Shapes of the texts of columns, from one batch after the other."""

    def __init__(self, columns: int) -> None:
        self.columns: list[dict[str | None, Seen]] = [{} for _ in range(columns)]

    def add(self, texts: Mapping[int, pa.Array], before: int = 0) -> None:
        """Learn from texts of columns of a batch, which follow `before` records."""
        # A call per pattern and column would mostly compile patterns.
        parts: list[tuple[Any, ...]] = []
        for number, column in texts.items():
            coded: Any = (
                column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            )
            codes = coded.indices.drop_null().to_numpy()
            places = np.flatnonzero(coded.is_valid().to_numpy(zero_copy_only=False))
            records = np.bincount(codes, minlength=len(coded.dictionary))
            first = np.zeros(len(records), np.int64)
            first[codes[::-1]] = places[::-1] + before + 1  # the last one written is the first
            here = np.flatnonzero(records)
            owner = np.full(len(here), number)
            parts.append((coded.dictionary.take(here), owner, records[here], first[here]))
        if not parts:
            return
        each, owners, records, first = zip(*parts, strict=True)
        rows = pa.table(
            {
                "column": np.concatenate(owners),
                "shape": shapes_of(pa.concat_arrays(each)),
                "records": np.concatenate(records),
                "first": np.concatenate(first),
            }
        )
        seen = rows.group_by(["column", "shape"]).aggregate([("records", "sum"), ("first", "min")])
        for row in seen.to_pylist():
            column, shape, new = row["column"], row["shape"], row["records_sum"]
            found = self.columns[column].get(shape, Seen(0, row["first_min"]))
            self.columns[column][shape] = Seen(found.records + new, found.first)


@cache
def _patterns(decimal: str, thousands: str | None) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Shapes of whole numbers, and of others."""
    if decimal == "." and thousands is None:
        return re.compile("z|-?9[9ow]*"), re.compile("-?(?:z|9[9ow]*)[.][9ow]+")
    groups = f"9[9ow]{{0,2}}(?:[{THOUSANDS[thousands]}][9ow]{{3}})+|" if thousands else ""
    number, mark = f"(?:z|{groups}9[9ow]*)", f"[{decimal}]"
    others = f"[+~-]?(?:{number}{mark}[9ow]*|{mark}[9ow]+)"
    return re.compile(f"[+-]?{number}"), re.compile(others)


def is_number(shape: str | None, form: Format) -> bool:
    return shape is not None and any(
        one.fullmatch(shape) for one in _patterns(form.decimal, form.thousands)
    )


def is_date(shape: str | None, form: Format) -> bool:
    found = _TIME.fullmatch(shape or "")
    return found is not None and form.dates[0] in found["orders"]


_TIME = re.compile("(?P<orders>[ydm]+)(?:([ T])(?P<clock>[^Z+-]*?)(?P<zone> ?(?:Z|[+-].*))?)?")
_EXACT = re.compile("[-~]?(z|9+)([.]o|[.]9+)?")
_DIGITS = re.compile("[9zow]")


def kind_of(shapes: Collection[str | None], form: Format) -> str:
    """The type of texts of these shapes, none of which is a word for a missing value."""
    given = {shape for shape in shapes if shape is not None}
    if not given or None in shapes:
        return "text"
    if any(given <= set(pair) for pair in _BOOLEANS) and given not in ({"t"}, {"f"}):
        return "boolean"
    if given == {"uuid"}:
        return "uuid"
    digits = max(len(_DIGITS.findall(shape)) for shape in given)
    if all(is_number(shape, form) for shape in given) and digits <= _LONGEST:
        if all(_patterns(form.decimal, form.thousands)[0].fullmatch(shape) for shape in given):
            return "integer" if digits < 10 else "bigint" if digits < 19 else "numeric"
        return "text" if form.is_plain and have_differing_decimals(given) else "numeric"
    if form.is_plain and "e" in given:
        exact = (
            _EXACT.fullmatch(shape) and len(_DIGITS.findall(shape.removesuffix(".o"))) <= 15
            for shape in given - {"e"}
        )
        return "double precision" if all(exact) else "text"
    return _time(given, form) if all(is_date(shape, form) for shape in given) else "text"


def have_differing_decimals(shapes: Collection[str]) -> bool:
    """Whether decimals end in 0 in some only: versions, such as 1.1 and 1.10."""
    decimals = {shape.partition(".")[2] for shape in shapes}
    zeros = any(len(part) > 1 and part[-1] == "o" for part in decimals)
    return zeros and len({len(part) for part in decimals}) > 1


def _time(shapes: Collection[str], form: Format) -> str:
    found = [match for shape in shapes if (match := _TIME.fullmatch(shape))]
    if len({match[2] is None for match in found}) > 1:
        return "text"
    if found[0][2] is None:
        return "date"
    zones = {match["zone"] for match in found}
    kind = "timestamp" if zones == {None} else "text" if None in zones else "timestamptz"
    if form.dates != "ymd":
        return kind
    clocks = [match["clock"].partition(".") for match in found]
    one_form = len({(match[2], match["clock"].count(":")) for match in found}) == 1
    one_part = len({len(part) for *_, part in clocks}) == 1 or not any(
        part.endswith("o") for *_, part in clocks
    )
    one_zone = len(zones) == 1 and zones <= {None, "Z", "+zz", "+zz:99", "-zz"}
    return kind if one_form and one_part and one_zone else "text"


def _is_float8(text: str) -> bool:
    """Whether a text with an exponent is what the server writes of its number."""
    number = float(text)
    written = np.format_float_scientific(number, trim="-", exp_digits=2)
    return text == written and number != 0 and not 1e-4 <= abs(number) < 1e15
