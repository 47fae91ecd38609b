"""Steps taken a second time in a run, over other rows.

Under a prefix, tables and facts have names of their own, so that the same steps can measure what
the run makes, and what it is a part of.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pganon.errors import PganonError
from pganon.steps import Check, CreateTable, DropTables, Load, Search, State, Statement, Step
from pganon.steps.facts import Fact

T = TypeVar("T")


def inside(prefix: str, state: State) -> State:
    """The state that steps under the prefix see."""
    return replace(state, prefix=prefix, facts=state.facts.within(prefix))


def within(prefix: str, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps under the prefix. They refuse nothing: what is measured here is only told.

    PganonError for steps that are made of others.
    """
    return tuple(_step(prefix, step) for step in steps)


def _step(prefix: str, step: Step) -> Step:
    def seen(of: Callable[[State], T]) -> Callable[[State], T]:
        return lambda state: of(inside(prefix, state))

    name = f"{prefix}{step.name}"
    match step:
        case CreateTable():
            return replace(
                step,
                name=name,
                table=seen(step.table),
                select=seen(step.select),
                when=seen(step.when),
                placement=seen(step.placement),
                counted=step.counted and _fact(prefix, step.counted),
            )
        case Check():
            given = [_fact(prefix, fact) for fact in step.gives]
            return Check(name, step.purpose, seen(step.select), gives=given)
        case Search():
            return replace(
                step,
                name=name,
                table=seen(step.table),
                given=seen(step.given),
                batches=seen(step.batches),
                rows=lambda state, batch: step.rows(inside(prefix, state), batch),
                tasks=lambda state, given, rows: step.tasks(inside(prefix, state), given, rows),
                when=seen(step.when),
                gives=[_fact(prefix, fact) for fact in step.gives],
            )
        case Load():
            return replace(step, name=name, table=seen(step.table))
        case Statement():
            return replace(step, name=name, render=seen(step.render), when=seen(step.when))
        case DropTables():
            return replace(step, name=name, tables=seen(step.tables))
        case _:
            raise PganonError(f"the step {step.name} cannot be taken a second time")


def _fact(prefix: str, fact: Fact[Any]) -> Fact[Any]:
    return replace(fact, name=f"{prefix}{fact.name}")
