"""The steps of the guard, from what a version publishes to the new memory and the verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp

from pganon.errors import Unbalanced
from pganon.guard.arrays import bigints
from pganon.guard.bounds import bounds_steps
from pganon.guard.floors import new_floors
from pganon.guard.keys import keys_step, published_step
from pganon.guard.known import looks_at_people, reads_everybody
from pganon.guard.measured import measured_step, with_measures
from pganon.guard.model import Memory, Version
from pganon.guard.own import (
    Values,
    gather_step,
    left_steps,
    own_step,
    own_tables,
    standings_step,
)
from pganon.guard.people import beside_steps, cells_step, pair_steps, person_step
from pganon.guard.propagation import limit
from pganon.guard.report import report_step
from pganon.guard.value_sets import kept_sets, value_set_steps
from pganon.guard.verdict import people_rules, value_rules
from pganon.sqltools import col, named, query
from pganon.steps import Check, CreateTable, Parallel, State, Step
from pganon.steps.facts import count


def guard_steps(version: Version, values: Values | None = None) -> tuple[Step, ...]:
    """Make the new memory, staged, and judge it; `refuse` ends the run at the first miss.

    Args:
        values: whoever reads values of people, if :func:`pganon.guard.work.own` has not those of
            everybody.
    """
    if values is not None and reads_everybody(version):
        return (values.everybody, *_steps(version, None))
    return _steps(version, values)


def _steps(version: Version, values: Values | None) -> tuple[Step, ...]:
    """What is known of cells and their people, then what is possible, and what is kept of it."""
    cells = [
        cells_step(version),
        *beside_steps(version),
        *value_set_steps(version),
        *people_rules(version),
    ]
    own = [own_step(version, values), *left_steps(version)]
    people: _Chain = ([person_step(version)], ["cells"])
    begun: _Graph = {"cells": (cells, ()), "keys": ([keys_step(version)], ())}
    known: _Graph = {
        "standings": ([standings_step(version)], ["cells"]),
        "published": ([published_step(version)], ["keys"]),
        "bounds": (bounds_steps(version), ["published", "standings"]),
    }
    # To read values takes longer than all the rest, so all processes should, between the chains;
    # but rounds take as long.
    apart = values is not None and limit(version) == 0
    needed = ["bounds", "own", *(["people"] if looks_at_people(version) else [])]
    judged: _Graph = {
        "measured": ([measured_step(version), *value_rules(version)], [] if apart else needed),
        "cell": ([_cell_step(version), _once_step(version), *kept_sets(version)], ["measured"]),
        "report": ([report_step(version)], ["measured"]),
    }
    if apart:
        known["people"] = people
        graphs = [_parallel({**begun, **known}), *own, _parallel(judged, _JUDGED)]
    elif values is None:
        begun["gathered"] = ([gather_step(version)], ["keys"])
        known["own"] = (own, ["standings", "published", "gathered"])
        graphs = [_parallel({**begun, **known, "people": people, **judged})]
    else:
        known = {**known, "people": people, "own": (own, ["standings", "published", "people"])}
        graphs = [_parallel({**begun, **known, **judged})]
    return (*pair_steps(version), *graphs)


_Chain = tuple[Sequence[Step], Sequence[str]]
"""With the names of those that it comes after."""

_Graph = dict[str, _Chain]
"""By name. Of those that may start the first one does."""


_KNOWN = ("guard known", "what is known of people, and what is possible")
_JUDGED = ("guard judged", "what is possible, and what is kept of it")
"""Name and purpose of a graph."""


def _parallel(graph: _Graph, title: tuple[str, str] = _KNOWN) -> Step:
    numbers = {name: number for number, name in enumerate(graph)}
    after = {
        numbers[name]: [numbers[other] for other in others] for name, (_, others) in graph.items()
    }
    chains = [steps for steps, _ in graph.values()]
    return Parallel(*title, chains, after=after)


def _cell_step(version: Version) -> Step:
    return CreateTable(
        "guard cell",
        "what is known of every cell, for the memory",
        lambda s: version.staged(s, "cell"),
        lambda s: _cell(version, s),
        sampled=True,
        alone=True,
    )


def _once_step(version: Version) -> Step:
    """A cell that is twice in any table on the way is so in the memory."""

    def problem(row: Mapping[str, Any], state: State) -> Unbalanced | None:
        if row["twice"] == 0:
            return None
        return Unbalanced(f"{row['twice']} cells of people occur more than once")

    return Check(
        "guard once",
        "every cell is remembered once",
        lambda s: query(
            "select count(*) - count(distinct c.cell) as twice from c",
            {"c": version.staged(s, "cell")},
        ),
        problem,
        gives=[count("twice", f"guard{version.number}_", assumed=0)],
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
    cells, measures = with_measures(
        version,
        state,
        query(
            "select c.id as cell, c.size, c.seen, c.value_set, c.floor from c",
            {"c": version.work(state, "cells")},
        ),
    )
    arrays = {"peak": "most", "past": "past", "past_own": "past_own"}
    return cells.select(
        *[
            named(bigints([col(name, table) for table in measures]), array)
            for array, name in arrays.items()
        ]
    )
