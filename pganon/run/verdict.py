"""The rule over a version that is staged, for everybody who will read it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import psycopg

from pganon.history.check import RuleCheck, rule_steps
from pganon.history.invariance.signatures import SIGNATURE_VALUES, SIGNATURES
from pganon.history.model import EarlierVersion, NewVersion
from pganon.history.readers import Reader, readers_of
from pganon.history.versions import Crossing, PastVersion
from pganon.identifiers import QualifiedName
from pganon.policy.model import Policy
from pganon.privacy.judged import FINER, HOLDS, VOID
from pganon.run.admission import Walk
from pganon.run.tables import drop_tables, run_tables
from pganon.sqltools import query, stacked, statement
from pganon.steps import CreateTable, State
from pganon.steps.facts import Facts

Connection = psycopg.Connection[Any]

FUNCTIONS = "functions"
"""Staged table (grp, of) of groups that are a function of other versions."""


@dataclass(frozen=True)
class Held:
    """The rule for a reader."""

    rule: RuleCheck
    reader: Reader


@dataclass(frozen=True)
class Found:
    """The result of the rule over a version, for all readers together.

    Attributes:
        figures: of the reader to whom all versions disclose most, where the policy accepts that.
        functions: staged, if there are any.
        finer_k: see :func:`pganon.run.verdict.finer_k`.
        crossings: versions with groups that nothing justifies, where the policy accepts that.
        warnings: void guarantees, where the policy asks for a warning.
    """

    figures: dict[str, Any]
    functions: QualifiedName | None
    finer_k: int | None
    crossings: tuple[Crossing, ...]
    warnings: tuple[str, ...]

    @property
    def over_versions(self) -> str:
        """Whether its guarantee holds beside other versions."""
        if self.crossings:
            return VOID
        return HOLDS if self.finer_k is None else FINER


def held_for(
    policy: Policy,
    new: NewVersion,
    about: Sequence[PastVersion],
    past: Mapping[int, EarlierVersion],
    roles: Sequence[str],
) -> list[Held]:
    """The rule for each of those whom the version is judged for, with all that they have."""
    readers = readers_of(roles, {one.run_id: one.readers for one in about})
    if policy.audiences == "everybody":
        # Beside it roles that an earlier version was judged for apart: who has fewer versions
        # has not what a group may be a function of.
        readers = (Reader("", frozenset(past)), *readers)
    checks: list[Held] = []
    for number, reader in enumerate(readers):
        earlier = [one for run, one in past.items() if run in reader.runs]
        checks.append(Held(RuleCheck(replace(new, number=number), earlier), reader))
    return [one for one in checks if one.rule.compares]


def hold(
    conn: Connection,
    walk: Walk,
    state: Callable[[], State],
    held: Sequence[Held],
    policy: Policy,
) -> Found:
    """Judge a version as its policy says.

    Args:
        state: after what was walked.

    Raises:
        PrivacyRefusal: republication.
    """
    refuses = policy.republication == "refuse"
    for one in held:
        walk(rule_steps(one.rule, refuses=refuses))
    rules = [one.rule for one in held]
    facts = state().facts
    return Found(
        {} if refuses else _together(rules, facts),
        _functions(walk, rules, state()),
        finer_k(conn, rules, state()),
        crossings(conn, rules, state()),
        tuple(_void(held, facts)) if policy.republication == "warn" else (),
    )


def _together(rules: Sequence[RuleCheck], facts: Facts) -> dict[str, Any]:
    compared = [rule for rule in rules if rule.earlier]
    if not compared:
        return {}
    worst = min(compared, key=lambda rule: facts[rule.smallest])
    return {
        "guard_shared": facts[worst.shared],
        "guard_smallest": facts[worst.smallest],
        "guard_below_k": facts[worst.below],
    }


def _void(held: Sequence[Held], facts: Facts) -> Iterator[str]:
    for one in held:
        refused = one.rule.role_problem(facts) or one.rule.problem(facts)
        if refused is not None:
            whom = f"for {one.reader.name}: " if one.reader.name else ""
            yield (
                f"{whom}{refused.message}; the guarantees of both versions are void for who has"
                " both"
            )


def _functions(walk: Walk, rules: Sequence[RuleCheck], state: State) -> QualifiedName | None:
    some = [rule for rule in rules if state.facts.get(rule.functions)]
    if not some:
        return None
    walk(
        (
            CreateTable(
                FUNCTIONS,
                "groups that are a function of other versions",
                lambda s: s.stage(FUNCTIONS),
                lambda s: query(
                    "select distinct f.grp, f.of from f",
                    {"f": stacked([rule.comparison.functions_of(s) for rule in some])},
                ),
                analyze=False,
            ),
        )
    )
    return state.stage(FUNCTIONS)


def forget_judgement(conn: Connection, run_id: int) -> list[QualifiedName]:
    """Take away what the last judgement of a run made, for another one."""
    names = ("rule", FUNCTIONS, SIGNATURES, SIGNATURE_VALUES, "completed", "value_set_of")
    tables = [
        table
        for table in run_tables(conn, run_id)
        if table.name.startswith(tuple(f"r{run_id}_{name}" for name in names))
    ]
    drop_tables(conn, tables)
    return tables


def crossings(conn: Connection, rules: Iterable[RuleCheck], state: State) -> tuple[Crossing, ...]:
    """With groups that nothing justifies, or the same people with other roles of columns.

    Args:
        rules: held before, without a refusal; their work tables are still there.
    """
    by_run: dict[int, Crossing] = {}
    for rule in rules:
        selects = [rule.clashed()] if state.facts.get(rule.clashing) else []
        selects += [rule.comparison.crossed(state)] if state.facts.get(rule.crossing) else []
        for select in selects:
            for run, reason, people in conn.execute(statement(select)).fetchall():
                by_run.setdefault(run, Crossing(run, reason, people, rule.label(run)))
    return tuple(by_run.values())


def finer_k(conn: Connection, rules: Iterable[RuleCheck], state: State) -> int | None:
    """The fewest people of a group that versions promise of which groups are a function; None
    without such groups."""
    promised: list[int] = []
    for rule in rules:
        if not state.facts.get(rule.functions):
            continue
        of = query("select distinct f.of from f", {"f": rule.comparison.functions_of(state)})
        roots = {row[0] for row in conn.execute(statement(of)).fetchall()}
        promised += [past.manner.least for past in rule.earlier if past.root in roots]
    return min(promised, default=None)
