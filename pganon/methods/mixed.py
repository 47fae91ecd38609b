"""Whether columns of different scales are compared by measures that are not on one scale."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.methods.division import sensitive_settled, undecided
from pganon.policy.anatomized import Divided, Slamsa, Slicing
from pganon.spec.model import ReleaseSpec, Scale


def mixed_scales(spec: ReleaseSpec) -> Iterator[str]:
    """A warning where `pearson` decides which of numbers and categories are together.

    |r| of two numbers, the correlation ratio of a number and a category and V of two categories
    are all from 0 to 1, but a 0.5 of one says as much as another number of the other.
    """
    options = spec.policy.method
    if not isinstance(options, Slicing | Divided) or options.association != "pearson":
        return
    if any(len(set(scales)) > 1 for scales in _compared(spec, options)):
        yield (
            "association: pearson measures numbers and categories on scales that are not the same;"
            " check which columns are together, or use contingency"
        )


def _compared(spec: ReleaseSpec, options: Slicing | Divided) -> Iterator[list[bool]]:
    """Columns that are clustered together: whether each is measured as a number."""
    quasi = [attribute.scale is Scale.ORDERED for attribute in spec.attributes]
    sensitive = [item.column.is_number or item.column.is_time for item in spec.sensitive]
    if isinstance(options, Slicing):
        if not isinstance(options.columns, tuple):
            yield [*quasi, *sensitive]
        return
    if not sensitive_settled(spec):
        yield sensitive
    if isinstance(options, Slamsa) and undecided(options.quasi_tables, len(quasi)):
        yield quasi
