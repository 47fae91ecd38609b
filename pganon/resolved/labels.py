"""Columns of which the values below labels are published, and refusals of a policy that asks it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from pganon.identifiers import MAX_BYTES, fits, quote
from pganon.policy.hierarchies import CsvHierarchy, InlineHierarchy, OrderHierarchy, TableHierarchy
from pganon.policy.model import Policy
from pganon.policy.options import FLAT, LABELS, part_refusals
from pganon.policy.refusals import Place, Refusal
from pganon.resolved.model import (
    Attribute,
    Averaged,
    Carried,
    Microaggregated,
    ReleaseSpec,
    Sensitive,
    Shown,
)

_LISTED = (CsvHierarchy, InlineHierarchy, OrderHierarchy, TableHierarchy)
_PLACE = ("publish", "labels")


def labelled(spec: ReleaseSpec) -> list[Attribute]:
    """The columns, if the policy publishes them."""
    return _labelled(spec.policy, spec.attributes) if spec.policy.publish.labels else []


def _labelled(policy: Policy, attributes: Sequence[Attribute]) -> list[Attribute]:
    return [
        attribute
        for attribute in attributes
        if attribute.form is Shown.LABEL
        and isinstance(policy.columns[attribute.column.name].hierarchy, _LISTED)
    ]


def label_refusals(policy: Policy, attributes: Sequence[Attribute]) -> Iterable[Refusal]:
    """Why the values below labels cannot be published as the policy asks."""
    if not policy.publish.labels:
        return
    if "labels" not in policy.method.supports:
        yield from policy.registry.unsupported(policy.method, "labels", _PLACE)
    elif policy.refresh == "increments":
        yield Refusal(_PLACE, "increments do not publish the values below labels", "remove it")
    elif not _labelled(policy, attributes):
        yield Refusal(
            _PLACE,
            "no column shows labels of a hierarchy that lists its values",
            "remove it, or declare a hierarchy of csv, table, inline or order",
        )
    yield from part_refusals(policy.release, LABELS)


def name_refusals(
    policy: Policy,
    attributes: Sequence[Attribute],
    sensitive: Iterable[Sensitive],
    carried: Iterable[Carried | Microaggregated],
    averaged: Iterable[Averaged],
) -> Iterator[Refusal]:
    """Names of published columns, those with NULLs and the ends of ranges among them."""
    apart = [item for item in sensitive if item.hidden is None]
    names = [(one.column, one.published) for one in (*attributes, *apart, *carried)]
    names += [(one.column, name) for one in averaged for name in one.names]
    names += [(one.column, one.null_column) for one in attributes if one.null_column is not None]
    if FLAT in policy.method.parts:
        names += [(a.column, n) for a in attributes for n in a.flat_names if n != a.published]
    yield from refused_names(
        [(("columns", column.name), name) for column, name in names],
        policy.method.added_columns(policy.columns),
    )


def refused_names(
    names: Iterable[tuple[Place, str]],
    added: Collection[str] = (),
    what: str = "published columns",
    remedy: str = "choose another name with `as:`",
) -> Iterator[Refusal]:
    """Names that pganon adds, that are there twice, or too long."""
    used = set[str]()
    for place, name in names:
        if name in added:
            yield Refusal(place, f"{quote(name)} is a column that pganon adds", remedy)
        elif name in used:
            yield Refusal(place, f"two {what} would be named {quote(name)}", remedy)
        elif not fits(name):
            message = f"the name {quote(name)} has more than {MAX_BYTES} bytes"
            yield Refusal(place, message, remedy)
        used.add(name)
