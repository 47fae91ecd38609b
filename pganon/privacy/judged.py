"""What a model holds people against."""

from __future__ import annotations

from enum import StrEnum


class Judged(StrEnum):
    """What of a group is held against a model, and so what its people may be left out for.

    PEOPLE: the number of people.
    MOST: how many of them have a value at most.
    EXTREMES: how many have it at most and at least.
    VALUES: the different values that they have.
    RECORDS: the values that they have, with their frequencies.
    COMBINATIONS: the combinations of their own values.
    NOTHING: what people look like, or one version alone.
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
"""Instead, of people who keep their signatures."""

KEPT_VECTORS = (
    "readers who know who was in which group of every version, and which values of different"
    " columns go together, and hold nothing that somebody of a group may have in all columns for"
    " likelier than another"
)
"""The same of several columns."""


def over_finer(k: int) -> str:
    """Instead, where who has a finer version, which promises k, could make this one from it."""
    return (
        "readers of this and coarser versions; who has the finer one that this follows from has its"
        f" bounds: k = {k}"
    )
