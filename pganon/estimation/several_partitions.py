"""Queries about several partitions of the records: rows of the QIT, and what their buckets allow.

Every row has a bucket in each partition. What buckets allow of a row is independent between
partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from sqlglot import exp

from pganon.estimation import bounds
from pganon.estimation.cells import Query, grouped, table, with_all
from pganon.estimation.lines import as_numeric
from pganon.estimation.parts import ExactPart
from pganon.estimation.question import Formula, Joined, Key, Leaf, Question, parts_of
from pganon.estimation.release import AskedRelease, Part, Published
from pganon.sqltools import col, fragment, named, num, query

# Tables with buckets of their own: which partition of the records the parts of a query are in.
#
# A row of the quasi-identifier table (QIT) is a record, in a bucket of every partition. Its exact
# columns are known together with any of them.


@dataclass(frozen=True)
class Side:
    """What a query is about in one partition.

    Attributes:
        number: from 1, in names.
        link: the column of the QIT with its buckets.
        keys: the numbers that its keys have in the whole query.
    """

    number: int
    link: str
    question: Question
    keys: tuple[int, ...]


@dataclass(frozen=True)
class Split:
    """A query about several partitions.

    Attributes:
        rows: a part of which the view has a row for every record; its columns are exact.
        condition: on these.
    """

    question: Question
    rows: Part
    condition: Leaf | None
    sides: tuple[Side, ...]

    def side_of(self, column: Published) -> Side | None:
        """Where a column is; None of those of the QIT."""
        return next(
            (side for side in self.sides if column in side.question.release.columns.values()), None
        )


def split(question: Question) -> Question | Split:
    """The query in its one partition, or in several."""
    release = question.release
    if not release.links:
        return question
    found = [link for link in links_of(release, question.parts) if link is not None]
    if len(found) < 2:
        return _placed(question, found[0]) if found else question
    inside: dict[str, list[Formula]] = {link: [] for link in found}
    condition = None
    for formula in question.conditions:
        (link,) = links_of(release, parts_of([formula]))
        if link is not None:
            inside[link].append(formula)
        else:
            assert isinstance(formula, Leaf)
            condition = formula
    sides: list[Side] = []
    for link, formulas in inside.items():
        columns = {n: c for n, c in release.columns.items() if _link(release, c.part) == link}
        keys = [i for i, key in enumerate(question.keys) if _link(release, key.part) == link]
        home = next((c.part for c in columns.values()), parts_of(formulas)[0] if formulas else None)
        assert home is not None
        own = Question(
            replace(release, home=home, columns=columns, links={}),
            tuple(question.keys[i] for i in keys),
            tuple(a for a in question.aggregates if a.column in columns.values()),
            tuple(formulas),
        )
        sides.append(Side(len(sides) + 1, link, own, tuple(keys)))
    if condition is not None:
        rows = condition.part
    else:
        parts = [column.part for column in release.columns.values()]
        exact = [part for part in parts if part.exact and part.view == release.home.view]
        rows = exact[0] if exact else replace(release.home, name="rows", exact=True)
    return Split(question, rows, condition, tuple(sides))


def links_of(release: AskedRelease, parts: Iterable[Part]) -> dict[str | None, None]:
    """The columns of the QIT with the buckets of parts, in order; None of its own exact columns."""
    return dict.fromkeys(_link(release, part) for part in parts if release.links)


def _link(release: AskedRelease, part: Part) -> str | None:
    if part.view != release.home.view:
        # A further QIT has the buckets of a column of the last one that is named as its own.
        return release.links.get(part.name, part.bucket)
    return None if part.exact else part.bucket


def _placed(question: Question, link: str) -> Question:
    """The query with exact columns of the QIT in the buckets of a partition."""
    release = question.release

    def moved(part: Part) -> Part:
        return part if _link(release, part) is not None else replace(part, bucket=link)

    def formula(given: Formula) -> Formula:
        if isinstance(given, Leaf):
            return replace(given, part=moved(given.part))
        assert isinstance(given, Joined)
        return Joined(given.every, tuple(map(formula, given.items)))

    columns = {n: replace(c, part=moved(c.part)) for n, c in release.columns.items()}
    home = replace(release.home, bucket=link)
    return Question(
        replace(release, home=home, columns=columns, links={}),
        tuple(Key(moved(key.part), key.expression) for key in question.keys),
        tuple(
            a if a.column is None else replace(a, column=columns[a.column.name])
            for a in question.aggregates
        ),
        tuple(map(formula, question.conditions)),
    )


COUNTED = ("lo_c", "hi_c", "p_c", "p2_c")
SUMMED = ("p_r", "p2_r", "p_x", "u", "e2", "v0", "v1", "v2")


@dataclass(frozen=True)
class Partitioned(Query):
    """A query about several partitions, ready to be written.

    Attributes:
        rows: the exact columns of the QIT.
        sides: by their numbers, each with its part of the query.
    """

    split: Split
    rows: ExactPart
    sides: Mapping[int, Query]

    def place(self, number: int) -> tuple[int, int] | None:
        """The side of a measured column, and its number there; None of exact ones of the QIT."""
        side = self.split.side_of(self.measured[number])
        if side is None:
            return None
        own = self.sides[side.number].measured
        return side.number, next(i for i, c in own.items() if c == self.measured[number])


def rows(asked: Partitioned) -> exp.Select:
    """(grp, keys, m, and of every side bucket b, cell, n, lo, hi, p, p2): rows of equal buckets.

    `m` is how many records they are. Names of columns of a side end in its number. Columns of the
    QIT add `m<i>`, how many have a value, and sums `sx<i>`, `sxx<i>` of these and their squares.
    """
    tree = query("select r.* from r", {"r": _own_rows(asked)})
    for side in asked.split.sides:
        alias = f"s{side.number}"
        on = fragment(f"{alias}.bucket = r.b{side.number}")
        tree = tree.join(table(f"side{side.number}", alias), on=on)
        names = ["cell", "n", "lo", "hi", "p", "p2"]
        for number in asked.measured:
            place = asked.place(number)
            if place is not None and place[0] == side.number:
                adds = asked.measures(number) & {"sum", "avg"}
                names += [f"{name}{place[1]}" for name in (*COUNTED, *(SUMMED if adds else ()))]
        tree = tree.select(
            *[named(col(f"k{i}", alias), f"k{number}") for i, number in enumerate(side.keys)],
            *[named(col(name, alias), f"{name}_{side.number}") for name in names],
        )
    keys = [f"k{number}" for number in range(len(asked.question.keys))]
    return query("select i.* from i", {"i": tree}).select(grouped(keys, "i"))


def _own_rows(asked: Partitioned) -> exp.Select:
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
        given = {"w": part.weight, "x": part.value(column.name)}
        some = "coalesce(sum(:w) filter (where :x is not null), 0)::bigint"
        tree = tree.select(named(fragment(some, **given), f"m{number}"))
        if asked.measures(number) & {"sum", "avg"}:
            given["x"] = as_numeric(column, given["x"])
            for power, name in ((1, "sx"), (2, "sxx")):
                added = f"coalesce(sum(:w * :x::float8 ^ {power}), 0)::float8"
                tree = tree.select(named(fragment(added, **given), f"{name}{number}"))
    return tree.group_by(*places)


def within(asked: Partitioned, number: int, counted: int | None = None) -> exp.Select:
    """(grp, cell, bucket, n, fewest, most, lo, hi): what buckets of a side have of a group.

    Of the records of a bucket that are in its rows, `fewest` to `most` match what other sides say,
    and `lo` to `hi` match all.

    Args:
        number: of the side.
        counted: a measured column, of which only records with a value count.
    """
    m, ends = "r.m", {side: (f"r.lo_{side}", f"r.hi_{side}") for side in asked.sides}
    if counted is not None:
        place = asked.place(counted)
        if place is None:
            m = f"r.m{counted}"
        else:
            side, own = place
            ends[side] = f"r.lo_c{own}_{side}", f"r.hi_c{own}_{side}"
    low, high = ends[number]
    own = query(
        f"select r.grp, r.cell_{number} as cell, min(r.b{number}) as bucket,"
        f" sum({m})::bigint as m, min(r.n_{number}) as n, min({low}) as lo, min({high}) as hi"
        f" from rows as r group by r.grp, r.cell_{number}"
    )
    most, least, joins = ["o.m"], ["o.m"], ""
    tables = {"o": own}
    for other in asked.sides:
        if other != number:
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


def counted(asked: Partitioned, suffix: str) -> exp.Select:
    """(grp, lo, hi): the best bounds of a count that the buckets of a side give."""
    tables = {
        f"w{number}": query(
            f"select w.grp, sum(w.lo)::bigint as lo_{suffix}, sum(w.hi)::bigint as hi_{suffix}"
            f" from within{number}_{suffix} as w group by w.grp"
        )
        for number in asked.sides
    }
    return _best(tables, {f"lo_{suffix}": "greatest", f"hi_{suffix}": "least"})


def _best(tables: Mapping[str, exp.Select], columns: Mapping[str, str]) -> exp.Select:
    first, *others = tables
    found = ", ".join(
        f"{best}({', '.join(f'{name}.{column}' for name in tables)}) as {column}"
        for column, best in columns.items()
    )
    joins = "".join(f" join {name} on {name}.grp = {first}.grp" for name in others)
    return query(f"select {first}.grp, {found} from {first}{joins}", tables)


def spans(asked: Partitioned, number: int) -> exp.Select:
    """(grp, least, greatest, mean_least, mean_greatest, ...): bounds of a measured column.

    Of one of the QIT, the best that any side gives.
    """
    measures = asked.measures(number)
    place = asked.place(number)
    if place is not None:
        side, own = place
        sides = {"s": (asked.sides[side], own, _side_cells(asked, side, own))}
    else:
        sides = {}
        for side in asked.split.sides:
            part = replace(asked.rows, part=replace(asked.rows.part, bucket=side.link))
            moved = replace(asked.measured[number], part=part.part)
            one = Query(asked.question, {part.part: part}, {number: moved})
            sides[f"s{side.number}"] = one, number, _row_cells(asked, part, side.number, number)
    found: dict[str, exp.Select] = {}
    for name, (one, own, cells) in sides.items():
        inner = bounds.spans(one, own, measures)
        first = {key: inner[key] for key in inner if key == f"rows{own}"}
        tree = query(f"select s.* from spans{own} as s")
        found[name] = with_all(tree, {**first, "cells": cells, **inner})
    ends = ["least", "greatest"] if measures & {"sum", "avg"} else []
    ends += ["mean_least", "mean_greatest"] if "avg" in measures else []
    ends += bounds.ENDS if measures & {"min", "max"} else []
    lower = ("least", "lower")
    return _best(found, {end: "greatest" if end.endswith(lower) else "least" for end in ends})


def _side_cells(asked: Partitioned, side: int, own: int) -> exp.Select:
    """Cells as those of one partition: other sides are conditions on other columns."""
    part = asked.sides[side].part_of(own)
    names = [f"lo_x{own}", f"hi_x{own}"]
    if not isinstance(part, ExactPart) and part.measured:
        names += [f"{name}{own}" for name in ("xmin", "xmax", "emin", "emax", "more", "less")]
    names += [f"k{number}" for number in range(len(asked.sides[side].question.keys))]
    inner = query(
        "select row_number() over () as cell, w.grp, w.bucket, w.n,"
        f" greatest(0, c.lo_r{own} + w.fewest - w.n) as lo_r{own},"
        f" least(c.hi_r{own}, w.most) as hi_r{own}, {', '.join(f'c.{name}' for name in names)}"
        f" from within{side}_n as w join side{side} as c on c.cell = w.cell"
    )
    return query(
        f"select i.*, greatest(0, i.lo_r{own} + i.lo_x{own} - i.n) as lo_c{own},"
        f" least(i.hi_r{own}, i.hi_x{own}) as hi_c{own} from i",
        {"i": inner},
    )


def _row_cells(asked: Partitioned, part: ExactPart, side: int, number: int) -> exp.Select:
    """Cells of the exact columns of the QIT, of which so many records match in every bucket."""
    keys = part.keyed("g")
    every = query(
        f"select g.bucket, max(g.upto) as a{keys} from rows{number} as g group by g.bucket{keys}"
    )
    same = ["e.bucket = w.bucket"]
    same += [f"e.{name} is not distinct from g.{name}" for name in part.key_names]
    return query(
        f"select row_number() over () as cell, w.grp, w.bucket{keys},"
        f" w.lo as lo_c{number}, w.hi as hi_c{number}, e.a as hi_x{number}"
        f" from within{side}_count{number} as w join g on g.grp = w.grp"
        f" join e on {' and '.join(same)}",
        {"g": query(f"select distinct r.grp{part.keyed('r')} from rows as r"), "e": every},
    )
