"""Residuals join classes (Wang, Du, Luo and Li 2019, Algorithm 7), by what a class is as a whole.

    units   (block, rid, residual, people, records, largest, sensitive, counts, holders, hull ..)

A unit is a class (`rid` is its number), or a residual. Classes have satisfied the requirements, so
of those that further individuals cannot break nothing has to be known; of the others it takes how
many records (`counts`) and how many individuals (`holders`) have every value in `sensitive`. Of a
residual `sensitive` has the value of every record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from sqlglot import exp

from pganon.forms.work import INDIVIDUALS
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
from pganon.methods.individuals.search.conjunction import Every
from pganon.methods.individuals.search.models import Person, Tally
from pganon.privacy.rows import Relation
from pganon.sqltools import col, fragment, named, query, stacked
from pganon.steps import Name, Rows, Search, State
from pganon.steps.facts import count
from pganon.steps.tasks import TaskResult

RESIDUALS = count("residuals")
"""Individuals without a class."""

_VALUES = ("sensitive", "counts", "holders")
_FACTS = ["residual", "people", "records", "largest", *_VALUES]


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
        " i.n as largest, i.sensitive::int[] as sensitive, null::int[] as counts,"
        " null::int[] as holders from l join i on i.rid = l.rid",
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
    if not search_models(context).monotone:
        members = _with_values(state, members, classes)
    else:
        members = members.select(*[named(fragment("null::int[]"), name) for name in _VALUES])
    return stacked(
        [
            residuals.select(*[col(name, "i") for name in names]),
            members.select(*[col(name, "u") for name in names]),
        ]
    )


def _hulls(context: IdentityContext, state: State) -> list[str]:
    return [name for axis in context.axes for name in hull_columns(axis, state)]


def _with_values(state: State, members: exp.Select, classes: Relation) -> exp.Select:
    held = query(
        "select m.unit, v.value, count(*)::int as counts, count(distinct m.rid)::int as holders"
        " from m join i on i.rid = m.rid cross join unnest(i.sensitive) as v(value)"
        " group by m.unit, v.value",
        {"m": classes, "i": state.work(INDIVIDUALS)},
    )
    values = query(
        "select h.unit, array_agg(h.value::int) as sensitive, array_agg(h.counts) as counts,"
        " array_agg(h.holders) as holders from h group by h.unit",
        {"h": held},
    )
    return members.join(values.subquery("w"), on=fragment("w.unit = u.unit")).select(
        *[col(name, "w") for name in _VALUES]
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
            columns=lambda s: [*_FACTS, *_hulls(context, s)],
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
    domains, parts = attributes(readers, [row[9:] for row in (*residuals, *there)])
    their_parts = [part[:, : len(residuals)] for part in parts]
    people = [Person(Counter(row[6])) for row in residuals]
    classes = Classes(individuals_of(domains, their_parts, people), model, domains)
    for at, row in enumerate(there, start=len(residuals)):
        element = tuple(d.part(part, at) for d, part in zip(domains, parts, strict=True))
        classes.adopt(element, row[4], model.resume(_tally(row)))
    for individual in range(len(residuals)):
        classes.handle(individual, limited=limited)
    return TaskResult(
        [
            (residuals[member][1], row[1])
            for row, item in zip(there, classes.made, strict=True)
            for member in item.members
        ]
    )


def _tally(row: Sequence[Any]) -> Tally:
    _, _, _, people, records, largest, values, counts, holders = row[:9]
    return Tally(
        people=people,
        records=records,
        largest=largest,
        of_value=dict(zip(values or (), counts or (), strict=True)),
        holders=dict(zip(values or (), holders or (), strict=True)),
    )
