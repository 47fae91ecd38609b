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

from pganon.identifiers import QualifiedName
from pganon.methods.local.aligned.merging import merging_steps, shared
from pganon.methods.local.aligned.piles import pile_steps
from pganon.methods.local.aligned.strata import associated, stratum_steps
from pganon.methods.local.context import Context
from pganon.steps import State, Step

__all__ = ["aligned_steps", "leftovers", "shared"]


def leftovers(context: Context, state: State) -> list[QualifiedName]:
    """Work tables that no later step reads."""
    names = ("strata_values", "strata", "piles", "chunk_blocks", "pile_buckets", "shared")
    return [state.work(name) for name in names] if associated(context, state) else []


def aligned_steps(context: Context) -> list[Step]:
    """From `placed` to `shared`, where columns are associated."""
    if context.buckets.buckets != "aligned" or len(context.spec.sensitive) < 2:
        return []
    return [*stratum_steps(context), *pile_steps(context), *merging_steps(context)]
