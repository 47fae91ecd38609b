"""Groups of every sensitive table, computed separately.

    vectors_<r>       the records that round r makes groups of
    buckets<j>_<r>    (rid, b<j+1>)   their groups in table j

A record without a group in one table is left out of all. Otherwise its values in the other tables
would show that it has a frequent value in this one. Without it a group elsewhere may be too small,
so groups are made again from the records with a group in every table, until those are all.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.identifiers import QualifiedName
from pganon.methods.buckets.bucketization import COMPLETE, Bucketization, leftover_check, vectors
from pganon.methods.buckets.partitions import joined
from pganon.methods.buckets.sloms.context import SlomsContext
from pganon.methods.common.division import sensitive_tables
from pganon.sqltools import query
from pganon.steps import Loop, State, Step, table
from pganon.steps.facts import count

AT_ONCE = 50_000
"""Records of a block of the search."""

ROUNDS = count("bucketize_rounds")


def bucket_steps(context: SlomsContext) -> list[Step]:
    """From the eligible records to :func:`tables`."""
    return [
        Loop(
            "bucketize",
            "groups for every sensitive table",
            body=lambda number: _round(context),
            until=COMPLETE,
            rounds=ROUNDS,
            carries=["vectors", *[f"buckets{place}" for place in range(_most(context))]],
        ),
    ]


def tables(context: SlomsContext, state: State) -> list[QualifiedName]:
    """The groups of all records that are released, by sensitive table."""
    return _tables(context, state, state[ROUNDS] - 1)


def _most(context: SlomsContext) -> int:
    """As many sensitive tables as there may be."""
    return len(sensitive_tables(context.spec, State(0)))


def _round(context: SlomsContext) -> list[Step]:
    return [
        table(
            "vectors",
            "sensitive values of the records, in random order",
            lambda s: vectors(context.spec, _records(context, s), AT_ONCE),
            later=0,
        ),
        *[
            _bucketization(context, place).step(
                f"buckets{place}",
                when=lambda s, place=place: place < len(sensitive_tables(context.spec, s)),
            )
            for place in range(_most(context))
        ],
        leftover_check(
            context.spec,
            lambda s: joined(_tables(context, s, s.round), first=1),
            least=context.l,
            minimum=context.minimum_size,
        ),
    ]


def _bucketization(context: SlomsContext, place: int) -> Bucketization:
    return Bucketization(
        vectors=lambda s: s.work("vectors", round=s.round),
        table=lambda s: s.work(f"buckets{place}", round=s.round),
        place=place + 1,
        items=lambda s: sensitive_tables(context.spec, s)[place],
        size=lambda s: context.size(sensitive_tables(context.spec, s)[place]),
        block_size=AT_ONCE,
        priority=context.options.priority,
    )


def _records(context: SlomsContext, state: State) -> QualifiedName | exp.Select:
    if state.round == 0:
        return context.eligibility.kept(state)
    return query(
        "select v.* from v join p on p.rid = v.rid",
        {
            "v": state.work("vectors", round=state.round - 1),
            "p": joined(_tables(context, state, state.round - 1), first=1),
        },
    )


def _tables(context: SlomsContext, state: State, number: int) -> list[QualifiedName]:
    count = len(sensitive_tables(context.spec, state))
    return [state.work(f"buckets{place}", round=number) for place in range(count)]
