"""The largest Jensen-Shannon divergence of two priors of a cluster, measured in the server.

Its square root is a metric (Endres and Schindelin 2003), so not every pair is compared: priors
whose distances from a third add up to less than a distance that was found cannot be further apart.
Thirds are the middle of the cluster, the prior farthest from it, and the one farthest from that.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.privacy.rows import Relation
from pganon.sqltools import aliased, col, equal, fragment, named, query

_SLACK = 1e-9
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
        slack=exp.Literal.number(repr(_SLACK)),
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
