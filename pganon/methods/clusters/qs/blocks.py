"""Blocks of similar records, cut from a Hilbert curve over all attributes.

    curve    (cell, w, c<i>, h0, h1, ..)       index of every cell
    pieces   (cell, w, c<i>, place, piece)     place on the curve, from 1; equal cuts of it
    blocks   (piece, block)                    pieces that are a block together
    points   (block, place, cell, w, ids, x<i>)    what the clustering functions read

A piece that does not reach the requirement could form no cluster: it joins the piece before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psycopg import sql
from sqlglot import exp

from pganon.encode.curve import curve_words, numbered, on_curve, piece_of
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError
from pganon.forms.work import QS_CELLS
from pganon.methods.clusters.qs.cells import CELLS
from pganon.methods.clusters.qs.context import QSContext, code_arrays
from pganon.privacy.quasi_sensitive import product_histogram, supported_histogram
from pganon.sqltools import cast, col, conjunction, fragment, named, num, query
from pganon.steps import Check, State, Statement, Step, table
from pganon.steps.facts import count

SLACK = 8
"""Most multiples of `block_size` that a block of a quadratic method may have."""


BLOCKS = count("blocks")


def block_steps(
    context: QSContext, block_size: int, *, along_curve: bool, bounded: bool
) -> list[Step]:
    """From `cells` to `points`.

    Args:
        along_curve: whether places within a block follow the curve; else the random order of the
            cells.
        bounded: whether blocks much larger than `block_size` are refused.
    """

    def several(state: State) -> bool:
        return _pieces(state, block_size) > 1

    return [
        table(
            "curve",
            "cells on a Hilbert curve",
            lambda s: on_curve(context.axes, s, s.work(QS_CELLS), ["cell", "w", *context.codes]),
            inline=True,
        ),
        table("pieces", "the curve in pieces", lambda s: _cut(context, s, block_size)),
        table(
            "piece_values",
            "values of every piece",
            lambda s: code_arrays(context.codes, s.work("pieces"), "piece"),
            when=several,
        ),
        table(
            "blocks",
            "pieces that reach the requirement, each with those after it that do not",
            lambda s: _blocks(context, s) if several(s) else query("select 0 as piece, 1 as block"),
        ),
        table(
            "points", "cells of every block", lambda s: _points(context, s, along_curve=along_curve)
        ),
        Statement(
            "points_key",
            "an index to read a block by",
            lambda s: sql.SQL("CREATE INDEX ON {} (block, place)").format(
                s.work("points").identifier
            ),
        ),
        _size_check(block_size, bounded=bounded),
    ]


def _size_check(block_size: int, *, bounded: bool) -> Check:
    """Number and size of the blocks; refuses too large ones if `bounded`."""

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        return _too_large(row, block_size) if bounded else None

    return Check(
        "block_sizes",
        "number and size of the blocks",
        lambda s: query(
            "select count(*) as blocks, max(b.cells) as largest_block from"
            " (select count(*) as cells from p group by p.block) as b",
            {"p": s.work("points")},
        ),
        problem,
        gives=[BLOCKS, count("largest_block")],
    )


def _pieces(state: State, block_size: int) -> int:
    return -(-state[CELLS] // block_size)


def _cut(context: QSContext, state: State, block_size: int) -> exp.Expr:
    """Cells with the same index, if there are any, keep a random order."""
    place = numbered([col(name, "h") for name in (*curve_words(context.axes, state), "cell")])
    placed = query("select h.*, :p as place from h", {"h": state.work("curve")}, p=place)
    tree = query(
        "select p.cell, p.w, p.place, :piece as piece from p",
        {"p": placed},
        piece=piece_of(col("place", "p"), num(_pieces(state, block_size)), num(state[CELLS])),
    )
    return tree.select(*[col(code, "p") for code in context.codes])


def _blocks(context: QSContext, state: State) -> exp.Expr:
    """(piece, block): as many blocks as pieces that reach the requirement, or one."""
    values, sets = state.work("piece_values"), context.sets(state)
    model = context.model
    if model.counts_supported:
        histogram = supported_histogram(values, "piece", sets, context.element(state))
    else:
        histogram = product_histogram(values, "piece", sets)
    measured = model.measure(histogram, ["piece"])
    enough = conjunction(
        [
            fragment("cardinality(:a) >= :m", a=col(axis.code, "v"), m=num(model.min_values))
            for axis in context.axes
        ]
    )
    reached = query(
        "select v.piece, :holds and n.records >= :size and :enough as reached from v"
        " join m on m.piece = v.piece join n on n.piece = v.piece",
        {
            "v": values,
            "m": measured,
            "n": query(
                "select p.piece, sum(p.w) as records from p group by p.piece",
                {"p": state.work("pieces")},
            ),
        },
        size=num(model.size),
        holds=model.holds(col("measure", "m")),
        enough=enough,
    )
    return query(
        "select r.piece, greatest(1, sum(r.reached::int) over (order by r.piece))::int as block"
        " from r",
        {"r": reached},
    )


def _points(context: QSContext, state: State, *, along_curve: bool) -> exp.Expr:
    order = col("place", "p") if along_curve else col("cell", "p")
    ids = [context.value_number(state, axis.index, col(axis.code, "p")) for axis in context.axes]
    tree = query(
        "select b.block, (row_number() over (partition by b.block order by :order))::int as place,"
        " p.cell, p.w, :ids as ids from p join b on b.piece = p.piece",
        {"p": state.work("pieces"), "b": state.work("blocks")},
        order=order,
        ids=exp.Array(expressions=[cast(exp.paren(value), "int") for value in ids]),
    )
    for number, part in enumerate(context.point(state, "p"), start=1):
        tree = tree.select(named(part, f"x{number}"))
    return tree.order_by(col("block"), col("place"))


def _too_large(row: Mapping[str, Any], block_size: int) -> PganonError | None:
    if row["largest_block"] <= SLACK * block_size:
        return None
    return PreconditionError(
        f"records that are similar reach the requirement only together: a block of"
        f" {row['largest_block']} different records would be needed, block_size is {block_size}",
        hint=f"use method qs_efficient, or set block_size: {row['largest_block']} and expect a time"
        " that grows with its square",
        code=ErrorCode.BLOCKS_TOO_UNIFORM,
    )
