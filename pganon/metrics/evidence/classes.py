"""Evidence of releases whose groups look the same, such as classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.coded import suppresses_nulls
from pganon.encode.combination import cell_columns
from pganon.encode.work import CODED, LEFT_OUT
from pganon.forms.form import Description, Evidence, Histogram, Relations, Tables
from pganon.metrics import coverage, distribution, source
from pganon.metrics.evidence import distributions, exactness, journalist, shares
from pganon.metrics.evidence.people import Individuals, alike_in_source, fewest
from pganon.metrics.evidence.sizes import Sizes
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, query, stacked
from pganon.steps import Parallel, State, Step
from pganon.steps.facts import Facts

RELEASE, SOURCE = Sizes("released_sizes"), Sizes("source_sizes")


Covered = Callable[[ReleaseSpec, Tables], exp.Select]
"""SELECT n, covered: the records of every class, and the people of the population it covers."""


@dataclass(frozen=True)
class Groups:
    """Groups with one published value of every quasi-identifier.

    Attributes:
        shown: as :attr:`pganon.forms.form.Description.shown`; what a group hides is NULL.
        sizes: SELECT n, the records of every group.
        extents: SELECT (n, extent columns of the axis), one row per group that shows it.
    """

    shown: Callable[[ReleaseSpec, Relations], exp.Select]
    sizes: Callable[[ReleaseSpec, State, Relations], exp.Select]
    extents: Callable[[ReleaseSpec, Axis, State], exp.Select]


def described(description: Description) -> Groups:
    """Of a form whose groups show all quasi-identifiers."""
    return Groups(
        description.shown,
        lambda spec, state, tables: description.extents(state),
        lambda spec, axis, state: description.extents(state),
    )


def evidence_of(
    groups: Groups,
    histogram: Histogram,
    individuals: Individuals | None = None,
    covered: Covered | None = None,
) -> Evidence:
    """Evidence of a form with such groups.

    Args:
        individuals: how people are counted, where the release says which records are of one.
        covered: how people of a population are, where the form can be compared with one.
    """
    return Evidence(
        lambda spec, tables, measured: (
            *steps(spec, groups, histogram, tables, measured, individuals),
            *_beside_population(spec, covered, tables),
        ),
        document,
        lambda spec, relations: whole_steps(spec, histogram, relations, individuals),
        whole_document,
    )


def steps(
    spec: ReleaseSpec,
    groups: Groups,
    histogram: Histogram,
    tables: Callable[[State], Tables],
    measured: Sequence[Step] = (),
    individuals: Individuals | None = None,
) -> tuple[Step, ...]:
    """After those of the metrics on request (`measured`), whose tables it reads."""
    attributes, limits = axes(spec.attributes), spec.policy.report.accepted
    needed = [
        *source.place_steps(spec),
        coverage.shown_step(spec, lambda s: groups.shown(spec, tables(s))),
        *[coverage.cover_step(axis, _cover_of(axis)) for axis in attributes],
        *[distribution.table_step(axis) for axis in attributes],
    ]
    made = set(_names(measured))
    shown: list[Step] = [step for step in needed if step.name not in made]
    for axis in attributes:
        shown += [
            *distributions.steps(spec, axis),
            exactness.check(axis, lambda s, axis=axis: groups.extents(spec, axis, s)),
        ]

    def released(state: State) -> exp.Select:
        if individuals is None:
            return groups.sizes(spec, state, tables(state))
        return _people(individuals.totals(spec, tables(state)))

    alike = _source_groups if individuals is None else alike_in_source
    sizes: list[Step] = [
        RELEASE.check("sizes of the classes", released, limits),
        SOURCE.check("sizes of the groups of the source", lambda s: alike(spec, s), limits),
    ]
    chains = [sizes, *shares.chains(spec, histogram, tables, individuals), shown]
    return (Parallel("evidence", "figures for a report", chains),)


def _beside_population(
    spec: ReleaseSpec, covered: Covered | None, tables: Callable[[State], Tables]
) -> list[Step]:
    if spec.population is None or covered is None:
        return []
    limits = spec.policy.report.accepted
    return [journalist.check(limits, lambda s: covered(spec, tables(s)))]


def _names(steps: Sequence[Step]) -> Iterator[str]:
    for step in steps:
        yield step.name
        if isinstance(step, Parallel):
            for chain in step.chains:
                yield from _names(chain)


def whole_steps(
    spec: ReleaseSpec,
    histogram: Histogram,
    relations: Callable[[State], Relations],
    individuals: Individuals | None = None,
) -> tuple[Step, ...]:
    """Of all increments, from `mshown` and `mcover<i>`: the source of the earlier ones is gone."""

    def released(state: State) -> exp.Select:
        if individuals is None:
            return query("select m.n from m", {"m": state.work("mshown")})
        return _people(individuals.totals(spec, relations(state)))

    limits = spec.policy.report.accepted
    groups = RELEASE.check("sizes of the classes of all increments", released, limits)
    exact = [exactness.check(axis, _no_labels) for axis in _measured(spec)]
    chains = shares.chains(spec, histogram, relations, individuals)
    return (groups, *[step for chain in chains for step in chain], *exact)


def _people(totals: exp.Select) -> exp.Select:
    return query("select t.total as n from t", {"t": totals})


def _no_labels(state: State) -> exp.Select:
    raise AssertionError  # labels have no place in a whole version


def _measured(spec: ReleaseSpec) -> list[Axis]:
    """Attributes whose exactness follows from what all increments show."""
    if spec.shows_regions:
        return []
    return [axis for axis in axes(spec.attributes) if not source.labelled(axis)]


def whole_document(spec: ReleaseSpec, facts: Facts) -> dict[str, Any]:
    asked = spec.policy.report
    return {
        "format": 1,
        "smallest": asked.smallest,
        "class_sizes": {
            "release": RELEASE.document(facts, fewest(spec, facts), asked.accepted),
            "source": None,
        },
        "sensitive": shares.documents(spec, facts),
        "attributes": [
            {"column": axis.attribute.published, **exactness.document(axis, facts)}
            for axis in _measured(spec)
        ],
    }


def _cover_of(axis: Axis) -> Callable[[Axis, State], exp.Expr] | None:
    # Where labels begin and end says all, in a fraction of the time.
    return coverage.ends_of_labels if source.labelled(axis) else None


def document(spec: ReleaseSpec, facts: Facts) -> dict[str, Any]:
    asked, smallest = spec.policy.report, spec.policy.report.smallest
    counted = fewest(spec, facts)
    return {
        "format": 1,
        "smallest": smallest,
        "class_sizes": {
            "release": RELEASE.document(facts, counted, asked.accepted),
            "source": SOURCE.document(facts, counted, asked.accepted),
        },
        "population": journalist.document(facts, asked, counted) if spec.population else None,
        "sensitive": shares.documents(spec, facts),
        "attributes": [
            {
                "column": axis.attribute.published,
                **exactness.document(axis, facts),
                "distribution": distributions.document(axis, facts, smallest),
            }
            for axis in axes(spec.attributes)
        ],
    }


def _source_groups(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT n: records of the source that agree in what they show of quasi-identifiers."""
    names = [*cell_columns(spec, state), *[hidden.flag for hidden in spec.hidden]]
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
