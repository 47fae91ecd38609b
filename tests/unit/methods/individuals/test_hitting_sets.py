"""Exact hitting sets: golden families, brute force, and the bounds on work."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.methods.common.search.masks import mask_of
from pganon.methods.individuals.search.hitting_sets import (
    BranchAndBound,
    LazyWitness,
    SearchTooLarge,
)
from tests.support.harness.work import calls
from tests.support.oracles import model as oracle
from tests.support.oracles.hitting_sets import (
    extended_hitting_sets,
    hits_within,
    minimal_hitting_sets,
    minimum_hitting_set,
)

GOLDEN = {
    "triangle": ("ab bc ca", 2, 3),
    "Fano": ("abd bce cdf deg efa fgb gac", 3, 7),
    "all pairs of five": ("ab ac ad ae bc bd be cd ce de", 4, 5),
    "cycle of seven": ("ab bc cd de ef fg ga", 4, 7),
    "star": ("xa xb xc xd", 1, 2),
    "singletons": ("a b c ab cd", 3, 1),
    "grid": ("abc def ghi adg beh cfi", 3, 15),
    "Petersen": ("ab bc cd de ea af bg ch di ej fh hj jg gi if", 6, 15),
    "no element common to all": ("35 57", 1, 2),
    "two of one, three of another": ("23 24 12", 1, 2),
}
"""Members, the size of a minimum hitting set, and the number of minimal ones."""

Family = list[set[int]]
families = st.lists(st.sets(st.integers(0, 8), min_size=1, max_size=4), max_size=12)


def family_of(text: str) -> Family:
    return [{ord(c) for c in member} for member in text.split()]


def brute_force(family: Family) -> set[frozenset[int]]:
    """All hitting sets of which no smaller one is a part, by trying every set."""
    elements = sorted(set().union(*family))
    found: list[frozenset[int]] = []
    for size in range(len(elements) + 1):
        for chosen in map(frozenset, itertools.combinations(elements, size)):
            if all(chosen & m for m in family) and not any(other <= chosen for other in found):
                found.append(chosen)
    return set(found)


def product(family: Family) -> set[frozenset[int]]:
    """Algorithm 5 as it is written: every set with every element, then absorption."""
    sets = {frozenset[int]()}
    for member in family:
        longer = {found | {element} for found in sets for element in member}
        sets = {s for s in longer if not any(other < s for other in longer)}
    return sets


@pytest.mark.parametrize("name", GOLDEN, ids=[f"5.2-{name}" for name in GOLDEN])
def test_golden(name: str) -> None:
    text, size, number = GOLDEN[name]
    family = family_of(text)
    found = minimum_hitting_set(family)
    assert len(found) == size
    assert all(found & member for member in family)
    assert len(minimal_hitting_sets(family)) == number


BOUNDS = {
    "triangle": 2,
    "Fano": 3,
    "all pairs of five": 3,
    "cycle of seven": 4,
    "star": 1,
    "singletons": 3,
    "grid": 3,
    "Petersen": 5,
    "five disjoint ones": 5,
}
"""The fewest elements whose frequencies add up to all members."""


def family_with_bounds(name: str) -> Family:
    if name == "five disjoint ones":
        return [set(range(9 * i, 9 * i + 9)) for i in range(5)]
    return family_of(GOLDEN[name][0])


@pytest.mark.parametrize(
    ("name", "degree"),
    [pytest.param(name, d, id=f"5.2-{name}-degree {d}") for name, d in BOUNDS.items()],
)
def test_less_than_the_degree_bound_needs_no_search(name: str, degree: int) -> None:
    family = family_with_bounds(name)
    assert hits_within(family, degree - 1, branches=1) is None
    if len(minimum_hitting_set(family)) > degree:
        with pytest.raises(SearchTooLarge):
            hits_within(family, degree, branches=1)
    else:
        assert hits_within(family, degree) is not None


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("23 24 12", "2 134"),
        ("13 135 16 35 57 4 45 46", "145 1347 3456 3467"),
        ("35 57", "5 37"),
        ("LH S YD", "LSY LSD HSY HSD"),
    ],
)
def test_all_minimal_sets_of_the_paper(text: str, sets: str) -> None:
    expected = set(map(frozenset, family_of(sets)))
    assert minimal_hitting_sets(family_of(text)) == expected == brute_force(family_of(text))


def test_a_set_after_another_from_all_minimal_ones() -> None:
    """From {5} alone the sets {3} and {7} would need three elements; two are enough."""
    sets = minimal_hitting_sets(family_of("35 57"))
    for member in family_of("3 7"):
        sets = extended_hitting_sets(sets, member)
    assert sets == {frozenset(map(ord, "37"))}


def test_disjoint_sets_need_one_each() -> None:
    family = [set(range(9 * i, 9 * i + 9)) for i in range(5)]
    assert len(minimum_hitting_set(family)) == 5
    assert len(minimal_hitting_sets(family)) == 9**5


@given(families)
def test_minimal_sets_by_brute_force(family: Family) -> None:
    expected = brute_force(family)
    assert minimal_hitting_sets(family) == expected == product(family)
    sets = {frozenset[int]()}
    for member in family:
        sets = extended_hitting_sets(sets, member)
    assert sets == expected


@given(families, families, st.integers(1, 6))
def test_a_growing_family_is_judged_after_every_set(
    family: Family,
    other: Family,
    l: int,  # noqa: E741
) -> None:
    witness, second = LazyWitness(l), LazyWitness(l)
    for count, member in enumerate(family, 1):
        least = oracle.smallest_hitting_set(family[:count])
        assert witness.add(mask_of(member)) == (least >= l)
    for member in other:
        second.add(mask_of(member))
    alone = second.satisfied
    together = len(minimum_hitting_set(family + other))
    assert witness.merge(second) == (together >= l)
    assert second.satisfied == alone


@given(families)
def test_brute_force(family: Family) -> None:
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
    assert len(minimum_hitting_set(sets)) == smallest
    for l in range(1, 7):  # noqa: E741
        assert (hits_within(sets, l - 1) is None) == (smallest >= l)


def test_an_empty_member_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        minimum_hitting_set([[1], []])
    assert minimum_hitting_set([]) == frozenset()


TRIPLES = list(itertools.combinations(range(40), 3))


def test_too_much_work_is_an_error_and_never_an_answer() -> None:
    family = random.Random(1).sample(TRIPLES, 200)
    with pytest.raises(SearchTooLarge):
        minimum_hitting_set(family, branches=200)


def test_a_witness_that_cannot_tell_does_not_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pganon.methods.individuals.search.hitting_sets.BRANCHES", 20)
    family = random.Random(1).sample(TRIPLES, 200)
    witness, exact = LazyWitness(16), 0
    for size, member in enumerate(family, 1):
        if witness.add(mask_of(member)):
            exact = size
            break
    needed = next(n for n in range(1, 201) if hits_within(family[:n], 15) is None)
    assert exact == 0 or exact >= needed
    monkeypatch.setattr("pganon.methods.individuals.search.hitting_sets.BRANCHES", 100_000)
    later = LazyWitness(16)
    assert any(later.add(mask_of(member)) for member in family[:needed])


def test_a_family_that_could_not_be_decided_is_searched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The more individuals, the easier it is to tell."""
    rng = random.Random(1)
    family = [rng.sample(range(12), 3) for _ in range(300)]
    monkeypatch.setattr("pganon.methods.individuals.search.hitting_sets.BRANCHES", 18)
    witness = LazyWitness(6)
    size = next(n for n, member in enumerate(family, 1) if witness.add(mask_of(member)))
    needed = next(n for n in range(1, 300) if hits_within(family[:n], 5) is None)
    assert size > needed


