"""What windows of consecutive units have, against a loop over each."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pganon.methods.classes.one_dimensional.search.attributes import Ranges, sliding, steps
from pganon.methods.classes.one_dimensional.search.distinct import Distinct, Wavelet
from tests.support.harness.examples import examples
from tests.support.oracles import one_dimensional as oracle
from tests.support.sources import lines
from tests.support.sources.builders import Case, cases

columns = st.lists(st.integers(-4, 5), min_size=1, max_size=40)
lengths = st.lists(st.integers(1, 45), min_size=1, max_size=12, unique=True).map(sorted)
starts = st.lists(st.booleans(), max_size=39)


def windows(count: int, length: int) -> list[tuple[int, int]]:
    """First and last unit of the windows that end at each unit."""
    return [(max(last - length + 1, 0), last) for last in range(count)]


@given(columns, lengths)
def test_sliding(column: list[int], asked: list[int]) -> None:
    values = np.array(column)
    found = list(sliding([values, -values], asked))
    assert len(found) == len(asked)
    for length, (greatest, negated) in zip(asked, found, strict=True):
        each = [column[a : b + 1] for a, b in windows(len(column), length)]
        assert greatest.tolist() == list(map(max, each))
        assert (-negated).tolist() == list(map(min, each))
    assert values.tolist() == column


@given(lengths)
def test_steps(asked: list[int]) -> None:
    found = list(steps(asked))
    assert [length for length, wanted in found if wanted] == [n for n in asked if n > 1]
    reached = [1, *[length for length, _ in found]]
    assert all(a < b <= 2 * a or a == b == 1 for a, b in itertools.pairwise(reached))


@given(columns)
def test_ranges(column: list[int]) -> None:
    ranges = Ranges(np.array(column))
    pairs = [(a, b) for b in range(len(column)) for a in range(b + 1)]
    found = ranges.between(*np.array(pairs).T)
    assert found.tolist() == [max(column[a : b + 1]) for a, b in pairs]


def units_of(values: Sequence[int], begins: Sequence[bool]) -> list[list[int]]:
    """Values in units; each begins where it is said to."""
    held = [[values[0]]]
    for value, begin in zip(values[1:], begins, strict=False):
        if begin:
            held.append([value])
        else:
            held[-1].append(value)
    held[-1] += values[len(begins) + 1 :]
    return held


def number(held: Sequence[Sequence[int]], first: int, last: int) -> int:
    return len({value for unit in held[first : last + 1] for value in unit})


@given(columns, starts, lengths)
def test_distinct_values(values: list[int], begins: list[bool], asked: list[int]) -> None:
    held = units_of(values, begins)
    first = np.cumsum([0, *map(len, held[:-1])])
    for distinct in (
        Distinct.of_units(np.array(values), first),
        Distinct.of_elements(
            np.repeat(np.arange(len(held)), list(map(len, held))), np.array(values), len(held)
        ),
    ):
        for length, found in zip(asked, distinct.of_lengths(asked), strict=True):
            pairs = windows(len(held), length)
            assert found.tolist() == [number(held, a, b) for a, b in pairs]
        pairs = [(a, b) for b in range(len(held)) for a in range(b + 1)]
        assert distinct.between(*np.array(pairs).T).tolist() == [
            number(held, a, b) for a, b in pairs
        ]


@given(columns)
def test_distinct_values_of_units_with_one_each(values: list[int]) -> None:
    alone = Distinct.of_units(np.array(values))
    each = [[value] for value in values]
    for length, found in zip([1, 3], alone.of_lengths([1, 3]), strict=True):
        assert found.tolist() == [number(each, a, b) for a, b in windows(len(values), length)]


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(31, 70))
def test_wavelet(values: list[int], limit: int) -> None:
    pairs = [(end, most) for end in range(len(values) + 1) for most in range(limit)]
    ends, most = np.array(pairs).T
    found = Wavelet(np.array(values, dtype=np.int64), limit).below(ends, most)
    assert found.tolist() == [sum(v <= m for v in values[:end]) for end, m in pairs]


@examples(40)
@given(cases(models=False), lengths, st.integers(1, 6))
def test_losses_are_those_of_the_definition(case: Case, asked: list[int], together: int) -> None:
    """Of units with one value each, and of those with several."""
    made = oracle.OneDimensional(case.attributes, bool, 1)
    records = case.records
    codes = lines.codes(case.attributes, records)
    first = np.arange(0, len(records), together)
    groups = [records[at : at + together] for at in first]
    for i, attribute in enumerate(case.attributes):
        found = lines.searched(attribute)
        held = records if together == 1 else groups
        begins = None if together == 1 else first
        for length, losses in zip(asked, found.of_lengths(codes[i], asked, begins), strict=True):
            pairs = windows(len(held), length)
            expected = [float(loss(made, i, held[a : b + 1])) for a, b in pairs]
            assert np.allclose(losses, expected, rtol=0, atol=1e-9)
        pairs = [(a, b) for b in range(len(held)) for a in range(b + 1)]
        begin, end = np.array(pairs).T
        losses = found.between(codes[i], begin, end, begins)
        expected = [float(loss(made, i, held[a : b + 1])) for a, b in pairs]
        assert np.allclose(losses, expected, rtol=0, atol=1e-9)


def loss(made: oracle.OneDimensional, i: int, held: Sequence[Any]) -> Fraction:
    records = [r for unit in held for r in (unit if isinstance(unit, list) else [unit])]
    return made.weighted(i, frozenset(record.qi[i] for record in records))
