"""k-anonymity first: classes of near records in every block, by a search on codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.methods.background.context import Context, model_against, source_columns, source_counts
from pganon.methods.background.cut import BLOCKS, cut_steps
from pganon.methods.background.options import Incremental, KAgg, KAggMic, Primacy
from pganon.methods.background.rows import grouped_step
from pganon.methods.background.search.limits import Limits, limits_against
from pganon.methods.background.search.points import Attribute, Hierarchy, Nominal, Ordered, Points
from pganon.methods.background.search.primacy import Cost, Pick, Post, Residual, k_primacy
from pganon.methods.background.settled import SETTLED, settled_step
from pganon.methods.common.attribute_arrays import attribute_arrays, given_with_losses
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search, grouped_rows
from pganon.methods.common.search import attributes
from pganon.methods.common.search.tree import Hierarchical
from pganon.sqltools import named, query, scalar
from pganon.steps import DropTables, State, Step
from pganon.steps.tasks import TaskResult


def given_of_points(context: Context, state: State) -> exp.Select:
    """SELECT one row: what values are like, and `source` and `released` records by value."""
    tree = given_with_losses(context.axes, state)
    released = query(
        "select array_agg(coalesce(k.n, 0) order by v.value) from"
        " (select generate_series(1, cardinality(c.source)) as value from c) as v left join"
        " (select x.value, sum(x.n)::bigint as n from kept as x group by x.value) as k"
        " on k.value = v.value",
        {"c": source_counts(context, state), "kept": state.work("kept")},
    )
    columns = [
        named(scalar(source_counts(context, state, [name])), name)
        for name in source_columns(context)
    ]
    return tree.select(*columns, named(scalar(released), "released"))


def limits_of(context: Context, given: Given) -> Limits:
    """Against the source and what is released."""
    return limits_against(
        model_against(context, given), np.array(given["source"]), np.array(given["released"])
    )


def points_of(
    context: Context, state: State, given: Given, columns: Sequence[Sequence[int]]
) -> Points:
    """Args: columns: by quasi-identifier, the codes of all records."""
    pairs = zip(context.axes, columns, strict=True)
    return Points([_attribute(axis, state, given, np.array(codes)) for axis, codes in pairs])


def _attribute(axis: Axis, state: State, given: Given, codes: np.ndarray) -> Attribute:
    values = attribute_arrays(axis, state, given)
    if isinstance(values, attributes.Ordered):
        return Ordered(np.array([np.nan, *values.places])[codes])
    if isinstance(values, attributes.Tree):
        return Hierarchy(codes, Hierarchical.of(values, nulls=axis.has_null(state)))
    return Nominal(codes, values.domain - axis.has_missing(state))


AT_ONCE = 50_000
"""Records whose blocks are read and searched in one batch."""


def grown_steps(context: Context) -> list[Step]:
    """From `placed` to `grouped`."""
    options = context.options
    assert isinstance(options, Primacy)
    suppresses = options.residual == "suppress"
    tables = ["blocked", "grown", *([SETTLED] if suppresses else [])]
    return [
        *cut_steps(context, options.block_size),
        block_search(
            "classes",
            "classes of near records",
            lambda s: s.work("grown"),
            (("rid", "bigint"), ("gid", "bigint")),
            blocks=Blocks(
                relation=lambda s: s.work("blocked"),
                columns=lambda s: ["value", *context.codes],
                count=lambda s: s[BLOCKS],
                at_once=lambda s: max(1, AT_ONCE // options.block_size),
            ),
            given=lambda s: given_of_points(context, s),
            task=lambda s, given: _task(context, s, given),
        ),
        *([settled_step(context, "grown")] if suppresses else []),
        grouped_step(
            context, "grown", lambda s: s.work("blocked"), SETTLED if suppresses else None
        ),
        DropTables("tidy", "the blocks", lambda s: [s.work(name) for name in tables]),
    ]


def _task(context: Context, state: State, given: Given) -> TaskOf:
    limits, options = limits_of(context, given), context.options
    assert isinstance(options, Primacy)
    choices = _Choices(
        post="agg" if isinstance(options, KAgg) else "inc",
        cost="sse" if isinstance(options, KAggMic) else "ncp",
        pick=options.inc_pick if isinstance(options, Incremental) else "aware",
        residual=options.residual,
    )

    def task(block: int, rows: Sequence[tuple[Any, ...]]) -> _Grow:
        _, rids, values, *columns = zip(*rows, strict=True)
        points = points_of(context, state, given, columns)
        return _Grow(block, rids, np.array(values) - 1, points, context.k, limits, choices)

    return task


@dataclass(frozen=True)
class _Choices:
    post: Post
    cost: Cost
    pick: Pick
    residual: Residual


@dataclass(frozen=True, eq=False)
class _Grow:
    """One block."""

    block: int
    rids: Sequence[int]
    values: np.ndarray
    points: Points
    k: int
    limits: Limits
    choices: _Choices

    def __call__(self) -> TaskResult:
        classes = k_primacy(
            self.points,
            self.values,
            self.k,
            self.limits,
            post=self.choices.post,
            cost=self.choices.cost,
            pick=self.choices.pick,
            residual=self.choices.residual,
        )
        groups = [rows.tolist() for rows in classes.classes]
        return TaskResult(grouped_rows(self.block, self.rids, groups))
