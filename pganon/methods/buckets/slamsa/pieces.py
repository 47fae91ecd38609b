"""Pieces of records merged into blocks, in Python over their histograms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple
from functools import partial
from itertools import groupby

from sqlglot import exp

from pganon.methods.buckets.slamsa.context import SlamsaContext
from pganon.methods.buckets.slamsa.strata import frequencies
from pganon.methods.common.search.blocks import Piece, Placed
from pganon.sqltools import col, num, query, stacked
from pganon.steps import Rows, Search, State
from pganon.steps.tasks import TaskResult

ExclusionRule = Callable[[Iterable[Piece], Mapping[int, int], int], list[Placed]]


def merging(
    context: SlamsaContext,
    table: str,
    records: str,
    rule: ExclusionRule,
    when: Callable[[State], bool] = lambda state: True,
) -> Search:
    """The block of every piece.

    Args:
        table: work table (stratum, piece, block, size, tightest) of the result.
        records: work table (stratum, piece, ..) with the columns of the conditions.
    """
    return Search(
        table,
        "pieces put together until each could be one bucket",
        lambda s: s.work(table),
        (
            ("stratum", "bigint"),
            ("piece", "integer"),
            ("block", "integer"),
            ("size", "bigint"),
            ("tightest", "integer"),
        ),
        rows=lambda s, batch: _histograms(context, records, s),
        tasks=lambda s, given, rows: [
            partial(_merge, tuple(rows), _least(context, s), context.minimum_size, rule)
        ],
        when=when,
    )


def _histograms(context: SlamsaContext, records: str, state: State) -> exp.Select:
    """(stratum, piece, condition, value, n), condition -1 for all records of a piece."""
    parts = [
        query(
            "select p.stratum, p.piece, -1 as condition, 0 as value, count(*) as n from p"
            " group by p.stratum, p.piece",
            {"p": state.work(records)},
        )
    ]
    parts += [
        query(
            "select p.stratum, p.piece, :c as condition, :v as value, count(*) as n from p"
            " group by p.stratum, p.piece, 4",
            {"p": state.work(records)},
            c=num(place),
            v=col(frequency.column, "p"),
        )
        for place, frequency in enumerate(frequencies(context, state))
    ]
    return query("select h.* from h order by h.stratum, h.piece", {"h": stacked(parts)})


def _least(context: SlamsaContext, state: State) -> dict[int, int]:
    return {place: f.l for place, f in enumerate(frequencies(context, state))}


def _merge(rows: Rows, least: Mapping[int, int], minimum: int, rule: ExclusionRule) -> TaskResult:
    pieces = (
        _piece(stratum, piece, list(group))
        for (stratum, piece), group in groupby(rows, key=lambda row: row[:2])
    )
    return TaskResult([astuple(placed) for placed in rule(pieces, least, minimum)])


def _piece(stratum: int, piece: int, rows: Rows) -> Piece:
    size = 0
    counts: dict[int, list[tuple[int, int]]] = {}
    for _, _, condition, value, n in rows:
        if condition < 0:
            size = n
        else:
            counts.setdefault(condition, []).append((value, n))
    return Piece(stratum, piece, size, counts)
