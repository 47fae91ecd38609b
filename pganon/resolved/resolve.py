"""Policy x catalog -> ReleaseSpec: finds every problem and raises once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from sqlglot import exp

from pganon.catalog.model import Column, Relation
from pganon.errors import PolicyError
from pganon.identifiers import QualifiedName, quote
from pganon.policy.exclusions import Between, Condition
from pganon.policy.model import Policy, policy_hash
from pganon.policy.options import REFERENCE, SHARE, part_refusals
from pganon.policy.partition import partition_part
from pganon.policy.refusals import Place, Refusal
from pganon.policy.start import flag_hints
from pganon.policy.tables import EventTable, LookupTable
from pganon.policy.values import Comparable, reading
from pganon.privacy.requirements import requirements_of
from pganon.resolved.columns import ColumnResolver, Columns
from pganon.resolved.growth import increment_refusals
from pganon.resolved.labels import label_refusals, name_refusals
from pganon.resolved.model import Attribute, Beside, ExclusionRule, ReleaseSpec, Sensitive
from pganon.resolved.other import (
    population_refusals,
    prior_refusals,
    public_refusals,
    subgroup_refusals,
)
from pganon.resolved.people import (
    aliases_refusals,
    owners_of,
    people_refusals,
    spelling_refusals,
)
from pganon.resolved.related import related
from pganon.resolved.source import LineOf, Problems, Source
from pganon.resolved.tables import Related


def resolve(
    policy: Policy,
    relation: Relation,
    beside: Beside | None = None,
    *,
    base_dir: Path = Path(),
    file: str | None = None,
    line_of: LineOf = lambda place: None,
) -> ReleaseSpec:
    """The resolved policy; raises :class:`PolicyError` with all problems."""
    beside = beside or Beside()
    problems = Problems(line_of, root=policy.root)
    source = Source(relation, problems)
    where = source.condition(("where",), policy.where)
    columns = ColumnResolver(policy, source, beside.exceptions, base_dir).resolve()
    _check_people(policy, source, beside)
    _check_undeclared(policy, source, beside.tables)
    _check_together(policy, source, beside, columns)
    others = related(policy, source, beside.tables, base_dir)
    spec = None
    if not problems.reported:
        spec = _spec(policy, source, beside, columns, where, base_dir, others)
        problems.refuse(increment_refusals(spec))
    if problems.reported or spec is None:
        raise PolicyError(problems.reported, file=file)
    return spec


def _check_people(policy: Policy, source: Source, beside: Beside) -> None:
    """The key that tells people apart, and relations of people by that key."""
    relation, problems = source.relation, source.problems
    key = policy.individual_key or source.record_key
    if policy.population is not None and key == policy.population.key:
        for name in policy.population.key:
            source.column(("population", "key"), name)
    problems.refuse(spelling_refusals(policy, relation, key))
    if beside.exclude is not None:
        at = ("exclude", "relation")
        problems.refuse(people_refusals(at, relation, key, beside.exclude))
    if beside.aliases is not None:
        at = ("aliases", "relation")
        problems.refuse(aliases_refusals(at, relation, key, beside.aliases))


def _check_undeclared(policy: Policy, source: Source, tables: Mapping[str, Relation]) -> None:
    """Columns that nobody decided about, if the policy wants that for all of them."""
    if policy.undeclared != "refuse":
        return
    hints = flag_hints(source.relation.columns, policy.columns, policy.registry)
    every: list[tuple[Place, Relation, Collection[str]]] = [
        (("columns",), source.relation, policy.columns)
    ]
    every += [(("tables", n, "columns"), tables[n], t.mentioned) for n, t in _beside(policy)]
    for place, relation, declared in every:
        for name in relation.column_names:
            if name not in declared:
                source.problems.report(
                    place,
                    f"{relation.name} has the column {quote(name)}, which is not declared",
                    hints.get(name, "declare it; role: identifying withholds it"),
                )


def _beside(policy: Policy) -> list[tuple[str, EventTable | LookupTable]]:
    """The tables beside the root."""
    return [
        (name, table)
        for name, table in policy.tables.items()
        if isinstance(table, EventTable | LookupTable)
    ]


def _check_together(policy: Policy, source: Source, beside: Beside, columns: Columns) -> None:
    """Rules about several columns, or columns and other relations."""
    attributes, sensitive, relation = columns.attributes, columns.sensitive, source.relation
    for refusals in (
        name_refusals(
            policy,
            attributes,
            sensitive,
            (*columns.carried, *columns.microaggregated),
            columns.averaged,
        ),
        public_refusals(attributes, relation, beside.public),
        prior_refusals(policy, relation, beside.prior, attributes, sensitive),
        population_refusals(policy, relation, beside.population, attributes),
        subgroup_refusals(policy, attributes),
        rule_refusals(policy, attributes, sensitive),
        reference_refusals(policy, sensitive),
        label_refusals(policy, attributes),
    ):
        source.problems.refuse(refusals)


def _spec(
    policy: Policy,
    source: Source,
    beside: Beside,
    columns: Columns,
    where: exp.Expr | None,
    base_dir: Path,
    others: Related | None,
) -> ReleaseSpec:
    """The specification of a policy without problems."""
    relation, publish = source.relation, policy.publish
    numbers = {item.column.name: item.index for item in columns.sensitive}
    return ReleaseSpec(
        **vars(beside),
        policy=policy,
        policy_hash=policy_hash(policy),
        source=relation,
        where=where,
        record_key=source.record_key,
        individual=policy.individual_key,
        owners=owners_of(policy, relation),
        attributes=tuple(columns.attributes),
        sensitive=tuple(columns.sensitive),
        carried=tuple(columns.carried),
        weight=columns.weight,
        averaged=tuple(columns.averaged),
        microaggregated=tuple(columns.microaggregated),
        requirements=tuple(requirements_of(policy, numbers)),
        unreleased=(
            *[name for name in relation.column_names if name not in policy.columns],
            *[
                f"{name}.{column}"
                for name, table in _beside(policy)
                for column in beside.tables[name].column_names
                if column not in table.mentioned
            ],
        ),
        view=QualifiedName(publish.view_schema, policy.release),
        readers=publish.readers,
        rules=tuple(rules(policy, columns.attributes, columns.sensitive)),
        partition=partition_part(policy, relation.name, base_dir),
        base_dir=base_dir,
        related=others,
    )


Item = TypeVar("Item", Attribute, Sensitive)


def rules(
    policy: Policy, attributes: Iterable[Attribute], sensitive: Iterable[Sensitive]
) -> Iterator[ExclusionRule]:
    """One rule per sensitive column of an exclusion."""
    grouped, unlinked = _by_name(attributes), _by_name(sensitive)
    for exclusion in policy.exclusions:
        when = tuple((grouped[name], condition) for name, condition in exclusion.when.items())
        for name, values in exclusion.never.items():
            yield ExclusionRule(exclusion.label, when, unlinked[name], values)


def rule_refusals(
    policy: Policy, attributes: Iterable[Attribute], sensitive: Iterable[Sensitive]
) -> Iterator[Refusal]:
    """Values that cannot be of the type of their column; places are those of the policy."""
    grouped, unlinked = _by_name(attributes), _by_name(sensitive)
    for number, exclusion in enumerate(policy.exclusions):
        for name, condition in exclusion.when.items():
            if name in grouped:
                at = ("exclusions", number, "when", name)
                yield from _wrong_condition(at, grouped[name].column, condition)
        for name, values in exclusion.never.items():
            if name in unlinked:
                at = ("exclusions", number, "never", name)
                yield from _wrong_values(at, unlinked[name].column, values)


def _by_name(items: Iterable[Item]) -> dict[str, Item]:
    return {item.column.name: item for item in items}


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


_PLACE = ("publish", "reference")


def reference_refusals(policy: Policy, sensitive: Sequence[Sensitive]) -> Iterable[Refusal]:
    """Why the distribution cannot be published as the policy asks."""
    if not policy.publish.reference:
        return
    if "reference" not in policy.method.supports:
        yield from policy.registry.unsupported(policy.method, "reference", _PLACE)
        return
    yield from policy.method.reference_refusals()
    numbers = {item.column.name: item.index for item in sensitive}
    found = {r.sensitive for r in requirements_of(policy, numbers) if r.model.needs_reference}
    if len(found) != 1:
        compared = "models compare several columns" if found else "no model compares"
        yield Refusal(
            _PLACE,
            f"{compared} with the source's distribution; one can be published",
            "remove it",
        )
    for item in sensitive:
        if item.index in found and item.published == SHARE:
            yield Refusal(
                ("columns", item.column.name, "as"),
                f"{quote(SHARE)} is a column of the distribution",
                "rename it with `as:`",
            )
    yield from part_refusals(policy.release, REFERENCE)
