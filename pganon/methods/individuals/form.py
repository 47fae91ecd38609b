"""The published form of identity reservation: classes with linked records of each individual.

Like the form of classes, with `individual_no` in every record: a random number of the individual,
which all of its records share. Every individual is in one class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from pganon.encode.facts import COLLAPSED
from pganon.forms.elements import value_key
from pganon.forms.facts import MEASURE
from pganon.forms.form import STRUCTURE, Linkage, Tables, Whole
from pganon.forms.links import linked_by
from pganon.forms.sentences import Told, count, share, told
from pganon.forms.shape import Relations, Shape
from pganon.forms.stored_relations import numbers, numbers_step, repeated
from pganon.forms.utility import IdentityUtility, Utility, class_utility
from pganon.forms.work import CLASSED, INDIVIDUALS
from pganon.identifiers import QualifiedName
from pganon.methods.common.form import (
    class_description,
    class_records,
    classes,
)
from pganon.methods.common.form.checks import requirement_check, structure_check, violations_check
from pganon.methods.common.form.class_description import CLASSES
from pganon.methods.individuals.reservation import IdentityReserved
from pganon.metrics.evidence.classes import evidence_of
from pganon.metrics.evidence.people import Individuals
from pganon.policy.options import CLASS_ID, INDIVIDUAL_NO
from pganon.privacy.identity import EIRBeta, EIRLDiversity, histogram, measured
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import aliased, col, fragment, named, num, query, render, scalar, stacked
from pganon.steps import Chains, Check, State, Step
from pganon.steps.facts import Facts, counts, measure
from pganon.steps.relations import CheckQuery, PublishedView, ViewColumn

MESSAGES = {
    "structure_of_individuals": "Everybody is in one group, under one number.",
    "exposed": "Few people have a value that nobody else of their group has, beside others.",
    "smallest_count_group": "In every group at least {required} people have equally many records.",
}


def tell(utility: Utility, members: str) -> list[Told]:
    assert isinstance(utility, IdentityUtility)
    return list(_told(utility))


def _told(utility: IdentityUtility) -> Iterator[Told]:
    yield told(
        "records of a person",
        "Records of a person stay together: ",
        count(utility.individuals),
        " people are released. Who knows how many records somebody has is left with at least ",
        count(utility.smallest_count_group),
        " of the people of a group.",
    )
    yield told(
        "a value that nobody else has",
        count(utility.exposed),
        " people have a value that nobody else of their group has, beside other values: who knows"
        " the one of them learns the others.",
        of=utility.exposed,
    )
    if utility.vulnerable is not None:
        yield told(
            "vulnerable groups",
            "In ",
            share(utility.vulnerable),
            " of the groups records can be picked, one of each person, that have fewer different"
            " values, or one of them more often, than is required of all records together.",
        )


def records(tables: Relations, item: Sensitive) -> exp.Select:
    """SELECT (class_id, individual, value), one row per published record."""
    return query(
        "select r.class_id, r.individual_no as individual, :value as value from records as r",
        dict(tables),
        value=value_key(item, "r"),
    )


def holders(
    spec: ReleaseSpec, state: State, tables: Relations, item: Sensitive
) -> tuple[list[str], exp.Select]:
    """Individuals of every class who have a value: they may have several."""
    return [CLASS_ID], histogram("holders", records(tables, item), CLASS_ID)


def _people(spec: ReleaseSpec, tables: Relations) -> exp.Select:
    return query(
        "select r.class_id, count(distinct r.individual_no) as total from records as r"
        " group by r.class_id",
        dict(tables),
    )


def _held(spec: ReleaseSpec, tables: Relations, item: Sensitive) -> exp.Select:
    return query("select r.individual as person, r.value from r", {"r": records(tables, item)})


def shape(spec: ReleaseSpec, state: State) -> Shape:
    """Of classes, and whose each record is."""
    shown, held = classes.shape(spec, state)
    return (shown, replace(held, beside=(INDIVIDUAL_NO,)))


EVIDENCE = evidence_of(shape, holders, Individuals(_people, _held))
"""That of classes, of which everybody is counted once."""


_OWNER = ViewColumn(
    INDIVIDUAL_NO,
    "integer",
    "Number of the individual, random per release; records share it.",
    "individual",
)


def staging_steps(
    spec: ReleaseSpec, extents: classes.Extents = lambda spec, state, records: records
) -> tuple[Step, ...]:
    """From `grouped` (gid, codes, rid), `individuals` and `classed` (rid, gid)."""
    return (
        numbers_step(CLASSED, "random numbers for the individuals", INDIVIDUAL_NO, "rid"),
        *classes.staging_steps(spec, _records, extents),
    )


def _records(spec: ReleaseSpec, state: State) -> exp.Select:
    def owned(tree: exp.Select) -> class_records.Owned:
        individuals = aliased(state.work(INDIVIDUALS), "i")
        drawn = aliased(numbers(state, INDIVIDUAL_NO), "n")
        tree = tree.join(individuals, on=fragment("i.individual = c.individual"))
        tree = tree.join(drawn, on=fragment("n.gid = i.rid"))
        return tree, col(INDIVIDUAL_NO, "n")

    return class_records.records_of_classes(spec, state, owned)


def duplicate_keys(spec: ReleaseSpec, state: State) -> list[exp.Select]:
    """In addition to the checks of classes: an individual is in one class, and has one number."""
    return [
        *classes.duplicate_keys(spec, state),
        repeated(state.work(INDIVIDUALS), "individual"),
        repeated(numbers(state, INDIVIDUAL_NO), "gid"),
    ]


# -- verification -----------------------------------------------------------------------------


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    """Queries that re-measure every requirement from the relations in `tables` alone."""
    return (
        structure_check(shape(spec, state), tables),
        _identities(tables, spec.growth.numbered if spec.growth else 0),
        *[
            requirement_check(
                r, measured(r.model, records(tables, spec.sensitive[r.sensitive or 0]), CLASS_ID)
            )
            for r in spec.requirements
        ],
        *_risk_checks(spec, tables),
    )


def _risk_checks(spec: ReleaseSpec, tables: Tables) -> list[CheckQuery]:
    """Bounds of a policy on measures of risk, which no search aims at."""
    options = spec.policy.method
    assert isinstance(options, IdentityReserved)
    queries: list[CheckQuery] = []
    if options.most_exposed < 1:
        share = query(
            "select e.n::numeric / a.n as measured from (select count(*) as n from h) as e"
            " cross join (select count(distinct r.individual_no) as n from records as r) as a",
            {**tables, "h": _exposed(spec, tables)},
        )
        queries.append(
            _risk_check("exposed", "share", "<=", options.most_exposed, share, "raise most_exposed")
        )
    if options.least_count_group > 1:
        group = query("select g.n as measured from g", {"g": _count_groups(tables)})
        queries.append(
            _risk_check(
                "smallest_count_group",
                "individuals",
                ">=",
                options.least_count_group,
                group,
                "lower least_count_group",
            )
        )
    return queries


def _risk_check(
    name: str, symbol: str, comparison: str, parameter: float, figure: exp.Select, weaker: str
) -> CheckQuery:
    limit = exp.Literal.number(repr(parameter))
    tree = query(
        "select f.measured::float8 as measured, (not :satisfied)::int as failing from f",
        {"f": figure},
        satisfied=fragment(f"f.measured {comparison} :limit", limit=limit),
    )
    hint = f"{weaker}, or ask for larger classes: no search aims at this measure"
    return CheckQuery(name, symbol, None, float(parameter), comparison, "", render(tree), hint)


def _identities(tables: Tables, before: int) -> CheckQuery:
    """Individuals in several classes, or with numbers other than the next after those before."""
    broken = query(
        "select count(*) filter (where p.classes > 1 or"
        " not coalesce(p.individual_no - :before between 1 and p.individuals, false))"
        " as measured from"
        " (select r.individual_no, count(distinct r.class_id) as classes,"
        " count(*) over () as individuals from records as r group by r.individual_no) as p",
        dict(tables),
        before=num(before),
    )
    return violations_check(f"{STRUCTURE}_of_individuals", broken)


def views(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[PublishedView, ...]:
    return class_description.views(spec, state, tables, _OWNER)


# -- statistics --------------------------------------------------------------------------------


_INDIVIDUALS, _FEWEST, _EXPOSED, _COUNT_GROUP, _VULNERABLE = counts(
    "individuals", "fewest", "exposed", "smallest_count_group", "vulnerable", of=MEASURE
)
_HIGHEST_SHARE = measure("highest_share", MEASURE)


def measures(spec: ReleaseSpec) -> Chains:
    """Steps that observe the facts of :func:`utility`."""

    def staged(state: State) -> Relations:
        return {r.part: r.staged for r in classes.relations(spec, state)}

    risks = [[step] for step in _risk_steps(spec, staged)]
    return [*risks, *class_description.measures(spec)]


def whole_measures(
    spec: ReleaseSpec,
    relations: Callable[[State], Relations],
    lost: Callable[[State], QualifiedName],
) -> list[Step]:
    """The same of all classes."""
    measures = class_description.whole_measures(spec, relations, lost)
    return [*_risk_steps(spec, relations), *measures]


def _risk_steps(spec: ReleaseSpec, relations: Callable[[State], Relations]) -> list[Step]:
    risks = Check(
        "individuals_per_class",
        "individuals of the classes, and how well they can be told apart in them",
        lambda s: _risks(spec, relations(s)),
        gives=[_INDIVIDUALS, _FEWEST, _EXPOSED, _HIGHEST_SHARE, _COUNT_GROUP],
    )
    vulnerable = Check(
        "vulnerable",
        "classes that satisfy their requirement on records and not on individuals",
        lambda s: _vulnerable(spec, relations(s)),
        gives=[_VULNERABLE],
    )
    return [risks, *([vulnerable] if _asked(spec) else [])]


def _asked(spec: ReleaseSpec) -> list[tuple[Sensitive, EIRLDiversity | EIRBeta]]:
    """Models that vulnerable classes violate: the EIR form of requirements with an l or a beta."""
    models: set[tuple[int, EIRLDiversity | EIRBeta]] = set()
    for requirement in spec.requirements:
        model, column = requirement.model, requirement.sensitive
        if column is not None and getattr(model, "l", 1) > 1:
            models.add((column, EIRLDiversity.of(int(model.parameter))))
        elif column is not None and getattr(model, "beta", 1) < 1:
            models.add((column, EIRBeta(model.parameter)))
    ordered = sorted(models, key=lambda found: (found[0], found[1].name, found[1].parameter))
    return [(spec.sensitive[column], model) for column, model in ordered]


def _vulnerable(spec: ReleaseSpec, tables: Relations) -> exp.Select:
    """Number of vulnerable classes; those that the search cannot decide count."""
    missed = [
        query(
            "select m.class_id from m where not :holds",
            {"m": measured(model, records(tables, item), CLASS_ID, undecided=0)},
            holds=model.holds(col("measure", "m")),
        )
        for item, model in _asked(spec)
    ]
    return query("select count(distinct v.class_id) as vulnerable from v", {"v": stacked(missed)})


def _risks(spec: ReleaseSpec, tables: Relations) -> exp.Select:
    """Risks from readers who know more about a victim than the quasi-identifiers."""
    exposed = query("select count(*) from h", {"h": _exposed(spec, tables)})
    counts = query("select g.n from g", {"g": _count_groups(tables)})
    shares = [measured(EIRBeta(1), records(tables, item), CLASS_ID) for item in spec.sensitive]
    highest = query("select max(m.measure) from m", {"m": stacked(shares)})
    tree = query(
        "select sum(c.n)::bigint as individuals, min(c.n) as fewest from"
        " (select count(distinct r.individual_no) as n from records as r group by r.class_id) as c",
        dict(tables),
    )
    return tree.select(
        named(scalar(exposed), "exposed"),
        named(scalar(highest), "highest_share"),
        named(scalar(counts), "smallest_count_group"),
    )


def _exposed(spec: ReleaseSpec, tables: Relations) -> exp.Select:
    """SELECT individual: those with a value that nobody else in the class has, beside others, of
    the same column or of another one."""
    held = [
        query(
            "select p.individual, count(*) over (partition by p.class_id, p.value) as holders,"
            " count(*) over (partition by p.class_id, p.individual) + :further as many from p",
            {"p": histogram("pairs", records(tables, item), CLASS_ID)},
            further=num(len(spec.sensitive) - 1),
        )
        for item in spec.sensitive
    ]
    return query(
        "select distinct h.individual from h where h.holders = 1 and h.many > 1",
        {"h": stacked(held)},
    )


def _count_groups(tables: Relations) -> exp.Select:
    """SELECT n: fewest individuals of a class with equally many records."""
    return query(
        "select min(g.individuals) as n from (select count(*) as individuals from"
        " (select r.class_id, r.individual_no, count(*) as n from records as r group by 1, 2) as i"
        " group by i.class_id, i.n) as g",
        dict(tables),
    )


def utility(spec: ReleaseSpec, facts: Facts) -> IdentityUtility:
    statistics = class_utility(spec, facts)
    vulnerable, individuals = facts.get(_VULNERABLE), facts[_INDIVIDUALS]
    # Who looks for a person finds one of the class's individuals, not of its records.
    risks = {
        "highest_risk": 1 / facts[_FEWEST],
        "mean_risk": statistics.classes / individuals,
    }
    return IdentityUtility(
        **{**statistics.__dict__, **risks},
        individuals=individuals,
        vulnerable=None if vulnerable is None else vulnerable / statistics.classes,
        highest_share=facts[_HIGHEST_SHARE],
        smallest_count_group=facts[_COUNT_GROUP],
        exposed=facts[_EXPOSED],
    )


def _warnings(spec: ReleaseSpec, facts: Facts) -> Sequence[str]:
    collapsed = facts.get(COLLAPSED)
    if not collapsed:
        return ()
    return (
        f"{collapsed} further records of the source repeat a value of their individual; each value"
        " is counted and published once",
    )


IDENTITY = replace(
    CLASSES,
    shape=shape,
    staging=replace(CLASSES.staging, steps=staging_steps),
    verification=replace(
        CLASSES.verification, checks=checks, duplicate_keys=duplicate_keys, said=MESSAGES
    ),
    publication=replace(CLASSES.publication, views=views, warnings=_warnings),
    statistics=replace(
        CLASSES.statistics,
        measures=measures,
        utility=utility,
        figures=IdentityUtility,
        whole=Whole(whole_measures, utility),
        # As eq. 19 of its paper.
        on_request=replace(class_description.ON_REQUEST, restricts="yes"),
        evidence=EVIDENCE,
        tells=tell,
    ),
    linkage=Linkage(linked_by(holders, CLASS_ID)),
)
