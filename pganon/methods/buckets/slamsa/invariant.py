"""m-invariance of SLAMSA: buckets with old signatures, and new records for new buckets.

    curved     (rid, place, s<j>, v<j>, ..)    all records along the curve
    vectors    (vector, s<j>)                  combinations of values in all sensitive columns

Buckets with old signatures are those of :mod:`pganon.methods.buckets.invariance`. Other new records
are divided like the records of a first version.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.curve import along_curve
from pganon.encode.people import identity
from pganon.encode.records import NUMBER
from pganon.encode.work import CODED
from pganon.methods.buckets.invariance import InvarianceContext, invariant_steps, others
from pganon.methods.buckets.invariance.context import vectors, with_vectors
from pganon.methods.buckets.slamsa.context import SlamsaContext
from pganon.privacy.rows import Relation
from pganon.sqltools import query
from pganon.steps import State, Step, table


def invariant_bucket_steps(context: SlamsaContext) -> list[Step]:
    """Steps that take the place of the eligibility of all records."""
    return [
        table(
            "curved",
            "all records along the curve",
            lambda s: along_curve(context.axes, s, s.work(CODED), _columns(context)),
        ),
        table(
            "vectors",
            "what records have in all sensitive columns together",
            lambda s: vectors(context.spec, s.work("curved")),
        ),
        *invariant_steps(invariance(context)),
    ]


def invariance(context: SlamsaContext) -> InvarianceContext:
    """The input of the steps of m-invariance."""
    return InvarianceContext(
        spec=context.spec,
        l=context.l,
        records=lambda s: with_vectors(context.spec, s.work("curved"), s.work("vectors")),
        order=NUMBER,
        vector="vector",
        vectors=lambda s: s.work("vectors"),
        shown=(NUMBER,),
        carried=(),
    )


def new_records(context: SlamsaContext, state: State) -> Relation:
    """SELECT of the new records of `judged` that are divided into new buckets."""
    return query(
        "select j.* from j join o on o.rid = j.rid",
        {"j": state.work("judged"), "o": others(invariance(context), state)},
    )


def _columns(context: SlamsaContext) -> list[str]:
    person = identity(context.spec)
    assert person is not None
    items = context.spec.invariant_items
    return [NUMBER, person, *[f"{kind}{item.index}" for item in items for kind in "sv"]]


def old_buckets(state: State) -> exp.Select:
    """SELECT rid, b0 of records in buckets with old signatures."""
    return query("select l.rid, l.gid as b0 from l", {"l": state.work("listed")})
