"""Columns that may hold one of the 18 kinds of identifiers of HIPAA Safe Harbor.

The kinds are those of 45 CFR 164.514(b)(2)(i), A to R. Names and types of columns say something
about most of them. Hints are for people to look at; that there is none proves nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pganon.catalog.model import Column
from pganon.policy.vocabulary import SAFE_HARBOR, shortened, words

KINDS = SAFE_HARBOR["kinds"]
_NUMBER = "(id|ids|no|nr|num|nbr|number|numbers)"

BY_NAME, BY_TYPE = "by its name", "by its type"


@dataclass(frozen=True)
class Hint:
    """That a column may hold a kind of identifiers.

    Attributes:
        kind: its letter, a key of `KINDS`.
        share: of the values, or of the records, that look so; None where none was looked at.
    """

    column: str
    kind: str
    why: str
    share: float | None = None

    @property
    def label(self) -> str:
        """The letter and the kind."""
        return f"{self.kind}, {KINDS[self.kind]}"


def hints(columns: Iterable[Column]) -> list[Hint]:
    """What names and types of columns say, in the order of the columns."""
    return [hint for column in columns for hint in (*by_type(column), *by_name(column.name))]


def by_type(column: Column) -> list[Hint]:
    """What the type of a column says."""
    kinds = "C" if column.is_time else SAFE_HARBOR["types"].get(column.base, "")
    return [Hint(column.name, kind, BY_TYPE) for kind in kinds]


def by_name(name: str) -> list[Hint]:
    """What the name of a column says: one kind, or none."""
    spaced = " ".join(words(name))
    for of in ("named", "common"):
        for kind, pattern in SAFE_HARBOR[of].items():
            if re.search(rf"\b({pattern.replace('NUMBER', _NUMBER)})\b", spaced):
                return [Hint(name, kind, BY_NAME)]
    return []


def is_age(name: str) -> bool:
    """Whether the name says that a column holds ages."""
    match = shortened(name)
    return match is not None and match.word == "age"
