"""Runs that make nothing new, as readers see already what they would make."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import psycopg

from pganon.encode.source import averaged_print, source_fingerprint
from pganon.encode.weights import OF_RELEASE
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.history.increments.steps import NEW_INDIVIDUALS
from pganon.plan.build import Plan
from pganon.publish import release_state, renewal
from pganon.publish.privileges import new_readers
from pganon.publish.readers import reader_change
from pganon.publish.release_state import Version
from pganon.publish.transaction import is_intact
from pganon.resolved.increments import Growth
from pganon.run.grants import admitted
from pganon.run.options import Options
from pganon.run.publication import Ending, needs_approval
from pganon.run.record import RunResult, unchanged_result
from pganon.run.tables import drop_run
from pganon.sqlfiles import Connection
from pganon.steps import State
from pganon.steps.relations import PublishedView


def up_to_date(
    conn: Connection, plan: Plan, state: State, options: Options
) -> tuple[Version, tuple[PublishedView, ...]] | None:
    """The version that readers see, if source and policy are those that it was made from.

    And its views, as this program would make them.
    """
    spec, republication = plan.spec, plan.republication
    if options.force or options.dry_run or republication is None:
        return None
    versions = release_state.read(conn, spec.policy.release)
    current = renewal.up_to_date_version(
        versions, republication, source_fingerprint(spec, state.facts)
    )
    if current is None or not is_intact(conn, current):
        return None
    if versions and needs_approval(spec, versions):
        return None
    if (
        versions
        and spec.policy.audiences == "by_reader"
        and reader_change(versions, spec.reading).added
    ):
        return None  # judged with what these have read
    settled = plan.method.form.publication.settled(spec)
    if not settled:  # its columns follow from the data, and these are the same
        return current, current.views
    weights = current.measures.get("weights", {})
    if spec.shows_means and current.measures.get("means") != averaged_print(spec, state.facts):
        return None  # the same groups show other means
    shown = {fact: weights[fact.column] for fact in OF_RELEASE if fact.column in weights}
    made = State(current.run_id).observing(shown)
    views, checks = plan.stored_views(made), plan.stored_checks(made)
    if not renewal.shows_the_same(views, checks, current):
        return None
    return current, views


def renew(
    conn: Connection,
    ending: Ending,
    plan: Plan,
    run_id: int,
    current: Version,
    views: tuple[PublishedView, ...],
) -> RunResult:
    """Apply what the policy says of readers and such to the version that there is."""
    spec = plan.spec
    versions = release_state.read(conn, spec.policy.release)
    added = new_readers(conn, versions, spec.reading) if versions else ()
    with admitted(conn, spec.policy, run_id, current, added) as warnings:
        applied = ending.renew(conn, spec, run_id, views)
    with contextlib.suppress(psycopg.Error):
        drop_run(conn, run_id)
    result = unchanged_result(plan, current, run_id, applied)
    return replace(result, warnings=(*warnings, *result.warnings))


def standing(conn: Connection, plan: Plan, growth: Growth, state: State) -> Version:
    """The version that readers go on seeing, as there are too few new individuals.

    Raises:
        PrivacyRefusal: too_few_records, there is no version yet.
        LedgerError: not_stored.
    """
    shown = release_state.read(conn, plan.spec.policy.release)
    if shown is None or not shown.versions:
        new = state[NEW_INDIVIDUALS]
        said, hint = f"{new} people, a cohort needs {growth.size}", "run again when there are more"
        if growth.unfinished is not None and new >= growth.size:
            said = f"{new} new people, and nobody whom an earlier run was to test is left"
            hint = "run again: the next run tests the new ones"
        raise PrivacyRefusal(
            f"{plan.spec.source.name} has {said}",
            required=growth.size,
            observed=new,
            hint=hint,
            code=ErrorCode.TOO_FEW_RECORDS,
        )
    return shown.stored()
