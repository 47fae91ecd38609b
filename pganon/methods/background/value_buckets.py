"""Beta-likeness first: values of a block in buckets, and classes that draw from every bucket.

    block_values  (block, value, n)
    plan          (block, bucket, values, sizes)   the values of a bucket, and how many of its
                                                   records every class of the block gets

Plans are made from counts alone. Which records of a bucket a class gets is random (`select:
random`), or those that come next along the curve (`sweep`); of `nearest` a search decides.

indexes   (codes, h)    the Hilbert index of every combination of codes
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.encode.curve import numbered, on_curve
from pganon.encode.hilbert import WORD_BITS
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
from pganon.methods.background.options import BetaPrimacy
from pganon.methods.background.rows import grouped_step
from pganon.methods.background.search.buckets import Planner, nearest
from pganon.methods.background.search.limits import BetaLimits
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search, grouped_rows
from pganon.methods.common.pairs import paired
from pganon.sqltools import col, equal, named, num, query
from pganon.steps import Rows, Search, State, Step, table
from pganon.steps.tasks import Task, TaskResult

NEAR_AT_ONCE = 200
"""Blocks that are read and searched in one batch."""


def nearest_steps(context: Context) -> list[Step]:
    """From `blocked` to `grouped`."""
    return [
        table(
            "indexes",
            "where combinations of quasi-identifiers are on the curve",
            lambda s: _indexes(context, s),
        ),
        block_search(
            "classes",
            "classes of records that are near along the curve",
            lambda s: s.work("near"),
            (("rid", "bigint"), ("gid", "bigint")),
            blocks=Blocks(
                relation=lambda s: query(
                    "select b.block, b.rid, b.value, i.h from b join i on :same",
                    {"b": s.work("blocked"), "i": s.work("indexes")},
                    same=equal(context.codes, "i", "b"),
                ),
                columns=lambda s: ["value", "h"],
                count=lambda s: s[BLOCKS],
                at_once=lambda s: NEAR_AT_ONCE,
            ),
            given=given_limits,
            task=lambda s, given: _task(planner(context), given),
        ),
        grouped_step(context, "near", lambda s: s.work("blocked")),
    ]


def _indexes(context: Context, state: State) -> exp.Expr:
    cells = query("select 1 as nothing from b", {"b": state.work("blocked")})
    codes = [col(code, "b") for code in context.codes]
    cells = cells.select(*codes, append=False).group_by(*[code.copy() for code in codes])
    # One word of the index, so that differences of two can be compared.
    bits = max(1, min(16, WORD_BITS // len(context.axes)))
    placed = on_curve(context.axes, state, cells, context.codes, bits)
    return query("select 1 from p", {"p": placed}).select(
        *[col(code, "p") for code in context.codes], named(col("h0", "p"), "h"), append=False
    )


def _task(planner: Planner, given: Given) -> TaskOf:
    limits = BetaLimits(np.array(given["f"]), np.array(given["shares"]))
    return lambda block, rows: partial(_near, block, rows, limits, planner, given["seed"])


def _near(block: int, rows: Rows, limits: BetaLimits, planner: Planner, seed: int) -> TaskResult:
    """One block: rows (block, rid, value, h)."""
    _, rids, values, indexes = zip(*rows, strict=True)
    held = np.array(values) - 1
    counts = np.bincount(held, minlength=len(limits.f))
    buckets, leaves = planner.plan(counts, limits)
    bucket_of = np.zeros(len(counts), dtype=np.int64)
    for number, bucket in enumerate(buckets):
        bucket_of[bucket] = number
    drawn = np.random.default_rng([seed % 2**64, block])
    groups = nearest(
        np.array(indexes), bucket_of[held], leaves, lambda most: int(drawn.integers(most))
    )
    return TaskResult(grouped_rows(block, rids, [members.tolist() for members in groups]))


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
        partial(
            _plans,
            blocks[first : first + size],
            given["f"],
            given["shares"],
            planner,
            given["seed"],
        )
        for first in range(0, len(blocks), size)
    ]


_TASKS = 8


def _plans(
    blocks: Sequence[tuple[int, Rows]],
    f: Sequence[float],
    shares: Sequence[float],
    planner: Planner,
    seed: int,
) -> TaskResult:
    """The plans of some blocks.

    Args:
        blocks: by number, rows (block, value, n).
        f, shares: by value.
    """
    limits = BetaLimits(np.array(f), np.array(shares))
    made: list[tuple[int, int, list[int], list[int]]] = []
    for block, rows in blocks:
        counts = np.zeros(len(limits.f), dtype=np.int64)
        for _, value, n in rows:
            counts[value - 1] = n
        buckets, leaves = planner.plan(counts, limits)
        # Along the curve the order of the leaves decides which records go to which.
        order = np.random.default_rng([seed % 2**64, block]).permutation(len(leaves))
        for number, bucket in enumerate(buckets):
            drawn = leaves[order, number].tolist()
            made.append((block, number, [value + 1 for value in bucket], drawn))
    return TaskResult(made)


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
