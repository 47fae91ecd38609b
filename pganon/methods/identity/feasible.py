"""Whether the requirements can be met at all, before any class is made.

Adding individuals never makes a class miss IR k, IR (k, l) or EIR l, so the class of everybody
satisfies them if any class does. Bounds on shares need as many individuals or values as shares of
that size add up to one; more is not known before.
"""

from __future__ import annotations

import math

from sqlglot import exp

from pganon.errors import PganonError, PrivacyRefusal
from pganon.methods.identity.shape import Shape
from pganon.plan.sqltools import col, fragment, named, query
from pganon.plan.steps import Check, State, Step
from pganon.privacy.base import Bound, Requirement
from pganon.privacy.identity import IRAlpha, measured


def feasible_steps(shape: Shape) -> list[Step]:
    return [_check(shape, requirement, n) for n, requirement in enumerate(shape.spec.requirements)]


def _check(shape: Shape, requirement: Requirement, number: int) -> Check:
    share = requirement.model.bound is Bound.AT_MOST
    return Check(
        f"feasible{number}",
        f"whether {requirement.model.name} can be reached",
        lambda s: (_counted if share else _everybody)(shape, requirement, s),
        lambda row, state: _problem(requirement, row["reached"], share=share),
    )


def _everybody(shape: Shape, requirement: Requirement, state: State) -> exp.Expr:
    """One row, `reached`: the measure of all individuals as one class."""
    records = query(
        "select 1 as class, c.individual, :v as value from c",
        {"c": state.work("coded")},
        v=col(shape.value, "c"),
    )
    return query(
        "select m.measure as reached from m", {"m": measured(requirement.model, records, "class")}
    )


def _counted(shape: Shape, requirement: Requirement, state: State) -> exp.Expr:
    """One row, `reached`: the individuals or values among which shares are divided."""
    divided = "individual" if isinstance(requirement.model, IRAlpha) else shape.value
    tree = query("select 1 as one from c", {"c": state.work("coded")})
    counted = fragment("count(distinct :v)", v=col(divided, "c"))
    return tree.select(named(counted, "reached"), append=False)


def _problem(requirement: Requirement, reached: int, *, share: bool) -> PganonError | None:
    model = requirement.model
    needed = math.ceil(1 / model.parameter - 1e-9) if share else int(model.parameter)
    if reached >= needed:
        return None
    what = "individuals" if isinstance(model, IRAlpha) else "values"
    said = (
        f"needs at least {needed} {what}, and there are {reached}"
        if share
        else f"all individuals in one class reach {model.symbol} = {reached}"
    )
    best = f"{model.symbol} = {1 / reached:.4g}" if share and reached else f"{reached}"
    hint = f"require at most {model.symbol} = {reached}" if not share else f"use at least {best}"
    return PrivacyRefusal(
        f"cannot satisfy {model.label}: {said}",
        model=model.name,
        required=model.parameter,
        observed=float(reached),
        hint=hint,
        code="infeasible",
    )
