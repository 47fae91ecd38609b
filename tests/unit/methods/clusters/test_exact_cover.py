"""Posteriors of combinations in a cluster, held against all worlds written out."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.methods.clusters.search.exact_cover import worst_posterior

Combination = tuple[str, ...]


def by_hand(combinations: list[Combination], shown: list[set[str]], size: int) -> Fraction | None:
    first: Counter[Combination] = Counter()
    for world in itertools.product(combinations, repeat=size):
        if [set(column) for column in zip(*world, strict=True)] == shown:
            first[world[0]] += 1
    return Fraction(max(first.values()), first.total()) if first else None


def found(combinations: list[Combination], shown: list[set[str]], size: int) -> Fraction | None:
    numbers = {v: i for i, v in enumerate(sorted({v for s in shown for v in s}), 1)}
    rows = [[numbers[value] for value in combination] for combination in combinations]
    return worst_posterior([len(values) for values in shown], rows, size)


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[Combination], list[set[str]], int]:
    shown = [
        {f"{column}{i}" for i in range(draw(st.integers(1, 3)))}
        for column in "abc"[: draw(st.integers(1, 3))]
    ]
    every = sorted(itertools.product(*[sorted(values) for values in shown]))
    kept = draw(st.lists(st.sampled_from(every), min_size=1, max_size=6, unique=True))
    return kept, shown, draw(st.integers(1, 5))


@given(clusters())
def test_all_worlds(case: tuple[list[Combination], list[set[str]], int]) -> None:
    assert found(*case) == by_hand(*case)


def test_many_combinations_and_two_records() -> None:
    """Sixteen combinations exist, and but one pair of them has all ten values."""
    every = list(itertools.product(*[(f"{c}0", f"{c}1") for c in "abcde"]))
    kept = [every[0], every[31], *every[1:15]]
    shown = [{f"{c}0", f"{c}1"} for c in "abcde"]
    assert found(kept, shown, 2) == Fraction(1, 2)


def test_as_many_records_as_candidates_do_not_make_them_equally_likely() -> None:
    kept = [("a1", "x"), ("a2", "x"), ("a2", "y"), ("a2", "z")]
    shown = [{"a1", "a2"}, {"x", "y", "z"}]
    assert found(kept, shown, 4) == by_hand(kept, shown, 4) == Fraction(3, 10)


def test_a_cluster_with_too_many_worlds_has_no_figure() -> None:
    every = list(itertools.product([f"a{i}" for i in range(12)], [f"b{i}" for i in range(12)]))
    shown = [{a for a, _ in every}, {b for _, b in every}]
    assert found(every, shown, 14) is None


@pytest.mark.parametrize("size", [1, 2])
def test_a_value_of_no_combination_has_no_world(size: int) -> None:
    assert found([("a", "x")], [{"a", "b"}, {"x"}], size) is None


@given(st.lists(st.integers(1, 3), min_size=1, max_size=2), st.integers(1, 4))
def test_who_knows_no_combination_finds_all_equally_likely(sizes: list[int], size: int) -> None:
    """Their number is the product that is counted."""
    shown = [{f"{c}{i}" for i in range(n)} for c, n in zip("ab", sizes, strict=False)]
    every = list(itertools.product(*map(sorted, shown)))
    possible = size >= max(sizes)
    assert by_hand(every, shown, size) == (Fraction(1, len(every)) if possible else None)


@given(st.data())
def test_as_many_candidates_are_left_as_there_are_records_and_combinations(
    data: st.DataObject,
) -> None:
    """Of a cluster that somebody has published: k of both leave k, none of them ruled out."""
    every = list(itertools.product(*[[f"{c}{i}" for i in range(3)] for c in "abc"]))
    existing = data.draw(st.lists(st.sampled_from(every), min_size=1, max_size=6, unique=True))
    cluster = data.draw(st.lists(st.sampled_from(existing), min_size=1, max_size=4))
    shown = [set(column) for column in zip(*cluster, strict=True)]
    supported = [c for c in existing if all(v in s for v, s in zip(c, shown, strict=True))]
    left = {
        world[0]
        for world in itertools.product(supported, repeat=len(cluster))
        if [set(column) for column in zip(*world, strict=True)] == shown
    }
    assert len(left) >= min(len(supported), len(cluster))
