"""How many people of a cell do have a value: what the owner counts, and no reader sees.

People whom the version releases have their values among its records. Of the others a cell keeps
what it had before, less the parts of it that are there: known if only one part is not there.

    standings   (id, col, ..)                     what is known of a column of a cell; see below
    own, left   (cell, col, varieties, values[])  the memory's: of cells of which no bounds say it

Bounds say it where the people of a cell are a whole group, and go on saying it as long as they stay
together. Of cells of which it is not known there is no row in either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot import exp

from pganon.guard import work
from pganon.guard.keys import keys, published
from pganon.guard.model import Memory, Version
from pganon.guard.packed import (
    Relation,
    bounds_rows,
    own_rows,
    packed_counts,
    packed_own,
    remembered_bounds,
    remembered_own,
)
from pganon.guard.people import cell_key, of_the_cell
from pganon.identifiers import QualifiedName
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


@dataclass(frozen=True)
class Values:
    """What reads the values of people.

    Attributes:
        everybody: makes :func:`pganon.guard.work.own`.
        counted: SELECT cell, col, value: a row for everybody of :func:`counted_people` and value.
    """

    everybody: Step
    counted: Callable[[State], exp.Select]


def gather_step(version: Version) -> Step:
    """Where :func:`pganon.guard.work.own` has the values of everybody. It needs the pairs and the
    keys of values and nothing else, so that much can be done beside it; which cells are counted is
    not known then."""
    return CreateTable(
        "guard gathered",
        "the values of all people of every cell",
        lambda s: version.work(s, "gathered"),
        lambda s: _gathered(version, s),
        alone=True,
    )


def own_step(version: Version, values: Values | None) -> Step:
    """After the standings.

    Args:
        values: read after the table of people is made; None where values were gathered.
    """
    return CreateTable(
        "guard own",
        "how many people of a cell have a value, where its bounds do not say it",
        lambda s: version.staged(s, "own"),
        lambda s: _own(version, values, s),
        sampled=True,
        alone=values is None,
    )


def left_steps(version: Version) -> tuple[Step, ...]:
    """After the others' own values, those of who is not there."""
    if version.memory is None:
        return ()
    memory = version.memory
    return (
        CreateTable(
            "guard left",
            "how many people who left a cell have a value",
            lambda s: version.staged(s, "left"),
            lambda s: packed_counts(
                _remaining(version, memory, s, "not s.now and s.divided and not s.changed")
            ),
            sampled=True,
            alone=True,
        ),
    )


def varieties(version: Version, state: State) -> exp.Select:
    """SELECT cell, col, own: the number of values of every cell in the memory's tables of them."""
    return stacked(
        [
            query("select o.cell, o.col, o.varieties as own from o", {"o": table})
            for table in own_tables(version, state)
        ]
    )


def own_tables(version: Version, state: State) -> tuple[QualifiedName, ...]:
    """Those of the new memory."""
    names = ("own", "left") if version.memory else ("own",)
    return tuple(version.staged(state, name) for name in names)


def own_of_cells(version: Version, state: State) -> exp.Select:
    """SELECT cell, col, value, own: what is known after the version."""
    said = query(
        "select b.cell, b.col, b.value, b.at_most as own from b where b.is_own",
        {"b": bounds_rows(version.staged(state, "value"))},
    )
    return stacked([said, own_rows(own_tables(version, state))])


def _standings(version: Version, state: State) -> exp.Select:
    """SELECT a row per cell and column that was or is published for its people.

    before, now: whether it was, whether it is; same: both, and unchanged; alone: whether the cell
    is a whole group of the column; rest: the part of the cell so far that is not the same, if it is
    only one; mixed: whether people of the cell so far changed; counted: whether own values are to
    be counted, or are those of a whole group; past: whether values that the people had earlier were
    published.
    """
    tables = {"c": version.work(state, "cells"), "l": state.work(work.links(version.part))}
    each = query(
        "select c.id, c.cell, c.grp, c.size, c.whole, c.divided, c.known, c.old_floor, j.col,"
        " l.link, coalesce(c.changed[j.col], false) as changed,"
        " c.old_peak[j.col] is not null as before, l.link is not null as now,"
        " c.past[j.col] as past, c.old_past_own[j.col] as old_past_own"
        " from c cross join generate_series(1, :columns) as j(col)"
        " left join l on l.grp = c.grp and l.col = j.col",
        tables,
        columns=num(len(version.columns)),
    )
    cells = query("select c.grp, count(*) as cells from c group by c.grp", tables)
    whole = query(
        "select l.col, l.link from g join l on l.grp = g.grp where :exact"
        " group by l.col, l.link having sum(g.cells) = 1",
        {**tables, "g": cells},
        exact=exact_columns(version, "l"),
    )
    known = query(
        "select e.*, e.before and e.now and not e.changed as same,"
        " w.link is not null as alone, :rest as rest, :mixed as mixed"
        " from e left join w on w.link = e.link and w.col = e.col"
        " where e.before or e.now or e.past is not null",
        {"e": each, "w": whole},
        rest=fragment(_REST if version.memory else "null::integer"),
        mixed=fragment(_MIXED if version.memory else "false"),
    )
    return query(
        "select k.*, k.now and (k.alone or k.divided or not k.same) as counted from k",
        {"k": known},
    )


