"""The end of a dry run: its result, with the reason why publication would be refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg

from pganon import locks
from pganon.encode.source import prints_of
from pganon.errors import PrivacyRefusal
from pganon.ledger import repository as ledger
from pganon.metrics.reasons import reasons
from pganon.plan.build import Plan
from pganon.publish.views import built_upon
from pganon.run.judgement import Judging
from pganon.run.result import RunResult
from pganon.steps import State

Connection = psycopg.Connection[Any]


def end_dry_run(
    conn: Connection, plan: Plan, state: State, result: RunResult, judging: Judging | None
) -> RunResult:
    """The result of a dry run that computed and verified a release; it is in the ledger then.

    Args:
        judging: the rule about groups; None where nothing is compared with earlier versions.
    """
    dependents = built_upon(conn, result.release, plan.stored_views(state))
    refusal = _refusal(plan, state, judging)
    details = ledger.error_details(refusal) if refusal else {}
    ledger.finish(conn, result.run_id, "dry_run", details)
    utility = plan.method.form.statistics.utility(plan.spec, state.facts)
    return replace(
        result,
        outcome="dry_run",
        dependents=tuple(dependents),
        reasons=reasons(plan.spec, state, utility),
        refusal=refusal.message if refusal else None,
        refusal_hint=refusal.hint if refusal else None,
        guard=judging.figures if judging and refusal is None else {},
    )


def _refusal(plan: Plan, state: State, judging: Judging | None) -> PrivacyRefusal | None:
    """The refusal by which publication of the release would end."""
    republication = plan.republication
    refusal = republication and republication.if_published(prints_of(plan.spec, state.facts))
    if refusal is not None or judging is None:
        return refusal
    try:
        with locks.hold(judging.conn, population=judging.population):
            judging.judge()
    except PrivacyRefusal as refused:
        return refused
    return None
