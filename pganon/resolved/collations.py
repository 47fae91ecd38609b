"""Columns whose collation can treat different texts as equal.

Texts are compared byte by byte, so values that are equal under the collation count as different.
For quasi-identifiers that only makes finer classes, and insensitive values are not compared. It is
refused where values are counted, tell people apart, or are recognized by a rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pganon.catalog.model import Relation
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.refusals import Place, Refusal

_COUNTED = ("sensitive", "individual", "quasi_sensitive")


def collation_refusals(policy: Policy, relation: Relation, key: Sequence[str]) -> Iterator[Refusal]:
    """Columns that cannot have the role of the policy; places are those of the policy.

    Args:
        key: what tells people apart: the individual, or the primary key.
    """
    for name, place in _counted(policy, key).items():
        column = relation.column(name)
        if column is None or column.collation_deterministic:
            continue
        yield Refusal(
            place,
            f"column {quote(name)} has the collation {column.collation}, which calls different"
            " texts equal; they would count as several values",
            f'release a view that makes them one text, such as lower({quote(name)}) COLLATE "C"',
        )


def _counted(policy: Policy, key: Sequence[str]) -> dict[str, Place]:
    columns: dict[str, Place] = {
        name: ("columns", name)
        for name, declared in policy.columns.items()
        if declared.role in _COUNTED
    }
    for name in key:
        columns.setdefault(name, ("individual",) if policy.individual_key else ("source",))
    for number, exclusion in enumerate(policy.exclusions):
        for name in exclusion.when:
            columns.setdefault(name, ("exclusions", number, "when", name))
    return columns
