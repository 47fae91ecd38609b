"""People and their cells: everybody's cell so far, refined by the groups of the version.

    pairs   (person, cell, grp, mark<j>.., changed<j>..)    cell: so far
    cells   (id, cell, grp, size, divided, whole, known, seen, changed[], moved, old_peak[], past[],
             old_past_own[], old_value_set, value_set, old_floor, floor)

Cell 0 is of all who were in no version's groups, and of whom no version knew that by a remembered
value. `changed<j>` says that the value of column j is another one than the last one remembered.
`known` is whether people were seen before the version, `seen` after it; `divided`, whether their
cell so far has other parts; `whole`, whether a cell that was seen is still the same and unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from pganon.encode.people import mark_column, remembered_mark
from pganon.guard import work
from pganon.guard.arrays import bigints, element
from pganon.guard.floors import floor_after
from pganon.guard.model import Memory, Version
from pganon.guard.value_sets import group_steps, set_after, sets_of_groups
from pganon.sqltools import aliased, cast, chain, col, conjunction, fragment, named, query
from pganon.steps import Check, CreateTable, State, Step
from pganon.steps.facts import Fact, count


def pair_steps(version: Version) -> tuple[Step, ...]:
    return (
        CreateTable(
            "guard pairs",
            "everybody's cell so far, and group",
            lambda s: version.work(s, "pairs"),
            lambda s: _pairs(version, s),
            alone=version.memory is None,  # there is nothing to join
        ),
        *group_steps(version),
    )


def cells_step(version: Version) -> Step:
    return CreateTable(
        "guard cells",
        "people with the same past",
        lambda s: version.work(s, "cells"),
        lambda s: _cells(version, s),
        alone=True,
    )


def stands_alone(version: Version, state: State) -> bool:
    """Whether the version is about people of whom no other one is.

    It was verified by itself, as a first version is, and there is nothing to judge it beside.
    Of one with a group per person cells are these groups, so they are judged all the same.
    """
    return version.scattered and version.memory is not None and state[_beside(version)] == 0


def _beside(version: Version) -> Fact[int]:
    """People of the version who are in another one, or whom one left out for a value."""
    return count("beside", f"guard{version.number}_", assumed=0)


def beside_steps(version: Version) -> tuple[Step, ...]:
    if not version.scattered or version.memory is None:
        return ()
    return (
        Check(
            "guard beside",
            "people of whom something else was published",
            lambda s: query(
                "select coalesce(sum(c.size), 0)::bigint as beside from c"
                " where c.cell <> 0 and c.grp <> 0",
                {"c": version.work(s, "cells")},
            ),
            gives=[_beside(version)],
        ),
    )


def person_step(version: Version) -> Step:
    return CreateTable(
        "guard person",
        "the cell of every person, for the memory",
        lambda s: version.staged(s, "person"),
        lambda s: _person(version, s),
        analyze=False,  # see pganon.forms.members.members_step
        alone=True,
    )


def _numbers(version: Version) -> range:
    return range(1, len(version.columns) + 1)


def _comparable(version: Version) -> list[int]:
    """Numbers of the columns whose values are remembered and read again."""
    old = version.memory.columns if version.memory else ()
    return [i for i, name in enumerate(old, start=1) if name in version.published]


def _pairs(version: Version, state: State) -> exp.Select:
    new = state.work(work.new(version.part))
    if version.memory is None:
        # Like cells, combinations of groups are fewer than people, who are fewer than integers.
        tree = query("select n.person, 0 as cell, n.grp::integer as grp from n", {"n": new})
        return _marked(tree, [element("marks", "n", i) for i in _numbers(version)])
    tree = query(
        "select coalesce(p.person, n.person) as person, coalesce(p.cell, 0) as cell,"
        " coalesce(n.grp, 0)::integer as grp from p full join n on n.person = p.person",
        {"p": version.memory.person, "n": new},
    )
    last = [
        fragment("coalesce(:new, :old)", new=element("marks", "n", i), old=_mark(version.memory, i))
        for i in _numbers(version)
    ]
    tree = _marked(tree, last)
    for i in _comparable(version):
        other = fragment(
            "coalesce(:a <> :b, false)", a=_mark(version.memory, i), b=element("marks", "n", i)
        )
        tree = tree.select(named(other, _changed(i)), copy=False)
    return tree


def _changed(number: int) -> str:
    return f"changed{number}"


def _mark(memory: Memory, number: int) -> exp.Expr:
    """The last one of a column; of a new one there is none."""
    if number > len(memory.columns):
        return exp.null()
    return remembered_mark("p", number, apart=memory.marked_apart)


def _marked(tree: exp.Select, marks: Sequence[exp.Expr]) -> exp.Select:
    found = [named(mark, mark_column(i)) for i, mark in enumerate(marks, start=1)]
    return tree.select(*found, copy=False)


def cell_key(version: Version) -> list[str]:
    """Columns of the pairs in which all people of a cell have the same."""
    return ["cell", "grp", *[_changed(i) for i in _comparable(version)]]


def of_the_cell(version: Version) -> exp.Expr:
    """SQL condition: `p` has the key of the cell `c`."""
    same = [fragment("c.cell = p.cell"), fragment("c.grp = p.grp")]
    same += [
        fragment(":a = :b", a=element("changed", "c", i), b=col(_changed(i), "p"))
        for i in _comparable(version)
    ]
    return conjunction(same)


def _cells(version: Version, state: State) -> exp.Select:
    compared = _comparable(version)
    keys = cell_key(version)
    counted = query("select count(*) as size from p", {"p": version.work(state, "pairs")})
    counted = counted.select(*[col(key, "p") for key in keys], copy=False)
    counted = counted.group_by(*[col(key, "p") for key in keys], copy=False)
    flags = [col(_changed(i), "q") if i in compared else exp.false() for i in _numbers(version)]
    changed = cast(exp.Array(expressions=flags), "boolean[]")
    parts = query(
        "select case when q.cell = 0 and q.grp = 0 and not :any then 0"
        " else (row_number() over ())::integer end as id, q.cell, q.grp, q.size,"
        " :changed as changed, :any as moved,"
        " count(*) over (partition by q.cell) > 1 as divided from q",
        {"q": counted},
        changed=changed,
        any=_any([col(_changed(i), "q") for i in compared]),
    )
    if version.memory is None:
        parts = query(
            "select q.*, false as known, null::bigint[] as old_peak, null::bigint[] as past,"
            " null::bigint[] as old_past_own, null::uuid as old_value_set, 0 as old_floor from q",
            {"q": parts},
        )
    else:
        parts = _remembered(version, version.memory, parts)
    return _after(version, state, parts)


def _any(flags: Sequence[exp.Expr]) -> exp.Expr:
    return chain(exp.Or, flags) if flags else exp.false()


def _remembered(version: Version, memory: Memory, parts: exp.Select) -> exp.Select:
    """With what was known of the cell so far."""
    past = [
        fragment(
            "greatest(:past, case when :changed then :peak end)",
            past=element("past", "c", i),
            changed=element("changed", "q", i),
            peak=element("peak", "c", i),
        )
        for i in _numbers(version)
    ]
    return query(
        "select q.*, coalesce(c.seen, false) as known, c.peak as old_peak, :past as past,"
        " c.past_own as old_past_own, c.value_set as old_value_set,"
        " coalesce(c.floor, 0) as old_floor from q left join c on c.cell = q.cell",
        {"q": parts, "c": memory.cell},
        past=bigints(past),
    )


def _after(version: Version, state: State, parts: exp.Select) -> exp.Select:
    """With who is whole, who was seen, and what people are promised from now on."""
    tree = query(
        "select q.*, q.known and not q.moved and not q.divided as whole,"
        " q.known or q.grp > 0 as seen, :set as value_set, :floor as floor from q",
        {"q": parts},
        set=set_after(version),
        floor=floor_after(version, fragment("q.grp > 0"), col("old_floor", "q")),
    )
    if not version.keeps_sets:
        return tree
    sets = aliased(sets_of_groups(version, state), "v")
    return tree.join(sets, on=fragment("v.grp = q.grp"), join_type="left", copy=False)


def _person(version: Version, state: State) -> exp.Select:
    tree = query(
        "select p.person, c.id as cell from p join c on :same",
        {"p": version.work(state, "pairs"), "c": version.work(state, "cells")},
        same=of_the_cell(version),
    )
    return _marked(tree, [col(mark_column(i), "p") for i in _numbers(version)])
