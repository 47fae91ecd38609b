"""Bounds of sums and averages: the least and the greatest that the cells allow."""

from __future__ import annotations

from sqlglot import exp

from pganon.estimation.boxed import BoxedPart
from pganon.estimation.cells import Query
from pganon.estimation.exactly import same_group
from pganon.forms.matched import call
from pganon.sqltools import fragment, named, query

_TAKEN = "c.lo_c#", "c.hi_c#"
"""How many records with a value match all conditions, at least and at most."""


def _numbered(text: str, number: int) -> str:
    return text.replace("#", str(number))


def sum_bounds(asked: Query, number: int) -> exp.Select:
    """(cell, least, greatest): bounds of the sum over every cell."""
    if isinstance(asked.part_of(number), BoxedPart):
        return _boxed_sums(number)
    return query(
        "select c.cell, sum(r.x * :below) as least, sum(r.x * :above) as greatest"
        f" from c join rows{number} as r on :same group by c.cell",
        {"c": taken(asked, number)},
        below=_smallest("case when r.x < 0 then c.high else c.low end"),
        above=_largest("case when r.x > 0 then c.high else c.low end"),
        same=same_group(asked.part_of(number).key_names, "c", "r"),
    )


def _smallest(taken: str) -> exp.Expr:
    """How many of the copies of a value are among the smallest values of its cell."""
    return call(
        "ranked",
        copies=fragment("r.copies"),
        upto=fragment("r.upto"),
        taken=fragment(taken),
    )


def _largest(taken: str) -> exp.Expr:
    return call(
        "ranked",
        copies=fragment("r.copies"),
        upto=fragment("c.a - r.upto + r.copies"),
        taken=fragment(taken),
    )


def fewest(asked: Query, number: int) -> exp.Select:
    """(cell, fewest): the fewest individuals who have as many records as surely match."""
    return query(
        "select c.cell, count(*) filter (where r.before < c.lo) as fewest"
        f" from cells as c join rows{number} as r on :same group by c.cell",
        same=same_group(asked.part_of(number).key_names, "c", "r"),
    )


def taken(asked: Query, number: int) -> exp.Select:
    """(cell, grp, bucket, keys, low, high, a): how many of the `a` values of a cell match."""
    low, high = _TAKEN
    keys = "".join(f", c.{name}" for name in asked.part_of(number).key_names)
    return query(
        _numbered(
            f"select c.cell, c.grp, c.bucket{keys}, {low} as low, {high} as high, c.hi_x# as a"
            " from cells as c",
            number,
        )
    )


def _boxed_sums(number: int) -> exp.Select:
    """Of a generalized column: so many times the least value, and attained ones if all match."""
    low, high = _TAKEN
    text = (
        f"select c.cell,"
        f" c.xmin# * case when c.xmin# >= 0 then {low} else {high} end"
        " + case when c.lo_r# = c.n then c.more# else 0 end as least,"
        f" c.xmax# * case when c.xmax# <= 0 then {low} else {high} end"
        " - case when c.lo_r# = c.n then c.less# else 0 end as greatest"
        " from cells as c where c.xmin# is not null"
    )
    return query(_numbered(text, number))


def average_rows(asked: Query, number: int) -> exp.Select:
    """(grp, low, x, taken, free): values that a mean must have, and those that it may have.

    Rows with `low` are for the least mean, the others for the greatest.
    """
    if isinstance(asked.part_of(number), BoxedPart):
        return _boxed_rows(number)
    selects = [
        query(
            f"select c.grp, {low} as low, r.x, sum(:must) as taken, sum(:may - :must) as free,"
            f" 0::numeric as more from c join rows{number} as r on :same group by c.grp, r.x",
            {"c": taken(asked, number)},
            must=ranked("c.low"),
            may=ranked("c.high"),
            same=same_group(asked.part_of(number).key_names, "c", "r"),
        )
        for low, ranked in (("true", _smallest), ("false", _largest))
    ]
    return query("select u.* from u", {"u": exp.union(*selects, distinct=False)})  # pyright: ignore[reportArgumentType]


def _boxed_rows(number: int) -> exp.Select:
    low, high = _TAKEN
    sides = (("true", "xmin", "c.more#"), ("false", "xmax", "- c.less#"))
    selects = [
        query(
            _numbered(
                f"select c.grp, {name} as low, c.{x}# as x, sum({low}) as taken,"
                f" sum({high} - {low}) as free,"
                f" sum(case when c.lo_r# = c.n then {more} else 0 end) as more"
                f" from cells as c where c.xmin# is not null group by c.grp, c.{x}#",
                number,
            )
        )
        for name, x, more in sides
    ]
    return query("select u.* from u", {"u": exp.union(*selects, distinct=False)})  # pyright: ignore[reportArgumentType]


def average_bounds(number: int) -> exp.Select:
    """(grp, least, greatest): bounds of the mean of every group.

    Free values are taken as long as they lower the mean, from the least one on; a value does that
    if it is below the mean of those before it. So the least mean is one of the running means.
    """
    order = "case when a.low then a.x else - a.x end"
    base = query(
        f"select a.grp, a.low, sum(a.x * a.taken + a.more) as total, sum(a.taken) as count"
        f" from mean{number} as a group by a.grp, a.low"
    )
    running = query(
        "select a.grp, a.low,"
        " (b.total + sum(a.x * a.free) over w) / nullif(b.count + sum(a.free) over w, 0) as mean,"
        " b.total / nullif(b.count, 0) as start"
        f" from mean{number} as a join b on b.grp = a.grp and b.low = a.low"
        f" window w as (partition by a.grp, a.low order by {order} rows unbounded preceding)",
        {"b": base},
    )
    tree = query("select r.grp from r", {"r": running}).group_by("r.grp")
    least = "least(min(r.mean) filter (where r.low), min(r.start) filter (where r.low))"
    most = "greatest(max(r.mean) filter (where not r.low), max(r.start) filter (where not r.low))"
    for text, name in ((least, "least"), (most, "greatest")):
        found = query(f"select {text}").expressions[0]
        tree = tree.select(named(found, name))
    return tree
