"""What the catalog refuses of a policy: every rule about several columns, or other relations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from pganon.catalog.model import Column
from pganon.catalog.types import canonical_type
from pganon.catalog.values import texts_of
from pganon.identifiers import quote
from pganon.policy.exclusions import Between, Condition
from pganon.policy.guess import flag_hints
from pganon.policy.knowledge import PROBABILITY
from pganon.policy.options import FLAT, LABELS, REFERENCE, SHARE, part_refusals
from pganon.policy.refusals import Place, Refusal, alternatives
from pganon.policy.reporting import REPORTED
from pganon.policy.values import Comparable, reading
from pganon.privacy.models import BackgroundKnowledge
from pganon.privacy.requirements import requirements_of
from pganon.resolved.model import ReleaseSpec, Resolved, Scale, Shown
from pganon.resolved.population import NEW, OLD
from pganon.resolved.source import column_refusals, comparable, refused_names, spelled

_COUNTED = ("sensitive", "individual", "quasi_sensitive")


def _key_refusals(found: Resolved) -> Iterator[Refusal]:
    population = found.policy.population
    if population is not None and found.people_key == population.key:
        for name in population.key:
            yield from column_refusals(("population", "key"), found.source, name)


def _spelling_refusals(found: Resolved) -> Iterator[Refusal]:
    """Columns in which equal values may look different, where they are counted, tell people apart,
    or are recognized by a rule. For quasi-identifiers that only makes finer classes."""
    policy, key = found.policy, found.people_key
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
        column = found.source.column(name)
        if column is not None:
            yield from spelled(place, column, keyed=name in key)


def _exclude_refusals(found: Resolved) -> Iterator[Refusal]:
    """Why the relation cannot name people of the source."""
    if found.exclude is None:
        return
    place, source = ("exclude", "relation"), found.source
    if not found.people_key:
        message = f"nothing tells the people of {source.name} apart"
        yield Refusal(place, message, "give the source a primary key, or the policy `individual`")
    for column in filter(None, map(source.column, found.people_key)):
        yield from comparable(place, column, source, found.exclude, texts_of)


def _aliases_refusals(found: Resolved) -> Iterator[Refusal]:
    """Why the relation cannot say under which key people were known before."""
    if found.aliases is None:
        return
    place, source, key = ("aliases", "relation"), found.source, found.people_key
    if len(key) != 1:
        what = f"are told apart by {', '.join(map(quote, key))}" if key else "cannot be told apart"
        message = f"people of {source.name} {what}; aliases are for a key of one column"
        yield Refusal(place, message, "declare `individual` with one column")
        return
    column = source.column(key[0])
    for name in (OLD, NEW):
        if column is not None:
            yield from comparable(place, column, source, found.aliases, lambda c: c.type_name, name)


def _undeclared_refusals(found: Resolved) -> Iterator[Refusal]:
    """Columns that nobody decided about, if the policy wants that for all of them."""
    policy = found.policy
    if policy.undeclared != "refuse":
        return
    hints = flag_hints(found.source.columns, policy.columns, policy.registry)
    for table, relation, name in found.undeclared:
        yield Refusal(
            ("columns",) if table is None else ("tables", table, "columns"),
            f"{relation.name} has the column {quote(name)}, which is not declared",
            hints.get(name, "declare it; role: identifying withholds it"),
        )


def _name_refusals(found: Resolved) -> Iterator[Refusal]:
    """Names of published columns, those with NULLs and the ends of ranges among them."""
    method, attributes = found.policy.method, found.attributes
    apart = [item for item in found.sensitive if item.hidden is None]
    plain = (*attributes, *apart, *found.carried, *found.microaggregated)
    names = [(one.column, one.published) for one in plain]
    names += [(one.column, name) for one in found.averaged for name in one.names]
    names += [(one.column, one.null_column) for one in attributes if one.null_column is not None]
    if FLAT in method.parts:
        names += [(a.column, n) for a in attributes for n in a.flat_names if n != a.published]
    yield from refused_names(
        [(("columns", column.name), name) for column, name in names],
        method.added_columns(found.policy.columns),
    )


def _public_refusals(found: Resolved) -> Iterator[Refusal]:
    """Columns in the public relation of their set, comparable with those of the source."""
    for attribute in found.attributes:
        relation = found.public.get(attribute.qs_set or "")
        if relation is not None:
            place = ("columns", attribute.column.name, "set")
            yield from comparable(place, attribute.column, found.source, relation, _compared)


def _prior_refusals(found: Resolved) -> Iterator[Refusal]:
    """Where the priors of background knowledge come from does not fit the columns."""
    models = enumerate(found.policy.privacy)
    named = ((i, model) for i, model in models if isinstance(model, BackgroundKnowledge))
    number, declared = next(named, (0, None))
    if declared is None:
        return
    knowledge = ("privacy", number, "knowledge")
    cells, prior = declared.knowledge.cells, found.prior
    parts = cells.intervals if cells is not None else None
    for attribute in found.attributes:
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
    for attribute in found.attributes:
        yield from comparable(place, attribute.column, found.source, prior, _compared)
    for item in found.sensitive:
        yield from comparable(place, item.column, found.source, prior, _told_apart)
    yield from column_refusals(place, prior, PROBABILITY)
    column = prior.column(PROBABILITY)
    if column is not None and not column.is_number:
        yield Refusal(
            place,
            f"column {quote(PROBABILITY)} of {prior.name} is {column.type_name}, not a number",
            "name a view that casts it",
        )


def _compared(column: Column) -> str:
    """The type that values of a quasi-identifier are compared as."""
    return "unsupported" if column.kind == "unsupported" else canonical_type(column)


def _told_apart(column: Column) -> str:
    """The same for sensitive values, of which other spellings are equal."""
    return "text" if column.kind in ("text", "bpchar", "enum") else column.kind


def _population_refusals(found: Resolved) -> Iterator[Refusal]:
    """The population does not fit the columns, or there are several."""
    policy = found.policy
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
    if found.population is not None:
        for attribute in found.attributes:
            place, column = declared[0][0], attribute.column
            yield from comparable(place, column, found.source, found.population, _compared)


def _subgroup_refusals(found: Resolved) -> Iterator[Refusal]:
    """Chances by the values of columns that are no quasi-identifiers, or of which none are told."""
    policy = found.policy
    if not policy.report.subgroups:
        return
    known = {a.column.name for a in found.attributes if a.hidden is None and a.qs_set is None}
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


def _exclusion_refusals(found: Resolved) -> Iterator[Refusal]:
    """Values that cannot be of the type of their column."""
    grouped = {one.column.name: one.column for one in found.attributes}
    unlinked = {one.column.name: one.column for one in found.sensitive}
    for number, exclusion in enumerate(found.policy.exclusions):
        for name, condition in exclusion.when.items():
            if name in grouped:
                at = ("exclusions", number, "when", name)
                yield from _wrong_condition(at, grouped[name], condition)
        for name, values in exclusion.never.items():
            if name in unlinked:
                yield from _wrong_values(
                    ("exclusions", number, "never", name), unlinked[name], values
                )


def _wrong_condition(at: Place, column: Column, condition: Condition) -> Iterator[Refusal]:
    if not isinstance(condition, Between):
        yield from _wrong_values(at, column, condition)
        return
    bounds: list[Comparable | None] = []
    for key, text in (("min", condition.min), ("max", condition.max)):
        value = None if text is None else reading(column, text)
        if isinstance(value, str):
            yield Refusal((*at, key), value)
        else:
            bounds.append(value)
    low, high = bounds if len(bounds) == 2 else (None, None)
    if low is not None and high is not None and low > high:  # pyright: ignore[reportOperatorIssue]
        yield Refusal(at, "min is above max, so the rule is about nobody", "exchange min and max")


def _wrong_values(at: Place, column: Column, values: tuple[str, ...]) -> Iterator[Refusal]:
    for i, text in enumerate(values):
        problem = reading(column, text)
        if isinstance(problem, str):
            # The file may have a single value without a list.
            yield Refusal((*at, i) if len(values) > 1 else at, problem)


def _reference_refusals(found: Resolved) -> Iterator[Refusal]:
    """Why the distribution cannot be published as the policy asks."""
    policy, place = found.policy, ("publish", "reference")
    if not policy.publish.reference:
        return
    if "reference" not in policy.method.supports:
        yield from policy.registry.unsupported(policy.method, "reference", place)
        return
    yield from policy.method.reference_refusals()
    required = requirements_of(policy, found.sensitive_numbers)
    compared = {r.sensitive for r in required if r.model.needs_reference}
    if len(compared) != 1:
        what = "models compare several columns" if compared else "no model compares"
        message = f"{what} with the source's distribution; one can be published"
        yield Refusal(place, message, "remove it")
    for item in found.sensitive:
        if item.index in compared and item.published == SHARE:
            message = f"{quote(SHARE)} is a column of the distribution"
            yield Refusal(("columns", item.column.name, "as"), message, "rename it with `as:`")
    yield from part_refusals(policy.release, REFERENCE)


def _label_refusals(found: Resolved) -> Iterator[Refusal]:
    """Why the values below labels cannot be published as the policy asks."""
    policy, place = found.policy, ("publish", "labels")
    if not policy.publish.labels:
        return
    if "labels" not in policy.method.supports:
        yield from policy.registry.unsupported(policy.method, "labels", place)
    elif policy.refresh == "increments":
        yield Refusal(place, "increments do not publish the values below labels", "remove it")
    elif not found.labelled:
        yield Refusal(
            place,
            "no column shows labels of a hierarchy that lists its values",
            "remove it, or declare a hierarchy of csv, table, inline or order",
        )
    yield from part_refusals(policy.release, LABELS)


RULES: tuple[Callable[[Resolved], Iterable[Refusal]], ...] = (
    _key_refusals,
    _spelling_refusals,
    _exclude_refusals,
    _aliases_refusals,
    _undeclared_refusals,
    _name_refusals,
    _public_refusals,
    _prior_refusals,
    _population_refusals,
    _subgroup_refusals,
    _exclusion_refusals,
    _reference_refusals,
    _label_refusals,
)
"""In the order in which their problems are reported."""


# Rules about `refresh: increments`, by the models, the method and the source: of a policy in which
# the others found nothing.


def increment_refusals(spec: ReleaseSpec) -> Iterable[Refusal]:
    """Sizes below that of a group, and regions of a method whose cuts nobody can replay."""
    policy = spec.policy
    if policy.refresh != "increments":
        return
    size, smallest = policy.increment_size, spec.least_cohort
    if size is None and smallest == 1:
        yield Refusal(
            ("increment_size",),
            "is missing; no model of the policy says how many people a group needs",
            "write how many newcomers make an increment",
        )
    if size is not None and size < smallest:
        yield Refusal(
            ("increment_size",),
            f"is {size}, but a group needs {smallest} people",
            f"write at least {smallest}, or leave it out",
        )
    yield from _compared_refusals(spec)
    yield from policy.method.key_refusals(
        {}, {"regions": policy.regions, "refresh": policy.refresh}
    )
    if spec.shows_regions:
        yield from _region_refusals(spec)


def _compared_refusals(spec: ReleaseSpec) -> Iterable[Refusal]:
    """Models that cannot be compared with the first version, and views beside withdrawn groups."""
    policy = spec.policy
    unlike: list[tuple[str, str]] = []
    if spec.background is not None:
        why = "what readers expect follows from all records, not from those of newcomers"
        unlike.append((f"background_knowledge j = {spec.background.j:g}", why))
    for requirement in spec.of_release[:1]:
        why = "it is about the groups of all versions together, and an increment makes some of them"
        unlike.append((requirement.model.name, why))
    for requirement in (*spec.in_population, *spec.profits)[:1]:
        unlike.append((requirement.model.name, "it is about the groups of one version"))
    for name, why in unlike:
        yield Refusal(
            ("refresh",),
            f"increments are not available with {name}: {why}",
            "use refresh: recompute, or leave the model out",
        )
    if policy.report.population is not None:
        yield Refusal(
            REPORTED,
            "increments are not compared with a population",
            "use refresh: recompute, or leave it out",
        )
    if policy.publish.reference and policy.leavers == "withdraw":
        yield Refusal(
            ("leavers",),
            "withdraw takes groups from every view, and publish.reference has one without groups",
            "use leavers: keep, or leave out publish.reference",
        )


def _region_refusals(spec: ReleaseSpec) -> Iterable[Refusal]:
    """Regions of which nobody can say which values they have."""
    for attribute in spec.attributes:
        if attribute.form is not Shown.SET or attribute.listed is not None:
            continue
        name, ordinal = attribute.column.name, attribute.scale is Scale.ORDERED
        what = "its order" if ordinal else "domain: {values: [...]}"
        yield Refusal(
            ("columns", name, "order" if ordinal else "domain"),
            f"ranges: region shows all values that a region of {quote(name)} may have, and nobody"
            " says which there are",
            f"declare {what} or a hierarchy, or use ranges: tight",
        )