_REST = """
    case when count(*) filter (where e.before and (e.changed or not e.now))
            over (partition by e.cell, e.col) = 1
        then min(e.id) filter (where e.before and (e.changed or not e.now))
            over (partition by e.cell, e.col) end
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
    """SELECT person, cell: whose own values of a column must be counted one by one."""
    return query(
        "select p.person, p.cell from p join s on s.id = p.cell"
        " where s.col = :col and s.counted and not s.alone",
        {"p": version.staged(state, "person"), "s": version.work(state, "standings")},
        col=num(number),
    )


def _own(version: Version, values: Values | None, state: State) -> exp.Select:
    before = remembered_own(version.memory) if version.memory else ()
    kept = [
        query(
            "select s.id as cell, s.col, o.varieties, o.values from s"
            " join o on o.cell = s.cell and o.col = s.col where s.before and :stays",
            {"s": version.work(state, "standings"), "o": table},
            stays=fragment(STAYS),
        )
        for table in before
    ]
    counted = _counted(version, values, state) if values else _among_gathered(version, state)
    return stacked([counted, *kept])


STAYS = "not s.changed and not s.counted and not s.divided"
"""SQL condition on standings: people are all together still, and have what they had before."""


def _counted(version: Version, values: Values, state: State) -> exp.Select:
    """SELECT cell, col, varieties, values of :func:`counted_people`."""
    people = query(
        "select v.cell, v.col, k.key as value from v join k on k.col = v.col and k.value = v.value",
        {"v": values.counted(state), "k": keys(version, state)},
    )
    return packed_own(people)


def _among_gathered(version: Version, state: State) -> exp.Select:
    """The same, of the cells that are counted."""
    return query(
        "select c.id as cell, p.col, p.varieties, p.values from p join c on :same"
        " join s on s.id = c.id and s.col = p.col where s.counted and not s.alone",
        {
            "p": version.work(state, "gathered"),
            "c": version.work(state, "cells"),
            "s": version.work(state, "standings"),
        },
        same=of_the_cell(version),
    )


def _gathered(version: Version, state: State) -> exp.Select:
    """SELECT the key of a cell, col, varieties, values; cells have no numbers yet."""
    key = cell_key(version)
    people = query(
        "select o.col, k.key as value from o join p on p.person = o.person"
        " join k on k.col = o.col and k.value = o.value",
        {
            "o": state.work(work.own(version.part)),
            "p": version.work(state, "pairs"),
            "k": keys(version, state),
        },
    ).select(*[col(name, "p") for name in key])
    return packed_own(people, key)


def past(version: Version, memory: Memory, state: State) -> exp.Select:
    """SELECT cell, col, value, own: the values so far of who changed, where they are known."""
    return _remaining(version, memory, state, "s.changed")


def _remaining(version: Version, memory: Memory, state: State, which: str) -> exp.Select:
    """SELECT cell, col, value, own: what cells so far had, less what the parts have that are there.

    Args:
        which: SQL condition on the standings of a part, which must be the only one of its cell that
            is not the same.
    """
    standings = version.work(state, "standings")
    found: list[tuple[str, Relation]] = [
        (_HAD, remembered_bounds(memory)),
        *[(_HAD_APART, table) for table in remembered_own(memory)],
        (_COUNTED, version.staged(state, "own")),
        (_ALONE, published(version, state)),
    ]
    parts = [
        query(f"{text} and s.rest = s.id and {which}", {"s": standings, "t": standings, "o": own})
        for text, own in found
    ]
    return query(
        "select g.cell, g.col, g.value, sum(g.own)::integer as own from g"
        " group by g.cell, g.col, g.value having sum(g.own) > 0",
        {"g": stacked(parts)},
    )


_HAD = """
    select s.id as cell, s.col, unnest(o.values) as value, unnest(o.at_most) as own
    from s join o on o.cell = s.cell and o.col = s.col
    where o.is_own
"""
_HAD_APART = """
    select s.id as cell, s.col, unnest(o.values) as value, 1 as own
    from s join o on o.cell = s.cell and o.col = s.col
    where true
"""
_COUNTED = """
    select s.id as cell, s.col, unnest(o.values) as value, -1 as own
    from o join t on t.id = o.cell and t.col = o.col join s on s.id = t.rest and s.col = t.col
    where t.same
"""
_ALONE = """
    select s.id as cell, s.col, unnest(o.values) as value, -unnest(o.n) as own
    from o join t on t.link = o.link and t.col = o.col join s on s.id = t.rest and s.col = t.col
    where t.same and t.alone
"""
