"""Bounds of the least and the greatest value of the records that match."""

from __future__ import annotations

from sqlglot import exp

from pganon.estimation.bounds import taken
from pganon.estimation.boxed import BoxedPart
from pganon.estimation.cells import Query
from pganon.estimation.exactly import same_group
from pganon.estimation.lines import steps
from pganon.estimation.values import typed
from pganon.sqltools import cast, col, fragment, named, query

ENDS = ("min_lower", "min_upper", "max_lower", "max_upper")


def extremes(asked: Query, number: int) -> exp.Select:
    """(grp, and :data:`ENDS`); NULL where no record with a value may, or need, match."""
    part = asked.part_of(number)
    if isinstance(part, BoxedPart):
        found = _boxed(number)
        return _times(part, found) if part.fitted.column.is_time else found
    # Of `low` values that surely match the greatest is at least the one with that rank.
    return query(
        "select c.grp, min(r.x) as min_lower,"
        " min(r.x) filter (where c.a - r.upto < c.low) as min_upper,"
        " max(r.x) filter (where r.upto - r.copies < c.low) as max_lower, max(r.x) as max_upper"
        f" from c join rows{number} as r on :same group by c.grp",
        {"c": taken(asked, number)},
        same=same_group(part.key_names, "c", "r"),
    )


def _times(part: BoxedPart, numbers: exp.Select) -> exp.Select:
    """The same as times, from their numbers."""
    column, numbered = part.fitted.column, steps(part.fitted.column)
    assert numbered is not None
    tree = query("select e.grp from e", {"e": numbers})
    for name in ENDS:
        value = fragment(numbered.value, p=cast(col(name, "e"), "bigint"))
        tree = tree.select(named(typed(column, value), name))
    return tree


def _boxed(number: int) -> exp.Select:
    """Where all records match but for what the column says, attained values surely do."""
    sure, all_match = f"c.lo_c{number} > 0", f"c.lo_r{number} = c.n"
    return query(
        f"select c.grp, min(c.xmin{number}) as min_lower,"
        f" least(min(c.xmax{number}) filter (where {sure}),"
        f" min(c.emin{number}) filter (where {all_match})) as min_upper,"
        f" greatest(max(c.xmin{number}) filter (where {sure}),"
        f" max(c.emax{number}) filter (where {all_match})) as max_lower,"
        f" max(c.xmax{number}) as max_upper"
        f" from cells as c where c.hi_c{number} > 0 group by c.grp"
    )
