"""Blocks of similar records in every cluster, which beta-likeness-primacy makes classes of.

    pieces   (cluster, size, pieces)            how many pieces of the curve a cluster has
    limits   (value, f)                         the largest share of a value in any class
    leaves   (cluster, piece, block)            see :mod:`pganon.methods.common.halves`
    blocks   (cluster, first, block)            blocks numbered from 0

A node of the curve is divided

- `division: public`: if both halves have k records, and no value more of the node's than it could
  have in the smaller half. Both halves then have classes wherever its records are. Records per
  value of a node can be read off the release, so all that could have been there give the same
  blocks, and the blocks disclose nothing.
- `division: eligible`: if both halves have k records, and classes. Blocks are smaller. A reader who
  computes the tree learns something about the values in the halves.
- `division: none`: never.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from sqlglot import exp

from pganon.encode.curve import piece_of
from pganon.encode.records import PLACE
from pganon.encode.secrets import run_secret
from pganon.methods.background.context import Context, model_against, source_counts
from pganon.methods.background.options import BetaPrimacy
from pganon.methods.background.rows import histograms
from pganon.methods.background.search.buckets import Planner
from pganon.methods.background.search.limits import SLACK, BetaLimits, Model, limits_against
from pganon.methods.common.halves import Halves
from pganon.sqltools import col, fragment, named, num, query, scalar
from pganon.steps import Check, Rows, Search, State, Step, table
from pganon.steps.facts import count
from pganon.steps.tasks import TaskResult

BLOCKS = count("blocks", assumed=1)

_PARTS = ("cluster",)

_SLACK = exp.Literal.number(repr(1 + SLACK))


def limit_step(context: Context) -> Step:
    """The largest share of every value in any class, against the source and what is released."""
    return Search(
        "limits",
        "the largest share of every value in a class",
        lambda s: s.work("limits"),
        (("value", "integer"), ("share", "float8"), ("f", "float8")),
        given=lambda s: source_counts(context, s),
        rows=lambda s, batch: query(
            "select k.value, sum(k.n)::bigint as n from k group by k.value order by k.value",
            {"k": s.work("kept")},
        ),
        tasks=lambda s, given, rows: [
            partial(_limits_of, rows, given["source"], model_against(context, given))
        ],
    )


def _limits_of(rows: Rows, source: Sequence[int], model: Model) -> TaskResult:
    """Args: rows: (value, n) of what is released; source: n by value."""
    _, released = histograms(rows, len(source))
    limits = limits_against(model, np.array(source), released[0])
    assert isinstance(limits, BetaLimits)
    both = zip(limits.shares.tolist(), limits.f.tolist(), strict=True)
    return TaskResult([(value, share, f) for value, (share, f) in enumerate(both, start=1)])


def planner(context: Context) -> Planner:
    options = context.options
    assert isinstance(options, BetaPrimacy)
    return Planner(context.k, options.bucket_slack)


def block_steps(context: Context) -> list[Step]:
    """From `placed` to `blocks`."""
    options = context.options
    assert isinstance(options, BetaPrimacy)
    if options.division == "none":
        whole = table(
            "blocks",
            "every cluster is one block",
            lambda s: query(
                "select k.cluster, 0 as first, (row_number() over (order by k.cluster) - 1)::int"
                " as block from k group by k.cluster",
                {"k": s.work("kept")},
            ),
        )
        return [whole, _counted()]
    halves = Halves(
        lambda s: query(
            "select p.cluster, :piece as node, p.value, count(*) as n from p"
            " join s on s.cluster = p.cluster group by 1, 2, 3",
            {"p": context.placed(s), "s": s.work("pieces")},
            piece=piece("p", "s"),
        ),
        lambda s: _undivided(context, options.division, s),
        ["cluster"],
    )
    return [
        table(
            "pieces",
            "how many pieces of the curve every cluster has",
            lambda s: _pieces(context, s),
        ),
        *halves.steps(),
        table(
            "blocks",
            "blocks of all clusters, numbered",
            lambda s: query(
                "select l.cluster, l.block as first,"
                " (row_number() over (order by l.cluster, l.block) - 1)::int as block from l"
                " group by l.cluster, l.block",
                {"l": s.work("leaves")},
            ),
        ),
        _counted(),
    ]


def _counted() -> Step:
    return Check(
        "blocks",
        "number of blocks",
        lambda s: query("select count(*) as blocks from b", {"b": s.work("blocks")}),
        gives=[BLOCKS],
    )


def _pieces(context: Context, state: State) -> exp.Expr:
    """As many as leave k records in each, a power of two."""
    sizes = query(
        "select k.cluster, sum(k.n)::bigint as size from k group by k.cluster",
        {"k": state.work("kept")},
    )
    # The bits of a number are those that remain without its leading zeros.
    return query(
        "select s.cluster, s.size, (1::bigint << (length(ltrim((s.size / :k)::bit(62)::text, '0'))"
        " - 1)) as pieces from s",
        {"s": sizes},
        k=num(context.k),
    )


def piece(table: str, sizes: str) -> exp.Expr:
    """The piece of its cluster that a record is in, from 0."""
    return piece_of(col(PLACE, table), col("pieces", sizes), col("size", sizes))


def _undivided(context: Context, division: str, state: State) -> exp.Select:
    """SELECT cluster, node: nodes of the next level that stay whole."""
    if division == "public":
        histogram = state.work("hist", round=state.round + 1)
        node, size = fragment("h.node"), fragment("least(:l, :r)", **_halves(state))
    else:
        histogram = state.work("hist", round=state.round)
        node, size = fragment("h.node >> 1"), _records(state, fragment("h.node"))
    nodes = query(
        "select h.cluster, :node as node, h.n, l.f, :room as room from h"
        " join p on p.cluster = h.cluster join l on l.value = h.value where p.pieces >> :r >= 2",
        {"h": histogram, "p": state.work("pieces"), "l": state.work("limits")},
        node=node,
        room=size,
        r=num(state.round),
    )
    return query(
        "select n.cluster, n.node from n group by n.cluster, n.node"
        " having min(n.room) < :k or bool_or(n.n > floor(n.f * n.room * :slack))",
        {"n": nodes},
        k=num(context.k),
        slack=_SLACK.copy(),
    )


def _halves(state: State) -> dict[str, exp.Expr]:
    """Records of both halves of the node `h.node` of the next level."""
    return {
        "l": _records(state, fragment("2 * h.node")),
        "r": _records(state, fragment("2 * h.node + 1")),
    }


def _records(state: State, node: exp.Expr) -> exp.Expr:
    """Records of a node of this level, of the cluster `p`: as many as it has places.

    The first place, from 0, of piece i is i * size / pieces, rounded up.
    """
    starts = [
        fragment(
            "((:node + :next << :r) * p.size + p.pieces - 1) / p.pieces",
            node=exp.paren(node.copy()),
            next=num(following),
            r=num(state.round),
        )
        for following in (1, 0)
    ]
    return fragment(":end - :start", end=starts[0], start=starts[1])


def in_block(context: Context, state: State) -> exp.Select:
    """SELECT of the columns of `placed` and the block."""
    placed = context.placed(state)
    options = context.options
    assert isinstance(options, BetaPrimacy)
    if options.division == "none":
        return query(
            "select p.*, b.block from p join b on b.cluster = p.cluster",
            {"p": placed, "b": state.work("blocks")},
        )
    return query(
        "select p.*, b.block from p join s on s.cluster = p.cluster"
        " join l on l.cluster = p.cluster and l.piece = :piece"
        " join b on b.cluster = l.cluster and b.first = l.block",
        {
            "p": placed,
            "s": state.work("pieces"),
            "l": state.work("leaves"),
            "b": state.work("blocks"),
        },
        piece=piece("p", "s"),
    )


def given_limits(state: State) -> exp.Select:
    """SELECT one row: `f` and `shares` by value, and a secret `seed`."""
    tree = query(
        "select array_agg(l.f order by l.value) as f, array_agg(l.share order by l.value) as shares"
        " from l",
        {"l": state.work("limits")},
    )
    return tree.select(named(scalar(run_secret(state, "partition_seed")), "seed"))
