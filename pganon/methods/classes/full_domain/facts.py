"""Facts of the search: nodes are texts of levels, `2.0.1`, and what they lose are whole numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from pganon.methods.classes.full_domain.search.lattice import Node, node_of, text_of
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.facts import Fact, count, flag, label, measure, or_null

_OF = "levels_"

PROVED = flag("proved", _OF)
"""Whether no other node within the limit loses less."""

COST = or_null(count("cost", _OF, assumed=0))
"""Loss of all records, in units of 1e-9 of one; None where no node can be released."""

BOUND = or_null(count("bound", _OF, assumed=0))
"""The least that any node can lose; None where none can be released."""

EVALUATED = count("evaluated", _OF)
"""Nodes that were evaluated."""

LEAST = count("least", _OF)
"""The fewest failing records of any node that was evaluated in the last search."""

MISSED = count("missed", _OF, assumed=0)
"""Nodes whose classes miss together what is estimated of them."""

NEAREST = or_null(measure("nearest", _OF))
"""The least share that was estimated of these."""

REASONS = label("reasons", _OF)
"""Why it could not be, of others."""

TAKEN = label("taken", _OF)
"""The best nodes of all searches, each with the records that it leaves."""

RECODED = count("recoded", _OF)
"""Rounds of recoding that release records, if there may be several."""


def of_search(spec: ReleaseSpec) -> Sequence[Fact[Any]]:
    """All that the search gives, with what a plan assumes."""
    assumed = listed([((0,) * len(spec.attributes), 0)])
    found = label("taken", _OF, assumed=assumed)
    return (PROVED, COST, BOUND, EVALUATED, LEAST, MISSED, NEAREST, REASONS, found)


def listed(taken: Iterable[tuple[Node, int]]) -> str:
    return ",".join(f"{text_of(node)}@{left}" for node, left in taken)


def taken(state: State) -> list[tuple[Node, int]]:
    """The nodes that are released, each with the records that it leaves."""
    each = (part.split("@") for part in state[TAKEN].split(",") if part)
    return [(node_of(node), int(left)) for node, left in each]
