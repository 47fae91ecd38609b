"""Roles that come to read versions that there are: these are judged as new for them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from pganon.history import versions as memory
from pganon.history.check import RuleCheck, rule_steps
from pganon.history.model import EarlierVersion, NewVersion
from pganon.history.readers import gaining
from pganon.history.versions import PastVersion
from pganon.ledger import repository as ledger
from pganon.plan.build import Plan
from pganon.policy.model import Policy
from pganon.publish.reader_roles import granted, roles_of
from pganon.publish.release_state import Version
from pganon.run.executor import Executor
from pganon.run.record import recorded
from pganon.run.tables import drop_run
from pganon.steps import State, Step

Connection = psycopg.Connection[Any]

Walk = Callable[[Sequence[Step]], object]
"""Runs steps."""


@dataclass(frozen=True)
class Admission:
    """Roles that are about to read versions, or read them already.

    Attributes:
        about: all versions about the population.
        past: the same for the rule, by run.
        shown: runs of those that they read.
    """

    about: Sequence[PastVersion]
    past: Mapping[int, EarlierVersion]
    shown: frozenset[int]
    roles: Sequence[str]

    @classmethod
    def to(
        cls,
        conn: Connection,
        version: Version,
        roles: Sequence[str],
        about: Sequence[PastVersion],
    ) -> Admission:
        """To a version, with whoever is or can become one of the roles.

        Raises:
            LedgerError: memory.
        """
        past = memory.earlier_versions(about)
        memory.check_tables(conn, tuple(past.values()))
        runs = {version.run_id, *(one.run_id for one in version.increments or ())}
        return cls(about, past, frozenset(runs & set(past)), roles_of(conn, roles))

    def judge(self, walk: Walk, *, refuses: bool = True, first: int = 0) -> tuple[RuleCheck, ...]:
        """Hold what they are to read against what they have; gives the judgements.

        Args:
            refuses: whether one that is not justified is an error.
            first: number of the first judgement among those of the run.

        Raises:
            PrivacyRefusal: republication.
        """
        readers = {one.run_id: one.readers for one in self.about}
        made: list[RuleCheck] = []
        for reader in gaining(self.roles, readers, self.shown):
            had = set(reader.runs)
            for run in sorted(self.shown - reader.runs):
                rule = self._rule(run, had, first + len(made))
                if rule.compares:
                    walk(rule_steps(rule, refuses=refuses))
                    made.append(rule)
                had.add(run)
        return tuple(made)

    def _rule(self, run: int, had: set[int], number: int) -> RuleCheck:
        shown = self.past[run]
        earlier = [
            one for other, one in self.past.items() if other in had and one.root != shown.root
        ]
        return RuleCheck(NewVersion(shown.manner, shown.tables, number=number), earlier)


@contextlib.contextmanager
def run_of_its_own(
    conn: Connection, name: str, version: Version, roles: Sequence[str]
) -> Iterator[Executor]:
    """A run that judges readers of a version and makes none; in the ledger."""
    with recorded(conn, name, version.policy_hash) as run_id:
        yield Executor(conn, State(run_id))
        drop_run(conn, run_id)
        ledger.finish(conn, run_id, "readers", {"judged": list(roles)})


def will_read(conn: Connection, plan: Plan, state: State) -> tuple[str, ...]:
    """Roles that will be able to read the version of the run."""
    names = [view.name for view in plan.stored_views(state)]
    return roles_of(conn, {*plan.spec.readers, *granted(conn, names)})


def tells_apart(policy: Policy | None, about: Sequence[PastVersion]) -> bool:
    """Whether readers are told apart: by the policy, or by one of these versions."""
    given = policy.audiences if policy is not None else None
    return "by_reader" in (given, *(version.audiences for version in about))
