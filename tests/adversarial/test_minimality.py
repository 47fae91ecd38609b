"""Attack: know the method, and compute which placements of values lead to the published groups.

A release says of its readers whether the guarantee holds against those who do that.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import pytest

from pganon.resolved.guarantee import UNCOMPUTED, guarantee
from pganon.run.context import resolve_policy
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

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


def placements(ages: Sequence[int] = AGES) -> Iterator[dict[int, str]]:
    """Two people have the value a, the others b, c and d in the order of their ages."""
    for pair in combinations(ages, 2):
        others = iter("bcd")
        yield {age: "a" if age in pair else next(others) for age in ages}


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
        (frozenset(age for age in placed if age in ranges[n]), tuple(sorted(found)))
        for n, found in values.items()
    )


def shows(groups: Groups, placed: dict[int, str]) -> bool:
    """Whether what is published leaves the placement open."""
    return all(tuple(sorted(placed[age] for age in ages)) == found for ages, found in groups)


def outcomes(
    db: Database, policy: dict[str, Any], ages: Sequence[int] = AGES
) -> list[tuple[dict[int, str], Groups]]:
    """What every placement leads to."""
    db.source("CREATE TABLE public.five (age integer, disease text)")
    return [(placed, published(db, policy, placed)) for placed in placements(ages)]


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


# -- one-dimensional partitioning ---------------------------------------------------------------

APART = (21, 22, 40, 41, 42)
ALONG: dict[str, Any] = {**POLICY, "method": {"name": "one_dimensional"}}


@pytest.mark.slow
def test_a_dearer_partition_tells_that_the_cheapest_failed(db: Database) -> None:
    """21 and 22 alone would lose less, so they have the same value."""
    policy = {**ALONG, "privacy": [K, L]}
    found = outcomes(db, policy, APART)
    _, seen = found[0]
    assert seen == {
        (frozenset({21, 22, 40}), ("a", "a", "b")),
        (frozenset({41, 42}), ("c", "d")),
    }
    assert sum(shows(seen, placed) for placed, _ in found) == 3
    assert [placed for placed, groups in found if groups == seen] == [found[0][0]]
    cheapest = {ages for ages, _ in found[3][1]}
    assert cheapest == {frozenset({21, 22}), frozenset({40, 41, 42})}
    assert told(db, policy) == {True}


@pytest.mark.slow
def test_partitions_of_k_anonymity_exclude_none(db: Database) -> None:
    policy = {**ALONG, "privacy": [K]}
    found = outcomes(db, policy, APART)
    assert {frozenset(ages for ages, _ in groups) for _, groups in found} == {
        frozenset({frozenset({21, 22}), frozenset({40, 41, 42})})
    }
    assert told(db, policy) == {False}


@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_classes_of_k_anonymity_are_made_without_sensitive_values(
    db: Database, variant: str
) -> None:
    """Of records with equal quasi-identifiers it depends on a secret which is in which."""
    rng = random.Random(4)
    rows = [(rng.randint(0, 30), rng.choice("aabcd"), rng.choice("xyz")) for _ in range(120)]
    values = [[row[2] for row in rows], sorted(row[2] for row in rows), ["x"] * 120]
    columns = {
        "x": {"role": "quasi_identifying"},
        "y": {"role": "quasi_identifying"},
        "disease": {"role": "sensitive"},
    }
    method = {"name": "one_dimensional", "variant": variant, "refine": 10}
    policy = {**ALONG, "source": "public.t", "columns": columns, "privacy": [K], "method": method}
    found = set()
    for column in values:
        table = [[x, y, value] for (x, y, _), value in zip(rows, column, strict=True)]
        make_table(
            db.connect("source_owner"), {"x": "integer", "y": "text", "disease": "text"}, table
        )
        conn = db.owner()
        groups = driver.run(conn, policy).members.values()
        found.add(str(sorted(sorted(rows[n - 1][:2] for n in ids) for ids in groups)))
        driver.drop_leftovers(conn)
    assert len(found) == 1
