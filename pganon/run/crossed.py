"""Versions that weaken what another promises a reader, as judgements found them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg

from pganon.history.check import Rule
from pganon.history.versions import Crossing
from pganon.sqltools import query, statement
from pganon.steps import State

Connection = psycopg.Connection[Any]


def crossings(conn: Connection, rules: Iterable[Rule], state: State) -> tuple[Crossing, ...]:
    """With groups that nothing justifies, or the same people with other roles of columns.

    Args:
        rules: held before, without a refusal; their work tables are still there.
    """
    found: dict[int, Crossing] = {}
    for rule in rules:
        selects = [rule.clashed()] if state.facts.get(rule.clashing) else []
        selects += [rule.crossed(state)] if state.facts.get(rule.crossing) else []
        for select in selects:
            for row in conn.execute(statement(select)).fetchall():
                found.setdefault(row[0], Crossing(*row))
    return tuple(found.values())


def finer_k(conn: Connection, rules: Iterable[Rule], state: State) -> int | None:
    """The fewest people of a group that versions promise of which groups are a function; None
    without such groups."""
    promised: list[int] = []
    for rule in rules:
        if not state.facts.get(rule.functions):
            continue
        of = query("select distinct f.of from f", {"f": rule.functions_of(state)})
        roots = {row[0] for row in conn.execute(statement(of)).fetchall()}
        promised += [past.manner.least for past in rule.earlier if past.root in roots]
    return min(promised, default=None)
