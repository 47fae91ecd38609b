"""Buckets that associated columns share.

    strata_values  (lead, stratum, item, code, n)   hidden values by the columns of a set that a
                   record hides; `lead` is the first column of the set
    strata         (lead, stratum, item, l, piles, chunks, first)   dealt by the column `item` to so
                   many piles, which are in so many chunks, numbered from `first`
    piles          (lead, stratum, chunk, place, rid, s<j>)   the pile of every record, by its place
                   in a random order; s<j> is 0 outside the set
    chunk_blocks   (chunk, block, alone)   neighbouring chunks of which each could be a bucket;
                   `alone` where a block has one chunk
    pile_buckets   (chunk, place, b)       the bucket of every pile
    shared         (lead, rid, b)

Records of a stratum are dealt out by the column whose most frequent value is most frequent, so that
no pile has a value of it twice. Then neighbouring piles are merged until l is reached in every
column. These steps depend only on whole records and on a secret order. Exchanging the records of a
bucket would not change them. So each value belongs to a record with its share of the bucket, also
for a reader who knows which values go together.

Piles are merged in Python, a chunk of them at a time. Chunks that could not be a bucket are merged
first; several merged chunks are one bucket.
"""

from __future__ import annotations

from functools import partial

from psycopg import sql
from sqlglot import exp

from pganon.encode.secrets import row_hash, run_secret
from pganon.methods.local.aligned.merging import merging_steps, shared
from pganon.methods.local.aligned.strata import associated, code_column, records, stratum_steps
from pganon.methods.local.context import Context
from pganon.sqltools import cast, col, fragment, num, query, scalar, text
from pganon.steps import State, Statement, Step, table


def pile_steps(context: Context) -> list[Step]:
    """From `strata` to `piles`, with an index by chunk."""
    when = partial(associated, context)
    return [
        table(
            "piles",
            "records in piles, in a random order of the piles",
            lambda s: _piles(context, s),
            when=when,
        ),
        Statement(
            "piles_index",
            "an index to read a chunk by",
            lambda s: sql.SQL("CREATE INDEX ON {} (chunk)").format(s.work("piles").identifier),
            when,
        ),
    ]


def _draw(state: State, *parts: exp.Expr) -> exp.Expr:
    return row_hash(exp.func("row", *parts), scalar(run_secret(state, "partition_seed")))


def _name(kind: str, lead: exp.Expr) -> exp.Expr:
    """The key of a random order: every set has another order."""
    return cast(fragment(":kind || :lead::text", kind=text(f"{kind} "), lead=lead), "text")


def _piles(context: Context, state: State) -> exp.Expr:
    numbered = query(
        "select m.*, t.piles, t.chunks, t.first, (row_number() over (partition by m.lead, m.stratum"
        " order by :code, :draw, m.rid) - 1) % t.piles as pile from m"
        " join t on t.lead = m.lead and t.stratum = m.stratum",
        {"m": records(context, state), "t": state.work("strata")},
        code=_code_of(context, "t", "m"),
        draw=_draw(state, _name("records", col("lead", "m")), col("rid", "m")),
    )
    every = query(
        "select t.lead, t.stratum, g.pile from t"
        " cross join lateral generate_series(0, t.piles - 1) as g(pile)",
        {"t": state.work("strata")},
    )
    drawn = _draw(state, _name("piles", col("lead", "e")), col("stratum", "e"), col("pile", "e"))
    places = query(
        "select e.lead, e.stratum, e.pile, row_number() over (partition by e.lead, e.stratum"
        " order by :draw, e.pile) - 1 as place from e",
        {"e": every},
        draw=drawn,
    )
    tree = query(
        "select n.lead, n.stratum, n.first + o.place * n.chunks / n.piles as chunk, o.place, n.rid"
        " from n join o on o.lead = n.lead and o.stratum = n.stratum and o.pile = n.pile",
        {"n": numbered, "o": places},
    )
    tree = tree.select(*[col(code_column(item), "n") for item in context.spec.sensitive])
    return query("select s.* from s order by s.chunk", {"s": tree})


def _code_of(context: Context, by: str, table: str) -> exp.Expr:
    """The code of the column that `item` of the table `by` names."""
    choice = exp.Case(this=col("item", by))
    for item in context.spec.sensitive:
        choice = choice.when(num(item.index), col(code_column(item), table))
    return exp.paren(choice)


__all__ = ["aligned_steps", "shared"]


def aligned_steps(context: Context) -> list[Step]:
    """From `placed` to `shared`, where columns are associated."""
    if context.buckets.buckets != "aligned" or len(context.spec.sensitive) < 2:
        return []
    return [*stratum_steps(context), *pile_steps(context), *merging_steps(context)]
