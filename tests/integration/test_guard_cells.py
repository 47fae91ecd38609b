"""Cells are the people with one past: groups, and changed values of any column."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.harness.guarded import Population, Row


@pytest.mark.random_tables
@examples(2)
@given(seed=st.integers(0, 10**6))
def test_of_several_columns(db: Database, seed: int) -> None:
    random = Random(seed)
    columns = ("u", "v", "w")
    population = Population(db.owner(), columns)
    values = {person: [random.choice("ab") for _ in columns] for person in range(60)}
    last: dict[int, list[str]] = {}
    past: dict[int, tuple[object, ...]] = {}
    for number in range(4):
        for person in random.sample(range(60), 12):
            values[person][random.randrange(3)] = random.choice("ab")
        version: dict[int, Row] = {}
        for person in random.sample(range(60), 55):
            group = random.choice((1, 2, 3, 0))
            groups = (group,) * 3 if group else ()
            version[person] = Row(groups, tuple((value,) for value in values[person]), 0)
        for person in range(60):
            if person not in version:
                step: tuple[object, ...] = (0, ())
            else:
                before = last.get(person, values[person])
                changed = tuple(a != b for a, b in zip(before, values[person], strict=True))
                group = version[person].groups[:1]
                step = (group[0] if group else 0, changed if any(changed) else ())
                last[person] = list(values[person])
            if person in past or step != (0, ()):
                past[person] = (*past.get(person, ()), (number, *step))
        population.add(version, rounds=1)
        found = {
            frozenset(row["people"]): row for row in population.cells.values() if row["people"]
        }
        wanted: dict[object, set[int]] = {}
        for person in {one for row in population.cells.values() for one in row["people"]}:
            wanted.setdefault(past.get(person, ()), set()).add(person)
        assert set(found) == set(map(frozenset, wanted.values()))
        assert sum(row["size"] for row in population.cells.values()) == sum(map(len, found))
        for people, row in found.items():
            was = any(step[1] for step in past.get(min(people), ()))  # pyright: ignore
            assert row["seen"] == bool(was)
            assert (row["cell"] == 0) == (past.get(min(people), ()) == ())
