"""The steward's memory of who was in which group, the same for every form."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.lookups import dictionary, joined
from pganon.encode.secrets import keyed_digest
from pganon.identifiers import QualifiedName
from pganon.published.stored import repeated
from pganon.spec.model import ReleaseSpec
from pganon.sqltools import aliased, cast, chain, col, equal, fragment, named, query
from pganon.steps import State


def identity(spec: ReleaseSpec) -> str | None:
    """Column of `coded` that says who a record is: the individual, or the key of the record."""
    return "individual" if spec.individual else "record" if spec.record_key else None


def members(
    spec: ReleaseSpec,
    state: State,
    source: QualifiedName | exp.Select,
    groups: Sequence[str],
) -> exp.Select:
    """SELECT (member, groups..) for the part "members" of a release.

    A member is an individual or the key of a record; without either, a keyed hash of the values
    of the columns that are grouped by, which several rows may have in common: of each its number of
    bytes (4, big-endian) and its text in UTF-8, or -1 for NULL.

    Args:
        source: columns `groups`, and :func:`identity` or else the codes of all attributes.
        groups: columns with the numbers of groups.
    """
    known = identity(spec)
    numbered = [col(group, "g") for group in groups]
    tree = query("select 1 from g", {"g": source})
    if known is not None:
        found = tree.select(named(col(known, "g"), "member"), *numbered, append=False)
        # Several records of an individual may be in a group.
        return found.distinct() if spec.individual else found
    # A value that some records hide tells nothing of who they are.
    open_ = [axis for axis in axes(spec.attributes) if axis.attribute.hidden is None]
    lookups = joined(open_, state, _all_bytes)
    for lookup in lookups:
        tree = lookup.decode(tree, state, "g")
    parts: list[exp.Expr] = [col("bytes", lookup.alias) for lookup in lookups]
    message = chain(exp.DPipe, parts or [fragment("''::bytea")])
    return tree.select(named(keyed_digest(state, message), "member"), *numbered, append=False)


def _all_bytes(attributes: Sequence[Axis]) -> list[exp.Expr]:
    """Their values one after the other, such that they can be told apart."""
    return [named(chain(exp.DPipe, [_bytes(axis) for axis in attributes]), "bytes")]


def _bytes(axis: Axis) -> exp.Expr:
    value = cast(col("value", dictionary(axis)), "text")
    shown = fragment("convert_to(:v, 'UTF8')", v=value)
    return fragment("coalesce(int4send(octet_length(:s)) || :s, int4send(-1))", s=shown)


def cell_members(
    spec: ReleaseSpec, state: State, grouped: QualifiedName, group: str, keys: Sequence[str]
) -> exp.Select:
    """The same where `grouped` (group, codes) has no identities: records of `coded` have them.

    Args:
        keys: columns that a record of `coded` and its row of `grouped` have in common.
    """
    known = identity(spec)
    if known is None:
        return members(spec, state, grouped, [group])
    tree = query("select 1 from c", {"c": state.work("coded")}).select(
        col(known, "c"), col(group, "g"), append=False
    )
    source = tree.join(aliased(grouped, "g"), on=equal(keys, "g", "c"))
    return members(spec, state, source, [group])


def repeated_members(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    """A row for each record, or individual, that the memory has in several groups."""
    policy = spec.policy
    scattered = policy.records_per_individual == "many_accepted"
    if identity(spec) is None or (scattered and not policy.method.reserves_identity):
        return []
    return [repeated(state.stage("members"), "member")]


def code_columns(spec: ReleaseSpec) -> list[str]:
    return [axis.code for axis in axes(spec.attributes)]
