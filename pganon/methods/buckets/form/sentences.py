"""What linked tables say of themselves: how sure a value is, by the bucket or by learning."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.forms import sentences as sentences
from pganon.forms.sentences import Told, number, share, told
from pganon.forms.utility import AnatomyUtility, Utility


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, AnatomyUtility)
    return list(_told(utility, members))


def _told(utility: AnatomyUtility, members: str) -> Iterator[Told]:
    for name, found in utility.sensitive.items():
        yield told(
            f"guessing {name}",
            "In every bucket at most one of ",
            number(found.degree),
            f" {members} has the most common value in the column {name} (its degree), so a guess is"
            " right with a chance of at most ",
            share(1 / found.degree),
            ".",
        )
        if found.informed is not None:
            yield told(
                f"guessing {name}, informed",
                "Who knows which values of different tables go together is right with a chance of"
                " at most ",
                share(found.informed),
                ".",
            )
    if utility.inferred:
        yield from sentences.learned(utility.inferred, members, "learning {}", "the release itself")
    else:
        yield told(
            "learning",
            "What can be learned from the release itself was not measured of this version: values"
            " of people who came with earlier ones may have changed.",
        )
    if utility.related:
        parts = [
            part
            for place, one in enumerate(utility.related)
            for part in (
                f"{', ' if place else ''}the columns {one.column} and {one.sensitive} ",
                number(round(one.association, 3)),
            )
        ]
        yield told(
            "associations",
            "How closely a column goes with what is hidden, from 0 to 1: ",
            *parts,
            ".",
        )
