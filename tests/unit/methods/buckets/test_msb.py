"""Multi-sensitive bucketization: worked examples, and random tables against the definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence

import pytest

from pganon.methods.buckets.search.msb import Priority, Vector, msb
from tests.support.harness.work import calls
from tests.support.sources.registry import REGISTRY

PRIORITIES: tuple[Priority, ...] = ("mbf", "msdcf", "mmdcf")
CANCER, TREATMENT, SYMPTOM = 4, 5, 6
ALL = range(4, 10)


def codes(columns: Sequence[int]) -> list[Vector]:
    """Sensitive values of the registry, numbered in order."""
    orders = {c: sorted({row[c] for row in REGISTRY}) for c in columns}
    return [tuple(1 + orders[c].index(row[c]) for c in columns) for row in REGISTRY]


PAIRS = {
    "mbf": ([[5, 2, 7], [4, 1, 6]], [3, 8, 9]),
    "msdcf": ([[5, 2, 7], [3, 4, 8]], [1, 6, 9]),
    "mmdcf": ([[5, 3, 4], [1, 6, 2], [7, 8, 9]], []),
}
SYMPTOMS = {
    "mbf": ([[5, 2, 3], [7, 8, 9], [4, 1, 6]], []),
    "msdcf": ([[5, 2, 3], [7, 8, 9], [4, 1, 6]], []),
    "mmdcf": ([[3, 5, 2]], [1, 4, 6, 7, 8, 9]),
}
SIX = {
    "mbf": ([[2, 1, 6], [7, 5, 9], [4, 8, 3]], []),
    "msdcf": ([[2, 1, 6], [7, 5, 9], [4, 8, 3]], []),
    "mmdcf": ([[3, 5, 2]], [1, 4, 6, 7, 8, 9]),
}


@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.parametrize(
    ("columns", "expected"),
    [((CANCER, TREATMENT), PAIRS), ((CANCER, TREATMENT, SYMPTOM), SYMPTOMS), (ALL, SIX)],
    ids=["two columns", "three columns", "six columns"],
)
def test_the_registry(columns: Sequence[int], expected: dict, priority: Priority) -> None:
    found = msb(codes(columns), 3, priority)
    groups, suppressed = expected[priority]
    assert [[row + 1 for row in group] for group in found.groups] == groups
    assert [row + 1 for row in found.suppressed] == suppressed


@pytest.mark.parametrize("priority", PRIORITIES)
def test_eligible_and_yet_without_any_group(priority: Priority) -> None:
    """The first pick shares a value with every other row."""
    found = msb([(1, 1, 1), (1, 2, 2), (2, 1, 3), (3, 3, 1)], 2, priority)
    assert (found.groups, found.suppressed) == ([], [0, 1, 2, 3])


def test_rows_left_over_join_the_smallest_group() -> None:
    found = msb([(1,), (1,), (2,), (2,), (3,)], 2, "mbf")
    assert found.groups == [[0, 2, 4], [1, 3]]


def test_nobody() -> None:
    found = msb([], 2, "mbf")
    assert (found.groups, found.suppressed) == ([], [])


# -- the definition ---------------------------------------------------------------------------


def naive(vectors: list[Vector], l: int, priority: Priority) -> tuple[list[list[int]], list[int]]:  # noqa: E741
    """As it is written down: frequencies are counted again before every pick."""

    def shares(one: Vector, other: Vector) -> bool:
        return any(a == b for a, b in zip(one, other, strict=True))

    def rank(vector: Vector, left: list[int]) -> tuple[int, int]:
        size = sum(vectors[row] == vector for row in left)
        caps = [Counter(vectors[row][d] for row in left)[v] for d, v in enumerate(vector)]
        return {"mbf": size, "msdcf": max(caps), "mmdcf": sum(caps)}[priority], size

    left = list(range(len(vectors)))
    groups: list[list[int]] = []
    while True:
        group: list[int] = []
        rest = list(left)
        while len(group) < l:
            cells = sorted(
                {
                    vectors[row]
                    for row in rest
                    if not any(shares(vectors[row], vectors[member]) for member in group)
                }
            )
            if not cells:
                break
            best = max(cells, key=lambda vector: rank(vector, rest))
            group.append(next(row for row in rest if vectors[row] == best))
            rest.remove(group[-1])
        if len(group) < l:
            break
        groups.append(group)
        left = rest
    suppressed = []
    for row in left:
        fitting = [g for g in groups if not any(shares(vectors[row], vectors[m]) for m in g)]
        if fitting:
            min(fitting, key=len).append(row)
        else:
            suppressed.append(row)
    return groups, suppressed


def test_random_tables() -> None:
    rng = random.Random(7)
    for _ in range(250):
        columns, size = rng.randint(1, 4), rng.randint(1, 24)
        domains = [rng.randint(1, 9) for _ in range(columns)]
        vectors = [tuple(1 + int(d * rng.random() ** 1.5) for d in domains) for _ in range(size)]
        l, priority = rng.randint(1, 4), rng.choice(PRIORITIES)  # noqa: E741
        found = msb(vectors, l, priority)
        assert (found.groups, found.suppressed) == naive(vectors, l, priority)


@pytest.mark.parametrize("priority", PRIORITIES)
@pytest.mark.slow
def test_work_grows_with_the_rows(priority: Priority) -> None:
    rng = random.Random(8)
    vectors = [(int(14 * rng.random() ** 2), int(94 * rng.random() ** 2)) for _ in range(30_000)]
    found, work = calls(lambda: msb(vectors, 4, priority))
    assert work < 30 * 30_000
    for group in found.groups:
        assert all(len({vectors[row][d] for row in group}) == len(group) for d in (0, 1))
    rows = sorted(row for group in found.groups for row in group) + found.suppressed
    assert sorted(rows) == list(range(30_000))
