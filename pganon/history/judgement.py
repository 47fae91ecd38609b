"""The rule over versions about the same people, for everybody who will read them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pganon.history import versions
from pganon.history.check import RuleCheck, rule_steps
from pganon.history.model import EarlierVersion, NewVersion
from pganon.history.versions import Crossing, PastVersion
from pganon.identifiers import QualifiedName
from pganon.policy.model import Policy
from pganon.privacy.base import FINER, HOLDS, VOID
from pganon.sqlfiles import Connection
from pganon.sqltools import query, stacked, statement
from pganon.steps import CreateTable, State, Step
from pganon.steps.facts import Facts

Walk = Callable[[Sequence[Step]], State]
"""Runs steps; gives the state after them."""

FUNCTIONS = "functions"
"""Staged table (grp, of) of groups that are a function of other versions."""

_ADMITTED = 1000
"""Number of the first judgement about roles that read earlier groups anew."""


@dataclass(frozen=True)
class Verdict:
    """The result of the rule, for all readers together.

    Attributes:
        figures: of the reader to whom all versions disclose most, where the policy accepts that.
        functions: staged, if there are any.
        finer_k: the fewest people of a group that versions promise of which groups are a function;
            None without such groups.
        crossings: versions with groups that nothing justifies, or the same people with other roles
            of columns, where the policy accepts that.
        warnings: void guarantees, where the policy asks for a warning.
    """

    finer_k: int | None
    crossings: tuple[Crossing, ...]
    figures: dict[str, Any]
    functions: QualifiedName | None
    warnings: tuple[str, ...] = ()

    @property
    def over_versions(self) -> str:
        """Whether its guarantee holds beside other versions."""
        if self.crossings:
            return VOID
        return HOLDS if self.finer_k is None else FINER


def tells_apart(policy: Policy | None, about: Sequence[PastVersion]) -> bool:
    """Whether readers are told apart: by the policy, or by one of these versions."""
    given = policy.audiences if policy is not None else None
    return "by_reader" in (given, *(version.audiences for version in about))


def judge(
    conn: Connection,
    walk: Walk,
    policy: Policy,
    new: NewVersion,
    about: Sequence[PastVersion],
    roles: Sequence[str],
    again: Collection[int] = (),
) -> Verdict:
    """Judge a version beside all others as its policy says.

    Args:
        about: all of these, with whoever could ever read them.
        roles: that will read the version, where readers are told apart.
        again: runs whose groups it shows again, which are new to whoever did not have them.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: memory, what is remembered is missing.
    """
    past = _past(conn, about)
    refuses = policy.republication == "refuse"
    shown = set(again) & set(past) if refuses else set[int]()
    gained = admit(conn, walk, about, shown, roles, first=_ADMITTED).finer_k if shown else None
    readers = readers_of(roles, {one.run_id: one.readers for one in about})
    if policy.audiences == "everybody":
        # Beside it roles that an earlier version was judged for apart: who has fewer versions
        # has not what a group may be a function of.
        readers = (Reader("", frozenset(past)), *readers)
    rules: list[tuple[RuleCheck, Reader]] = []
    for number, reader in enumerate(readers):
        earlier = [one for run, one in past.items() if run in reader.runs]
        rule = RuleCheck(replace(new, number=number), earlier)
        if rule.compares:
            rules.append((rule, reader))
    found, state = _found(conn, walk, [rule for rule, _ in rules], refuses=refuses, stages=True)
    return replace(
        found,
        finer_k=min((k for k in (gained, found.finer_k) if k is not None), default=None),
        figures={} if refuses else _together([rule for rule, _ in rules], state.facts),
        warnings=tuple(_void(rules, state.facts)) if policy.republication == "warn" else (),
    )


def admit(
    conn: Connection,
    walk: Walk,
    about: Sequence[PastVersion],
    shown: Collection[int],
    roles: Sequence[str],
    *,
    refuses: bool = True,
    first: int = 0,
) -> Verdict:
    """Judge what roles are to read, or read already, beside what they have.

    Args:
        shown: runs of what they are to read.
        refuses: whether what is not justified is an error.
        first: number of the first judgement among those of the run.

    Raises:
        PrivacyRefusal: republication.
        LedgerError: memory.
    """
    past = _past(conn, about)
    shown = set(shown) & set(past)
    rules: list[RuleCheck] = []
    for reader in gaining(roles, {one.run_id: one.readers for one in about}, shown):
        had = set(reader.runs)
        for run in sorted(shown - reader.runs):
            mine = past[run]
            earlier = [one for other, one in past.items() if other in had and one.root != mine.root]
            new = NewVersion(mine.manner, mine.tables, number=first + len(rules))
            rule = RuleCheck(new, earlier)
            if rule.compares:
                rules.append(rule)
            had.add(run)
    return _found(conn, walk, rules, refuses=refuses)[0]


def _past(conn: Connection, about: Sequence[PastVersion]) -> dict[int, EarlierVersion]:
    past = versions.earlier_versions(about)
    versions.check_tables(conn, tuple(past.values()))
    return past


def _found(
    conn: Connection,
    walk: Walk,
    rules: Sequence[RuleCheck],
    *,
    refuses: bool,
    stages: bool = False,
) -> tuple[Verdict, State]:
    """What rules find, one after the other, whose work tables stay there.

    Args:
        stages: whether groups that are a function of other versions are to be kept.
    """
    state = walk(())
    for rule in rules:
        state = walk(rule_steps(rule, refuses=refuses))
    some = [rule for rule in rules if state.facts.get(rule.functions)]
    promised: list[int] = []
    for rule in some:
        of = query("select distinct f.of from f", {"f": rule.comparison.functions_of(state)})
        roots = {row[0] for row in conn.execute(statement(of)).fetchall()}
        promised += [past.manner.least for past in rule.earlier if past.root in roots]
    if some and stages:
        staging = CreateTable(
            FUNCTIONS,
            "groups that are a function of other versions",
            lambda s: s.stage(FUNCTIONS),
            lambda s: query(
                "select distinct f.grp, f.of from f",
                {"f": stacked([rule.comparison.functions_of(s) for rule in some])},
            ),
            analyze=False,
        )
        walk((staging,))
    functions = state.stage(FUNCTIONS) if some and stages else None
    crossings = _crossings(conn, rules, state)
    return Verdict(min(promised, default=None), crossings, {}, functions), state


def _crossings(conn: Connection, rules: Iterable[RuleCheck], state: State) -> tuple[Crossing, ...]:
    by_run: dict[int, Crossing] = {}
    for rule in rules:
        selects = [rule.clashed()] if state.facts.get(rule.clashing) else []
        selects += [rule.comparison.crossed(state)] if state.facts.get(rule.crossing) else []
        for select in selects:
            for run, reason, people in conn.execute(statement(select)).fetchall():
                by_run.setdefault(run, Crossing(run, reason, people, rule.label(run)))
    return tuple(by_run.values())


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


def _void(rules: Sequence[tuple[RuleCheck, Reader]], facts: Facts) -> Iterator[str]:
    for rule, reader in rules:
        refused = rule.role_problem(facts) or rule.problem(facts)
        if refused is not None:
            whom = f"for {reader.name}: " if reader.name else ""
            yield (
                f"{whom}{refused.message}; the guarantees of both versions are void for who has"
                " both"
            )


# Readers and their versions, where a policy does not assume that everybody has all of them.
#
# Readers who exchange versions are not considered.

PUBLIC = "public"
"""Everybody who can log in, as privileges name them."""

Readers = Mapping[int, Collection[str]]
"""By run: the roles that may have its version."""


@dataclass(frozen=True)
class Reader:
    """Roles with the same versions.

    Attributes:
        name: the first of them by name; empty for a reader of everything.
        runs: of the versions that they could ever read.
    """

    name: str
    runs: frozenset[int]


def reader_of(role: str, readers: Readers) -> Reader:
    runs = (run for run, roles in readers.items() if (role in roles or PUBLIC in roles))
    return Reader(role, frozenset(runs))


def readers_of(roles: Iterable[str], readers: Readers) -> tuple[Reader, ...]:
    """One reader for every set of versions that some of the roles have.

    A reader of fewer versions is not easier to satisfy. A group that is a function of a version
    discloses nothing to readers of that version, but may do so to others. Everybody who has any
    version is one of the public.
    """
    every = set(roles)
    if PUBLIC in every:
        every |= {role for named in readers.values() for role in named}
    sets = {one.runs: one for one in (reader_of(role, readers) for role in sorted(every)[::-1])}
    return tuple(sorted(sets.values(), key=lambda one: one.name))


def gaining(roles: Iterable[str], before: Readers, shown: Collection[int]) -> tuple[Reader, ...]:
    """Readers who lack some of the runs that they are about to read."""
    readers = readers_of(roles, before)
    return tuple(one for one in readers if not one.runs.issuperset(shown))
