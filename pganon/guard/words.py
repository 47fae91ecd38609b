"""What all versions together tell, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pganon.identifiers import quote

_WHO = "who has all versions"


def sentences(figures: Mapping[str, Any], audience: str = "") -> Iterator[str]:
    """For a steward whose policy publishes all the same: what is left of the promises.

    Args:
        figures: of :func:`pganon.guard.report.figures`.
        audience: a role that has the versions; empty for who has all.
    """
    who = f"who has all versions that {quote(audience)} could read" if audience else _WHO
    everybody = figures["guard_people"]
    below, above = figures["guard_below_k"], figures["guard_above"]
    certain = figures["guard_certain"]
    if below:
        yield (
            f"{who} can tell {below} of {everybody} people from more others than a"
            f" policy allowed; at worst {figures['guard_smallest_cell']} people are left"
        )
    if above:
        yield (
            f"{who} can hold a value of {above} of {everybody} people for likelier"
            f" than a policy allowed; at worst its probability is"
            f" {figures['guard_worst_probability']:.4g}"
        )
    if certain:
        yield f"{who} knows a value of {certain} of {everybody} people"


def assumption(
    columns: Sequence[str], others: Sequence[str], worst: float | None, audience: str = ""
) -> str:
    """What was taken for granted of the readers of a version, and what if it is wrong.

    Args:
        columns: of the version, and of those that share or associate them.
        others: columns that are taken to tell nothing of them.
        worst: largest bound on the probability of a value by all versions.
        audience: a role that has these versions; empty for who has all.
    """
    names = " and ".join(", ".join(map(quote, found)) or "nothing" for found in (columns, others))
    who = f"who has what {quote(audience)} could read" if audience else "readers"
    told = "" if worst is None else f", at worst with probability {worst:.4g}"
    return (
        f"taken for granted (assume): to {who}, {names} are independent; who knows otherwise can"
        f" hold a value for likelier than that allows{told}"
    )
