"""Columns of relations, and those of relations whose values are compared with the source's."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pganon.catalog.model import Column, Relation
from pganon.catalog.types import canonical_type
from pganon.identifiers import quote
from pganon.policy.knowledge import PROBABILITY
from pganon.policy.model import Policy
from pganon.policy.refusals import Place, Refusal, alternatives, nearest
from pganon.policy.reporting import REPORTED
from pganon.privacy.models import BackgroundKnowledge
from pganon.resolved.model import Attribute, Scale, Sensitive


def column_refusals(place: Place, relation: Relation, name: str) -> Iterator[Refusal]:
    """The relation has no such column, or nobody let the owner read it."""
    column = relation.column(name)
    if column is None:
        message = f"{relation.name} has no column {quote(name)}"
        yield Refusal(place, message, nearest(name, relation.column_names))
    elif not column.readable:
        yield Refusal(
            place,
            f"column {quote(name)} of {relation.name} may not be read",
            f"GRANT SELECT ({quote(name)}) ON {relation.name} TO the pganon owner",
        )


def spelled(place: Place, column: Column, *, keyed: bool) -> Iterator[Refusal]:
    """Equal values of the column may look different, and one person or row would be two.

    Args:
        keyed: whether they are compared as texts.
    """
    if keyed and not column.has_canonical_text:
        yield Refusal(
            place,
            f"column {quote(column.name)} is {column.type_name}, a type in which equal values may"
            " be spelled differently; it tells nobody apart, and names no rows",
            "name a view that casts it to a type such as integer, text or uuid"
            + (", or declare `individual`" if place == ("source",) else ""),
        )
    elif not column.collation_deterministic:
        yield Refusal(
            place,
            f"column {quote(column.name)} has the collation {column.collation}, which calls"
            " different texts equal; they would count as several values",
            "name a view that makes them one text, such as"
            f' lower({quote(column.name)}) COLLATE "C"',
        )


def public_refusals(
    attributes: Sequence[Attribute], source: Relation, public: Mapping[str, Relation]
) -> Iterator[Refusal]:
    """Columns in the public relation of their set, comparable with those of the source."""
    for attribute in attributes:
        relation = public.get(attribute.qs_set or "")
        if relation is not None:
            place = ("columns", attribute.column.name, "set")
            yield from comparable(place, attribute.column, source, relation, _compared)


def prior_refusals(
    policy: Policy,
    source: Relation,
    prior: Relation | None,
    attributes: Sequence[Attribute],
    sensitive: Sequence[Sensitive],
) -> Iterator[Refusal]:
    """Where the priors of background knowledge come from does not fit the columns."""
    models = enumerate(policy.privacy)
    named = ((i, model) for i, model in models if isinstance(model, BackgroundKnowledge))
    number, declared = next(named, (0, None))
    if declared is None:
        return
    knowledge = ("privacy", number, "knowledge")
    cells = declared.knowledge.cells
    parts = cells.intervals if cells is not None else None
    for attribute in attributes:
        name = attribute.column.name
        if isinstance(parts, Mapping) and name in parts and attribute.scale is Scale.NOMINAL:
            yield Refusal(
                (*knowledge, "cells", "intervals", name),
                f"column {quote(name)} is {attribute.column.type_name}, whose values have no order",
                "leave it out; its values are told apart, or by levels of a hierarchy",
            )
    if prior is None:
        return
    place = (*knowledge, "relation")
    for attribute in attributes:
        yield from comparable(place, attribute.column, source, prior, _compared)
    for item in sensitive:
        yield from comparable(place, item.column, source, prior, _told_apart)
    yield from column_refusals(place, prior, PROBABILITY)
    column = prior.column(PROBABILITY)
    if column is not None and not column.is_number:
        yield Refusal(
            place,
            f"column {quote(PROBABILITY)} of {prior.name} is {column.type_name}, not a number",
            "name a view that casts it",
        )


def population_refusals(
    policy: Policy, source: Relation, population: Relation | None, attributes: Sequence[Attribute]
) -> Iterator[Refusal]:
    """The population does not fit the columns, or there are several."""
    declared: list[tuple[Place, str]] = [
        (("privacy", number, "population"), model.counted_in)
        for number, model in enumerate(policy.privacy)
        if model.counted_in is not None
    ]
    if policy.report.population is not None:
        declared.append((REPORTED, policy.report.population))
        yield from policy.registry.unsupported(policy.method, "population", REPORTED)
    for place, name in declared:
        if name != declared[0][1]:
            yield Refusal(
                place,
                "models and report of a policy count people of one population",
                f"write {declared[0][1]}, or make a release of its own",
            )
    if population is None:
        return
    for attribute in attributes:
        yield from comparable(declared[0][0], attribute.column, source, population, _compared)


def subgroup_refusals(policy: Policy, attributes: Sequence[Attribute]) -> Iterator[Refusal]:
    """Chances by the values of columns that are no quasi-identifiers, or of which none are told."""
    if not policy.report.subgroups:
        return
    known = {a.column.name for a in attributes if a.hidden is None and a.qs_set is None}
    why = None
    if "population" not in policy.method.supports:
        methods = alternatives(policy.registry.supporting("population"))
        why = (
            f"chances by value are not told of groups of the method {policy.method.name}",
            f"remove it, or use the method {methods}",
        )
    elif policy.refresh == "increments":
        why = "chances by value are not told of increments", "use refresh: recompute, or remove it"
    elif policy.several_each:
        why = "chances by value are of people, who may have several records here", "remove it"
    for number, name in enumerate(policy.report.subgroups):
        place: Place = ("report", "subgroups", number)
        if why is not None:
            yield Refusal(place, *why)
        elif name not in known:
            yield Refusal(
                place,
                f"column {quote(name)} is not quasi_identifying",
                f"write one of {', '.join(sorted(known))}" if known else "remove it",
            )


def comparable(
    place: Place,
    column: Column,
    source: Relation,
    relation: Relation,
    compared: Callable[[Column], str],
    name: str | None = None,
) -> Iterator[Refusal]:
    """A column of another relation, by default of the same name, holds values of the same kind."""
    named = name or column.name
    yield from column_refusals(place, relation, named)
    other = relation.column(named)
    if other is not None and compared(column) != compared(other):
        theirs = "" if named == column.name else f"{quote(named)} is "
        yield Refusal(
            place,
            f"column {quote(column.name)} is {column.type_name} in {source.name}"
            f" and {theirs}{other.type_name} in {relation.name}",
            "name a view that casts it to the type of the source",
        )


def _compared(column: Column) -> str:
    """The type that values of a quasi-identifier are compared as."""
    return "unsupported" if column.kind == "unsupported" else canonical_type(column)


def _told_apart(column: Column) -> str:
    """The same for sensitive values, of which other spellings are equal."""
    return "text" if column.kind in ("text", "bpchar", "enum") else column.kind
