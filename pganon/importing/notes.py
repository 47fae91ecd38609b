"""Notes on what an import did not read as it may have been meant, each with a remedy."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import get_args

from pganon.importing.form import Format
from pganon.importing.inference import ColumnType
from pganon.importing.kinds import NUMBERS, SEPARATORS_OF_THOUSANDS, TIMES, DateOrder, Reading

_NUMBERS = (
    (",", None),
    (".", ","),
    (",", "."),
    (".", " "),
    (",", " "),
    (".", "'"),
    (",", "'"),
    (".", "_"),
    (".", None),
)
"""Decimal mark and mark between thousands, as they are written somewhere."""

Values = Callable[[int], Iterable[set[str]]]
"""All values of a column, by its number from 0; each at least once, in parts."""


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


def notes_on(
    names: Sequence[str], columns: Sequence[ColumnType], form: Format, values: Values
) -> list[Note]:
    """Columns that are text because of words for missing values, or of how numbers and dates are
    written."""
    notes: list[Note] = []
    for number, (name, column) in enumerate(zip(names, columns, strict=True)):
        if column.text:
            notes += _other_readings(name, column, form, lambda n=number: values(n))
        elif column.words and column.kind is not None:
            remedy = f"{_nulls(form, column.words)} makes it {column.kind.name}"
            notes.append(Note(name, _because(_shown(form, column.words)), remedy))
    return notes


def unnamed(name: str) -> Note:
    return Note(
        name,
        "the first column has no name in the header, as row names that R and pandas write",
        "write the file without row names, or give all names with --names",
    )


@dataclass
class _Trial:
    """A text column read as numbers or dates that are written in another way."""

    reading: Reading
    kinds: frozenset[str]
    marks: Sequence[str]
    column: ColumnType

    def add(self, values: set[str]) -> None:
        self.column.add_values(values)
        self.marks = [
            mark for mark in self.marks if not any(c in value for value in values for c in mark)
        ]

    @property
    def fits(self) -> bool:
        """Whether all values could be meant so, and something in them needs the reading."""
        kind = self.column.kind
        return not self.column.text and kind is not None and kind.name in self.kinds

    @property
    def remedy(self) -> str:
        assert self.column.kind is not None
        return f"makes it {self.column.kind.name}"


def _trials(given: Reading) -> list[_Trial]:
    trials: list[_Trial] = []
    for decimal, thousands in _NUMBERS:
        reading = replace(given, decimal=decimal, thousands=thousands)
        marks = [SEPARATORS_OF_THOUSANDS[thousands]] if thousands else []
        marks += [decimal] if decimal != "." else []
        trials.append(_Trial(reading, NUMBERS, marks, ColumnType(reading)))
    for dates in get_args(DateOrder):
        reading = replace(given, dates=dates)
        trials.append(_Trial(reading, TIMES, [], ColumnType(reading)))
    return [trial for trial in trials if trial.reading != given]


def _other_readings(
    name: str, column: ColumnType, form: Format, values: Callable[[], Iterable[set[str]]]
) -> list[Note]:
    """At most one note: how the values of a text column could be read as another type."""
    tried = _fitting(_trials(form.reading), set(column.refused))
    for part in values() if tried else ():
        tried = _fitting(tried, part)
    tried = [trial for trial in tried if not trial.marks]
    if not tried:
        return []
    words = tried[0].column.words
    reasons = " or ".join(_reason(trial.reading, form.reading) for trial in tried)
    remedies = "; ".join(
        f"{_options(trial.reading, form, words)} {trial.remedy}" for trial in tried
    )
    return [Note(name, _because([reasons, *_shown(form, words)]), remedies)]


def _fitting(trials: Sequence[_Trial], values: set[str]) -> list[_Trial]:
    for trial in trials:
        trial.add(values)
    return [trial for trial in trials if trial.fits]


def _because(reasons: Sequence[str]) -> str:
    return f"text because of {', '.join(reasons)}"


def _reason(reading: Reading, given: Reading) -> str:
    if reading.dates != given.dates:
        return f"dates in the order {reading.dates}"
    if reading.thousands is None:
        return f"decimal '{reading.decimal}'"
    thousands = f"thousands '{reading.thousands}'"
    return thousands if reading.decimal == "." else f"decimal ',' and {thousands}"


def _options(reading: Reading, form: Format, words: Collection[str]) -> str:
    """Options of the command that read the column so."""
    given = form.reading
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
    return " ".join([*options, *([_nulls(form, words)] if words else [])])


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
