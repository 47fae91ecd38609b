"""Statistics of an anatomized release, and of all increments of one that grows.

The latter say nothing of what naive Bayes infers: it is compared with the values that people have,
and those of earlier increments may have others by now. Nor of what the search of a run optimized.

Under independent buckets there is a risk from a reader who knows which sensitive values occur
together. A value v of a person's bucket is weighted by how well it fits the values of the person's
buckets in the other tables: f(v) times, for every other column, the mean lift of v with the values
there, lift(v, y) = P(v, y) / (P(v) P(y)) over the records of the source. The likeliest value's
share of the weights is the local informed risk. It ignores the other members of the buckets, so the
exact posterior may be higher. If all tables have the same buckets, there is no such risk.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.extents import group_extents
from pganon.encode.records import ties
from pganon.encode.work import CODED
from pganon.forms.elements import own_value
from pganon.forms.facts import (
    CLASSES,
    LARGEST,
    PARTITIONS,
    SMALLEST,
    SUPPRESSED,
    WEIGHTED_LOSS,
    baseline,
    ncp,
    objective,
)
from pganon.forms.form import Whole
from pganon.forms.shape import Relations, links
from pganon.forms.utility import AnatomyUtility, Degree
from pganon.identifiers import QualifiedName
from pganon.methods.buckets.form import inference
from pganon.methods.buckets.form.verification import histogram_of
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.methods.common.form.bucket_staging import relations
from pganon.methods.common.form.grouping import Grouping
from pganon.methods.common.form.members import code_columns
from pganon.metrics import loss
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.resolved.increments import WHOLE
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, named, num, presorted, query, stacked
from pganon.steps import Chains, Check, State, Step
from pganon.steps.facts import RECORDS, Fact, Facts, measure, or_null


def elsewhere(arrangement: Arrangement, item: Sensitive) -> list[Sensitive]:
    """Sensitive columns with other buckets than the given column."""
    link = arrangement.table_of(item.index).link
    return [s for t in arrangement.sensitive if t.link != link for s in t.sensitive]


def informed(
    arrangement: Arrangement, item: Sensitive, tables: Relations, records: Relation
) -> exp.Select:
    """SELECT one row: `informed`, the highest risk of a record; NULL if no column is elsewhere.

    Args:
        records: with the values `v<j>` that occur together.
    """
    others = elsewhere(arrangement, item)
    if not others:
        return query("select null::float8 as informed")
    tree = query("select h.value from q", {"q": _links(arrangement, tables)})
    weight: exp.Expr = fragment("h.n::float8")
    tree = tree.join(
        histogram_of(arrangement, tables, item)[1].subquery("h"),
        on=_same_bucket(arrangement, item, "h"),
    )
    for other in others:
        alias = f"m{other.index}"
        on = exp.and_(
            _same_bucket(arrangement, other, alias),
            exp.EQ(this=col("value", alias), expression=col("value", "h")),
        )
        met = _met(arrangement, item, other, tables, records)
        tree = tree.join(met.subquery(alias), on=on, join_type="left")
        weight = fragment(":w * coalesce(:met, 0)", w=weight, met=col("met", alias))
    links = list(arrangement.linking.groups)
    tree = tree.select(*[col(name, "q") for name in links], named(weight, "w"))
    risks = query("select max(w.w) / nullif(sum(w.w), 0) as risk from w", {"w": tree})
    risks = risks.group_by(*[col(name, "w") for name in links])
    return query("select max(r.risk) as informed from r", {"r": risks})


def _links(arrangement: Arrangement, tables: Relations) -> exp.Select:
    """SELECT of the buckets of records; the same buckets make records indistinguishable."""
    linking = arrangement.linking
    tree = query("select distinct 1 from b", {"b": tables[linking.part]})
    return tree.select(*[col(name, "b") for name in linking.groups], append=False)


def _same_bucket(arrangement: Arrangement, item: Sensitive, alias: str) -> exp.Expr:
    link = arrangement.table_of(item.index).link
    return exp.EQ(this=col(GROUP_ID, alias), expression=col(link, "q"))


def _met(
    arrangement: Arrangement,
    item: Sensitive,
    other: Sensitive,
    tables: Relations,
    records: Relation,
) -> exp.Select:
    """SELECT (group_id, value, met): mean lift of a value with the values of a bucket elsewhere."""
    pairs = query(
        "select :v as value, :y as other from c",
        {"c": records},
        v=own_value(item, "c"),
        y=own_value(other, "c"),
    )
    lifts = query(
        "select p.value, p.other, count(*)::float8"
        " * sum(count(*)) over ()"
        " / (sum(count(*)) over (partition by p.value) * sum(count(*)) over (partition by p.other))"
        " as lift from p group by p.value, p.other",
        {"p": pairs},
    )
    shares = query(
        "select h.group_id, h.value, h.n::float8 / sum(h.n) over (partition by h.group_id) as share"
        " from h",
        {"h": histogram_of(arrangement, tables, other)[1]},
    )
    return query(
        "select s.group_id, l.value, sum(s.share * l.lift) as met from s"
        " join l on l.other = s.value group by s.group_id, l.value",
        {"s": shares, "l": lifts},
    )


def whole_of(arrange: Arrange, settled: Callable[[ReleaseSpec], bool]) -> Whole:
    """How the whole is measured.

    Args:
        settled: whether the policy alone decides the arrangement.
    """
    return Whole(
        lambda spec, tables, lost: _measures(arrange, spec, tables, lost),
        whole_utility,
        measurable=lambda spec, adds: (adds or settled(spec)) and _told(arrange(spec, State(0))),
    )


def _told(arrangement: Arrangement) -> bool:
    """Whether the release says which values the buckets of sensitive tables have.

    Columns of other QITs are linked to buckets that sensitive tables do not have.
    """
    links = linked_partitions(arrangement)
    return all(link in table.groups for table in arrangement.quasi for link in links)


def _measures(
    arrange: Arrange,
    spec: ReleaseSpec,
    tables: Callable[[State], Relations],
    lost: Callable[[State], QualifiedName],
) -> Sequence[Step]:
    basic = loss.whole_step(
        spec,
        "extent and sizes of the buckets of the whole version",
        lost,
        {PARTITIONS: lambda s: _number(arrange(spec, s))},
    )
    values = [named(col(f"s{item.index}", "w"), f"v{item.index}") for item in spec.sensitive]

    def records(state: State) -> exp.Select:
        tree = query("select 1 from w", {"w": state.outer.work(WHOLE)})
        return tree.select(*values, append=False)

    return [basic, *_bucket_checks(spec, arrange, tables, records)]


def measures(spec: ReleaseSpec, arrange: Arrange, buckets: Grouping) -> Chains:
    """Steps that observe the facts of :func:`utility`."""
    spread = loss.utility_step(
        spec,
        "extent and sizes of the buckets",
        lambda s: extents(spec, arrange(spec, s), buckets.all_records(s), s),
        more={PARTITIONS: lambda s: _number(arrange(spec, s))},
    )

    def staged(state: State) -> Relations:
        return {r.part: r.staged for r in relations(arrange(spec, state), state)}

    checks = _bucket_checks(spec, arrange, staged, lambda s: s.work(CODED))
    return [
        *[[step] for step in (spread, *checks)],
        *inference.chains(spec, arrange, buckets),
    ]


def _bucket_checks(
    spec: ReleaseSpec,
    arrange: Arrange,
    tables: Callable[[State], Relations],
    records: Callable[[State], Relation],
) -> list[Check]:
    """What the buckets in these relations tell of every column, to anybody and to a reader who
    knows which values `records` have together."""
    degrees = [
        Check(
            f"degree{item.index}",
            f"how well values of {item.published} are known from their buckets",
            lambda s, item=item: _degree(arrange(spec, s), item, tables(s)),
            gives=_facts(item)[:2],
        )
        for item in spec.sensitive
    ]
    together = [
        Check(
            f"informed{item.index}",
            f"what of {item.published} is learned by who knows which values go together",
            lambda s, item=item: informed(arrange(spec, s), item, tables(s), records(s)),
            gives=_facts(item)[2:],
        )
        for item in spec.sensitive
    ]
    return [*degrees, *together]


def _facts(item: Sensitive) -> list[Fact[Any]]:
    """Of the fields of :class:`Degree`."""
    of = f"measure{item.index}_"
    measures = [measure("degree", of), measure("reconstruction_error", of)]
    return [*measures, or_null(measure("informed", of))]


def linked_partitions(arrangement: Arrangement) -> list[str]:
    """Partitions of which the loss is that of a release: classes, or buckets of values."""
    return [CLASS_ID] if arrangement.generalized else links(arrangement.shape)


def _number(arrangement: Arrangement) -> exp.Expr:
    return num(len(linked_partitions(arrangement)))


def extents(
    spec: ReleaseSpec, arrangement: Arrangement, rows: Relation, state: State
) -> exp.Select:
    """SELECT (n, extent columns of the axes): classes, or buckets of values of all partitions."""
    codes = [col(name, "r") for name in code_columns(spec)]
    records = [
        query("select :place as place from r", {"r": rows}, place=num(place)).select(
            named(col(arrangement.bucket_of(name), "r"), "number"), *codes
        )
        for place, name in enumerate(linked_partitions(arrangement))
    ]
    found = group_extents(
        axes(spec.attributes), state, stacked(records), ["place", "number"], weighted=False
    )
    return found.select(named(fragment("count(*)"), "n"))


def _degree(arrangement: Arrangement, item: Sensitive, tables: Relations) -> exp.Expr:
    """Privacy degree and reconstruction error of one sensitive column.

    Both assume a reader who knows the quasi-identifiers in its table, if there are any.
    """
    table = arrangement.table_of(item.index)
    keys = [col(name, "t") for name in (GROUP_ID, *[a.published for a in table.attributes])]
    value = col(item.published, "t")
    names = [f"k{i}" for i in range(len(keys))]
    rows = query("select 1 from t", {"t": tables[table.part]}).select(
        *[named(key, name) for key, name in zip(keys, names, strict=True)], append=False
    )
    if ties(item, value) or len(table.sensitive) > 1:
        # A value may have several rows.
        counted = rows.select(named(fragment("sum(t.count)::float8"), "n"))
        counted = counted.group_by(*[key.copy() for key in (*keys, value)])
    else:
        counted = presorted(rows).select(named(fragment("t.count::float8"), "n"))
    buckets = query(
        "select sum(c.n) as n, sum(c.n * c.n) as squares, max(c.n) as most from c", {"c": counted}
    ).group_by(*[col(name, "c") for name in names])
    return query(
        "select min(g.n / g.most) as degree,"
        " sum(g.n - g.squares / g.n) as reconstruction_error from g",
        {"g": buckets},
    )


def utility(spec: ReleaseSpec, facts: Facts) -> AnatomyUtility:
    """The utility of a release, from the facts of :func:`measures`."""
    return replace(
        whole_utility(spec, facts),
        inferred=inference.inferred(spec, facts),
        related=inference.related(spec, facts),
        objective=_summed(spec, facts, objective),
        baseline=_summed(spec, facts, baseline),
    )


def whole_utility(spec: ReleaseSpec, facts: Facts) -> AnatomyUtility:
    """The figures that follow from what is published, and from which values occur together."""
    return AnatomyUtility(
        gcp=(facts[WEIGHTED_LOSS] / facts[PARTITIONS] + facts[SUPPRESSED]) / facts[RECORDS],
        ncp={a.published: facts[ncp(a.index)] for a in spec.attributes},
        groups=facts[CLASSES],
        smallest_group=facts[SMALLEST],
        largest_group=facts[LARGEST],
        sensitive={
            item.published: Degree(*[facts[fact] for fact in _facts(item)])
            for item in spec.sensitive
        },
        inferred={},
        related=(),
        generalized=spec.policy.method.shows == "generalized",
    )


def _summed(spec: ReleaseSpec, facts: Facts, fact: Callable[[int], Fact[float]]) -> float | None:
    """Sum over all partitions of a fact of the bucket search; None where no search ran."""
    every = [facts.get(fact(place)) for place in range(len(spec.sensitive))]
    observed = [value for value in every if value is not None]
    return math.fsum(observed) if observed else None
