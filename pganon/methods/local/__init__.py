"""Local generalization and bucketization (LGB; Li, He and Sun).

Every person decides which values are sensitive. The other values are generalized in groups of k or
more records that show the same columns. Sensitive values are replaced by the number of a bucket,
whose values are published in another table.

A record has the number of a bucket for each of its hidden values. A reader who knows which values
go together can look for the only pair that both buckets allow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

from sqlglot import exp

from pganon.encode.records import NUMBER
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PrivacyRefusal
from pganon.forms.work import DISPLAYS, GROUP_CELLS, GROUPED_CLASSES, LOCAL_GROUPED
from pganon.identifiers import quote
from pganon.methods.common.association import Associated, association, dependencies
from pganon.methods.common.base import Method
from pganon.methods.common.division import MEASURE
from pganon.methods.local.aligned import aligned_steps, shared
from pganon.methods.local.buckets import bucket_chains, bucketed
from pganon.methods.local.context import Context, codes
from pganon.methods.local.displays import display_steps, shown_check
from pganon.methods.local.eligible import eligible_steps, hidden_values
from pganon.methods.local.form import LOCAL, facts
from pganon.methods.local.form.shared_buckets import Link, leader, links, set_of, sets
from pganon.methods.local.form.staging import (
    Held,
    Numbered,
    bucket,
    bucket_steps,
    drawn,
    group_steps,
    grouped_step,
)
from pganon.methods.local.medians import median_steps
from pganon.methods.local.nearest import nearest_steps
from pganon.methods.local.options import (
    LgbMdp,
    LgbNcp,
    LocalBucketization,
    LocalGeneralization,
)
from pganon.methods.local.record_order import (
    all_buckets,
    bucket_of,
    in_range,
    number_of,
    ordered,
    ranged_values,
    ranges,
)
from pganon.methods.local.released_records import placed
from pganon.policy.options import GROUP_ID
from pganon.privacy.frequency import LocalBucketDiversity
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, cast, col, fragment, named, num, query, scalar, stacked
from pganon.steps import Check, CreateTable, Parallel, Scope, State, Step, table


def link_steps(context: Context) -> list[Step]:
    """All pairs of columns with buckets in one statement."""
    if len(context.spec.sensitive) < 2:
        return []
    return [
        Check(
            "linked",
            "whether buckets of one column tell of those of another",
            lambda s: _measured(context, s),
            lambda row, state: _problem(context, state),
            gives=[facts.LINKS],
        ),
    ]


def _measured(context: Context, state: State) -> exp.Expr:
    pairs = [_pair(context, *pair, state) for pair in combinations(context.spec.sensitive, 2)]
    return query(
        "select jsonb_agg(jsonb_build_array(x.i, x.j, x.records, x.strength, x.determined)"
        " order by x.i, x.j)::text as links from x",
        {"x": stacked(pairs)},
    )


def _pair(context: Context, one: Sensitive, other: Sensitive, state: State) -> exp.Select:
    """(i, j, records, strength, determined) of the records that hide both values."""
    both = query(
        "select :a as a, :b as b, p.w from p where :a > 0 and :b > 0",
        {"p": hidden_values(state)},
        a=col(f"s{one.index}", "p"),
        b=col(f"s{other.index}", "p"),
    )
    if any(context.layout.withheld(item, state) for item in (one, other)):
        both = both.where(exp.false())
    columns = [
        Associated(item.published, col(name, "t"), cast(col(name, "t"), "float8"))
        if item.column.is_number or item.column.is_time
        else Associated(item.published, col(name, "t"))
        for item, name in zip((one, other), "ab", strict=True)
    ]
    return query("select :i as i, :j as j", i=num(one.index), j=num(other.index)).select(
        named(scalar(query("select coalesce(sum(t.w), 0)::bigint from t", {"t": both})), "records"),
        named(_largest(association(both, columns, MEASURE, weighted=True)), "strength"),
        named(_largest(dependencies(both, columns)), "determined"),
    )


def _largest(pairs: exp.Select) -> exp.Expr:
    """The last number of [i, j, value] in the one JSON text that `pairs` selects, 0 without any."""
    values = query(
        "select max((v.pair ->> 2)::float8) from jsonb_array_elements(:pairs::jsonb) as v(pair)",
        pairs=scalar(pairs),
    )
    return fragment("coalesce(:largest, 0)", largest=scalar(values))


def _problem(context: Context, state: State) -> PganonError | None:
    if context.buckets.aligned:
        # A refusal of shared buckets with distances: they can only bound the share of a value.
        for part in sets(context.layout, state.facts):
            for item in part:
                model = context.layout.principle(item)
                if isinstance(model, LocalBucketDiversity):
                    continue
                others = ", ".join(quote(other.published) for other in part if other != item)
                return PrivacyRefusal(
                    f"column {quote(item.published)} is associated with {others}, and buckets in"
                    f" common cannot keep its {model.name}",
                    model=model.name,
                    required=model.parameter,
                    hint=f"use local_bucket_diversity for {quote(item.published)}, or leave it out",
                    code=ErrorCode.ASSOCIATED,
                )
        return None
    limit = context.buckets.link_threshold
    associated = [x for x in links(context.layout, state.facts) if x.association > limit]
    if not associated:
        return None
    return _associated(max(associated, key=lambda link: link.association), limit)


def _associated(link: Link, limit: float) -> PganonError:
    strength = "one determines the other" if link.determined else f"V = {link.strength:.2f}"
    return PrivacyRefusal(
        f"columns {quote(link.one.published)} and {quote(link.other.published)} are associated"
        f" ({strength}): independent buckets would reveal their values",
        model="local_bucket_diversity",
        required=limit,
        observed=link.association,
        hint="use buckets: aligned, which gives associated columns their buckets in common; or"
        " leave one of them out; a higher link_threshold accepts that who knows which values go"
        " together learns more than 1/l",
        code=ErrorCode.ASSOCIATED,
    )


def numbered(context: Context) -> Numbered:
    """The groups and buckets as input of the form."""
    return Numbered(
        buckets=lambda s, item: _buckets(context, item, s),
        values=lambda s, item: _values(context, item, s),
        held=lambda s, item, name: _held(context, item, name, s),
        records=lambda s: _records(context, s),
    )


def _records(context: Context, state: State) -> exp.Select:
    """The records `p` that are released, with the group `g` of each."""
    same = [exp.EQ(this=col("display", "g"), expression=col("display", "p"))]
    same += [
        exp.EQ(this=col(axis.code, "g"), expression=col(axis.code, "p")) for axis in context.axes
    ]
    groups = aliased(state.work(GROUPED_CLASSES), "g")
    tree = query("select 1 from p", {"p": placed(context, state)}).join(groups, on=exp.and_(*same))
    return tree.select(*codes(context, "p"), append=False)


def _independent(context: Context, state: State) -> list[Sensitive]:
    """Columns that share no buckets."""
    columns = context.spec.sensitive
    return [c for c in columns if len(set_of(context.layout, state.facts, c)) == 1]


def _buckets(context: Context, item: Sensitive, state: State) -> exp.Select:
    """SELECT gid: the buckets of a column, each at least once."""
    if ordered(context, item, state):
        return all_buckets(item, state)
    return query("select h.b as gid from h", {"h": _bucketed(context, item, state)})


def _values(context: Context, item: Sensitive, state: State) -> exp.Select:
    """(b, v): the hidden values of a column with the published number of their bucket."""
    if ordered(context, item, state):
        return ranged_values(context, item, state)
    return _numbered(context, item, state)


def _held(context: Context, item: Sensitive, name: str, state: State) -> Held:
    if ordered(context, item, state):
        number = number_of(context, item, bucket_of(col(NUMBER, "p"), name), state)
        return Held(ranges(item, state), in_range("p", name, f"s{item.index}"), number)
    # A NULL joins no row.
    hiding = fragment(
        "case when :s > 0 then :rid end", s=col(f"s{item.index}", "p"), rid=col(NUMBER, "p")
    )
    on = exp.EQ(this=col(NUMBER, name), expression=hiding)
    return Held(_numbered(context, item, state), on, col("b", name))


def _numbered(context: Context, item: Sensitive, state: State) -> exp.Select:
    """(rid, b, v) with published numbers."""
    table, number = drawn(context.layout, item, state)
    return query(
        "select h.rid, :n as b, h.v from h join n on n.gid = h.b",
        {"h": _bucketed(context, item, state), "n": table},
        n=col(number, "n"),
    )


def _bucketed(context: Context, item: Sensitive, state: State) -> Relation:
    """(rid, b, v): the bucket of every record that hides the column, and its value."""
    if item in _independent(context, state):
        return bucketed(item, state)
    return query(
        "select s.rid, s.b, :v as v from s join p on p.rid = s.rid"
        " where s.lead = :lead and :value > 0",
        {"s": shared(state), "p": placed(context, state)},
        lead=num(leader(context.layout, state.facts, item).index),
        v=col(f"v{item.index}", "p"),
        value=col(f"s{item.index}", "p"),
    )


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
