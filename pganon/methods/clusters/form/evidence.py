"""Evidence of a release of clusters: what their arrays of values leave possible.

Nobody is a row of a cluster, so it has no sizes of groups in which people look the same, but the
combinations that remain for who knows a person's values in another QS set. An array has every
value of its cluster once, so its records are spread evenly over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from pganon.encode.axis import Axis, axes
from pganon.forms.form import Evidence, Tables
from pganon.forms.shape import Relations
from pganon.identifiers import quote
from pganon.methods.clusters.form.utility import COMBINATIONS
from pganon.metrics import distribution
from pganon.metrics.evidence import candidates, distributions, exactness
from pganon.metrics.evidence.people import fewest
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, num, query
from pganon.steps import Parallel, State, Step
from pganon.steps.facts import Facts


def _steps(
    spec: ReleaseSpec, tables: Callable[[State], Tables], measured: Sequence[Step]
) -> tuple[Step, ...]:
    chains: list[list[Step]] = [_combinations(spec)]
    for axis in axes(spec.attributes):
        spread = distribution.table_step(axis, _spread)
        chains.append([spread, *distributions.steps(spec, axis), _exactness(axis)])
    return (Parallel("evidence", "figures for a report", chains),)


def _whole(spec: ReleaseSpec, relations: Callable[[State], Relations]) -> list[Step]:
    return [*_combinations(spec), *[_exactness(axis) for axis in axes(spec.attributes)]]


def _combinations(spec: ReleaseSpec) -> list[Step]:
    """How many combinations of every set remain that exist."""

    def groups(state: State, number: int) -> exp.Select:
        return query(
            "select k.n, c.supported as size from c join k on k.cluster_no = c.cluster_no"
            " where c.value = :set",
            {"c": state.work(COMBINATIONS), "k": state.work("cluster_codes")},
            set=num(number),
        )

    return [
        candidates.counted(str(number)).check(
            f"how many combinations of set {quote(name)} remain in clusters",
            lambda s, number=number: groups(s, number),
        )
        for number, name in enumerate(spec.qs_sets, start=1)
    ]


def _each(axis: Axis, state: State) -> exp.Select:
    """SELECT n, held: the records of every cluster, and the codes of its values."""
    return query(
        "select k.n, :held as held from k",
        {"k": state.work("cluster_codes")},
        held=col(axis.code, "k"),
    )


def _exactness(axis: Axis) -> Step:
    return exactness.observed(
        axis,
        lambda s: query(
            "select coalesce(sum(e.n) filter (where cardinality(e.held) = 1), 0) / sum(e.n)"
            " as exact, sum(e.n * cardinality(e.held)) / sum(e.n) as width from e",
            {"e": _each(axis, s)},
        ),
    )


def _spread(axis: Axis, state: State) -> exp.Select:
    """SELECT code, p, q, as :mod:`pganon.metrics.distribution` has it."""
    shares = query(
        "select u.code, sum(u.n) as n from"
        " (select e.n::float8 / cardinality(e.held) as n, unnest(e.held) as code from e) as u"
        " group by u.code",
        {"e": _each(axis, state)},
    )
    return query(
        "select d.code, d.n::float8 / sum(d.n) over () as p,"
        " coalesce(s.n / sum(s.n) over (), 0) as q from d left join s on s.code = d.code",
        {"d": axis.dictionary(state), "s": shares},
    )


def _document(spec: ReleaseSpec, facts: Facts, whole: bool) -> dict[str, Any]:
    smallest = spec.policy.report.smallest
    found = [
        one
        for number, (name, attributes) in enumerate(spec.qs_sets.items(), start=1)
        for one in candidates.document(
            candidates.counted(str(number)),
            facts,
            fewest(spec, facts),
            name,
            [attribute.published for attribute in attributes],
            "combinations",
        )
    ]
    return {
        "format": 1,
        "smallest": smallest,
        "class_sizes": {"release": None, "source": None},
        "sensitive": [],
        "candidates": found,
        "attributes": distributions.documents(axes(spec.attributes), facts, smallest, whole=whole),
    }


EVIDENCE = Evidence(_steps, _document, _whole)
