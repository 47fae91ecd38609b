"""Parts of all published forms: stored relations, and random numbers for groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import LiteralString

from psycopg import sql
from sqlglot import exp

from pganon.encode.secrets import keyed_hash
from pganon.forms.facts import NUMBERED
from pganon.identifiers import QualifiedName
from pganon.resolved.model import ReleaseSpec
from pganon.sqltools import cast, col, fragment, named, num, presorted, query, text
from pganon.steps import CreateTable, State, Statement, WorkTable
from pganon.steps.facts import Facts, count
from pganon.steps.relations import StoredRelation


def stored(state: State, parts: Iterable[tuple[str, str]]) -> tuple[StoredRelation, ...]:
    """Stored relations from (part, schema)."""
    return tuple(
        StoredRelation(part, state.stage(part), QualifiedName(schema, state.stage(part).name))
        for part, schema in parts
    )


def numbers_step(
    source: WorkTable[ReleaseSpec],
    purpose: str,
    number: str,
    group: str = "gid",
) -> CreateTable:
    """The step of :func:`drawn_numbers` for the groups in a column of the work table `source`."""
    return drawn_numbers(lambda s: distinct_groups(s, source, group), purpose, number)


def distinct_groups(state: State, source: WorkTable[ReleaseSpec], group: str) -> exp.Select:
    """SELECT gid: the groups in a column of a work table, each once."""
    rows = query("select :group as gid from s", {"s": state.work(source)}, group=col(group, "s"))
    return query("select r.gid from r group by r.gid", {"r": presorted(rows)})


def drawn_numbers(
    groups: Callable[[State], exp.Select],
    purpose: str,
    number: str,
    when: Callable[[State], bool] = lambda state: True,
) -> CreateTable:
    """Work table `numbers_<number>` (gid, number): a random number for every group.

    A permutation under the run's secret key, which reveals nothing about the order of the groups,
    after the numbers of earlier increments.
    Permutations with different names are independent.

    Args:
        groups: SELECT gid, every group once.
    """

    def select(state: State) -> exp.Expr:
        message = fragment(
            ":name || :gid", name=text(f"{number}:"), gid=cast(col("gid", "g"), "text")
        )
        drawn = fragment(
            "(row_number() over (order by :hash, g.gid))::int", hash=keyed_hash(state, message)
        )
        if state.facts.get(NUMBERED):
            drawn = fragment("(:n + :before)::int", n=drawn, before=num(state[NUMBERED]))
        return query("select g.gid from g", {"g": groups(state)}).select(named(drawn, number))

    name = f"numbers_{number}"
    return CreateTable(
        name,
        purpose,
        lambda s: numbers(s, number),
        select,
        when=when,
        counted=count(number, _DRAWN),
    )


_DRAWN = "drawn_"


def greatest_number(facts: Facts) -> int:
    """The greatest number of any group, of the run or of those that it adds to."""
    drawn = (n for name, n in facts.by_name().items() if name.startswith(_DRAWN))
    return (facts.get(NUMBERED) or 0) + max(drawn, default=0)


def numbers(state: State, number: str) -> QualifiedName:
    """The table of :func:`drawn_numbers`."""
    return state.work(f"numbers_{number}")


def repeated(table: QualifiedName | exp.Select, *key: str) -> exp.Select:
    """SELECT `repeated`: how many rows of a table have a key that others have, too, one of each
    not counted. NULL is a key."""
    columns = [col(name, "t") for name in key]
    if len(columns) == 1:
        # One value is sorted alone, in half the time that groups take.
        return query(
            "select count(:k) - count(distinct :k) + greatest(count(*) - count(:k) - 1, 0)"
            " as repeated from t",
            {"t": table},
            k=columns[0],
        )
    rows = query("select 1 from t", {"t": table}).select(*columns, append=False)
    tree = query("select count(*) - 1 as more from t having count(*) > 1", {"t": presorted(rows)})
    keys = tree.group_by(*[column.copy() for column in columns])
    return query("select coalesce(sum(k.more), 0)::bigint as repeated from k", {"k": keys})


def key_step(part: str, column: str) -> Statement:
    """The primary key of a staged relation, which the views join on."""
    return _index(
        lambda state: (part, column), part, lambda s: True, "ALTER TABLE {} ADD PRIMARY KEY ({})"
    )


def index_step(
    column: Callable[[State], tuple[str, str]],
    name: str,
    when: Callable[[State], bool] = lambda state: True,
) -> Statement:
    """An index on a staged relation; `column` gives its part and the name of the column."""
    return _index(column, name, when, "CREATE INDEX ON {} ({})")


def _index(
    column: Callable[[State], tuple[str, str]],
    name: str,
    when: Callable[[State], bool],
    statement: LiteralString,
) -> Statement:
    def render(state: State) -> sql.Composed:
        part, key = column(state)
        return sql.SQL(statement).format(state.stage(part).identifier, sql.Identifier(key))

    return Statement(f"{name}_key", "an index that the published views join on", render, when)
