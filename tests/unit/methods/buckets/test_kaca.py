"""KACA: the worked example, and random tables against the definition in fractions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction

import pytest

from pganon.methods.buckets.search.kaca import Category, Coordinates, Number, kaca
from tests.support.harness.work import calls


def nominal(codes: Sequence[int]) -> Category:
    return Category([(code,) for code in codes])


AGES = Number([20, 22, 30, 50, 52, 54])
SEXES = nominal([1, 1, 2, 2, 2, 1])


@pytest.mark.parametrize("k", [2, 3])
def test_the_example(k: int) -> None:
    found = kaca([AGES, SEXES], k)
    assert found.classes == [[0, 1, 5], [2, 3, 4]]
    if k == 2:
        assert [(m.row, m.other) for m in found.merges] == [(0, 1), (2, 3), (4, 2), (5, 0)]
        costs = [Fraction(c, 17) for c in (2, 20, 13, 49)]
        assert [m.cost for m in found.merges] == pytest.approx(list(map(float, costs)))


def test_equal_rows_are_a_class_at_once() -> None:
    found = kaca([Number([3, 5, 3, 5]), nominal([1, 1, 1, 1])], 2)
    assert found.classes == [[0, 2], [1, 3]]
    assert found.merges == []
    assert kaca([Number([7, 7]), nominal([1, 1])], 2).classes == [[0, 1]]


def test_null_is_not_on_the_line() -> None:
    found = kaca([Number([None, 1, 2, None, 9])], 2)
    assert found.classes == [[0, 3], [1, 2, 4]]
    mixed = kaca([Number([None, 1, 1])], 2)
    assert (mixed.classes, mixed.merges[0].cost) == ([[0, 1, 2]], pytest.approx(3))


def test_a_range_that_is_wider_than_these_rows() -> None:
    """Differences count as shares of it."""
    assert kaca([Number([0.1, 0.2, 0.4], 1.0)], 2).merges[0].cost == pytest.approx(0.2)
    assert kaca([Number([3, 3, None], 0.0)], 3).merges[0].cost == pytest.approx(3)


def test_levels_of_a_tree() -> None:
    """Two pairs of siblings, and a leaf that meets them at the root."""
    found = kaca([Category([(1, 1), (2, 1), (3, 2), (4, 2), (5, 3)])], 2)
    assert found.classes == [[0, 1, 4], [2, 3]]
    assert [m.cost for m in found.merges] == pytest.approx([1, 1, 2])


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="too few rows: 6, need at least 7"):
        kaca([AGES], 7)
    assert kaca([Number([])], 0).classes == []


# -- the definition ---------------------------------------------------------------------------


def ncp(attribute: Coordinates, rows: Sequence[int]) -> Fraction:
    if isinstance(attribute, Number):
        places = {attribute.places[row] for row in rows}
        if None in places:
            return Fraction(len(places) > 1)
        whole = [place for place in attribute.places if place is not None]
        width, most = (Fraction(max(x)) - Fraction(min(x)) for x in (places, whole))  # type: ignore[type-var]
        most = most if attribute.width is None else Fraction(attribute.width)
        return width / most if most else Fraction(0)
    height = len(attribute.paths[0])
    level = next(
        level
        for level in range(height + 1)
        if len({attribute.paths[row][level:] for row in rows}) == 1
    )
    return Fraction(level, height)


def naive(attributes: Sequence[Coordinates], count: int, k: int) -> list[list[int]]:
    def loss(rows: Sequence[int]) -> Fraction:
        return len(rows) * sum((ncp(a, rows) for a in attributes), Fraction(0))

    def vector(row: int) -> list[object]:
        return [a.places[row] if isinstance(a, Number) else a.paths[row] for a in attributes]

    classes: list[list[int]] = []
    for row in range(count):
        equal = next((c for c in classes if vector(c[0]) == vector(row)), None)
        if equal is None:
            classes.append([row])
        else:
            equal.append(row)
    while len(classes) > 1 and min(map(len, classes)) < k:
        small = min(classes, key=lambda c: (len(c), min(c)))
        others = [c for c in classes if c is not small]
        near = min(others, key=lambda c: (loss(c + small) - loss(c) - loss(small), min(c)))
        classes = [c for c in others if c is not near] + [sorted(small + near)]
    return sorted(classes)


def random_attribute(rng: random.Random, count: int) -> Coordinates:
    match rng.randrange(3):
        case 0:
            domain, null = rng.choice([1, 3, 40]), rng.choice([0, 0.2])
            return Number(
                [None if rng.random() < null else rng.randint(0, domain) for _ in range(count)]
            )
        case 1:
            return nominal([rng.randint(0, 3) for _ in range(count)])
        case _:
            leaves = [rng.randint(0, 11) for _ in range(count)]
            return Category([(leaf, leaf // 2, leaf // 4) for leaf in leaves])


def test_random_tables() -> None:
    rng = random.Random(9)
    for _ in range(150):
        count, k = rng.randint(1, 16), rng.randint(1, 5)
        attributes = [random_attribute(rng, count) for _ in range(rng.randint(1, 3))]
        if count >= k:
            assert kaca(attributes, k).classes == naive(attributes, count, k)


@pytest.mark.slow
def test_work_grows_with_the_rows() -> None:
    rng = random.Random(10)
    attributes = [
        Number([rng.random() for _ in range(3_000)]),
        Number([rng.random() for _ in range(3_000)]),
        nominal([rng.randint(1, 9) for _ in range(3_000)]),
        Category([(leaf, leaf // 5, leaf // 25) for leaf in rng.choices(range(100), k=3_000)]),
    ]
    found, work = calls(lambda: kaca(attributes, 5))
    assert work < 300 * 3_000, "every merge looks at arrays, not at rows one by one"
    assert min(map(len, found.classes)) >= 5
    assert sorted(row for rows in found.classes for row in rows) == list(range(3_000))
