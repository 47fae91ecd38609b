"""Random histories of slamsa whose people keep their sets of vectors, against the definition."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.resolved.invariance import OUT
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.oracles.anatomy import eligible
from tests.support.oracles.invariance import Person, Vector, VectorSet, keeps_vectors
from tests.support.sources.invariant import Kept, Vectors

pytestmark = pytest.mark.primary_server_only

TWO = ("s", "u")


@pytest.fixture
def numbers() -> Iterator[int]:
    """Of tables of a database, and of their people: equal tables would be of the same ones."""
    return itertools.count()


def check(kept: Kept, people: Vectors, everybody: Vectors, out: set[Person]) -> set[Person]:
    """The last version against the ones before; who is permanently suppressed after it."""
    sets = keeps_vectors(kept.everything, everybody, kept.l)
    assert sets is not None
    before = {p for groups in kept.versions[:-1] for g in groups.values() for p in g.people}
    survivors, here = people.keys() & before, kept.placed
    newcomers = people.keys() - before - out
    assert survivors <= here
    assert not here & out
    rest = newcomers - here
    counterfeits = sum(group.counterfeits for group in kept.versions[-1].values())
    if kept.versions[:-1]:
        count: dict[VectorSet, Counter[Vector]] = {}
        for person in survivors:
            count.setdefault(sets[person], Counter())[people[person]] += 1
        need: Counter[Vector] = Counter()
        for vectors, own in count.items():
            need.update({vector: max(own.values()) - own[vector] for vector in vectors})
        old = [g for g in kept.versions[-1].values() if g.people & survivors]
        assert len(old) == sum(max(own.values()) for own in count.values())
        fillers = {p for group in old for p in group.people} - survivors
        assert counterfeits == sum(need.values()) - len(fillers)
        come = Counter(people[person] for person in newcomers)
        fitting = sum((come & need).values())
        others = [people[person] for person in newcomers - fillers]
        if eligible_in_all(others, kept.l):
            assert len(kept.columns) > 2 or not rest
        else:
            assert rest == newcomers - fillers
            assert len(fillers) == fitting
        if eligible_in_all(list((come - need).elements()), kept.l):
            assert len(fillers) == fitting
    else:
        assert counterfeits == 0
    result = kept.results[-1]
    assert result.suppressed == len(people) - len(here)
    return out | rest


def eligible_in_all(vectors: list[Vector], l: int) -> bool:  # noqa: E741
    return all(eligible(list(values), l) for values in zip(*vectors, strict=True))


SHAPES: list[dict[str, Any]] = [
    {"columns": TWO},
    {"columns": ("u", "s"), "sliced": True},
    {"columns": TWO, "method": {"sensitive_tables": 1}},
    {"columns": ("s", "u", "w"), "method": {"sensitive_tables": [["w", "s"], ["u"]]}},
    {"columns": TWO, "method": {"division": "public"}},
    {"columns": ("s", "u", "w"), "method": {"sensitive_tables": 2, "optimizer": "firefly"}},
]


@pytest.mark.slow
@pytest.mark.random_tables
@pytest.mark.parametrize("shape", SHAPES, ids=["two", "sliced", "one", "three", "public", "found"])
@examples(1)
@given(seed=st.integers(0, 2**32))
def test_random_histories(
    db: Database, numbers: Iterator[int], shape: dict[str, Any], seed: int
) -> None:
    columns = shape["columns"]
    others = {key: value for key, value in shape.items() if key != "columns"}
    number = next(numbers)
    rng = random.Random(seed)
    kept = Kept(db, f"t{number}", l=rng.choice((2, 3)), columns=columns)
    values = "abcdefg"[: rng.randint(kept.l + 1, 7)]
    everybody: Vectors = {}
    people: Vectors = {}
    gone: Vectors = {}
    out: set[Person] = set()
    for month in range(4):
        if month:
            leaving = [p for p in people if rng.random() < 0.3]
            gone |= {p: people.pop(p) for p in leaving}
            back = [p for p in gone if p not in leaving and rng.random() < 0.3]
            people |= {p: gone.pop(p) for p in back}
        come = rng.randint(24, 36) if not month else rng.randint(0, 12)
        lists = [(list(values) * come)[:come] for _ in columns]
        if month:
            lists = [rng.choices(values, k=come) for _ in columns]
        for one in lists:
            rng.shuffle(one)
        vectors = list(zip(*lists, strict=True))
        if month and everybody:  # some have what others had
            vectors = [rng.choice([v, rng.choice(list(everybody.values()))]) for v in vectors]
        new = dict(enumerate(vectors, 1000 * number + 100 * month))
        everybody |= new
        people |= new
        kept.release(people, **others)
        out = check(kept, people, everybody, out)
        check_rows(kept, everybody)
    found = kept.remembered
    assert found.pop(OUT, 0) == len(out)
    sets = keeps_vectors(kept.everything, everybody, kept.l)
    assert sets is not None
    assert sorted(found.values()) == sorted(Counter(sets.values()).values())


def check_rows(kept: Kept, everybody: Vectors) -> None:
    """What a sensitive table shows together are values of one vector of the set."""
    sets = keeps_vectors(kept.everything, everybody, kept.l)
    assert sets is not None
    people = {n: min(group.people) for n, group in kept.versions[-1].items()}
    for columns, rows in kept.sensitive_rows(f"r_{kept.name}"):
        places = [kept.columns.index(column) for column in columns]
        told: dict[int, list[Vector]] = {}
        for number, count, *values in rows:
            told.setdefault(number, []).extend([tuple(values)] * count)
        for number, found in told.items():
            vectors = sets[people[number]]
            assert sorted(found) == sorted(tuple(v[p] for p in places) for v in vectors)
