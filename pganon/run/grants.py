"""Roles that were let read a version by hand.

Nobody asked pganon, so they may have read it already. At the next look the version is judged as new
for them, a warning tells the steward, and versions that they should not have together are void.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pganon import locks
from pganon.catalog.roles import numbers
from pganon.errors import PrivacyRefusal, UsageError
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.guard import Guarded, history_of
from pganon.history.judgement import Verdict, Walk, admit, tells_apart
from pganon.history.versions import PastVersion
from pganon.identifiers import quote
from pganon.ledger import repository as ledger
from pganon.policy.loader import LoadedPolicy
from pganon.policy.model import Policy
from pganon.publish import lifecycle, release_state
from pganon.publish.lifecycle import Changed
from pganon.publish.listing import find
from pganon.publish.privileges import (
    beside,
    beyond_policy,
    new_readers,
    record_readers,
    roles_of,
    unrecorded_readers,
)
from pganon.publish.readers import ReaderChange, set_readers
from pganon.publish.release_state import History, Version
from pganon.publish.sessions import translated
from pganon.publish.transaction import publishing
from pganon.publish.views import check_readers
from pganon.run.context import resolve_policy
from pganon.run.executor import Executor
from pganon.run.record import recorded
from pganon.run.tables import drop_run
from pganon.sqlfiles import Connection
from pganon.steps import State


@dataclass(frozen=True)
class _Found:
    """Roles that can read the current version of a release, and could not before."""

    known: History
    current: Version
    roles: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"version {self.current.version} of {quote(self.known.release.name)}"

    @property
    def warning(self) -> str:
        names = ", ".join(map(quote, self.roles))
        return f"{names} can read {self.label} since it was published"


def with_readers(
    conn: Connection, population: int
) -> tuple[tuple[PastVersion, ...], tuple[str, ...]]:
    """The versions about a population with all who could read them until now; warnings.

    Under the lock of the population.

    Raises:
        LedgerError: memory.
    """
    about = memory.versions_about(conn, population)
    warnings: list[str] = []
    for gained in list(_unknown(conn, about)):
        warnings.append(gained.warning)
        if tells_apart(None, about):
            warnings += _judge_found(conn, gained, about)
        shown = [view.name for view in gained.current.views]
        record_readers(conn, gained.known.release.name, gained.current.version, shown)
        about = memory.versions_about(conn, population)
    return about, tuple(warnings)


def look(conn: Connection, population: int) -> tuple[str, ...]:
    """Judge who can read versions about a population, outside of runs; warnings.

    Raises:
        LedgerError: memory.
        PreconditionError: busy, if others judge for long.
    """
    if not any(_unknown(conn, memory.versions_about(conn, population))):
        return ()
    with locks.hold(conn, population=population):
        return with_readers(conn, population)[1]


def look_at(conn: Connection, releases: Iterable[str]) -> tuple[str, ...]:
    """The same of the people of releases, and who may read what is private."""
    of_releases = (populations.of_release(conn, name) for name in releases)
    numbers = dict.fromkeys(one.id for one in of_releases if one is not None)
    return (
        *(text for number in numbers for text in look(conn, number)),
        *beside(beyond_policy(conn)),
    )


def _unknown(conn: Connection, about: Sequence[PastVersion]) -> Iterator[_Found]:
    for release in dict.fromkeys(version.release for version in about):
        release_history = release_state.read(conn, release)
        roles = unrecorded_readers(conn, release_history) if release_history else ()
        if roles and release_history and release_history.current:
            yield _Found(release_history, release_history.current, roles)


def _judge_found(conn: Connection, gained: _Found, about: Sequence[PastVersion]) -> list[str]:
    """Check what these roles have now against what they had; warnings of void guarantees."""
    name, version = gained.known.release.name, gained.current
    with _run_of_its_own(conn, name, version, gained.roles) as walk:
        verdict = _admit(conn, version, gained.roles, about, walk, refuses=False)
    for one in verdict.crossings:
        memory.cross(conn, version.run_id, one)
    labels = {one.run_id: one.label for one in about}
    return [
        f"the guarantees of {gained.label} and {labels[one.run_id]} are void for who has both"
        for one in verdict.crossings
    ]


def change_readers(
    conn: Connection, name: str, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> ReaderChange:
    """Add readers to the current version and remove others; as the steward.

    The next run of a policy that says otherwise goes by the policy. Roles to be added are those
    that have the names now, also where a reader had one before. Where readers are told apart, what
    they have read and this version together is judged before.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: unknown_release, unknown_version; memory.
        UsageError: a role is in both lists, or to be removed and no reader.
        PreconditionError: busy, missing_role, replaced_role, no_grant, in_use,
            open_privileges.
    """
    with translated(), locks.hold(conn, release=name):
        history = find(conn, name)
        current = history.stored()
        added = numbers(conn, add)
        check_readers(conn, add, added, "name another one")
        before = history.release.roles
        both = [role for role in added if role in remove]
        if both:
            raise UsageError(f"{quote(both[0])} is to be added and to be removed")
        strangers = [role for role in remove if role not in before]
        if strangers:
            raise UsageError(
                f"{quote(strangers[0])} is no reader of {quote(history.release.name)};"
                f" its readers: {', '.join(map(quote, before)) or 'none'}",
                hint="the owner made other grants; `pganon readers NAME` says why a role can read",
            )
        wanted = {**{role: before[role] for role in before if role not in remove}, **added}
        command = f"`pganon readers {quote(name)}"
        remedy, again = f"{command} --remove ROLE`", f"{command} --add ROLE`"
        new = new_readers(conn, history, wanted)
        with admitted(conn, name, current, new) as warnings, publishing(conn):
            locks.assert_held(conn, release=name)
            history = find(conn, name)
            current = history.stored()  # it may have been withdrawn since it was judged
            change = set_readers(conn, history, wanted, remedy, again)
            if change.added or change.removed:
                ledger.append(
                    conn,
                    "readers",
                    run_id=current.run_id,
                    release=name,
                    version=current.version,
                    details={"added": list(change.added), "removed": list(change.removed)},
                )
        return replace(change, warnings=warnings)


def rollback(
    conn: Connection,
    name: str,
    to: int | None = None,
    *,
    last: Callable[[int], None] = lambda version: None,
) -> Changed:
    """:func:`pganon.publish.lifecycle.show_earlier`, after a check of the readers.

    Where readers are told apart, those who never had the earlier version are checked.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: memory.
    """
    judged = partial(admitted, conn, name)
    return lifecycle.show_earlier(conn, name, to, last=last, check_admission=judged)


@contextlib.contextmanager
def _run_of_its_own(
    conn: Connection, name: str, version: Version, roles: Sequence[str]
) -> Iterator[Walk]:
    """A run that judges readers of a version and makes none; in the ledger."""
    with recorded(conn, name, version.policy_hash) as run_id:
        yield Executor(conn, State(run_id)).run
        drop_run(conn, run_id)
        ledger.finish(conn, run_id, "readers", {"judged": list(roles)})


def _admit(
    conn: Connection,
    shown: Version,
    added: Sequence[str],
    about: Sequence[PastVersion],
    walk: Walk,
    *,
    refuses: bool = True,
) -> Verdict:
    runs = {shown.run_id, *(one.run_id for one in shown.increments or ())}
    verdict = admit(conn, walk, about, runs, roles_of(conn, added), refuses=refuses)
    memory.finer(conn, shown.run_id, verdict.finer_k)
    return verdict


@contextlib.contextmanager
def admitted(
    conn: Connection,
    name: str,
    shown: Version,
    added: Sequence[str],
    policy: Policy | None = None,
    run_id: int | None = None,
) -> Iterator[tuple[str, ...]]:
    """Judge roles that get to read a version of a release; gives warnings.

    For the length of a block nobody else judges. A run that grows holds the population already.

    Args:
        policy, run_id: of the run that lets them read what there is; None: the steward does.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: memory.
    """
    population = populations.of_release(conn, name)
    if population is None:
        yield ()
        return
    held = policy is not None and policy.refresh == "increments"
    with locks.hold(conn, population=None if held else population.id):
        about, warnings = with_readers(conn, population.id)
        refuses = policy is None or policy.republication == "refuse"
        if added and refuses and tells_apart(policy, about):
            with _refusing(conn, name, shown, added, run_id) as walk:
                _admit(conn, shown, added, about, walk)
        yield warnings


@contextlib.contextmanager
def _refusing(
    conn: Connection, name: str, shown: Version, added: Sequence[str], run_id: int | None
) -> Iterator[Walk]:
    """A run that judges readers; a refusal names whom it is about."""
    try:
        if run_id is not None:
            yield Executor(conn, State(run_id)).run
            return
        with _run_of_its_own(conn, name, shown, added) as walk:
            yield walk
    except PrivacyRefusal as refusal:
        raise PrivacyRefusal(
            f"for {', '.join(map(quote, added))} to read this version, too: {refusal.message}",
            hint="let roles read it that have read no other version about the same people",
            model=refusal.model,
            required=refusal.required,
            observed=refusal.observed,
            code=refusal.code,
            reason=refusal.reason,
        ) from None


def guarded(conn: Connection, loaded: LoadedPolicy) -> Guarded:
    """The history of the people of a policy; empty where nobody was released yet.

    Raises:
        PreconditionError: population, the policy has to say which one it is.
    """
    with translated():
        spec = resolve_policy(conn, loaded)
        sources = release_state.sources_of(conn, *spec.about_people)
        key = tuple(spec.individual or spec.record_key)
        population = populations.find(conn, spec, sources) if key else None
        if population is None:
            return Guarded(None, key, sources, (), ())
        return history_of(conn, population, look(conn, population))
