"""Releases whose people keep their signatures, against the definition."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.resolved.invariance import OUT
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused
from tests.support.harness.examples import examples
from tests.support.oracles.anatomy import eligible
from tests.support.oracles.invariance import Person, Value, is_invariant, most_filled, posteriors
from tests.support.sources.growing import rows
from tests.support.sources.invariant import Kept, People

pytestmark = pytest.mark.primary_server_only


@pytest.fixture
def numbers() -> Iterator[int]:
    """Of tables of a database, and of their people: equal tables would be of the same ones."""
    return itertools.count()


def check(kept: Kept, people: People, out: set[Person]) -> set[Person]:
    """The last version against the ones before; who is permanently suppressed after it."""
    before, version = kept.versions[:-1], kept.versions[-1]
    everything = [list(groups.values()) for groups in kept.versions]
    assert is_invariant(everything, kept.l)
    placed = {person for group in version.values() for person in group.people}
    for group in version.values():
        own = [people[person] for person in group.people]
        assert len(set(own)) == len(own)
        assert set(own) <= set(group.values)
    sets = {p: frozenset(g.values) for groups in before for g in groups.values() for p in g.people}
    survivors = {person for person in people if person in sets}
    newcomers = people.keys() - survivors - out
    assert survivors <= placed
    assert not placed & out
    count: dict[frozenset[Value], Counter[Value]] = {}
    for person in survivors:
        count.setdefault(sets[person], Counter())[people[person]] += 1
    old = [g for g in version.values() if g.people & survivors or frozenset(g.values) in count]
    fillers = {p for g in version.values() if g.people & survivors for p in g.people} - survivors
    needed: Counter[Value] = Counter()
    for values, own in count.items():
        groups = max(own.values())
        needed.update({value: groups - own[value] for value in values})
        assert sum(frozenset(group.values) == values for group in old) >= groups
    come = Counter(people[person] for person in newcomers)
    rest = newcomers - placed
    if before:
        wanted = most_filled(come, needed, kept.l)
        others = [people[person] for person in newcomers - fillers]
        assert len(fillers) == wanted
        assert bool(rest) == (bool(others) and not eligible(others, kept.l))
        assert rest in (set(), newcomers - fillers)
        counterfeits = sum(group.counterfeits for group in version.values())
        assert counterfeits == sum(needed.values()) - wanted
    result = kept.results[-1]
    assert result.suppressed == len(people) - len(placed)
    return out | rest


def check_memory(kept: Kept, out: set[Person]) -> None:
    found = kept.remembered
    assert found.pop(OUT, 0) == len(out)
    assert sorted(found.values()) == sorted(map(len, kept.signatures.values()))


@pytest.mark.random_tables
@examples(3)
@given(seed=st.integers(0, 2**32))
@pytest.mark.slow
def test_random_histories(db: Database, numbers: Iterator[int], seed: int) -> None:
    number = next(numbers)
    rng = random.Random(seed)
    kept = Kept(db, f"t{number}", l=rng.choice((2, 3)))
    values = "abcdefg"[: rng.randint(kept.l + 1, 7)]
    people: dict[Person, Value] = {}
    gone: dict[Person, Value] = {}
    out: set[Person] = set()
    for month in range(4):
        if month:
            leaving = [p for p in people if rng.random() < 0.3]
            gone |= {p: people.pop(p) for p in leaving}
            back = [p for p in gone if p not in leaving and rng.random() < 0.3]
            people |= {p: gone.pop(p) for p in back}
        come = rng.randint(18, 30) if not month else rng.randint(0, 9)
        first = 1000 * number + 100 * month
        weights = [3, *[1] * (len(values) - 1)] if month else None
        new = rng.choices(values, weights, k=come) if month else None
        new = new or (list(values) * come)[:come]
        people |= dict(enumerate(new, first))
        kept.release(people)
        out = check(kept, people, out)
    check_memory(kept, out)


@pytest.mark.slow
def test_posteriors_of_all_versions(db: Database) -> None:
    kept = Kept(db, l=3)
    kept.release({1: "a", 2: "b", 3: "c", 4: "a", 5: "b", 6: "c"})
    kept.release({1: "a", 3: "c", 5: "b", 7: "b", 8: "d"})
    kept.release({1: "a", 2: "b", 7: "b", 8: "d"})
    everything = [list(groups.values()) for groups in kept.versions]
    assert any(group.counterfeits for group in everything[-1])
    for found in posteriors(everything).values():
        assert set(found.values()) == {Fraction(1, 3)}


@pytest.mark.slow
def test_who_is_left_over_is_out_for_good(db: Database) -> None:
    """With d among enough others later, its only bearer is still not released."""
    kept = Kept(db)
    people: dict[Person, Value] = {1: "a", 2: "b", 3: "a", 4: "b"}
    kept.release(people)
    people |= {5: "d"}
    version = kept.release(people)
    assert all(5 not in group.people for group in version.values())
    assert kept.results[-1].suppressed == 1
    people |= {6: "e", 7: "f", 8: "d"}
    version = kept.release(people)
    placed = {person for group in version.values() for person in group.people}
    assert 5 not in placed
    assert kept.remembered[OUT] == 1 + len(people.keys() - placed - {5})


def test_too_many_out_are_refused(db: Database) -> None:
    kept = Kept(db)
    people: dict[Person, Value] = {1: "a", 2: "b"}
    kept.release(people)
    kept.fill({**people, 3: "d"})
    with refused("suppression_limit"):
        kept.release(suppression_limit=0)


@pytest.mark.slow
def test_a_dry_run_tests_nobody(db: Database) -> None:
    """Else a steward could see that newcomers are not eligible, and wait for others."""
    kept = Kept(db)
    people: dict[Person, Value] = {1: "a", 2: "b", 3: "a", 4: "b"}
    kept.release(people)
    tried = kept.tried()
    assert (tried.added, tried.outcome) == (None, "dry_run")
    assert tried.released == 4  # nobody is new
    kept.fill({**people, 5: "d"})
    tried = kept.tried(suppression_limit=0)
    assert tried.added is not None
    assert (tried.outcome, tried.utility, tried.released) == ("dry_run", None, 0)
    assert (tried.added.newcomers, tried.added.tested, tried.added.waiting) == (1, 1, 0)
    assert rows(db.owner(), "pganon_private.cohorts") == []
    with refused("suppression_limit"):
        kept.release(suppression_limit=0)
    kept.fill({**people, 5: "d", 6: "e", 7: "f"})
    tried = kept.tried(suppression_limit=0)
    assert tried.added is not None
    assert (tried.added.newcomers, tried.added.tested, tried.added.waiting) == (3, 1, 2)


@pytest.mark.slow
def test_nobody_new(db: Database) -> None:
    """Groups may be others, values of them are not."""
    kept = Kept(db, l=3)
    people: dict[Person, Value] = {n: "abc"[n % 3] for n in range(12)}
    kept.release(people)
    kept.release(people)
    assert check(kept, people, set()) == set()
    assert not any(group.counterfeits for group in kept.versions[1].values())


@pytest.mark.slow
def test_values_that_all_left_are_counterfeits(db: Database) -> None:
    """Of a type whose equal values may look different, and NULL, none gives itself away."""
    kept = Kept(db, l=3, kind="numeric")
    people: dict[Person, Any] = {1: 1, 2: 2, 3: None}
    kept.fill({1: "1.00", 2: "2.0", 3: None})  # type: ignore[dict-item]
    kept.release()
    kept.fill({2: "2.0"})  # type: ignore[dict-item]
    (group,) = kept.release().values()
    assert group.people == {2}
    assert set(group.values) == set(people.values())
    shown = db.admin.execute("SELECT s::text FROM published.r_t_st").fetchall()
    assert sorted(shown, key=repr) == [("1",), ("2",), (None,)]
