"""k-anonymity first: classes of near records in every block, by a search on codes.

piece_values   (cluster, piece, value, n)
piece_blocks   (cluster, piece, block)      pieces of the curve, put together until classes
                                            exist in every block
blocked        (block, rid, codes, value)   similar records of a cluster
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from sqlglot import exp

from pganon.encode.axis import Axis
from pganon.encode.curve import piece_of
from pganon.encode.records import PLACE
from pganon.methods.background.context import Context, model_against, source_columns, source_counts
from pganon.methods.background.eligible_clusters import KEPT_RECORDS
from pganon.methods.background.options import Incremental, KAgg, KAggMic, Primacy
from pganon.methods.background.published_distribution import SETTLED, settled_step
from pganon.methods.background.rows import grouped_step, histograms
from pganon.methods.background.search.limits import Limits, Model, limits_against
from pganon.methods.background.search.pieces import joined_pieces
from pganon.methods.background.search.points import Attribute, Hierarchy, Nominal, Ordered, Points
from pganon.methods.background.search.primacy import Classes, k_primacy
from pganon.methods.common.attribute_arrays import attribute_arrays, given_with_losses
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search, grouped_rows
from pganon.methods.common.search import attributes
from pganon.methods.common.search.elements import Hierarchical
from pganon.sqltools import col, named, num, query, scalar
from pganon.steps import Rows, Scope, Search, State, Step, table
from pganon.steps.facts import count
from pganon.steps.tasks import Task, TaskResult

BLOCKS = count("blocks", "cut_", assumed=1)

WHOLE = 10_000
"""Records up to which clusters are not divided: a search is quadratic in its block."""


def cut_steps(context: Context, block_size: int) -> list[Step]:
    """From `placed` to `blocked`."""
    return [
        table(
            "piece_values",
            "sensitive values of neighbouring records",
            lambda s: query(
                "select p.cluster, p.piece, p.value, count(*) as n from p"
                " group by p.cluster, p.piece, p.value",
                {"p": _pieced(context, s, block_size)},
            ),
            inline=True,
        ),
        Search(
            "cut",
            "blocks in which classes exist",
            lambda s: s.work("piece_blocks"),
            (("cluster", "bigint"), ("piece", "integer"), ("block", "integer")),
            given=lambda s: source_counts(context, s),
            rows=lambda s, batch: query(
                "select v.cluster, v.piece, v.value, v.n from v order by v.cluster, v.piece",
                {"v": s.work("piece_values")},
            ),
            tasks=lambda s, given, rows: [
                partial(_cut, rows, given["source"], context.k, model_against(context, given))
            ],
            gives=[BLOCKS],
        ),
        table("blocked", "the block of every record", lambda s: _blocked(context, s, block_size)),
    ]


def _pieced(context: Context, state: State, block_size: int) -> exp.Select:
    """SELECT of the columns of `placed` and the piece."""
    size = block_size if state[KEPT_RECORDS] > WHOLE else WHOLE
    sizes = query(
        "select k.cluster, sum(k.n)::bigint as size from k group by k.cluster",
        {"k": state.work("kept")},
    )
    pieces = query(
        "select s.cluster, s.size, greatest(s.size / :most, 1) as pieces from s",
        {"s": sizes},
        most=num(size),
    )
    return query(
        "select p.*, :piece as piece from p join s on s.cluster = p.cluster",
        {"p": context.placed(state), "s": pieces},
        piece=piece_of(col(PLACE, "p"), col("pieces", "s"), col("size", "s")),
    )


def _blocked(context: Context, state: State, block_size: int) -> exp.Expr:
    return query(
        "select b.block, p.rid, p.value, p.place from p"
        " join b on b.cluster = p.cluster and b.piece = p.piece",
        {"p": _pieced(context, state, block_size), "b": state.work("piece_blocks")},
    ).select(*[col(code, "p") for code in context.codes])


def _cut(rows: Rows, source: Sequence[int], k: int, model: Model) -> TaskResult:
    """Args: rows: (cluster, piece, value, n) in order; source: n by value."""
    pieces, counts = histograms(rows, len(source))
    limits = limits_against(model, np.array(source), counts.sum(axis=0))
    blocks = joined_pieces([piece[0] for piece in pieces], counts, k, limits)
    placed = [(*piece, int(block)) for piece, block in zip(pieces, blocks, strict=True)]
    return TaskResult(placed, {"blocks": int(blocks.max()) + 1})


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
    return [
        Scope("what blocks were made from", cut_steps(context, options.block_size), ["blocked"]),
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
    ]


def _task(context: Context, state: State, given: Given) -> TaskOf:
    limits, options = limits_of(context, given), context.options
    assert isinstance(options, Primacy)
    search = partial(
        k_primacy,
        k=context.k,
        limits=limits,
        post="agg" if isinstance(options, KAgg) else "inc",
        cost="sse" if isinstance(options, KAggMic) else "ncp",
        pick=options.inc_pick if isinstance(options, Incremental) else "aware",
        residual=options.residual,
    )

    def task(block: int, rows: Rows) -> Task:
        _, rids, values, *columns = zip(*rows, strict=True)
        points = points_of(context, state, given, columns)
        return partial(_grow, block, rids, partial(search, points, np.array(values) - 1))

    return task


def _grow(block: int, rids: Sequence[int], search: Callable[[], Classes]) -> TaskResult:
    """One block."""
    groups = [rows.tolist() for rows in search().classes]
    return TaskResult(grouped_rows(block, rids, groups))
