"""New readers of groups that there are, where readers are told apart: judged before they read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import psycopg

from pganon import locks
from pganon.errors import PrivacyRefusal
from pganon.history import populations
from pganon.history import versions as memory
from pganon.history.versions import About
from pganon.identifiers import quote
from pganon.policy.model import Policy
from pganon.publish import lifecycle, readers
from pganon.publish.history import Version
from pganon.publish.lifecycle import Changed
from pganon.publish.readers import Access
from pganon.run.admission import Admission, run_of_its_own
from pganon.run.crossed import finer_k
from pganon.run.executor import Executor
from pganon.run.granted import with_readers
from pganon.run.reading import tells_apart
from pganon.steps import State

Connection = psycopg.Connection[Any]


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
    population = populations.of_release(conn, name)
    if population is None:
        yield ()
        return
    with locks.population_lock(conn, population.id):
        about, warnings = with_readers(conn, population.id)
        if roles and tells_apart(None, about):
            with _refusing(roles), run_of_its_own(conn, name, shown, roles) as executor:
                _admit(conn, shown, roles, about, executor)
        yield warnings


def _admit(
    conn: Connection,
    shown: Version,
    added: Sequence[str],
    about: Sequence[About],
    executor: Executor,
) -> None:
    rules = Admission.to(conn, shown, added, about).judge(executor.run)
    memory.finer(conn, shown.run_id, finer_k(conn, rules, executor.state))


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
    population = populations.of_release(conn, policy.release)
    if population is None:
        yield ()
        return
    held = policy.refresh == "increments"
    with contextlib.nullcontext() if held else locks.population_lock(conn, population.id):
        about, warnings = with_readers(conn, population.id)
        if added and policy.republication == "refuse" and tells_apart(policy, about):
            with _refusing(added):
                _admit(conn, current, added, about, Executor(conn, State(run_id)))
        yield warnings


@contextlib.contextmanager
def _refusing(added: Sequence[str]) -> Iterator[None]:
    """A refusal names whom it is about."""
    try:
        yield
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
