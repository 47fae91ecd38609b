"""The rule in SQL gives the verdicts of the rule as a function."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pganon.history.check import RuleCheck
from pganon.history.model import EarlierVersion, GroupTables, NewVersion
from pganon.identifiers import QualifiedName
from pganon.sqltools import statement
from pganon.steps import State
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.examples import examples
from tests.support.oracles.rule import random_history
from tests.support.oracles.verdicts import VersionGroups, judge

MANY = 40
ALL_KINDS = 2191
"""Seed of histories of all kinds, with people left out beside the same groups of several each."""
FORMS = ("classes", "classes", "exact", "exact", "several")


def person(number: int) -> uuid.UUID:
    """Numbers of people who were forgotten are negative."""
    return uuid.UUID(int=number + 10_000)


def stored(conn: Connection, told: VersionGroups, name: str) -> GroupTables:
    """The tables of a version, as a run stages them."""
    members = QualifiedName("t", f"{name}_members")
    groups = QualifiedName("t", f"{name}_groups")
    functions = QualifiedName("t", f"{name}_functions")
    conn.execute(
        f"create table {members} (member uuid, first int, g int);"
        f"create table {groups} (grp bigint, people bigint, who1 bigint, who2 bigint,"
        f" held bigint[]); create table {functions} (grp bigint, of bigint)"
    )
    inside: set[int] = set()
    for place, group in enumerate(told.groups, start=1):
        number = -place if group.left_out else place
        inside |= set(group.people)
        people = [person(p) for p in group.people]
        for one in people:
            conn.execute(f"insert into {members} values (%s, 1, %s)", [one, number])
        held: Any = None
        if group.shown and min(group.people) >= 0:
            held = [
                _xor(conn, [(person(p), str(v[c])) for p, v in group.people.items()])
                for c in told.manner.columns
            ]
        who = [None, None]
        if not group.forgotten:
            who = [_xor(conn, [(one, seed) for one in people]) for seed in ("1", "2")]
        conn.execute(
            f"insert into {groups} values (%s, %s, %s, %s, %s)", [number, len(people), *who, held]
        )
        for run in group.of:
            conn.execute(f"insert into {functions} values (%s, %s)", [number, run])
    for other in told.source - inside:
        conn.execute(f"insert into {members} values (%s, 1, 0)", [person(other)])
    return GroupTables(members, groups, "g", functions)


def _xor(conn: Connection, hashed: Sequence[tuple[uuid.UUID, str]]) -> int:
    row = conn.execute(
        "select bit_xor(uuid_hash_extended(p, hashtextextended(v, 0)))"
        " from unnest(%s::uuid[], %s::text[]) as h(p, v)",
        [[p for p, _ in hashed], [v for _, v in hashed]],
    ).fetchone()
    assert row is not None
    return row[0]


def verdicts(
    conn: Connection,
    new: VersionGroups,
    earlier: Sequence[VersionGroups],
    tables: Sequence[GroupTables],
) -> dict[int, tuple[str | None, bool]]:
    """By number of the group: the reason, and whether it is a function or a union."""
    past = [
        EarlierVersion(told.manner.run_id, "", told.manner, found)
        for told, found in zip(earlier, tables, strict=False)
    ]
    rule = RuleCheck(NewVersion(new.manner, tables[-1]), past)
    state = State(0)
    for name in ("same", "pairs", "beside", "judged"):
        table = state.work(f"rule0_{name}")
        conn.execute(f"drop table if exists {table}")
        made = statement(getattr(rule.comparison, name)(state)).as_string()
        conn.execute(f"create table {table} as {made}")
    judged = conn.execute(
        f"select grp, reason, of, is_union from {state.work('rule0_judged')}"
    ).fetchall()
    of = dict(conn.execute(statement(rule.comparison.functions_of(state)).as_string()).fetchall())
    return {
        grp: (None if found is not None else reason, grp in of) for grp, reason, found, _ in judged
    }


@pytest.mark.slow
@pytest.mark.random_tables
@examples(1)
@given(seed=st.integers(0, 10**6))
@example(seed=ALL_KINDS)
def test_sql_gives_the_verdicts_of_the_function(db: Database, seed: int) -> None:
    conn = db.owner()
    conn.execute(
        "create schema if not exists pganon_work; drop schema if exists t cascade; create schema t"
    )
    seen: Counter[str | None] = Counter()
    functions = 0
    for number in range(MANY):
        random = Random(seed * MANY + number)
        versions = random_history(
            random, people=7, versions=3, accepted=False, readers=2, forms=FORMS
        )
        history = [version.remembered for version in versions]
        tables = [stored(conn, told, f"v{number}_{place}") for place, told in enumerate(history)]
        for place in range(1, len(history)):
            # A reader need not have all that there is.
            had = [at for at in range(place) if random.random() < 0.8] or [0]
            earlier = [history[at] for at in had]
            wanted = judge(history[place], earlier)
            found = verdicts(
                conn, history[place], earlier, [*[tables[at] for at in had], tables[place]]
            )
            for at, verdict in enumerate(wanted, start=1):
                group = history[place].groups[at - 1]
                reason, is_function = found.get(-at if group.left_out else at, (None, False))
                if min(group.people) >= 0:
                    assert reason == verdict.reason, (number, place, at)
                    assert is_function == (verdict.of is not None), (number, place, at)
                else:  # nothing is known any more of a group of somebody who was forgotten
                    assert (reason is None) == (verdict.reason is None), (number, place, at)
                seen[reason] += 1
                functions += is_function
    conn.execute("drop schema t cascade")
    if seed != ALL_KINDS:
        return
    assert seen.keys() >= {None, "crossing", "finer", "form", "left_out", "several"}
    assert functions > 0
