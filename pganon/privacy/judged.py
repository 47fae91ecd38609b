"""What of a cell is held against a model: people with the same past, after several versions."""

from __future__ import annotations

from enum import StrEnum


class Judged(StrEnum):
    """What is counted, and so for whom the model holds over all versions.

    PEOPLE: the number of people.
    MOST: how many of them can have a value at most.
    EXTREMES: how many can have it at most and at least.
    VALUES: the different values that they do have.
    RECORDS: the values that they do have, with their frequencies.
    COMBINATIONS: the combinations of their own values.
    NOTHING: the model bounds what people look like, or one version alone.
    """

    PEOPLE = "people"
    MOST = "most"
    EXTREMES = "extremes"
    VALUES = "values"
    RECORDS = "records"
    COMBINATIONS = "combinations"
    NOTHING = "nothing"


OF_COLUMNS = frozenset({Judged.MOST, Judged.EXTREMES, Judged.VALUES, Judged.COMBINATIONS})
"""What readers conclude about columns from the groups of versions, without knowing whose rows of
different versions belong together."""

HOLDS_FOR = {
    Judged.PEOPLE: "readers who also know which rows of different versions belong together",
    Judged.MOST: "readers who know who was in which group of every version",
    Judged.EXTREMES: "readers who know who was in which group of every version",
    Judged.VALUES: "readers who know who was in which group of every version: so many values"
    " remain possible, not equally likely",
    Judged.RECORDS: "readers who know which rows belong to people with the same past, and nothing"
    " that other versions tell of their values",
    Judged.COMBINATIONS: "readers who know who was in which group of every version: so many"
    " combinations remain possible, not equally likely",
    Judged.NOTHING: "readers of one version",
}

INDEPENDENT = (
    "; taken for granted is that columns which no version shows together tell them nothing of one"
    " another"
)
"""Added where cells are those of versions that share or associate columns."""

KEPT_SETS = (
    "readers who know who was in which group of every version, and hold no value of a group for"
    " likelier than another"
)
"""Instead, of people who keep their value sets."""

KEPT_VECTORS = (
    "readers who know who was in which group of every version, and which values of different"
    " columns go together, and hold nothing that somebody of a group may have in all columns for"
    " likelier than another"
)
"""The same of several columns."""
