"""Blocks of records with similar quasi-identifiers, each as small as it can be.

    spots     (spot, c<i>)               places of the quasi-identifiers on a Hilbert curve
    placed    (rid, value, piece)        records on the curve, cut into pieces of equal size
    hist_r    (node, value, n)           records per value in the nodes of level r: 2^r pieces
    missed_r  (level, node)              parents of nodes that are not eligible by themselves
    leaves    (piece, block)             the block of every piece

Pieces are the leaves of a binary tree over the curve. From the root down, a node is divided where
both of its halves are eligible; a union of eligible parts is eligible, so a half that is not
cannot be made of eligible parts. A piece is therefore in the highest node above it that has a half
which is not eligible, or is a block itself.

A part that is not divided tells who knows the rule that one of its halves is not eligible, the
more the smaller the halves are. Small pieces make similar groups; large ones tell less.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.methods.anatomy.shape import Shape
from pganon.methods.curve import curve_order, numbered, on_curve
from pganon.plan.sqltools import col, num, query, stacked
from pganon.plan.steps import Check, CreateTable, DropTables, Repeat, State, Step


def block_steps(shape: Shape) -> list[Step]:
    return [
        CreateTable(
            "spots",
            "quasi-identifiers on a Hilbert curve",
            lambda s: s.work("spots"),
            lambda s: _spots(shape, s),
        ),
        CreateTable(
            "placed",
            "records on the curve, in pieces",
            lambda s: s.work("placed"),
            lambda s: _placed(shape, s),
        ),
        CreateTable(
            "histogram",
            "records per value in every piece",
            lambda s: s.work("hist", round=0),
            lambda s: query(
                "select p.piece as node, p.value, count(*) as n from p group by p.piece, p.value",
                {"p": s.work("placed")},
            ),
        ),
        Repeat(
            name="divide",
            purpose="find the parts of the curve that cannot be divided",
            body=lambda number: _round(shape),
            until="divisible",
            bound=lambda state: state.count("records").bit_length() + 2,
        ),
        CreateTable("leaves", "the block of every piece", lambda s: s.work("leaves"), _leaves),
        DropTables(
            "tidy",
            "what the blocks were made from",
            lambda s: [
                s.work("spots"),
                *[s.work(f"hist_{r}") for r in range(s.count("divide_rounds") + 1)],
                *[s.work(f"missed_{r}") for r in range(s.count("divide_rounds"))],
            ],
        ),
    ]


def _spots(shape: Shape, state: State) -> exp.Expr:
    cells = query("select distinct 1 from k", {"k": state.work("kept")}).select(
        *[col(code, "k") for code in shape.codes], append=False
    )
    curve = on_curve(shape.axes, state, cells, shape.codes)
    tree = query(
        "select :spot::int as spot from h",
        {"h": curve},
        spot=numbered(curve_order(shape.axes, state, "h")),
    )
    return tree.select(*[col(code, "h") for code in shape.codes])


def _placed(shape: Shape, state: State) -> exp.Expr:
    """Equal quasi-identifiers are in random order on their spot."""
    same = exp.and_(
        *[exp.EQ(this=col(code, "k"), expression=col(code, "s")) for code in shape.codes]
    )
    ordered = query(
        "select k.rid, k.value, :place as place from k",
        {"k": state.work("kept")},
        place=numbered([col("spot", "s"), col("rid", "k")]),
    ).join(exp.alias_(state.work("spots").table, "s", table=True, quoted=True), on=same)
    return query(
        "select o.rid, o.value, ((o.place - 1) * :pieces / :records)::int as piece from o",
        {"o": ordered},
        pieces=num(_pieces(shape, state)),
        records=num(state.count("released")),
    )


def _pieces(shape: Shape, state: State) -> int:
    """A power of two: the halves of a node would else be of any size, and the whole curve be one
    block for a few records at its end."""
    wanted = state.count("released") // max(shape.block_size, shape.model.l)
    return 1 << max(wanted.bit_length() - 1, 0)


def _round(shape: Shape) -> Sequence[Step]:
    return [
        CreateTable(
            "missed",
            "nodes of which a half is not eligible",
            lambda s: s.work("missed", round=s.round),
            lambda s: _missed(shape, s),
            analyze=False,
        ),
        CreateTable(
            "histogram",
            "records per value, two nodes together",
            lambda s: s.work("hist", round=s.round + 1),
            lambda s: query(
                "select h.node >> 1 as node, h.value, sum(h.n)::bigint as n from h group by 1, 2",
                {"h": s.work("hist", round=s.round)},
            ),
        ),
        Check(
            "progress",
            "whether every node of this level is eligible",
            lambda s: query(
                "select count(*) = 0 as divisible from m",
                {"m": s.work("missed", round=s.round)},
            ),
        ),
    ]


def _missed(shape: Shape, state: State) -> exp.Expr:
    model = shape.model
    measured = model.measure(state.work("hist", round=state.round), ["node"])
    if model.level == "unique":
        # Stripes make all values of a group different wherever they make it l-diverse.
        histogram = state.work("hist", round=state.round)
        measured = type(model)(model.l).measure(histogram, ["node"])
    return query(
        "select distinct :level as level, m.node >> 1 as node from m where not :holds",
        {"m": measured},
        level=num(state.round + 1),
        holds=model.holds(col("measure", "m")),
    )


def _leaves(state: State) -> exp.Expr:
    missed = stacked(
        [
            query("select m.level, m.node from m", {"m": state.work("missed", round=r)})
            for r in range(state.count("divide_rounds"))
        ]
    )
    levels = query(
        "select p.piece, g.level, p.piece >> g.level as node from p cross join"
        " (select generate_series(1, :levels) as level) as g",
        {"p": query("select distinct p.piece from p", {"p": state.work("placed")})},
        levels=num(state.count("divide_rounds")),
    )
    above = query(
        "select l.piece, max(m.level) as level from l"
        " left join m on m.level = l.level and m.node = l.node group by l.piece",
        {"l": levels, "m": missed},
    )
    return query(
        "select a.piece, (a.piece >> coalesce(a.level, 0)) << coalesce(a.level, 0) as block from a",
        {"a": above},
    )
