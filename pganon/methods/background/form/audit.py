"""Priors that the owner keeps, in two relations that nobody else can read.

    prior   (prior, probabilities)          distributions of the sensitive value, by its code
    audit   (class_id, cluster, prior, n)   n records of a class have the prior

Verification reads these, since the published relations do not show whether the priors of a class
are within J of each other. All classes of a cluster are within its diameter.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.work import codes_of
from pganon.forms.form import Tables
from pganon.forms.stored import stored
from pganon.forms.work import CELL_VECTORS, GROUPED_CLASSES, QI_CELLS, VECTOR_CLUSTERS, VECTORS
from pganon.methods.background.form.divergence import diameters
from pganon.methods.common.form import class_checks, classes
from pganon.methods.common.form.checked import requirement_check, violations_check
from pganon.privacy.base import Requirement
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import equal, query
from pganon.steps import CreateTable, State, Step
from pganon.steps.relations import PRIVATE_SCHEMA, CheckQuery, StoredRelation

AUDIT = "audit"
"""Name of the check that audit and classes fit together."""

_SLACK = "0.000001"
"""How far rounded probabilities may add up to something else than 1."""


def bounded(spec: ReleaseSpec) -> Requirement | None:
    """The bound on priors, if there is one that not all priors keep anyway."""
    for requirement in spec.requirements:
        model = requirement.model
        if isinstance(model, BackgroundKnowledge) and model.j < 1:
            return requirement
    return None


def relations(spec: ReleaseSpec, state: State) -> tuple[StoredRelation, ...]:
    tables = classes.relations(spec, state)
    if bounded(spec) is None:
        return tables
    private = [(part, PRIVATE_SCHEMA) for part in ("audit", "prior")]
    return (*tables, *stored(state, private))


def staging_steps(spec: ReleaseSpec, *, clustered: bool = True) -> tuple[Step, ...]:
    """Args: clustered: whether classes are of clusters of priors; else each is one by itself."""
    steps = classes.staging_steps(spec)
    if bounded(spec) is None:
        return steps
    return (
        *steps,
        CreateTable(
            "audit",
            "the priors of the records of every class",
            lambda s: s.stage("audit"),
            lambda s: _audit(spec, s, clustered=clustered),
        ),
        CreateTable(
            "prior",
            "the priors",
            lambda s: s.stage("prior"),
            lambda s: query(
                "select v.vector as prior, v.probabilities from v order by v.vector",
                {"v": s.work(VECTORS)},
            ),
        ),
    )


def _audit(spec: ReleaseSpec, state: State, *, clustered: bool) -> exp.Expr:
    tree = query(
        "select g.class_id, v.vector as prior, count(*) as n from g"
        " join q on :same join v on v.cell = q.cell group by 1, 2",
        {
            "g": state.work(GROUPED_CLASSES),
            "q": state.work(QI_CELLS),
            "v": state.work(CELL_VECTORS),
        },
        same=equal(codes_of(spec), "q", "g"),
    )
    if not clustered:
        return query(
            "select x.class_id, x.class_id as cluster, x.prior, x.n from x order by 1, 3",
            {"x": tree},
        )
    return query(
        "select x.class_id, k.cluster, x.prior, x.n from x join k on k.vector = x.prior"
        " order by 1, 3",
        {"x": tree, "k": state.work(VECTOR_CLUSTERS)},
    )


SAID = {
    **class_checks.SAID,
    "audit": "What readers may know beforehand was looked up for everybody of every group.",
}


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    queries = class_checks.checks(spec, state, tables)
    requirement = bounded(spec)
    if requirement is None:
        return queries
    priors = query(
        "select a.cluster, a.prior, p.probabilities from"
        " (select x.cluster, x.prior from audit as x group by x.cluster, x.prior) as a"
        " join prior as p on p.prior = a.prior",
        dict(tables),
    )
    return (
        *queries,
        violations_check(AUDIT, _misfits(tables)),
        requirement_check(requirement, diameters(priors)),
    )


def _misfits(tables: Tables) -> exp.Select:
    """Classes in no cluster or several, or of other records, and priors that are not there, or that
    are no distributions."""
    return query(
        "select (select count(*) from"
        " (select r.class_id, count(*) as n from records as r group by r.class_id) as c"
        " full join (select a.class_id, sum(a.n) as n, count(distinct a.cluster) as clusters"
        " from audit as a group by a.class_id) as h on h.class_id = c.class_id"
        " where c.n is distinct from h.n or h.clusters is distinct from 1)"
        " + (select count(*) from audit as a left join prior as p on p.prior = a.prior"
        " where p.prior is null)"
        " + (select count(*) from (select p.prior from prior as p group by p.prior"
        " having count(*) > 1) as twice)"
        " + (select count(*) from prior as p where (select abs(sum(x.p) - 1) <= :slack"
        " and min(x.p) >= 0 from unnest(p.probabilities) as x(p)) is not true) as measured",
        dict(tables),
        slack=exp.Literal.number(_SLACK),
    )
