"""The method `full_domain`: one level of its hierarchy for every quasi-identifier.

With several `rounds` the records that the levels of one leave get others in the next.

Of all combinations of levels the one that loses least, where classes that fail are left out within
`suppression_limit`; of equal ones that with the lowest levels.
Samarati: Protecting respondents' identities in microdata release, TKDE 2001; LeFevre, DeWitt,
Ramakrishnan: Incognito, SIGMOD 2005; El Emam et al.: A globally optimal k-anonymity method for the
de-identification of health data, JAMIA 2009.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import axes
from pganon.encode.facts import shown_level
from pganon.encode.records import number_of
from pganon.encode.work import CODED
from pganon.errors import PganonError
from pganon.forms.work import GROUPED
from pganon.identifiers import quote
from pganon.methods.classes.full_domain import facts
from pganon.methods.classes.full_domain.costs import gap_arrays, losses, priced
from pganon.methods.classes.full_domain.form import LEVELLED
from pganon.methods.classes.full_domain.keys import (
    ambiguous,
    labels_of,
    shape,
    shapes,
)
from pganon.methods.classes.full_domain.measures import HIST, Measures, values_table
from pganon.methods.classes.full_domain.necessary import Relaxed
from pganon.methods.classes.full_domain.options import FullDomain, rounds_of
from pganon.methods.classes.full_domain.population import people
from pganon.methods.classes.full_domain.refusals import not_found, top_check, unfit_levels
from pganon.methods.classes.full_domain.rounds import level_search
from pganon.methods.classes.full_domain.rounds_shown import SHOWN, shown_steps
from pganon.methods.classes.full_domain.search.lattice import Node
from pganon.methods.common.base import Method
from pganon.methods.common.suppression import suppressed_check
from pganon.privacy.population import searched
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import fragment, named, num
from pganon.steps import Check, CreateTable, Scope, State, Step, table


def full_domain(spec: ReleaseSpec) -> tuple[Step, ...]:
    """From the encoded records to the class of each."""
    steps = [
        suppressed_check(spec, lambda s: s.work(CODED), number_of(spec, "t")),
        *_key_steps(spec),
        *_table_steps(spec),
        top_check(spec),
        level_search(spec),
        _chosen_check(spec),
        *_grouping(spec),
    ]
    return (Scope("what the search measured", steps, keeps=[GROUPED, SHOWN]),)


def _key_steps(spec: ReleaseSpec) -> list[Step]:
    every = axes(spec.attributes)
    named_labels = [
        table(
            f"labels{axis.index}",
            f"labels of {quote(axis.attribute.column.name)} on every level",
            lambda s, axis=axis: labels_of(axis, s),
        )
        for axis in every
    ]
    return [
        *named_labels,
        Check(
            "shapes",
            "most children of a label, by level",
            lambda s: shapes(spec, s),
            lambda row, s: unfit_levels(spec, row, s),
            gives=[fact(axis) for axis in every for fact in (shape, ambiguous)],
        ),
        table("cells", "records by their quasi-identifiers", lambda s: Measures(spec, s).cells()),
        *[
            table(
                f"slots{axis.index}",
                f"what labels of {quote(axis.attribute.column.name)} lose",
                lambda s, place=place: priced(spec, Measures(spec, s).layout, place),
            )
            for place, axis in enumerate(every)
        ],
        table(
            "losses",
            "what all records lose on every level",
            lambda s: losses(Measures(spec, s).layout),
        ),
        table(
            "gaps",
            "what suppression loses beyond every label",
            lambda s: gap_arrays(Measures(spec, s).layout),
        ),
    ]


def _table_steps(spec: ReleaseSpec) -> list[Step]:
    wanted = {r.sensitive: None for r in spec.measured if r.model.needs_values}
    return [
        *[
            table(
                f"present{index}",
                f"records of the source by values of {quote(spec.sensitive[index].column.name)}",
                lambda s, index=index: Relaxed(spec, s).present(index),
                when=lambda s, index=index: index in Relaxed(spec, s).compared,
            )
            for index in wanted
            if index is not None
        ],
        table(HIST, "records by key", lambda s: Measures(spec, s).hist()),
        *[
            CreateTable(
                f"values{index}_by_key",
                f"sensitive values by key, of {quote(spec.sensitive[index].column.name)}",
                lambda s, index=index: values_table(s, index),
                lambda s, index=index: Measures(spec, s).values(index),
                when=lambda s, index=index: (
                    index in {r.sensitive for r in Measures(spec, s).relaxed.unmeasured}
                ),
            )
            for index in wanted
            if index is not None
        ],
        *_population_steps(spec),
    ]


def _population_steps(spec: ReleaseSpec) -> list[Step]:
    if not searched(spec.requirements):
        return []
    return [
        table(
            "keyed_people",
            "people of the population by key",
            lambda s: people(Measures(spec, s).layout),
        )
    ]


def _chosen_check(spec: ReleaseSpec) -> Check:
    """Refuses a run without levels; those of a single round become facts."""
    single = rounds_of(spec) == 1

    def select(state: State) -> exp.Select:
        taken = facts.taken(state)
        if not single:
            return exp.select(named(num(len(taken)), facts.RECODED.column))
        node = taken[0][0] if taken else (0,) * len(spec.attributes)
        return exp.select(
            *[
                named(num(level), shown_level(axis.index).column)
                for axis, level in zip(axes(spec.attributes), node, strict=True)
            ]
        )

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        return None if facts.taken(state) else not_found(spec, state)

    every = [shown_level(axis.index) for axis in axes(spec.attributes)]
    return Check(
        "chosen",
        "the levels that lose least",
        select,
        problem,
        gives=every if single else [facts.RECODED],
    )


def _grouping(spec: ReleaseSpec) -> list[Step]:
    def nodes(state: State) -> list[Node]:
        return [node for node, _ in facts.taken(state)]

    return [
        table(
            "passing",
            "the classes that are released",
            lambda s: Measures(spec, s).passing(len(facts.taken(s))),
        ),
        table(
            GROUPED,
            "the class of every combination of values",
            lambda s: Measures(spec, s).grouped(nodes(s)),
        ),
        *(shown_steps(spec) if rounds_of(spec) > 1 else []),
        suppressed_check(
            spec, lambda s: s.work("passing"), fragment("coalesce(sum(t.n), 0)::bigint")
        ),
    ]


METHOD = Method(FullDomain, LEVELLED, full_domain)
