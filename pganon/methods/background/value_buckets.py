"""Beta-likeness first: values of a block in buckets, and classes that draw from every bucket.

    block_values  (block, value, n)
    plan          (block, bucket, values, sizes)   the values of a bucket, and how many of its
                                                   records every class of the block gets

Plans are made from counts alone. Which records of a bucket a class gets is random (`select:
random`), or those that come next along the curve (`sweep`); of `nearest` a search decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.encode.curve import numbered
from pganon.encode.records import NUMBER, PLACE
from pganon.forms.work import GROUPED
from pganon.methods.background.blocks import (
    BLOCKS,
    block_steps,
    given_limits,
    in_block,
    limit_step,
    planner,
)
from pganon.methods.background.context import Context
from pganon.methods.background.near import nearest_steps
from pganon.methods.background.options import BetaPrimacy
from pganon.methods.background.search.buckets import Planner
from pganon.methods.background.search.limits import BetaLimits
from pganon.methods.common.pairs import paired
from pganon.sqltools import col, named, num, query
from pganon.steps import Rows, Search, State, Step, table
from pganon.steps.tasks import Task, TaskResult

AT_ONCE = 2_000
"""Blocks that are read in one batch."""


def drawn_steps(context: Context) -> list[Step]:
    """From `placed` to `grouped`."""
    options = context.options
    assert isinstance(options, BetaPrimacy)
    return [
        limit_step(context),
        *block_steps(context),
        table("blocked", "the block of every record", lambda s: in_block(context, s)),
        *(nearest_steps(context) if options.select == "nearest" else _ranked_steps(context)),
    ]


def _ranked_steps(context: Context) -> list[Step]:
    return [
        table(
            "block_values",
            "sensitive values of every block",
            lambda s: query(
                "select b.block, b.value, count(*) as n from b group by b.block, b.value",
                {"b": s.work("blocked")},
            ),
        ),
        Search(
            "plan",
            "buckets of values, and what every class gets of each",
            lambda s: s.work("plan"),
            (
                ("block", "integer"),
                ("bucket", "integer"),
                ("values", "integer[]"),
                ("sizes", "integer[]"),
            ),
            given=given_limits,
            batches=lambda s: -(-s[BLOCKS] // AT_ONCE),
            rows=lambda s, batch: query(
                "select v.block, v.value, v.n from v"
                " where v.block >= :first and v.block < :next order by v.block, v.value",
                {"v": s.work("block_values")},
                first=num(batch * AT_ONCE),
                next=num((batch + 1) * AT_ONCE),
            ),
            tasks=lambda s, given, rows: _tasks(planner(context), given, rows),
        ),
        _grouped_step(context),
    ]


def _tasks(planner: Planner, given: Mapping[str, Any], rows: Rows) -> list[Task]:
    """A few tasks for many small blocks."""
    blocks = [(block, tuple(members)) for block, members in groupby(rows, key=lambda row: row[0])]
    size = max(1, -(-len(blocks) // _TASKS))
    return [
        _Plans(blocks[first : first + size], given["f"], given["shares"], planner, given["seed"])
        for first in range(0, len(blocks), size)
    ]


_TASKS = 8


@dataclass(frozen=True)
class _Plans:
    """The plans of some blocks.

    Attributes:
        blocks: by number, rows (block, value, n).
        f, shares: by value.
    """

    blocks: Sequence[tuple[int, Sequence[tuple[int, int, int]]]]
    f: Sequence[float]
    shares: Sequence[float]
    planner: Planner
    seed: int

    def __call__(self) -> TaskResult:
        limits = BetaLimits(np.array(self.f), np.array(self.shares))
        return TaskResult(
            [row for block, rows in self.blocks for row in self._plan(block, rows, limits)]
        )

    def _plan(
        self, block: int, rows: Sequence[tuple[int, int, int]], limits: BetaLimits
    ) -> Iterator[tuple[int, int, list[int], list[int]]]:
        counts = np.zeros(len(limits.f), dtype=np.int64)
        for _, value, n in rows:
            counts[value - 1] = n
        buckets, leaves = self.planner.plan(counts, limits)
        # Along the curve the order of the leaves decides which records go to which.
        order = np.random.default_rng([self.seed % 2**64, block]).permutation(len(leaves))
        for number, bucket in enumerate(buckets):
            drawn = leaves[order, number].tolist()
            yield block, number, [value + 1 for value in bucket], drawn


def _ranked(context: Context, state: State) -> exp.Select:
    """SELECT rid, codes, block, bucket, rank: records of a bucket in the order they are drawn."""
    buckets = query(
        "select p.block, p.bucket, unnest(p.values) as value from p", {"p": state.work("plan")}
    )
    options = context.options
    assert isinstance(options, BetaPrimacy)
    order = PLACE if options.select == "sweep" else NUMBER
    rank = numbered([col(order, "b")], [col("block", "b"), col("bucket", "u")])
    return query(
        "select b.rid, b.block, u.bucket from b join u on u.block = b.block and u.value = b.value",
        {"b": state.work("blocked"), "u": buckets},
    ).select(*[col(code, "b") for code in context.codes], named(rank, "rank"))


def _slots(state: State) -> exp.Select:
    """SELECT block, bucket, leaf, rank: a row for every record that a class draws."""
    drawn = query(
        "select p.block, p.bucket, x.leaf, x.size from p"
        " cross join lateral unnest(p.sizes) with ordinality as x(size, leaf)",
        {"p": state.work("plan")},
    )
    intervals = query(
        "select d.block, d.bucket, d.leaf, d.size,"
        " sum(d.size) over (partition by d.block, d.bucket order by d.leaf) as last from d",
        {"d": drawn},
    )
    return query(
        "select i.block, i.bucket, i.leaf, generate_series(i.last - i.size + 1, i.last) as rank"
        " from i",
        {"i": intervals},
    )


def _grouped_step(context: Context) -> Step:
    return table(
        "grouped",
        "the class of every record",
        lambda s: query(
            "select :gid as gid, r.rid from r join t on t.block = r.block and t.bucket = r.bucket"
            " and t.rank = r.rank",
            {"r": _ranked(context, s), "t": _slots(s)},
            gid=paired(col("block", "t"), col("leaf", "t")),
        ).select(*[col(code, "r") for code in context.codes]),
        into=GROUPED,
    )
