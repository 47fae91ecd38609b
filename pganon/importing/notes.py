"""Notes on what an import did not read as it may have been meant, each with a remedy.

They hold words for missing values, counts and lines, and no other value of the file.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute

from pganon.importing.form import THOUSANDS, DateOrder, Format, Reading
from pganon.importing.kinds import MISSING_WORDS, NUMBERS, TIMES, Found, Inference, Patterns

pc: Any = pyarrow.compute

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

_FEW = 0.05
"""Share of texts that may miss a type of which a note tells."""

_MONEY = "[$\u20ac\u00a3\u00a5]"
_SHAPES = (
    (
        "[$%()\u20ac\u00a3\u00a5]",
        f"^[(+-]?{_MONEY}? ?[0-9][0-9.,' ]*(?:%|[)]|{_MONEY})?$",
        "signs of money, per cent or parentheses around numbers",
        "write the numbers alone",
    ),
    (
        "",
        r"^[0-9]{1,2}[- /.]?\pL{3,9}[.]?[- /,]?[0-9]{2,4}$",
        "names of months",
        "--type {column}=date, where the server knows these names",
    ),
)
"""(in some texts, all texts, what they are, remedy): what people write and no type reads so."""


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


class _Trial:
    """A column of texts read as numbers or dates that are written in another way."""

    def __init__(self, reading: Reading, given: Reading) -> None:
        self.reading = reading
        self._dates = reading.dates != given.dates
        self._inference = Inference(1, reading)
        # What they are otherwise does not depend on how numbers and dates are written.
        self._inference.columns[0].alive &= {"time"} if self._dates else {"number", "float"}
        thousands = [THOUSANDS[reading.thousands]] if reading.thousands else []
        self.unseen = [*thousands, *([","] if reading.decimal == "," else [])]

    def add(self, texts: pa.Array) -> bool:
        """Whether all texts so far can be meant so."""
        self._inference.add({0: texts})
        self.unseen = [
            marks
            for marks in self.unseen
            if not pc.any(
                pc.match_substring_regex(texts, "[" + marks.replace(" ", "\\s") + "]")
            ).as_py()
        ]
        return self.kind in (TIMES if self._dates else NUMBERS)

    @property
    def kind(self) -> str | None:
        return self._inference.columns[0].kind(self.reading)


def _trials(given: Reading) -> list[_Trial]:
    readings = [replace(given, decimal=d, thousands=t) for d, t in _NUMBERS]
    readings += [replace(given, dates=dates) for dates in get_args(DateOrder)]
    return [_Trial(reading, given) for reading in readings if reading != given]


@dataclass
class Suspect:
    """A column of texts that almost has another type, or has one that is written otherwise.

    Attributes:
        found: what is known of its texts.
    """

    name: str
    found: Found
    form: Format
    total: int = 0
    fitting: dict[str, int] = field(default_factory=lambda: dict.fromkeys(("number", "date"), 0))
    first: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._trials = _trials(self.form.reading)
        self._shapes, self._marked = list(_SHAPES), set[tuple[str, ...]]()
        patterns = Patterns.of(self.form.reading)
        self._patterns = {
            "number": f"{patterns.whole}|{patterns.decimal}",
            "date": patterns.time,
        }

    @property
    def hopeful(self) -> bool:
        """Whether there may be something to say, by some of the texts because of which no type
        holds."""
        refused = self.found.refused
        if refused is None:
            return self.found.ambiguous or "time" in self.found.alive
        some = Suspect(self.name, self.found, self.form)
        some.add(refused, 0)
        likely = any(2 * count >= some.total for count in some.fitting.values())
        return bool(likely or some._trials or some._shapes)

    def add(self, texts: pa.Array, before: int) -> None:
        """Texts of a batch, and the number of records before it."""
        distinct = pc.drop_null(pc.unique(texts))
        if self._trials:
            self._trials = [trial for trial in self._trials if trial.add(distinct)]
        missing = pa.array(sorted(MISSING_WORDS))
        values = distinct.filter(pc.invert(pc.is_in(distinct, missing)))
        self._shapes = [
            shape
            for shape in self._shapes
            if pc.all(pc.match_substring_regex(values, shape[1])).as_py()
        ]
        self._marked = {
            shape
            for shape in self._shapes
            if shape in self._marked or pc.any(pc.match_substring_regex(values, shape[0])).as_py()
        }
        there = pc.and_(pc.invert(pc.is_in(texts, missing)), pc.is_valid(texts))
        self.total += pc.sum(there).as_py() or 0
        for kind, pattern in self._patterns.items():
            fits = distinct.filter(pc.match_substring_regex(distinct, pattern))
            fitting = pc.is_in(texts, fits)
            self.fitting[kind] += pc.sum(pc.and_(there, fitting)).as_py() or 0
            if kind not in self.first:
                miss = pc.index(pc.and_not(there, fitting), True).as_py()
                if miss >= 0:
                    self.first[kind] = before + miss + 1

    def notes(self, place: Callable[[int], str]) -> list[Note]:
        """At most one note; `line` says where a record is."""
        found, form = self.found, self.form
        trials = [trial for trial in self._trials if not trial.unseen]
        if trials:
            reasons = " or ".join(_reason(trial.reading, form.reading) for trial in trials)
            remedies = "; ".join(
                f"{_options(trial.reading, form, found.words)} makes it {trial.kind}"
                for trial in trials
            )
            because = _because([reasons, *_shown(form, found.words)])
            return [Note(self.name, because, remedies)]
        if found.ambiguous and not found.words:
            return [
                Note(
                    self.name,
                    "text because of numbers with differing decimals, such as versions",
                    f"--type {shlex.quote(self.name)}=numeric",
                )
            ]
        if "time" in found.alive and found.seen and not found.words:
            return [
                Note(
                    self.name,
                    "text because of dates and times in several forms or with several offsets",
                    f"--type {shlex.quote(self.name)}=timestamptz, or =timestamp without offsets",
                )
            ]
        for kind, fitting in self.fitting.items():
            missed = self.total - fitting
            if 0 < missed <= _FEW * self.total:
                return [
                    Note(
                        self.name,
                        f"text because {missed:,} of {self.total:,} values"
                        f" {'is' if missed == 1 else 'are'} no {kind}, the first in"
                        f" {place(self.first[kind])}",
                        "mend them, or --null WORD if they mean that there is no value",
                    )
                ]
        for _, _, reason, remedy in self._marked.intersection(self._shapes):
            column = shlex.quote(self.name)
            return [Note(self.name, f"text because of {reason}", remedy.format(column=column))]
        return []


def words_note(name: str, found: Found, kind: str, form: Format) -> Note:
    """Of a column that has another type than text but for words for missing values."""
    remedy = f"{_nulls(form, found.words)} makes it {kind}"
    return Note(name, _because(_shown(form, found.words)), remedy)


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
