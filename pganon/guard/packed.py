"""What is known of a cell's values of a column, in one row with arrays.

    bounds   (cell, col, size, most, least, possible, is_own, values[], at_most[], at_least[])
    own      (cell, col, varieties, values[])

A row per value takes three times as much room, and its log as much time as finding it.

`bounds`: at most `at_most` people of the cell have the value of the same place, and never more than
`size`; at least `at_least`, of which NULL says 0 everywhere. `most` and `least` are the largest of
each, and `possible` is the number of values. `is_own` says that `at_most` people do have it, of
every value; then there are no more of them than `size`.

`own`: a value once for each of the people who have it, in order, so that no place tells of whom it
is; `varieties` is the number of different ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.guard.model import Memory
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, fragment, named, query, stacked

Relation = QualifiedName | exp.Select


def bounds_rows(bounds: Relation) -> exp.Select:
    """SELECT cell, col, value, is_own, at_most, at_least."""
    each = query(
        "select b.cell, b.col, b.size, b.is_own, unnest(b.values) as value,"
        " unnest(b.at_most) as at_most, unnest(b.at_least) as at_least from b",
        {"b": bounds},
    )
    return query(
        "select u.cell, u.col, u.value, u.is_own, least(u.at_most, u.size) as at_most,"
        " coalesce(u.at_least, 0) as at_least from u",
        {"u": each},
    )


def packed_bounds(rows: Relation) -> exp.Select:
    """Of cell, col, value, is_own, at_most, at_least."""
    return query(
        "select r.cell, r.col, max(r.at_most) as size, max(r.at_most) as most,"
        " max(r.at_least) as least, count(*)::integer as possible, bool_and(r.is_own) as is_own,"
        " array_agg(r.value) as values, array_agg(r.at_most) as at_most,"
        " case when max(r.at_least) > 0 then array_agg(r.at_least) end as at_least"
        " from r where r.at_most > 0 group by r.cell, r.col",
        {"r": rows},
    )


def own_rows(own: Sequence[Relation]) -> exp.Select:
    """SELECT cell, col, value, own."""
    each = [
        query("select o.cell, o.col, unnest(o.values) as value from o", {"o": one}) for one in own
    ]
    return query(
        "select u.cell, u.col, u.value, count(*)::integer as own from u"
        " group by u.cell, u.col, u.value",
        {"u": stacked(each)},
    )


def packed_own(people: exp.Select, cell: Sequence[str] = ("cell",)) -> exp.Select:
    """Of SELECT cell, col, value: a row per person and value.

    Args:
        cell: the columns that tell cells apart.
    """
    key = [col(name, "p") for name in (*cell, "col")]
    varieties = fragment("count(distinct p.value)::integer")
    values = fragment("array_agg(p.value order by p.value)")
    return (
        query("select 1 from p", {"p": people})
        .select(*key, named(varieties, "varieties"), named(values, "values"), append=False)
        .group_by(*key)
    )


def packed_counts(counts: exp.Select) -> exp.Select:
    """Of SELECT cell, col, value, own."""
    people = query(
        "select c.cell, c.col, c.value from c cross join generate_series(1, c.own) as i(number)",
        {"c": counts},
    )
    return packed_own(people)


def remembered_bounds(memory: Memory) -> Relation:
    """Those of a memory; what one from before says of own values is no part of them."""
    if memory.packed:
        return memory.value
    rows = query(
        "select v.cell, v.col, v.value, false as is_own, v.at_most, v.at_least from v",
        {"v": memory.value},
    )
    return packed_bounds(rows)


def remembered_own(memory: Memory) -> tuple[Relation, ...]:
    """What a memory says of own values that its bounds do not say."""
    if memory.packed:
        return memory.own
    rows = [query("select o.cell, o.col, o.value, o.own from o", {"o": own}) for own in memory.own]
    rows.append(
        query(
            "select v.cell, v.col, v.value, v.own from v where v.own > 0",
            {"v": memory.value},
        )
    )
    return (packed_counts(stacked(rows)),)
