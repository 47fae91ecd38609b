"""The key that tells people apart, and relations of people by it, against the source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pganon.catalog.model import Kind, Relation
from pganon.catalog.values import texts_of
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.policy.refusals import Place, Refusal
from pganon.policy.words import NOBODY
from pganon.resolved.other import comparable, spelled
from pganon.resolved.population import NEW, OLD

_COUNTED = ("sensitive", "individual", "quasi_sensitive")


def spelling_refusals(policy: Policy, relation: Relation, key: Sequence[str]) -> Iterator[Refusal]:
    """Columns in which equal values may look different, where they are counted, tell people apart,
    or are recognized by a rule. For quasi-identifiers that only makes finer classes.

    Args:
        key: what tells people apart: the individual, or the primary key.
    """
    of_key: Place = ("individual",) if policy.individual_key else ("source",)
    places: dict[str, Place] = {
        name: ("columns", name)
        for name, declared in policy.columns.items()
        if declared.role in _COUNTED
    }
    for name in key:
        places.setdefault(name, of_key)
    for number, exclusion in enumerate(policy.exclusions):
        for name in exclusion.when:
            places.setdefault(name, ("exclusions", number, "when", name))
    for name, place in places.items():
        column = relation.column(name)
        if column is not None:
            yield from spelled(place, column, keyed=name in key)


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
