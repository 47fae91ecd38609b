"""Models that the guard holds against own records: of several per person, and of combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.guard.rules import Rule
from pganon.privacy.base import Model
from pganon.privacy.frequency import RecursiveCLDiversity
from pganon.privacy.identity import EIRBeta, EIRLDiversity, IRAlpha, IRBeta, IRKAnonymity
from pganon.privacy.knowledge import BackgroundKnowledge
from pganon.privacy.likeness import BetaLikeness, TCloseness
from pganon.privacy.quasi_sensitive import QSKAnonymity
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.harness.guarded import Population, Row, left_out, released
from tests.support.oracles import identity as oracle

OF_RECORDS: Sequence[tuple[Model, oracle.Requirement]] = (
    (IRAlpha(0.5), {"model": "ir_alpha_beta_anonymity", "alpha": 0.5, "beta": 1}),
    (IRBeta(0.6), {"model": "ir_alpha_beta_anonymity", "alpha": 1, "beta": 0.6}),
    (EIRLDiversity(2), {"model": "eir_l_diversity", "l": 2}),
)
OF_PEOPLE: Sequence[Model] = (IRKAnonymity(2), EIRBeta(0.7))
SEVERAL = [
    Rule(model, "v" if model.needs_values or isinstance(model, IRAlpha) else None)
    for model in (*[model for model, _ in OF_RECORDS], *OF_PEOPLE)
]


@pytest.mark.random_tables
@examples(2)
@given(seed=st.integers(0, 10**6))
def test_records_of_who_is_there(db: Database, seed: int) -> None:
    """And who is not there misses what only records could show."""
    random = Random(seed)
    held = {p: tuple(random.choices("abc", k=random.randint(1, 4))) for p in range(60)}
    population = Population(db.owner())
    last: Mapping[int, Row] = {}
    for _ in range(2):
        last = {p: released(random.randint(1, 4), *held[p]) for p in random.sample(range(60), 50)}
        population.add(last, SEVERAL, several=True)
    met = set()
    for cell, row in population.cells.items():
        there = row["people"] <= set(last)
        pairs = [(p, value) for p in row["people"] for value in held[p]]
        for number, (model, requirement) in enumerate(OF_RECORDS):
            found = population.outcome(number)[cell]
            expected = there and oracle.holds(requirement, pairs)
            assert found["holds"] == expected, (model, pairs, there)
            met.add((number, expected))
        assert population.outcome(3)[cell]["holds"] == (row["size"] >= 2)
        most = max(found["at_most"] for found in row["values"].values())
        assert population.outcome(4)[cell]["holds"] == (most / row["size"] <= 0.7)
    assert len(met) == 6


def test_other_distances_and_recursive_diversity_of_own_records(db: Database) -> None:
    """Also of the values that people had before they changed."""
    population = Population(db.owner())
    rules = [
        Rule(TCloseness(0.25, "ordered"), "v"),
        Rule(RecursiveCLDiversity(2, 2), "v"),
    ]
    shares = {"v": {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}}
    first = {p: released(1, v) for p, v in enumerate("aabbcc")}
    population.add(first, rules, reference=shares)
    assert [population.outcome(n)[c]["holds"] for n in (0, 1) for c in population.outcome(n)] == [
        True,
        True,
    ]
    changed = {**first, 0: released(1, "b"), 2: released(1, "c"), 4: released(1, "a")}
    population.add(changed, rules, reference=shares)
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    distance, recursive = population.outcome(0), population.outcome(1)
    for people in ({0, 2, 4}, {1, 3, 5}):
        cell = by_people[frozenset(people)]
        assert distance[cell]["holds"]
        assert distance[cell]["measure"] == pytest.approx(0)
        assert recursive[cell]["measure"] == pytest.approx(0.5)
    # Who changed now had a, a, b before: known, since nobody else changed or left.
    population.memory = None
    population.add(first, rules, reference=shares)
    lopsided = {**first, 0: released(1, "c"), 1: released(1, "b"), 2: released(1, "a")}
    population.add(lopsided, rules, reference=shares)
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    found = population.outcome(0)[by_people[frozenset({0, 1, 2})]]
    assert found["measure"] == pytest.approx(1 / 3)  # a 2/3, b 1/3 against thirds
    assert not found["holds"]
    assert population.cells[by_people[frozenset({0, 1, 2})]]["past_own"] == [2]
    # Divided once more, nothing is known of what its parts had.
    population.add({**lopsided, 1: left_out(0, "b")}, rules, reference=shares)
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    for people in ({0, 2}, {1}):
        cell = by_people[frozenset(people)]
        assert population.cells[cell]["past_own"] == [1]
        assert not population.outcome(0)[cell]["holds"]


def test_a_distribution_that_is_not_published_is_missed(db: Database) -> None:
    population = Population(db.owner(), ("v", "w"))
    rule = Rule(TCloseness(1.0), "v")
    first = {p: Row((1,), ((v,),)) for p, v in enumerate("aabb")}
    population.add(first, [rule], published=["v"], reference={"v": {"a": 0.5, "b": 0.5}})
    halves = {p: Row((1 + p % 2,), (("x",),)) for p in first}
    population.add(halves, published=["w"])
    assert [row["holds"] for row in population.outcome().values()] == [False, False]
    assert all(row["judged"] for row in population.outcome().values())


def test_priors_of_a_part_of_a_class(db: Database) -> None:
    population = Population(db.owner())
    rule = Rule(BackgroundKnowledge(0.1, "kernel"))
    people = {p: released(1, v) for p, v in enumerate("abab")}
    population.add(people)  # without the model
    population.add({p: people[p] for p in (0, 1)}, [rule])
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    found = population.outcome()
    assert found[by_people[frozenset({0, 1})]]["holds"]  # a class of the new version bounds them
    assert not found[by_people[frozenset({2, 3})]]["holds"]  # nothing ever did
    population.add({0: people[0]}, [rule])
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    found = population.outcome()
    assert found[by_people[frozenset({1})]]["holds"]  # the class it was in did


SETS = (("p", "q"), ("r",))
COUNTED = [
    Rule(QSKAnonymity(2, "product", 1), sets=SETS),
    Rule(QSKAnonymity(2, "supported", 1), sets=SETS),
    Rule(QSKAnonymity(2, "product", 2), sets=SETS),
]


def test_combinations_of_own_values(db: Database) -> None:
    population = Population(db.owner(), ("p", "q", "r"))
    rows = {1: "axk", 2: "bxl", 3: "byk", 4: "ayl", 5: "axk", 6: "axl"}
    source = {p: Row((1,) * 3, tuple((v,) for v in text)) for p, text in rows.items()}
    combinations = [[("a", "x"), ("b", "y")], [("k",), ("l",)]]
    options = {
        "bounded": frozenset(population.columns),
        "existing": combinations,
    }
    population.add(source, COUNTED, **options)
    assert [population.outcome(n)[1]["holds"] for n in range(3)] == [True, True, True]
    stay = {p: row for p, row in source.items() if p not in (5, 6)}
    population.add({**stay, 2: Row((2,) * 3, source[2].values)}, COUNTED, **options)
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    held = {
        people: [population.outcome(n)[cell]["holds"] for n in range(3)]
        for people, cell in by_people.items()
    }
    assert held[frozenset({2})] == [False, False, False]
    assert held[frozenset({1, 3, 4})] == [True, True, True]
    assert held[frozenset({5, 6})] == [False, False, False]  # a x, with k or l
    measured = {
        people: population.outcome(0)[cell]["measure"] for people, cell in by_people.items()
    }
    assert measured[frozenset({1, 3, 4})] == 2  # of r; p and q have four
    assert measured[frozenset({5, 6})] == 1
    three = {p: row for p, row in stay.items() if p != 2}
    population.add({**three, 4: Row((2,) * 3, source[4].values)}, COUNTED, **options)
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    found = [population.outcome(n)[by_people[frozenset({1, 3})]]["holds"] for n in range(3)]
    assert found == [False, False, False]  # k alone
    # Without the combinations that exist nobody can count the supported ones.
    population.add({}, COUNTED[:1], **options)
    labels = [applied.rule.label for applied in population.applied]
    number = labels.index(COUNTED[1].label)
    assert not any(row["holds"] for row in population.outcome(number).values())


def test_counts_that_are_only_bounds(db: Database) -> None:
    """A group alone in its column is counted then, and no round takes the bound for a sum."""
    exact, bounded = Population(db.owner()), Population(db.owner())
    people = {p: released(1, v) for p, v in enumerate("aab")}
    exact.add(people, rounds=3)
    bounded.add(people, rounds=3, bounded=frozenset("v"), extra=2)
    for population, least in ((exact, {"a": 2, "b": 1}), (bounded, {"a": 0, "b": 0})):
        values = next(iter(population.cells.values()))["values"]
        assert {v: row["own"] for (_, v), row in values.items()} == {"a": 2, "b": 1}
        assert {v: row["at_least"] for (_, v), row in values.items()} == least


@pytest.mark.parametrize("model", [BetaLikeness(0.5, "basic"), TCloseness(0.3)], ids=str)
def test_values_that_people_had_are_compared_too(db: Database, model: Model) -> None:
    """Two of three may have had any value, in a group where each has a third now."""
    population = Population(db.owner())
    rule = Rule(model, "v")
    shares = {"v": {"a": 1 / 3, "b": 1 / 3, "c": 1 / 3}}
    first = {p: released(1, v) for p, v in enumerate("aabbcc")}
    population.add(first, [rule], reference=shares)
    assert {found["holds"] for found in population.outcome().values()} == {True}
    changed = {0: released(2, "b"), 2: released(2, "c"), 4: released(2, "a")}
    population.add({**first, **changed}, [rule], reference=shares)
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    found = population.outcome()[by_people[frozenset(changed)]]
    assert not found["holds"]
    assert found["measure"] == pytest.approx(1)


def test_combinations_of_columns_that_were_never_published_together(db: Database) -> None:
    """Nothing is asked of who left before the other column was published."""
    population = Population(db.owner(), columns=("v", "w"))
    rule = Rule(QSKAnonymity(2, "product", 1), sets=(("v", "w"),))
    population.add({p: released(1, "abcd"[p]) for p in range(4)}, published=("v",))
    both = {p: Row((1, 1), (("abcd"[p],), ("xy"[p],))) for p in range(2)}
    population.add(both, [rule])
    by_people = {frozenset(row["people"]): cell for cell, row in population.cells.items()}
    outcome = population.outcome()
    assert outcome[by_people[frozenset({0, 1})]]["holds"]
    assert by_people[frozenset({2, 3})] not in outcome
