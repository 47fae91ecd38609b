"""Residuals join classes (Wang, Du, Luo and Li 2019, Algorithm 7), by what a class is as a whole.

    units   (block, rid, residual, people, records, largest, held<j>, counts<j>, holders<j>, hulls)

A unit is a class (`rid` is its number), or a residual. Classes have satisfied the requirements, so
of those that further individuals cannot break nothing has to be known; of the others it takes how
many records (`counts<j>`) and how many individuals (`holders<j>`) have every value in `held<j>`. Of
a residual `held<j>` has the value of every record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.forms.work import INDIVIDUALS, held_column
from pganon.methods.common.attribute_arrays import given_with_losses
from pganon.methods.common.block_search import Blocks, Given, TaskOf, block_search
from pganon.methods.individuals.context import IdentityContext, hull_columns, joined_hull
from pganon.methods.individuals.reading import (
    Reader,
    attributes,
    individuals_of,
    readers_of,
    search_models,
)
from pganon.methods.individuals.search.classes import Classes
from pganon.methods.individuals.search.conjunction import Every, Individual
from pganon.methods.individuals.search.models import Tally
from pganon.privacy.rows import Relation
from pganon.resolved.model import ReleaseSpec, Sensitive
from pganon.sqltools import col, fragment, named, query, stacked
from pganon.steps import Name, Rows, Search, State
from pganon.steps.facts import count
from pganon.steps.tasks import TaskResult

RESIDUALS = count("residuals")
"""Individuals without a class."""

_FACTS = ["residual", "people", "records", "largest"]


def _values(item: Sensitive) -> tuple[str, str, str]:
    """Columns about the values of a sensitive column."""
    return held_column(item), f"counts{item.index}", f"holders{item.index}"


def units(
    context: IdentityContext,
    state: State,
    remaining: Relation,
    classes: Relation,
    shown: Callable[[exp.Select], exp.Select] = lambda hulls: hulls,
) -> exp.Select:
    """SELECT the units of blocks.

    Args:
        remaining: residuals (block, rid).
        classes: members (block, unit, rid) of the classes they can join.
        shown: what classes show, from a relation with their hulls.
    """
    names = _hulls(context, state)
    residuals = query(
        "select l.block, l.rid, true as residual, 1 as people, i.n::bigint as records,"
        " i.n as largest from l join i on i.rid = l.rid",
        {"l": remaining, "i": state.work(INDIVIDUALS)},
    )
    hulls = query(
        "select m.block, m.unit, count(*)::int as people, sum(i.n)::bigint as records,"
        " max(i.n) as largest from m join i on i.rid = m.rid group by m.block, m.unit",
        {"m": classes, "i": state.work(INDIVIDUALS)},
    ).select(*[item for axis in context.axes for item in joined_hull(axis, state, "i")])
    members = query(
        "select u.block, u.unit as rid, false as residual, u.people, u.records, u.largest from u",
        {"u": shown(hulls)},
    )
    monotone = search_models(context).monotone
    for item in context.spec.sensitive:
        held, *known = _values(item)
        nothing = [named(fragment("null::int[]"), name) for name in known]
        residuals = residuals.select(named(fragment(":v::int[]", v=col(held, "i")), held), *nothing)
        if monotone:
            members = members.select(named(fragment("null::int[]"), held), *nothing)
        else:
            members = _with_values(state, members, classes, item)
    return stacked(
        [
            residuals.select(*[col(name, "i") for name in names]),
            members.select(*[col(name, "u") for name in names]),
        ]
    )


def _held(spec: ReleaseSpec) -> list[str]:
    return [name for item in spec.sensitive for name in _values(item)]


def _hulls(context: IdentityContext, state: State) -> list[str]:
    return [name for axis in context.axes for name in hull_columns(axis, state)]


def _with_values(
    state: State, members: exp.Select, classes: Relation, item: Sensitive
) -> exp.Select:
    held = query(
        "select m.unit, v.value, count(*)::int as counts, count(distinct m.rid)::int as holders"
        " from m join i on i.rid = m.rid cross join unnest(:held) as v(value)"
        " group by m.unit, v.value",
        {"m": classes, "i": state.work(INDIVIDUALS)},
        held=col(held_column(item), "i"),
    )
    values = query("select h.unit from h group by h.unit", {"h": held})
    for name, what in zip(_values(item), ("value::int", "counts", "holders"), strict=True):
        values = values.select(named(fragment(f"array_agg(h.{what})"), name))
    alias = f"w{item.index}"
    on = exp.EQ(this=col("unit", alias), expression=col("unit", "u"))
    return members.join(values.subquery(alias), on=on).select(
        *[col(name, alias) for name in _values(item)]
    )


def join_step(
    context: IdentityContext,
    name: str,
    table: Name,
    joined: Name,
    *,
    places: Callable[[State], int],
    at_once: Callable[[State], int],
    limited: bool = True,
    when: Callable[[State], bool],
) -> Search:
    """The step that finds (rid, gid) of residuals.

    Args:
        table: work table of the units.
        joined: work table of the result.
        places: number of blocks, which are numbered from 0.
        at_once: blocks that are read in one batch.
        limited: whether a residual joins only where that loses less than suppressing it.
    """
    return block_search(
        name,
        "residuals join the nearest class that still satisfies every requirement",
        joined,
        (("rid", "bigint"), ("gid", "bigint")),
        blocks=Blocks(
            relation=table,
            columns=lambda s: [*_FACTS, *_held(context.spec), *_hulls(context, s)],
            count=places,
            at_once=at_once,
        ),
        given=lambda s: given_with_losses(context.axes, s),
        task=lambda s, given: _task(context, s, given, limited),
        when=when,
    )


def _task(context: IdentityContext, state: State, given: Given, limited: bool) -> TaskOf:
    readers, model = readers_of(context, state, given), search_models(context)
    return lambda block, rows: partial(_join, rows, readers, model, limited)


def _join(rows: Rows, readers: Sequence[Reader], model: Every, limited: bool) -> TaskResult:
    """The units of one block; residuals in the order of their numbers, which is random."""
    residuals = [row for row in rows if row[2]]
    there = [row for row in rows if not row[2]]
    if not there or not residuals:
        return TaskResult([])
    hulls = _FIRST + 3 * model.columns
    domains, parts = attributes(readers, [row[hulls:] for row in (*residuals, *there)])
    their_parts = [part[:, : len(residuals)] for part in parts]
    people = [Individual.of(row[_FIRST:hulls:3]) for row in residuals]
    classes = Classes(individuals_of(domains, their_parts, people), model, domains)
    for at, row in enumerate(there, start=len(residuals)):
        element = tuple(d.part(part, at) for d, part in zip(domains, parts, strict=True))
        classes.adopt(element, row[4], model.resume(_tallies(row[:hulls])))
    for individual in range(len(residuals)):
        classes.handle(individual, limited=limited)
    return TaskResult(
        [
            (residuals[member][1], row[1])
            for row, item in zip(there, classes.made, strict=True)
            for member in item.members
        ]
    )


_FIRST = 2 + len(_FACTS)
"""Where the columns about values begin in a row; block and number are before these facts."""


def _tallies(row: Sequence[Any]) -> list[Tally]:
    """Of every sensitive column."""
    people, records, largest = row[3:_FIRST]
    columns = zip(row[_FIRST::3], row[_FIRST + 1 :: 3], row[_FIRST + 2 :: 3], strict=True)
    return [
        Tally(
            people=people,
            records=records,
            largest=largest,
            of_value=dict(zip(values or (), counts or (), strict=True)),
            holders=dict(zip(values or (), holders or (), strict=True)),
        )
        for values, counts, holders in columns
    ]
