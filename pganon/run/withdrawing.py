"""Versions that only withdraw groups, of runs that have nobody to add."""

from __future__ import annotations

from dataclasses import replace

import psycopg

from pganon.plan.withdrawal import withdrawal
from pganon.publish import history
from pganon.publish.staged import Staged
from pganon.resolved.republication import Prints
from pganon.run import growing, handover
from pganon.run.computation import Computation
from pganon.run.result import RunResult

Connection = psycopg.Connection[tuple[object, ...]]


def withdraw(
    conn: Connection, computation: Computation, sources: tuple[str, ...], source_mark: str | None
) -> tuple[Staged, RunResult]:
    """Stage and verify the newest version without the groups that go.

    Args:
        computation: of a run that knows who left; its plan becomes that of the withdrawal.
        source_mark: of the sources, from before they were read.
    """
    before = history.read(conn, computation.plan.spec.policy.release)
    assert before is not None  # somebody was released who left
    newest = before.versions[0]
    plan = computation.plan = withdrawal(computation.plan)
    state = computation.complete()
    checks = plan.stored_checks(state)
    totals, figures = handover.totals(plan, state), handover.figures(plan, state)
    measures = {**figures.as_dict(totals.records), **handover.left_out(state)}
    prints = Prints(newest.source_fingerprint or b"", newest.rows_fingerprint or b"")
    staged = handover.staged(plan, state, checks, measures, prints, sources, source_mark)
    growth = plan.spec.growth
    assert growth is not None
    result = RunResult(
        release=plan.spec.policy.release,
        version=None,
        run_id=state.run_id,
        view=str(plan.spec.view),
        method=plan.method.name,
        records=totals.records,
        released=totals.released,
        suppressed=totals.suppressed,
        verified=figures.verified,
        utility=figures.utility,
        metrics=None,
        unreleased_columns=plan.spec.unreleased,
        warnings=(),
        seconds=0.0,
        added=growing.added(growth, state),
    )
    return replace(staged, guarantee=newest.guarantee), result
