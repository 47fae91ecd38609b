"""How many people of a cell do have a value: what the owner counts, and no reader sees.

People whom the version releases have their values among its records. Of the others a cell keeps
what it had before, less the parts of it that are there: known if only one part is not there.

    standings  (id, col, ..)            what is known of a column of a cell; see below
    present    (id, col, value, own)    of parts that are released and must be counted
    same       (cell, value, own)       of the parts of a cell so far that are there, unchanged
"""

from __future__ import annotations

from sqlglot import exp

from pganon.guard import work
from pganon.guard.keys import keys, published
from pganon.guard.model import Memory, Version
from pganon.sqltools import col, fragment, num, query, stacked
from pganon.steps import CreateTable, State, Step


def standings_step(version: Version) -> Step:
    return CreateTable(
        "guard standings",
        "which columns are published for the people of a cell",
        lambda s: version.work(s, "standings"),
        lambda s: _standings(version, s),
        alone=True,
    )


def own_steps(version: Version) -> tuple[Step, ...]:
    """After the standings, the table of people, their own values and the keys of values."""
    steps: list[Step] = [
        CreateTable(
            "guard present",
            "own values of people in divided cells",
            lambda s: version.work(s, "present"),
            lambda s: _present(version, s),
            alone=True,
        ),
    ]
    if version.memory is not None:
        steps.append(
            CreateTable(
                "guard same",
                "own values of the parts of a cell that are there",
                lambda s: version.work(s, "same"),
                lambda s: _same(version, s),
                alone=True,
            )
        )
    return tuple(steps)


def _standings(version: Version, state: State) -> exp.Select:
    """SELECT a row per cell and column that was or is published for its people.

    before, now: whether it was, whether it is; same: both, and unchanged; alone: whether the cell
    is a whole group of the column; gone: parts of the cell so far that are not the same; mixed:
    whether people of the cell so far changed; counted: whether own values are to be counted, or
    are those of a whole group; past: whether values that the people had earlier were published.
    """
    each = query(
        "select c.id, c.cell, c.grp, c.size, c.whole, c.divided, c.known, c.old_floor, j.col,"
        " l.link, coalesce(c.changed[j.col], false) as changed,"
        " c.old_peak[j.col] is not null as before, l.link is not null as now,"
        " c.past[j.col] as past, c.old_past_own[j.col] as old_past_own"
        " from c cross join generate_series(1, :columns) as j(col)"
        " left join l on l.grp = c.grp and l.col = j.col",
        {"c": version.work(state, "cells"), "l": state.work(work.links(version.part))},
        columns=num(len(version.columns)),
    )
    known = query(
        "select e.*, e.before and e.now and not e.changed as same,"
        " e.now and :exact and count(*) over (partition by e.col, e.link) = 1 as alone,"
        " :gone as gone, :mixed as mixed from e where e.before or e.now or e.past is not null",
        {"e": each},
        exact=exact_columns(version, "e"),
        gone=fragment(_GONE if version.memory else "0::bigint"),
        mixed=fragment(_MIXED if version.memory else "false"),
    )
    return query(
        "select k.*, k.now and (k.alone or k.divided or not k.same) as counted from k",
        {"k": known},
    )


_GONE = """
    count(*) filter (where e.before and (e.changed or not e.now))
        over (partition by e.cell, e.col)
"""
_MIXED = "bool_or(e.changed) over (partition by e.cell, e.col)"
"""Of a first version nothing was before: all its rows are of one cell, and sorting them by that
would take as long as all else."""


def exact_columns(version: Version, table: str) -> exp.Expr:
    """SQL condition: the histograms of the column `col` of a table are no mere bounds."""
    bounded = [num(version.columns.index(name) + 1) for name in sorted(version.bounded)]
    if not bounded:
        return exp.true()
    return exp.paren(exp.not_(exp.In(this=col("col", table), expressions=bounded)))


def counted_people(version: Version, state: State, number: int) -> exp.Select:
    """SELECT person: whose own values of a column must be counted one by one."""
    return query(
        "select p.person from p join s on s.id = p.cell"
        " where s.col = :col and s.counted and not s.alone",
        {"p": version.staged(state, "person"), "s": version.work(state, "standings")},
        col=num(number),
    )


def _present(version: Version, state: State) -> exp.Select:
    standings = version.work(state, "standings")
    values = query(
        "select o.person, o.col, k.key as value from o"
        " join k on k.col = o.col and k.value = o.value",
        {"o": state.work(work.own(version.part)), "k": keys(version, state)},
    )
    among = query(
        "select s.id, s.col, o.value, count(*)::integer as own"
        " from o join p on p.person = o.person join s on s.id = p.cell and s.col = o.col"
        " where s.counted and not s.alone group by 1, 2, 3",
        {"o": values, "p": version.staged(state, "person"), "s": standings},
    )
    alone = query(
        "select s.id, s.col, h.value, h.n as own from s join h on h.link = s.link and h.col = s.col"
        " where s.alone",
        {"s": standings, "h": published(version, state)},
    )
    return stacked([among, alone])


def _same(version: Version, state: State) -> exp.Select:
    """Of cells of which one part is not the same."""
    return query(
        "select s.cell, n.value, sum(n.own)::integer as own from n"
        " join s on s.id = n.id and s.col = n.col where s.same and s.gone = 1 group by 1, 2",
        {"s": version.work(state, "standings"), "n": version.work(state, "present")},
    )


def counted(version: Version, state: State) -> exp.Select:
    """SELECT counted, value, own: of cells, and by :func:`left` of what cells so far have there."""
    present = query(
        "select n.id as counted, n.value, n.own from n", {"n": version.work(state, "present")}
    )
    if version.memory is None:
        return present
    same = query(
        "select :left as counted, t.value, t.own from t",
        {"t": version.work(state, "same")},
        left=left(fragment("t.cell")),
    )
    return stacked([present, same])


def left(cell: exp.Expr) -> exp.Expr:
    """SQL: a negative number that stands for a cell so far, of which people are not there."""
    return fragment("-1 - :cell", cell=cell)


def past(version: Version, memory: Memory, state: State) -> exp.Select:
    """SELECT id, col, value, own: the values so far of people who changed, where they are known."""
    return query(
        "select s.id, s.col, v.value, v.own - coalesce(t.own, 0) as own from s"
        " join v on v.cell = s.cell and v.col = s.col"
        " left join t on t.cell = v.cell and t.value = v.value"
        " where s.before and s.changed and s.gone = 1",
        {
            "s": version.work(state, "standings"),
            "v": memory.value,
            "t": version.work(state, "same"),
        },
    )
