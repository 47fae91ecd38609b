"""Policy x catalog -> ReleaseSpec: finds every problem and raises once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pganon.catalog.model import Kind, Relation
from pganon.errors import PolicyError
from pganon.policy.document import Lines
from pganon.policy.model import Policy
from pganon.policy.partition import partition_part
from pganon.policy.words import NOBODY
from pganon.privacy.requirements import requirements_of
from pganon.resolved.columns import ColumnResolver
from pganon.resolved.model import Beside, ExclusionRule, ReleaseSpec, Resolved
from pganon.resolved.related import related
from pganon.resolved.rules import RULES, increment_refusals
from pganon.resolved.source import Problems, Source


def resolve(
    policy: Policy,
    relation: Relation,
    beside: Beside | None = None,
    *,
    base_dir: Path = Path(),
    file: str | None = None,
    lines: Lines | None = None,
) -> ReleaseSpec:
    """The resolved policy; raises :class:`PolicyError` with all problems."""
    beside = beside or Beside()
    problems = Problems(lines or Lines(), root=policy.root)
    source = Source(relation, problems)
    where = source.condition(("where",), policy.where)
    columns = ColumnResolver(policy, source, beside.exceptions, base_dir).resolve()
    found = Resolved(
        **vars(beside),
        **vars(columns),
        policy=policy,
        source=relation,
        where=where,
        base_dir=base_dir,
    )
    for refusals_of in RULES:
        problems.refuse(refusals_of(found))
    others = related(policy, source, beside.tables, base_dir)
    if not problems.reported:
        spec = ReleaseSpec(
            **vars(found),
            owners=owners_of(policy, relation),
            requirements=tuple(requirements_of(policy, found.sensitive_numbers)),
            rules=tuple(_rules(found)),
            partition=partition_part(policy, relation.name, base_dir),
            related=others,
        )
        problems.refuse(increment_refusals(spec))
        if not problems.reported:
            return spec
    raise PolicyError(problems.reported, file=file)


def _rules(found: Resolved) -> Iterator[ExclusionRule]:
    """One rule per sensitive column of an exclusion."""
    grouped = {one.column.name: one for one in found.attributes}
    unlinked = {one.column.name: one for one in found.sensitive}
    for exclusion in found.policy.exclusions:
        when = tuple((grouped[name], condition) for name, condition in exclusion.when.items())
        for name, values in exclusion.never.items():
            yield ExclusionRule(exclusion.label, when, unlinked[name], values)


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
