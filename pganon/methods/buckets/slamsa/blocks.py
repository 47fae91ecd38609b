"""Blocks of records with similar quasi-identifiers, small enough for a thorough search.

    placed    (stratum, piece, place, rid, c.., s..)   records along a Hilbert curve, in pieces
    merged    (stratum, piece, block, size, tightest)  which pieces are a block
    blocked   (block, rid, c.., s.., t..)              records by block; blocks are numbered from 0

Blocks that are too large are dealt out: see :mod:`pganon.methods.buckets.slamsa.dealt`. Which
pieces are a block is decided

- `division: public`: from the whole stratum down, a part is halved as long as the smaller half
  satisfies all conditions wherever the values are. Frequencies in a block can be read off its
  buckets, so blocks disclose nothing;
- `division: eligible`: pieces are merged until each could be one bucket. Blocks are smaller, but
  a reader who recomputes them learns which pieces failed.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.curve import along_curve, piece_of
from pganon.encode.records import PLACE
from pganon.methods.buckets.slamsa.context import SlamsaContext
from pganon.methods.buckets.slamsa.dealt import dealing_steps, final
from pganon.methods.buckets.slamsa.invariant import new_records
from pganon.methods.buckets.slamsa.pieces import merging
from pganon.methods.buckets.slamsa.strata import columns, eligibility
from pganon.methods.common.search.blocks import halved, merged
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import Check, State, Step, table
from pganon.steps.facts import count

BLOCKS = count("blocks", assumed=2)


def block_steps(context: SlamsaContext) -> list[Step]:
    """From the eligible records to `blocked`."""
    return [
        table("placed", "records on the curve, in pieces", lambda s: _placed(context, s)),
        merging(context, "merged", "placed", halved if context.public else merged),
        *dealing_steps(context),
        table("blocked", "records by block", lambda s: _blocked(context, s)),
        Check(
            "blocks",
            "number of blocks",
            lambda s: query(
                "select coalesce(max(b.block) + 1, 0) as blocks from b", {"b": s.work("blocked")}
            ),
            gives=[BLOCKS],
        ),
    ]


def _placed(context: SlamsaContext, state: State) -> exp.Expr:
    names = ["rid", "stratum", *columns(context, state)]
    records = (
        new_records(context, state) if context.m_invariant else eligibility(context).kept(state)
    )
    ordered = along_curve(context.axes, state, records, names, within=["stratum"])
    sized = query(
        "select o.*, count(*) over (partition by o.stratum) as records from o", {"o": ordered}
    )
    pieces = fragment("greatest(s.records / :size, 1)", size=num(context.options.block_size))
    return query(
        "select :piece as piece from s",
        {"s": sized},
        piece=piece_of(col(PLACE, "s"), pieces, col("records", "s")),
    ).select(*[col(name, "s") for name in (PLACE, *names)])


def _blocked(context: SlamsaContext, state: State) -> exp.Expr:
    records, blocks = final(state)
    numbered = query(
        "select m.stratum, m.piece,"
        " (dense_rank() over (order by m.stratum, m.block) - 1)::int as block from m",
        {"m": blocks},
    )
    tree = query(
        "select n.block, p.rid from p join n on n.stratum = p.stratum and n.piece = p.piece",
        {"p": records, "n": numbered},
    )
    return tree.select(*[named(col(name, "p"), name) for name in columns(context, state)])
