"""What a version with several partitions tells of people, from its members and histograms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from sqlglot import exp

from pganon.encode.people import mark
from pganon.guard import work
from pganon.guard.model import ROUNDS, Memory, Version
from pganon.guard.own import counted_people, own_of_cells
from pganon.guard.packed import own_rows
from pganon.guard.rules import Rule
from pganon.guard.steps import guard_steps, new_memory
from pganon.guard.told import LEFT_OUT, Told, told_steps
from pganon.guard.told_values import told_values
from pganon.identifiers import QualifiedName
from pganon.privacy.identity import IRAlpha
from pganon.run.executor import Executor
from pganon.sqltools import fragment, query, statement
from pganon.steps import State
from tests.support.harness.cluster import Connection, Database

pytestmark = pytest.mark.primary_server_only

Reader = Callable[[Callable[[Version, State], QualifiedName | exp.Select]], list[tuple[Any, ...]]]
"""Rows of a table of the run, given the version and the state at its end."""

MEMBERS, HISTOGRAM = (QualifiedName("pganon_work", f"r1_{name}") for name in ("told_m", "told_h"))
SECRET = query("select '\\x00'::bytea as secret")
RELEASED = {1: (1, 1, "a", "x"), 2: (1, 2, "a", "y"), 3: (1, 2, "b", "x")}
"""By person: groups and values of two columns."""


def told(conn: Connection) -> None:
    conn.execute("CREATE TABLE pganon_work.r1_told_m (member uuid, g int, h int, marks bigint[])")
    conn.execute("CREATE TABLE pganon_work.r1_told_h (col int, link bigint, value text, n bigint)")
    counted: dict[tuple[int, int, str], int] = {}
    for person, (g, h, v, w) in RELEASED.items():
        marks = [marked(conn, person, value) for value in (v, w)]
        row = [UUID(int=person), g, h, marks]
        conn.execute("INSERT INTO pganon_work.r1_told_m VALUES (%s, %s, %s, %s)", row)
        for key in ((1, g, v), (2, h, w)):
            counted[key] = counted.get(key, 0) + 1
    left_out = [UUID(int=9), LEFT_OUT, LEFT_OUT, None]
    conn.execute("INSERT INTO pganon_work.r1_told_m VALUES (%s, %s, %s, %s)", left_out)
    for key, n in counted.items():
        conn.execute("INSERT INTO pganon_work.r1_told_h VALUES (%s, %s, %s, %s)", [*key, n])


def marked(conn: Connection, person: int, value: str) -> int:
    tree = query(
        "select :m as m", m=mark(fragment(":p::uuid", p=text(person)), literal(value), SECRET)
    )
    ((found,),) = conn.execute(statement(tree)).fetchall()
    return found


def text(person: int) -> exp.Expr:
    return literal(str(UUID(int=person)))


def literal(value: str) -> exp.Expr:
    return fragment(f"'{value}'::text")


def released(
    db: Database,
    *rules: Rule,
    times: int = 1,
    invariant: str | None = None,
    several: bool = False,
    rounds: int = 0,
) -> Reader:
    """Rows of the work tables of the last of some equal versions, judged by rules."""
    conn = db.owner()
    told(conn)
    tells = Told(MEMBERS, HISTOGRAM, ("g", "h"), (("v", "g"), ("w", "h")), several)
    if several:  # the second has another record, of which only one value is the same
        conn.execute(
            "INSERT INTO pganon_work.r1_told_m SELECT a.member, a.g, a.h, ARRAY[a.marks[1], NULL]"
            " FROM pganon_work.r1_told_m AS a WHERE a.member = %s",
            [UUID(int=2)],
        )

    def tell(state: State) -> Told:
        return tells

    memory: Memory | None = None
    version, state = Version((), frozenset(), ()), State(0)
    for run in range(1, times + 1):
        version = Version(
            ("v", "w"),
            frozenset("vw"),
            rules,
            memory,
            invariant=invariant,
            republication="allow",
            rounds=rounds,
        )
        steps = [
            *told_steps(tell, version, plain=False),
            *guard_steps(version, told_values(tell, version, lambda s: SECRET)),
        ]
        state = Executor(conn, State(run)).run(steps)
        memory = new_memory(version, state)

    def rows(table: QualifiedName | exp.Select) -> list[tuple[Any, ...]]:
        return conn.execute(statement(query("select t.* from t", {"t": table}))).fetchall()

    return lambda pick: rows(pick(version, state))


def test_several_partitions(db: Database) -> None:
    rows = released(db)
    groups = {person.int: grp for person, grp, _ in rows(lambda v, s: s.work(work.new()))}
    assert groups.pop(9) == LEFT_OUT
    assert len(set(groups.values())) == 2
    assert groups[2] == groups[3]
    assert min(groups.values()) > 0
    links = {(grp, col): link for grp, col, link in rows(lambda v, s: s.work(work.links()))}
    assert links == {
        (groups[person], col): link
        for person, found in RELEASED.items()
        for col, link in enumerate(found[:2], start=1)
    }


@pytest.mark.parametrize(
    ("rules", "invariant"),
    [((Rule(IRAlpha(1.0), "v"),), None), ((), "v")],
    ids=["a rule looks at everybody", "value sets are kept"],
)
def test_values_of_everybody(db: Database, rules: tuple[Rule, ...], invariant: str | None) -> None:
    rows = released(db, *rules, invariant=invariant)
    own = {(p.int, col): (value, n) for p, col, value, n in rows(lambda v, s: s.work(work.own()))}
    assert own == {
        (person, col): (value, 1)
        for person, found in RELEASED.items()
        for col, value in enumerate(found[2:], start=1)
    }


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("rounds", [0, ROUNDS])
def test_who_is_counted(db: Database, several: bool, rounds: int) -> None:
    """Cells are whole groups of the second column, whose histogram says it all."""
    rows = released(db, several=several, rounds=rounds)
    cells = {person.int: cell for person, cell, *_ in rows(lambda v, s: v.staged(s, "person"))}
    names = {key: value for _, value, key in rows(lambda v, s: v.work(s, "keys"))}
    own = {
        (cell, col, names[value]): n
        for cell, col, value, n in rows(lambda v, s: own_rows([v.staged(s, "own")]))
    }
    assert own == Counter((cells[person], 1, found[2]) for person, found in RELEASED.items())


def test_several_records_of_a_person(db: Database) -> None:
    rows = released(db, Rule(IRAlpha(1.0), "v"), several=True)
    own = [(p.int, col, value, n) for p, col, value, n in rows(lambda v, s: s.work(work.own()))]
    assert sorted(own) == [
        *[(1, 1, "a", 1), (1, 2, "x", 1)],
        *[(2, 1, "a", 2), (2, 2, "y", 1)],
        *[(3, 1, "b", 1), (3, 2, "x", 1)],
    ]


def test_nobody_is_read_again_whose_cell_is_the_same(db: Database) -> None:
    rows = released(db, times=2)
    for number in (1, 2):
        assert rows(lambda v, s, number=number: counted_people(v, s, number)) == []


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("rounds", [0, ROUNDS])
def test_all_own_values_are_remembered(db: Database, times: int, rounds: int) -> None:
    rows = released(db, times=times, rounds=rounds)
    cells = {person.int: cell for person, cell, *_ in rows(lambda v, s: v.staged(s, "person"))}
    expected = Counter(
        (cells[person], col, value)
        for person, found in RELEASED.items()
        for col, value in enumerate(found[2:], start=1)
    )
    names = {key: value for _, value, key in rows(lambda v, s: v.work(s, "keys"))}
    known = rows(own_of_cells)
    assert {(cell, col, names[value]): own for cell, col, value, own in known} == expected
    assert len(known) == len(expected)
