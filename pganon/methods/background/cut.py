"""Blocks of similar records in every cluster, which k-anonymity-primacy makes classes of.

piece_values   (cluster, piece, value, n)
piece_blocks   (cluster, piece, block)      pieces of the curve, put together until classes
                                            exist in every block
blocked        (block, rid, codes, value)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from pganon.encode.curve import piece_of
from pganon.encode.records import PLACE
from pganon.methods.background.context import Context, model_against, source_counts
from pganon.methods.background.kept import KEPT_RECORDS
from pganon.methods.background.rows import histograms
from pganon.methods.background.search.limits import Model, limits_against
from pganon.methods.background.search.pieces import joined_pieces
from pganon.sqltools import col, num, query
from pganon.steps import CreateTable, DropTables, Search, State, Step
from pganon.steps.facts import count
from pganon.steps.tasks import TaskResult

BLOCKS = count("blocks", "cut_", assumed=1)

WHOLE = 10_000
"""Records up to which clusters are not divided: a search is quadratic in its block."""


def cut_steps(context: Context, block_size: int) -> list[Step]:
    """From `placed` to `blocked`."""
    return [
        CreateTable(
            "piece_values",
            "sensitive values of neighbouring records",
            lambda s: s.work("piece_values"),
            lambda s: _histogram(context, s, block_size),
            inline=True,
        ),
        Search(
            "cut",
            "blocks in which classes exist",
            lambda s: s.work("piece_blocks"),
            (("cluster", "bigint"), ("piece", "integer"), ("block", "integer")),
            given=lambda s: source_counts(context, s),
            batches=lambda s: 1,
            rows=lambda s, batch: query(
                "select v.cluster, v.piece, v.value, v.n from v order by v.cluster, v.piece",
                {"v": s.work("piece_values")},
            ),
            tasks=lambda s, given, rows: [
                _Cut(rows, given["source"], context.k, model_against(context, given))
            ],
            gives=[BLOCKS],
        ),
        CreateTable(
            "blocked",
            "the block of every record",
            lambda s: s.work("blocked"),
            lambda s: _blocked(context, s, block_size),
        ),
        DropTables(
            "tidy",
            "what blocks were made from",
            lambda s: [s.work(name) for name in ("piece_values", "piece_blocks", "placed")],
        ),
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


def _histogram(context: Context, state: State, block_size: int) -> exp.Expr:
    return query(
        "select p.cluster, p.piece, p.value, count(*) as n from p"
        " group by p.cluster, p.piece, p.value",
        {"p": _pieced(context, state, block_size)},
    )


def _blocked(context: Context, state: State, block_size: int) -> exp.Expr:
    return query(
        "select b.block, p.rid, p.value, p.place from p"
        " join b on b.cluster = p.cluster and b.piece = p.piece",
        {"p": _pieced(context, state, block_size), "b": state.work("piece_blocks")},
    ).select(*[col(code, "p") for code in context.codes])


@dataclass(frozen=True)
class _Cut:
    """Attributes: rows: (cluster, piece, value, n) in order; source: n by value."""

    rows: Sequence[tuple[Any, ...]]
    source: Sequence[int]
    k: int
    model: Model

    def __call__(self) -> TaskResult:
        pieces, counts = histograms(self.rows, len(self.source))
        limits = limits_against(self.model, np.array(self.source), counts.sum(axis=0))
        blocks = joined_pieces([piece[0] for piece in pieces], counts, self.k, limits)
        rows = [(*piece, int(block)) for piece, block in zip(pieces, blocks, strict=True)]
        return TaskResult(rows, {"blocks": int(blocks.max()) + 1})
