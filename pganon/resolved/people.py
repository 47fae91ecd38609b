"""The key that tells people apart, and relations of people by it, against the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pganon.catalog.model import Kind, Relation
from pganon.catalog.values import texts_of
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.refusals import Place, Refusal
from pganon.policy.words import NOBODY
from pganon.resolved.other import comparable
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


def people_refusals(
    place: Place, source: Relation, key: Sequence[str], relation: Relation
) -> Iterator[Refusal]:
    """Why the relation cannot name people of the source."""
    if not key:
        message = f"nothing tells the people of {source.name} apart"
        yield Refusal(place, message, "give the source a primary key, or the policy `individual`")
    for column in filter(None, map(source.column, key)):
        yield from comparable(place, column, source, relation, texts_of)


def aliases_refusals(
    place: Place, source: Relation, key: Sequence[str], relation: Relation
) -> Iterator[Refusal]:
    """Why the relation cannot say under which key people were known before."""
    if len(key) != 1:
        what = f"are told apart by {', '.join(map(quote, key))}" if key else "cannot be told apart"
        message = f"people of {source.name} {what}; aliases are for a key of one column"
        yield Refusal(place, message, "declare `individual` with one column")
        return
    column = source.column(key[0])
    for name in (OLD, NEW):
        if column is not None:
            yield from comparable(place, column, source, relation, lambda c: c.type_name, name)
