"""Units left out of a line: the recurrence by enumeration, and its golden rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.methods.classes.one_dimensional.search import leaving
from pganon.methods.classes.one_dimensional.search.attributes import Bounded, Names
from pganon.methods.classes.one_dimensional.search.digits import along, digits
from pganon.methods.classes.one_dimensional.search.leaving import Staying, leaving_out
from pganon.methods.classes.one_dimensional.search.partition import partition
from pganon.methods.classes.one_dimensional.search.refinement import Draws, classes_of, refined
from pganon.methods.classes.one_dimensional.search.windows import SCALE, Problem, Units
from pganon.methods.common.search.attributes import Nominal, Ordered
from tests.support.harness.examples import examples

AGES = (20, 23, 26, 29, 32, 35, 38)
ROWS = ("20a", "23a", "38a", "35b", "26b", "29b", "32c", "38c")
ATTRIBUTES = (
    Bounded(1.0, 7, False, Ordered(np.array([(age - 20) / 18 for age in AGES]))),
    Names(1.0, 3, False, Nominal(3)),
)


def line_of(rows: Sequence[str], weights: Sequence[int] | None = None) -> Units:
    codes = np.array([[AGES.index(int(r[:2])) + 1, "abc".index(r[2]) + 1] for r in rows]).T
    held = np.array(weights or [1] * len(rows))
    counts = [np.bincount(c, held, size).astype(int) for c, size in zip(codes, (8, 4), strict=True)]
    order = along(digits(ATTRIBUTES, counts, apart=False), list(codes))
    return Units(codes, held).reordered(order)


def left_out(
    units: Units, k: int, limit: int, price: float, *, single: bool = False
) -> tuple[Problem, Staying]:
    problem = Problem(ATTRIBUTES, k, single)
    made = partition(problem, units, np.zeros(1, dtype=np.int64))
    return problem, leaving_out(problem, units, made, limit, price)


def names(units: Units, some: np.ndarray) -> list[str]:
    return [f"{AGES[a - 1]}{'abc'[c - 1]}" for a, c in units.codes[:, some].T.tolist()]


@pytest.mark.parametrize(
    ("k", "price", "pieces", "left"),
    [(3, 0.5, [3, 4], ["38c"]), (3, 1.0, [3, 5], []), (2, 0.0, [2, 3, 2], ["38a"])],
)
def test_golden_rows(k: int, price: float, pieces: list[int], left: list[str]) -> None:
    units = line_of(ROWS)
    problem, staying = left_out(units, k, 1, price)
    assert names(units, staying.left) == left
    labels = classes_of(problem, units, staying).labels
    assert np.bincount(labels[labels >= 0]).tolist() == pieces


# -- by enumeration ---------------------------------------------------------------------------


def loss(units: Units, first: int, last: int) -> int:
    """|C| * round(10^9 ncp) of the units from first to last."""
    ages = [AGES[a - 1] for a in units.codes[0, first : last + 1].tolist()]
    cities = set(units.codes[1, first : last + 1].tolist())
    ncp = ((max(ages) - min(ages)) / 18 + (len(cities) - 1) / 2) / 2
    return int(units.weights[first : last + 1].sum()) * round(SCALE * ncp)


def choices(units: Units, k: int) -> Iterator[tuple[int, int]]:
    """(records left out, objective) of all ways to cut the line and leave units out."""
    count = len(units)
    for kinds in product("bml", repeat=count):  # begins a piece, its member, left out
        if any(b == "m" and a == "l" for a, b in pairwise(("l", *kinds))):
            continue
        bounds = [n for n, kind in enumerate(kinds) if kind != "m"] + [count]
        pieces = [(first, after - 1) for first, after in pairwise(bounds) if kinds[first] == "b"]
        if all(units.weights[a : b + 1].sum() >= k for a, b in pieces):
            out = sum(int(w) for w, kind in zip(units.weights, kinds, strict=True) if kind == "l")
            yield out, sum(loss(units, a, b) for a, b in pieces)


def objective(units: Units, problem: Problem, staying: Staying) -> tuple[int, int]:
    made = classes_of(problem, units, staying)
    return int(units.weights[staying.left].sum()), int(made.objective.sum())


@pytest.mark.random_tables
@examples(30)
@given(
    rows=st.lists(st.sampled_from(ROWS), min_size=4, max_size=7, unique=True),
    weights=st.lists(st.integers(1, 3), min_size=7, max_size=7),
    k=st.integers(2, 3),
    limit=st.integers(0, 5),
    price=st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]),
)
def test_no_choice_within_the_limit_is_better(
    rows: list[str], weights: list[int], k: int, limit: int, price: float
) -> None:
    units = line_of(rows, weights[: len(rows)])
    problem, staying = left_out(units, k, limit, price)
    cost = round(price * SCALE)
    best = min((lost + cost * out, out) for out, lost in choices(units, k) if out <= limit)
    out, lost = objective(units, problem, staying)
    assert (lost + cost * out, out) == best


@pytest.mark.random_tables
@examples(30)
@given(
    rows=st.lists(st.sampled_from(ROWS), min_size=4, max_size=7, unique=True),
    k=st.integers(2, 3),
    limit=st.integers(1, 4),
    price=st.sampled_from([0.0, 0.25, 0.5]),
)
def test_with_a_price_none_is_better_at_it(
    rows: list[str], k: int, limit: int, price: float
) -> None:
    """With many units: the best of all choices for some price, and within the limit."""
    units = line_of(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(leaving, "_EXACT", 0)
        problem, staying = left_out(units, k, limit, price)
    out, lost = objective(units, problem, staying)
    assert out <= limit
    every = set(choices(units, k))
    at_least = range(round(price * SCALE), 3 * SCALE, SCALE // 720)
    assert any(
        lost + cost * out <= min(other + cost * number for number, other in every) + SCALE // 90
        for cost in at_least
    )


def test_who_is_left_out_stays_out_of_refinement() -> None:
    units = line_of(ROWS)
    problem, staying = left_out(units, 2, 1, 0.0)
    before = classes_of(problem, units, staying)
    made = digits(ATTRIBUTES, [np.bincount(c, minlength=8) for c in units.codes], apart=False)
    after = refined(problem, units, before, made, 20, Draws(b"seed"))
    assert (after.labels[staying.left] == -1).all()
    assert (after.labels[~staying.left] >= 0).all()
    assert after.objective.sum() <= before.objective.sum()


def test_a_piece_wins_a_tie() -> None:
    """Three records on a third of the ages lose 1/6 each, and cost as much when left out."""
    units = line_of(["20a", "23a", "26a"])
    problem, staying = left_out(units, 3, 3, 1 / 6)
    assert objective(units, problem, staying) == (0, 3 * round(SCALE / 6))


def test_the_whole_limit_is_used_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaving, "_EXACT", 0)
    units = line_of(["20a", "23a", "26a", "38c"])
    problem, staying = left_out(units, 3, 1, 0.0)
    assert objective(units, problem, staying)[0] == 1
