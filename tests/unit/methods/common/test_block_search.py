"""Searches over blocks: every block is read once, and is one task."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.identifiers import QualifiedName
from pganon.methods.common.block_search import Blocks, block_search, grouped_rows, labelled
from pganon.methods.common.pairs import pair
from pganon.sqltools import render
from pganon.steps import Search, State
from pganon.steps.tasks import Task, TaskResult

STATE = State(7)


def search(count: int, at_once: int) -> Search:
    def task(state: State, given: Any) -> Any:
        def of_block(block: int, rows: Any) -> Task:
            return lambda: TaskResult([(given["seed"], block, rows)])

        return of_block

    return block_search(
        "found",
        "a test",
        lambda s: s.work("found"),
        (("rid", "bigint"),),
        blocks=Blocks(
            relation=lambda s: QualifiedName("w", "blocked"),
            columns=lambda s: ["c0", "c1"],
            count=lambda s: count,
            at_once=lambda s: at_once,
        ),
        task=task,
    )


@pytest.mark.parametrize(("count", "at_once"), [(7, 3), (6, 3), (1, 5), (4, 1)])
def test_every_block_is_in_one_batch(count: int, at_once: int) -> None:
    step = search(count, at_once)
    batches = step.batches(STATE)
    assert batches == -(-count // at_once)
    for batch in range(batches):
        first, last = batch * at_once, (batch + 1) * at_once
        assert render(step.rows(STATE, batch)) == (
            'SELECT "b"."block", "b"."rid", "b"."c0", "b"."c1" FROM "w"."blocked" AS "b"'
            f' WHERE "b"."block" >= {first} AND "b"."block" < {last}'
            ' ORDER BY "b"."block", "b"."rid"'
        )


def test_a_block_is_one_task_with_its_rows_in_order() -> None:
    rows = [(4, 11, 1, 2), (4, 12, 1, 3), (6, 2, 0, 0)]
    tasks = search(7, 7).tasks(STATE, {"seed": 5}, rows)
    assert [task().rows for task in tasks] == [
        [(5, 4, ((4, 11, 1, 2), (4, 12, 1, 3)))],
        [(5, 6, ((6, 2, 0, 0),))],
    ]


def test_groups_of_different_blocks_have_different_numbers() -> None:
    assert labelled(3, [10, 11], [1, 0]) == [(10, pair(3, 1)), (11, pair(3, 0))]
    assert grouped_rows(3, [10, 11, 12], [[2], [0]]) == [(12, pair(3, 0)), (10, pair(3, 1))]
