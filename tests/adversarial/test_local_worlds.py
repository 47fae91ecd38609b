"""What is learned from a whole run by who knows flags, all quasi-identifiers and the method.

Such a reader imagines every table that gives the hidden values to other people, and every secret
order, lets the method run on it, and keeps those with which it publishes what is seen. The method
is that of the oracles, which runs are compared with elsewhere.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, run
from tests.support.oracles.lgb import Attribute, Key, Table, nominal, numeric
from tests.support.oracles.lgb_buckets import (
    Bucket,
    aligned_buckets,
    close_buckets,
    diverse_buckets,
)
from tests.support.oracles.lgb_groups import mdp
from tests.support.oracles.lgb_release import Diversity, driver, greedy
from tests.support.sources.local import buckets, build, close, diverse, groups, policy

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

Value = Any
Seen = frozenset[tuple[Bucket, tuple[Value, ...]]]
"""Members and sorted values of every bucket; the numbers that they bear are random."""
Hidden = Mapping[Key, Value]
Method = Callable[[Hidden, Sequence[Key]], Sequence[Bucket]]
"""Buckets of hidden values, given a secret order of the people."""

COLUMNS = (numeric("x"), numeric("a"), nominal("s"))


def table(a: str, s: str) -> Table:
    """Who has an age with ! hides it; s is sensitive for all."""
    values, hidden = {}, {}
    for key, (age, held) in enumerate(zip(a.split(), s.split(), strict=True), 1):
        values[key] = (key // 3, int(age.rstrip("!")), held)
        hidden[key] = frozenset({2, *([1] if age.endswith("!") else [])})
    return Table(COLUMNS, values, hidden)


TABLES = {
    "all differ": table("21! 22! 23! 24! 30 30 31", "p q r s t u v"),
    "some are frequent": table("21! 21! 22! 22! 23! 30 31", "p p q q r s s"),
    "half have one": table("21! 21! 22! 23! 30 30", "p p q r p q"),
}


def hidden_in(t: Table, at: int) -> dict[Key, Value]:
    return {key: row[at] for key, row in t.values.items() if at in t.hidden[key]}


def worlds(hidden: Hidden) -> Iterator[dict[Key, Value]]:
    """All that have these values in some order."""
    for held in sorted(set(itertools.permutations(hidden.values())), key=repr):
        yield dict(zip(hidden, held, strict=True))


def seen(found: Sequence[Bucket] | set[Bucket], held: Hidden) -> Seen:
    return frozenset((keys, tuple(sorted((held[k] for k in keys), key=repr))) for keys in found)


def learned(hidden: Hidden, observed: Seen, method: Method) -> dict[Key, dict[Value, Fraction]]:
    """How likely everybody's values are."""
    weights: dict[Key, Counter[Value]] = {key: Counter() for key in hidden}
    total = 0
    for world in worlds(hidden):
        for order in itertools.permutations(hidden):
            if seen(method(world, order), world) == observed:
                total += 1
                for key, value in world.items():
                    weights[key][value] += 1
    assert total, "the run publishes something that the method cannot"
    return {
        key: {value: Fraction(n, total) for value, n in held.items()}
        for key, held in weights.items()
    }


def by(order: Sequence[Key]) -> Callable[[str, Key], int]:
    return lambda name, key: order.index(key)


def diverse_method(attribute: Attribute, l: int, assign: Any) -> Method:  # noqa: E741
    def method(hidden: Hidden, order: Sequence[Key]) -> list[Bucket]:
        return diverse_buckets(hidden, attribute, l, by(order), assign)

    return method


@pytest.mark.parametrize("assign", ["m_invariance", "deal"])
@pytest.mark.parametrize("which", TABLES)
def test_no_hidden_value_is_likelier_than_its_bucket_says(
    db: Database, which: str, assign: Any
) -> None:
    t = TABLES[which]
    build(db, t)
    method = {"name": "lgb_mdp", "assign": assign}
    for seed in range(3):
        staged = run(
            db.owner(), policy(t, method, 2, [diverse("a", 2), diverse("s", 2)]), seed=seed
        )
        _check(staged, t, "a", 2, assign)
        if len(t.values) < 7:  # people's orders are many
            _check(staged, t, "s", 2, assign)
        drop_leftovers(db.owner())


def _check(staged: Staged, t: Table, name: str, l: int, assign: Any) -> None:  # noqa: E741
    (at,) = [place for place, a in enumerate(t.attributes) if a.name == name]
    hidden = hidden_in(t, at)
    observed = seen(buckets(staged, t, name), hidden)
    told = learned(hidden, observed, diverse_method(t.attributes[at], l, assign))
    assert max(p for held in told.values() for p in held.values()) <= Fraction(1, l)
    for keys, held in observed:
        shares = {value: Fraction(n, len(held)) for value, n in Counter(held).items()}
        assert all(told[key] == shares for key in keys)


