"""The largest Jensen-Shannon divergence of two priors of a cluster, measured in the server.

Its square root is a metric (Endres and Schindelin 2003), so not every pair is looked at: priors
whose distances from the middle of their cluster add up to less than a distance that was found
cannot be further apart.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.privacy.rows import Relation
from pganon.sqltools import col, computed_once, fragment, query

_SLACK = 1e-9
"""Distances from the middle may be wrong by less than that."""


def diameters(priors: Relation) -> exp.Select:
    """SELECT cluster, measure: by cluster the largest divergence of two of its priors; 0 for one.

    Args:
        priors: (cluster, prior, probabilities): every prior of a cluster once.
    """
    known = computed_once(
        query(
            "select p.cluster, p.prior, p.probabilities, :entropy as entropy from p",
            {"p": priors},
            entropy=_entropy("p"),
        )
    )
    middles = query(
        "select m.cluster, array_agg(m.share order by m.place) as probabilities from"
        " (select p.cluster, x.place, avg(x.share) as share from p"
        " cross join lateral unnest(p.probabilities) with ordinality as x(share, place)"
        " group by p.cluster, x.place) as m group by m.cluster",
        {"p": priors},
    )
    placed = computed_once(
        query(
            "select k.cluster, k.prior, k.probabilities, k.entropy, sqrt(:d) as away from k"
            " join (select m.cluster, m.probabilities, :entropy as entropy from m) as c"
            " on c.cluster = k.cluster",
            {"k": known, "m": middles},
            d=divergence("k", "c"),
            entropy=_entropy("m"),
        )
    )
    return _widest(placed)


def _widest(placed: exp.Select) -> exp.Select:
    tree = query(
        "select l.cluster, max(greatest(l.d, coalesce(w.d, 0))) as measure from"
        " (select f.cluster, max(:from_far) as d from f join k on k.cluster = f.cluster"
        " group by f.cluster) as l"
        " left join lateral (select max(:apart) as d from k as a join k as b"
        " on b.prior > a.prior where a.cluster = l.cluster and b.cluster = l.cluster"
        " and a.away + b.away >= sqrt(l.d) - :slack) as w on true group by l.cluster",
        {"f": query("select distinct on (k.cluster) k.* from k order by k.cluster, k.away desc")},
        from_far=divergence("f", "k"),
        apart=divergence("a", "b"),
        slack=exp.Literal.number(repr(_SLACK)),
    )
    return tree.with_("k", as_=placed, materialized=True)


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
