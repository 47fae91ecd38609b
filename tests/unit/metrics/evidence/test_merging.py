"""Bins of few people are shown together with their neighbours."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from pganon.metrics.evidence.merging import merged, nested
from pganon.policy.reporting import SMALLEST


@given(st.lists(st.integers(0, 30), max_size=20))
def test_merged_bins_hold_nobody_or_many_and_are_all_of_them(people: list[int]):
    ranges = merged(people, SMALLEST)
    if sum(people) < SMALLEST:
        assert ranges == []
        return
    places = [place for first, last in ranges for place in range(first, last + 1)]
    assert places == list(range(len(people)))
    for first, last in ranges:
        held = sum(people[first : last + 1])
        assert held == 0 or held >= SMALLEST


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20), st.data())
def test_nobody_follows_from_what_is_told_beside_bins(people: list[int], data: st.DataObject):
    upto = [0, *accumulate(people)]
    inside = st.lists(st.integers(0, upto[-1]), max_size=2)
    known = [one for one in nested(data.draw(inside), upto[-1], SMALLEST) if one is not None]
    ranges = merged(people, SMALLEST, known=known)
    assert [place for first, last in ranges for place in range(first, last + 1)] == (
        list(range(len(people))) if ranges else []
    )
    for _, last in ranges[:-1]:
        between = [abs(upto[last + 1] - one) for one in known]
        assert all(n == 0 or n >= SMALLEST for n in between)


def test_bins_end_where_people_are_told_beside_them():
    """Of 25 in the last bins 3 would follow from the 123 before them."""
    assert merged([100, 20, 3, 0, 22], 11) == [(0, 0), (1, 1), (2, 4)]
    assert merged([100, 20, 3, 0, 22], 11, known=[123]) == [(0, 0), (1, 2), (3, 3), (4, 4)]


@given(st.lists(st.integers(0, 30).filter(lambda n: n == 0 or n >= SMALLEST), max_size=20))
def test_bins_that_can_be_shown_are_not_merged(people: list[int]):
    expected = [(n, n) for n, _ in enumerate(people)] if sum(people) else []
    assert merged(people, SMALLEST) == expected


def test_the_last_few_join_those_before_them():
    assert merged([20, 0, 15, 3], 11) == [(0, 0), (1, 1), (2, 3)]
    assert merged([20, 0, 3], 11) == [(0, 2)]
    assert merged([20, 0, 3], 3) == [(0, 0), (1, 1), (2, 2)]
    assert merged([3, 20], 11) == [(0, 1)]


def test_few_people_are_not_told():
    """Neither of them alone nor as the difference of two who are told, or to all people."""
    for few in (1, SMALLEST - 1):
        assert nested([few, 30, 30 + few, 100 - few], 100, SMALLEST) == [None, 30, None, None]
    assert nested([0, SMALLEST, 2 * SMALLEST, 100], 100, SMALLEST) == [0, 11, 22, 100]
    assert nested([SMALLEST], 100, 40) == [None]
    assert nested([34, 30], 100, SMALLEST) == [34, None]


def test_bins_of_people_who_are_counted_in_others_are_not_empty():
    """Whoever has several values is counted at one of them."""
    assert merged([20, 0, 0, 15], 11, [False, False, True, False]) == [(0, 0), (1, 3)]
    assert merged([20, 0, 15, 0], 11, [False, True, False, False]) == [(0, 0), (1, 1), (2, 3)]