def test_a_distance_bounds_what_is_learned(db: Database) -> None:
    """Under t-closeness a value is at most t likelier than it is among all hidden ones."""
    t = table("21! 21! 21! 22! 22! 30 30", "p q r s t u v")
    build(db, t)
    limit = Fraction(1, 5)
    principles = [close("a", float(limit), 2), diverse("s", 2)]
    staged = run(db.owner(), policy(t, {"name": "lgb_mdp"}, 2, principles))
    hidden = hidden_in(t, 1)
    observed = seen(buckets(staged, t, "a"), hidden)
    alike = nominal("a")  # distance: equal

    def method(held: Hidden, order: Sequence[Key]) -> list[Bucket]:
        texts = {key: str(value) for key, value in held.items()}
        return close_buckets(texts, alike, limit, 2, by(order))

    told = learned(hidden, observed, method)
    for held in told.values():
        for value, p in held.items():
            share = Fraction(list(hidden.values()).count(value), len(hidden))
            assert p <= share + limit


@pytest.mark.parametrize("which", TABLES)
@pytest.mark.parametrize("name", ["lgb_mdp", "lgb_ncp"])
def test_groups_are_the_same_in_every_world(db: Database, name: str, which: str) -> None:
    """So they tell nothing: neither in the method, nor in runs under one secret."""
    t = TABLES[which]
    grouping = mdp if name == "lgb_mdp" else greedy("grow", "fill")
    principles = {"a": Diversity(2), "s": Diversity(2)}
    hidden = hidden_in(t, 1)
    found = set()
    tables = []
    for world in worlds(hidden):
        rows = {key: (row[0], world.get(key, row[1]), row[2]) for key, row in t.values.items()}
        tables.append(Table(COLUMNS, rows, t.hidden))
        found.add(frozenset(driver(tables[-1], 2, principles, grouping).groups))
    assert len(found) == 1
    made = set()
    for other in tables[:: max(1, len(tables) // 4)]:
        build(db, other)
        staged = run(
            db.owner(), policy(other, {"name": name}, 2, [diverse("a", 2), diverse("s", 2)])
        )
        shown = sorted(str(row) for row in staged.table("groups"))
        made.add((frozenset(groups(staged, other)), tuple(shown)))
        drop_leftovers(db.owner())
    assert len(made) == 1


# -- buckets in common ----------------------------------------------------------------------------

PAIRS = {
    "four pairs": "1 ap!; 2 ap!; 3 bq!; 4 bq!",
    "one value with two": "1 ap!; 2 aq!; 3 bs!; 4 cr!; 5 cr!",
    "one more": "1 ap!; 2 ap!; 3 bq!; 4 bq!; 5 cr!",
}


@pytest.mark.parametrize("which", PAIRS)
def test_who_knows_which_values_go_together(db: Database, which: str) -> None:
    """Worlds are made of whole records: a pair that does not exist is in none of them."""
    rows = [line.split() for line in PAIRS[which].split(";")]
    held = {int(key): (pair[0], pair[1]) for key, pair in rows}
    columns = (numeric("x"), nominal("a"), nominal("s"))
    values = {key: (1, *pair) for key, pair in held.items()}
    t = Table(columns, values, dict.fromkeys(values, frozenset({1, 2})))
    build(db, t)
    method = {"name": "lgb_mdp", "buckets": "aligned", "link_threshold": 0}

    for seed in range(3):
        declared = policy(t, method, 2, [diverse("a", 2), diverse("s", 2)])
        staged = run(db.owner(), declared, seed=seed)
        assert staged.utility.aligned == (("a", "s"),)
        observed = seen(buckets(staged, t, "a"), held)
        told = _of_pairs(held, observed)
        for at in (0, 1):
            for pairs in told.values():
                one: Counter[Value] = Counter()
                for pair, p in pairs.items():
                    one[pair[at]] += p
                assert max(one.values()) <= Fraction(1, 2)
        drop_leftovers(db.owner())


def _of_pairs(held: Hidden, observed: Seen) -> dict[Key, dict[Value, Fraction]]:
    """As `learned`, where the order of the piles is drawn apart from that of the people."""
    weights: dict[Key, Counter[Value]] = {key: Counter() for key in held}
    total = 0
    for world in worlds(held):
        for order in itertools.permutations(held):
            for piles in itertools.permutations(range(len(held) // 2)):
                found = aligned_buckets(
                    world,
                    (nominal("a"), nominal("s")),
                    [2, 2],
                    lambda name, key, order=order, piles=piles: (
                        piles.index(key) if name == "piles" else order.index(key)
                    ),
                )
                if seen(found, world) == observed:
                    total += 1
                    for key, value in world.items():
                        weights[key][value] += 1
    assert total
    return {key: {v: Fraction(n, total) for v, n in one.items()} for key, one in weights.items()}
