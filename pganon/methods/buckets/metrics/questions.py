"""Questions about who has a sensitive value, drawn from a fixed seed.

mquestions   (question, r, item, code, a<p>, weight)   how are the records with this code of the
             sensitive column `item` distributed over the values of the r quasi-identifiers a0, a1,
             .. (-1: none)? `weight` says how often the question was drawn.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.encode.curve import numbered
from pganon.encode.work import sensitive_values
from pganon.metrics.draws import chosen, hashed
from pganon.metrics.keys import asked, in_places
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, named, num, query, stacked
from pganon.steps import State

DRAWN = 100
"""Questions per number of quasi-identifiers."""

LEAST = 3
"""Fewest records of the source with a value that questions are about."""

MOST = 4
"""The most quasi-identifiers of a question."""

SEED = 1


def numbers(spec: ReleaseSpec) -> range:
    """Numbers of quasi-identifiers that a question may have."""
    return range(1, min(MOST, len(spec.attributes)) + 1)


def questions(spec: ReleaseSpec, state: State) -> exp.Expr:
    """SELECT of all questions, with their weights."""
    drawn = stacked([_drawn(spec, state, r) for r in numbers(spec)])
    columns = [col(name, "d") for name in ("r", "item", "code", *asked(MOST))]
    tree = query("select count(*) as weight from d", {"d": drawn}).select(*columns)
    tree = tree.group_by(*[column.copy() for column in columns])
    return tree.select(named(numbered(columns), "question"))


def _drawn(spec: ReleaseSpec, state: State, r: int) -> exp.Select:
    """SELECT of questions: a column, one of its values, r quasi-identifiers; equally likely."""
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
    tree = query(
        "select :r as r, v.item, v.code"
        " from p join v on v.item = p.item and v.place = p.place join a on a.query = p.query",
        {
            "p": places,
            "v": values,
            "a": in_places(chosen(seed, DRAWN, len(spec.attributes), r), MOST),
        },
        r=num(r),
    )
    return tree.select(*[col(name, "a") for name in asked(MOST)])


def _values(spec: ReleaseSpec, state: State) -> exp.Select:
    """(item, code, place, many): values that are frequent enough; NULL is one."""
    return stacked(
        [
            query(
                "select :item as item, d.code, row_number() over (order by d.code) as place,"
                " count(*) over () as many from d where d.n >= :least",
                {"d": state.work(sensitive_values(item.index))},
                item=num(item.index),
                least=num(LEAST),
            )
            for item in spec.sensitive
        ]
    )
