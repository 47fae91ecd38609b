"""Columns of which the values below labels are published, and refusals of a policy that asks it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pganon.identifiers import MAX_BYTES, fits, quote
from pganon.policy.hierarchies import CsvHierarchy, InlineHierarchy, OrderHierarchy, TableHierarchy
from pganon.policy.model import Policy
from pganon.policy.options import FLAT, LABELS, part_name
from pganon.policy.refusals import Refusal
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


def name_refusals(
    policy: Policy,
    attributes: Sequence[Attribute],
    sensitive: Iterable[Sensitive],
    carried: Iterable[Carried | Microaggregated],
    averaged: Iterable[Averaged],
) -> Iterator[Refusal]:
    added = policy.method.added_columns(policy.columns)
    used: Counter[str] = Counter(added)
    apart = [item for item in sensitive if item.hidden is None]
    names = [(one, one.published) for one in (*attributes, *apart, *carried)]
    for item, name in (*names, *[(one, name) for one in averaged for name in one.names]):
        used[name] += 1
        place = ("columns", item.column.name)
        if name in added:
            message = f"{quote(name)} is a column that pganon adds"
            yield Refusal(place, message, "rename it with `as:`")
        elif used[name] > 1:
            message = f"two published columns would be named {quote(name)}"
            yield Refusal(place, message, "rename one with `as:`")
        elif not fits(name):
            message = f"the name {quote(name)} has more than {MAX_BYTES} bytes"
            yield Refusal(place, message, "shorten it with `as:`")
    yield from _null_names(attributes, used)
    if FLAT in policy.method.parts:
        yield from _flat_names(attributes, used)


def part_name_refusals(policy: Policy, part: str) -> Iterator[Refusal]:
    """The name of a further view is too long."""
    name = part_name(policy.release, part)
    if fits(policy.release) and not fits(name):
        yield Refusal(
            ("release",),
            f"the name of its view {quote(name)} has more than {MAX_BYTES} bytes",
            f"choose a name of at most {MAX_BYTES - len(part_name('', part).encode())} bytes",
        )


def _null_names(attributes: Iterable[Attribute], used: Counter[str]) -> Iterator[Refusal]:
    """Of columns that show where others are NULL, which are used from then on."""
    for attribute in attributes:
        name = attribute.null_column
        if name is None:
            continue
        place = ("columns", attribute.column.name)
        used[name] += 1
        if used[name] > 1:
            yield Refusal(
                place,
                f"the column {quote(name)} that shows its NULLs has the name of another published"
                " column",
                "rename one with `as:`, or choose another rule for nulls",
            )
        if not fits(name):
            yield Refusal(
                place,
                f"the name {quote(name)} of the column that shows its NULLs has more than"
                f" {MAX_BYTES} bytes",
                "shorten it with `as:`, or choose another rule for nulls",
            )


def _flat_names(attributes: Iterable[Attribute], used: Counter[str]) -> Iterator[Refusal]:
    for attribute in attributes:
        place = ("columns", attribute.column.name)
        for name in attribute.flat_names:
            what = f"the column {quote(name)} that shows an end of its range"
            if name != attribute.published and used[name]:
                yield Refusal(place, f"{what} has the name of another one", "rename one with `as:`")
            if not fits(name):
                yield Refusal(
                    place, f"{what} has more than {MAX_BYTES} bytes", "shorten it with `as:`"
                )
