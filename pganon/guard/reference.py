"""Distributions of the source that models compare cells with.

The policy's own models have theirs by the time that the guard judges. What people were promised
earlier may compare a column with its distribution that no model of the policy does.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from pganon.encode.first import first_of
from pganon.encode.sensitive import compared_values, values_of, where_sensitive, with_paths
from pganon.encode.valued import valued
from pganon.encode.work import CODED, sensitive_values
from pganon.guard import work
from pganon.guard.floors import applied_rules
from pganon.guard.model import Version
from pganon.identifiers import QualifiedName
from pganon.published.elements import text_key
from pganon.spec.increments import WHOLE
from pganon.spec.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, named, num, query, stacked
from pganon.steps import CreateTable, State, Step


def distributed(spec: ReleaseSpec) -> frozenset[str]:
    """Columns of which a run knows the distribution in the source, in its order.

    A declared order is that of a dictionary, and a version that grows has one of newcomers alone.
    """
    grows = spec.growth is not None
    return frozenset(i.column.name for i in spec.sensitive if not (grows and i.rearranged))


def hierarchical(spec: ReleaseSpec) -> frozenset[str]:
    """Those of them of which it knows the ancestors of every value."""
    if spec.growth is not None and not spec.growth.adds:
        return frozenset()
    return frozenset(i.column.name for i in spec.sensitive if i.hierarchy is not None)


def reference_steps(spec: ReleaseSpec, version: Version) -> list[Step]:
    """:func:`pganon.guard.work.reference` of the columns that some rule compares."""
    rules = [applied.rule for applied in applied_rules(version)]
    wanted = {rule.column for rule in rules if rule.model.needs_reference}
    items = [i for i in spec.sensitive if i.column.name in wanted & version.distributed]
    if not items:
        return []
    parts = [_shares(spec, version, item) for item in items]
    return [
        CreateTable(
            "guard_reference",
            "distributions that models compare with",
            lambda s: s.work(work.reference(version.part)),
            lambda s: stacked([part(s) for part in parts]),
        )
    ]


def _shares(spec: ReleaseSpec, version: Version, item: Sensitive) -> Callable[[State], exp.Select]:
    name = item.column.name

    def select(state: State) -> exp.Select:
        tree = query(
            "select :number as col, :value as value, x.code::bigint as position,"
            " :n::float8 / sum(:n) over () as share from x",
            {"x": _values(spec, item, state)},
            number=num(version.columns.index(name) + 1),
            value=text_key(col("value", "x")),
            n=col("n" if first_of(spec, item) is None else "source_n", "x"),
        )
        if name in version.hierarchical:
            return with_paths(tree, item, state)
        return tree.select(named(fragment("null::integer[]"), "path"), copy=False)

    return select


def _values(spec: ReleaseSpec, item: Sensitive, state: State) -> QualifiedName | exp.Select:
    """(code, value, n) of the source: of a version that grows, not of newcomers alone.

    What they are compared with themselves is the first version, by the table that they were
    grouped with, so that both measure the same.
    """
    growth = spec.growth
    if first_of(spec, item) is not None:
        if growth is not None and not growth.adds:
            return compared_values(spec, item, state.work(WHOLE))
        return state.work(sensitive_values(item.index))
    if growth is not None:
        return values_of(item, where_sensitive(item, state.work(WHOLE)), f"s{item.index}")
    if item in valued(spec):
        return state.work(sensitive_values(item.index))
    return values_of(item, state.work(CODED), f"v{item.index}")
