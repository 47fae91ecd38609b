"""Columns of which the values below labels are published, and refusals of a policy that asks it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pganon.policy.hierarchies import CsvHierarchy, InlineHierarchy, OrderHierarchy, TableHierarchy
from pganon.policy.model import Policy
from pganon.policy.options import LABELS
from pganon.policy.refusals import Refusal
from pganon.resolved.model import Attribute, ReleaseSpec, Shown
from pganon.resolved.names import part_name_refusals

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
        said = f"the method {policy.method.name} does not publish the values below labels"
        yield Refusal(_PLACE, said, "remove it")
    elif policy.refresh == "increments":
        yield Refusal(_PLACE, "increments do not publish the values below labels", "remove it")
    elif not _labelled(policy, attributes):
        yield Refusal(
            _PLACE,
            "no column shows labels of a hierarchy that lists its values",
            "remove it, or declare a hierarchy of csv, table, inline or order",
        )
    yield from part_name_refusals(policy, LABELS)
