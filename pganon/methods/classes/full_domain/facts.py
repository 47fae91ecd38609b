"""Facts of the search: nodes are texts of levels, `2.0.1`, and what they lose are whole numbers."""

from __future__ import annotations

from collections.abc import Sequence

from pganon.methods.classes.full_domain.search.lattice import Node, node_of, text_of
from pganon.resolved.model import ReleaseSpec
from pganon.steps.facts import Fact, count, flag, label, or_null

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

LEFT_OUT = or_null(count("left_out", _OF))
"""The round whose failing classes the best node leaves out; None where the sizes say it."""

LEAST = or_null(count("least", _OF))
"""The fewest failing records of any node that was evaluated, at the end."""

BEST = label("best", _OF)
"""The best node so far; empty without one."""

DROPPED = label("dropped", _OF)
"""Rounds whose failing classes nobody needs any more."""

FAILED = label("failed", _OF)
"""Rounds whose failing classes are kept."""

TABLES = label("tables", _OF)
MADE = label("made", _OF)
ASKED = label("asked", _OF)
JUDGED = label("judged", _OF)


def of_round(spec: ReleaseSpec) -> Sequence[Fact]:
    """All of them that a round gives, with what a plan assumes."""
    node = text_of((0,) * len(spec.attributes))
    return (
        ENDED,
        PROVED,
        AGAIN,
        COST,
        BOUND,
        EVALUATED,
        LEFT_OUT,
        LEAST,
        DROPPED,
        FAILED,
        label("best", _OF, assumed=node),
        label("tables", _OF, assumed=f"{node}@@hist"),
        MADE,
        label("asked", _OF, assumed=f"{node}@hist@"),
        label("judged", _OF, assumed=f"{node}@hist@" if _judges(spec) else ""),
    )


def _judges(spec: ReleaseSpec) -> bool:
    """Whether a model is more than sizes and distinct values."""
    return any(r.model.needs_values and not r.model.counts_distinct for r in spec.measured)


def listed(text: str) -> list[tuple[Node, str, str]]:
    """(node, source, name) of a fact that lists nodes."""
    parts = (part.split("@") for part in text.split(",") if part)
    return [(node_of(node), source, name) for node, source, name in parts]


def numbers(text: str) -> list[int]:
    """The rounds of a fact that lists them."""
    return [int(part) for part in text.split(",") if part]
