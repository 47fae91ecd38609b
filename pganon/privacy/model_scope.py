"""The part of a group that a model depends on."""

from __future__ import annotations

from enum import StrEnum


class Judged(StrEnum):
    """The part of a group that a model depends on, so that its people may be suppressed for it.

    PEOPLE: the number of people.
    MOST: how many of them have a value at most.
    EXTREMES: how many have it at most and at least.
    VALUES: the different values that they have.
    RECORDS: the values that they have, with their frequencies.
    COMBINATIONS: the combinations of their own values.
    NOTHING: quasi-identifiers alone, or one version alone.
    """

    PEOPLE = "people"
    MOST = "most"
    EXTREMES = "extremes"
    VALUES = "values"
    RECORDS = "records"
    COMBINATIONS = "combinations"
    NOTHING = "nothing"


HOLDS, FINER, VOID = "holds", "finer", "void"
"""Whether a guarantee holds beside other versions: as it is, only for readers without a finer one,
or not at all."""

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
"""The same for several sensitive columns."""


def over_finer(k: int) -> str:
    """Instead of these, where this version can be computed from a finer one, which guarantees k."""
    return (
        "readers of this and coarser versions; who has the finer one that this follows from has its"
        f" bounds: k = {k}"
    )
