"""Attack: know the method, and compute which placements of values lead to the published groups.

A release says of its readers whether the guarantee holds against those who do that.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest

from pganon.resolved.guarantee import UNCOMPUTED, guarantee
from pganon.run.resolution import resolve_policy
from tests.support.harness import driver
from tests.support.harness.cluster import Database

AGES = range(1, 6)
POLICY: dict[str, Any] = {
    "release": "five",
    "source": "public.five",
    "columns": {"age": {"role": "quasi_identifying"}, "disease": {"role": "sensitive"}},
    "method": {"name": "mondrian"},
}
K = {"model": "k_anonymity", "k": 2}
L = {"model": "distinct_l_diversity", "column": "disease", "l": 2}

Groups = frozenset[tuple[frozenset[int], tuple[str, ...]]]
"""Of every group the ages and the values, which nothing links."""


def placements() -> Iterator[dict[int, str]]:
    """Two people have the value a, the others b, c and d in the order of their ages."""
    for pair in combinations(AGES, 2):
        others = iter("bcd")
        yield {age: "a" if age in pair else next(others) for age in AGES}


def published(db: Database, policy: dict[str, Any], placed: dict[int, str]) -> Groups:
    db.source("TRUNCATE public.five", grant=False)
    rows = ", ".join(f"({age}, '{value}')" for age, value in placed.items())
    db.source(f"INSERT INTO public.five VALUES {rows}", grant=False)
    conn = db.owner()
    staged = driver.run(conn, policy)
    ranges = {row["class_id"]: row["age"] for row in staged.table("classes")}
    values: dict[int, list[str]] = {number: [] for number in ranges}
    for row in staged.table("records"):
        values[row["class_id"]].append(row["disease"])
    driver.drop_leftovers(conn)
    return frozenset(
        (frozenset(age for age in AGES if age in ranges[n]), tuple(sorted(found)))
        for n, found in values.items()
    )


def shows(groups: Groups, placed: dict[int, str]) -> bool:
    """Whether what is published leaves the placement open."""
    return all(tuple(sorted(placed[age] for age in ages)) == found for ages, found in groups)


def outcomes(db: Database, policy: dict[str, Any]) -> list[tuple[dict[int, str], Groups]]:
    """What every placement leads to."""
    db.source("CREATE TABLE public.five (age integer, disease text)")
    return [(placed, published(db, policy, placed)) for placed in placements()]


def told(db: Database, policy: dict[str, Any]) -> set[bool]:
    """Whether readers are told that the guarantee does not hold against who computes."""
    promised = guarantee(resolve_policy(db.owner(), driver.loaded(policy)))
    return {UNCOMPUTED in requirement["adversary"] for requirement in promised}


@pytest.mark.slow
def test_cuts_that_values_forbid_exclude_placements(db: Database) -> None:
    """The cut above 2 would have been tried first, so 1 and 2 have the same value."""
    policy = {**POLICY, "privacy": [K, L]}
    found = outcomes(db, policy)
    assert len(found) == 10
    _, seen = found[0]
    assert seen == {
        (frozenset({1, 2, 3}), ("a", "a", "b")),
        (frozenset({4, 5}), ("c", "d")),
    }
    assert sum(shows(seen, placed) for placed, _ in found) == 3
    assert sum(groups == seen for _, groups in found) == 1
    assert told(db, policy) == {True}


@pytest.mark.slow
def test_cuts_of_k_anonymity_exclude_none(db: Database) -> None:
    policy = {**POLICY, "privacy": [K]}
    found = outcomes(db, policy)
    for _, seen in found:
        assert {groups for placed, groups in found if shows(seen, placed)} == {seen}
    assert told(db, policy) == {False}
