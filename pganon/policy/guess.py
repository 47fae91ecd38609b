"""Guesses at the role of a column, from its name, its key and a few counts.

A guess is a starting point for the steward, not a decision. A column whose name says nothing is
left undeclared, because undeclared columns are not released.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from pganon.catalog.model import Column
from pganon.catalog.statistics import Facts

LONG_TEXT = 100
FEW_VALUES = 30
MANY_ROWS = 20
MOST_RECORDS = 20
"""Records per value, on average, that the key of a person may have."""


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_DIRECT = _set(
    """ssn sin nino nhs mrn passport iban bic email mail phone telephone tel mobile fax
    firstname lastname surname forename fullname username login nickname password ip mac imei vin
    plate licence license url website street address addr latitude longitude lat lon lng geom
    comment comments note notes remark remarks description freetext signature photo"""
)
_SENSITIVE = _set(
    """disease diagnosis diagnoses icd condition illness disorder symptom treatment therapy
    medication drug prescription procedure allergy hiv std disability pregnancy salary income wage
    wages pay bonus revenue wealth debt loan balance credit score occupation profession job crime
    offence offense conviction religion belief politics party vote union sexuality orientation
    genotype gene result outcome grade grades"""
)
_QUASI = _set(
    """age birth birthday birthdate born dob yob zip zipcode postcode postal plz sex gender race
    ethnicity ethnic nationality citizenship country native state province region county city town
    municipality district commune area location residence marital relationship spouse education
    degree school schooling workclass employer employment industry sector household children
    language ancestry veteran height weight admission discharge visit death year"""
)
_WEAK = _set("id ids uid uuid guid key pk name no nr nbr num number code serial ref token")
_COUNTS = _set("num number nr no count")
_NO_COUNTS = _set("number numbers numero nummer")


_KEY_KINDS = _set("integer text bpchar citext uuid")


@dataclass(frozen=True)
class Guess:
    """A role, or None to leave the column undeclared, and the reason for it."""

    role: str | None
    reason: str
    codes: bool = False


def words(name: str) -> list[str]:
    """`dateOfBirth2` -> date, of, birth."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return [word for word in re.split(r"[^a-z]+", spaced.lower()) if word]


def guess_role(
    column: Column, *, key: bool, unique: bool, person: bool = False, facts: Facts | None
) -> Guess:
    """The likely role of a column that pganon can release.

    Args:
        key: it is in the primary key.
        person: whether :func:`persons_key` found it.
    """
    parts = set(words(column.name)) | {"".join(words(column.name))}
    codes = (
        column.kind == "integer"
        and facts is not None
        and 0 < facts.distinct <= FEW_VALUES
        and facts.rows >= MANY_ROWS
        and not parts & {"age", "year"}
    )
    if key or unique:
        return Guess("identifying", "part of the primary key" if key else "unique")
    if parts & _DIRECT:
        return Guess("identifying", "by its name")
    if parts & _SENSITIVE:
        return Guess("sensitive", "by its name", codes)
    if parts & _QUASI:
        return Guess("quasi_identifying", "by its name", codes)
    if is_count(column):
        return Guess("quasi_identifying", "a number of something, by its name", codes)
    if person:
        return Guess("identifying", "several records per value, perhaps whose record it is")
    if parts & _WEAK or column.kind == "uuid":
        return Guess("identifying", "by its name" if parts & _WEAK else "by its type")
    if facts is not None and _looks_unique(column, facts):
        return Guess("identifying", "nearly every row has its own value")
    if facts is not None and facts.longest > LONG_TEXT:
        return Guess("identifying", "long texts")
    if column.is_time:
        return Guess("quasi_identifying", "dates of events are often known", codes)
    if column.is_number and facts is not None and facts.distinct > FEW_VALUES:
        return Guess("quasi_identifying", "many different numbers tell people apart")
    return Guess(None, "no guess", codes)


def is_count(column: Column) -> bool:
    """Whether its name says that it counts something: num_visits, numVisits, number_of_rooms."""
    first, *others = words(column.name) or [""]
    if not column.is_number:
        return False
    if first in _COUNTS:
        return bool(set(others) - _WEAK)
    return first.startswith("num") and first not in _NO_COUNTS


def persons_key(
    columns: Iterable[Column], facts: Mapping[str, Facts], unique: Collection[str]
) -> str | None:
    """The column that seems to say whose record it is, though people have several.

    It is the finest of those that keys are kept in, and no name says that it is something else.

    Args:
        unique: columns of keys; they say which record it is.
    """
    counted = [
        (facts[column.name].distinct, column)
        for column in columns
        if column.kind in _KEY_KINDS and column.name in facts and column.name not in unique
    ]
    counted.sort(key=lambda item: -item[0])
    if not counted or (len(counted) > 1 and counted[0][0] == counted[1][0]):
        return None
    distinct, column = counted[0]
    present = facts[column.name].present
    named = set(words(column.name)) & (_DIRECT | _SENSITIVE | _QUASI)
    if named or is_count(column) or present < MANY_ROWS or distinct <= FEW_VALUES:
        return None
    return column.name if distinct < present <= MOST_RECORDS * distinct else None


def _looks_unique(column: Column, facts: Facts) -> bool:
    if column.kind not in _KEY_KINDS:
        return False
    return facts.present >= MANY_ROWS and facts.distinct >= 0.95 * facts.present
