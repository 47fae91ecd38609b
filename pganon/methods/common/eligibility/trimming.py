"""Records that are left out so that the others satisfy a condition."""

from __future__ import annotations

from sqlglot import exp

from pganon.methods.common.eligibility.conditions import FAILS, Conditions
from pganon.methods.common.eligibility.measures import counted, worst
from pganon.sqltools import col, fragment, named, num, query
from pganon.steps import State

_CAPS = """
    select r.stratum, min(floor((r.total - r.before) / (:l - r.rank + 1)))::bigint as cap
    from (
        select c.stratum, row_number() over w as rank, sum(c.n) over w - c.n as before,
            sum(c.n) over (partition by c.stratum) as total from c
        window w as (partition by c.stratum order by c.n desc, c.value)
    ) as r
    where r.rank <= :l group by r.stratum having count(*) = :l
"""
"""With the values in falling order of frequency the largest c is the minimum over h < l of (sum of
f beyond the h-th) / (l - h), rounded down; with fewer than l values there is none."""


def trimmed(asked: Conditions, state: State) -> exp.Expr:
    """Records that remain of every stratum under the first condition that fails anywhere.

    A stratum with too few records for one bucket is left out as a whole.
    """
    columns = list(dict.fromkeys([asked.order, *asked.keep(state)]))
    small = query(
        "select w.stratum, bool_or(w.size < :s) as small from w group by w.stratum",
        {"w": worst(asked, state)},
        s=num(asked.minimum),
    )
    tree = query(
        "select :stratum as part from k join s on s.stratum = :stratum and not s.small",
        {"k": asked.records(state), "s": small},
        stratum=asked.part("k"),
    ).select(*[col(name, "k") for name in columns])
    place = state[FAILS]
    if place is not None:
        tree = _capped(asked, state, tree, place)
    return query("select 1 from r", {"r": tree}).select(
        *[col(name, "r") for name in columns], append=False
    )


def _capped(asked: Conditions, state: State, tree: exp.Select, place: int) -> exp.Select:
    failing = asked.conditions(state)[place]
    histogram = query(
        "select c.stratum, c.value, c.n from c where c.place = :p",
        {"c": counted(asked, state)},
        p=num(place),
    )
    ranked = tree.select(
        named(
            fragment(
                "row_number() over (partition by :stratum, :v order by :order)",
                stratum=asked.part("k"),
                v=col(failing.column, "k"),
                order=col(asked.order, "k"),
            ),
            "rank",
        )
    )
    return query(
        "select r.* from r join c on c.stratum = r.part and r.rank <= c.cap",
        {"r": ranked, "c": query(_CAPS, {"c": histogram}, l=num(failing.l))},
    )
