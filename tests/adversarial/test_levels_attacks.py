"""Attacks on full-domain recoding: what levels, missing people and several releases disclose."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from pganon.errors import PrivacyRefusal
from pganon.resolved.guarantee import UNCOMPUTED, guarantee
from pganon.run.context import resolve_policy
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles.levels import Column, Table
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

AGES = {21: "2*", 26: "2*", 33: "3*", 37: "3*"}
ZIPS = {"101": "10*", "102": "10*", "201": "20*"}
PEOPLE = [
    (21, "101"),
    (26, "101"),
    (33, "101"),
    (33, "102"),
    (33, "102"),
    (37, "102"),
    (37, "102"),
    (37, "201"),
]
DISEASES = ("flu", "flu", "cold", "asthma", "angina", "ulcer", "gout", "hives")
K = {"model": "k_anonymity", "k": 2}
L = {"model": "distinct_l_diversity", "column": "disease", "l": 2}
Shown = frozenset[tuple[frozenset[int], tuple[str, ...]]]
"""Of every class who is in it, and its diseases."""


def eight(privacy: list[dict[str, Any]], limit: int, **levels: list[int]) -> dict[str, Any]:
    ages = {"*": {"2*": ["21", "26"], "3*": ["33", "37"]}}
    zips = {"*": {"10*": ["101", "102"], "20*": ["201"]}}
    columns: dict[str, Any] = {
        "age": {"hierarchy": {"inline": ages}},
        "zip": {"hierarchy": {"inline": zips}},
        "disease": "s",
    }
    for name, allowed in levels.items():
        columns[name]["levels"] = allowed
    return policy(columns, privacy, method={"name": "full_domain"}, suppression_limit=limit / 8)


def table(diseases: tuple[str, ...], *, diverse: bool) -> Table:
    """As the oracle has it; the integration tests hold the method against this."""
    columns = [
        Column({value: (value, label, "*") for value, label in labels.items()}, widths=(1,))
        for labels in (AGES, ZIPS)
    ]
    least = 2 if diverse else 1

    def satisfied(values: Any, references: Any) -> bool:
        return len(values) >= 2 and len(set(values)) >= least

    records = [(*who, disease) for who, disease in zip(PEOPLE, diseases, strict=True)]
    return Table(columns, records, satisfied)


@cache
def decided(flu: tuple[int, ...], limit: int, diverse: bool) -> tuple[Any, frozenset[Any]]:
    """The levels of a release and its classes; the other diseases differ, so decide nothing."""
    rare = iter(DISEASES[2:])
    world = table(
        tuple("flu" if person in flu else next(rare) for person in range(8)), diverse=diverse
    )
    optimum = world.optimum(limit)
    assert optimum is not None
    node = optimum[2]
    failed = world.failing(node)
    groups = [group for group in world.classes(node) if not failed.intersection(group)]
    return node, frozenset(map(frozenset, groups))


def shown(diseases: tuple[str, ...], limit: int, *, diverse: bool) -> tuple[Any, Shown]:
    """The levels of a release, and its classes with their diseases."""
    flu = tuple(person for person, disease in enumerate(diseases) if disease == "flu")
    node, groups = decided(flu, limit, diverse)
    return node, frozenset(
        (group, tuple(sorted(diseases[person] for person in group))) for group in groups
    )


def worlds() -> Iterator[tuple[str, ...]]:
    """All assignments of the diseases to the people, each once."""
    rare = DISEASES[2:]
    for pair in itertools.combinations(range(8), 2):
        for others in itertools.permutations(rare):
            left = iter(others)
            yield tuple("flu" if person in pair else next(left) for person in range(8))


def possible(diseases: tuple[str, ...], classes: Shown) -> bool:
    """Whether the classes alone leave the assignment open."""
    return all(
        tuple(sorted(diseases[person] for person in group)) == values for group, values in classes
    )


def chance(found: list[tuple[str, ...]]) -> float:
    """How probable it is that the first person has the flu."""
    return sum(world[0] == "flu" for world in found) / len(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "open_", "left", "before", "after"),
    [(0, 20_160, 720, 2 / 8, 1), (2, 72, 24, 2 / 3, 1)],
)
def test_levels_that_values_forbid_exclude_worlds(
    limit: int, open_: int, left: int, before: float, after: float
) -> None:
    """A cheaper node was not taken: so the class that it would have made has one disease."""
    released = shown(DISEASES, limit, diverse=True)
    missing = set(range(8)) - {person for group, _ in released[1] for person in group}
    fits = [world for world in worlds() if possible(world, released[1])]
    if missing:
        # Who is missing has what the released have not, in some order.
        fits = [world for world in fits if Counter(world) == Counter(DISEASES)]
    computed = [world for world in fits if shown(world, limit, diverse=True) == released]
    assert (len(fits), len(computed)) == (open_, left)
    assert (chance(fits), chance(computed)) == pytest.approx((before, after))


def test_sizes_alone_exclude_nothing() -> None:
    """Under k-anonymity levels and missing people follow from the quasi-identifiers."""
    for limit in (0, 1, 2):
        node, classes = shown(DISEASES, limit, diverse=False)
        for turn in range(1, 8):
            other = DISEASES[turn:] + DISEASES[:turn]
            chosen, found = shown(other, limit, diverse=False)
            assert chosen == node
            assert {group for group, _ in found} == {group for group, _ in classes}


@pytest.mark.parametrize(("privacy", "told"), [([K], False), ([K, L], True)])
def test_readers_are_told(db: Database, privacy: list[dict[str, Any]], told: bool) -> None:
    columns = {"age": "integer NOT NULL", "zip": "text NOT NULL", "disease": "text NOT NULL"}
    rows = [(*who, what) for who, what in zip(PEOPLE, DISEASES, strict=True)]
    make_table(db.connect("source_owner"), columns, rows)
    spec = resolve_policy(db.owner(), driver.loaded(eight(privacy, 0)))
    assert {UNCOMPUTED in item["adversary"] for item in guarantee(spec)} == {told}


def test_whoever_is_missing_was_in_a_class_that_failed(db: Database) -> None:
    """Fixed levels hide the choice of levels, not this."""
    columns = {"age": "integer NOT NULL", "zip": "text NOT NULL", "disease": "text NOT NULL"}
    rows = [(*who, what) for who, what in zip(PEOPLE, DISEASES, strict=True)]
    make_table(db.connect("source_owner"), columns, rows)
    staged = driver.run(db.owner(), eight([K, L], 8, age=[1, 1], zip=[0, 0]))
    missing = set(range(1, 9)) - {person for group in staged.members.values() for person in group}
    # 1 and 2 are a class of two: that they are missing says that they have the same disease.
    assert missing == {1, 2, 3, 8}


def test_two_releases_intersect_to_the_classes_of_their_meet() -> None:
    """So both of them together tell what a release on the lower levels of each would tell."""
    world = table(DISEASES, diverse=False)
    for one, other in (((2, 0), (0, 2)), ((1, 1), (2, 0)), ((1, 2), (2, 1))):
        meet = tuple(map(min, one, other))
        both = {
            frozenset(first) & frozenset(second)
            for first in world.classes(one)
            for second in world.classes(other)
        }
        assert both - {frozenset()} == {frozenset(group) for group in world.classes(meet)}


def test_the_top_of_ranges_tells_extremes_only_coarsely(db: Database) -> None:
    """The hull of the coarsest ranges of released records, not of suppressed ones."""
    rows = [(age, "x") for age in (23, 24, 31, 36, 187)]
    types = {"age": "integer NOT NULL", "disease": "text NOT NULL"}
    make_table(db.connect("source_owner"), types, rows)
    columns = {
        "age": {"hierarchy": {"intervals": [10]}, "levels": [2, 2]},
        "disease": "s",
    }
    declared = policy(columns, 2, method={"name": "full_domain"}, suppression_limit=0.2)
    staged = driver.run(db.owner(), declared)
    assert {str(row["age"]) for row in staged.classes.values()} == {"[20, 190)"}


def test_a_reference_beside_suppressed_records_is_refused(db: Database) -> None:
    """The difference of both distributions would be the values of those who are missing."""
    columns = {"age": "integer NOT NULL", "zip": "text NOT NULL", "disease": "text NOT NULL"}
    rows = [(*who, what) for who, what in zip(PEOPLE, DISEASES, strict=True)]
    make_table(db.connect("source_owner"), columns, rows)
    close = {"model": "t_closeness", "column": "disease", "t": 0.7}
    declared = {**eight([K, close], 4, age=[1, 1], zip=[0, 0]), "publish": {"reference": True}}
    with pytest.raises(PrivacyRefusal) as caught:
        driver.run(db.owner(), declared)
    assert caught.value.code == "disclosed_by_subtraction"
