"""Bounds of measured columns: the least and the greatest values that the cells allow."""

from __future__ import annotations

from sqlglot import exp

from pganon.estimation.cells import Query
from pganon.estimation.lines import steps, typed
from pganon.estimation.parts import BoxedPart, ExactPart
from pganon.forms.match_counts import call
from pganon.sqltools import cast, col, fragment, named, query, stacked

ENDS = ("min_lower", "min_upper", "max_lower", "max_upper")


def spans(asked: Query, number: int, measures: set[str]) -> dict[str, exp.Select]:
    """Relations up to `spans<number>`, over `cells`: bounds of every group.

    Those of sums are `least` and `greatest`, of means `mean_least` and `mean_greatest`, of extremes
    :data:`ENDS`.
    """
    part = asked.part_of(number)
    found = {f"rows{number}": part.rows(number)} if isinstance(part, ExactPart) else {}
    columns, joins = "", ""
    for w, of in (("", {"sum", "avg"}), ("w_", {"weighted"})):
        if not measures & of:
            continue
        found[f"{w}bounds{number}"] = _sums(part, number, weighted=bool(w))
        found[f"{w}sumbounds{number}"] = query(
            f"select c.grp, coalesce(sum(b.least), 0) as {w}least,"
            f" coalesce(sum(b.greatest), 0) as {w}greatest"
            f" from cells as c left join {w}bounds{number} as b on b.cell = c.cell group by c.grp"
        )
        columns += f", {w}s.{w}least, {w}s.{w}greatest"
        joins += f" left join {w}sumbounds{number} as {w}s on {w}s.grp = g.grp"
    if "avg" in measures:
        found[f"mean{number}"] = _mean_rows(part, number)
        found[f"meanbounds{number}"] = _means(number)
        columns += ", m.least as mean_least, m.greatest as mean_greatest"
        joins += f" left join meanbounds{number} as m on m.grp = g.grp"
    if measures & {"min", "max"}:
        found[f"extremes{number}"] = _extremes(part, number)
        columns += "".join(f", e.{name}" for name in ENDS)
        joins += f" left join extremes{number} as e on e.grp = g.grp"
    groups = query("select distinct c.grp from cells as c")
    found[f"spans{number}"] = query(f"select g.grp{columns} from g{joins}", {"g": groups})
    return found


def fewest(part: ExactPart, number: int) -> exp.Select:
    """(cell, fewest): the fewest individuals who have as many records as surely match."""
    return query(
        "select c.cell, count(*) filter (where r.before < c.lo) as fewest"
        f" from cells as c join rows{number} as r on {part.same_group('c', 'r')} group by c.cell"
    )


def _taken(part: ExactPart, number: int, more: str = "") -> exp.Select:
    """(cell, grp, bucket, keys, low, high, a): how many of the `a` values of a cell match."""
    return query(
        f"select c.cell, c.grp, c.bucket{part.keyed('c')}, c.lo_c{number} as low,"
        f" c.hi_c{number} as high, c.hi_x{number} as a{more} from cells as c"
    )


def _smallest(taken: str) -> exp.Expr:
    """How many of the copies of a value are among the smallest values of its cell."""
    given = {"copies": "r.copies", "upto": "r.upto", "taken": taken}
    return call("ranked", **{name: fragment(text) for name, text in given.items()})


def _largest(taken: str) -> exp.Expr:
    given = {"copies": "r.copies", "upto": "c.a - r.upto + r.copies", "taken": taken}
    return call("ranked", **{name: fragment(text) for name, text in given.items()})


def _boxed(text: str, number: int) -> exp.Select:
    """Of cells, in which the numbers of a column are `#`."""
    return query(f"{text} from cells as c where c.xmin# is not null".replace("#", str(number)))


def _sums(part: BoxedPart | ExactPart, number: int, *, weighted: bool) -> exp.Select:
    """(cell, least, greatest): bounds of the sum over every cell, perhaps of values times weights.

    Of a generalized column: so many times the least value, and attained ones if all match.
    """
    if isinstance(part, BoxedPart):
        return _boxed(
            "select c.cell, c.xmin# * case when c.xmin# >= 0 then c.lo_c# else c.hi_c# end"
            " + case when c.lo_r# = c.n then c.more# else 0 end as least,"
            " c.xmax# * case when c.xmax# <= 0 then c.lo_c# else c.hi_c# end"
            " - case when c.lo_r# = c.n then c.less# else 0 end as greatest",
            number,
        )
    light, heavy = (
        f" * case when r.x {sign} 0 then c.w_hi else c.w_lo end" if weighted else ""
        for sign in "<>"
    )
    return query(
        f"select c.cell, sum(r.x{light} * :below) as least, sum(r.x{heavy} * :above) as greatest"
        f" from c join rows{number} as r on {part.same_group('c', 'r')} group by c.cell",
        {"c": _taken(part, number, ", c.w_lo, c.w_hi" if weighted else "")},
        below=_smallest("case when r.x < 0 then c.high else c.low end"),
        above=_largest("case when r.x > 0 then c.high else c.low end"),
    )


