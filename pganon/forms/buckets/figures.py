"""Figures of an anatomized release."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes, group_extents
from pganon.encode.records import ties
from pganon.forms.buckets import inferred
from pganon.forms.buckets.informed import informed as informed_risk
from pganon.forms.buckets.staging import Grouping, bucket, relations
from pganon.forms.members import code_columns
from pganon.metrics import loss
from pganon.policy.options import CLASS_ID, GROUP_ID
from pganon.privacy.rows import Relation
from pganon.published.arrangement import Arrange, Arrangement
from pganon.published.form import Tables
from pganon.published.utility import AnatomyUtility, Degree
from pganon.spec.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, num, presorted, query, stacked
from pganon.steps import Chains, Check, State


def measures(spec: ReleaseSpec, arrange: Arrange, buckets: Grouping) -> Chains:
    """What :func:`utility` reads."""
    extents = Check(
        "utility",
        "extent and sizes of the buckets",
        lambda s: _extents(spec, arrange(spec, s), buckets.all_records(s), s),
        prefix="measure_",
    )
    degrees = [
        Check(
            f"degree{item.index}",
            f"how well values of {item.published} are known from their buckets",
            lambda s, item=item: _degree(arrange(spec, s), item, s),
            prefix=f"measure{item.index}_",
        )
        for item in spec.sensitive
    ]
    informed = [
        Check(
            f"informed{item.index}",
            f"what of {item.published} is learned by who knows which values go together",
            lambda s, item=item: informed_risk(
                arrange(spec, s), item, _staged(spec, arrange, s), s
            ),
            prefix=f"measure{item.index}_",
        )
        for item in spec.sensitive
    ]
    return [
        *[[step] for step in (extents, *degrees, *informed)],
        *inferred.chains(spec, arrange, buckets),
    ]


def _staged(spec: ReleaseSpec, arrange: Arrange, state: State) -> Tables:
    return {r.part: r.staged for r in relations(arrange(spec, state), state)}


def _extents(spec: ReleaseSpec, arrangement: Arrangement, rows: Relation, state: State) -> exp.Expr:
    """Over the classes, or else the buckets of all partitions that sensitive values are in."""
    codes = [col(name, "r") for name in code_columns(spec)]
    linked = dict.fromkeys(table.partition for table in arrangement.sensitive)
    if arrangement.generalized:
        linked = {CLASS_ID: None}
    records = [
        query("select :place as place from r", {"r": rows}, place=num(place)).select(
            named(col(bucket(arrangement.partitions.index(name)), "r"), "number"), *codes
        )
        for place, name in enumerate(linked)
    ]
    extents = group_extents(
        axes(spec.attributes), state, stacked(records), ["place", "number"], weighted=False
    )
    tree = loss.basic(spec, extents.select(named(fragment("count(*)"), "n")), state)
    return tree.select(named(num(len(records)), "partitions"))


def _degree(arrangement: Arrangement, item: Sensitive, state: State) -> exp.Expr:
    """Privacy degree and reconstruction error of one sensitive column.

    For who knows the quasi-identifiers that stand beside it, if there are any.
    """
    table = arrangement.table_of(item.index)
    keys = [col(name, "t") for name in (GROUP_ID, *[a.published for a in table.quasi])]
    value = col(item.published, "t")
    names = [f"k{i}" for i in range(len(keys))]
    rows = exp.select(*[named(key, name) for key, name in zip(keys, names, strict=True)])
    rows = rows.from_(aliased(state.stage(table.part), "t"))
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


def utility(spec: ReleaseSpec, facts: Mapping[str, Any]) -> AnatomyUtility:
    records, suppressed = int(facts["records"]), int(facts["suppressed"])
    partitions = int(facts["measure_partitions"])
    objective, baseline = _summed(facts, "objective"), _summed(facts, "baseline")
    return AnatomyUtility(
        gcp=(float(facts["measure_weighted_loss"]) / partitions + suppressed) / records,
        ncp={a.published: float(facts[f"measure_ncp{a.index}"]) for a in spec.attributes},
        groups=int(facts["measure_classes"]),
        smallest_group=int(facts["measure_smallest_class"]),
        largest_group=int(facts["measure_largest_class"]),
        sensitive={
            item.published: Degree(
                float(facts[f"measure{item.index}_degree"]),
                float(facts[f"measure{item.index}_reconstruction_error"]),
                _known(facts[f"measure{item.index}_informed"]),
            )
            for item in spec.sensitive
        },
        inferred=inferred.inferred(spec, facts),
        related=inferred.related(spec, facts),
        objective=objective,
        baseline=baseline,
    )


def _known(figure: Any) -> float | None:
    return None if figure is None else float(figure)


def _summed(facts: Mapping[str, Any], figure: str) -> float | None:
    """A figure of the search for buckets over all partitions; None if nothing was searched."""
    found = [v for name, v in facts.items() if name.startswith("buckets") and name.endswith(figure)]
    return math.fsum(found) if found else None
