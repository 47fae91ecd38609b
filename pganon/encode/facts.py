"""Facts that encoding observes."""

from __future__ import annotations

from functools import cache

from pganon.steps import State
from pganon.steps.facts import RECORDS, Fact, count, flag

ASSUMED_VALUES = 40
"""Distinct values that every column is assumed to have, since a plan looks at no data."""

KEPT = count("kept", assumed=40)
"""Records that the rules for NULL keep; without those that a method collapses."""

MOST_EACH = count("most_each")
"""Records of the individual who has most of them, where an individual may have several."""

COLLAPSED = count("collapsed")
"""Records that repeat a value of their individual, where the method counts it once."""


@cache
def size(index: int) -> Fact[int]:
    """Distinct values of a quasi-identifier that are not NULL."""
    return count(f"m{index}", assumed=ASSUMED_VALUES)


@cache
def has_null(index: int) -> Fact[bool]:
    """Whether a quasi-identifier is NULL anywhere; assumed wherever the catalog allows it."""
    return flag(f"null{index}")


@cache
def levels(index: int) -> Fact[int]:
    """Levels of the hierarchy of a quasi-identifier above the leaves."""
    return count(f"levels{index}")


@cache
def shown_level(index: int) -> Fact[int]:
    """The level that every class shows; where nothing gives it a class shows its own."""
    return count(f"level{index}", "shown_")


@cache
def value_count(index: int) -> Fact[int]:
    """The highest code of a sensitive column, which NULL has where it occurs."""
    return count(f"sm{index}", assumed=ASSUMED_VALUES)


@cache
def respelled(index: int) -> Fact[int]:
    """Texts of a sensitive column that are there in several spellings."""
    return count(f"slooks{index}")


@cache
def null_code(index: int) -> Fact[int]:
    """The code of NULL in a sensitive column; 0 without NULL."""
    return count(f"snull{index}")


def weight_type(state: State) -> str:
    """Type of numbers of records. Sums of integers are bigint, those of bigint slow numeric."""
    return "integer" if state[RECORDS] < 2**31 else "bigint"
