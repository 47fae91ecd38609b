"""The oracle of anatomy against worked examples."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest

from tests.support.oracles.anatomy import (
    Group,
    NotEligible,
    anatomize,
    blocks,
    cap,
    column,
    degree,
    diverse,
    divisions,
    eligible,
    estimate,
    fewest_suppressed,
    joined,
    largest_l,
    of,
    posteriors,
    publish,
    reconstruction_error,
    stripes,
    unique,
    violations,
)

PEOPLE = {
    1: (23, "M", 11000, "pneumonia"),
    2: (27, "M", 13000, "dyspepsia"),
    3: (35, "M", 59000, "dyspepsia"),
    4: (59, "M", 12000, "pneumonia"),
    5: (61, "F", 54000, "flu"),
    6: (65, "F", 25000, "gastritis"),
    7: (65, "F", 25000, "flu"),
    8: (70, "F", 30000, "bronchitis"),
}
DISEASES = {number: row[3] for number, row in PEOPLE.items()}
NINE = {**DISEASES, 9: "flu"}
BY_HAND = [[1, 2, 3, 4], [5, 6, 7, 8]]


def as_sets(groups: list[Group]) -> set[frozenset[int]]:
    return {frozenset(group) for group in groups}


@pytest.mark.parametrize(
    ("l", "groups"),
    [
        (2, [[2, 5], [1, 8], [3, 7], [6, 4]]),
        (3, [[2, 5, 1, 6], [8, 3, 7, 4]]),
        (4, [[2, 5, 1, 8], [3, 7, 6, 4]]),
    ],
)
def test_anatomize(l: int, groups: list[Group]) -> None:  # noqa: E741
    assert anatomize(DISEASES, l) == groups


@pytest.mark.parametrize(
    ("l", "groups"),
    [
        (2, [[2, 1], [3, 4], [5, 8], [7, 6]]),
        (3, [[2, 5, 1, 8], [3, 7, 4, 6]]),
        (4, [[2, 5, 1, 8], [3, 7, 4, 6]]),
    ],
)
def test_stripes(l: int, groups: list[Group]) -> None:  # noqa: E741
    assert as_sets(stripes(DISEASES, l)) == as_sets(groups)


@pytest.mark.parametrize("algorithm", [anatomize, stripes])
def test_tables_that_are_not_eligible(algorithm: object) -> None:
    for values, l, words in (  # noqa: E741
        (DISEASES, 5, "2 of 8, allows at most 1"),
        (NINE, 4, "3 of 9, allows at most 2"),
        (column(*"FFFFFGGH"), 2, "5 of 8, allows at most 4"),
        (column(*"xxxx"), 2, "4 of 4, allows at most 2"),
    ):
        with pytest.raises(NotEligible, match=words):
            algorithm(values, l)  # type: ignore[operator]


def test_a_residue() -> None:
    assert anatomize(NINE, 2) == [[5, 2, 4], [7, 1], [8, 3], [9, 6]]


def test_exact_ties() -> None:
    values = column("flu", "flu", "cold", "cold", "ulcer", "flu")
    expected = {frozenset({1, 3}), frozenset({2, 4}), frozenset({5, 6})}
    assert as_sets(anatomize(values, 2)) == as_sets(stripes(values, 2)) == expected


def test_reconstruction_error() -> None:
    for algorithm in (anatomize, stripes):
        assert reconstruction_error([of(g, DISEASES) for g in algorithm(DISEASES, 2)]) == 4
    assert reconstruction_error([of(g, DISEASES) for g in BY_HAND]) == Fraction(9, 2)


@pytest.mark.parametrize(
    ("groups", "expected", "variance"),
    [(BY_HAND, 1, Fraction(1, 3)), (anatomize(DISEASES, 2), Fraction(1, 2), Fraction(1, 4))],
)
def test_estimate(groups: list[Group], expected: Fraction, variance: Fraction) -> None:
    qit, st = publish(groups, DISEASES, PEOPLE)
    found = estimate(
        qit, st, lambda r: r[0] <= 30 and 10001 <= r[2] <= 20000, lambda v: v == "pneumonia"
    )
    assert found == (expected, variance)


def test_residual_records_are_no_group() -> None:
    values = column(*"FFFFFGGH")
    groups = [of(g, values) for g in ([1, 6], [2, 7], [3, 8], [4, 5])]
    assert degree(groups) == 1
    assert [cap(values.values(), l) for l in (2, 3, 4)] == [3, 1, 0]  # noqa: E741
    assert [fewest_suppressed("FFFFFGGH", l) for l in (2, 3)] == [2, 5]  # noqa: E741


def test_distinct_is_not_frequency() -> None:
    group = ["Flu"] * 8 + ["HIV", "Cancer"]
    assert degree([group]) == Fraction(5, 4)
    assert not diverse(group, 3)
    values = column(*group)
    qit, st = publish([list(values)], values, values)
    assert violations(qit, st, 3) == ["V2: 1"]
    assert violations(qit, st, 1) == []


@pytest.mark.parametrize(
    ("group", "passes"),
    [(["flu", None, None, "cold"], True), ([None, None, None, "cold"], False), ([None] * 3, False)],
)
def test_null_is_a_value(group: list[str | None], passes: bool) -> None:
    assert diverse(group, 2) is passes


def test_unique_level() -> None:
    assert unique(["a", "b"], 2)
    assert not unique(["a"], 2)
    assert not unique(["a", "b", "c", "d", "a"], 2)
    assert unique(["a", None], 2)
    assert not unique(["a", None, None], 2)


def test_violations() -> None:
    qit = [(1, "x"), (1, "y"), (2, "z"), (2, "w")]
    st = [(1, "a", 1), (1, "b", 1), (2, "a", 1), (2, "c", 1)]
    assert violations(qit, st, 2) == []
    assert violations(qit[:3], st, 2) == ["V1: 2", "V3: 2"]
    assert violations(qit, st[:2], 2) == ["V1: 2"]
    assert violations(qit, [*st[:3], (2, "a", 1)], 2) == ["V2: 2"]
    assert violations(qit, [*st, (2, "d", 0)], 2) == ["V1: 2 has 0 of a value"]
    many = [(1, n) for n in range(4)]
    twice = [(1, "a", 2), (1, "b", 1), (1, "c", 1)]
    assert violations(many, twice, 2) == []
    assert violations(many, twice, 2, level="unique") == ["V2: 1"]


def test_random_tables() -> None:
    """Both algorithms: n / l groups, all values different, RCE n less the number of groups."""
    rng = random.Random(1)
    checked = 0
    for _ in range(600):
        values = column(*rng.choices([*"abcdefg", None], k=rng.randint(2, 24)))
        l = rng.randint(2, 5)  # noqa: E741
        if not eligible(values.values(), l):
            assert largest_l(values.values()) < l
            continue
        checked += 1
        for algorithm in (anatomize, stripes):
            groups = algorithm(values, l)
            assert len(groups) == len(values) // l
            assert Counter(r for g in groups for r in g) == Counter(values.keys())
            found = [of(g, values) for g in groups]
            assert all(unique(g, l) for g in found)
            assert degree(found) >= l
            assert reconstruction_error(found) == len(values) - len(groups)
            assert violations(*publish(groups, values, values), l, level="unique") == []
    assert checked > 200


def test_fewest_suppressed_is_what_the_cap_leaves_out() -> None:
    rng = random.Random(2)
    for _ in range(200):
        values = rng.choices("aaabcde", k=rng.randint(1, 12))
        l = rng.randint(2, 4)  # noqa: E741
        most = cap(values, l)
        left = sum(max(n - most, 0) for n in Counter(values).values())
        assert left == fewest_suppressed(values, l)


def test_blocks_are_the_finest_division() -> None:
    """Every other way to divide the tree into eligible nodes has coarser blocks."""
    rng = random.Random(3)
    sizes = set()
    for _ in range(300):
        pieces = [rng.choices("aaabcd", k=rng.randint(2, 5)) for _ in range(rng.randint(1, 8))]
        if not eligible(joined(pieces, range(len(pieces))), 2):
            continue
        finest = blocks(pieces, 2)
        sizes.add(len(finest))
        ways = list(divisions(pieces, 2))
        assert finest in ways
        for way in ways:
            assert all(any(set(fine) <= set(held) for held in way) for fine in finest)
    assert sizes >= {1, 2, 3, 4}


def test_posteriors() -> None:
    values = column(*"aabbcde")
    qit, st = publish(stripes(values, 2), values, values)
    found = posteriors(qit, st)
    assert all(sum(one.values()) == 1 for one in found)
    assert max(max(one.values()) for one in found) == Fraction(1, 2)
    assert posteriors([(1, "x"), (1, "y")], [(1, "a", 2)]) == [{"a": 1}, {"a": 1}]


@pytest.mark.parametrize("held", ["aabbc", "aabcd"])
def test_records_dealt_at_random_tell_no_more_than_the_counts_of_their_groups(held: str) -> None:
    """Of one block: over all tables with these values, and all random orders of the people."""
    weights: dict[Any, list[Counter[str]]] = defaultdict(lambda: [Counter() for _ in held])
    for world in sorted(set(itertools.permutations(held))):
        for order in itertools.permutations(range(len(held))):
            values = column(*[world[person] for person in order])
            made = [
                (frozenset(order[r - 1] for r in group), tuple(sorted(values[r] for r in group)))
                for group in stripes(values, 2)
            ]
            for person, value in enumerate(world):
                weights[frozenset(made)][person][value] += 1
    for seen, found in weights.items():
        for people, values in seen:
            shares = {value: Fraction(n, len(values)) for value, n in Counter(values).items()}
            for person in people:
                total = found[person].total()
                assert {v: Fraction(n, total) for v, n in found[person].items()} == shares
