"""Attack: know everybody's quasi-identifiers and the algorithm, and count the worlds left."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.oracles.background_search import Beta, Num, Search, Table
from tests.support.oracles.background_worlds import (
    BetaPrimacy,
    Division,
    Learnt,
    Seen,
    Select,
    Trimmed,
    World,
    learnt,
    seen,
)
from tests.support.sources.background import ROLES, SUPPRESSES, beta_policy, build, groups

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

COLUMNS = {name: ROLES[name] for name in ("age", "s")}
SEEDS = (1, 2, 3)

WORLDS: dict[World, tuple[float, int]] = {
    (0, 0, 1, 0, 0, 1, 0, 1): (0.6, 3),
    (2, 0, 1, 0, 1, 1, 0, 2): (1.0, 2),
    (0, 0, 1, 2, 3, 3, 2, 1): (3.0, 2),
}
"""Sensitive values along the curve, with beta and k."""


def counts_of(world: World) -> tuple[int, ...]:
    return tuple(world.count(value) for value in sorted(set(world)))


def rule(world: World, beta: float) -> Beta:
    return Beta(beta, [[n / len(world) for n in counts_of(world)]])


def released(db: Database, world: World, method: Any, *, seed: int, **others: Any) -> Staged:
    rows = [(20 + place, "abcd"[value]) for place, value in enumerate(world)]
    build(db, rows, {"age": "integer", "s": "text"})
    beta, k = WORLDS[world]
    return run(
        db.owner(), beta_policy(method, k=k, beta=beta, columns=COLUMNS, **others), seed=seed
    )


def shown(staged: Staged, world: World) -> Seen:
    """What an adversary sees who can tell everybody's class."""
    found = seen(world, [[key - 1 for key in group] for group in groups(staged)])
    rows = staged.table("records")
    published = sorted(
        tuple(sorted("abcd".index(row["s"]) for row in rows if row["class_id"] == number))
        for number in {row["class_id"] for row in rows}
    )
    assert published == sorted(values for _, values in found)
    return found


@cache
def all_learnt(world: World, select: Select, division: Division) -> dict[Seen, Learnt]:
    beta, k = WORLDS[world]
    algorithm = BetaPrimacy(rule(world, beta), k, select, division)
    return {release.seen: release for release in learnt(algorithm, counts_of(world))}


@pytest.mark.parametrize("world", WORLDS)
def test_public_blocks_and_random_records_tell_the_histograms(db: Database, world: World) -> None:
    """The default. Every release is one that the attack was computed for."""
    found = set()
    for seed in SEEDS:
        staged = released(db, world, "beta_primacy", seed=seed)
        release = all_learnt(world, "random", "public")[shown(staged, world)]
        found.add(release.seen)
        for row, posterior in release.posteriors.items():
            assert posterior == release.shares(row)
    assert len(found) > 1


@pytest.mark.parametrize(
    ("select", "division"),
    [
        ("random", "none"),
        ("random", "eligible"),
        ("sweep", "none"),
        ("sweep", "public"),
        ("nearest", "none"),
        ("nearest", "eligible"),
    ],
)
@pytest.mark.parametrize("world", list(WORLDS)[:2])
def test_the_other_ways_are_those_the_limits_are_computed_for(
    db: Database, world: World, select: Select, division: Division
) -> None:
    beta, k = WORLDS[world]
    algorithm = BetaPrimacy(rule(world, beta), k, select, division)
    possible = {seen(world, classes) for _, classes in algorithm(world)}
    method = {"name": "beta_primacy", "select": select, "division": division}
    for seed in SEEDS[:2]:
        assert shown(released(db, world, method, seed=seed), world) in possible


@pytest.mark.parametrize("select", ["sweep", "nearest"])
def test_what_is_random_depends_on_the_secret(db: Database, select: Select) -> None:
    """The order in which classes take records, and the records that they begin with."""
    world = next(iter(WORLDS))
    method = {"name": "beta_primacy", "select": select, "division": "none"}
    assert len({shown(released(db, world, method, seed=s), world) for s in range(8)}) > 1


AGES = ["0", "1.01", "2.03", "3.07", "4.15", "5.31", "6.63"]


@pytest.mark.parametrize("post", ["agg", "inc"])
@pytest.mark.parametrize("world", [(0, 1, 0, 1, 0, 0, 1), (0, 2, 1, 0, 1, 2, 0)])
def test_k_primacy_is_what_the_limits_are_computed_for(
    db: Database, world: World, post: str
) -> None:
    rows = [(age, "abc"[value]) for age, value in zip(AGES, world, strict=True)]
    build(db, rows, {"age": "numeric", "s": "text"})
    limits = rule(world, 0.6)
    table = Table((Num(0, 6.63),), [(float(age),) for age in AGES], world)
    for k in (2, 3):
        staged = run(db.owner(), beta_policy(f"k{post}", k=k, beta=0.6, columns=COLUMNS))
        classes, _ = Search(table, k, limits, post).run()
        assert groups(staged) == sorted([row + 1 for row in group] for group in classes)


CLUSTERS = [range(4), range(4, 8)]


@pytest.mark.parametrize(
    ("world", "beta"), [((0, 0, 0, 1, 0, 1, 1, 1), 0.4), ((0, 0, 0, 1, 1, 1, 2, 2), 0.6)]
)
def test_who_is_trimmed_is_one_of_those_that_could_be(
    db: Database, world: World, beta: float
) -> None:
    """Whose record is missing from a cluster has one of the values that are at their limit."""
    rows = [(0 if place < 4 else 1, "abc"[value]) for place, value in enumerate(world)]
    build(db, rows, {"age": "integer", "s": "text"})
    # Nothing is known of other ages, so that the two ages have priors of their own.
    knowledge = {"kernel": {"bandwidth": 0.3}}
    method = {"name": "beta_primacy", "lemma2": "trim"}
    declared = beta_policy(
        method, beta=beta, columns=COLUMNS, j=0.01, knowledge=knowledge, **SUPPRESSES
    )
    algorithm = Trimmed(rule(world, beta), 2, CLUSTERS)
    possible = {
        frozenset(row for rows in classes for row in rows) for _, classes in algorithm(world)
    }
    found = set()
    for seed in range(8):
        staged = run(db.owner(), declared, seed=seed)
        found.add(frozenset(key - 1 for group in groups(staged) for key in group))
    assert found <= possible
    assert len(found) > 1  # who of those with a value is left out is random