@pytest.mark.slow
def test_ten_of_fifty_equally_frequent_values() -> None:
    rng = random.Random(1)
    family = [rng.sample(range(50), 10) for _ in range(500)]

    def decided() -> int:
        witness = LazyWitness(8)
        size = next(n for n, member in enumerate(family, 1) if witness.add(mask_of(member)))
        assert hits_within(family[:size], 7) is None
        assert hits_within(family[: size // 3], 7) is not None
        return size

    _, work = calls(decided)
    assert work < 8_000_000


def test_every_search_has_work_of_its_own() -> None:
    family = [mask_of(member) for member in random.Random(1).sample(TRIPLES, 60)]
    search = BranchAndBound(100_000)
    search.run(family, 12)
    once = search.done
    search.run(family, 12)
    assert search.done == once > 1


@pytest.mark.slow
def test_large_families_are_judged_fast() -> None:
    """Thousands of individuals, rare and frequent values, and the sizes of real models."""
    rng = random.Random(2)
    weights = [1 / rank for rank in range(1, 620)]
    family = [set(rng.choices(range(619), weights, k=9)) for _ in range(3000)]
    assert hits_within(family, 9) is None
    masks = list(map(mask_of, family))

    def judged() -> bool:
        witness = LazyWitness(10)
        return any(witness.add(member) for member in masks)

    satisfied, work = calls(judged)
    assert satisfied
    assert work < 3_000_000


def test_classes_of_the_paper() -> None:
    """Mike and Jane share hypertension with Tim: one value hits all."""
    first = [{3}, {7}, {8, 2}, {9}]
    second = [{1, 2}, {1}, {1, 5}]
    assert len(minimum_hitting_set(first)) == 4
    assert len(minimum_hitting_set(second)) == 1
    assert len(minimum_hitting_set([{1, 5}, {8, 2}, {9}])) == 3
    assert len(minimum_hitting_set([{1, 2}, {3}, {1}, {7}])) == 3
