"""The steps of the guard, from what a version publishes to the new memory and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from pganon.guard.arrays import bigints
from pganon.guard.bounds import bounds_steps, measured_step
from pganon.guard.floors import new_floors
from pganon.guard.keys import key_steps
from pganon.guard.known import reads_everybody
from pganon.guard.model import Memory, Version
from pganon.guard.own import (
    Values,
    left_steps,
    own_step,
    own_tables,
    standings_step,
)
from pganon.guard.people import people_steps, person_step
from pganon.guard.propagation import limit
from pganon.guard.report import report_step
from pganon.guard.value_sets import kept_sets, value_set_steps
from pganon.guard.verdict import people_rules, value_rules
from pganon.sqltools import col, fragment, num, query
from pganon.steps import CreateTable, Parallel, State, Step


def guard_steps(version: Version, values: Values | None = None) -> tuple[Step, ...]:
    """Make the new memory, staged, and judge it; `refuse` ends the run at the first miss.

    Args:
        values: whoever reads values of people, if :func:`pganon.guard.work.own` has not those of
            everybody.
    """
    read: tuple[Step, ...] = ()
    if values is not None and reads_everybody(version):
        read, values = (values.everybody,), None
    return (
        *read,
        *people_steps(version),
        *value_set_steps(version),
        *people_rules(version),
        *_known_steps(version, values),
        measured_step(version),
        *value_rules(version),
        Parallel(
            "guard kept",
            "the rest of the memory, and figures",
            [
                [_cell_step(version), *kept_sets(version)],
                [report_step(version)],
            ],
        ),
    )


def _known_steps(version: Version, values: Values | None) -> tuple[Step, ...]:
    """People and what bounds leave of their values, beside the values that they do have."""
    own = own_step(version, values)
    known: list[Sequence[Step]] = [
        [person_step(version)],
        [*key_steps(version), standings_step(version)],
        bounds_steps(version),
    ]
    after: dict[int, Sequence[int]] = {_BOUNDS: [_PUBLISHED]}
    left = left_steps(version)
    if values is not None and limit(version) == 0:
        # To read values takes longer than all the rest, so all processes should.
        return (_known(known, after), own, *left)
    after |= {_OWN: [_PEOPLE, _PUBLISHED]}
    return (_known([*known, [own, *left]], after),)


_PEOPLE, _PUBLISHED, _BOUNDS, _OWN = range(4)


def _known(chains: Sequence[Sequence[Step]], after: Mapping[int, Sequence[int]]) -> Step:
    purpose = "what is known of people, and what can be"
    return Parallel("guard known", purpose, chains, after=after)


def _cell_step(version: Version) -> Step:
    return CreateTable(
        "guard cell",
        "what is known of every cell, for the memory",
        lambda s: version.staged(s, "cell"),
        lambda s: _cell(version, s),
        sampled=True,
        alone=True,
    )


def new_memory(version: Version, state: State) -> Memory:
    """The memory that these steps staged."""
    return Memory(
        version.columns,
        new_floors(version),
        version.staged(state, "person"),
        version.staged(state, "cell"),
        version.staged(state, "value"),
        own_tables(version, state),
        version.kept,
        version.staged(state, "set") if version.kept else None,
    )


def _cell(version: Version, state: State) -> exp.Select:
    arrays = {
        name: bigints(
            [
                fragment("max(:x) filter (where m.col = :i)", x=col(name, "m"), i=num(i))
                for i in range(1, len(version.columns) + 1)
            ]
        )
        for name in ("most", "past", "past_own")
    }
    known = query(
        "select m.id, :most as peak, :past as past, :past_own as past_own from m group by m.id",
        {"m": version.work(state, "measured")},
        **arrays,
    )
    nothing = bigints([exp.null() for _ in version.columns])
    return query(
        "select c.id as cell, c.size, c.seen, coalesce(k.peak, :nothing) as peak,"
        " coalesce(k.past, :nothing) as past, coalesce(k.past_own, :nothing) as past_own,"
        " c.value_set, c.floor from c left join k on k.id = c.id",
        {"c": version.work(state, "cells"), "k": known},
        nothing=nothing,
    )
