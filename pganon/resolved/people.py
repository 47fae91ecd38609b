"""The key that tells people apart, and relations of people by it, against the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pganon.catalog.model import Kind, Relation
from pganon.catalog.values import texts_of
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.refusals import Place, Refusal
from pganon.policy.words import NOBODY
from pganon.resolved.population import NEW, OLD


def key_refusals(policy: Policy, source: Relation, key: Sequence[str]) -> Iterator[Refusal]:
    """Columns of the key in which equal values may look different: one person would be two."""
    for name in key:
        column = source.column(name)
        if column is not None and not column.has_canonical_text:
            yield Refusal(
                ("individual",) if policy.individual_key else ("source",),
                f"column {quote(name)} is {column.type_name}, a type in which equal values may be"
                " spelled differently; it cannot tell people apart",
                "release a view that casts it to a type such as integer, text or uuid, so that"
                " every person has one key"
                + ("" if policy.individual_key else ", or declare `individual`"),
            )


_COUNTED = ("sensitive", "individual", "quasi_sensitive")


def collation_refusals(policy: Policy, relation: Relation, key: Sequence[str]) -> Iterator[Refusal]:
    """Columns whose collation can treat different texts as equal, which are compared byte by byte.

    For quasi-identifiers that only makes finer classes, and insensitive values are not compared. It
    is refused where values are counted, tell people apart, or are recognized by a rule.

    Args:
        key: what tells people apart: the individual, or the primary key.
    """
    places: dict[str, Place] = {
        name: ("columns", name)
        for name, declared in policy.columns.items()
        if declared.role in _COUNTED
    }
    for name in key:
        places.setdefault(name, ("individual",) if policy.individual_key else ("source",))
    for number, exclusion in enumerate(policy.exclusions):
        for name in exclusion.when:
            places.setdefault(name, ("exclusions", number, "when", name))
    for name, place in places.items():
        column = relation.column(name)
        if column is None or column.collation_deterministic:
            continue
        yield Refusal(
            place,
            f"column {quote(name)} has the collation {column.collation}, which calls different"
            " texts equal; they would count as several values",
            f'release a view that makes them one text, such as lower({quote(name)}) COLLATE "C"',
        )


_KEYS: frozenset[Kind] = frozenset({"integer", "numeric", "text", "bpchar", "citext", "uuid"})


def owners_of(policy: Policy, source: Relation) -> tuple[tuple[str, ...], ...]:
    """Keys of whom records are of, as far as is known, where people may have several records that
    the models count: `individual`, else every foreign key and every identifying column that can
    have a value again."""
    if policy.individual == NOBODY or policy.method.encoding.reserves_identity:
        return ()
    if policy.individual_key:
        accepted = policy.records_per_individual == "many_accepted"
        return (policy.individual_key,) if accepted else ()
    keys = [key.columns for key in source.foreign_keys]
    for name in policy.with_role("identifying"):
        column = source.column(name)
        keys += [(name,)] if column is not None and column.kind in _KEYS else []
    return tuple(key for key in dict.fromkeys(keys) if _may_repeat(source, key))


def _may_repeat(source: Relation, key: Sequence[str]) -> bool:
    columns = [column for name in key if (column := source.column(name)) is not None]
    known = all(column.readable and column.has_canonical_text for column in columns)
    return known and source.unique.isdisjoint(key) and set(key) != set(source.primary_key)


def people_problem(
    source: Relation, key: Sequence[str], relation: Relation
) -> tuple[str, str] | None:
    """Why the relation cannot name people of the source, and what to do."""
    if not key:
        return (
            f"nothing tells the people of {source.name} apart",
            "give the source a primary key, or the policy `individual`",
        )
    for name in key:
        column, other = source.column(name), relation.column(name)
        if other is None or not other.readable:
            return (
                f"{relation.name} has no readable column {quote(name)}, which tells people apart",
                f"name a table with the columns {', '.join(map(quote, key))}",
            )
        if column is not None and texts_of(column) != texts_of(other):
            return (
                f"column {quote(name)} is {column.type_name} in {source.name} and {other.type_name}"
                f" in {relation.name}, where the same person may have another key",
                "name a view that casts it to the type of the source",
            )
    return None


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
    column = source.column(key[0])
    types = {c.type_name for name in (OLD, NEW) if (c := relation.column(name)) is not None}
    if column is not None and types != {column.type_name}:
        return (
            f"column {quote(key[0])} of {source.name} is {column.type_name}, {OLD} and {NEW} of"
            f" {relation.name} are {' and '.join(sorted(types))}",
            "name a view that casts them",
        )
    return None


def _readable(relation: Relation, name: str) -> bool:
    column = relation.column(name)
    return column is not None and column.readable
