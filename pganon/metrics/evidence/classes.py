"""Evidence of releases whose groups look the same, such as classes.

Of a population, whose reader does not know who is in the source: a record is picked out of the F_E
people whom its class E covers: 1 / F_E, and 1 where it covers nobody (El Emam, Guide to the
De-Identification of Personal Health Information, 2013: the journalist). Without a relation of the
population the weights of a class's records add up to an estimate of F_E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.encode.coding import suppresses_nulls
from pganon.encode.combination import cell_columns
from pganon.encode.records import TIMES, number_of
from pganon.encode.work import CODED, LEFT_OUT
from pganon.forms.form import Description, Evidence, Tables
from pganon.forms.shape import Histogram, Relations, Shape, shown
from pganon.forms.work import EXTENTS
from pganon.metrics import coverage, distribution, source
from pganon.metrics.evidence import distributions, exactness, shares, subgroups
from pganon.metrics.evidence.merging import nested
from pganon.metrics.evidence.people import Individuals, alike_in_source, fewest
from pganon.metrics.evidence.sizes import Sizes
from pganon.policy.reporting import Limit
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, fragment, named, num, query, stacked
from pganon.steps import Check, Parallel, State, Step, WorkTable
from pganon.steps.facts import Facts, count, measure

FEWEST = count("fewest", "population_")
PEOPLE, MOST, P95 = (
    count("people", "presence_"),
    measure("most", "presence_"),
    measure("p95", "presence_"),
)


def population_check(limits: Sequence[Limit]) -> Check:
    """From :data:`COVERED`."""
    tree = query("select coalesce(min(c.covered), 0) as fewest")
    counted = [
        fragment(
            "coalesce(sum(c.n) filter (where c.covered <= :largest), 0)::bigint",
            largest=num(limit.largest),
        )
        for limit in limits
    ]
    above = [count(f"above{number}", "population_") for number, _ in enumerate(limits)]
    tree = tree.select(*[named(n, fact.column) for n, fact in zip(counted, above, strict=True)])
    return Check(
        "population_sizes",
        "people of the population whom the classes cover",
        lambda s: tree.from_(aliased(s.work(COVERED), "c")),
        gives=[FEWEST, *above],
    )


def presence_check(present: Callable[[State], exp.Select]) -> Check:
    """`present` has a row (n, presence) for people of the population with the same values."""
    return Check(
        "population_presence",
        "the chance of people of the population to be in the release",
        lambda s: query(
            "select coalesce(max(p.people), 0)::bigint as people,"
            " coalesce(max(p.presence), 0)::float8 as most,"
            " coalesce(min(p.presence) filter (where p.upto >= 0.95 * p.people), 0)::float8 as p95"
            " from (select x.presence, sum(x.n) over (order by x.presence) as upto,"
            " sum(x.n) over () as people from x) as p",
            {"x": present(s)},
        ),
        gives=[PEOPLE, MOST, P95],
    )


def population_document(
    spec: ReleaseSpec, facts: Facts, chances: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """As JSON: people whom a class covers at least, chances, records above each limit; and how
    likely people of the population are in the release, one in twenty of them at least so. None if
    nobody knows whom they cover.

    Args:
        chances: of the journalist, as :mod:`pganon.metrics.evidence.subgroups` tells them.
    """
    if facts.get(FEWEST) is None:
        return None
    asked, covered, presence = spec.policy.report, facts[FEWEST], None
    if facts.get(PEOPLE):
        enough = 0.05 * facts[PEOPLE] >= asked.smallest
        presence = {"highest": facts[MOST], "p95": facts[P95] if enough else None}
    above = [facts[count(f"above{n}", "population_")] for n, _ in enumerate(asked.accepted)]
    told = nested(above, facts[RELEASE.people], fewest(spec, facts))
    return {
        "smallest": covered,
        "highest": 1 / max(1, covered),
        "mean": chances and chances["mean"],
        "by_weights": spec.population is None,
        "presence": presence,
        "above": {limit.name: held for limit, held in zip(asked.accepted, told, strict=True)},
    }


RELEASE, SOURCE = Sizes("released_sizes"), Sizes("source_sizes")


COVERED = WorkTable[ReleaseSpec]("mcovered", lambda spec, state: ["class_id", "n", "covered"])
"""Records of every class, and people of the population whom it covers, or of its weights."""

Among = Callable[[ReleaseSpec, Callable[[State], Tables]], Sequence[Step]]
"""Steps that make :data:`COVERED`; none: nobody knows whom classes cover."""


Extents = Callable[[ReleaseSpec, Axis, State], exp.Select]
"""SELECT (n, extent columns of the axis), one row per group that shows it."""


def evidence_of(
    shape: Callable[[ReleaseSpec, State], Shape],
    histogram: Histogram,
    individuals: Individuals | None = None,
    among: Among = lambda spec, tables: (),
    extents: Extents = lambda spec, axis, state: query(
        "select e.* from e", {"e": state.work(EXTENTS)}
    ),
    description: Description | None = None,
) -> Evidence:
    """Evidence of a form whose groups have one published value of every quasi-identifier.

    Args:
        individuals: how people are counted, where the release says which records are of one.
        among: how people of a population are, where the form can be compared with one.
        description: says in which group each record is, where chances of records are told.
    """

    def all_steps(
        spec: ReleaseSpec, tables: Callable[[State], Tables], measured: Sequence[Step]
    ) -> tuple[Step, ...]:
        people = among(spec, tables)
        return (
            *steps(spec, shape, extents, histogram, tables, measured, individuals),
            *people,
            *([population_check(spec.policy.report.accepted)] if people else ()),
            *(
                subgroups.checks(spec, description, COVERED if people else None)
                if description
                else ()
            ),
        )

    return Evidence(
        all_steps,
        lambda spec, facts, whole: {
            **document(spec, facts, whole),
            **({} if whole else _chances(spec, facts, described=description is not None)),
        },
        lambda spec, relations: whole_steps(spec, histogram, relations, individuals),
    )


def steps(
    spec: ReleaseSpec,
    shape: Callable[[ReleaseSpec, State], Shape],
    extents: Extents,
    histogram: Histogram,
    tables: Callable[[State], Tables],
    measured: Sequence[Step] = (),
    individuals: Individuals | None = None,
) -> tuple[Step, ...]:
    """After those of the metrics on request (`measured`), whose tables it reads."""
    attributes, limits = axes(spec.attributes), spec.policy.report.accepted
    # Where labels begin and end says all, in a fraction of the time.
    needed = [
        *source.place_steps(spec),
        coverage.shown_step(spec, lambda s: shown(shape(spec, s), tables(s))),
        *[
            coverage.cover_step(axis, coverage.ends_of_labels if source.labelled(axis) else None)
            for axis in attributes
        ],
        *[distribution.table_step(axis) for axis in attributes],
    ]
    made = set(_names(measured))
    chain: list[Step] = [step for step in needed if step.name not in made]
    chain.append(_sizes(spec, "sizes of the classes", tables, individuals))
    for axis in attributes:
        chain += [
            *distributions.steps(spec, axis),
            exactness.check(axis, lambda s, axis=axis: extents(spec, axis, s)),
        ]

    alike = _source_groups if individuals is None else alike_in_source
    in_source = SOURCE.check("sizes of the groups of the source", lambda s: alike(spec, s), limits)
    chains = [[in_source], *shares.chains(spec, histogram, tables, individuals), chain]
    return (Parallel("evidence", "figures for a report", chains),)


def _sizes(
    spec: ReleaseSpec,
    purpose: str,
    relations: Callable[[State], Relations],
    individuals: Individuals | None,
) -> Step:
    """Of the released groups, from `mshown`."""

    def released(state: State) -> exp.Select:
        if individuals is None:
            return query("select m.n from m", {"m": state.work("mshown")})
        totals = individuals.totals(spec, relations(state))
        return query("select t.total as n from t", {"t": totals})

    return RELEASE.check(purpose, released, spec.policy.report.accepted)


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
    groups = _sizes(spec, "sizes of the classes of all increments", relations, individuals)
    exact = [exactness.check(axis, _no_labels) for axis in _measured(spec)]
    chains = shares.chains(spec, histogram, relations, individuals)
    return (groups, *[step for chain in chains for step in chain], *exact)


def _no_labels(state: State) -> exp.Select:
    raise AssertionError  # labels have no place in a whole version


def _measured(spec: ReleaseSpec) -> list[Axis]:
    """Attributes whose exactness follows from what all increments show."""
    if spec.shows_regions:
        return []
    return [axis for axis in axes(spec.attributes) if not source.labelled(axis)]


def document(spec: ReleaseSpec, facts: Facts, whole: bool) -> dict[str, Any]:
    asked, smallest = spec.policy.report, spec.policy.report.smallest
    counted = fewest(spec, facts)
    source = None if whole else SOURCE.document(facts, counted, asked.accepted)
    shown = _measured(spec) if whole else axes(spec.attributes)
    return {
        "format": 1,
        "smallest": smallest,
        "class_sizes": {
            "release": RELEASE.document(facts, counted, asked.accepted),
            "source": source,
        },
        "sensitive": shares.documents(spec, facts),
        "attributes": distributions.documents(shown, facts, smallest, whole=whole),
    }


def _chances(spec: ReleaseSpec, facts: Facts, *, described: bool) -> dict[str, Any]:
    found = subgroups.documents(spec, facts) if described else {}
    among = found.get("record_risk") or {}
    return {"population": population_document(spec, facts, among.get("journalist")), **found}


def _source_groups(spec: ReleaseSpec, state: State) -> exp.Select:
    """SELECT n: records of the source that agree in what they show of quasi-identifiers."""
    names = [*cell_columns(spec, state), *[hidden.flag for hidden in spec.hidden]]
    beside = [TIMES] if spec.counted else []
    tables = [CODED, *([LEFT_OUT] if suppresses_nulls(spec) else [])]
    records = stacked(
        [
            query("select 1 from t", {"t": state.work(table)}).select(
                *[col(name, "t") for name in (*names, *beside)], append=False
            )
            for table in tables
        ]
    )
    return query("select :n as n from r", {"r": records}, n=number_of(spec, "r")).group_by(
        *[col(name, "r") for name in names]
    )
