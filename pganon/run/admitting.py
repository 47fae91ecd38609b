"""New readers of a version whose policy tells readers apart: judged before they can read it."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Sequence
from typing import Any

import psycopg

from pganon import locks
from pganon.errors import PganonError, PrivacyRefusal
from pganon.identifiers import quote
from pganon.ledger import repository as ledger
from pganon.publish import history, populations, readers
from pganon.publish.audience import roles_of
from pganon.publish.history import History, Version
from pganon.publish.memory import About
from pganon.publish.readers import Access
from pganon.run.apart import had_beside, largest, with_readers
from pganon.run.cleanup import drop_run
from pganon.run.executor import Executor
from pganon.run.rebuilding import replay
from pganon.spec.republication import Earlier, beside_people
from pganon.steps import State

Connection = psycopg.Connection[Any]


def change_readers(
    conn: Connection, name: str, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Access:
    """Add readers to the current version and remove others; as the steward.

    With `audiences: by_reader`, what they have read and this version together is judged before.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: unknown_release, unknown_version; memory.
        UsageError: a role is in both lists, or to be removed and no reader.
        PreconditionError: busy, missing_role, no_grant.
    """

    def judge(known: History, current: Version, added: Sequence[str]) -> tuple[str, ...]:
        if added and current.policy.get("audiences") == "by_reader":
            return _judge(conn, known, current, added)
        return ()

    return readers.change_readers(conn, name, add, remove, judge)


def _judge(
    conn: Connection, known: History, current: Version, added: Sequence[str]
) -> tuple[str, ...]:
    """Gives warnings."""
    name = known.release.name
    population = populations.of_release(conn, name)
    if population is None:
        return ()
    with locks.population_lock(conn, population.id):
        about, noticed = with_readers(conn, population.id)
        roles = roles_of(conn, added)
        found = _new_audiences(about, current.run_id, roles)
        other = _incomparable(conn, known, current, [*had_beside(about, current.run_id, roles)])
        if not found and other is None:
            return noticed
        run_id = ledger.start_run(conn, name, current.policy_hash or "")
        with locks.run_lock(conn, run_id):
            try:
                if other is not None:
                    raise beside_people(other)
                for audience, versions in found:
                    executor = Executor(conn, State(run_id))
                    place = [version.run_id for version in versions].index(current.run_id)
                    judged = max(place, 1)  # a first version was verified by itself
                    replay(executor, conn, population.id, versions, judged=judged, name=audience)
                    drop_run(conn, run_id)
                ledger.finish(conn, run_id, "readers", {"judged": list(added)})
            except PrivacyRefusal as refusal:
                _end(conn, run_id, refusal)
                raise _refused(refusal, added) from None
            except BaseException as error:
                _end(conn, run_id, error)
                raise
    return noticed


def _incomparable(
    conn: Connection, known: History, current: Version, had: Sequence[Collection[int]]
) -> Earlier | None:
    """A version that somebody has beside whose partitions, or its own, the guard finds no fault.

    Args:
        had: runs of the versions of who is let read the current one.
    """
    versions = {one.run_id: one for one in history.earlier(conn, known.release.name, ())}
    own = versions[current.run_id]
    for runs in had:
        others = [one for run, one in versions.items() if run in runs]
        if any(one.same_groups(own) for one in others):
            continue  # the groups are not new to them
        for one in others:
            grown = current.increments is not None and one.release == own.release
            if not (grown or (own.is_plain and one.is_plain)):
                return one
    return None


def _end(conn: Connection, run_id: int, error: BaseException) -> None:
    with contextlib.suppress(psycopg.Error, PganonError):
        ledger.finish_with(conn, run_id, error)
        drop_run(conn, run_id)


def _refused(refusal: PrivacyRefusal, added: Sequence[str]) -> PrivacyRefusal:
    return PrivacyRefusal(
        f"for {', '.join(map(quote, added))} to read this version, too: {refusal.message}",
        hint="let roles read it that have read no other version about the same people",
        model=refusal.model,
        required=refusal.required,
        observed=refusal.observed,
        code=refusal.code,
    )


def _new_audiences(
    about: Sequence[About], run_id: int, roles: Sequence[str]
) -> list[tuple[str, list[About]]]:
    """Audiences that are none so far, and no part of one, with their versions in order."""
    before, after = largest(about, {}), largest(about, {run_id: roles})
    if before is None:
        return []
    if after is None:
        return [("", list(about))]
    return [
        (one.name, [version for version in about if version.run_id in one.runs])
        for one in after
        if not any(one.runs <= other.runs for other in before)
    ]