def _mean_rows(part: BoxedPart | ExactPart, number: int) -> exp.Select:
    """(grp, low, x, taken, free): values that a mean must have, and those that it may have.

    Rows with `low` are for the least mean, the others for the greatest.
    """
    if isinstance(part, BoxedPart):
        sides = (("true", "xmin", "c.more#"), ("false", "xmax", "- c.less#"))
        return stacked(
            [
                _boxed(
                    f"select c.grp, {low} as low, c.{x}# as x, sum(c.lo_c#) as taken,"
                    " sum(c.hi_c# - c.lo_c#) as free,"
                    f" sum(case when c.lo_r# = c.n then {more} else 0 end) as more",
                    number,
                ).group_by("c.grp", f"c.{x}{number}")
                for low, x, more in sides
            ]
        )
    return stacked(
        [
            query(
                f"select c.grp, {low} as low, r.x, sum(:must) as taken, sum(:may - :must) as free,"
                f" 0::numeric as more from c join rows{number} as r"
                f" on {part.same_group('c', 'r')} group by c.grp, r.x",
                {"c": _taken(part, number)},
                must=ranked("c.low"),
                may=ranked("c.high"),
            )
            for low, ranked in (("true", _smallest), ("false", _largest))
        ]
    )


def _means(number: int) -> exp.Select:
    """(grp, least, greatest): bounds of the mean of every group.

    Free values are taken as long as they lower the mean, from the least one on; a value does that
    if it is below the mean of those before it. So the least mean is one of the running means.
    """
    base = query(
        f"select a.grp, a.low, sum(a.x * a.taken + a.more) as total, sum(a.taken) as count"
        f" from mean{number} as a group by a.grp, a.low"
    )
    running = query(
        "select a.grp, a.low,"
        " (b.total + sum(a.x * a.free) over w) / nullif(b.count + sum(a.free) over w, 0) as mean,"
        " b.total / nullif(b.count, 0) as start"
        f" from mean{number} as a join b on b.grp = a.grp and b.low = a.low"
        " window w as (partition by a.grp, a.low order by case when a.low then a.x else - a.x end"
        " rows unbounded preceding)",
        {"b": base},
    )
    return query(
        "select r.grp,"
        " least(min(r.mean) filter (where r.low), min(r.start) filter (where r.low)) as least,"
        " greatest(max(r.mean) filter (where not r.low),"
        " max(r.start) filter (where not r.low)) as greatest from r group by r.grp",
        {"r": running},
    )


def _extremes(part: BoxedPart | ExactPart, number: int) -> exp.Select:
    """(grp, and :data:`ENDS`); NULL where no record with a value may, or need, match."""
    if isinstance(part, ExactPart):
        # Of `low` values that surely match the greatest is at least the one with that rank.
        return query(
            "select c.grp, min(r.x) as min_lower,"
            " min(r.x) filter (where c.a - r.upto < c.low) as min_upper,"
            " max(r.x) filter (where r.upto - r.copies < c.low) as max_lower, max(r.x) as max_upper"
            f" from c join rows{number} as r on {part.same_group('c', 'r')} group by c.grp",
            {"c": _taken(part, number)},
        )
    # Where all records match but for what the column says, attained values surely do.
    sure, all_match = "filter (where c.lo_c# > 0)", "filter (where c.lo_r# = c.n)"
    found = query(
        (
            "select c.grp, min(c.xmin#) as min_lower,"
            f" least(min(c.xmax#) {sure}, min(c.emin#) {all_match}) as min_upper,"
            f" greatest(max(c.xmin#) {sure}, max(c.emax#) {all_match}) as max_lower,"
            " max(c.xmax#) as max_upper from cells as c where c.hi_c# > 0 group by c.grp"
        ).replace("#", str(number))
    )
    column, numbered = part.fitted.column, steps(part.fitted.column)
    if not column.is_time:
        return found
    assert numbered is not None
    tree = query("select e.grp from e", {"e": found})
    for name in ENDS:
        value = fragment(numbered.value, p=cast(col(name, "e"), "bigint"))
        tree = tree.select(named(typed(column, value), name))
    return tree
