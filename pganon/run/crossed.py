"""Versions beside which the rule does not hold for a reader, as judgements found them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg

from pganon.history.check import Rule
from pganon.publish.memory import Crossing
from pganon.sqltools import statement
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
