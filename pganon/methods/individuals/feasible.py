"""Whether the requirements can be met at all, before any class is made.

Adding individuals never makes a class violate IR k, IR (k, l) or EIR l, so the class of everybody
satisfies them if any class does. Bounds on shares need as many individuals or values as shares of
that size add up to one, and fewer holders of one value than would take everybody with them; more
is not known before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from sqlglot import exp

from pganon.encode.work import CODED
from pganon.errors import PganonError, PrivacyRefusal
from pganon.methods.common.reachable import infeasible, weaker
from pganon.methods.individuals.context import IdentityContext
from pganon.methods.individuals.search.feasibility import forced_suppressions
from pganon.privacy.base import Bound, Requirement
from pganon.privacy.identity import EIRBeta, IRAlpha, histogram, measured
from pganon.sqltools import col, query
from pganon.steps import Check, State, Step
from pganon.steps.facts import counts


def feasible_steps(context: IdentityContext) -> list[Step]:
    return [
        _check(context, requirement, n) for n, requirement in enumerate(context.spec.requirements)
    ]


def _check(context: IdentityContext, requirement: Requirement, number: int) -> Check:
    model = requirement.model
    if model.bound is Bound.AT_LEAST:
        select, problem, given = _everybody, _out_of_reach, ("reached",)
    else:
        select, problem = _shared, _too_small
        given = ("individuals", "values", "holders")
    return Check(
        f"feasible{number}",
        f"whether {model.name} can be reached",
        lambda s: select(context, requirement, s),
        lambda row, state: problem(requirement, row),
        gives=counts(*given, of=f"feasible{number}_"),
    )


def _records(context: IdentityContext, state: State) -> exp.Select:
    """(class, individual, value): all records as one class."""
    return query(
        "select 1 as class, c.individual, :v as value from c",
        {"c": state.work(CODED)},
        v=col(context.value, "c"),
    )


# -- k and l ----------------------------------------------------------------------------------


def _everybody(context: IdentityContext, requirement: Requirement, state: State) -> exp.Expr:
    """One row, `reached`: the measure of all individuals as one class.

    Where an exact search cannot decide, nothing is refused: classes will show.
    """
    model = requirement.model
    all_records = _records(context, state)
    return query(
        "select m.measure as reached from m",
        {"m": measured(model, all_records, "class", undecided=int(model.parameter))},
    )


def _out_of_reach(requirement: Requirement, row: Mapping[str, Any]) -> PganonError | None:
    model, reached = requirement.model, int(row["reached"])
    if model.satisfied_by(reached):
        return None
    said = f"all individuals in one class reach {model.symbol} = {reached}"
    return _refusal(requirement, said, weaker(requirement, reached), reached)


# -- alpha and beta ---------------------------------------------------------------------------


def _shared(context: IdentityContext, requirement: Requirement, state: State) -> exp.Expr:
    """One row: `individuals`, `values`, and the `holders` of the most frequent value."""
    return query(
        "select count(distinct r.individual) as individuals, count(distinct r.value) as values,"
        " (select max(h.n) from h) as holders from r",
        {
            "r": _records(context, state),
            "h": histogram("holders", _records(context, state), "class"),
        },
    )


def _too_small(requirement: Requirement, row: Mapping[str, Any]) -> PganonError | None:
    model = requirement.model
    share = Fraction(str(model.parameter))
    what = "individuals" if isinstance(model, IRAlpha) else "values"
    there, needed = int(row[what]), math.ceil(1 / share)
    if there < needed:
        said = f"it needs at least {needed} {what}, and there are {there}"
        return _refusal(requirement, said, weaker(requirement, 1 / there), 1 / there)
    if not isinstance(model, EIRBeta):
        return None
    holders, individuals = int(row["holders"]), int(row["individuals"])
    if forced_suppressions(holders, individuals, share) < individuals:
        return None
    said = f"{holders} of {individuals} individuals have the same value, so all would be left out"
    hint = "use a larger beta, or another column"
    return _refusal(requirement, said, hint, holders / individuals)


def _refusal(requirement: Requirement, said: str, hint: str, observed: float) -> PrivacyRefusal:
    model = requirement.model
    return infeasible(
        f"cannot satisfy {model.label}{requirement.known}: {said}",
        model=model.name,
        required=model.parameter,
        observed=observed,
        hint=hint,
    )
