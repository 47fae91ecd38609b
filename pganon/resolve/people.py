"""Relations of people by their key, against the source."""

from __future__ import annotations

from collections.abc import Sequence

from pganon.catalog.model import Relation
from pganon.identifiers import quote


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


def _readable(relation: Relation, name: str) -> bool:
    column = relation.column(name)
    return column is not None and column.readable
