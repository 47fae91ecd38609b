"""Conditions on counts of sensitive values, against the definitions of the models."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pganon.methods.classes.one_dimensional.search import conditions as module
from pganon.methods.classes.one_dimensional.search.conditions import Condition, Conditions, Values
from pganon.methods.classes.one_dimensional.search.measures import Reference, holds
from pganon.privacy.base import Model
from pganon.privacy.frequency import (
    DistinctLDiversity,
    EntropyLDiversity,
    RecursiveCLDiversity,
    RelativeFrequency,
)
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from tests.support.harness.examples import examples
from tests.support.oracles import definitions, model

SIZE = 5
"""Codes of values; that of NULL is 0, and the last of their order."""

PATHS = {
    0: ("n", "none", "all"),
    1: ("a", "left", "all"),
    2: ("b", "left", "all"),
    3: ("c", "right", "all"),
    4: ("d", "right", "all"),
}
NODES = np.array([[1, 2, 3, 4, 5], [1, 2, 2, 3, 3]])
"""Of every level below the root, the nodes above the values."""

tables = st.lists(
    st.lists(st.integers(0, 6), min_size=SIZE, max_size=SIZE).filter(any), min_size=1, max_size=6
)


def values(counts: Sequence[int]) -> list[int]:
    return [value for value, n in enumerate(counts) for _ in range(n)]


def decided(found: Model, reference: Reference | None, counts: Any) -> list[bool]:
    return holds(found, reference)(np.array(counts)).tolist()


@given(tables, st.fractions(Fraction(1, 10), 1, max_denominator=12))
def test_alpha(counts: list[list[int]], alpha: Fraction) -> None:
    expected = [model.alpha(values(row)) <= alpha for row in counts]
    assert decided(RelativeFrequency(alpha), None, counts) == expected


@given(tables, st.fractions(1, 5, max_denominator=6))
def test_entropy(counts: list[list[int]], l: Fraction) -> None:  # noqa: E741
    expected = [definitions.entropy_at_least(values(row), l) for row in counts]
    assert decided(EntropyLDiversity.of(float(l)), None, counts) == expected


@given(tables, st.fractions(Fraction(1, 4), 4, max_denominator=8), st.integers(1, 7))
def test_recursive(counts: list[list[int]], c: Fraction, l: int) -> None:  # noqa: E741
    expected = [model.recursive_c(values(row), l) < c for row in counts]
    assert decided(RecursiveCLDiversity.of(float(c), l), None, counts) == expected


def reference(whole: Sequence[int]) -> Reference:
    shares = np.array(whole) / sum(whole)
    order = [value for value in (1, 2, 3, 4, 0) if whole[value]]
    return Reference(shares, np.array(order), NODES)


part_of_all = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=SIZE, max_size=SIZE
)


@given(part_of_all, st.fractions(Fraction(1, 20), Fraction(9, 10), max_denominator=20))
def test_closeness(pairs: list[tuple[int, int]], t: Fraction) -> None:
    counts, whole = [a for a, _ in pairs], [a + b for a, b in pairs]
    assume(any(counts))
    one, everything = values(counts), values(whole)
    named = [value or None for value in one], [value or None for value in everything]
    distances = {
        "equal": definitions.t_equal(one, everything),
        "ordered": definitions.t_ordered(*named),
        "hierarchical": model.t_hierarchical(one, everything, PATHS),
    }
    for distance, expected in distances.items():
        found = decided(TCloseness.of(float(t), distance), reference(whole), [counts])
        assert found == [expected <= t], distance


@given(part_of_all, st.fractions(Fraction(1, 10), 4, max_denominator=10))
def test_likeness(pairs: list[tuple[int, int]], bound: Fraction) -> None:
    counts, whole = [a for a, _ in pairs], [a + b for a, b in pairs]
    assume(any(counts))
    one, everything = values(counts), values(whole)
    held = reference(whole)
    enhanced, disclosed = model.beta_enhanced(one, everything), model.delta(one, everything)
    for found, expected in (
        (BetaLikeness.of(float(bound), "basic"), model.beta_basic(one, everything) <= bound),
        (BetaLikeness.of(float(bound)), enhanced <= bound),
        (DeltaDisclosure.of(float(bound)), disclosed < bound),
    ):
        assume(not math.isclose(disclosed, bound))
        assert decided(found, held, [counts]) == [expected], found


def test_values_that_the_reference_lacks() -> None:
    """Of a reference after suppression."""
    held = reference([0, 2, 2, 0, 0])
    assert decided(DeltaDisclosure.of(1.0), held, [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0]]) == [
        True,
        False,
    ]
    assert decided(BetaLikeness.of(9.0, "basic"), held, [[0, 1, 1, 0, 0], [1, 1, 1, 0, 0]]) == [
        True,
        False,
    ]


# -- of windows ---------------------------------------------------------------------------------

MODELS: list[tuple[Model, Any]] = [
    (DistinctLDiversity.of(2), lambda v, w: len(set(v)) >= 2),
    (DistinctLDiversity.of(3), lambda v, w: len(set(v)) >= 3),
    (EntropyLDiversity.of(1.9), lambda v, w: definitions.entropy_at_least(v, Fraction(19, 10))),
    (RelativeFrequency(Fraction(1, 2)), lambda v, w: model.alpha(v) <= Fraction(1, 2)),
    (TCloseness.of(0.3), lambda v, w: definitions.t_equal(v, w) <= Fraction(3, 10)),
]

columns = st.lists(
    st.dictionaries(st.integers(0, SIZE - 1), st.integers(1, 3), min_size=1),
    min_size=1,
    max_size=14,
)


def column(units: Sequence[dict[int, int]]) -> Values:
    elements = [(value, n) for unit in units for value, n in unit.items()]
    return Values(
        np.cumsum([0, *map(len, units)]),
        np.array([value for value, _ in elements]),
        np.array([n for _, n in elements]),
        SIZE,
    )


def held_by(units: Sequence[dict[int, int]], first: int, last: int) -> list[int]:
    return [v for unit in units[first : last + 1] for v, n in unit.items() for _ in range(n)]


def conditions(
    chosen: Sequence[tuple[Model, Any]], columns_: Sequence[Sequence[dict[int, int]]]
) -> Conditions:
    """One model per column."""
    found = []
    for number, ((one, _), units) in enumerate(zip(chosen, columns_, strict=True)):
        whole = held_by(units, 0, len(units))
        shares = np.array([whole.count(v) / len(whole) for v in range(SIZE)])
        references = (Reference(shares, np.arange(SIZE)),) if one.needs_reference else ()
        found.append(Condition(one, number, references))
    return Conditions(tuple(found), tuple(map(column, columns_)))


@pytest.mark.random_tables
@pytest.mark.parametrize("counters", [1 << 24, 16])
@examples(30)
@given(
    st.lists(columns, min_size=2, max_size=2),
    st.lists(st.sampled_from(MODELS), min_size=2, max_size=2),
    st.data(),
)
def test_windows_of_two_columns(
    counters: int, both: list[list[dict[int, int]]], chosen: list[Any], data: st.DataObject
) -> None:
    """Whatever their order, some of them, joined; and a few windows at a time."""
    count = min(map(len, both))
    both = [units[:count] for units in both]
    made = conditions(chosen, both)
    assert made.compares == any(one.needs_reference for one, _ in chosen)
    wholes = [held_by(units, 0, count) for units in both]
    order = data.draw(st.lists(st.integers(0, count - 1), min_size=1, unique=True))
    some = [[units[n] for n in order] for units in both]
    cuts = data.draw(st.sets(st.integers(0, len(order) - 1))) | {0}
    first = np.array(sorted(cuts))
    joined = [
        [list_joined(units[a:b]) for a, b in zip(first, [*first[1:], len(order)], strict=True)]
        for units in some
    ]

    def allowed(columns_: Any, a: int, b: int) -> bool:
        return all(
            satisfied(held(units, a, b), whole)
            for (_, satisfied), units, whole in zip(chosen, columns_, wholes, strict=True)
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "COUNTERS", counters)
        for part, units in (
            (made, both),
            (made.reordered(np.array(order)), some),
            (made.reordered(np.array(order)).grouped(first), joined),
        ):
            number = len(units[0])
            pairs = [(a, b) for b in range(number) for a in range(b + 1)]
            found = part.between(*np.array(pairs).T)
            assert found.tolist() == [allowed(units, a, b) for a, b in pairs]
            lengths = [1, 2, 3, 5]
            assert part.of_lengths(lengths).tolist() == [
                [allowed(units, max(b - length + 1, 0), b) for length in lengths]
                for b in range(number)
            ]


def held(units: Sequence[Any], first: int, last: int) -> list[int]:
    if isinstance(units[0], dict):
        return held_by(units, first, last)
    return [value for unit in units[first : last + 1] for value in unit]


def list_joined(units: Sequence[dict[int, int]]) -> list[int]:
    return held_by(units, 0, len(units))


# -- many values --------------------------------------------------------------------------------


@pytest.mark.random_tables
@examples(20)
@given(
    values=st.lists(st.integers(0, 5), min_size=6, max_size=24),
    asked=st.sampled_from(
        [EntropyLDiversity.of(2), RelativeFrequency(0.5), RecursiveCLDiversity.of(2, 3)]
    ),
)
def test_counts_of_the_values_nearby_are_those_of_all(values: list[int], asked: Model) -> None:
    count = len(values)
    held = Values(np.arange(count + 1), np.array(values), np.ones(count, dtype=np.int64), 6)
    of = Conditions((Condition(asked, 0),), (held,))
    first = np.arange(count) // 2
    expected = of.of_lengths([2, 3, 5]), of.between(first, np.arange(count))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_FEW", 0)
        patch.setattr(module, "_TOGETHER", 3)
        found = of.of_lengths([2, 3, 5]), of.between(first, np.arange(count))
    assert [f.tolist() for f in found] == [e.tolist() for e in expected]
