"""Priors that the owner keeps, in two relations that nobody else can read.

    prior   (prior, probabilities)          distributions of the sensitive value, by its code
    audit   (class_id, cluster, prior, n)   n records of a class have the prior

Verification reads these, since the published relations do not show whether the priors of a class
are within J of each other. All classes of a cluster are within its diameter, the
largest divergence of two of its priors. Its square root is a metric (Endres and Schindelin 2003),
so not every pair is compared: priors whose distances from a third add up to less than a distance
that was found cannot be further apart. Thirds are the middle of the cluster, the prior farthest
from it, and the one farthest from that.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.work import codes_of
from pganon.forms.form import Tables
from pganon.forms.stored_relations import stored
from pganon.forms.work import CELL_VECTORS, GROUPED_CLASSES, QI_CELLS, VECTOR_CLUSTERS, VECTORS
from pganon.methods.common.form import class_description, classes
from pganon.methods.common.form.checks import requirement_check, violations_check
from pganon.privacy.base import Requirement
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import aliased, col, equal, fragment, named, query
from pganon.steps import State, Step, staged
from pganon.steps.relations import PRIVATE_SCHEMA, CheckQuery, StoredRelation

_ROUNDING = 1e-9
"""Distances from the middle may be wrong by less than that."""


def diameters(priors: Relation) -> exp.Select:
    """SELECT cluster, measure: by cluster the largest divergence of two of its priors; 0 for one.

    Args:
        priors: (cluster, prior, probabilities): every prior of a cluster once.
    """
    probabilities = query(
        "select p.cluster, p.prior, p.probabilities, :entropy as entropy from p",
        {"p": priors},
        entropy=_entropy("p"),
    )
    middles = query(
        "select m.cluster, m.probabilities, :entropy as entropy from"
        " (select x.cluster, array_agg(x.share order by x.place) as probabilities from"
        " (select p.cluster, u.place, avg(u.share) as share from p"
        " cross join lateral unnest(p.probabilities) with ordinality as u(share, place)"
        " group by p.cluster, u.place) as x group by x.cluster) as m",
        entropy=_entropy("m"),
    )
    steps = {
        "p": probabilities,
        "k0": _away("p", middles, 0),
        "k1": _away("k0", _farthest("k0", 0), 1),
        "k2": _away("k1", _farthest("k1", 1), 2),
        "l": query("select k2.cluster, max(greatest(k2.r1, k2.r2)) as r from k2 group by 1"),
    }
    tree = query(
        "select l.cluster, greatest(l.r * l.r, coalesce(w.d, 0)) as measure from l"
        " left join w on w.cluster = l.cluster",
        {"w": _wider()},
    )
    for name, step in steps.items():
        tree = tree.with_(name, as_=step, materialized=True)
    return tree


def _away(priors: str, points: exp.Select, number: int) -> exp.Select:
    """SELECT of the columns of a CTE, and the root of the divergence from the cluster's point."""
    away = fragment("sqrt(:d)", d=divergence("o", "c"))
    tree = exp.select("o.*", named(away, f"r{number}")).from_(exp.to_table(priors).as_("o"))
    return tree.join(aliased(points, "c"), on=equal(["cluster"], "c", "o"))


def _farthest(priors: str, number: int) -> exp.Select:
    """SELECT by cluster the prior that is farthest from the last point."""
    tree = exp.select("y.*").from_(exp.to_table(priors).as_("y"))
    tree = tree.distinct(col("cluster", "y"))
    return tree.order_by(col("cluster", "y"), exp.Ordered(this=col(f"r{number}", "y"), desc=True))


def _wider() -> exp.Select:
    """SELECT by cluster the largest divergence of pairs that may be further apart than l says.

    Two priors are no further apart than both are from a third. Of every such pair, one is at least
    half as far from the middle.
    """
    return query(
        "select l.cluster, max(:d) as d from l join k2 as a on a.cluster = l.cluster"
        " join k2 as b on b.cluster = l.cluster"
        " where (a.r0, a.prior) > (b.r0, b.prior) and 2 * a.r0 >= l.r - :slack"
        " and least(a.r0 + b.r0, a.r1 + b.r1, a.r2 + b.r2) >= l.r - :slack group by l.cluster",
        d=divergence("a", "b"),
        slack=exp.Literal.number(repr(_ROUNDING)),
    )


def divergence(one: str, other: str) -> exp.Expr:
    """Of two rows with `probabilities` and their `entropy`, to the base 2."""
    return fragment(
        "(select greatest(-coalesce(sum(x.m * ln(x.m)) / ln(2::float8), 0)"
        " - (:h + :i) / 2, 0) from"
        " (select (u.p + u.q) / 2 as m from unnest(:p, :q) as u(p, q)) as x where x.m > 0)",
        p=col("probabilities", one),
        q=col("probabilities", other),
        h=col("entropy", one),
        i=col("entropy", other),
    )


def _entropy(table: str) -> exp.Expr:
    return fragment(
        "(select -coalesce(sum(x.p * ln(x.p)) / ln(2::float8), 0)"
        " from unnest(:p) as x(p) where x.p > 0)",
        p=col("probabilities", table),
    )


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
        staged(
            "audit",
            "the priors of the records of every class",
            lambda s: _audit(spec, s, clustered=clustered),
        ),
        staged(
            "prior",
            "the priors",
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


MESSAGES = {
    **class_description.MESSAGES,
    "audit": "What readers may know beforehand was looked up for everybody of every group.",
}


def checks(spec: ReleaseSpec, state: State, tables: Tables) -> tuple[CheckQuery, ...]:
    queries = class_description.checks(spec, state, tables)
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
