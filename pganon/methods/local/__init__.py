"""Local generalization and bucketization (LGB; Li, He and Sun).

Every person decides which values are sensitive. The other values are generalized in groups of k or
more records that show the same columns. Sensitive values are replaced by the number of a bucket,
whose values are published in another table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.forms.work import DISPLAYS, GROUP_CELLS, GROUPED_CLASSES, LOCAL_GROUPED
from pganon.identifiers import quote
from pganon.methods.common.base import Method
from pganon.methods.local.aligned import aligned_steps
from pganon.methods.local.buckets import bucket_chains, bucketed
from pganon.methods.local.context import Context, codes
from pganon.methods.local.dependence import link_steps
from pganon.methods.local.displays import display_steps, shown_check
from pganon.methods.local.eligible import eligible_steps
from pganon.methods.local.form import LOCAL
from pganon.methods.local.form.staging import bucket, bucket_steps, group_steps, grouped_step
from pganon.methods.local.medians import median_steps
from pganon.methods.local.nearest import nearest_steps
from pganon.methods.local.options import (
    LgbMdp,
    LgbNcp,
    LocalBucketization,
    LocalGeneralization,
)
from pganon.methods.local.record_buckets import numbered
from pganon.methods.local.released_records import placed
from pganon.policy.options import GROUP_ID
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, named, query
from pganon.steps import CreateTable, Parallel, Scope, State, Step, table


def single_chains(context: Context) -> list[list[Step]]:
    """From `placed` to buckets of one value each, for methods without larger buckets.

    Returns:
        a chain of steps for every column.
    """
    return [[_single(context, item)] for item in context.spec.sensitive]


def _single(context: Context, item: Sensitive) -> CreateTable:
    return CreateTable(
        f"bucketed{item.index}",
        f"a bucket for every hidden value of {quote(item.column.name)}",
        lambda s: bucketed(item, s),
        lambda s: query(
            "select p.rid, p.rid as b, :v as v from p where :value > 0",
            {"p": placed(context, s)},
            value=col(f"s{item.index}", "p"),
            v=col(f"v{item.index}", "p"),
        ),
    )


def equal_steps(context: Context) -> list[Step]:
    """From `placed` to `group_cells`: one group for records that show the same exact values."""
    return [
        table(
            "group_cells",
            "a group for each combination of values that are shown",
            lambda s: _cells(context, s),
            into=GROUP_CELLS,
        ),
        shown_check(context, lambda s: s.work(GROUP_CELLS)),
    ]


def _cells(context: Context, state: State) -> exp.Expr:
    keys = [col("display", "p"), *codes(context, "p")]
    order = exp.Order(expressions=[exp.Ordered(this=key.copy()) for key in keys])
    number = exp.Window(this=exp.RowNumber(), order=order)
    tree = query("select 1 from p", {"p": placed(context, state)})
    tree = tree.select(named(number, "gid"), *keys, append=False)
    return tree.group_by(*[key.copy() for key in keys])


Groups = Callable[[Context], list[Step]]


@dataclass(frozen=True)
class _Buckets:
    """From `placed` to the buckets.

    Attributes:
        first: steps over all columns that come before any buckets.
        chains: steps of every column with separate buckets.
        common: steps of columns that share buckets.
    """

    first: list[Step]
    chains: list[list[Step]]
    common: list[Step]


def _partition(
    buckets: Callable[[Context], _Buckets], groups: Groups
) -> Callable[[ReleaseSpec], tuple[Step, ...]]:
    def steps(spec: ReleaseSpec) -> tuple[Step, ...]:
        context = Context(spec)
        steps = [
            *display_steps(context),
            _both(context, buckets(context), groups(context)),
            grouped_step(context.layout, numbered(context)),
        ]
        numbers = [f"numbers_{name}" for name in (GROUP_ID, *map(bucket, spec.sensitive))]
        kept = [DISPLAYS, LOCAL_GROUPED, GROUPED_CLASSES, *numbers]
        return (Scope("what they were made from", steps, keeps=kept),)

    return steps


def _both(context: Context, buckets: _Buckets, groups: list[Step]) -> Parallel:
    """Buckets and groups in parallel: they are independent, and privacy needs that they are."""
    layout, method = context.layout, numbered(context)
    chains: list[list[Step]] = [[*groups, *group_steps(layout)], buckets.first]
    published = [bucket_steps(layout, item, method) for item in context.spec.sensitive]
    first = len(chains)
    if buckets.common:
        chains += [*buckets.chains, buckets.common]
        after = {number: [1] for number in range(first, len(chains))}
        after[len(chains)] = [*after]
        chains.append([step for steps in published for step in steps])
    else:
        chains += [[*chain, *then] for chain, then in zip(buckets.chains, published, strict=True)]
        after = {number: [1] for number in range(first, len(chains))}
    # Columns that everybody hides have the most values.
    early = [first + item.index for item in context.spec.sensitive if item.hidden is None]
    return Parallel("both", "buckets and groups", chains, [0, 1, *early], after)


def _bucket_steps(context: Context) -> _Buckets:
    first = [*eligible_steps(context), *link_steps(context)]
    return _Buckets(first, bucket_chains(context), aligned_steps(context))


def _single_steps(context: Context) -> _Buckets:
    return _Buckets([], single_chains(context), [])


MDP = Method(LgbMdp, LOCAL, _partition(_bucket_steps, median_steps))
NCP = Method(LgbNcp, LOCAL, _partition(_bucket_steps, nearest_steps))
BUCKETS = Method(LocalBucketization, LOCAL, _partition(_bucket_steps, equal_steps))
GROUPS = Method(LocalGeneralization, LOCAL, _partition(_single_steps, median_steps))
