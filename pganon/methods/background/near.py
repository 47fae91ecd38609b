"""Classes of records that are near to a random one along the curve, as the paper selects them.

indexes   (codes, h)    the Hilbert index of every combination of codes
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sqlglot import exp

from pganon.encode.curve import on_curve
from pganon.encode.hilbert import WORD_BITS
from pganon.methods.background.blocks import BLOCKS, given_limits, planner
from pganon.methods.background.context import Context
from pganon.methods.background.rows import grouped_step
from pganon.methods.background.search.buckets import Planner
from pganon.methods.background.search.limits import BetaLimits
from pganon.methods.background.search.selection import nearest
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search, grouped_rows
from pganon.sqltools import col, equal, named, query
from pganon.steps import Rows, State, Step, table
from pganon.steps.tasks import TaskResult

AT_ONCE = 200
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
                at_once=lambda s: AT_ONCE,
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
