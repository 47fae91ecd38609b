"""Hitting sets: sets of elements that meet every member of a family. Exact.

`decision` finds small ones by branch and bound, `witness` does so while a family grows, and
`enumeration` lists all minimal ones, which only small families allow.
"""

from pganon.methods.individuals.search.hitting_sets.decision import (
    BRANCHES,
    SearchTooLarge,
    hits_within,
    minimum_hitting_set,
)
from pganon.methods.individuals.search.hitting_sets.enumeration import (
    EnumerationTooLarge,
    extended_hitting_sets,
    minimal_hitting_sets,
)
from pganon.methods.individuals.search.hitting_sets.witness import LazyWitness

__all__ = [
    "BRANCHES",
    "EnumerationTooLarge",
    "LazyWitness",
    "SearchTooLarge",
    "extended_hitting_sets",
    "hits_within",
    "minimal_hitting_sets",
    "minimum_hitting_set",
]
