"""New readers of groups that there are, where readers are told apart: judged before they read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg

from pganon import locks
from pganon.errors import PganonError, PrivacyRefusal
from pganon.history.check import Rule, rule_steps
from pganon.history.model import New, Past
from pganon.history.readers import gaining
from pganon.identifiers import quote
from pganon.ledger import repository as ledger
from pganon.policy.model import Policy
from pganon.publish import lifecycle, memory, populations, readers
from pganon.publish.audience import roles_of
from pganon.publish.history import Version
from pganon.publish.lifecycle import Changed
from pganon.publish.memory import About
from pganon.publish.readers import Access
from pganon.run.cleanup import drop_run
from pganon.run.executor import Executor
from pganon.run.reading import tells_apart, with_readers
from pganon.steps import State, Step

Connection = psycopg.Connection[Any]


Walk = Callable[[Sequence[Step]], object]
"""Runs steps."""


@dataclass(frozen=True)
class Admission:
    """Roles that are about to read versions that there are: these are judged as new for them.

    Attributes:
        about: all versions about the population.
        past: the same for the rule, by run.
        shown: runs of those that they are to read.
    """

    about: Sequence[About]
    past: Mapping[int, Past]
    shown: frozenset[int]
    roles: Sequence[str]

    def judge(self, walk: Walk, first: int = 0) -> None:
        """Hold what they are to read against what they have.

        Args:
            first: number of the first judgement among those of the run.

        Raises:
            PrivacyRefusal: republication.
        """
        readers = {one.run_id: one.readers for one in self.about}
        number = first
        for reader in gaining(self.roles, readers, self.shown):
            had = set(reader.runs)
            for run in sorted(self.shown - reader.runs):
                shown = self.past[run]
                earlier = [
                    one
                    for other, one in self.past.items()
                    if other in had and one.root != shown.root
                ]
                new = New(shown.manner, shown.tables, number=number)
                walk(rule_steps(Rule(new, earlier), refuses=True))
                had.add(run)
                number += 1


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
        if tells_apart(None, about):
            _judge(conn, name, shown, roles, about)
        yield warnings


def _judge(
    conn: Connection,
    name: str,
    current: Version,
    added: Sequence[str],
    about: Sequence[About],
) -> None:
    """In a run of its own."""
    run_id = ledger.start_run(conn, name, current.policy_hash or "")
    with locks.run_lock(conn, run_id):
        try:
            _admit(conn, run_id, current, added, about)
            drop_run(conn, run_id)
            ledger.finish(conn, run_id, "readers", {"judged": list(added)})
        except PrivacyRefusal as refusal:
            _end(conn, run_id, refusal)
            raise _refused(refusal, added) from None
        except BaseException as error:
            _end(conn, run_id, error)
            raise


def _admit(
    conn: Connection, run_id: int, shown: Version, added: Sequence[str], about: Sequence[About]
) -> None:
    past = memory.pasts(about)
    memory.check(conn, tuple(past.values()))
    runs = frozenset(run for run in _shown_by(shown) if run in past)
    executor = Executor(conn, State(run_id))
    Admission(about, past, runs, roles_of(conn, added)).judge(executor.run)


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
        if policy.republication == "refuse" and tells_apart(policy, about):
            try:
                _admit(conn, run_id, current, added, about)
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
        reason=refusal.reason,
    )
