"""The best parameters that a release can reach, and the refusal of a policy with others."""

from __future__ import annotations

import math

from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.privacy.base import TOLERANCE, Bound, Model, Requirement

LEAST = 2
"""The smallest k and l that a policy can ask for."""


def infeasible(
    said: str, *, model: str, required: float, observed: float | None, hint: str
) -> PrivacyRefusal:
    """Refusal of a requirement that no groups of these records satisfy."""
    return PrivacyRefusal(
        said,
        model=model,
        required=required,
        observed=observed,
        hint=hint,
        code=ErrorCode.INFEASIBLE,
    )


def unreachable(
    requirement: Requirement, reached: float, among: str, *, otherwise: str
) -> PrivacyRefusal:
    """Refusal of a requirement that all records as one group miss.

    Args:
        among: what was looked for: "any release of these 6 records".
        otherwise: what helps beside a weaker parameter.
    """
    model = requirement.model
    return infeasible(
        f"{requirement.label} cannot be reached by {among}; {best_reachable(requirement, reached)}",
        model=model.name,
        required=model.parameter,
        observed=reached,
        hint=f"{weaker(requirement, reached)}, {otherwise}",
    )


def best_reachable(requirement: Requirement, reached: float) -> str:
    """In words, from the measure of all records as one group."""
    model = requirement.model
    if not math.isfinite(reached):
        return f"no {model.symbol} is enough"
    return f"the best reachable is {model.symbol} = {_rounded(model, reached):g}"


def weaker(requirement: Requirement, reached: float) -> str:
    """Hint at a weaker parameter: a larger t, or a smaller k or l."""
    model, declarable = requirement.model, requirement.declarable(reached)
    if not math.isfinite(declarable):
        return "choose another model"
    enough = _rounded(model, declarable)
    if model.bound is Bound.AT_LEAST and enough < LEAST:
        return f"no {model.symbol} can be required: choose another model or column"
    if model.symbol == "alpha" and enough > 1:
        return "no alpha can be required: choose another model or column"
    most = "most" if model.bound is Bound.AT_LEAST else "least"
    return f"require at {most} {model.symbol} = {enough:g}"


def _rounded(model: Model, reached: float) -> float:
    """The measure with three decimals, rounded to the side that can still be reached."""
    if model.bound is Bound.AT_LEAST:
        return math.floor(reached * (1 + TOLERANCE) * 1000) / 1000
    rounded = math.ceil((reached - TOLERANCE) * 1000) / 1000
    return rounded if model.satisfied_with(rounded, reached) else round(rounded + 0.001, 3)
