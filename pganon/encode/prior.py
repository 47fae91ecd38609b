"""The prior of readers, given as a relation.

It is copied once to :data:`pganon.encode.work.PRIOR`. So the source's fingerprint and the priors
are about the same rows, and later changes of the relation do not count.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.catalog.model import Column, ExternalObjects, Relation
from pganon.catalog.values import equal_key, stored
from pganon.encode.snapshot import canonical
from pganon.encode.work import PRIOR
from pganon.policy.knowledge import PROBABILITY
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, cast, col, named
from pganon.steps import CreateTable


def reading_steps(spec: ReleaseSpec) -> list[CreateTable]:
    """Nothing where the policy names no relation, or priors may differ in any way."""
    relation = spec.prior
    if relation is None or spec.background is None:
        return []
    return [
        CreateTable(
            PRIOR.name,
            f"priors in {relation.name}",
            lambda s: s.work(PRIOR),
            lambda s: _rows(spec, relation),
            external=ExternalObjects((relation.name,)),
        )
    ]


def prior_row(spec: ReleaseSpec, table: str) -> exp.Expr:
    """A row of the table, to be hashed."""
    names = [f"q{attribute.index}" for attribute in spec.attributes]
    return exp.func("row", *[col(name, table) for name in (*names, "value", "probability")])


def _rows(spec: ReleaseSpec, relation: Relation) -> exp.Expr:
    tree = exp.select().from_(aliased(relation.name, "src"))
    for attribute in spec.attributes:
        value = canonical(_column(relation, attribute.column.name))
        tree = tree.select(named(value, f"q{attribute.index}"))
    (item,) = spec.sensitive
    column = _column(relation, item.column.name)
    value = equal_key(column, stored(column, col(column.name, "src")))
    probability = canonical(_column(relation, PROBABILITY))
    return tree.select(named(value, "value"), named(cast(probability, "numeric"), PROBABILITY))


def _column(relation: Relation, name: str) -> Column:
    column = relation.column(name)
    assert column is not None  # the policy was resolved against the relation
    return column
