"""Which columns are judged together, where the policy assumes others to be independent (T3).

Versions of columns that have nothing to do with each other share people, and so refine each
other's cells. Who believes that the columns are independent learns nothing of one from the other:
each has cells of its own, by the versions that published it. Columns are judged together where a
version published them in one partition, or found them associated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def components(
    columns: Sequence[str], together: Iterable[Collection[str]]
) -> tuple[tuple[str, ...], ...]:
    """The columns in sets that are judged together, in the order of the columns.

    Args:
        together: columns of one published partition, and columns that are associated, of all
            versions that were ever readable.
    """
    found: list[set[str]] = [{name} for name in columns]
    for names in together:
        met = [group for group in found if not group.isdisjoint(names)]
        found = [group for group in found if group.isdisjoint(names)]
        found.append(set().union(*met))
    ordered = [tuple(name for name in columns if name in group) for group in found if group]
    return tuple(sorted(ordered, key=lambda group: columns.index(group[0])))
