"""Blocks of records with similar quasi-identifiers, small enough for a thorough search.

    placed    (rid, stratum, piece, c.., s..)     records along a Hilbert curve, cut into pieces
    merged    (stratum, piece, block)             pieces merged until every block is eligible
    blocked   (block, rid, c.., s.., t..)         records by block; blocks are numbered from 0

Where the curve is cut depends on quasi-identifiers alone; which pieces are merged, and how a block
is divided, depends on sensitive values too. Who recomputes both learns that other cuts failed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlglot import exp

from pganon.encode.curve import along_curve
from pganon.methods.slamsa.shape import Shape
from pganon.methods.slamsa.strata import columns, eligibility, frequencies
from pganon.plan.sqltools import col, named, num, query, stacked
from pganon.plan.steps import Check, CreateTable, DropTables, Found, Search, State, Step
from pganon.search.blocks import Piece, merged


def block_steps(shape: Shape) -> list[Step]:
    return [
        CreateTable(
            "placed",
            "records on the curve, in pieces",
            lambda s: s.work("placed"),
            lambda s: _placed(shape, s),
        ),
        Search(
            "merged",
            "pieces merged until each could be one bucket",
            lambda s: s.work("merged"),
            (("stratum", "bigint"), ("piece", "integer"), ("block", "integer")),
            given=lambda s: query("select 1 as nothing"),
            batches=lambda s: 1,
            rows=lambda s, batch: _histograms(shape, s),
            tasks=lambda s, given, rows: [
                _Merge(tuple(rows), _least(shape, s), shape.minimum_size)
            ],
        ),
        CreateTable(
            "blocked",
            "records by block",
            lambda s: s.work("blocked"),
            lambda s: _blocked(shape, s),
        ),
        Check(
            "blocks",
            "number of blocks",
            lambda s: query("select max(b.block) + 1 as blocks from b", {"b": s.work("blocked")}),
        ),
        DropTables(
            "tidy",
            "what the blocks were made from",
            lambda s: [
                *[s.work(name) for name in ("placed", "merged")],
                s.work("judged"),
                *eligibility(shape).leftovers(s),
            ],
        ),
    ]


def _placed(shape: Shape, state: State) -> exp.Expr:
    names = ["rid", "stratum", *columns(shape, state)]
    records = eligibility(shape).kept(state)
    ordered = along_curve(shape.axes, state, records, names, within=["stratum"])
    sized = query(
        "select o.*, count(*) over (partition by o.stratum) as records from o", {"o": ordered}
    )
    return query(
        "select ((s.place - 1) * greatest(s.records / :size, 1) / s.records)::int as piece from s",
        {"s": sized},
        size=num(shape.options.block_size),
    ).select(*[col(name, "s") for name in names])


# -- merging ----------------------------------------------------------------------------------


def _histograms(shape: Shape, state: State) -> exp.Select:
    """(stratum, piece, condition, value, n), condition -1 for all records of a piece."""
    parts = [
        query(
            "select p.stratum, p.piece, -1 as condition, 0 as value, count(*) as n from p"
            " group by p.stratum, p.piece",
            {"p": state.work("placed")},
        )
    ]
    parts += [
        query(
            "select p.stratum, p.piece, :c as condition, :v as value, count(*) as n from p"
            " group by p.stratum, p.piece, 4",
            {"p": state.work("placed")},
            c=num(place),
            v=col(frequency.column, "p"),
        )
        for place, frequency in enumerate(frequencies(shape, state))
    ]
    return query("select h.* from h order by h.stratum, h.piece", {"h": stacked(parts)})


def _least(shape: Shape, state: State) -> dict[int, int]:
    return {place: f.l for place, f in enumerate(frequencies(shape, state))}


@dataclass(frozen=True)
class _Merge:
    rows: Sequence[tuple[Any, ...]]
    least: Mapping[int, int]
    minimum: int

    def __call__(self) -> Found:
        pieces = (
            _piece(stratum, piece, list(rows))
            for (stratum, piece), rows in groupby(self.rows, key=lambda row: row[:2])
        )
        return Found(merged(pieces, self.least, self.minimum))


def _piece(stratum: int, piece: int, rows: Sequence[tuple[Any, ...]]) -> Piece:
    size = 0
    counts: dict[int, list[tuple[int, int]]] = {}
    for _, _, condition, value, n in rows:
        if condition < 0:
            size = n
        else:
            counts.setdefault(condition, []).append((value, n))
    return Piece(stratum, piece, size, counts)


def _blocked(shape: Shape, state: State) -> exp.Expr:
    numbered = query(
        "select m.stratum, m.piece,"
        " (dense_rank() over (order by m.stratum, m.block) - 1)::int as block from m",
        {"m": state.work("merged")},
    )
    tree = query(
        "select n.block, p.rid from p join n on n.stratum = p.stratum and n.piece = p.piece",
        {"p": state.work("placed"), "n": numbered},
    )
    return tree.select(*[named(col(name, "p"), name) for name in columns(shape, state)])
