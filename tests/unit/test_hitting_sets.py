"""Exact minimum hitting sets: golden families, brute force, and the bound on work."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.privacy.identity import EIRLDiversity
from pganon.search.hitting_sets import SearchTooLarge, hits_within, minimum_hitting_set
from tests.support import model_oracle as oracle

GOLDEN = {
    "triangle": ("ab bc ca", 2),
    "Fano": ("abd bce cdf deg efa fgb gac", 3),
    "all pairs of five": ("ab ac ad ae bc bd be cd ce de", 4),
    "cycle of seven": ("ab bc cd de ef fg ga", 4),
    "star": ("xa xb xc xd", 1),
    "singletons": ("a b c ab cd", 3),
    "grid": ("abc def ghi adg beh cfi", 3),
    "Petersen": ("ab bc cd de ea af bg ch di ej fh hj jg gi if", 6),
    "no element common to all": ("35 57", 1),
    "two of one, three of another": ("23 24 12", 1),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden(name: str) -> None:
    text, size = GOLDEN[name]
    family = [{ord(c) for c in member} for member in text.split()]
    found = minimum_hitting_set(family)
    assert len(found) == size
    assert all(found & member for member in family)


def test_disjoint_sets_need_one_each() -> None:
    family = [range(9 * i, 9 * i + 9) for i in range(5)]
    assert len(minimum_hitting_set(family)) == 5


@given(st.lists(st.sets(st.integers(0, 8), min_size=1, max_size=4), max_size=12))
def test_brute_force(family: list[set[int]]) -> None:
    size = oracle.smallest_hitting_set(family) if family else 0
    assert len(minimum_hitting_set(family)) == size
    for bound in range(-1, size + 2):
        found = hits_within(family, bound)
        assert (found is not None) == (bound >= size)
        if found is not None:
            assert len(found) <= bound
            assert all(found & member for member in family)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=9))
def test_it_is_the_smallest_reasoning_set(pairs: list[tuple[int, int]]) -> None:
    smallest = oracle.eir_l(pairs)
    sets = oracle.value_sets(pairs)
    assert EIRLDiversity(2).measure(sets) == smallest
    for l in range(1, 7):  # noqa: E741
        assert EIRLDiversity(l).satisfied_by(sets) == (smallest >= l)


def test_an_empty_member_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        minimum_hitting_set([[1], []])
    assert minimum_hitting_set([]) == frozenset()


def test_too_much_work_is_an_error_and_never_an_answer() -> None:
    rng = random.Random(1)
    triples = list(itertools.combinations(range(40), 3))
    family = rng.sample(triples, 200)
    with pytest.raises(SearchTooLarge, match="stopped after 20 branches"):
        minimum_hitting_set(family, branches=20)


def test_classes_of_the_paper() -> None:
    """Mike and Jane share hypertension with Tim: one value hits all."""
    first = [{3}, {7}, {8, 2}, {9}]
    second = [{1, 2}, {1}, {1, 5}]
    assert EIRLDiversity(3).measure(first) == 4
    assert EIRLDiversity(3).measure(second) == 1
    assert EIRLDiversity(3).measure([{1, 5}, {8, 2}, {9}]) == 3
    assert EIRLDiversity(3).measure([{1, 2}, {3}, {1}, {7}]) == 3
