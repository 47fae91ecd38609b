"""Buckets of hidden values and groups of cells, as pure functions: worked examples, properties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pganon.methods.common.search.attributes import Ordered, Tree
from pganon.methods.local.search.assignment import (
    Histogram,
    Plan,
    dealt_out,
    diverse_buckets,
    divided,
    eligible,
    evenly,
    leaves,
)
from pganon.methods.local.search.closeness import close_buckets, farthest
from pganon.methods.local.search.nearest import Bounded, Cells, Names, nearest_groups
from pganon.methods.local.search.subsets import common, merged
from tests.support.oracles.definitions import t_equal, t_ordered

HISTOGRAMS = st.lists(st.integers(1, 9), min_size=1, max_size=9).map(
    lambda counts: list(enumerate(counts, start=1))
)


def written(plan: Plan) -> list[str]:
    """Values of every bucket as letters, in the order of the alphabet."""
    return ["".join(sorted(chr(96 + v) for v in b.elements())) for b in plan.values()]


@pytest.mark.parametrize(
    ("counts", "m", "assigned", "dealt"),
    [
        ([3, 2, 2], 2, "ab ac abc", "abc ab ac"),
        ([1, 1, 1], 2, "abc", "abc"),
        ([2, 2, 2], 2, "ab ac bc", "ab ac bc"),
        ([4, 3, 3, 2, 1], 3, "abc abc abd acde", "abce abc abd acd"),
        ([5, 5], 2, "ab ab ab ab ab", "ab ab ab ab ab"),
        ([1] * 5, 3, "abcde", "abcde"),
        ([1] * 10, 3, "abc def ghij", "adgj beh cfi"),
    ],
)
def test_assignment_plans(counts: list[int], m: int, assigned: str, dealt: str) -> None:
    histogram = list(enumerate(counts, start=1))
    assert written(divided(histogram, m)) == assigned.split()
    assert written(evenly(histogram, m)) == dealt.split()


def test_many_records_in_few_segments() -> None:
    plan = divided([(v, 100) for v in range(1, 6)], 2)
    assert len(plan.dealt) == 8
    assert Counter(written(plan)) == {"ab": 100, "cd": 50, "ce": 50, "de": 50}


def test_leaves() -> None:
    salaries = [(10, 2), (20, 1), (30, 2), (40, 1), (50, 3), (60, 1), (70, 1), (80, 1)]
    assert leaves(salaries, 2) == [salaries[:4], salaries[4:]]
    assert leaves(salaries, 3) == [salaries]
    # Cut behind its upper median, this would be cut for ever.
    assert leaves([(1, 2), (2, 2)], 2) == [[(1, 2), (2, 2)]]
    assert leaves([], 2) == []
    assert leaves([(1, 3), (2, 3)], 1) == [[(1, 3)], [(2, 3)]]


@given(HISTOGRAMS, st.integers(2, 5), st.booleans(), st.booleans())
def test_buckets_of_different_values(
    histogram: Histogram,
    l: int,  # noqa: E741
    split: bool,
    deals: bool,
) -> None:
    if not eligible(histogram, l):
        return
    plan = diverse_buckets(histogram, l, split=split, assign=evenly if deals else divided)
    assert plan is not None
    found = plan.values()
    assert all(l <= b.total() <= 2 * l - 1 and set(b.values()) == {1} for b in found)
    assert sum(found, Counter()) == dict(histogram)
    for code, n in histogram:
        ranks = sorted(r for d in plan.dealt if d.code == code for r in range(d.first, d.last))
        assert ranks == list(range(n))


@given(HISTOGRAMS, st.integers(1, 6), st.booleans())
def test_distance_of_buckets(histogram: Histogram, buckets: int, ordered: bool) -> None:
    total = sum(n for _, n in histogram)
    buckets = min(buckets, total)
    cells = [code for code, n in histogram for _ in range(n)]
    worst = Fraction(0)
    for first in range(buckets):
        bucket = Counter(cells[first::buckets])
        gaps = [Fraction(bucket[c], bucket.total()) - Fraction(n, total) for c, n in histogram]
        if ordered:
            moved = [abs(sum(gaps[: i + 1])) for i in range(len(gaps) - 1)]
            distance = sum(moved, Fraction(0)) / max(len(gaps) - 1, 1)
        else:
            distance = sum(map(abs, gaps), Fraction(0)) / 2
        worst = max(worst, distance)
    assert farthest(histogram, buckets, ordered=ordered) == pytest.approx(float(worst))


@pytest.mark.parametrize(
    ("t", "size", "sizes"), [(0.2, 3, [4, 4, 3]), (0.1, 3, [6, 5]), (0.2, 2, [4, 4, 3])]
)
def test_close_buckets(t: float, size: int, sizes: list[int]) -> None:
    plan = close_buckets([(1, 7), (2, 4)], size, ordered=False, fits=lambda d: d <= t + 1e-12)
    assert [b.total() for b in plan.values()] == sizes


@pytest.mark.parametrize("ordered", [False, True])
@given(
    counts=st.lists(st.integers(0, 6), min_size=2, max_size=6),
    whole=st.lists(st.integers(0, 6), min_size=6, max_size=6),
    t=st.sampled_from([0.1, 0.3, 0.5]),
)
def test_buckets_close_to_another_distribution(
    ordered: bool, counts: list[int], whole: list[int], t: float
) -> None:
    """The most buckets that are dealt out evenly and close to it; one where none are."""
    whole = whole[: len(counts)]
    assume(sum(counts) >= 2 and sum(whole))
    dealt = [(code, n) for code, n in enumerate(counts, start=1) if n]
    places = range(1, len(counts) + 1)
    reference = [code for code, n in zip(places, whole, strict=True) for _ in range(n)]

    def worst(plan: Plan) -> float:
        values = [list(bucket.elements()) for bucket in plan.values()]
        if ordered:
            return float(max(t_ordered(found, reference, list(places)) for found in values))
        return float(max(t_equal(found, reference) for found in values))

    def fits(distance: float) -> bool:
        return distance <= t + 1e-9

    shares = [n / sum(whole) for n in whole]
    plan = close_buckets(dealt, 2, ordered=ordered, fits=fits, reference=shares)
    possible = [
        buckets
        for buckets in range(1, sum(counts) // 2 + 1)
        if sum(counts) // (sum(counts) // buckets) == buckets
        and fits(worst(dealt_out(dealt, buckets)))
    ]
    assert plan.buckets == max(possible, default=1)


def test_buckets_far_apart() -> None:
    salaries = [(10, 2), (20, 1), (30, 2), (40, 1), (50, 3), (60, 1), (70, 1), (80, 1)]
    places = {code: float(code) for code, _ in salaries}

    def buckets(e: float, assign: object) -> int | None:
        plan = diverse_buckets(salaries, 2, assign=assign, positions=places, least_range=e)  # pyright: ignore
        if plan is None:
            return None
        return int(min(max(b) - min(b) for b in plan.values()))

    assert [buckets(e, evenly) for e in (10, 11, 30, 31)] == [10, 30, 30, None]
    assert [buckets(e, divided) for e in (10, 11)] == [10, None]


# -- subsets ----------------------------------------------------------------------------------


def test_united_subsets() -> None:
    assert merged({"gg": 7, "bg": 3, "bb": 2, "gb": 1}, 3) == {
        "gg": "gg",
        "bg": "bg",
        "bb": "wb",
        "gb": "wb",
    }
    assert common("gbw", "gww") == "gww"


@given(st.dictionaries(st.text("gb", min_size=3, max_size=3), st.integers(1, 9), min_size=1))
def test_united_subsets_show_what_all_show(sizes: dict[str, int]) -> None:
    k = min(5, sum(sizes.values()))
    found = merged(sizes, k)
    united: Counter[str] = Counter()
    for mask, n in sizes.items():
        united[found[mask]] += n
        assert all(b in (a, "w") for a, b in zip(mask, found[mask], strict=True))
    assert min(united.values()) >= k


# -- groups of cells --------------------------------------------------------------------------


PEOPLE = [21, 22, 24, 35, 36, 38, 40, 61, 63, 66]
CITIES = "AABBCCACCB"


def line(places: Sequence[float | None]) -> Bounded:
    """An ordered attribute, from the places of the cells."""
    held = sorted({place for place in places if place is not None})
    codes = [0 if place is None else held.index(place) + 1 for place in places]
    return Bounded(codes, Ordered(np.array(held)))


@pytest.mark.parametrize(
    ("k", "assign", "small", "expected"),
    [
        (2, "grow", "stop", "127 34 56 8910"),
        (2, "grow", "fill", "127 34 56 8910"),
        (2, "seeds", "stop", "1237 410 56 89"),
        (2, "seeds", "fill", "17 23 410 56 89"),
        (3, "grow", "stop", "12567 348910"),
        (3, "grow", "fill", "12567 348910"),
        (3, "seeds", "stop", "123567 48910"),
        (3, "seeds", "fill", "123 48910 567"),
    ],
)
def test_groups_of_people(k: int, assign: str, small: str, expected: str) -> None:
    cells = Cells(
        [line([(x - 21) / 45 for x in PEOPLE]), Names(["ABC".index(c) + 1 for c in CITIES], 3)],
        [1] * 10,
    )
    found = nearest_groups(cells, k, assign, small)  # pyright: ignore
    assert sorted("".join(str(c + 1) for c in group) for group in found) == expected.split()


def test_losses() -> None:
    paths = [(1, 1), (2, 1), (3, 3), (4, 3), (5, 3)]  # Paris Lyon | Rome Milan Turin
    losses = [(0, 2 / 5, 1)] * 2 + [(0, 3 / 5, 1)] * 3
    tree = Bounded([1, 2, 3, 5, 0], Tree(np.array(paths), np.array(losses)))
    names, ages = Names([1, 2, 0], 5), line([0.25, None, 1.0])

    def loss(attribute: Bounded | Names, *cells: int) -> float:
        cover = attribute.cover(cells[0])
        for cell in cells[1:]:
            cover = attribute.union(cover, attribute.cover(cell))
        return attribute.loss(cover)

    assert [loss(tree, 0), loss(tree, 0, 1), loss(tree, 2, 3), loss(tree, 1, 2)] == [0, 0.4, 0.6, 1]
    assert [loss(tree, 0, 4), loss(tree, 4)] == [1, 0]
    assert [loss(names, 0), loss(names, 0, 1), loss(names, 0, 1, 2)] == [0, 0.4, 0.6]
    assert [loss(ages, 0, 2), loss(ages, 0, 1), loss(ages, 1)] == [0.75, 1, 0]


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(0, 3), st.integers(1, 4)), min_size=1),
    st.integers(2, 4),
    st.sampled_from(["grow", "seeds"]),
    st.sampled_from(["fill", "stop"]),
)
def test_groups_are_a_partition(
    rows: list[tuple[int, int, int]], k: int, assign: str, small: str
) -> None:
    weights = [w for *_, w in rows]
    cells = Cells([line([x / 20 for x, *_ in rows]), Names([c for _, c, _ in rows], 4)], weights)
    found = nearest_groups(cells, k, assign, small)  # pyright: ignore
    assert sorted(cell for group in found for cell in group) == list(range(len(rows)))
    assert len(found) == 1 or min(map(cells.size, found)) >= k
