"""Rare values are not shown: they are "others", of which there are several."""

from __future__ import annotations

from sqlglot import exp

from pganon.sqltools import num, query

SHOWN = 19
"""Values that are shown one by one, beside the others."""


def hidden_first(values: exp.Select, smallest: int, shown: int) -> exp.Select:
    """SELECT the columns of `values`, `place` from the rarest on, and whether it is `hidden`.

    Hidden are values that fewer than `smallest` people have, and all but the `shown` most frequent.
    They are two at least, and together so many people; else the next ones join them, since one
    alone, or few people, would follow from the rest.

    Args:
        values: SELECT a `label` and a `key` per value, `n` people, and of how many of them it is
            the `first` one in the order of n and key.
    """
    counted = query(
        "select v.*, row_number() over w as place, count(*) over () as kinds,"
        " sum(v.first) over w as upto, count(*) filter (where v.n < :smallest) over () as rare"
        " from v window w as (order by v.n, v.key)",
        {"v": values},
        smallest=num(smallest),
    )
    least = query(
        "select c.*, greatest(c.rare, case when c.kinds > :shown + 1 then c.kinds - :shown else 0"
        " end) as few, min(c.place) filter (where c.upto >= :smallest) over () as enough from c",
        {"c": counted},
        shown=num(shown),
        smallest=num(smallest),
    )
    return query(
        "select l.*, l.few > 0 and l.place <= greatest(l.few, 2, coalesce(l.enough, l.kinds))"
        " as hidden from l",
        {"l": least},
    )
