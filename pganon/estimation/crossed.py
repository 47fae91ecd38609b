"""Queries about several partitions of the records: rows of the QIT, and what their buckets allow.

Every row has a bucket in each partition. What buckets allow of a row is independent between
partitions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation import bounds
from pganon.estimation.cells import Query, table
from pganon.estimation.exactly import ExactPart
from pganon.estimation.extremes import ENDS, extremes
from pganon.estimation.partitions import Side, Split
from pganon.estimation.release import Published
from pganon.estimation.values import as_numeric
from pganon.sqltools import cast, col, finished, fragment, named, num, query

COUNTED = ("lo_c", "hi_c", "p_c", "p2_c")
SUMMED = ("p_r", "p2_r", "p_x", "u", "e2", "v0", "v1", "v2")


@dataclass(frozen=True)
class Crossed:
    """A query about several partitions, ready to be written.

    Attributes:
        rows: the exact columns of the QIT.
        sides: by their numbers, each with its part of the query.
        measured: columns that are counted, added up or averaged, by their numbers.
    """

    split: Split
    rows: ExactPart
    sides: Mapping[int, Query]
    measured: Mapping[int, Published]

    @property
    def key_names(self) -> list[str]:
        return [f"k{number}" for number in range(len(self.split.question.keys))]

    @property
    def numbers(self) -> list[int]:
        return list(self.sides)

    def place(self, number: int) -> tuple[int, int] | None:
        """The side of a measured column, and its number there; None of exact ones of the QIT."""
        side = self.split.side_of(self.measured[number])
        if side is None:
            return None
        own = self.sides[side.number].measured
        return side.number, next(i for i, c in own.items() if c == self.measured[number])

    def measures(self, number: int) -> set[str]:
        aggregates = self.split.question.aggregates
        return {a.measure for a in aggregates if a.column == self.measured[number]}

    def adds(self, number: int) -> bool:
        return bool(self.measures(number) & {"sum", "avg"})


def rows(asked: Crossed) -> exp.Select:
    """(grp, keys, m, and of every side bucket b, cell, n, lo, hi, p, p2): rows of equal buckets.

    `m` is how many records they are. Names of columns of a side end in its number. Columns of the
    QIT add `m<i>`, how many have a value, and sums `sx<i>`, `sxx<i>` of these and their squares.
    """
    tree = query("select r.* from r", {"r": _own_rows(asked)})
    for side in asked.split.sides:
        alias = f"s{side.number}"
        on = fragment(f"{alias}.bucket = r.b{side.number}")
        tree = tree.join(table(f"side{side.number}", alias), on=on)
        tree = tree.select(*_side_columns(asked, side, alias))
    group: exp.Expr = num(1)
    if asked.key_names:
        order = [exp.Ordered(this=col(name, "i"), nulls_first=False) for name in asked.key_names]
        group = exp.Window(
            this=exp.Anonymous(this="dense_rank"), order=exp.Order(expressions=order)
        )
    return query("select i.* from i", {"i": tree}).select(named(cast(group, "bigint"), "grp"))


def _own_rows(asked: Crossed) -> exp.Select:
    part = asked.rows
    tree = query(
        "select sum(:w)::bigint as m from t where :m",
        {"t": part.part.rows},
        w=part.weight,
        m=part.matching,
    )
    buckets = [named(col(side.link, "t"), f"b{side.number}") for side in asked.split.sides]
    tree = tree.select(*buckets, *part.key_columns)
    places = [num(place) for place in range(2, 2 + len(buckets) + len(part.keys))]
    for number, column in part.measured.items():
        some = fragment(
            "coalesce(sum(:w) filter (where :x is not null), 0)::bigint",
            w=part.weight,
            x=part.value(column.name),
        )
        tree = tree.select(named(some, f"m{number}"))
        if asked.adds(number):
            x = as_numeric(column, part.value(column.name))
            for power, name in ((1, "sx"), (2, "sxx")):
                added = fragment(
                    f"coalesce(sum(:w * :x::float8 ^ {power}), 0)::float8",
                    w=part.weight,
                    x=x.copy(),
                )
                tree = tree.select(named(added, f"{name}{number}"))
    return tree.group_by(*places)


def _side_columns(asked: Crossed, side: Side, alias: str) -> list[exp.Expr]:
    found = [named(col(f"k{i}", alias), f"k{number}") for i, number in enumerate(side.keys)]
    names = ["cell", "n", "lo", "hi", "p", "p2"]
    for number in asked.measured:
        place = asked.place(number)
        if place is not None and place[0] == side.number:
            kinds = (*COUNTED, *(SUMMED if asked.adds(number) else ()))
            names += [f"{name}{place[1]}" for name in kinds]
    return [*found, *[named(col(name, alias), f"{name}_{side.number}") for name in names]]


# -- bounds of counts ---------------------------------------------------------------------------


def within(asked: Crossed, number: int, counted: int | None = None) -> exp.Select:
    """(grp, cell, bucket, n, fewest, most, lo, hi): what buckets of a side have of a group.

    Of the records of a bucket that are in its rows, `fewest` to `most` match what other sides say,
    and `lo` to `hi` match all.

    Args:
        number: of the side.
        counted: a measured column, of which only records with a value count.
    """
    m, ends = _counted(asked, counted)
    low, high = ends[number]
    own = query(
        f"select r.grp, r.cell_{number} as cell, min(r.b{number}) as bucket,"
        f" sum({m})::bigint as m, min(r.n_{number}) as n, min({low}) as lo, min({high}) as hi"
        f" from rows as r group by r.grp, r.cell_{number}"
    )
    most, least, joins = ["o.m"], ["o.m"], ""
    tables = {"o": own}
    for other in asked.numbers:
        if other == number:
            continue
        tables[f"j{other}"] = _shared(number, other, m, ends[other])
        joins += f" join j{other} on j{other}.grp = o.grp and j{other}.cell = o.cell"
        most.append(f"j{other}.most")
        least.append(f"(o.m - j{other}.least)")
    inner = query(
        "select o.grp, o.cell, o.bucket, o.n, o.lo, o.hi,"
        f" greatest(0, {' - '.join(least)}) as fewest, least({', '.join(most)}) as most"
        f" from o{joins}",
        tables,
    )
    return query(
        "select i.grp, i.cell, i.bucket, i.n, i.fewest, i.most,"
        " greatest(0, i.lo + i.fewest - i.n) as lo, least(i.hi, i.most) as hi from i",
        {"i": inner},
    )


def _counted(asked: Crossed, counted: int | None) -> tuple[str, dict[int, tuple[str, str]]]:
    """How many records rows are, and the least and most of a bucket that match, of every side."""
    ends = {number: (f"r.lo_{number}", f"r.hi_{number}") for number in asked.numbers}
    if counted is None:
        return "r.m", ends
    place = asked.place(counted)
    if place is None:
        return f"r.m{counted}", ends
    side, own = place
    ends[side] = (f"r.lo_c{own}_{side}", f"r.hi_c{own}_{side}")
    return "r.m", ends


def _shared(number: int, other: int, m: str, ends: tuple[str, str]) -> exp.Select:
    """(grp, cell, most, least): records of a bucket that match what another side says."""
    low, high = ends
    both = query(
        f"select r.grp, r.cell_{number} as cell, sum({m})::bigint as m,"
        f" min({low}) as lo, min({high}) as hi, min(r.n_{other}) as n"
        f" from rows as r group by r.grp, r.cell_{number}, r.cell_{other}"
    )
    return query(
        "select b.grp, b.cell, sum(least(b.m, b.hi))::bigint as most,"
        " sum(greatest(0, b.m - (b.n - b.lo)))::bigint as least from b group by b.grp, b.cell",
        {"b": both},
    )


def counted(asked: Crossed, suffix: str) -> exp.Select:
    """(grp, lo, hi): the best bounds of a count that the buckets of a side give."""
    tables = {
        f"w{number}": query(
            "select w.grp, sum(w.lo)::bigint as lo, sum(w.hi)::bigint as hi"
            f" from within{number}{suffix} as w group by w.grp"
        )
        for number in asked.numbers
    }
    return _best(tables, {"lo": "greatest", "hi": "least"})


def _best(tables: Mapping[str, exp.Select], columns: Mapping[str, str]) -> exp.Select:
    first, *others = tables
    found = ", ".join(
        f"{best}({', '.join(f'{name}.{column}' for name in tables)}) as {column}"
        for column, best in columns.items()
    )
    joins = "".join(f" join {name} on {name}.grp = {first}.grp" for name in others)
    return query(f"select {first}.grp, {found} from {first}{joins}", tables)


# -- bounds of values ---------------------------------------------------------------------------

_SPANS = {
    "least": "greatest",
    "greatest": "least",
    "mean_least": "greatest",
    "mean_greatest": "least",
}
_EXTREMES = {
    "min_lower": "greatest",
    "min_upper": "least",
    "max_lower": "greatest",
    "max_upper": "least",
}


def spans(asked: Crossed, number: int) -> exp.Select:
    """(grp, least, greatest, mean_least, mean_greatest, ...): bounds of a measured column."""
    place = asked.place(number)
    wanted = (_SPANS if asked.adds(number) else {}) | (
        _EXTREMES if asked.measures(number) & {"min", "max"} else {}
    )
    if place is not None:
        side, own = place
        found = {"s": _spans(asked.sides[side], own, _side_cells(asked, side, own), asked, number)}
        return _best(found, wanted)
    found = {}
    for side in asked.split.sides:
        part = asked.rows.in_buckets(side.link)
        moved = replace(asked.measured[number], part=part.part)
        one = Query(asked.split.question, {part.part: part}, {number: moved})
        cells = _row_cells(asked, part, side.number, number)
        found[f"s{side.number}"] = _spans(one, number, cells, asked, number)
    return _best(found, wanted)


def _side_cells(asked: Crossed, side: int, own: int) -> exp.Select:
    """Cells as those of one partition: other sides are conditions on other columns."""
    query_of = asked.sides[side]
    kept = [f"xmin{own}", f"xmax{own}", f"emin{own}", f"emax{own}", f"more{own}", f"less{own}"]
    boxed = query_of.part_of(own)
    names = [*query_of.key_names, f"lo_x{own}", f"hi_x{own}"]
    if not isinstance(boxed, ExactPart) and boxed.measured:
        names += kept
    inner = query(
        "select row_number() over () as cell, w.grp, w.bucket, w.n,"
        f" greatest(0, c.lo_r{own} + w.fewest - w.n) as lo_r{own},"
        f" least(c.hi_r{own}, w.most) as hi_r{own}"
        f" from within{side} as w join side{side} as c on c.cell = w.cell"
    ).select(*[col(name, "c") for name in names])
    return query(
        f"select i.*, greatest(0, i.lo_r{own} + i.lo_x{own} - i.n) as lo_c{own},"
        f" least(i.hi_r{own}, i.hi_x{own}) as hi_c{own} from i",
        {"i": inner},
    )


def _row_cells(asked: Crossed, part: ExactPart, side: int, number: int) -> exp.Select:
    """Cells of the exact columns of the QIT, of which so many records match in every bucket."""
    keys = "".join(f", g.{name}" for name in part.key_names)
    every = query(
        f"select g.bucket, max(g.upto) as a{keys} from rows{number} as g group by g.bucket{keys}"
    )
    groups = query("select r.grp from rows as r").select(
        *[col(name, "r") for name in part.key_names]
    )
    same = " and ".join(
        ["e.bucket = w.bucket", *[f"e.{n} is not distinct from g.{n}" for n in part.key_names]]
    )
    names = "".join(f", g.{name}" for name in part.key_names)
    return query(
        f"select row_number() over () as cell, w.grp, w.bucket{names},"
        f" w.lo as lo_c{number}, w.hi as hi_c{number}, e.a as hi_x{number}"
        f" from within{side}_c{number} as w join g on g.grp = w.grp join e on {same}",
        {"g": groups.distinct(), "e": every},
    )


def _spans(query_of: Query, own: int, cells: exp.Select, asked: Crossed, number: int) -> exp.Select:
    """Bounds of a measured column over given cells."""
    part = query_of.part_of(own)
    found: dict[str, exp.Select] = {}
    if isinstance(part, ExactPart):
        found[f"rows{own}"] = part.rows(own)
    found["cells"] = cells
    groups = "select g.grp from g"
    tables: dict[str, exp.Select] = {"g": query("select distinct c.grp from cells as c")}
    tree = query(groups, tables)
    if asked.adds(number):
        found[f"bounds{own}"] = bounds.sum_bounds(query_of, own)
        found[f"mean{own}"] = bounds.average_rows(query_of, own)
        found["means"] = bounds.average_bounds(own)
        sums = query(
            "select c.grp, coalesce(sum(b.least), 0) as least,"
            " coalesce(sum(b.greatest), 0) as greatest"
            f" from cells as c left join bounds{own} as b on b.cell = c.cell group by c.grp"
        )
        found["sums"] = sums
        tree = tree.join(table("sums", "s"), on=fragment("s.grp = g.grp"))
        tree = tree.join(table("means", "m"), on=fragment("m.grp = g.grp"), join_type="left")
        tree = tree.select(
            "s.least",
            "s.greatest",
            named(col("least", "m"), "mean_least"),
            named(col("greatest", "m"), "mean_greatest"),
        )
    if asked.measures(number) & {"min", "max"}:
        found["extremes"] = extremes(query_of, own)
        tree = tree.join(table("extremes", "e"), on=fragment("e.grp = g.grp"), join_type="left")
        tree = tree.select(*[col(name, "e") for name in ENDS])
    return with_all(tree, found)


def with_all(tree: exp.Select, found: Mapping[str, exp.Select]) -> exp.Select:
    """A SELECT over common table expressions, in order."""
    for name, part in found.items():
        tree = tree.with_(
            exp.to_identifier(name, quoted=True), as_=finished(part), materialized=True, copy=False
        )
    return tree
