"""Models of identity reservation while a class grows, and what speaks against them before."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from pganon.methods.individuals import search
from pganon.methods.individuals.search.pool import UNITS, GrowingClass, Pool
from tests.support.oracles import identity_search as oracle
from tests.support.sources import identity_cases as cases

F = Fraction


def state_of(model: oracle.Model, *counts: dict[int, int]) -> bool:
    state = cases.model_of(model).state()
    for each in counts:
        state.add(search.Person(each))
    return state.satisfied


def test_repeated_values_count_as_records_and_once_as_holders() -> None:
    flu, hiv, gout = 1, 2, 3
    people = ({flu: 2}, {flu: 1, hiv: 1}, {gout: 1, hiv: 1})
    assert state_of(("share", F(1), F(1, 2)), *people)
    assert not state_of(("share", F(1), F(49, 100)), *people)
    assert not state_of(("eir share", F(1), F(1, 2)), *people)
    assert state_of(("eir share", F(1), F(2, 3)), *people)
    assert state_of(("eir", 2), *people)
    assert not state_of(("eir", 3), *people)
    once = ({flu: 1}, {flu: 1, hiv: 1}, {gout: 1, hiv: 1})
    assert state_of(("share", F(1), F(2, 5)), *once)
    # EIR (alpha, beta) implies IR (alpha, beta) only without repeated values.
    assert state_of(("eir share", F(9, 10), F(1, 2)), {flu: 5}, {hiv: 1})
    assert not state_of(("share", F(9, 10), F(1, 2)), {flu: 5}, {hiv: 1})


MODELS: list[oracle.Model] = [
    ("ir", 3, 2),
    ("eir", 2),
    ("share", F(2, 5), F(1, 2)),
    ("eir share", F(1, 2), F(2, 5)),
]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_class_admits_whoever_leaves_it_satisfied(model: oracle.Model) -> None:
    """Also where it is not satisfied yet; a class of nobody never is."""
    assert not state_of(model)
    rng = random.Random(7)
    found = set()
    for _ in range(300):
        people = [
            Counter(rng.choices(range(1, 5), k=rng.randint(1, 3))) for _ in range(rng.randint(1, 6))
        ]
        state = cases.model_of(model).state()
        for each in people[:-1]:
            state.add(search.Person(each))
        before, admitted = state.satisfied, state.admits(search.Person(people[-1]))
        assert admitted == state_of(model, *people)
        assert state.satisfied == before
        found.add((before, admitted))
    assert {(False, False), (False, True), (True, True)} <= found


@pytest.mark.parametrize(
    ("part", "whole", "beta", "holds"),
    [
        (1, 3, "0.3333", False),
        (1, 3, "0.3334", True),
        (2, 5, "0.4", True),
        (3, 5, "0.6", True),
        (57, 100, "0.57", True),
    ],
)
def test_shares_are_compared_exactly(part: int, whole: int, beta: str, holds: bool) -> None:
    people = [{1: 1}] * part + [{2 + at: 1} for at in range(whole - part)]
    for kind in ("share", "eir share"):
        assert state_of((kind, F(1), F(beta)), *people) == holds


def test_hopeless_individuals() -> None:
    def people(*counts: int) -> list[search.Person]:
        return [search.Person({1: count}) for count in counts]

    assert search.hopeless(people(12, 5, 2, 2, 2, 2), F(2, 5)) == [0]
    assert search.hopeless(people(2, 12, 2, 5, 2), F(2, 5)) == [1, 3]
    assert search.hopeless(people(2, 2, 2), F(1, 4)) == [0, 1, 2]
    assert search.hopeless([], F(1, 4)) == []


@pytest.mark.parametrize(
    ("holders", "n", "beta", "forced"),
    [
        (6, 10, F(1, 2), 2),
        (9, 10, F(1, 2), 8),
        (4, 10, F(2, 5), 0),
        (5, 10, F(2, 5), 2),
        (10, 10, F(1, 2), 10),
        (10, 10, F(1), 0),
    ],
)
def test_forced_suppressions(holders: int, n: int, beta: Fraction, forced: int) -> None:
    assert search.forced_suppressions(holders, n, beta) == forced


def test_parameters_and_individuals_that_cannot_be() -> None:
    for wrong in (lambda: search.IRKL(0), lambda: search.IRKL(2, 0), lambda: search.EIRL(0)):
        with pytest.raises(ValueError, match="k and l must be integers >= 1"):
            wrong()
    for alpha, beta in ((F(0), F(1)), (F(1), F(3, 2))):
        with pytest.raises(ValueError, match=r"alpha and beta must lie in \(0, 1\]"):
            search.IRAlphaBeta(alpha, beta)
    for counts in ({}, {1: 0}):
        with pytest.raises(ValueError, match="needs records"):
            search.Person(counts)
    with pytest.raises(ValueError, match="attributes are needed"):
        search.Individuals([np.zeros((3, 2))], [search.Person({1: 1})], np.zeros(1))


def test_who_is_put_back_counts_once() -> None:
    """And who was taken out is nowhere near."""
    line = search.Numeric(0, 10)
    pool = Pool([line], [line.parts([1, 5], [1, 5])], np.ones(2))
    from_one = GrowingClass([line], ((1.0, 1.0, False),), 1)
    for place in (0, 1):
        pool.take(place)
    pool.restore(0)
    pool.aim(from_one)
    assert (pool.count, pool.nearest(from_one)) == (1, (0, 0.0))
    pool.take(0)
    assert (pool.count, pool.nearest(from_one)) == (0, (-1, np.inf))


def test_elements_above_leaves_have_lost_before() -> None:
    """Of a tree and of others; what was lost before is no part of a distance."""
    paths = np.array([[-1, -1], [0, 0], [1, 0], [2, 0], [3, 1], [4, 1]])
    tree = cases.tree_of(paths, nulls=False)
    others = (search.Numeric(0, 10), search.Categorical(3, 4))
    parts = [
        tree.parts([[1], [4, 5], [1, 4], [5]]),
        others[0].parts([0, 2, 0, 9], [0, 4, 10, 9]),
        others[1].parts([[1], [1, 2], [1, 2, 3], [3]]),
    ]
    for domain, found in zip((tree, *others), parts, strict=True):
        elements = [domain.part(found, at) for at in range(4)]
        costs = [domain.cost(element) for element in elements]
        assert domain.costs(found).tolist() == pytest.approx(costs)
        assert costs[0] == costs[3] == 0 < costs[1] < costs[2] == 1
        pool = Pool([domain], [found], np.array([1, 2, 3, 1]))
        root = GrowingClass([domain], (elements[2],), 1)
        pool.aim(root)
        expected = [1, 2 * (1 - costs[1]), 0, 1]
        assert (pool.distances(root) / UNITS).tolist() == pytest.approx(expected)
