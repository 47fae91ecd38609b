"""Facts of the search: nodes are texts of levels, `2.0.1`, and what they lose are whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

from pganon.methods.classes.full_domain.search.lattice import Node, node_of, text_of
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.facts import Fact, count, flag, label, measure, or_null

_OF = "levels_"

ROUNDS = count("rounds", _OF)
ENDED = flag("ended", _OF)
PROVED = flag("proved", _OF)
"""Whether no other node within the limit loses less."""

AGAIN = flag("again", _OF, assumed=False)
"""Whether a node is judged again, against what is left without its failing classes."""

COST = or_null(count("cost", _OF, assumed=0))
"""Loss of all records, in units of 1e-9 of one; None where no node can be released."""

BOUND = or_null(count("bound", _OF, assumed=0))
"""The least that any node can lose; None where none can be released."""

EVALUATED = or_null(count("evaluated", _OF))
"""Nodes that were evaluated, at the end."""

LEAST = or_null(count("least", _OF))
"""The fewest failing records of any node that was evaluated, at the end."""

MISSED = count("missed", _OF, assumed=0)
"""Nodes whose classes miss together what is estimated of them."""

NEAREST = or_null(measure("nearest", _OF))
"""The least share that was estimated of these."""

REASONS = label("reasons", _OF)
"""Why it could not be, of others."""

SEARCHED = count("searched", _OF)
"""Searches that have ended, one for each round of recoding."""

FURTHER = flag("further", _OF, assumed=False)
"""Whether a search has ended and another follows."""

TAKEN = label("taken", _OF)
"""The best nodes of the searches that have ended, each with the records that it leaves."""

TOOK = label("took", _OF)
"""The best node of the search that ends in this round, with the round whose failing classes it
leaves out, if that is not what sizes say; empty without one."""

DROPPED = label("dropped", _OF)
"""Rounds whose failing classes nobody needs any more."""

FAILED = label("failed", _OF)
"""Rounds whose failing classes are kept."""

RECODED = count("recoded", _OF)
"""Rounds of recoding that release records, if there may be several."""

TABLES = label("tables", _OF)
MADE = label("made", _OF)
ASKED = label("asked", _OF)
JUDGED = label("judged", _OF)


def of_round(spec: ReleaseSpec) -> Sequence[Fact]:
    """All of them that a round gives, with what a plan assumes."""
    node = text_of((0,) * len(spec.attributes))
    judged = _judges(spec) or _rounds(spec) > 1
    return (
        ENDED,
        PROVED,
        AGAIN,
        COST,
        BOUND,
        EVALUATED,
        SEARCHED,
        flag("further", _OF, assumed=_rounds(spec) > 1),
        LEAST,
        MISSED,
        NEAREST,
        REASONS,
        DROPPED,
        FAILED,
        label("taken", _OF, assumed=f"{node}@0@"),
        label("took", _OF, assumed=f"{node}@{'0' if judged else ''}@"),
        label("tables", _OF, assumed=f"{node}@@hist"),
        MADE,
        label("asked", _OF, assumed=f"{node}@hist@"),
        label("judged", _OF, assumed=f"{node}@hist@" if judged else ""),
    )


def _judges(spec: ReleaseSpec) -> bool:
    """Whether a model is more than sizes and distinct values."""
    return bool(spec.estimated) or any(
        r.model.needs_values and not r.model.counts_distinct for r in spec.measured
    )


def _rounds(spec: ReleaseSpec) -> int:
    return getattr(spec.policy.method, "rounds", 1)


def place(state: State) -> int:
    """The round of recoding, from 0, that a round of the searches is of, once it has asked."""
    return state[SEARCHED] - int(state[FURTHER] or state[ENDED])


def taken(state: State) -> list[tuple[Node, int]]:
    """The nodes that are released, each with the records that it leaves."""
    return [(node, int(left)) for node, left, _ in listed(state[TAKEN])]


def listed(text: str) -> list[tuple[Node, str, str]]:
    """(node, source, name) of a fact that lists nodes."""
    parts = (part.split("@") for part in text.split(",") if part)
    return [(node_of(node), source, name) for node, source, name in parts]


def numbers(text: str) -> list[int]:
    """The rounds of a fact that lists them."""
    return [int(part) for part in text.split(",") if part]
