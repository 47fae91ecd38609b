"""Statistics of an anatomized release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.extents import group_extents
from pganon.encode.records import ties
from pganon.encode.work import CODED
from pganon.forms.facts import (
    CLASSES,
    LARGEST,
    PARTITIONS,
    SMALLEST,
    SUPPRESSED,
    WEIGHTED_LOSS,
    baseline,
    losses,
    ncp,
    objective,
)
from pganon.forms.form import Relations
from pganon.forms.utility import AnatomyUtility, Degree
from pganon.methods.buckets.form import inferred
from pganon.methods.buckets.form.informed import informed as informed_risk
from pganon.methods.common.arrangement import Arrange, Arrangement
from pganon.methods.common.form.bucket_staging import relations
from pganon.methods.common.form.grouping import Grouping, bucket
from pganon.methods.common.form.members import code_columns
from pganon.metrics import loss
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, named, num, presorted, query, stacked
from pganon.steps import Chains, Check, State
from pganon.steps.facts import RECORDS, Fact, Facts, measure, or_null


def measures(spec: ReleaseSpec, arrange: Arrange, buckets: Grouping) -> Chains:
    """Steps that observe the facts of :func:`utility`."""
    spread = Check(
        "utility",
        "extent and sizes of the buckets",
        lambda s: _extents(spec, arrange(spec, s), buckets.all_records(s), s),
        gives=[*losses(spec), PARTITIONS],
    )

    def staged(state: State) -> Relations:
        return {r.part: r.staged for r in relations(arrange(spec, state), state)}

    degrees = [degree_check(spec, arrange, item, staged) for item in spec.sensitive]
    informed = [
        informed_check(spec, arrange, item, staged, lambda s: s.work(CODED))
        for item in spec.sensitive
    ]
    return [
        *[[step] for step in (spread, *degrees, *informed)],
        *inferred.chains(spec, arrange, buckets),
    ]


def degree_check(
    spec: ReleaseSpec, arrange: Arrange, item: Sensitive, tables: Callable[[State], Relations]
) -> Check:
    """Of the buckets in these relations."""
    return Check(
        f"degree{item.index}",
        f"how well values of {item.published} are known from their buckets",
        lambda s: _degree(arrange(spec, s), item, tables(s)),
        gives=[_degree_of(item), _error_of(item)],
    )


def informed_check(
    spec: ReleaseSpec,
    arrange: Arrange,
    item: Sensitive,
    tables: Callable[[State], Relations],
    records: Callable[[State], Relation],
) -> Check:
    """The same for a reader who knows which values `records` have together."""
    return Check(
        f"informed{item.index}",
        f"what of {item.published} is learned by who knows which values go together",
        lambda s: informed_risk(arrange(spec, s), item, tables(s), records(s)),
        gives=[_informed_of(item)],
    )


def _degree_of(item: Sensitive) -> Fact[float]:
    return measure("degree", f"measure{item.index}_")


def _error_of(item: Sensitive) -> Fact[float]:
    return measure("reconstruction_error", f"measure{item.index}_")


def _informed_of(item: Sensitive) -> Fact[float | None]:
    """The highest informed risk of a record; None where all tables have the same buckets."""
    return or_null(measure("informed", f"measure{item.index}_"))


def linked_partitions(arrangement: Arrangement) -> list[str]:
    """Partitions of which the loss is that of a release: classes, or buckets of values."""
    if arrangement.generalized:
        return [CLASS_ID]
    return list(dict.fromkeys(table.partition for table in arrangement.sensitive))


def _extents(spec: ReleaseSpec, arrangement: Arrangement, rows: Relation, state: State) -> exp.Expr:
    """SELECT one row of losses and sizes: of the classes, or of the buckets of all partitions."""
    tree = loss.basic(spec, extents(spec, arrangement, rows, state), state)
    return tree.select(named(num(len(linked_partitions(arrangement))), "partitions"))


def extents(
    spec: ReleaseSpec, arrangement: Arrangement, rows: Relation, state: State
) -> exp.Select:
    """SELECT (n, extent columns of the axes) of the same."""
    codes = [col(name, "r") for name in code_columns(spec)]
    records = [
        query("select :place as place from r", {"r": rows}, place=num(place)).select(
            named(col(bucket(arrangement.partitions.index(name)), "r"), "number"), *codes
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
    keys = [col(name, "t") for name in (GROUP_ID, *[a.published for a in table.quasi])]
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
        inferred=inferred.inferred(spec, facts),
        related=inferred.related(spec, facts),
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
            item.published: Degree(
                facts[_degree_of(item)], facts[_error_of(item)], facts[_informed_of(item)]
            )
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
