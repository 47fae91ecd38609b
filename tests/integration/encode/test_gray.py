"""The place of a point on the curve of Gray codes, summed up over its coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, product

import pytest
from sqlglot import exp

from pganon.encode.gray import gray_summand, sum_modulo_2
from pganon.identifiers import QualifiedName
from pganon.sqltools import col, named, query
from tests.support.harness.cluster import Database
from tests.support.oracles.curves import indexed, place_in_gray_codes, sample


def summed(
    points: QualifiedName, coordinates: Sequence[str], bits: int, keep: Sequence[str]
) -> exp.Select:
    added = [
        gray_summand(col(name, "p"), number, len(coordinates), bits)
        for number, name in enumerate(coordinates)
    ]
    words = [sum_modulo_2(word) for word in zip(*added, strict=True)]
    tree = query("select 1 from p", {"p": points})
    kept = [col(name, "p") for name in keep]
    return tree.select(*kept, *[named(w, f"h{i}") for i, w in enumerate(words)], append=False)


@pytest.mark.parametrize(
    ("dimensions", "bits"),
    [
        *[(1, 1), (1, 62), (2, 31), (3, 20), (3, 21), (7, 4), (8, 20), (25, 5), (150, 1)],
        pytest.param(40, 20, marks=pytest.mark.slow),
    ],
)
def test_the_place_in_gray_codes(db: Database, dimensions: int, bits: int) -> None:
    points = sample(dimensions, bits, 50)
    found = indexed(db, points, bits, summed)
    assert len(found) == len(points)
    assert all(place == place_in_gray_codes(point, bits) for place, point in found)
    assert all(one[0] <= next_one[0] for one, next_one in pairwise(found))


@pytest.mark.parametrize(("dimensions", "bits"), [(1, 4), (2, 3), (3, 2), (4, 2), (9, 1)])
def test_one_bit_changes_from_place_to_place(db: Database, dimensions: int, bits: int) -> None:
    points = list(product(range(1 << bits), repeat=dimensions))
    found = indexed(db, points, bits, summed)
    assert [place for place, _ in found] == list(range(len(points)))
    assert all(
        sum((a ^ b).bit_count() for a, b in zip(one, next_one, strict=True)) == 1
        for (_, one), (_, next_one) in pairwise(found)
    )


def test_higher_bits_of_a_coordinate_say_nothing(db: Database) -> None:
    points = [(5, 6), (13, 22), (5, 14)]
    places = {place for place, _ in indexed(db, points, 3, summed)}
    assert places == {place_in_gray_codes((5, 6), 3)}
