"""Cells that are in several classes, and which of their records are in which.

    labels    (block, first, labels, cells, before, records)   runs of the records of cells in their
              random order, cells numbered in the block: `before` others, then as many `records`
    classes   (gid, codes, unit, before, w)   the same; gid: NULL for records that are left out
    runs      (gid, codes, unit, before, w, part)   parts of a divided cell are numbered from 1, by
              class; a cell that is in one class has part 0
    grouped   (gid, codes, part) | (gid, codes, rid)
    dealt     the records of divided cells, each with its part

Only the records of divided cells are put in their random order. It alone decides which of them are
in which part.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.combination import COMBINATION, combination, combined
from pganon.encode.records import NUMBER
from pganon.encode.work import CODED, codes_of
from pganon.forms.work import DEALT, GROUPED
from pganon.methods.classes.one_dimensional.equal import one_of_equal
from pganon.methods.classes.one_dimensional.line import LINE, Line
from pganon.methods.common.pairs import paired
from pganon.sqltools import aliased, col, equal, named, query, stacked
from pganon.steps import State, Step, table

OF_RUNS = ("cells", "before", "records")
"""Columns of the runs of a block, beside their labels: arrays."""

_RUNS, _PARTS = "runs", "parts"


def runs_in_classes(line: Line, state: State, labels: str) -> exp.Select:
    """(gid, codes, unit, before, w) of every run. Args: labels: the result of the search."""
    runs = query(
        "select t.block, t.first + x.cell as unit, x.label, x.before, x.records from t"
        " cross join lateral unnest(t.labels, t.cells, t.before, t.records)"
        " as x(label, cell, before, records)",
        {"t": state.work(labels)},
    )
    tree = query(
        "select case when x.label >= 0 then :gid end as gid, x.unit, x.before, x.records as w"
        " from x join l on l.unit = x.unit",
        {"x": runs, "l": state.work(LINE)},
        gid=paired(col("block", "x"), col("label", "x")),
    )
    return tree.select(*[col(name, "l") for name in codes_of(line.spec)])


def dealt_steps(line: Line, classes: str) -> list[Step]:
    """From the runs of classes to :data:`~pganon.forms.work.GROUPED`.

    Args:
        classes: work table of the runs.
    """
    runs = table(
        _RUNS,
        "classes that show the same are one, and parts of cells that are in several",
        lambda s: _runs(line, s, classes),
    )
    parts = GROUPED.name
    records = table(
        DEALT,
        "the records of divided cells",
        lambda s: _dealt(line, s, CODED.columns(line.spec, s)),
    )
    if line.spec.numbers_records:
        parts = _PARTS
        records = table(GROUPED, "the records of all classes", lambda s: _numbered(line, s))
    return [
        runs,
        table(parts, "the cells of classes, or parts of them", lambda s: _parts(line, s)),
        records,
    ]


def _runs(line: Line, state: State, classes: str) -> exp.Select:
    return query(
        "select r.*, case when count(r.gid) over w = 0 or (count(r.gid) over w = count(*) over w"
        " and min(r.gid) over w = max(r.gid) over w) then 0"
        " else dense_rank() over (partition by r.unit order by r.gid) end::integer as part"
        " from r window w as (partition by r.unit)",
        {"r": one_of_equal(line, state, state.work(classes))},
    )


def _parts(line: Line, state: State) -> exp.Select:
    columns = [col(name, "r") for name in ("gid", *codes_of(line.spec), "part")]
    tree = query("select 1 from r where r.gid is not null", {"r": state.work(_RUNS)})
    return tree.select(*columns, append=False).group_by(*[column.copy() for column in columns])


def _dealt(line: Line, state: State, names: Sequence[str]) -> exp.Select:
    """(names.., part) of the records of divided cells, by their places in the random order."""
    codes = codes_of(line.spec)
    runs = query("select r.* from r where r.part > 0", {"r": state.work(_RUNS)})
    divided = query("select distinct r.unit from r", {"r": runs}).select(
        *[col(name, "r") for name in codes]
    )
    keys = codes
    if combined(line.spec, state):
        keys = [COMBINATION]
        number = combination(line.spec, state, lambda a: col(f"c{a.index}", "d"))
        divided = query("select d.unit from d", {"d": divided}).select(named(number, COMBINATION))
    placed = query(
        "select r.*, d.unit,"
        " row_number() over (partition by d.unit order by :draw) as place from r",
        {"r": line.records(state)},
        draw=col(line.draw, "r"),
    ).join(aliased(divided, "d"), on=equal(keys, "d", "r"))
    places = query(
        "select r.unit, r.part, r.before + generate_series(1, r.w) as place from r",
        {"r": runs.copy()},
    )
    return query(
        "select q.part from p join q on q.unit = p.unit and q.place = p.place",
        {"p": placed, "q": places},
    ).select(*[col(name, "p") for name in names])


def _numbered(line: Line, state: State) -> exp.Select:
    """(gid, codes, rid) of every record in a class, where records have numbers."""
    codes = codes_of(line.spec)
    names = [*codes, NUMBER]
    every = query("select 0 as part from r", {"r": line.records(state)})
    both = stacked([every.select(*[col(name, "r") for name in names]), _dealt(line, state, names)])
    tree = query("select g.gid, r.rid from g", {"g": state.work(_PARTS)})
    tree = tree.join(aliased(both, "r"), on=equal([*codes, "part"], "g", "r"))
    return tree.select(*[col(name, "g") for name in codes])
