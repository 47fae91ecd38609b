"""Combinations of quasi-sensitive values that exist, as public relations say.

    public<n>    (q<i>, ..)    distinct combinations of the n-th set with such a relation,
                               values as the dictionaries have them

A relation is read once: the source's fingerprint and the counts are about the same rows.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.model import Outside, Relation
from pganon.encode.snapshot import canonical, folds
from pganon.identifiers import QualifiedName, quote
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, named
from pganon.steps import CreateTable, State


def public_table(spec: ReleaseSpec, name: str, state: State) -> QualifiedName:
    """Table of the combinations of the QS set `name`, which a relation is named for."""
    return state.work(_name(spec, name))


def public_steps(spec: ReleaseSpec) -> list[CreateTable]:
    return [
        CreateTable(
            _name(spec, name),
            f"combinations of the QS set {quote(name)} in {relation.name}",
            lambda s, name=name: public_table(spec, name, s),
            lambda s, name=name, relation=relation: _combinations(spec, name, relation),
            outside=Outside((relation.name,)),
        )
        for name, relation in sorted(spec.public.items())
    ]


def _name(spec: ReleaseSpec, name: str) -> str:
    return f"public{sorted(spec.public).index(name)}"


def _combinations(spec: ReleaseSpec, name: str, relation: Relation) -> exp.Expr:
    source = aliased(relation.name, "src")
    tree = exp.select().from_(source).distinct()
    for attribute in spec.qs_sets[name]:
        column = relation.column(attribute.column.name)
        assert column is not None  # the policy was resolved against the relation
        value = canonical(column, folded=folds(attribute))
        tree = tree.select(named(value, f"q{attribute.index}"))
    return tree
