"""The published form of identity reservation: classes whose records show whose they are.

As the form of classes, with `individual_no` in every record: a random number of the individual,
which all of its records share. Every individual is in one class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from pganon.methods.base import STRUCTURE, Tables
from pganon.methods.forms import classes, described
from pganon.methods.forms.checked import requirement_check, violations_check
from pganon.methods.forms.elements import value_key
from pganon.methods.forms.stored import numbers, numbers_step, repeated
from pganon.metrics.utility import IdentityUtility, class_utility
from pganon.plan.sqltools import col, fragment, named, num, query
from pganon.plan.staged import CheckQuery, PublishedView, ViewColumn
from pganon.plan.steps import Chains, Check, State, Step
from pganon.policy.options import CLASS_ID, INDIVIDUAL_NO
from pganon.privacy.identity import EIRBeta, EIRLDiversity, histogram, measured
from pganon.spec.model import ReleaseSpec

_OWNER = ViewColumn(
    INDIVIDUAL_NO, "integer", "Number of the individual, random per release; records share it."
)


def staging_steps(
    spec: ReleaseSpec, extents: classes.Extents = lambda spec, state, found: found
) -> tuple[Step, ...]:
    """From `grouped` (gid, codes, rid), `individuals` and `classed` (rid, gid)."""
    return (
        numbers_step("classed", "random numbers for the individuals", INDIVIDUAL_NO, "rid"),
        *classes.staging_steps(spec, _records, extents),
    )


def _records(spec: ReleaseSpec, state: State) -> exp.Select:
    def owned(tree: exp.Select) -> classes.Owned:
        individuals = exp.alias_(state.work("individuals").table, "i", table=True, quoted=True)
        drawn = exp.alias_(numbers(state, INDIVIDUAL_NO).table, "n", table=True, quoted=True)
        tree = tree.join(individuals, on=fragment("i.individual = c.individual"))
        tree = tree.join(drawn, on=fragment("n.gid = i.rid"))
        return tree, col(INDIVIDUAL_NO, "n")

    return classes.records_of_classes(spec, state, owned)


def misplaced(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    """Beside what classes have: an individual is in one class, and has one number."""
    return [
        *classes.misplaced(spec, state),
        repeated(state.work("individuals"), "individual"),
        repeated(numbers(state, INDIVIDUAL_NO), "gid"),
    ]


# -- verification -----------------------------------------------------------------------------


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure every requirement from the relations in `tables` alone."""
    return (
        classes.structure_check(tables),
        _identities(tables),
        *[
            requirement_check(r, measured(r.model, records(spec, tables), CLASS_ID))
            for r in spec.requirements
        ],
    )


def _identities(tables: Tables) -> CheckQuery:
    """Individuals in several classes, or with numbers other than 1 to their number."""
    broken = query(
        "select count(*) filter (where p.classes > 1 or"
        " not coalesce(p.individual_no between 1 and p.individuals, false)) as measured from"
        " (select r.individual_no, count(distinct r.class_id) as classes,"
        " count(*) over () as individuals from records as r group by r.individual_no) as p",
        dict(tables),
    )
    return violations_check(f"{STRUCTURE}_of_individuals", broken)


def records(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    """SELECT (class_id, individual, value), one row per published record."""
    (item,) = spec.sensitive
    return query(
        "select r.class_id, r.individual_no as individual, :value as value from records as r",
        dict(tables),
        value=value_key(item, "r"),
    )


def views(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[PublishedView, ...]:
    return classes.views(spec, state, tables, _OWNER)


# -- figures ----------------------------------------------------------------------------------


def measures(spec: ReleaseSpec) -> Chains:
    """What :func:`utility` reads."""

    def staged(state: State) -> Tables:
        return {r.part: r.staged for r in classes.relations(spec, state)}

    risks = Check(
        "individuals_per_class",
        "individuals of the classes, and how well they can be told apart in them",
        lambda s: _risks(spec, staged(s)),
        prefix="measure_",
    )
    vulnerable = [
        Check(
            "vulnerable",
            "classes in which one record of each individual may share too few values",
            lambda s, l=l: query(  # noqa: E741
                "select count(*) filter (where m.measure < :l) as vulnerable from m",
                {"m": measured(EIRLDiversity(l), records(spec, staged(s)), CLASS_ID, undecided=0)},
                l=num(l),
            ),
            prefix="measure_",
        )
        for l in _asked(spec)  # noqa: E741
    ]
    return [[risks], *[[check] for check in vulnerable], *described.measures(spec)]


def _asked(spec: ReleaseSpec) -> list[int]:
    """The l that vulnerable classes are counted for: that of the requirements, if they have one."""
    found = [getattr(r.model, "l", 1) for r in spec.requirements]
    return [max(found)] if max(found, default=1) > 1 else []


def _risks(spec: ReleaseSpec, tables: Tables) -> exp.Select:
    """Figures about who knows more of a victim than quasi-identifiers."""
    published = records(spec, tables)
    holders = query(
        "select p.*, count(*) over (partition by p.class_id, p.value) as holders,"
        " count(*) over (partition by p.class_id, p.individual) as many from p",
        {"p": histogram("pairs", published, CLASS_ID)},
    )
    exposed = query(
        "select count(distinct h.individual) from h where h.holders = 1 and h.many > 1",
        {"h": holders},
    )
    shares = query("select max(m.measure) from m", {"m": measured(EIRBeta(1), published, CLASS_ID)})
    counts = query(
        "select min(g.individuals) from (select count(*) as individuals from"
        " (select r.class_id, r.individual_no, count(*) as n from records as r group by 1, 2) as i"
        " group by i.class_id, i.n) as g",
        dict(tables),
    )
    tree = query(
        "select sum(c.n)::bigint as individuals, min(c.n) as fewest from"
        " (select count(distinct r.individual_no) as n from records as r group by r.class_id) as c",
        dict(tables),
    )
    return tree.select(
        named(exposed.subquery(), "exposed"),
        named(shares.subquery(), "highest_share"),
        named(counts.subquery(), "smallest_count_group"),
    )


def utility(spec: ReleaseSpec, facts: Mapping[str, Any]) -> IdentityUtility:
    known = class_utility(spec, facts)
    vulnerable, individuals = facts.get("measure_vulnerable"), int(facts["measure_individuals"])
    # Who looks for a person finds one of the class's individuals, not of its records.
    risks = {
        "highest_risk": 1 / int(facts["measure_fewest"]),
        "mean_risk": known.classes / individuals,
    }
    return IdentityUtility(
        **{**known.__dict__, **risks},
        individuals=individuals,
        vulnerable=None if vulnerable is None else int(vulnerable) / known.classes,
        highest_share=float(facts["measure_highest_share"]),
        smallest_count_group=int(facts["measure_smallest_count_group"]),
        exposed=int(facts["measure_exposed"]),
    )


IDENTITY = replace(
    described.CLASSES,
    staging_steps=staging_steps,
    misplaced=misplaced,
    checks=checks,
    views=views,
    measures=measures,
    utility=utility,
    figures=IdentityUtility,
    # As eq. 19 of its paper.
    metrics=replace(described.ON_REQUEST, restricts="yes"),
)
