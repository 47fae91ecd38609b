"""Bounds and own values of cells in arrays, against the same in rows."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import psycopg
import pytest
from psycopg import sql
from sqlglot import exp

from pganon.errors import Unbalanced
from pganon.guard.bounds import bounds_steps
from pganon.guard.packed import (
    bounds_rows,
    own_rows,
    packed_bounds,
    packed_counts,
    packed_own,
)
from pganon.identifiers import QualifiedName
from pganon.run.executor import Executor
from pganon.run.options import Options, advise_planner
from pganon.sqltools import query, statement
from pganon.steps import CreateTable
from tests.support.harness.cluster import Database
from tests.support.harness.guarded import Population, Row, released

Connection = psycopg.Connection[Any]
Shown = list[tuple[Any, ...]]
BOUNDS = "cell int, col int, value bigint, is_own boolean, at_most int, at_least int"


def table(conn: Connection, shape: str, rows: Sequence[Sequence[Any]]) -> QualifiedName:
    name = QualifiedName("pganon_work", "given")
    conn.execute(sql.SQL("CREATE TABLE {} ({})").format(name.identifier, sql.SQL(shape)))  # pyright: ignore
    with conn.cursor() as cursor:
        marks = ", ".join(["%s"] * len(rows[0]))
        text = sql.SQL("INSERT INTO {} VALUES ({})")
        cursor.executemany(text.format(name.identifier, sql.SQL(marks)), rows)  # pyright: ignore
    return name


def shown(conn: Connection, tree: exp.Select) -> Shown:
    return conn.execute(statement(tree)).fetchall()


@pytest.fixture
def conn(db: Database) -> Connection:
    return db.owner()


def test_rows_of_packed_bounds(conn: Connection) -> None:
    """Values that nobody can have are left out."""
    rng = Random(5)
    rows = [
        (cell, col, value, cell % 3 == 0, rng.randint(0, 4), 0 if cell % 2 else rng.randint(0, 2))
        for cell, col, value in itertools.product(range(12), (1, 2), (-7, 5, 2**62))
    ]
    given = query("select g.* from g", {"g": table(conn, BOUNDS, rows)})
    assert sorted(shown(conn, bounds_rows(packed_bounds(given)))) == sorted(
        row for row in rows if row[4] > 0
    )


def test_figures_of_packed_bounds(conn: Connection) -> None:
    rows = [
        *[(1, 1, 10, True, 3, 0), (1, 1, 11, True, 2, 1), (1, 1, 12, True, 0, 0)],
        *[(2, 1, 10, True, 1, 0), (2, 1, 11, False, 4, 0)],
    ]
    packed = packed_bounds(query("select g.* from g", {"g": table(conn, BOUNDS, rows)}))
    figures = query(
        "select p.cell, p.most, p.least, p.possible, p.is_own, p.at_least is null as zeros from p",
        {"p": packed},
    )
    assert sorted(shown(conn, figures)) == [(1, 3, 1, 2, True, False), (2, 4, 0, 2, False, True)]


def test_no_bound_is_above_the_size(conn: Connection) -> None:
    text = (
        "select 1 as cell, 1 as col, 2 as size, true as is_own, array[7, 8]::bigint[] as values,"
        " array[5, 1] as at_most, null::integer[] as at_least"
    )
    assert sorted(shown(conn, bounds_rows(query(text)))) == [
        (1, 1, 7, True, 2, 0),
        (1, 1, 8, True, 1, 0),
    ]


def test_own_values_of_people(conn: Connection) -> None:
    rng = Random(6)
    people = [(rng.randint(1, 5), rng.randint(1, 2), rng.randint(-3, 3)) for _ in range(200)]
    given = query(
        "select g.* from g", {"g": table(conn, "cell int, col int, value bigint", people)}
    )
    counted = Counter(people)
    packed = packed_own(given)
    assert sorted(shown(conn, own_rows([packed]))) == sorted(
        (*key, n) for key, n in counted.items()
    )
    assert shown(conn, query("select p.* from p order by p.cell, p.col", {"p": packed})) == [
        (
            *cell,
            len({row for row in counted if row[:2] == cell}),
            sorted(value for *found, value in people if tuple(found) == cell),
        )
        for cell in sorted({row[:2] for row in people})
    ]


def test_counted_values_are_those_of_as_many_people(conn: Connection) -> None:
    counts = [(1, 1, 5, 3), (1, 1, -2, 1), (2, 1, 5, 1)]
    shape = "cell int, col int, value bigint, own int"
    packed = packed_counts(query("select g.* from g", {"g": table(conn, shape, counts)}))
    assert sorted(shown(conn, packed)) == [(1, 1, 2, [-2, 5, 5, 5]), (2, 1, 1, [5])]
    assert sorted(shown(conn, own_rows([packed]))) == sorted(counts)


def crossed(people: int) -> Iterator[dict[int, Row]]:
    """Two versions whose groups divide one another."""
    for step in (7, 5):
        yield {person: released(1 + person % step, f"v{person % 11}") for person in range(people)}


def test_no_place_of_an_own_value_tells_whose_it_is(conn: Connection) -> None:
    """People are remembered in some order, too; the places of values would be theirs."""
    population = Population(conn)
    for source in crossed(300):
        population.add(source, rounds=0)
    assert population.memory is not None
    arrays = [row["values"] for own in population.memory.own for row in population.rows(own)]
    assert sum(len(values) for values in arrays) == 300
    assert max(len(set(values)) for values in arrays) > 2
    assert all(values == sorted(values) for values in arrays)


@pytest.mark.parametrize(
    "name", ["cells", "standings", "published", "value", "gathered", "own", "left", "measured"]
)
def test_a_cell_that_is_there_twice_is_refused(
    conn: Connection, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Or it would be remembered twice, and twice as often with every later version."""
    first, second = crossed(300)
    population = Population(conn)
    population.add(first, rounds=0)
    original = Executor._create

    def doubled(self: Executor, step: CreateTable) -> None:
        original(self, step)
        if step.name == f"guard {name}":
            made = step.table(self.state).identifier
            self.conn.execute(sql.SQL("INSERT INTO {0} SELECT * FROM {0}").format(made))

    monkeypatch.setattr(Executor, "_create", doubled)
    with pytest.raises(Unbalanced, match="more than once"):
        population.add({person: row for person, row in second.items() if person % 9}, rounds=0)


def test_values_of_a_cell_are_hashed_and_not_compared_in_pairs(db: Database) -> None:
    """Two groups may have thousands of values each."""
    conn = db.owner()
    advise_planner(conn, Options())
    population = Population(conn)
    for source in crossed(300):
        population.add(source, rounds=0)
    (step,) = bounds_steps(population.version)
    assert isinstance(step, CreateTable)
    tree = step.select(population.state)
    assert isinstance(tree, exp.Expr)
    ((plan,),) = conn.execute(sql.SQL("EXPLAIN (FORMAT JSON) ") + statement(tree)).fetchall()
    loops = [node for node in nodes(plan[0]["Plan"]) if node["Node Type"] == "Nested Loop"]
    within = [node["Node Type"] for node in nodes(loops[0]["Plans"][1])]  # one is over the cells
    assert "Hash Join" in within
    assert "Nested Loop" not in within


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)
