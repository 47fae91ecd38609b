"""The best pieces of a line: worked examples, and every segmentation of random tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.methods.classes.one_dimensional.search import partition as module
from pganon.methods.classes.one_dimensional.search.digits import along, digits, path
from pganon.methods.classes.one_dimensional.search.ordering import moved_behind, searched
from pganon.methods.classes.one_dimensional.search.partition import (
    Pieces,
    best,
    partition,
    strips,
)
from pganon.methods.classes.one_dimensional.search.windows import (
    FORBIDDEN,
    REACH,
    SCALE,
    Problem,
    Units,
    Windows,
    windows,
)
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
from tests.support.oracles import one_dimensional as oracle
from tests.support.oracles.definitions import Group, Record
from tests.support.sources import lines
from tests.support.sources.builders import Case, cases

START = np.zeros(1, dtype=np.int64)

# -- worked examples ----------------------------------------------------------------------------

AGES_AND_CITIES = ("20a", "23a", "38a", "35b", "26b", "29b", "32c", "38c")
DISEASES = ("flu", "flu", "cold", "flu", "gout", "flu", "cold", "gout")


def example(
    repeated: Sequence[str] = (),
    *,
    k: int,
    apart: bool,
    relaxed: bool,
    l: int = 1,  # noqa: E741
) -> tuple[oracle.OneDimensional, list[Record]]:
    written = [*zip(AGES_AND_CITIES, DISEASES, strict=True), *((r, "flu") for r in repeated)]
    records = [
        Record(number, (int(text[:2]), text[2]), (disease,), number)
        for number, (text, disease) in enumerate(written)
    ]
    attributes = [
        definitions.Ordered([r.qi[0] for r in records]),
        definitions.Nominal([r.qi[1] for r in records]),
    ]

    def diverse(group: Group) -> bool:
        return len({record.sensitive for record in group}) >= l

    made = oracle.OneDimensional(
        attributes, diverse, k, apart=apart, relaxed=relaxed, several=l > 1
    )
    return made, records


def text_of(record: Record) -> str:
    return f"{record.qi[0]}{record.qi[1]}"


EXAMPLES: list[tuple[dict[str, Any], str, list[int], str]] = [
    ({"k": 2}, "- 1/6 3/2 5/6 23/12 1 25/12 4/3", [2, 2, 2, 2], "1/6"),
    ({"k": 3}, "- - 3/2 3 15/4 9/4 7/2 53/12", [3, 5], "53/96"),
    ({"k": 2, "l": 2}, "- - 3/2 3 2 9/4 8/3 31/12", [3, 3, 2], "31/96"),
    ({"k": 3, "repeated": ["38a"]}, "- - 2 15/4 9/2 11/4 4 59/12", [3, 5], "59/108"),
    (
        {"k": 3, "repeated": ["38a"], "relaxed": True},
        "- - 3/2 2 15/4 13/4 11/4 4 19/4",
        [3, 3, 3],
        "19/36",
    ),
    (
        {"k": 3, "repeated": ["29b", "29b"], "apart": True},
        "- - 5/2 3 14/3 17/4 19/4 17/3",
        [4, 4],
        "17/30",
    ),
    (
        {"k": 3, "repeated": ["20a", "20a"], "apart": True},
        "0 1/3 5/2 5/4 13/12 8/3 3 7/3",
        [2, 3, 3],
        "7/30",
    ),
]


def of_example(
    asked: dict[str, Any],
) -> tuple[oracle.OneDimensional, list[list[Record]], Problem, Units]:
    keys = {"apart": False, "relaxed": False, **asked}
    made, records = example(**keys)
    order = oracle.digits(made.attributes, apart=made.apart)
    held = made.along(made.units(records, order), order)
    models = [DistinctLDiversity.of(keys["l"])] if "l" in keys else []
    problem = lines.problem(made.attributes, made.k, single=made.relaxed)
    whole = sorted({*DISEASES})
    numbered = [
        [Record(r.id, r.qi, (whole.index(r.sensitive[0]) + 1,)) for r in unit] for unit in held
    ]
    units = lines.units(made.attributes, numbered, models, [1, 2, 3])
    return made, held, problem, units


def prefixes(units: Units, problem: Problem) -> Iterator[Fraction | None]:
    for count in range(1, len(units) + 1):
        some = units.reordered(np.arange(count))
        total = int(best(windows(problem, some, START), START).totals[0])
        yield None if total >= FORBIDDEN else rounded(total)


def rounded(total: int) -> Fraction:
    return Fraction(total, SCALE).limit_denominator(200)


@pytest.mark.parametrize(("asked", "least", "pieces", "gcp"), EXAMPLES)
def test_worked_examples(asked: dict[str, Any], least: str, pieces: list[int], gcp: str) -> None:
    made, held, problem, units = of_example(asked)
    expected = [None if word == "-" else Fraction(word) for word in least.split()]
    assert list(prefixes(units, problem)) == expected
    found = best(windows(problem, units, START), START)
    assert sizes(found, len(units)) == pieces
    assert rounded(int(found.totals[0])) / units.weights.sum() == Fraction(gcp)
    of_oracle = made.best(held, made.lengths(len(held), oracle.REACH))
    assert of_oracle is not None
    assert [len(piece) for piece in of_oracle[1]] == pieces
    assert of_oracle[0] == found.totals[0] == found.objective.sum()


def sizes(found: Pieces, count: int) -> list[int]:
    return np.diff(np.append(np.flatnonzero(found.begins), count)).tolist()


PATHS = [
    (
        {"k": 2},
        {"20a": 0, "23a": 1, "38a": 8, "35b": 10, "26b": 12, "29b": 13, "32c": 24, "38c": 26},
    ),
    (
        {"k": 3, "repeated": ["29b", "29b"], "apart": True},
        {"20a": 1, "23a": 2, "29b": 8, "26b": 11, "35b": 15, "38a": 17, "38c": 18, "32c": 22},
    ),
]


@pytest.mark.parametrize(("asked", "expected"), PATHS)
def test_worked_paths(asked: dict[str, Any], expected: dict[str, int]) -> None:
    made, held, _, units = of_example(asked)
    assert {text_of(u[0]): oracle.path(order_of(made), u[0]) for u in held} == expected
    [number] = path(code_digits(made), list(units.codes))
    assert dict(zip([text_of(u[0]) for u in held], number.tolist(), strict=True)) == expected
    assert list(expected) == [text_of(u[0]) for u in held]


def order_of(made: oracle.OneDimensional) -> list[oracle.Digit]:
    return oracle.digits(made.attributes, apart=made.apart)


def code_digits(made: oracle.OneDimensional) -> Any:
    attributes = tuple(map(lines.searched, made.attributes))
    counts = [lines.counts(attribute) for attribute in made.attributes]
    return digits(attributes, counts, apart=made.apart)


# -- every segmentation -------------------------------------------------------------------------

Satisfies = Callable[[list[Any], list[Any]], bool]

MODELS: dict[str, tuple[Model, Satisfies]] = {
    "l": (DistinctLDiversity.of(2), lambda v, w: definitions.distinct_l(v) >= 2),
    "entropy": (
        EntropyLDiversity.of(1.8),
        lambda v, w: definitions.entropy_at_least(v, Fraction(9, 5)),
    ),
    "recursive": (RecursiveCLDiversity.of(2, 2), lambda v, w: model.recursive_c(v, 2) < 2),
    "recursive 1": (RecursiveCLDiversity.of(0.6, 1), lambda v, w: model.recursive_c(v, 1) < 0.6),
    "alpha": (
        RelativeFrequency(Fraction(3, 5)),
        lambda v, w: model.alpha(v) <= Fraction(3, 5),
    ),
    "t": (TCloseness.of(0.3), lambda v, w: definitions.t_equal(v, w) <= Fraction(3, 10)),
    "t ordered": (
        TCloseness.of(0.2, "ordered"),
        lambda v, w: definitions.t_ordered(v, w) <= Fraction(1, 5),
    ),
    "beta": (BetaLikeness.of(1.0, "basic"), lambda v, w: model.beta_basic(v, w) <= 1),
    "beta enhanced": (BetaLikeness.of(1.5), lambda v, w: model.beta_enhanced(v, w) <= 1.5),
    "delta": (DeltaDisclosure.of(1.0), lambda v, w: model.delta(v, w) < 1),
}


def brute(
    case: Case, name: str | None, *, k: int, relaxed: bool, apart: bool = True
) -> oracle.OneDimensional:
    whole = [record.sensitive[0] for record in case.records]

    def satisfied(group: Group) -> bool:
        return name is None or MODELS[name][1]([r.sensitive[0] for r in group], whole)

    return oracle.OneDimensional(
        case.attributes,
        satisfied,
        k,
        apart=apart,
        relaxed=relaxed,
        several=name is not None,
        compares=name is not None and MODELS[name][0].needs_reference,
    )


def on_line(
    case: Case, made: oracle.OneDimensional, name: str | None = None
) -> tuple[list[list[Record]], Problem, Units]:
    """The units of a table along the path."""
    order = order_of(made)
    held = made.along(made.units(case.records, order), order)
    problem = lines.problem(case.attributes, made.k, single=made.relaxed)
    whole = [record.sensitive[0] for record in case.records]
    models = [] if name is None else [MODELS[name][0]]
    return held, problem, lines.units(case.attributes, held, models, whole)


def segmentations(count: int, lengths: Sequence[int]) -> Iterator[list[int]]:
    if not count:
        yield []
    for length in lengths:
        if length <= count:
            for before in segmentations(count - length, lengths):
                yield [*before, length]


def least_of_all(
    made: oracle.OneDimensional, held: list[list[Record]], lengths: Sequence[int]
) -> float:
    """The least objective of all segmentations into pieces of these lengths."""
    losses: dict[tuple[int, int], float] = {}

    def loss(first: int, last: int) -> float:
        if (first, last) not in losses:
            group = oracle.joined(held[first:last])
            losses[first, last] = made.loss(group) if made.allowed(group) else math.inf
        return losses[first, last]

    totals = []
    for pieces in segmentations(len(held), lengths):
        bounds = [sum(pieces[:n]) for n in range(len(pieces) + 1)]
        totals.append(sum(loss(a, b) for a, b in itertools.pairwise(bounds)))
    return min(totals)


def small(case: Case, count: int = 11) -> Case:
    """With fewer records, whose attributes have the values of these alone."""
    rows = case.rows[:count]
    for i, attribute in enumerate(case.attributes):
        attribute.values = [row[i] for row in rows]
        for name in ("domain", "codes"):
            attribute.__dict__.pop(name, None)
    case.rows = rows
    return case


@pytest.mark.random_tables
@examples(40)
@given(case=cases(models=False), k=st.integers(1, 3), relaxed=st.booleans(), apart=st.booleans())
def test_no_segmentation_is_better(case: Case, k: int, relaxed: bool, apart: bool) -> None:
    made = brute(small(case), None, k=k, relaxed=relaxed, apart=apart)
    held, problem, units = on_line(case, made)
    found = best(windows(problem, units, START), START)
    every = least_of_all(made, held, range(1, len(held) + 1))
    assert min(found.totals[0], FORBIDDEN) == min(every, FORBIDDEN)


@pytest.mark.random_tables
@examples(60)
@given(
    case=cases(models=False),
    k=st.integers(1, 3),
    relaxed=st.booleans(),
    name=st.sampled_from(sorted(MODELS)),
)
@pytest.mark.slow
def test_no_segmentation_that_satisfies_a_model_is_better(
    case: Case, k: int, relaxed: bool, name: str
) -> None:
    """Of those into pieces whose lengths are tried; one piece may be all up to a unit."""
    made = brute(small(case), name, k=k, relaxed=relaxed)
    held, problem, units = on_line(case, made, name)
    reach = -(-len(held) // k)
    found = best(windows(problem, units, START, reach), START)
    every = least_of_all(made, held, made.lengths(len(held), reach))
    if made.compares:
        assert found.totals[0] <= every
    else:
        assert min(found.totals[0], FORBIDDEN) == min(every, FORBIDDEN)
    of_oracle = made.best(held, made.lengths(len(held), reach))
    if of_oracle is None:
        assert found.totals[0] >= FORBIDDEN
        assert not found.begins.any()
    else:
        assert of_oracle[0] == found.totals[0]
        assert [len(piece) for piece in of_oracle[1]] == sizes(found, len(units))


@pytest.mark.random_tables
@examples(30)
@given(case=cases(models=False), relaxed=st.booleans(), apart=st.booleans())
def test_the_order_is_that_of_the_definition(case: Case, relaxed: bool, apart: bool) -> None:
    made = oracle.OneDimensional(
        case.attributes, lambda group: True, 2, relaxed=relaxed, apart=apart
    )
    by_definition, found = order_of(made), code_digits(made)
    assert [(d.attribute, d.level) for d in found] == [
        (d.attribute, d.level) for d in by_definition
    ]
    assert [d.cost for d in found] == pytest.approx([float(d.cost) for d in by_definition])
    for digit, expected in zip(found, by_definition, strict=True):
        attribute = case.attributes[digit.attribute]
        for value, d in expected.values.items():
            assert digit.values[attribute.codes[value]] == d
        assert digit.size == expected.size
    records = case.records
    order = along(found, list(lines.codes(case.attributes, records)))
    assert [records[n] for n in order] == sorted(
        records, key=lambda r: oracle.path(by_definition, r)
    )


@pytest.mark.random_tables
@examples(8)
@given(
    case=cases(models=False),
    k=st.integers(2, 4),
    relaxed=st.booleans(),
    name=st.sampled_from([name for name in sorted(MODELS) if MODELS[name][0].needs_reference]),
)
def test_the_order_that_is_searched_is_that_of_the_definition(
    case: Case, k: int, relaxed: bool, name: str
) -> None:
    made = brute(small(case, 24), name, k=k, relaxed=relaxed)
    if not made.allowed(case.records):
        return
    _, problem, units = on_line(case, made, name)
    order = code_digits(made)
    found = moved_behind(order, searched(problem, units, order))
    expected = made.searched(case.records, order_of(made))
    assert [(d.attribute, d.level) for d in found] == [(d.attribute, d.level) for d in expected]


def test_all_lengths_are_compared_up_to_64() -> None:
    problem, units = numbers(range(140), 64)
    assert windows(problem, units, START).lengths.tolist() == list(range(64, 128))
    problem, units = numbers(range(140), 65)
    assert windows(problem, units, START).lengths.shape == (140, 64)


def test_a_piece_wins_ties_with_a_unit_that_is_left_out() -> None:
    problem, units = numbers([0, 9], 2)
    table = windows(problem, units, START)
    assert not best(table, START, np.full(2, SCALE)).left.any()
    assert best(table, START, np.full(2, SCALE - 1)).left.all()


def test_the_shorter_piece_wins_ties_with_that_of_all_before() -> None:
    table = Windows(np.array([2]), np.array([[FORBIDDEN], [0], [FORBIDDEN], [0]]), np.zeros(4, int))
    assert sizes(best(table, START), 4) == [2, 2]


# -- k that is large, or not small in comparison ------------------------------------------------


@pytest.mark.random_tables
@examples(3)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc")), min_size=150, max_size=240),
    st.booleans(),
)
def test_above_64_the_pieces_are_those_of_the_definition(
    rows: list[tuple[int, str]], relaxed: bool
) -> None:
    records = [Record(n, row, (), n) for n, row in enumerate(rows)]
    attributes = [
        definitions.Ordered([row[0] for row in rows]),
        definitions.Nominal([row[1] for row in rows]),
    ]
    made = oracle.OneDimensional(attributes, lambda group: True, 70, relaxed=relaxed)
    order = order_of(made)
    held = made.along(made.units(records, order), order)
    problem = lines.problem(attributes, 70, single=relaxed)
    found = best(windows(problem, lines.units(attributes, held), START), START)
    expected = made.best(held, [])
    assert expected is not None
    assert found.totals[0] == expected[0]
    assert [len(piece) for piece in expected[1]] == sizes(found, len(held))


def numbers(values: Sequence[int], k: int, *, single: bool = True) -> tuple[Problem, Units]:
    attribute = definitions.Ordered(list(values))
    held = [[Record(n, (value,), (1,))] for n, value in enumerate(values)]
    return lines.problem([attribute], k, single=single), lines.units([attribute], held)


@pytest.mark.parametrize("k", [4, 70])
@pytest.mark.parametrize("single", [True, False])
def test_fewer_than_2_k_records_are_one_piece(k: int, single: bool) -> None:
    for count in (k, k + 1, 2 * k - 1):
        problem, units = numbers(range(count), k, single=single)
        made = partition(problem, units, strips(problem, units))
        assert np.flatnonzero(made.begins).tolist() == [0]
        assert best(windows(problem, units, START), START).totals[0] == count * SCALE


@pytest.mark.parametrize("k", [4, 70])
def test_2_k_records_are_two_pieces(k: int) -> None:
    problem, units = numbers(range(2 * k), k)
    made = partition(problem, units, strips(problem, units))
    assert np.flatnonzero(made.begins).tolist() == [0, k]


def test_constant_columns_count_in_the_weights_alone() -> None:
    records = [Record(n, (n, "same", 7), (1,)) for n in range(6)]
    attributes = [
        definitions.Ordered([0, 1, 2, 3, 4, 5]),
        definitions.Nominal(["same"] * 6),
        definitions.Ordered([7] * 6, 2.0),
    ]
    problem = lines.problem(attributes, 3, single=True)
    units = lines.units(attributes, [[record] for record in records])
    found = best(windows(problem, units, START), START)
    assert found.totals[0] == 6 * round(SCALE * 2 / 5 / 4)


def test_columns_of_nothing_but_null_lose_nothing() -> None:
    records = [Record(n, (n, None, None, None), (1,)) for n in range(6)]
    attributes = [
        definitions.Ordered([0, 1, 2, 3, 4, 5]),
        definitions.Ordered([None] * 6),
        definitions.Nominal([None] * 6),
        definitions.Tree([None] * 6, paths={"a": ("a", "all")}),
    ]
    for k, pieces in ((3, 2), (66, 0)):
        problem = lines.problem(attributes, k, single=True)
        units = lines.units(attributes, [[record] for record in records])
        found = best(windows(problem, units, START), START)
        assert found.begins.sum() == pieces
        if pieces:
            assert found.totals[0] == 6 * round(SCALE * 2 / 5 / 4)


def test_equal_costs_go_by_column_whatever_rounding_makes_of_them() -> None:
    numbers_, words = definitions.Ordered(list(range(10))), definitions.Nominal(list("abcdefghij"))
    for attributes, expected in (
        ([numbers_, words], [(0, 0), (0, 1), (1, 0)]),
        ([words, numbers_], [(1, 0), (0, 0), (1, 1)]),
    ):
        made = digits(
            tuple(map(lines.searched, attributes)), list(map(lines.counts, attributes)), apart=True
        )
        assert [(digit.attribute, digit.level) for digit in made] == expected


@pytest.mark.parametrize("k", [1, 2])
def test_lengths_beyond_2_k_grow_by_a_share(k: int) -> None:
    problem, _ = numbers(range(300), k)
    values = list(range(300))
    held = [[Record(n, (n,), (1 + n % 2,))] for n in values]
    units = lines.units([definitions.Ordered(values)], held, [DistinctLDiversity.of(2)], [1, 2])
    made = oracle.OneDimensional([], bool, k, relaxed=True, several=True)
    found = windows(problem, units, START).lengths.tolist()
    # One record never has two values.
    assert found == [n for n in made.lengths(300, oracle.REACH) if n > 1]
    assert [n for n in (7, 8, 9, 10, 11, 40, 46) if n in found] == [
        n for n in (7, 9, 11, 40, 46) if n <= 40 * k
    ]


# -- strips -------------------------------------------------------------------------------------


def test_strips_are_of_equal_length() -> None:
    problem, units = numbers(range(10_000), 5)
    assert strips(problem, units).tolist() == [0, 3_333, 6_666]
    problem, units = numbers(range(10_000), 100)
    assert strips(problem, units).tolist() == [0, 5_000]
    problem, units = numbers(range(10_000), 5_000)
    assert strips(problem, units).tolist() == [0]


@pytest.mark.parametrize("k", [2, 5, 66])
def test_strips_side_by_side_are_those_one_by_one(k: int) -> None:
    rng = np.random.default_rng(3)
    count = 400
    problem, units = numbers(rng.integers(0, 90, count).tolist(), k)
    starts = np.array([0, 90, 200, 333])
    together = best(windows(problem, units, starts), starts)
    begins: list[int] = []
    objective: list[int] = []
    for start, end in zip(starts, [*starts[1:], count], strict=True):
        alone = units.reordered(np.arange(start, end))
        made = best(windows(problem, alone, START), START)
        begins += (np.flatnonzero(made.begins) + start).tolist()
        objective += made.objective.tolist()
        assert made.totals[0] == made.objective.sum()
    assert np.flatnonzero(together.begins).tolist() == begins
    assert together.objective.tolist() == objective


VALUES = {
    "in the middle": [1, 2] * 8 + [1] * 8 + [1, 2] * 8,
    "at the end": [1, 2] * 12 + [1] * 8,
    "three apart": ([1] * 8 + [1, 2] * 4) * 3,
    "two together": [1, 2] * 4 + [1] * 16 + [1, 2] * 8,
    "all but one record": [1] * 31 + [2],
}


@pytest.mark.parametrize("values", VALUES.values(), ids=list(VALUES))
def test_strips_without_a_partition_are_joined(
    values: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_STRIP", 8)
    monkeypatch.setattr(module, "_STRIP_OF_K", 1)
    attribute = definitions.Ordered(list(range(len(values))))
    held = [[Record(n, (n,), (value,))] for n, value in enumerate(values)]
    problem = lines.problem([attribute], 2, single=True)
    units = lines.units([attribute], held, [DistinctLDiversity.of(2)], [1, 2])
    first = strips(problem, units)
    assert len(first) == len(values) // 8
    made = partition(problem, units, first)
    bounds = [*np.flatnonzero(made.begins), len(values)]
    pieces = [values[a:b] for a, b in itertools.pairwise(bounds)]
    assert bounds[0] == 0
    assert all(len(piece) >= 2 and set(piece) == {1, 2} for piece in pieces)
    assert set(made.starts) < set(first)
    # Strips that have partitions keep them.
    alone = best(windows(problem, units, first), first)
    for n, start in enumerate(first):
        if alone.totals[n] >= FORBIDDEN:
            assert not alone.begins[start : [*first, len(values)][n + 1]].any()
        if start in made.starts and {start, *first[n + 1 : n + 2]} <= {*made.starts, len(values)}:
            end = [*first, len(values)][n + 1]
            assert made.begins[start:end].tolist() == alone.begins[start:end].tolist()


def test_a_piece_longer_than_the_longest_windows_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The other value is 100 records away, and windows have at most 40 k."""
    values = [1] * 100 + [2]
    attribute = definitions.Ordered(list(range(101)))
    held = [[Record(n, (n,), (value,))] for n, value in enumerate(values)]
    problem = lines.problem([attribute], 2, single=True)
    units = lines.units([attribute], held, [DistinctLDiversity.of(2)], [1, 2])
    assert best(windows(problem, units, START), START).totals[0] >= FORBIDDEN
    made = partition(problem, units, START)
    assert np.flatnonzero(made.begins).tolist() == [0]
    assert made.reach == 80


def test_strips_with_partitions_are_tried_once() -> None:
    problem, units = numbers(range(50), 2)
    assert partition(problem, units, START).reach == REACH


def test_too_many_counters_make_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that was joined for a model that compares, with more values than can be counted."""
    values = [1 + n % 2 for n in range(40)]
    held = [[Record(n, (n,), (value,))] for n, value in enumerate(values)]
    units = lines.units([definitions.Ordered(range(40))], held, [TCloseness.of(0.9)], [1, 2])
    problem = numbers(range(40), 2)[0]
    first = np.zeros(1, dtype=np.int64)
    assert partition(problem, units, first).begins.sum() > 1
    monkeypatch.setattr(module, "_MOST_COUNTERS", 1)
    assert np.flatnonzero(partition(problem, units, first).begins).tolist() == [0]
