"""Notes on what an import did not read as it may have been meant, each with a remedy.

They hold words for missing values, counts and lines, and no other value of the file.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import get_args

from pganon.importing.form import THOUSANDS, DateOrder, Format
from pganon.importing.kinds import (
    MISSING_WORDS,
    Shapes,
    have_differing_decimals,
    is_date,
    is_number,
    kind_of,
)

_NUMBERS = [
    (each[0], each[1:] or None) for each in (",", ".,", ",.", ". ", ", ", ".'", ",'", "._", ".")
]
"""Decimal mark and mark between thousands, as they are written somewhere."""

_FEW = 0.05
"""Share of texts that may miss a type of which a note tells."""


@dataclass(frozen=True)
class Note:
    """A column that may not be what was meant.

    Attributes:
        note: what it is, and why.
        remedy: what to do.
    """

    column: str
    note: str
    remedy: str


def of_texts(
    name: str, shapes: Shapes, form: Format, place: Callable[[int], str]
) -> tuple[str, Note | None]:
    """Type of a column of texts, and why it is text where it may be meant as something else.

    `place` says where a record is.
    """
    words = [shape for shape in shapes if shape in MISSING_WORDS]
    values = {shape: seen for shape, seen in shapes.items() if shape not in MISSING_WORDS}
    kind = kind_of(values, form)
    if kind != "text":
        remedy = f"{_nulls(form, words)} makes it {kind}"
        because = f"text because of {', '.join(_shown(form, words))}"
        return ("text", Note(name, because, remedy)) if words else (kind, None)
    found = _other_readings(values, words, form) or _why_text(name, values, words, form, place)
    return kind, Note(name, *found) if found else None


def _other_readings(values: Shapes, words: Collection[str], form: Format) -> tuple[str, str] | None:
    readings = [replace(form, decimal=d, thousands=t) for d, t in _NUMBERS]
    readings += [replace(form, dates=dates) for dates in get_args(DateOrder)]
    seen = set("".join(shape for shape in values if shape))
    trials: list[tuple[Format, str]] = []
    for reading in readings:
        marks = [THOUSANDS.get(reading.thousands or ""), "," if reading.decimal == "," else None]
        written = all(seen.intersection(mark) for mark in marks if mark)
        if reading == form or not (written or reading.dates != form.dates):
            continue
        if (kind := kind_of(values, reading)) != "text":
            trials.append((reading, kind))
    if not trials:
        return None
    reasons = " or ".join(_reason(reading, form) for reading, _ in trials)
    remedies = (f"{_options(reading, form, words)} makes it {kind}" for reading, kind in trials)
    return f"text because of {', '.join([reasons, *_shown(form, words)])}", "; ".join(remedies)


def _why_text(
    name: str, values: Shapes, words: Collection[str], form: Format, place: Callable[[int], str]
) -> tuple[str, str] | None:
    column = shlex.quote(name)
    texts = [shape for shape in values if shape is not None]
    for kind, fits in (("number", is_number), ("date", is_date)):
        misses = [seen for shape, seen in values.items() if not fits(shape, form)]
        missed, total = (sum(seen.records for seen in some) for some in (misses, values.values()))
        if values and not misses and not words:
            if kind == "date":
                return (
                    "text because of dates and times in several forms or with several offsets",
                    f"--type {column}=timestamptz, or =timestamp without offsets",
                )
            if form.is_plain and have_differing_decimals(texts):
                return (
                    "text because of numbers with differing decimals, such as versions",
                    f"--type {column}=numeric",
                )
        if 0 < missed <= _FEW * total:
            return (
                f"text because {missed:,} of {total:,} values {'is' if missed == 1 else 'are'} no"
                f" {kind}, the first in {place(min(seen.first for seen in misses))}",
                "mend them, or --null WORD if they mean that there is no value",
            )
    if "money" in values and all(shape and shape[0] in "m+~-9z" for shape in values):
        why = "signs of money, per cent or parentheses around numbers"
        return f"text because of {why}", "write the numbers alone"
    if texts == ["month"] and None not in values:
        remedy = f"--type {column}=date, where the server knows these names"
        return "text because of names of months", remedy
    return None


def _reason(reading: Format, given: Format) -> str:
    if reading.dates != given.dates:
        return f"dates in the order {reading.dates}"
    if reading.thousands is None:
        return f"decimal '{reading.decimal}'"
    thousands = f"thousands '{reading.thousands}'"
    return thousands if reading.decimal == "." else f"decimal ',' and {thousands}"


def _options(reading: Format, given: Format, words: Collection[str]) -> str:
    """Options of the command that read the column so."""
    options: list[str] = []
    if reading.dates != given.dates:
        options.append(f"--dates {reading.dates}")
    else:
        if (reading.decimal, given.decimal) != (".", "."):
            options.append(f"--decimal {reading.decimal}")
        if reading.thousands:
            options.append(f"--thousands {shlex.quote(reading.thousands)}")
        elif given.thousands:
            options.append("without --thousands")
    return " ".join([*options, *([_nulls(given, words)] if words else [])])


def _nulls(form: Format, words: Collection[str]) -> str:
    """Options by which these words are NULL; those that are already must be quoted."""
    new = sorted(set(words) - set(form.nulls))
    options = [f"--null '{word}'" for word in [*form.nulls, *new]] if new else []
    if set(words) & set(form.nulls):
        options.append("--force-null")
    return " ".join(options)


def _shown(form: Format, words: Collection[str]) -> list[str]:
    """Words for missing values, as the file has them."""
    quote = form.quote
    return [
        f"{quote}{word}{quote}" if word in form.nulls else word if word.strip() else f"'{word}'"
        for word in sorted(words)
    ]
