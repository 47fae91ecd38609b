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


ONE_VERSION = "readers of one version"

ALL_VERSIONS = "readers of all versions, who know who was in which group of every one"

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
