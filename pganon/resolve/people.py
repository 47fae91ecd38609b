"""Relations of people by their key, against the source."""

from __future__ import annotations

from collections.abc import Sequence

from pganon.catalog.model import Relation
from pganon.identifiers import quote
from pganon.spec.population import NEW, OLD


def people_problem(
    source: Relation, key: Sequence[str], relation: Relation
) -> tuple[str, str] | None:
    """Why the relation cannot name people of the source, and what to do."""
    if not key:
        return (
            f"nothing tells the people of {source.name} apart",
            "give the source a primary key, or the policy `individual`",
        )
    missing = [name for name in key if not _readable(relation, name)]
    if not missing:
        return None
    return (
        f"{relation.name} has no readable column {quote(missing[0])}, which tells people apart",
        f"name a table with the columns {', '.join(map(quote, key))}",
    )


def aliases_problem(
    source: Relation, key: Sequence[str], relation: Relation
) -> tuple[str, str] | None:
    """Why the relation cannot say under which key people were known before, and what to do."""
    if len(key) != 1:
        what = f"are told apart by {', '.join(map(quote, key))}" if key else "cannot be told apart"
        return (
            f"people of {source.name} {what}; aliases are for a key of one column",
            "declare `individual` with one column",
        )
    missing = [name for name in (OLD, NEW) if not _readable(relation, name)]
    if missing:
        return (
            f"{relation.name} has no readable column {quote(missing[0])}",
            f"name a table with the columns {OLD} and {NEW}",
        )
    own = source.column(key[0])
    types = {c.type_name for name in (OLD, NEW) if (c := relation.column(name)) is not None}
    if own is not None and types != {own.type_name}:
        return (
            f"column {quote(key[0])} of {source.name} is {own.type_name}, {OLD} and {NEW} of"
            f" {relation.name} are {' and '.join(sorted(types))}",
            "name a view that casts them",
        )
    return None


def _readable(relation: Relation, name: str) -> bool:
    column = relation.column(name)
    return column is not None and column.readable
