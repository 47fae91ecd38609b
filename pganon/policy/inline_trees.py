"""Trees that a policy holds itself, as rows from value to top."""

from __future__ import annotations

from collections.abc import Iterator

from pganon.policy.labels import label
from pganon.policy.refusals import refuse_one, show


def inline_rows(value: object) -> tuple[tuple[str, ...], ...]:
    """Rows value..top of a nested mapping {top: {group: [value, ...]}} or of a list of rows.

    A short branch stays the value itself on the levels that it lacks, as in a file. Refused: a
    value that occurs twice, a label with two parents, more than one top.
    """
    if isinstance(value, dict):
        rows = tuple(tuple(reversed(path)) for path in _paths(value, ()))
    elif isinstance(value, list | tuple):
        rows = tuple(_row(row, i) for i, row in enumerate(value))
    else:
        refuse_one(f"must be a nested mapping or a list of rows, not {show(value)}")
        raise AssertionError
    depth = max((len(row) for row in rows), default=0)
    rows = tuple((row[0],) * (depth - len(row)) + row for row in rows if row)
    check_rows(rows)
    return rows


def _row(row: object, i: int) -> tuple[str, ...]:
    if not isinstance(row, list | tuple):
        refuse_one(f"a row must be a list from value to top, not {show(row)}", at=(i,))
        raise AssertionError
    return tuple(str(label(value)) for value in row)


def _paths(node: object, above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Paths top..value of a nested mapping."""
    if len(above) > 64:
        refuse_one("the tree has more than 64 levels")
    if isinstance(node, dict):
        if not node:
            refuse_one("a group without values", at=above)
        for name, below in node.items():
            yield from _paths(below, (*above, str(label(name))))
    elif isinstance(node, list | tuple):
        if not node:
            refuse_one("a group without values", at=above)
        for leaf in node:
            yield (*above, str(label(leaf)))
    else:
        refuse_one(
            f"must be a mapping or a list of values, not {show(node)}",
            at=above,
            suggestion="write a group as `label: [value, value]`",
        )


def check_rows(rows: tuple[tuple[str, ...], ...]) -> None:
    """Refuse rows value..top, of equal length, that are no tree with one top."""
    if not rows:
        refuse_one("the hierarchy has no values")
    if len(rows[0]) < 2:
        refuse_one("a row needs a value and at least one label above it")
    if len({row[-1] for row in rows}) > 1:
        refuse_one("there is more than one top label", suggestion="put one label above all others")
    seen: set[str] = set()
    for row in rows:
        if row[0] in seen:
            refuse_one(f"the value {show(row[0])} occurs twice")
        seen.add(row[0])
    _one_parent(rows)


def _one_parent(rows: tuple[tuple[str, ...], ...]) -> None:
    for level in range(1, len(rows[0]) - 1):
        parent: dict[str, str] = {}
        for row in rows:
            if parent.setdefault(row[level], row[level + 1]) != row[level + 1]:
                refuse_one(f"the label {show(row[level])} of level {level} has two parents")
