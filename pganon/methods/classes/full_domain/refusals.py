"""Refusals: unclear levels, requirements that no levels satisfy, a search that ended too soon."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlglot import exp

from pganon.encode.axis import NominalAxis, axes
from pganon.encode.facts import KEPT
from pganon.error_codes import ErrorCode
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.methods.classes.full_domain import facts
from pganon.methods.classes.full_domain.estimates import said
from pganon.methods.classes.full_domain.keys import (
    WORD,
    ambiguous,
    field_bits,
    height,
    shape,
)
from pganon.methods.classes.full_domain.measures import Measures
from pganon.methods.classes.full_domain.rounds import levels, limit
from pganon.methods.common.reachable import infeasible, unreachable
from pganon.methods.common.suppression import enough
from pganon.privacy.base import Requirement
from pganon.privacy.population import searched
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import col, fragment, named, query, scalar
from pganon.steps import Check, State
from pganon.steps.facts import RECORDS, Fact, count, flag, measure, or_null

WHOLE = count("whole", "levels_")
"""Loss of all records on the highest levels of their hierarchies, in units of 1e-9 of one."""


def unfit_levels(spec: ReleaseSpec, row: Mapping[str, Any], state: State) -> PganonError | None:
    """Hierarchies without a level that the policy names, or whose labels are not clear."""
    for axis in axes(spec.attributes):
        name = axis.attribute.column.name
        declared, top = spec.policy.columns[name].levels, height(axis, state)
        if declared is not None and declared[1] > top:
            return _unfit(
                name,
                f"levels: [{declared[0]}, {declared[1]}] asks for level {declared[1]}, and the"
                f" highest is {top}",
                f"write levels: [{min(declared[0], top)}, {top}], or leave levels out",
            )
        if row[ambiguous(axis).column]:
            return _unfit(
                name,
                f"{_labels(row[ambiguous(axis).column])} for other values on one level than on"
                " another, so that a reader could not tell which is meant",
                "give every label of the hierarchy a name of its own",
            )
        if field_bits(state[shape(axis)]) > WORD - 1:
            return _unfit(
                name, "has too many levels with several labels each", "leave some of its levels out"
            )
        many = isinstance(axis, NominalAxis) and axis.words(state) == 0
        if many and (declared is None or declared[1] > 0):
            return _unfit(
                name,
                f"has none, and {axis.size(state)} values are too many to be shown together",
                "add hierarchy:, or levels: [0, 0] to publish the values themselves",
            )
    return None


def _labels(number: int) -> str:
    return "1 label stands" if number == 1 else f"{number} labels stand"


def _unfit(name: str, said: str, hint: str) -> PreconditionError:
    return PreconditionError(
        f"hierarchy of column {quote(name)}: {said}", hint=hint, code=ErrorCode.HIERARCHY
    )


def _reached(number: int) -> Fact[float | None]:
    return or_null(measure(f"reached{number}", "top_"))


def _missed(number: int) -> Fact[bool]:
    return flag(f"missed{number}", "top_", assumed=False)


def _every(spec: ReleaseSpec) -> list[Requirement]:
    """The requirements that the search heeds."""
    return [*spec.measured, *searched(spec.requirements)]


def top_check(spec: ReleaseSpec) -> Check:
    """What the classes of the highest levels reach, for the refusal of what none can."""

    def select(state: State) -> exp.Select:
        tree = query(
            "select sum(m.most)::bigint as whole from"
            " (select max(l.loss) as most from l group by l.attribute) as m",
            {"l": state.work("losses")},
        )
        _, highest = levels(spec, state)
        measures = Measures(spec, state)
        for number, requirement in enumerate(_every(spec)):
            model = requirement.model
            measured = measures.by_model(requirement, highest)
            worst = "min" if model.bound.value == ">=" else "max"
            reached = exp.cast(exp.func(worst, col("measure", "m")), "double precision")
            missed = fragment("bool_or(not :holds)", holds=model.holds(col("measure", "m")))
            for value, fact in ((reached, _reached(number)), (missed, _missed(number))):
                found = query("select 1 from m", {"m": measured}).select(value, append=False)
                tree = tree.select(named(scalar(found), fact.column))
        return tree

    def problem(row: Mapping[str, Any], state: State) -> PganonError | None:
        """A population that is not larger than the source."""
        try:
            for model in spec.estimated:
                model.estimated({state[RECORDS]: 1})
        except PreconditionError as refusal:
            return refusal
        return None

    every = range(len(_every(spec)))
    return Check(
        "top",
        "what the highest levels reach",
        select,
        problem,
        gives=[WHOLE, *[f(number) for number in every for f in (_reached, _missed)]],
    )


def not_found(spec: ReleaseSpec, state: State) -> PrivacyRefusal:
    """No levels within the limit; or none was found among those that were tried."""
    allowed = limit(spec, state)
    least = state[facts.LEAST]
    if not state[facts.PROVED]:
        return PrivacyRefusal(
            f"no levels were found among {state[facts.EVALUATED]} that were tried; others may do"
            f"{_too_unique(spec, state)}",
            required=allowed,
            observed=least,
            hint="raise max_nodes of the method, or write a larger suppression_limit",
            code=ErrorCode.LEVELS_NOT_FOUND,
        )
    if state[facts.MISSED]:
        return _unestimated(spec, state)
    for number, requirement in enumerate(_every(spec)):
        reached = state[_reached(number)]
        if allowed == 0 and state[_missed(number)] and reached is not None:
            return unreachable(
                requirement,
                reached,
                f"any levels of these {state[KEPT]} records",
                otherwise=_larger(least, state),
            )
    wanted = " and ".join(requirement.label for requirement in _every(spec))
    return infeasible(
        f"no levels satisfy {wanted} with at most {allowed} of {state[KEPT]} records left out;"
        f" the fewest that were seen to be are {least}",
        model=_every(spec)[0].model.name,
        required=allowed,
        observed=least,
        hint=f"weaken a requirement, {_larger(least, state)}",
    )


def _too_unique(spec: ReleaseSpec, state: State) -> str:
    """What was estimated of levels that satisfy the rest."""
    if not state[facts.MISSED]:
        return ""
    found = said(state[facts.NEAREST], state[facts.REASONS])
    return f"; {state[facts.MISSED]} miss {spec.estimated[0].label}: {found}"


def _unestimated(spec: ReleaseSpec, state: State) -> PrivacyRefusal:
    model = spec.estimated[0]
    return infeasible(
        f"no levels satisfy {model.label}, as {state[facts.MISSED]} that satisfy the rest miss it:"
        f" {said(state[facts.NEAREST], state[facts.REASONS])}",
        model=model.name,
        required=model.share,
        observed=state[facts.NEAREST],
        hint="write a larger share, allow higher levels, or name another estimator",
    )


def _larger(least: int, state: State) -> str:
    if least >= state[KEPT]:
        return "or release other records"
    return f"or write suppression_limit: {enough(least, state):g}"
