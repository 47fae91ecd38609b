"""A warning about measures of association that are not comparable between scales."""

from __future__ import annotations

from collections.abc import Iterable

from pganon.resolved.model import ReleaseSpec, Scale


def mixed_scales(association: str, compared: Iterable[list[bool]]) -> list[str]:
    """A warning where `pearson` decides which of numbers and categories are together.

    The measures are |r| of two numbers, the correlation ratio of a number and a category, and V of
    two categories. All are in [0, 1], but equal values of two of them are not equally strong.

    Args:
        compared: for each set of columns that are clustered, whether each is a number.
    """
    if association != "pearson" or all(len(set(scales)) < 2 for scales in compared):
        return []
    return [
        "association: pearson measures numbers and categories on scales that are not the same;"
        " check which columns are together, or use contingency"
    ]


def quasi_scales(spec: ReleaseSpec) -> list[bool]:
    """Whether each quasi-identifier is measured as a number."""
    return [attribute.scale is Scale.ORDERED for attribute in spec.attributes]


def sensitive_scales(spec: ReleaseSpec) -> list[bool]:
    """Whether each sensitive column is measured as a number."""
    return [item.column.is_number or item.column.is_time for item in spec.sensitive]
