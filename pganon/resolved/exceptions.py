"""Relations of exceptions: a row says that a value of a person is sensitive."""

from __future__ import annotations

from collections.abc import Sequence

from pganon.catalog.model import Relation
from pganon.identifiers import quote
from pganon.policy.sensitive_when import EXCEPTION_COLUMN

_TEXTS = ("text", "bpchar", "citext", "enum")


def exception_problem(
    source: Relation, key: Sequence[str], relation: Relation
) -> tuple[str, str] | None:
    """Why the relation cannot say whose values of the source are sensitive, and what to do."""
    if not key:
        return (
            f"{source.name} has no primary key that rows of {relation.name} could name",
            "give it a primary key, or use a boolean column",
        )
    for name in key:
        mine, other = source.column(name), relation.column(name)
        if other is None or not other.readable:
            return (
                f"{relation.name} has no readable column {quote(name)}, which is of the primary key"
                f" of {source.name}",
                f"name a table with the columns {_wanted(key)}",
            )
        if mine is not None and mine.type_oid != other.type_oid:
            return (
                f"column {quote(name)} is {mine.type_name} in {source.name} and {other.type_name}"
                f" in {relation.name}",
                "name a view that casts it to the type of the source",
            )
    named = relation.column(EXCEPTION_COLUMN)
    if named is None or not named.readable or named.kind not in _TEXTS:
        return (
            f"{relation.name} has no readable text column {quote(EXCEPTION_COLUMN)} that names the"
            " column whose value is sensitive",
            f"name a table with the columns {_wanted(key)}",
        )
    return None


def _wanted(key: Sequence[str]) -> str:
    return ", ".join(map(quote, (*key, EXCEPTION_COLUMN)))
