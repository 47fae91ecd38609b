"""Type of every column of a file, from all of its values, while they are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pganon.importing.kinds import Kind, Reading, kinds
from pganon.importing.records import Column

_PATTERNS = 20
"""How often a pattern is made anew; one of many columns takes a while."""

_REMEMBERED = 5000
"""Values of a column that need not be tested again."""

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


@dataclass
class ColumnType:
    """Findings about the values of a column so far.

    Attributes:
        nullable: there was a NULL.
        words: words for missing values that occur as values.
        kind: the narrowest type of all values but these words; None: there was none of them.
        text: no other type than text has all of them.
        refused: the values that showed that.
    """

    reading: Reading
    nullable: bool = False
    words: set[str] = field(default_factory=set)
    kind: Kind | None = None
    text: bool = False
    refused: frozenset[str] = frozenset()
    _seen: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """SQL type of the column."""
        return "text" if self.text or self.words or self.kind is None else self.kind.name

    def surely(self, any_text: str) -> str:
        """Pattern of fields, none of them quoted, that teach nothing about the column.

        Args:
            any_text: pattern of a field that is not empty.
        """
        if self.text:
            sure = any_text
        else:
            words = [re.escape(word) for word in sorted(self.words - {""})]
            sure = "|".join([*([self.kind.surely] if self.kind else []), *words]) or "(?!)"
        return f"(?:{sure})?" if self.nullable else f"(?:{sure})"

    def add(self, column: Column) -> None:
        self.nullable |= column.nulls
        if not self.text:
            self.add_values(column.values)

    def add_values(self, values: set[str]) -> None:
        new = values - self._seen
        words = new & MISSING_WORDS
        if words:
            self.words |= words
            new -= words
        if not new:
            return
        self.kind = _kind_of(new, self.kind, self.reading)
        if self.kind is None:
            self.text, self.refused = True, frozenset(new)
            self._seen.clear()
        elif len(self._seen) < _REMEMBERED:
            self._seen |= new


class SureLines:
    """Lines of a file that teach nothing about its columns, as a pattern.

    Most files are of such lines after the first thousands, and one match decides about many.
    """

    def __init__(self, types: Sequence[ColumnType], separator: str) -> None:
        self._types = types
        self._separator = re.escape(separator)
        self._seen: list[object] = []
        self._pattern: re.Pattern[str] | None = None
        self._remaining = _PATTERNS

    def pattern(self, any_text: str) -> re.Pattern[str] | None:
        """The pattern as the columns are now; None before there are any values.

        Args:
            any_text: pattern of a field that is not empty.
        """
        seen: list[object] = [
            (column.kind, column.text, column.nullable, len(column.words)) for column in self._types
        ]
        if seen != self._seen and self._remaining:
            self._seen = seen
            self._remaining -= 1
            fields = self._separator.join(column.surely(any_text) for column in self._types)
            self._pattern = re.compile(f"(?>{fields}\r?\n)++")
        return self._pattern if seen == self._seen else None


def _kind_of(values: set[str], before: Kind | None, reading: Reading) -> Kind | None:
    """The narrowest type of these values and of all before, which have the type `before`."""
    there = kinds(reading)
    if before is not None:
        there = tuple(kind for kind in there if kind is before or before.name in kind.within)
    return next((kind for kind in there if kind.has(values)), None)
