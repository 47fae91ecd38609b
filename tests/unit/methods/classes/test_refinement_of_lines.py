"""Rounds of refinement: a worked example, the definition, and what holds after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.methods.classes.one_dimensional.search import refinement
from pganon.methods.classes.one_dimensional.search.digits import Digit
from pganon.methods.classes.one_dimensional.search.leaving import Staying
from pganon.methods.classes.one_dimensional.search.partition import partition
from pganon.methods.classes.one_dimensional.search.refinement import (
    Classes,
    Draws,
    classes_of,
    refined,
)
from pganon.methods.classes.one_dimensional.search.windows import Problem, Units
from tests.support.harness.examples import examples
from tests.support.oracles import one_dimensional as oracle
from tests.support.oracles.definitions import Record
from tests.support.sources.builders import Case, cases
from tests.unit.methods.classes.test_partition_of_lines import (
    MODELS,
    START,
    brute,
    code_digits,
    of_example,
    on_line,
    order_of,
    rounded,
    text_of,
)


def first(problem: Problem, units: Units) -> Classes:
    """Classes of a line that is one strip."""
    begins = partition(problem, units, START).begins
    return classes_of(problem, units, Staying(begins, np.zeros(len(units), dtype=bool)))


def members(held: Sequence[list[Record]], labels: np.ndarray) -> set[frozenset[int]]:
    found: dict[int, set[int]] = {}
    for unit, label in zip(held, labels.tolist(), strict=True):
        found.setdefault(label, set()).update(record.id for record in unit)
    return set(map(frozenset, found.values()))


# -- the worked example -------------------------------------------------------------------------


class Chosen(Draws):
    """Draws whose orders and offset are chosen."""

    orders: Sequence[Sequence[Digit]]
    share: float

    def uniform(self, *of: int) -> float:
        return self.share

    def order(self, digits: Sequence[Digit], *of: int) -> tuple[Digit, ...]:
        return tuple(self.orders[of[1]])


def chosen(orders: Sequence[Sequence[Digit]], share: float) -> Chosen:
    made = Chosen(b"")
    object.__setattr__(made, "orders", orders)
    object.__setattr__(made, "share", share)
    return made


def of_worked_example(k: int) -> tuple[Any, list[str], Problem, Units, Sequence[Digit]]:
    made, held, problem, units = of_example({"k": k})
    city, third, rank = code_digits(made)
    return made, [text_of(u[0]) for u in held], problem, units, (third, rank, city)


def two_classes(problem: Problem, units: Units) -> Classes:
    begins = np.arange(8) % 3 == 0
    begins[6:] = False
    return classes_of(problem, units, Staying(begins, np.zeros(8, dtype=bool)))


def test_worked_example() -> None:
    made, names, problem, units, second = of_worked_example(2)
    held = two_classes(problem, units)
    assert rounded(int(held.objective.sum())) * 12 == 53
    draws = chosen([code_digits(made), second], 0.0)
    after = refined(problem, units, held, code_digits(made), 1, draws)
    classes = {
        frozenset(np.array(names)[after.labels == label].tolist()) for label in set(after.labels)
    }
    path = ("20a", "23a", "29b", "26b", "32c", "35b", "38a", "38c")
    assert classes == {frozenset(path[n : n + 2]) for n in (0, 2, 4, 6)}
    assert rounded(int(after.objective.sum())) * 2 == 3


@pytest.mark.parametrize("offset", range(6))
def test_the_worked_example_is_not_made_worse(offset: int) -> None:
    made, _, problem, units, second = of_worked_example(2)
    held = first(problem, units)
    draws = chosen([code_digits(made), second], (offset + 0.5) / 6)
    after = refined(problem, units, held, code_digits(made), 1, draws)
    assert (after.labels == held.labels).all()
    assert (after.objective == held.objective).all()


def test_two_classes_at_k_3_stay() -> None:
    made, _, problem, units, second = of_worked_example(3)
    held = two_classes(problem, units)
    after = refined(
        problem, units, held, code_digits(made), 1, chosen([code_digits(made), second], 0.0)
    )
    assert after.labels.tolist() == held.labels.tolist()


# -- by the definition --------------------------------------------------------------------------


@pytest.mark.random_tables
@examples(25)
@given(
    case=cases(models=False),
    k=st.integers(2, 4),
    relaxed=st.booleans(),
    apart=st.booleans(),
    name=st.sampled_from([None, None, *sorted(MODELS)]),
    seed=st.integers(0, 5),
)
@pytest.mark.slow
def test_rounds_are_those_of_the_definition(
    case: Case, k: int, relaxed: bool, apart: bool, name: str | None, seed: int
) -> None:
    made = brute(case, name, k=k, relaxed=relaxed, apart=apart)
    held, problem, units = on_line(case, made, name)
    if not made.allowed(case.records):
        return
    order, digits = order_of(made), code_digits(made)
    pieces = made.of_block(held, order)
    classes = first(problem, units)
    assert members(held, classes.labels) == ids(pieces)
    before = classes
    for rounds in (1, 2, 5):
        object.__setattr__(made, "rounds", rounds)
        expected = made.refined(held, order, pieces, oracle.Draws(seed, 3))
        draws = Draws(f"{seed}|3|".encode())
        after = refined(problem, units, classes, digits, rounds, draws)
        assert members(held, after.labels) == ids(expected)
        assert after.objective.sum() == sum(made.loss(oracle.joined(p)) for p in expected)
        assert after.objective.sum() <= before.objective.sum()
        before = after


def ids(pieces: oracle.Pieces) -> set[frozenset[int]]:
    return {frozenset(record.id for record in oracle.joined(piece)) for piece in pieces}


@pytest.mark.random_tables
@examples(15)
@given(
    case=cases(models=False),
    k=st.integers(2, 5),
    relaxed=st.booleans(),
    name=st.sampled_from([None, *sorted(MODELS)]),
)
def test_after_every_round(case: Case, k: int, relaxed: bool, name: str | None) -> None:
    """Every unit once, all requirements, the objective of every class; and it never rises."""
    made = brute(case, name, k=k, relaxed=relaxed)
    held, problem, units = on_line(case, made, name)
    if not made.allowed(case.records):
        return
    classes = first(problem, units)
    least = classes.objective.sum()
    for number in range(1, 8):
        draws = Draws(bytes([number]))
        classes = refined(problem, units, classes, code_digits(made), 1, draws)
        assert sorted(set(classes.labels.tolist())) == list(range(len(classes.objective)))
        for label, objective in enumerate(classes.objective.tolist()):
            group = oracle.joined(held[n] for n in np.flatnonzero(classes.labels == label))
            assert made.allowed(group)
            assert made.loss(group) == objective
        assert classes.objective.sum() <= least
        least = classes.objective.sum()


def test_classes_that_lose_nothing_take_no_part(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _, problem, units = of_example({"k": 3, "repeated": ["20a", "20a"]})
    begins = np.array([True, True, False, False, True, False, False, False])
    held = classes_of(problem, units, Staying(begins, np.zeros(8, dtype=bool)))
    assert held.objective[0] == 0
    parts: list[int] = []
    once = refinement._round

    def seen(problem: Problem, part: Units, *others: Any) -> Classes:
        parts.append(len(part))
        return once(problem, part, *others)

    monkeypatch.setattr(refinement, "_round", seen)
    after = refined(problem, units, held, code_digits(made), 3, Draws(b"a"))
    assert parts == [7, 7, 7]
    assert (after.labels == after.labels[0]).tolist() == [True] + [False] * 7
    alone = units.reordered(np.arange(1))
    none = first(Problem(problem.attributes, 3, False), alone)
    assert refined(problem, alone, none, code_digits(made), 3, Draws(b"a")) is none
    assert len(parts) == 3


@pytest.mark.parametrize(("least", "expected"), [(True, [0, 2, 1]), (False, [1, 2, 0])])
@pytest.mark.parametrize("offset", [0, 1, 4])
def test_groups_are_of_about_so_many_records(least: bool, expected: list[int], offset: int) -> None:
    """Of three classes, which have 3, 4 and 2 records and stand at 0 or 5, 2 or 3, 1 or 4."""
    units = Units(np.zeros((1, 6), dtype=np.int64), np.array([1, 3, 1, 1, 1, 2]))
    classes = Classes(np.array([0, 1, 1, 2, 2, 0]), np.zeros(3, dtype=np.int64))
    rank = np.array([0, 2, 3, 1, 4, 5])
    found = refinement._groups(units, classes, rank, 5, offset, least=least)
    records, before, numbers_ = [3, 4, 2], 0, []
    for label in expected:
        numbers_.append(((before + offset) // 5, label))
        before += records[label]
    first = sorted({number for number, _ in numbers_})
    assert {label: int(found[label]) for label in range(3)} == {
        label: first.index(number) for number, label in numbers_
    }


# -- draws --------------------------------------------------------------------------------------


def digit(attribute: int, level: int, cost: float) -> Digit:
    return Digit(attribute, level, cost, np.array([0, 1]))


DIGITS = [
    digit(0, 0, 0.5), digit(1, 0, 0.4), digit(0, 1, 0.2), digit(2, 0, 0.1), digit(0, 2, 0.01)
]  # fmt: skip


def test_digits_of_an_attribute_keep_their_order() -> None:
    draws = Draws(b"seed")
    orders = [draws.order(DIGITS, number, 0) for number in range(200)]
    for order in orders:
        assert sorted(map(id, order)) == sorted(map(id, DIGITS))
        assert [d.level for d in order if d.attribute == 0] == [0, 1, 2]
    assert len({tuple(map(id, order)) for order in orders}) > 5


def test_digits_come_first_as_often_as_they_cost() -> None:
    """With Gumbel noise on its logarithm, a digit is first with its share of all costs."""
    alone = [digit(n, 0, cost) for n, cost in enumerate((0.6, 0.3, 0.1))]
    draws = Draws(b"seed")
    often = Counter(draws.order(alone, number, 0)[0].attribute for number in range(4_000))
    for attribute, cost in enumerate((0.6, 0.3, 0.1)):
        assert often[attribute] / 4_000 == pytest.approx(cost, abs=0.03)


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=3), st.integers(0, 9))
def test_numbers_are_drawn_by_the_seed(of: list[int], seed: int) -> None:
    draws = Draws(f"{seed}|7|".encode())
    assert 0 < draws.uniform(*of) < 1
    assert draws.uniform(*of) == oracle.Draws(seed, 7).uniform(*of)
    assert draws.uniform(*of) != Draws(f"{seed}|8|".encode()).uniform(*of)
    assert draws.uniform(*of) != draws.uniform(*of, 0)
