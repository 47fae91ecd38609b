"""Evidence of a release of classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.coded import suppresses_nulls
from pganon.encode.combination import cell_columns
from pganon.encode.work import CODED, LEFT_OUT
from pganon.forms.form import Description, Evidence, Histogram, Tables
from pganon.forms.request import Request
from pganon.metrics import coverage, distribution, source
from pganon.metrics.evidence import distributions, exactness, shares
from pganon.metrics.evidence.merging import SMALLEST
from pganon.metrics.evidence.sizes import Sizes
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query, stacked
from pganon.steps import Parallel, State, Step

RELEASE, SOURCE = Sizes("released_sizes"), Sizes("source_sizes")


def evidence_of(description: Description, histogram: Histogram) -> Evidence:
    """Evidence of a form with one published value of every quasi-identifier per group."""
    return Evidence(
        lambda spec, tables, request: steps(spec, description, histogram, tables, request),
        document,
    )


def steps(
    spec: ReleaseSpec,
    description: Description,
    histogram: Histogram,
    tables: Callable[[State], Tables],
    request: Request,
) -> tuple[Step, ...]:
    """After those of the metrics on request, whose tables it reads where there are any."""
    attributes = axes(spec.attributes)
    covered: list[Step] = []
    if request.nothing:
        covered += source.place_steps(spec)
        covered.append(coverage.shown_step(spec, lambda s: description.shown(spec, tables(s))))
        covered += [coverage.cover_step(axis, _cover_of(axis)) for axis in attributes]
    if not request.everything:
        covered += [distribution.table_step(axis) for axis in attributes]
    for axis in attributes:
        covered += [distributions.check(axis), exactness.check(axis, description.extents)]
    sizes: list[Step] = [
        RELEASE.check("sizes of the classes", description.extents),
        SOURCE.check("sizes of the groups of the source", lambda s: _source_groups(spec, s)),
    ]
    chains = [sizes, *shares.chains(spec, histogram, tables), covered]
    return (Parallel("evidence", "figures for a report", chains),)


def _cover_of(axis: Axis) -> Callable[[Axis, State], exp.Expr] | None:
    # Where labels begin and end says all, in a fraction of the time.
    return coverage.ends_of_labels if source.labelled(axis) else None


def document(spec: ReleaseSpec, state: State) -> dict[str, Any]:
    facts = state.facts
    return {
        "format": 1,
        "smallest": SMALLEST,
        "class_sizes": {"release": RELEASE.document(facts), "source": SOURCE.document(facts)},
        "sensitive": [shares.document(item, facts) for item in spec.sensitive],
        "attributes": [
            {
                "column": axis.attribute.published,
                **exactness.document(axis, facts),
                "distribution": distributions.document(axis, facts),
            }
            for axis in axes(spec.attributes)
        ],
    }


def _source_groups(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT n: the records of the source with equal quasi-identifiers."""
    names = cell_columns(spec, state)
    tables = [CODED, *([LEFT_OUT] if suppresses_nulls(spec) else [])]
    records = stacked(
        [
            query("select 1 from t", {"t": state.work(table)}).select(
                *[col(name, "t") for name in names], append=False
            )
            for table in tables
        ]
    )
    return query("select count(*) as n from r", {"r": records}).group_by(
        *[col(name, "r") for name in names]
    )
