"""Figures of a version, as the steps of a run measured them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from pganon.encode.earlier_people import RETURNED
from pganon.encode.source import averaged_print
from pganon.encode.weights import weighted_risk
from pganon.forms.facts import PUBLISHED, SUPPRESSED
from pganon.forms.metrics import Metrics
from pganon.forms.utility import Utility
from pganon.history.increments.removals import LEAVING_RECORDS
from pganon.history.increments.steps import SOURCE_RECORDS
from pganon.metrics.alike import alike
from pganon.metrics.whole import whole_facts, whole_utility
from pganon.plan.build import Plan
from pganon.plan.verification import earlier_measured, measured
from pganon.privacy.base import from_below
from pganon.resolved.increments import all_checks
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.warnings import UNLOCKED
from pganon.steps import State
from pganon.steps.facts import RECORDS, Fact
from pganon.steps.relations import CheckQuery


@dataclass(frozen=True)
class Verified:
    """One requirement as measured on the published relations.

    Attributes:
        measured: the worst group's measure.
        against: the distribution it was compared with, for closeness.
    """

    model: str
    column: str | None
    symbol: str
    bound: str
    required: float
    measured: float
    against: str = ""


@dataclass(frozen=True)
class IncrementFigures:
    """Statistics of the groups that a run added to a version, beside those of the whole.

    Attributes:
        released, suppressed: records of newcomers in them, and those that are permanently
        suppressed. verified: the requirements of the policy. metrics: if they were asked for.
    """

    released: int
    suppressed: int
    utility: Utility
    verified: tuple[Verified, ...]
    metrics: Metrics | None = None


@dataclass(frozen=True)
class Totals:
    """Records of the source, and those of them that a version has and has not."""

    records: int
    released: int
    suppressed: int


@dataclass(frozen=True)
class Figures:
    """Statistics of a version.

    Attributes:
        utility: None where the form of a version that grows has no statistics of a whole.
        alike: see :func:`pganon.metrics.alike.alike`.
        grew: whether it is another version, changed; else the run made all of it.
        increment: of what the run added to that; None if nothing.
    """

    verified: tuple[Verified, ...]
    utility: Utility | None
    alike: dict[str, float]
    metrics: Metrics | None = None
    grew: bool = False
    increment: IncrementFigures | None = None

    def as_dict(self, records: int) -> dict[str, Any]:
        """The form that the ledger keeps; `records` are those of the source."""
        increment = self.increment
        return {
            "records": records,
            **_kept(self.utility, self.verified, self.metrics),
            "alike": self.alike,
            **({"increment": increment and _increment(increment)} if self.grew else {}),
        }


def _kept(
    utility: Utility | None, verified: tuple[Verified, ...], metrics: Metrics | None
) -> dict[str, Any]:
    return {
        **({"utility": asdict(utility)} if utility else {}),
        "verified": [one.__dict__ for one in verified],
        **({"metrics": asdict(metrics)} if metrics else {}),
    }


def _increment(statistics: IncrementFigures) -> dict[str, Any]:
    kept = _kept(statistics.utility, statistics.verified, statistics.metrics)
    return {"released": statistics.released, "suppressed": statistics.suppressed, **kept}


def figures(plan: Plan, state: State) -> Figures:
    """Of the version that the run makes."""
    spec, form, growth = plan.spec, plan.method.form, plan.spec.growth
    verified = _verified(plan.stored_checks(state), state, measured)
    if growth is None or growth.version is None:
        utility = form.statistics.utility(spec, state.facts)
        return Figures(verified, utility, alike(spec, state.facts), plan.metrics(state))
    utility, same = _whole(plan, state)
    if not growth.adds:
        return Figures(_worst(verified), utility, same, grew=True)
    earlier = _verified(all_checks(growth.increments), state, earlier_measured)
    mine = IncrementFigures(
        state[PUBLISHED],
        state[SUPPRESSED],
        form.statistics.utility(spec, state.facts),
        verified,
        plan.metrics(state),
    )
    return Figures(_worst((*earlier, *verified)), utility, same, None, True, mine)


def _whole(plan: Plan, state: State) -> tuple[Utility | None, dict[str, float]]:
    form = plan.method.form
    if not plan.whole.steps:
        return None, {}
    whole = totals(plan, state)
    utility = whole_utility(plan.whole_spec, form, state.facts, whole.released, whole.suppressed)
    return utility, alike(plan.spec, whole_facts(state.facts))


def _worst(each: Sequence[Verified]) -> tuple[Verified, ...]:
    """Of all increments, as :func:`~pganon.resolved.increments.all_checks` has them."""
    worst: dict[tuple[object, ...], Verified] = {}
    for found in each:
        other = worst.get(_subject(found))
        pick = min if from_below(found.bound) else max
        measures = [found.measured, *([other.measured] if other else [])]
        worst[_subject(found)] = replace(found, measured=pick(measures))
    return tuple(worst.values())


def _subject(verified: Verified) -> tuple[object, ...]:
    return (verified.model, verified.column, verified.against, verified.bound, verified.required)


def totals(plan: Plan, state: State) -> Totals:
    """Of the whole version, also where the run added to one."""
    growth = plan.spec.growth
    if growth is None:
        return Totals(state[RECORDS], state[PUBLISHED], state[SUPPRESSED])
    published, suppressed, withdrawn = (
        state.facts.get(fact) or 0 for fact in (PUBLISHED, SUPPRESSED, LEAVING_RECORDS)
    )
    if not growth.adds:
        published = suppressed = 0  # what a cohort that failed would have had
    return Totals(
        state[SOURCE_RECORDS],
        growth.shown + published - withdrawn,
        growth.suppressed + suppressed,
    )


def _verified(
    checks: tuple[CheckQuery, ...],
    state: State,
    fact: Callable[[int], Fact[float | None]],
) -> tuple[Verified, ...]:
    return tuple(
        Verified(
            model=check.model,
            column=check.column,
            symbol=check.symbol,
            bound=check.bound,
            required=check.parameter,
            measured=_measured(state[fact(number)]),
            against=check.against,
        )
        for number, check in enumerate(checks)
    )


def _measured(value: float | None) -> float:
    assert value is not None  # or the run would have been refused
    return value


def circumstances(spec: ReleaseSpec, state: State) -> dict[str, Any]:
    """What the ledger keeps of the reading of the source: people who were forgotten and are left
    out, and tables that writers could change while their shards were read, in all its runs."""
    returned = state.facts.get(RETURNED)
    earlier = spec.growth.unlocked if spec.growth else ()
    read = [str(name) for read in spec.distributed_reads for name in read.unlocked]
    unlocked = list(dict.fromkeys([*earlier, *read]))
    means = spec.shows_means and spec.growth is None
    weights = weighted_risk(state.facts) if means and spec.averaged else None
    return {
        **({"weights": weights} if weights else {}),
        **({"means": averaged_print(spec, state.facts)} if means else {}),
        **({"forgotten": returned} if returned else {}),
        **({UNLOCKED: unlocked} if unlocked else {}),
    }
