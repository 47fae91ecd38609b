"""Blocks of records with similar quasi-identifiers, as small as the policy's rule allows.

    placed       (place, draw, ..)    records that are left, if some were left out
    hist_r       (node, value, n)     records per value in the nodes of level r: 2^r pieces
    undivided_r  (level, node)        nodes of level r + 1 that stay whole
    leaves       (piece, block)       the block of every piece

Records lie along a curve, which is cut into pieces of as many records. Pieces are the leaves of a
binary tree over the curve; from the root down, nodes are divided until the rule says no. A piece is
therefore in the highest node above it that stays whole, or is a block itself. A node is divided

- `division: public`: if its most frequent value has at most 1/l of the records of its smaller
  half. Both halves are eligible then, wherever the value lies. Records per value of a node can be
  read off the release, since no group reaches over its border; so all that could have been
  there give the same blocks, and the blocks tell nothing.
- `division: eligible`: if both halves are eligible. Blocks are smaller. But a node that stays
  whole tells who computes the tree that one of its halves is not eligible, and the smaller the
  halves, the more that says.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.codes import weight_type
from pganon.encode.curve import numbered
from pganon.encode.records import DRAW, PLACE
from pganon.methods.anatomy.shape import AnatomyShape
from pganon.sqltools import cast, col, fragment, named, num, query, stacked
from pganon.steps import Check, CreateTable, DropTables, Repeat, State, Step


def block_steps(shape: AnatomyShape) -> list[Step]:
    return [
        CreateTable(
            "placed",
            "places along the curve without those left out",
            lambda s: s.work("placed"),
            lambda s: _renumbered(shape, s),
            when=shape.trimmed,
        ),
        CreateTable(
            "histogram",
            "records per value in every piece",
            lambda s: s.work("hist", round=0),
            lambda s: query(
                "select :piece as node, :value as value, :n as n from p group by 1, 2",
                {"p": shape.placed(s)},
                piece=shape.piece(s, "p"),
                value=col(shape.value, "p"),
                n=cast(fragment("count(*)"), weight_type(s)),
            ),
        ),
        Repeat(
            name="divide",
            purpose="find the parts of the curve that cannot be divided",
            body=lambda number: _round(shape),
            until="rooted",
            bound=lambda state: state.count("records").bit_length() + 2,
        ),
        CreateTable("leaves", "the block of every piece", lambda s: s.work("leaves"), _leaves),
        Check(
            "blocks",
            "number of blocks",
            lambda s: query(
                "select count(distinct l.block) as blocks from l", {"l": s.work("leaves")}
            ),
        ),
        DropTables(
            "tidy",
            "what the blocks were made from",
            lambda s: [
                *[s.work("hist", round=r + 1) for r in range(s.count("divide_rounds"))],
                *[s.work("undivided", round=r) for r in range(s.count("divide_rounds"))],
                *shape.eligibility.leftovers(s),
            ],
        ),
    ]


def _renumbered(shape: AnatomyShape, state: State) -> exp.Expr:
    """Places say nothing of records that are not released."""
    columns = [DRAW, *shape.carried]
    tree = query("select 1 from k", {"k": shape.eligibility.kept(state)})
    return tree.select(
        *[col(name, "k") for name in columns],
        named(numbered([col(PLACE, "k")]), PLACE),
        append=False,
    )


def _round(shape: AnatomyShape) -> Sequence[Step]:
    return [
        CreateTable(
            "histogram",
            "records per value, two nodes together",
            lambda s: s.work("hist", round=s.round + 1),
            lambda s: query(
                "select h.node >> 1 as node, h.value, :n as n from h group by 1, 2",
                {"h": s.work("hist", round=s.round)},
                n=cast(fragment("sum(h.n)"), weight_type(s)),
            ),
        ),
        CreateTable(
            "whole",
            "nodes that are not divided",
            lambda s: s.work("undivided", round=s.round),
            lambda s: _undivided(shape, s),
            analyze=False,
        ),
        Check(
            "progress",
            "whether the next level is the root",
            lambda s: query(
                "select max(h.node) = 0 as rooted from h",
                {"h": s.work("hist", round=s.round + 1)},
            ),
        ),
    ]


def _undivided(shape: AnatomyShape, state: State) -> exp.Expr:
    """(level, node): nodes of the next level that stay whole by the policy's rule."""
    halves = query(
        "select c.node >> 1 as node, min(c.n) as least,"
        " bool_and(c.most * :l <= c.n) as eligible from"
        " (select h.node, sum(h.n) as n, max(h.n) as most from h group by h.node) as c group by 1",
        {"h": state.work("hist", round=state.round)},
        l=num(shape.model.l),
    )
    merged = query(
        "select h.node, max(h.n) as most from h group by h.node",
        {"h": state.work("hist", round=state.round + 1)},
    )
    rules = {"public": "m.most * :l <= c.least", "eligible": "c.eligible"}
    return query(
        "select :level as level, c.node from c join m on m.node = c.node where not :divided",
        {"c": halves, "m": merged},
        level=num(state.round + 1),
        divided=fragment(rules[shape.division], l=num(shape.model.l)),
    )


def _leaves(state: State) -> exp.Expr:
    undivided = stacked(
        [
            query("select u.level, u.node from u", {"u": state.work("undivided", round=r)})
            for r in range(state.count("divide_rounds"))
        ]
    )
    levels = query(
        "select p.piece, g.level, p.piece >> g.level as node from p cross join"
        " (select generate_series(1, :levels) as level) as g",
        {"p": query("select distinct h.node as piece from h", {"h": state.work("hist", round=0)})},
        levels=num(state.count("divide_rounds")),
    )
    above = query(
        "select l.piece, max(u.level) as level from l"
        " left join u on u.level = l.level and u.node = l.node group by l.piece",
        {"l": levels, "u": undivided},
    )
    return query(
        "select a.piece, (a.piece >> coalesce(a.level, 0)) << coalesce(a.level, 0) as block from a",
        {"a": above},
    )
