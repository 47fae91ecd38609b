"""What has to be in a release that grows as it was in the version that it started from."""

from __future__ import annotations

from pganon.encode.valued import referenced
from pganon.error_codes import ErrorCode
from pganon.errors import PreconditionError
from pganon.identifiers import quote
from pganon.resolved.increments import Growth
from pganon.resolved.model import ReleaseSpec


def check_ranges(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse groups that show what they contain beside those that show their region.

    Raises:
        PreconditionError: other_regions.
    """
    if growth.version is None or spec.shows_regions == (growth.bounds is not None):
        return
    before = "tight" if growth.bounds is None else "region"
    raise PreconditionError(
        f"the policy has ranges: {spec.policy.ranges}, but version {growth.version}, which"
        f" increments are added to, has ranges: {before}",
        hint=f"use ranges: {before}, or another name for the release",
        code=ErrorCode.OTHER_REGIONS,
    )


_REPLAYED = ("role", "type", "order", "hierarchy", "nulls")
"""Keys of a column that cuts are replayed by."""


def check_regions(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse cuts that were made under another hierarchy or order, or of other columns.

    Raises:
        PreconditionError: other_regions.
    """
    if growth.cuts is None:
        return
    before = growth.partition or {}
    keys, instead = _REPLAYED, ", or use regions: none"
    if growth.bounds is not None:  # made of what the column could have
        keys, instead = (*_REPLAYED, "domain"), ""
    for attribute in spec.attributes:
        name = attribute.column.name
        for key in keys:
            path = f"columns.{name}.{key}"
            if before.get(path) != spec.partition.get(path):
                raise PreconditionError(
                    f"{key} of column {quote(name)} is not that of the version whose cuts divide"
                    " newcomers",
                    hint=f"undo the change{instead}",
                    code=ErrorCode.OTHER_REGIONS,
                )


def check_compared(spec: ReleaseSpec, growth: Growth) -> None:
    """Refuse columns of whose values the first version says nothing, and other distances.

    Raises:
        PreconditionError: other_reference.
    """
    if growth.first is None:
        return
    for item in referenced(spec):
        name = item.column.name
        if not growth.first.knows(name):
            raise PreconditionError(
                f"newcomers are to be compared with the values that the first version has of"
                f" {quote(name)}, and an earlier pganon kept none",
                hint="leave the models out that compare, or use refresh: recompute",
                code=ErrorCode.OTHER_REFERENCE,
            )
        path = f"columns.{name}.hierarchy"
        before = (growth.partition or {}).get(path)
        if item.hierarchy and before and before != spec.partition.get(path):
            raise PreconditionError(
                f"the hierarchy of column {quote(name)} is not that of the first version, which"
                " newcomers are compared with",
                hint="undo the change",
                code=ErrorCode.OTHER_REFERENCE,
            )
