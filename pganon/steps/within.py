"""Steps taken a second time in a run, over other rows.

Within a scope, tables and facts have names of their own, so that the same steps can measure what
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


def inside(scope: str, state: State) -> State:
    """The state that steps within the scope see."""
    return replace(state, scope=scope, facts=state.facts.within(scope))


def within(scope: str, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The steps within the scope. They refuse nothing: what is measured here is only told.

    PganonError for steps that are made of others.
    """
    return tuple(_step(scope, step) for step in steps)


def _step(scope: str, step: Step) -> Step:
    def seen(of: Callable[[State], T]) -> Callable[[State], T]:
        return lambda state: of(inside(scope, state))

    name = f"{scope}{step.name}"
    match step:
        case CreateTable():
            return replace(
                step,
                name=name,
                table=seen(step.table),
                select=seen(step.select),
                when=seen(step.when),
                placement=seen(step.placement),
                counted=step.counted and _fact(scope, step.counted),
            )
        case Check():
            given = [_fact(scope, fact) for fact in step.gives]
            return Check(name, step.purpose, seen(step.select), gives=given)
        case Search():
            return replace(
                step,
                name=name,
                table=seen(step.table),
                given=seen(step.given),
                batches=seen(step.batches),
                rows=lambda state, batch: step.rows(inside(scope, state), batch),
                tasks=lambda state, given, rows: step.tasks(inside(scope, state), given, rows),
                when=seen(step.when),
                gives=[_fact(scope, fact) for fact in step.gives],
            )
        case Load():
            return replace(step, name=name, table=seen(step.table))
        case Statement():
            return replace(step, name=name, render=seen(step.render), when=seen(step.when))
        case DropTables():
            return replace(step, name=name, tables=seen(step.tables))
        case _:
            raise PganonError(f"the step {step.name} cannot be taken within a scope")


def _fact(scope: str, fact: Fact[Any]) -> Fact[Any]:
    return replace(fact, name=f"{scope}{fact.name}")
