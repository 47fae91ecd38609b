"""Questions about who has a sensitive value, drawn from a fixed seed.

mquestions   (question, r, item, code, a0, a1, weight)   how are the records with this code of the
             sensitive column `item` distributed over the values of the r quasi-identifiers a0 and
             a1 (-1: none)? `weight` says how often the question was drawn.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.metrics.buckets.keys import NONE
from pganon.metrics.draws import chosen, hashed
from pganon.plan.sqltools import num, query, stacked
from pganon.plan.steps import State
from pganon.spec.model import ReleaseSpec

DRAWN = 100
"""Questions per number of quasi-identifiers."""

LEAST = 3
"""Records of the source with a value that is asked for."""

MOST = 2
"""The most quasi-identifiers of a question."""

SEED = 1


def numbers(spec: ReleaseSpec) -> range:
    """How many quasi-identifiers questions are about."""
    return range(1, min(MOST, len(spec.attributes)) + 1)


def questions(spec: ReleaseSpec, state: State) -> exp.Expr:
    drawn = stacked([_drawn(spec, state, r) for r in numbers(spec)])
    return query(
        "select row_number() over (order by d.r, d.item, d.code, d.a0, d.a1) as question,"
        " d.r, d.item, d.code, d.a0, d.a1, count(*) as weight from d"
        " group by d.r, d.item, d.code, d.a0, d.a1",
        {"d": drawn},
    )


def _drawn(spec: ReleaseSpec, state: State, r: int) -> exp.Select:
    """A column, one of its values, and r quasi-identifiers; each as likely as the others."""
    values = _values(spec, state)
    items = query(
        "select v.item, max(v.many) as many, row_number() over (order by v.item) as place,"
        " count(*) over () as items from v group by v.item",
        {"v": values},
    )
    seed, drawn = SEED + r, exp.column("q", "g")
    places = query(
        "select g.q as query, i.item, 1 + abs(:value % i.many) as place"
        " from generate_series(1, :n) as g(q) join i on i.place = 1 + abs(:item % i.items)",
        {"i": items},
        n=num(DRAWN),
        item=hashed(seed, drawn, num(-1)),
        value=hashed(seed, drawn, num(-2)),
    )
    attributes = query(
        "select c.query, min(c.attribute) as a0, max(c.attribute) as a1 from c group by c.query",
        {"c": chosen(seed, DRAWN, len(spec.attributes), r)},
    )
    return query(
        "select :r as r, v.item, v.code, a.a0, case when :r > 1 then a.a1 else :none end as a1"
        " from p join v on v.item = p.item and v.place = p.place join a on a.query = p.query",
        {"p": places, "v": values, "a": attributes},
        r=num(r),
        none=num(NONE),
    )


def _values(spec: ReleaseSpec, state: State) -> exp.Select:
    """(item, code, place, many): values that are frequent enough; NULL is one."""
    return stacked(
        [
            query(
                "select :item as item, d.code, row_number() over (order by d.code) as place,"
                " count(*) over () as many from d where d.n >= :least",
                {"d": state.work(f"sdict{item.index}")},
                item=num(item.index),
                least=num(LEAST),
            )
            for item in spec.sensitive
        ]
    )
