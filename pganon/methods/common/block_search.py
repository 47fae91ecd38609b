"""Searches in Python over blocks of records: what is read, and what goes to a process.

Rows come in batches of whole blocks, one block is one task, and a task gives back which group every
record of its block is in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, OrderedAxis, TreeAxis
from pganon.methods.common.pairs import pair
from pganon.privacy.rows import Relation
from pganon.sqltools import col, named, num, query
from pganon.steps import Name, Rows, Search, State, nothing_given
from pganon.steps.facts import Fact
from pganon.steps.tasks import Task

Given = Mapping[str, Any]

TaskOf = Callable[[int, Rows], Task]
"""The task of a block, by its number and its rows (block, rid, columns..)."""


@dataclass(frozen=True)
class Blocks:
    """Records in blocks.

    Attributes:
        relation: (block, rid, columns..); blocks are numbered from 0.
        columns: what tasks read of a record besides.
        count: number of blocks.
        at_once: blocks that are read in one batch.
    """

    relation: Callable[[State], Relation]
    columns: Callable[[State], Sequence[str]]
    count: Callable[[State], int]
    at_once: Callable[[State], int]

    def rows(self, state: State, batch: int) -> exp.Select:
        """SELECT block, rid, columns.. of the blocks of a batch, in order."""
        at_once = self.at_once(state)
        tree = query(
            "select b.block, b.rid from b where b.block >= :first and b.block < :next"
            " order by b.block, b.rid",
            {"b": self.relation(state)},
            first=num(batch * at_once),
            next=num((batch + 1) * at_once),
        )
        return tree.select(*[col(name, "b") for name in self.columns(state)])


def block_search(
    name: str,
    purpose: str,
    table: Name,
    columns: Sequence[tuple[str, str]],
    *,
    blocks: Blocks,
    task: Callable[[State, Given], TaskOf],
    given: Callable[[State], exp.Select] = nothing_given,
    when: Callable[[State], bool] = lambda state: True,
    gives: Sequence[Fact[Any]] = (),
) -> Search:
    """A task per block.

    Args:
        table: work table of what tasks find.
        columns: its columns with their types.
        task: once per batch, what makes the tasks of its blocks, from the row of `given`.
        gives: a fact for every count or measure of the tasks.
    """

    def tasks(state: State, given: Given, rows: Rows) -> list[Task]:
        made = task(state, given)
        by_block = groupby(rows, key=lambda row: row[0])
        return [made(block, tuple(members)) for block, members in by_block]

    return Search(
        name,
        purpose,
        table,
        columns,
        given=given,
        batches=lambda s: -(-blocks.count(s) // blocks.at_once(s)),
        rows=blocks.rows,
        tasks=tasks,
        when=when,
        gives=gives,
    )


def given_of_axes(axes: Sequence[Axis], state: State) -> exp.Select:
    """SELECT one row, by code column: the places of ordered values, the paths of leaves."""
    tree = nothing_given(state)
    for axis in axes:
        if isinstance(axis, OrderedAxis):
            tree = tree.select(named(axis.positions(state), axis.code))
        elif isinstance(axis, TreeAxis):
            tree = tree.select(named(axis.paths(state), axis.code))
    return tree


def labelled(block: int, rids: Sequence[int], labels: Iterable[int]) -> list[tuple[int, int]]:
    """(rid, group) from the labels of a block's records, which other blocks have, too; those with
    a negative label are in no group."""
    return [
        (rid, pair(block, int(label)))
        for rid, label in zip(rids, labels, strict=True)
        if label >= 0
    ]


def grouped_rows(
    block: int, rids: Sequence[int], groups: Iterable[Sequence[int]]
) -> list[tuple[int, int]]:
    """The same from groups of a block's records; those in none are left out."""
    placed = [(rids[row], label) for label, rows in enumerate(groups) for row in rows]
    return labelled(block, [rid for rid, _ in placed], [label for _, label in placed])
