"""Staged releases: what publication gets of a run that succeeded, or that only withdraws groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import psycopg

from pganon.encode.known import RETURNED
from pganon.forms.facts import PUBLISHED, SUPPRESSED
from pganon.forms.growing import standing_check, standing_increments
from pganon.forms.metrics import Metrics
from pganon.forms.stored import greatest_number
from pganon.forms.utility import Utility
from pganon.forms.withheld import WITHHELD, few_left_out, told_evidence
from pganon.history.increments.removed import LEAVING_RECORDS
from pganon.history.increments.steps import SOURCE_RECORDS
from pganon.metrics.alike import alike
from pganon.metrics.whole import whole_facts, whole_utility
from pganon.plan.build import Plan
from pganon.plan.verification import FINGERPRINT, earlier_measured, kept, measured
from pganon.plan.withdrawal import withdrawal
from pganon.privacy.base import from_below
from pganon.publish import release_state
from pganon.publish.staged import Staged
from pganon.resolved.guarantee import guarantee
from pganon.resolved.increments import Growth, Increment, all_checks, all_views, promised
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import Prints
from pganon.resolved.shards import UNLOCKED
from pganon.run import increments
from pganon.run.computation import Computation
from pganon.run.record import IncrementFigures, RunResult, Totals, Verified, result_of
from pganon.steps import State, stamp_of
from pganon.steps.facts import RECORDS, Fact
from pganon.steps.relations import CheckQuery, PublishedView

Connection = psycopg.Connection[Any]


def staged_release(
    plan: Plan,
    state: State,
    checks: tuple[CheckQuery, ...],
    measures: dict[str, Any],
    prints: Prints,
    sources: tuple[str, ...],
    source_mark: str | None,
) -> Staged:
    """The verified release for publication.

    Args:
        measures: of the run, for the steward.
        prints: of the source.
        sources: names of the source and of all that its rows come from.
        source_mark: of these, from before they were read.
    """
    spec = plan.spec
    relations = plan.relations(state)
    views = plan.stored_views(state)
    increments = _increments(plan, state, views, checks)
    return Staged(
        run_id=state.run_id,
        release=spec.policy.release,
        source=str(spec.source.name),
        method=plan.method.name,
        policy=spec.policy.document(),
        policy_hash=spec.policy_hash,
        guarantee=promised(increments) if increments else _stated(plan, state),
        relations=relations,
        views=all_views(increments, views) if increments else views,
        checks=_checks(plan, state, increments, checks),
        readers=spec.reading,
        trusted=spec.trusted,
        keep=spec.policy.publish.keep,
        row_count=totals(plan, state).released,
        suppressed=totals(plan, state).suppressed,
        stamps=tuple(state[stamp_of(r.staged)] for r in relations),
        fingerprint=state[FINGERPRINT],
        prints=prints,
        partition=spec.partition,
        sources=sources,
        compared_with=_compared_with(plan, prints.source),
        measures={**measures, WITHHELD: True} if _few_left_out(plan, state) else measures,
        shared=kept(spec, state),
        increments=increments,
        decides=_decides(spec),
        source_columns=tuple((c.name, c.type_name) for c in spec.source.columns),
        source_mark=source_mark,
        evidence=_evidence(plan, state),
    )


def _evidence(plan: Plan, state: State) -> dict[str, Any] | None:
    found = plan.evidence(state)
    return told_evidence(found) if found and _few_left_out(plan, state) else found


def _few_left_out(plan: Plan, state: State) -> bool:
    return few_left_out(plan.spec.policy, totals(plan, state).suppressed)


def _stated(plan: Plan, state: State) -> list[dict[str, Any]]:
    """The guarantee with what the form says of this version."""
    further = plan.method.form.publication.stated(plan.spec, state)
    return [{**item, **further} for item in guarantee(plan.spec)]


def _decides(spec: ReleaseSpec) -> bool:
    return spec.growth.adds if spec.growth is not None else spec.signatures is not None


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


def circumstances(spec: ReleaseSpec, state: State) -> dict[str, Any]:
    """What the ledger keeps of the reading of the source: people who were forgotten and are left
    out, and tables that writers could change while their shards were read, in all its runs."""
    returned = state.facts.get(RETURNED)
    earlier = spec.growth.unlocked if spec.growth else ()
    read = [str(name) for read in spec.distributed_reads for name in read.unlocked]
    unlocked = list(dict.fromkeys([*earlier, *read]))
    return {
        **({"forgotten": returned} if returned else {}),
        **({UNLOCKED: unlocked} if unlocked else {}),
    }


def _increment(statistics: IncrementFigures) -> dict[str, Any]:
    kept = _kept(statistics.utility, statistics.verified, statistics.metrics)
    return {"released": statistics.released, "suppressed": statistics.suppressed, **kept}


def figures(plan: Plan, state: State) -> Figures:
    """Of the version that the run makes."""
    spec, form, growth = plan.spec, plan.method.form, plan.spec.growth
    verified = verified_checks(plan.stored_checks(state), state)
    if growth is None or growth.version is None:
        utility = form.statistics.utility(spec, state.facts)
        return Figures(verified, utility, alike(spec, state.facts), plan.metrics(state))
    utility, same = _whole(plan, state)
    if not growth.adds:
        return Figures(verified, utility, same, grew=True)
    mine = IncrementFigures(
        state[PUBLISHED],
        state[SUPPRESSED],
        form.statistics.utility(spec, state.facts),
        verified,
        plan.metrics(state),
    )
    return Figures(_with_earlier(growth, verified, state), utility, same, None, True, mine)


def _whole(plan: Plan, state: State) -> tuple[Utility | None, dict[str, float]]:
    form = plan.method.form
    if not plan.whole.steps:
        return None, {}
    whole = totals(plan, state)
    utility = whole_utility(plan.whole_spec, form, state.facts, whole.released, whole.suppressed)
    return utility, alike(plan.spec, whole_facts(state.facts))


def _with_earlier(growth: Growth, mine: tuple[Verified, ...], state: State) -> tuple[Verified, ...]:
    """The worst of all increments, as :func:`~pganon.resolved.increments.all_checks` has them."""
    earlier = _verified(all_checks(growth.increments), state, earlier_measured)
    worst = {_subject(found): found for found in earlier}
    for found in mine:
        other = worst.get(_subject(found))
        pick = min if from_below(found.bound) else max
        measures = [found.measured, *([other.measured] if other else [])]
        worst[_subject(found)] = replace(found, measured=pick(measures))
    return tuple(worst.values())


def _subject(verified: Verified) -> tuple[object, ...]:
    return (verified.model, verified.column, verified.against, verified.bound, verified.required)


def _checks(
    plan: Plan, state: State, increments: tuple[Increment, ...], mine: tuple[CheckQuery, ...]
) -> tuple[CheckQuery, ...]:
    """Over the tables of all increments, if there are several."""
    growth = plan.spec.growth
    if growth is None:
        return mine
    return (*all_checks(increments), *standing_check(growth, state))


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


def _increments(
    plan: Plan, state: State, views: Sequence[PublishedView], checks: tuple[CheckQuery, ...]
) -> tuple[Increment, ...]:
    """Increments of a version that grows, with the one that the run adds."""
    if plan.spec.growth is None:
        return ()
    before = standing_increments(plan.spec.growth, state)
    if not plan.spec.growth.adds:
        return before
    selects = tuple(view.select for view in views)
    mine = Increment(
        state.run_id,
        selects,
        checks,
        state[PUBLISHED],
        state[SUPPRESSED],
        greatest_number(state.facts),
        tuple(guarantee(plan.spec)),
    )
    return (*before, mine)


def _compared_with(plan: Plan, fingerprint: bytes) -> frozenset[int] | None:
    """Runs beside whose versions alone the release may appear; None if beside any other."""
    republication = plan.republication
    if republication is None or not republication.refuses:
        return None
    if republication.repeated(fingerprint) is not None:
        return None  # it shows nothing new
    return frozenset(earlier.run_id for earlier in republication.earlier)


def verified_checks(checks: tuple[CheckQuery, ...], state: State) -> tuple[Verified, ...]:
    """Measures of the staged relations, one for each check."""
    return _verified(checks, state, measured)


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


def withdraw(
    conn: Connection, computation: Computation, sources: tuple[str, ...], source_mark: str | None
) -> tuple[Staged, RunResult]:
    """Stage and verify the newest version without the groups that go.

    Args:
        computation: of a run that read who is in the source; its plan is replaced.
        source_mark: of the sources, from before they were read.
    """
    before = release_state.read(conn, computation.plan.spec.policy.release)
    assert before is not None  # an individual that was removed was released
    newest = before.versions[0]
    plan = computation.plan = withdrawal(computation.plan)
    computation.complete()
    state = computation.describe()
    checks = plan.stored_checks(state)
    whole, statistics = totals(plan, state), figures(plan, state)
    measures = {**statistics.as_dict(whole.records), **circumstances(plan.spec, state)}
    prints = Prints(newest.source_fingerprint or b"", newest.rows_fingerprint or b"")
    staged = staged_release(plan, state, checks, measures, prints, sources, source_mark)
    growth = plan.spec.growth
    assert growth is not None
    result = replace(
        result_of(plan, state.run_id, whole),
        verified=statistics.verified,
        utility=statistics.utility,
        added=increments.added(growth, state),
    )
    return replace(staged, guarantee=newest.guarantee), result
