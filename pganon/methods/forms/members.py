"""The steward's memory of who was in which group, the same for every form."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.secrets import keyed_hash
from pganon.identifiers import QualifiedName
from pganon.plan.sqltools import cast, col, named
from pganon.plan.steps import State
from pganon.spec.model import ReleaseSpec


def members(
    spec: ReleaseSpec, state: State, grouped: QualifiedName, group: str, keys: Sequence[str]
) -> exp.Select:
    """SELECT (member, `group`) for the part "members" of a release.

    A member is an individual or the key of a record; without either, a keyed hash of the values
    of the columns that are grouped by.

    Args:
        grouped: the column `group`, and the codes of all attributes; a row per combination of
            `keys`.
        group: name of the column that numbers the groups.
        keys: columns that a record of `coded` and its row of `grouped` have in common.
    """
    identity = "individual" if spec.individual else "record" if spec.record_key else None
    source = exp.alias_(grouped.table, "g", table=True, quoted=True)
    if identity is None:
        return _described(spec, state, source, group, keys)
    return (
        exp.select(named(col(identity, "c"), "member"), col(group, "g"))
        .from_(exp.alias_(state.work("coded").table, "c", table=True, quoted=True))
        .join(source, on=equal(keys, "g", "c"))
    )


def _described(
    spec: ReleaseSpec, state: State, source: exp.Expr, group: str, keys: Sequence[str]
) -> exp.Select:
    tree = exp.select().from_(source)
    parts: list[exp.Expr] = []
    for axis in axes(spec.attributes):
        alias = f"d{axis.index}"
        tree = tree.join(
            exp.alias_(axis.dictionary(state).table, alias, table=True, quoted=True),
            on=exp.EQ(this=col("code", alias), expression=col(axis.code, "g")),
        )
        parts.append(cast(col("value", alias), "text"))
    described = exp.func("jsonb_build_array", *parts)
    tree = tree.select(named(keyed_hash(state, described), "member"), col(group, "g"))
    # Other keys than the codes tell records with the same codes apart.
    return tree if set(keys) == set(code_columns(spec)) else tree.distinct()


def code_columns(spec: ReleaseSpec) -> list[str]:
    return [axis.code for axis in axes(spec.attributes)]


def equal(names: Sequence[str], left: str, right: str) -> exp.Expr:
    """Condition that two relations agree on columns of these names."""
    return exp.and_(*[exp.EQ(this=col(n, left), expression=col(n, right)) for n in names])
