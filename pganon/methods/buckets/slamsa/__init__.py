"""The method `slamsa`: its steps of a plan, and its form.

Anatomization with slicing for several sensitive columns (SpringerPlus 2016). Associated sensitive
columns share a table. Records are divided into buckets of similar quasi-identifiers by a firefly
search that starts from a median tree and is never worse.

    partition_<i>   (rid, b<i>)       one per partition of the arrangement

With one partition behind all tables a block is divided once, by all conditions. Independent
partitions are divided by the conditions of one table each, with separate random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from sqlglot import exp

from pganon.encode.axis import OrderedAxis
from pganon.encode.secrets import run_secret
from pganon.forms.facts import baseline, objective
from pganon.forms.work import GROUPED
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.bucketization import joined, partition_columns
from pganon.methods.buckets.form import anatomized
from pganon.methods.buckets.invariance import COUNTERFEITS, counterfeits
from pganon.methods.buckets.search.conditions import Condition
from pganon.methods.buckets.search.partition import Partition, partition
from pganon.methods.buckets.search.space import Nominal, Ordered, encode
from pganon.methods.buckets.slamsa.blocks import (
    BLOCKS,
    block_steps,
    invariant_bucket_steps,
    old_buckets,
)
from pganon.methods.buckets.slamsa.context import (
    SlamsaContext,
    arrangement,
    column_steps,
    columns,
    eligibility,
    frequencies,
    static_columns,
    stratum_steps,
)
from pganon.methods.buckets.slamsa.options import Slamsa
from pganon.methods.common.base import Method
from pganon.methods.common.block_search import (
    Blocks,
    Given,
    TaskOf,
    block_search,
    given_of_axes,
    labelled,
)
from pganon.methods.common.division import (
    mixed_scales,
    quasi_scales,
    sensitive_scales,
    sensitive_static,
    undecided,
)
from pganon.methods.common.eligibility import Frequency
from pganon.methods.common.form.grouping import NUMBERED
from pganon.methods.common.suppression import RELEASED, suppressed_check
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import named, scalar, stacked
from pganon.steps import Rows, Scope, Search, State, Step, table
from pganon.steps.facts import Facts
from pganon.steps.tasks import TaskResult

AT_ONCE = 50_000
"""Records whose blocks are read and divided in one batch."""


def bucket_steps(context: SlamsaContext) -> list[Step]:
    """From `blocked` to the partitions and `grouped`, the buckets of every record."""
    most = arrangement(context.spec, State(0)).partitions
    return [
        *[_search(context, place) for place in range(len(most))],
        table(
            "grouped", "the buckets of every record", lambda s: _grouped(context, s), into=GROUPED
        ),
        *([suppressed_check(context.spec, lambda s: s.work(GROUPED))] if context.distinct else []),
    ]


def _grouped(context: SlamsaContext, state: State) -> exp.Select:
    new = joined(
        [_table(state, place) for place in range(len(arrangement(context.spec, state).partitions))]
    )
    return stacked([new, old_buckets(state)]) if context.m_invariant else new


def _table(state: State, place: int) -> QualifiedName:
    return state.work("partition", round=place)


def _search(context: SlamsaContext, place: int) -> Search:
    return block_search(
        f"buckets{place}",
        "every block divided into buckets of similar records",
        lambda s: _table(s, place),
        partition_columns(place),
        blocks=Blocks(
            relation=lambda s: s.work("blocked"),
            columns=lambda s: columns(context, s),
            count=lambda s: s[BLOCKS],
            at_once=lambda s: max(1, AT_ONCE * s[BLOCKS] // max(s[RELEASED], 1)),
        ),
        given=lambda s: _given(context, s),
        task=lambda s, given: _task(context, s, place, given),
        when=lambda s: place < len(arrangement(context.spec, s).partitions),
        gives=[objective(place), baseline(place)],
    )


def _given(context: SlamsaContext, state: State) -> exp.Select:
    """SELECT one row: the seed, and the positions of the values of ordered attributes."""
    ordered = [axis for axis in context.axes if isinstance(axis, OrderedAxis)]
    seed = scalar(run_secret(state, "partition_seed"))
    return given_of_axes(ordered, state).select(named(seed, "seed"))


def _task(context: SlamsaContext, state: State, place: int, given: Given) -> TaskOf:
    names = columns(context, state)
    mine = [(names.index(f.column), f.l) for f in _conditions(context, state, place)]
    space = [
        Ordered(given[axis.code] or (), axis.has_null(state))
        if isinstance(axis, OrderedAxis)
        else Nominal(axis.size(state), axis.has_null(state))
        for axis in context.axes
    ]
    divided = partial(
        partition,
        minimum_size=context.minimum_size,
        swarm=context.swarm(state[RELEASED]),
        seed=given["seed"],
        public=context.public,
        distinct=context.distinct,
    )
    return lambda block, rows: partial(
        _divide,
        block,
        rows,
        space,
        mine,
        context.options.norm,
        partial(divided, path=f"{place}/{block}:"),
    )


def _conditions(context: SlamsaContext, state: State, place: int) -> list[Frequency]:
    """The conditions on the buckets of a partition."""
    every = frequencies(context, state)
    if context.aligned:
        return every
    arranged = arrangement(context.spec, state)
    partition = arranged.partitions[place]
    held = {
        item.index
        for table in arranged.sensitive
        if table.link == partition
        for item in table.sensitive
    }
    return [frequency for frequency in every if held.issuperset(frequency.columns)]


def _divide(
    block: int,
    rows: Rows,
    space: Sequence[Ordered | Nominal],
    conditions: Sequence[tuple[int, int]],
    norm: float,
    divided: Callable[..., Partition],
) -> TaskResult:
    """One block. Rows have codes of the attributes, and then of the conditions."""
    codes = np.array([row[2:] for row in rows], dtype=np.int64)
    z = encode(space, codes[:, : len(space)], norm)
    limits = [Condition(l, codes[:, at]) for at, l in conditions]  # noqa: E741
    found = divided(z, limits, norm=norm)
    labels = labelled(block, [row[1] for row in rows], found.labels)
    return TaskResult(labels, {"objective": found.objective, "baseline": found.baseline})


def partition_steps(spec: ReleaseSpec) -> tuple[Step, ...]:
    """Steps from the encoded records to the buckets of all partitions."""
    context = SlamsaContext(spec)
    first = invariant_bucket_steps(context) if context.m_invariant else eligibility(context).steps()
    steps = [
        *column_steps(context),
        *stratum_steps(context),
        *first,
        Scope("what the blocks were made from", block_steps(context), keeps=["blocked"]),
        *bucket_steps(context),
    ]
    return (Scope("what the buckets were made from", steps, keeps=[GROUPED, COUNTERFEITS]),)


BUCKETS = replace(
    NUMBERED, counterfeits=lambda spec, state: counterfeits(state) if spec.signatures else None
)
"""With counterfeits under m-invariance."""


def warnings(spec: ReleaseSpec, facts: Facts) -> list[str]:
    """Warnings about associations between columns of different scales."""
    options = SlamsaContext(spec).options
    compared = [] if sensitive_static(spec) else [sensitive_scales(spec)]
    if undecided(options.quasi_tables, len(spec.attributes)):
        compared.append(quasi_scales(spec))
    return mixed_scales(options.association, compared)


METHOD = Method(
    Slamsa,
    anatomized(
        arrangement,
        groups="buckets",
        buckets=BUCKETS,
        static_columns=static_columns,
        warnings=warnings,
    ),
    partition_steps,
)
