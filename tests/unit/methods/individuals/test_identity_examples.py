"""Worked examples of DAnonyIR: the paper's table, and small ones on single rules."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from pganon.methods.individuals import search
from tests.support.oracles import identity_search as oracle
from tests.support.oracles.hitting_sets import minimum_hitting_set
from tests.support.oracles.identity_search import Cat, Num, Table
from tests.support.sources import identity_cases as cases

PATIENTS = {
    1: ("M", 36, 10085, "Hypertension", "Heart"),
    2: ("F", 37, 10076, "Cancer"),
    3: ("M", 36, 10086, "Hypertension"),
    4: ("F", 33, 10087, "Hypertension", "Diabetes"),
    5: ("F", 38, 10077, "HIV"),
    6: ("F", 34, 10070, "Leukaemia", "Heart"),
    7: ("F", 33, 10073, "Syphilis"),
}
PAPER = Table(
    (Cat(("F", "M")), Num(30, 39), Cat(tuple(sorted(p[2] for p in PATIENTS.values())))),
    [(who, facts[:3], s) for who, facts in PATIENTS.items() for s in facts[3:]],
    list(PATIENTS),
)
F = Fraction
GROWN = [
    ("individual", 7, 0.833),
    ("individual", 4, 1.389),
    ("individual", 1, 0.5),
    ("individual", 2, 5.278),
    ("individual", 5, 2.833),
]


def near(choices: list[tuple[str, Any, float]]) -> Any:
    return [(what, who, pytest.approx(float(d), abs=5e-4)) for what, who, d in choices]


def line(domain: tuple[int, int], *rows: tuple[int, int, str]) -> Table:
    """One numeric attribute; every row is (individual, x, values)."""
    order = sorted({row[0] for row in rows})
    return Table((Num(*domain),), [(who, (x,), s) for who, x, ss in rows for s in ss], order)


def test_distances_of_the_paper() -> None:
    individuals, domains = cases.arrays(PAPER)
    classes = search.Classes(individuals, search.IRKL(1), domains)
    for members in ([0, 1, 2, 3, 4, 5, 6][i : i + 1] for i in range(7)):
        classes.make(members)

    def distances(*who: int) -> dict[int, float]:
        other = search.Classes(individuals, search.IRKL(1), domains)
        other.make([w - 1 for w in who])
        cluster = other.made[0].cluster
        classes.pool.aim(cluster)
        found = classes.pool.distances(cluster) / 1e9
        return {i + 1: float(d) for i, d in enumerate(found) if i + 1 not in who}

    pairs = {(4, 6): F(10, 9), (1, 3): F(1, 2), (2, 5): F(5, 9), (4, 7): F(1, 2)}
    pairs |= {(1, 6): F(50, 9), (6, 7): F(5, 6)}
    for (one, other), distance in pairs.items():
        assert distances(one)[other] == pytest.approx(float(distance))
        assert PAPER.distance([one], [other]) == round(distance, 9)
    expected = {
        (6,): {1: 5.556, 2: 1.5, 3: 4.167, 4: 1.111, 5: 1.833, 7: 0.833},
        (6, 7): {1: 7.5, 2: 2.278, 3: 5.833, 4: 1.389, 5: 2.722},
        (3, 1): {2: 5.278, 5: 5.722},
    }
    for who, row in expected.items():
        found = distances(*who)
        assert {w: found[w] for w in row} == pytest.approx(row, abs=5e-4)


@pytest.mark.parametrize(
    "model",
    [
        ("eir", 3),
        ("share", F(2, 5), F(3, 5)),
        ("eir share", F(2, 5), F(3, 5)),
        ("ir", 3, 3),
    ],
)
def test_the_table_of_the_paper(model: oracle.Model) -> None:
    found, loss = cases.find(PAPER, model, [6, 3])
    grown = list(GROWN)
    if model[0] == "ir":
        grown[-1] = ("residual", 5, 2.833)
    assert found.choices == near(grown)
    assert found.classes == [[6, 7, 4], [3, 1, 2, 5]]
    assert found.suppressed == []
    assert loss == pytest.approx(65 / 6)
    assert PAPER.loss(found.classes, []) == F(65, 6)


def test_elements_of_the_classes_of_the_paper() -> None:
    individuals, domains = cases.arrays(PAPER)
    found = search.danonyir(individuals, search.EIRL(3), domains, seed_order=(5, 2))
    classes = search.Classes(individuals, search.EIRL(3), domains)
    for members in found.classes:
        classes.make(members)
    one, two = (item.cluster for item in classes.remaining())
    assert one.element[:2] == (0b10, (33, 34, False))
    assert two.element[:2] == (0b110, (36, 38, False))
    assert [one.element[2].bit_count(), two.element[2].bit_count()] == [3, 4]
    assert [one.records * one.cost, two.records * two.cost] == pytest.approx([20 / 9, 155 / 18])


TABLE_3 = ([2, 5, 6, 7], [1, 3, 4])
TABLE_4 = ([4, 6, 7], [1, 2, 3, 5])
MODELS = [
    ("ir", 3, 3),
    ("share", F(2, 5), F(3, 5)),
    ("eir", 3),
    ("eir share", F(2, 5), F(3, 5)),
]


@pytest.mark.parametrize(
    ("members", "expected"),
    [(TABLE_3[0], "yyyy"), (TABLE_3[1], "yynn"), (TABLE_4[0], "yyyy"), (TABLE_4[1], "yyyy")],
)
def test_models_on_the_tables_of_the_paper(members: list[int], expected: str) -> None:
    individuals, domains = cases.arrays(PAPER)
    for model, holds in zip(MODELS, expected, strict=True):
        classes = search.Classes(individuals, cases.model_of(model), domains)
        classes.make([who - 1 for who in members])
        assert classes.made[0].state.satisfied == (holds == "y") == PAPER.satisfied(model, members)


def test_residuals_of_a_higher_l() -> None:
    found, loss = cases.find(PAPER, ("eir", 4), [6, 3])
    assert [choice[1] for choice in found.choices[:3]] == [7, 4, 2]
    handled = [("suppressed", 3, 9.111), ("suppressed", 1, 11.222), ("residual", 5, 2.889)]
    assert found.choices[-3:] == near(handled)
    assert found.classes == [[6, 7, 4, 2, 5]]
    assert loss / 30 == pytest.approx(79 / 135)
    family = [set(person.counts) for person in cases.arrays(PAPER)[0].people]
    assert len(minimum_hitting_set(family)) == 5


def test_ties_go_to_the_lowest() -> None:
    table = line((0, 20), (1, 0, "a"), (2, 10, "b"), (3, 0, "c"), (4, 10, "d"), (5, 12, "e"))
    found, loss = cases.find(table, ("ir", 4, 1), [1])
    assert found.choices == near(
        [("individual", 3, 0), ("individual", 2, 1.5), ("individual", 4, 0.5), ("suppressed", 5, 1)]
    )
    assert (found.classes, found.suppressed) == ([[1, 3, 2, 4]], [5])
    assert loss == pytest.approx(3)


def test_a_class_takes_in_another() -> None:
    table = line((0, 100), (1, 0, "a"), (2, 1, "b"), (3, 2, "c"), (4, 100, "d"))
    found, loss = cases.find(table, ("eir", 2), [1, 3])
    expected = [("individual", 2, 0.02), ("class", 0, 0.04), ("suppressed", 4, 3.94)]
    assert found.choices == near(expected)
    assert (found.classes, found.suppressed) == ([[3, 1, 2]], [4])
    assert loss == pytest.approx(1.06)


@pytest.mark.parametrize("kind", ["share", "eir share"])
def test_classes_taken_in_for_nothing_return(kind: str) -> None:
    table = line((0, 100), (1, 0, "a"), (2, 0, "b"), (3, 1, "cdefg"), (4, 100, "c"))
    model = (kind, F(1, 2), F(1, 2))
    found, loss = cases.find(table, model, [1, 3])
    assert found.choices[:3] == near(
        [("individual", 2, 0), ("class", 0, 0.07), ("individual", 4, 7.93)]
    )
    assert found.choices[-1] == ("suppressed", 4, pytest.approx(3))
    assert (found.classes, found.suppressed, loss) == ([[1, 2]], [3, 4], pytest.approx(6))
    paper, loss = cases.find(table, model, [1, 3], residual="paper")
    assert (paper.classes, paper.suppressed, loss) == ([], [3, 1, 2, 4], pytest.approx(8))
    assert search.hopeless(cases.arrays(table)[0].people, F(1, 2)) == [2]
    filtered = Table(table.attributes, [row for row in table.rows if row[0] != 3], [1, 2, 4])
    found, _ = cases.find(filtered, model, [1, 4])
    assert (found.classes, found.suppressed) == ([[1, 2]], [4])


def test_null_and_records_that_differ() -> None:
    rows = [
        (1, (20, "A"), "flu"),
        (1, (24, "B"), "asthma"),
        (2, (30, "A"), "flu"),
        (3, (None, "C"), "hiv"),
        (4, (None, None), "cancer"),
        (5, (40, "A"), "gout"),
    ]
    table = Table((Num(20, 60), Cat(("A", "B", "C", None))), rows, [1, 2, 3, 4, 5])
    assert table.cost(table.element([1])) == F(13, 30)
    assert table.base(1) == F(13, 15)
    found, loss = cases.find(table, ("eir", 2), [1, 3])
    assert found.choices == near(
        [("individual", 2, F(53, 60)), ("individual", 5, 1.5833), ("individual", 4, F(2, 3))]
    )
    assert found.classes == [[1, 2, 5], [3, 4]]
    assert loss == pytest.approx(4)
    assert table.distance([1], [3]) == round(F(62, 15), 9)
    individuals, domains = cases.arrays(table)
    classes = search.Classes(individuals, search.IRKL(1), domains)
    classes.make([2, 3])
    assert classes.made[0].cluster.element == ((math.inf, -math.inf, True), 0b1001)


def test_one_value_allows_classes_without_diversity() -> None:
    table = line((1, 4), *((who, who, ["flu"]) for who in range(1, 5)))  # type: ignore[arg-type]
    found, loss = cases.find(table, ("ir", 2, 1), [1, 3])
    assert found.classes == [[1, 2], [3, 4]]
    assert loss == pytest.approx(4 / 3)
