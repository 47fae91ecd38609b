"""Type of every column of a file, from all of its values, while they are read."""

from __future__ import annotations

from dataclasses import dataclass, field

from pganon.importing.kinds import Kind, Reading, kinds
from pganon.importing.records import Column

_REMEMBERED = 5000
"""Values of a column that need not be looked at again."""

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
    """What the values of a column have shown so far.

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


def _kind_of(values: set[str], before: Kind | None, reading: Reading) -> Kind | None:
    """The narrowest type of these values and of all before, which have the type `before`."""
    there = kinds(reading)
    if before is not None:
        there = tuple(kind for kind in there if kind is before or before.name in kind.within)
    return next((kind for kind in there if kind.has(values)), None)
