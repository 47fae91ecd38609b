"""Releases whose groups are given: relations of slicing and SLAMSA from a table in plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.support.oracles.sliced import ALIGNED, INDEPENDENT, Group, Published, Relation, Row


def aligned(
    rows: Sequence[Row],
    groups: Sequence[Group],
    sensitive: Sequence[Sequence[str]],
    quasi: Sequence[Sequence[str]],
) -> Published:
    """A release with one partition.

    Args:
        groups: the group of every record.
        sensitive: columns of every sensitive table.
        quasi: columns of every QIT; the QIT is sliced if there are several.
    """
    keys = [{"group_id": group} for group in groups]
    sts = [_counted(rows, keys, names) for names in sensitive]
    return Published(_qits(rows, keys, keys, quasi), sts, ALIGNED)


def independent(
    rows: Sequence[Row],
    groups: Sequence[Sequence[Group]],
    sensitive: Sequence[Sequence[str]],
    quasi: Sequence[Sequence[str]],
    slices: Sequence[Group] | None = None,
) -> Published:
    """A release with a partition for every sensitive table, and one for a sliced QIT (`slices`)."""
    own = [{} if slices is None else {"group_id": slices[i]} for i in range(len(rows))]
    links = [
        {**key, **{f"st{j}_group_id": given[i] for j, given in enumerate(groups, 1)}}
        for i, key in enumerate(own)
    ]
    sts = [
        _counted(rows, [{"group_id": group} for group in given], names)
        for given, names in zip(groups, sensitive, strict=True)
    ]
    return Published(_qits(rows, own, links, quasi), sts, INDEPENDENT)


def _qits(
    rows: Sequence[Row], own: Sequence[Row], links: Sequence[Row], quasi: Sequence[Sequence[str]]
) -> list[Relation]:
    if len(quasi) == 1:
        return [[key | _part(row, quasi[0]) for row, key in zip(rows, links, strict=True)]]
    first = [_counted(rows, own, names) for names in quasi[:-1]]
    return [*first, _counted(rows, links, quasi[-1])]


def _part(row: Row, names: Sequence[str]) -> Row:
    return {name: row[name] for name in names}


def _counted(rows: Sequence[Row], keys: Sequence[Row], names: Sequence[str]) -> Relation:
    found = Counter(
        tuple((key | _part(row, names)).items()) for row, key in zip(rows, keys, strict=True)
    )
    return [dict(row) | {"count": n} for row, n in found.items()]
