"""New readers of groups that there are, where readers are told apart: judged before they read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import psycopg

from pganon import locks
from pganon.errors import PganonError, PrivacyRefusal
from pganon.guard.audiences import Audience
from pganon.identifiers import quote
from pganon.ledger import repository as ledger
from pganon.policy.model import Policy
from pganon.publish import history, lifecycle, populations, readers
from pganon.publish.audience import roles_of
from pganon.publish.history import Version
from pganon.publish.lifecycle import Changed
from pganon.publish.memory import About
from pganon.publish.readers import Access
from pganon.run.apart import new_audiences, tells_apart, with_readers
from pganon.run.cleanup import drop_run
from pganon.run.executor import Executor
from pganon.run.independent import held_apart
from pganon.run.rebuilding import judge_again
from pganon.spec.republication import Earlier, beside_people
from pganon.steps import State

Connection = psycopg.Connection[Any]


@dataclass(frozen=True)
class Admission:
    """Roles that are about to read versions that there are.

    Attributes:
        about: all versions about the population.
        shown: runs of those that they are to read.
        policy: of a run that shows these again; None where nobody made a version.
    """

    conn: Connection
    population: int
    about: Sequence[About]
    shown: frozenset[int]
    roles: Sequence[str]
    policy: Policy | None = None

    @cached_property
    def audiences(self) -> tuple[Audience, ...]:
        """Whom nobody has judged so far, with all that they will have."""
        accepted = self.policy is not None and self.policy.republication != "refuse"
        given = self.policy.audiences if self.policy else None
        if accepted or not tells_apart(given, self.about):
            return ()
        return new_audiences(self.about, self.shown, self.roles)

    def judge(self, executor: Executor, first: int = 0) -> None:
        """Hold what they will have against what was promised.

        Args:
            first: number of the first memory that is made on the way.

        Raises:
            PrivacyRefusal: republication.
            LedgerError: memory.
        """
        for one in self.audiences:
            self._check_partitions(one.runs)
        for number, one in enumerate(self.audiences, start=first):
            versions = [version for version in self.about if version.run_id in one.runs]
            place = next(n for n, version in enumerate(versions) if version.run_id in self.shown)
            apart = [*held_apart(executor, self.population, versions, self.shown, number)]
            # A first version was verified by itself.
            whole = (versions, max(place, 1), False if apart else None)
            for told, judged, independent in (whole, *((*own, True) for own in apart)):
                judge_again(
                    executor,
                    self.conn,
                    self.population,
                    told,
                    first=first,
                    judged=judged,
                    name=one.name,
                    independent=independent,
                )

    def _check_partitions(self, runs: Collection[int]) -> None:
        """Refuse versions with several partitions, as the guard would find no fault with them."""
        versions = {one.run_id: one for one in history.earlier(self.conn, "", ())}
        shown = [versions[run] for run in self.shown if run in versions]
        had = [versions[run] for run in runs if run in versions and run not in self.shown]
        for one in shown:
            if not any(one.same_groups(other) for other in had):
                _check_beside(one, had, self.policy)


def _check_beside(one: Earlier, others: Sequence[Earlier], policy: Policy | None) -> None:
    for other in others:
        if not (one.is_plain and other.is_plain):
            raise beside_people(other, policy)


def change_readers(
    conn: Connection, name: str, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Access:
    """Add readers to the current version and remove others; as the steward.

    Where readers are told apart, what they have read and this version together is judged before.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: unknown_release, unknown_version; memory.
        UsageError: a role is in both lists, or to be removed and no reader.
        PreconditionError: busy, missing_role, no_grant.
    """

    return readers.change_readers(conn, name, add, remove, partial(_judged, conn, name))


def rollback(
    conn: Connection,
    name: str,
    to: int | None = None,
    *,
    last: Callable[[int], None] = lambda version: None,
) -> Changed:
    """:func:`pganon.publish.lifecycle.rollback`; where readers are told apart, those who never had
    the earlier version are judged before they can read it.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: memory.
    """
    judged = partial(_judged, conn, name)
    return lifecycle.rollback(conn, name, to, last=last, judged=judged)


@contextlib.contextmanager
def _judged(
    conn: Connection, name: str, shown: Version, roles: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    population = populations.of_release(conn, name) if roles else None
    if population is None:
        yield ()
        return
    with locks.population_lock(conn, population.id):
        about, warnings = with_readers(conn, population.id)
        admission = Admission(conn, population.id, about, _shown_by(shown), roles_of(conn, roles))
        if admission.audiences:
            _judge(conn, name, shown, roles, admission)
        yield warnings


def _judge(
    conn: Connection, name: str, current: Version, added: Sequence[str], admission: Admission
) -> None:
    """In a run of its own."""
    run_id = ledger.start_run(conn, name, current.policy_hash or "")
    with locks.run_lock(conn, run_id):
        try:
            admission.judge(Executor(conn, State(run_id)))
            drop_run(conn, run_id)
            ledger.finish(conn, run_id, "readers", {"judged": list(added)})
        except PrivacyRefusal as refusal:
            _end(conn, run_id, refusal)
            raise _refused(refusal, added) from None
        except BaseException as error:
            _end(conn, run_id, error)
            raise


def _end(conn: Connection, run_id: int, error: BaseException) -> None:
    with contextlib.suppress(psycopg.Error, PganonError):
        ledger.finish_with(conn, run_id, error)
        drop_run(conn, run_id)


@contextlib.contextmanager
def admitted(
    conn: Connection, policy: Policy, run_id: int, current: Version, added: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """Judge readers whom the policy of a run lets read what there is; gives warnings.

    For the length of a block nobody else judges. A run that grows holds the population already.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: memory.
    """
    population = populations.of_release(conn, policy.release) if added else None
    if population is None:
        yield ()
        return
    held = policy.refresh == "increments"
    with contextlib.nullcontext() if held else locks.population_lock(conn, population.id):
        about, warnings = with_readers(conn, population.id)
        roles = roles_of(conn, added)
        admission = Admission(conn, population.id, about, _shown_by(current), roles, policy)
        try:
            admission.judge(Executor(conn, State(run_id)))
        except PrivacyRefusal as refusal:
            raise _refused(refusal, added) from None
        yield warnings


def _shown_by(version: Version) -> frozenset[int]:
    """Runs whose groups a version shows."""
    return frozenset([version.run_id, *(one.run_id for one in version.increments or ())])


def _refused(refusal: PrivacyRefusal, added: Sequence[str]) -> PrivacyRefusal:
    return PrivacyRefusal(
        f"for {', '.join(map(quote, added))} to read this version, too: {refusal.message}",
        hint="let roles read it that have read no other version about the same people",
        model=refusal.model,
        required=refusal.required,
        observed=refusal.observed,
        code=refusal.code,
    )
