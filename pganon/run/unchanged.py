"""Runs that make nothing new, as readers see already what they would make."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import psycopg

from pganon import locks
from pganon.catalog.roles import unchanged as unchanged_roles
from pganon.encode.source import averaged_print, source_fingerprint
from pganon.encode.weights import OF_RELEASE
from pganon.error_codes import ErrorCode
from pganon.errors import PrivacyRefusal
from pganon.history.increments.steps import NEW_INDIVIDUALS
from pganon.ledger import repository as ledger
from pganon.plan.build import Plan
from pganon.policy.partition import shown_part
from pganon.publish import recording, release_state, views
from pganon.publish.listing import find
from pganon.publish.privileges import new_readers
from pganon.publish.readers import reader_change, set_readers
from pganon.publish.release_state import History, Version
from pganon.publish.transaction import is_intact, publishing, retire, show_version
from pganon.resolved.increments import Growth
from pganon.resolved.model import ReleaseSpec
from pganon.resolved.republication import same_source
from pganon.run.grants import admitted
from pganon.run.options import Options
from pganon.run.publication import Ending
from pganon.run.record import RunResult, unchanged_result
from pganon.run.tables import drop_run
from pganon.sqlfiles import Connection, ask
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
    history = release_state.read(conn, spec.policy.release)
    current = history.current if history else None
    if history is None or current is None or not current.stored:
        return None
    fingerprint = source_fingerprint(spec, state.facts)
    same = any(
        candidate.run_id == current.run_id
        and same_source(candidate.source_fingerprint, fingerprint)
        for candidate in republication.candidates
    )
    if not same or shown_part(current.policy) != shown_part(spec.policy.document()):
        return None
    if not is_intact(conn, current):
        return None
    judged = spec.policy.publish.approval is not None or spec.policy.audiences == "by_reader"
    if judged and reader_change(history, spec.reading).added:
        return None  # by who must approve, or with what these have read
    settled = plan.method.form.publication.settled(spec)
    if not settled:  # its columns follow from the data, and these are the same
        return current, current.views
    weights = current.measures.get("weights", {})
    if spec.shows_means and current.measures.get("means") != averaged_print(spec, state.facts):
        return None  # the same groups show other means
    facts = {fact: weights[fact.column] for fact in OF_RELEASE if fact.column in weights}
    made = State(current.run_id).observing(facts)
    views, checks = plan.stored_views(made), plan.stored_checks(made)

    def shown(views: Sequence[PublishedView]) -> list[Any]:
        return [(v.name, v.select, [(c.name, c.type) for c in v.columns]) for v in views]

    verified = [check.as_dict() for check in checks]
    if shown(views) != shown(current.views) or verified != current.checks:
        return None
    return current, views


def renew(
    conn: Connection,
    ending: Ending,
    plan: Plan,
    run_id: int,
    current: Version,
    shown: tuple[PublishedView, ...],
) -> RunResult:
    """Apply the parts of a policy that do not need a new version to the one that there is.

    Readers, the number of versions kept, and comments are those of the policy afterwards, and
    views that somebody changed or dropped are made again. The session must hold the locks of the
    release and the run.

    Args:
        shown: views of the current version, as this program would make them.

    Raises:
        PreconditionError: lock_lost, name_taken, missing_role, replaced_role, no_grant, in_use,
            open_privileges.
    """
    spec, name = plan.spec, plan.spec.policy.release
    history = find(conn, name)
    added = new_readers(conn, history, spec.reading)
    with admitted(conn, spec.policy, run_id, current, added) as warnings, publishing(conn):
        locks.assert_held(conn, release=name, run_id=run_id)
        history = find(conn, name)
        current = history.version(None)
        done = _views(conn, spec, shown, history, current)
        done += set_readers(conn, history, spec.reading).texts
        kept = spec.policy.publish.keep
        old = [v for v in history.versions[kept:] if v.version != current.version]
        retired = retire(conn, name, old)
        if retired:
            done.append(f"versions no longer stored: {', '.join(map(str, sorted(retired)))}")
        ledger.append(
            conn,
            "unchanged",
            run_id=run_id,
            release=name,
            version=current.version,
            policy_hash=spec.policy_hash,
            details={"applied": done},
        )
        ending.left(conn, current.version)
    with contextlib.suppress(psycopg.Error):
        drop_run(conn, run_id)
    result = unchanged_result(plan, current, run_id, tuple(done))
    return replace(result, warnings=(*warnings, *result.warnings))


def _views(
    conn: Connection,
    spec: ReleaseSpec,
    shown: tuple[PublishedView, ...],
    history: History,
    current: Version,
) -> list[str]:
    done: list[str] = []
    name = history.release.name
    standing = ask(conn, "publish", "view_stands", release=name, version=current.version)
    if not all(stands for (stands,) in standing):
        dependents = show_version(
            conn,
            name,
            history,
            current.version,
            shown,
            unchanged_roles(conn, history.release.roles),
            trusted=spec.trusted,
        )
        done.append("the views were made again")
        done += views.dependent_texts(dependents)
    if shown != current.views:
        views.describe(conn, shown)
        recording.set_views(conn, name, current.version, shown)
        recording.remember_views(conn, name, current.version)
        done.append("comments")
    return done


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
