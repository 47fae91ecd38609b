"""What classes of individuals say of themselves: what more there is to know of a person."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.forms.sentences import Told, count, share, told
from pganon.forms.utility import IdentityUtility, Utility

MESSAGES = {
    "structure_of_individuals": "Everybody is in one group, under one number.",
    "exposed": "Few people have a value that nobody else of their group has, beside others.",
    "smallest_count_group": "In every group at least {required} people have equally many records.",
}


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, IdentityUtility)
    return list(_told(utility))


def _told(utility: IdentityUtility) -> Iterator[Told]:
    yield told(
        "records of a person",
        "Records of a person stay together: ",
        count(utility.individuals),
        " people are released. Who knows how many records somebody has is left with at least ",
        count(utility.smallest_count_group),
        " of the people of a group.",
    )
    yield told(
        "a value that nobody else has",
        count(utility.exposed),
        " people have a value that nobody else of their group has, beside other values: who knows"
        " the one of them learns the others.",
        of=utility.exposed,
    )
    if utility.vulnerable is not None:
        yield told(
            "vulnerable groups",
            "In ",
            share(utility.vulnerable),
            " of the groups records can be picked, one of each person, that have fewer different"
            " values, or one of them more often, than is required of all records together.",
        )
