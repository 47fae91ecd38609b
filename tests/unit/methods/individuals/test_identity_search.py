"""DAnonyIR on random tables against its oracle; its elements; large blocks."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pganon.methods.common.search import elements
from pganon.methods.individuals import search
from pganon.methods.individuals.search.conjunction import Every, Individual
from pganon.methods.individuals.search.models import Tally
from tests.support.harness.work import calls
from tests.support.oracles import identity_search as oracle
from tests.support.oracles.identity_search import Cat, Hier, Num, Table
from tests.support.sources import identity_cases as cases

F = Fraction
REGIONS = Hier(
    ("a", "b", "c", "d", "e", None),
    ((frozenset("ab"), frozenset("cd"), frozenset("e")),),
)
ATTRIBUTES = [
    Num(0, 10),
    Num(-3, 4),
    Num(5, 5),
    Cat(("p", "q", "r", None)),
    Cat(("only",)),
    REGIONS,
]
MODELS = [
    ("ir", 1, 1),
    ("ir", 3, 1),
    ("ir", 2, 3),
    ("eir", 2),
    ("eir", 3),
    ("share", F(1, 2), F(1, 2)),
    ("share", F(2, 5), F(3, 5)),
    ("eir share", F(1, 2), F(1, 2)),
    ("eir share", F(3, 5), F(2, 5)),
    ("share", F(1, 3), F(1)),
]


def value(rng: random.Random, attribute: oracle.Attribute) -> Any:
    if isinstance(attribute, Num):
        return rng.choice([None, *range(attribute.low, attribute.high + 1)])
    return rng.choice(attribute.values)


def table_of(rng: random.Random, most: int = 11) -> Table:
    """Few values, so that many distances are equal; some individuals differ in their records."""
    attributes = tuple(rng.choices(ATTRIBUTES, k=rng.randint(1, 3)))
    people = list(range(rng.randint(most // 11, most)))
    rows = []
    for who in people:
        own = tuple(value(rng, attribute) for attribute in attributes)
        for _ in range(rng.choice([1, 1, 2, 3])):
            differs = rng.random() < 0.2
            given = tuple(value(rng, a) for a in attributes) if differs else own
            rows.append((who, given, rng.choice("uuvwxyz")))
    rng.shuffle(people)
    return Table(attributes, rows, people)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.slow
def test_random_tables(model: oracle.Model) -> None:
    rng = random.Random(repr(model))
    for _ in range(40):
        check(table_of(rng), model, rng)
    # Enough for classes to be forgotten and more to be added.
    check(table_of(rng, 44), model, rng)


def check(table: Table, model: oracle.Model, rng: random.Random) -> None:
    seeds = rng.sample(table.order, rng.randint(0, min(2, len(table.order))))
    options = {
        "residual": rng.choice(["restore", "paper"]),
        "handle": rng.choice(["loss", "loss", "suppress"]),
    }
    expected = oracle.danonyir(table, model, seeds, **options)
    found, loss = cases.find(table, model, seeds, **options)
    assert found.classes == expected.classes
    assert found.suppressed == expected.suppressed
    assert found.choices == [
        (what, who, pytest.approx(float(distance), abs=1e-8))
        for what, who, distance in expected.choices
    ]
    assert loss == pytest.approx(float(table.loss(expected.classes, expected.suppressed)))
    assert all(table.satisfied(model, who) for who in found.classes)


@pytest.mark.parametrize("model", [model for model in MODELS if "share" in model[0]])
def test_nobody_who_is_hopeless_could_be_in_a_class(model: oracle.Model) -> None:
    rng = random.Random(repr(model))
    for _ in range(40):
        table = table_of(rng)
        found = search.hopeless(cases.arrays(table)[0].people, model[1])
        assert {table.order[at] for at in found} == oracle.hopeless(table, model[1])


@given(st.data())
def test_the_loss_is_the_sum_of_the_choices(data: st.DataObject) -> None:
    table = table_of(random.Random(data.draw(st.integers(0, 10**6))))
    found, loss = cases.find(table, ("ir", 2, 1), [])
    if not found.suppressed:
        paid = sum(distance for _, _, distance in found.choices)
        assert loss == pytest.approx(paid + float(sum(map(table.base, table.order))), abs=1e-6)


def test_a_class_may_be_made_and_handled_alone() -> None:
    """Individuals left over in one block join classes of another."""
    table = Table((Num(0, 10),), [(who, (who,), "ab"[who % 2]) for who in range(6)], list(range(6)))
    individuals, domains = cases.arrays(table)
    classes = search.Classes(individuals, search.IRKL(2), domains)
    classes.make([0, 1])
    classes.make([4, 5])
    assert classes.handle(2) == search.Choice("residual", 2, pytest.approx(0.4))
    assert classes.handle(3) == search.Choice("residual", 3, pytest.approx(0.4))
    assert [item.members for item in classes.remaining()] == [[0, 1, 2], [4, 5, 3]]
    alone = search.Classes(individuals, search.EIRL(2), domains)
    alone.make([0, 2])
    assert alone.handle(4).what == "suppressed"
    assert alone.handle(1).what == "residual"


@pytest.mark.parametrize("model", [model for model in MODELS if model != ("ir", 1, 1)])
def test_a_class_of_which_a_tally_is_known(model: oracle.Model) -> None:
    """It takes the same individuals as one of which all members are known.

    Of two sensitive columns, of which the second has a model that any individual may break.
    """
    rng = random.Random(repr(model))
    for _ in range(30):
        table = table_of(rng, 22)
        one, domains = cases.arrays(table)
        people = [_with_another_column(rng, person) for person in one.people]
        individuals = dataclasses.replace(one, people=people)
        shares = search.IRAlphaBeta(Fraction(1), Fraction(2, 3), individuals=rng.random() < 0.5)
        every = Every(((0, cases.model_of(model)), (1, shares), (0, search.IRKL(1))), 2)
        found = search.danonyir(individuals, every, domains, handle="suppress")
        whole, known = (search.Classes(individuals, every, domains) for _ in "12")
        for members in found.classes:
            whole.make(members)
            cluster = whole.made[-1].cluster
            held = [[people[at].columns[column] for at in members] for column in range(2)]
            state = every.resume([_tally(column) for column in held])
            known.adopt(cluster.element, cluster.records, state)
        limited = rng.random() < 0.5
        for individual in found.suppressed:
            expected = whole.handle(individual, limited=limited)
            assert known.handle(individual, limited=limited) == expected
        for one, other, members in zip(whole.made, known.made, found.classes, strict=True):
            assert [*members, *other.members] == one.members
            assert other.state.satisfied


def _with_another_column(rng: random.Random, person: search.Person) -> Individual:
    others = Counter(rng.randint(0, 3) for _ in range(person.records))
    return Individual((person, search.Person(others)))


def _tally(people: list[search.Person]) -> Tally:
    return Tally(
        people=len(people),
        records=sum(person.records for person in people),
        largest=max(person.records for person in people),
        of_value=sum((Counter(person.counts) for person in people), Counter()),
        holders=Counter(value for person in people for value in person.counts),
    )


def test_the_nearest_class_may_cost_more_than_suppressing() -> None:
    table = Table((Num(0, 10),), [(0, (0,), "a"), (1, (0,), "b"), (2, (10,), "a")], [0, 1, 2])
    individuals, domains = cases.arrays(table)
    classes = search.Classes(individuals, search.IRKL(2), domains)
    classes.make([0, 1])
    assert classes.handle(2).what == "suppressed"
    assert classes.handle(2, limited=False) == search.Choice("residual", 2, pytest.approx(3))


# -- elements -----------------------------------------------------------------------------------


@given(st.integers(0, 10**6))
@settings(max_examples=50)
def test_costs_of_joins(seed: int) -> None:
    """Of one with many, of pairs, and of every element alone."""
    rng = random.Random(seed)
    for attribute in ATTRIBUTES:
        sets = [frozenset(value(rng, attribute) for _ in range(rng.randint(1, 3))) for _ in "12345"]
        rows = [(at, (v,), "s") for at, one in enumerate(sets) for v in one]
        individuals, (domain,) = cases.arrays(Table((attribute,), rows, list(range(5))))
        parts = individuals.parts[0]
        own = [float(attribute.cost(one)) for one in sets]
        assert domain.costs(parts).tolist() == pytest.approx(own)
        for at, one in enumerate(sets):
            part = domain.part(parts, at)
            expected = [float(attribute.cost(one | other)) for other in sets]
            assert domain.joined_costs(parts, part).tolist() == pytest.approx(expected)
            joins = [domain.join(part, domain.part(parts, other)) for other in range(5)]
            assert [domain.cost(join) for join in joins] == pytest.approx(expected)
            assert domain.part(domain.column(part)[:, None], 0) == part


@pytest.mark.parametrize("number", [2, 63, 64, 65, 200])
def test_many_categories(number: int) -> None:
    domain = search.Categorical(number, number)
    parts = domain.parts([[0], [number - 1], range(number)])
    assert parts.shape == (-(-number // 64), 3)
    assert domain.costs(parts).tolist() == pytest.approx([0, 0, 1])
    part = domain.join(domain.part(parts, 0), domain.part(parts, 1))
    assert domain.joined_costs(parts, part) == pytest.approx([1 / (number - 1)] * 2 + [1])
    assert domain.part(parts, 2) == (1 << number) - 1


def test_bits_without_help_of_numpy() -> None:
    words = np.random.default_rng(1).integers(0, 2**64, (2, 50), dtype=np.uint64)
    expected = [[word.bit_count() for word in row] for row in words.tolist()]
    assert elements._count_bits(words).tolist() == expected
    assert elements.count_bits(words).tolist() == expected


def test_costs_of_a_tree_may_be_given() -> None:
    paths = np.array([[-1, -1], [1, 10], [2, 10], [3, 11]])
    levels = search.Hierarchical(paths, np.tile([0, 0.5, 1], (4, 1)))
    assert levels.costs(levels.parts([[1], [1, 2], [1, 3], [1, 2, 3]])).tolist() == [0, 0.5, 1, 1]


# -- size ---------------------------------------------------------------------------------------


def block(n: int) -> tuple[search.Individuals, list[search.Domain]]:
    rng = np.random.default_rng(5)
    domains = [*(search.Numeric(0, 99) for _ in "123"), *(search.Categorical(9, 10) for _ in "123")]
    places = rng.integers(0, 100, (3, n)).astype(float)
    codes = rng.integers(1, 10, (3, n))
    parts = [domain.parts(at, at) for domain, at in zip(domains[:3], places, strict=True)]
    parts += [d.parts([[code] for code in at]) for d, at in zip(domains[3:], codes, strict=True)]
    values = rng.integers(0, 60, (n, 4)).tolist()
    return search.Individuals(
        parts, [search.Person(dict.fromkeys(v, 1)) for v in values], rng.random(n) * 0
    ), domains


@pytest.mark.parametrize(
    "model", [search.EIRL(8), search.IRKL(6, 6), search.IRAlphaBeta(F(1, 4), F(1, 4))]
)
@pytest.mark.slow
def test_a_block_of_two_thousand(model: search.EIRL | search.IRKL | search.IRAlphaBeta) -> None:
    individuals, domains = block(2000)
    found, work = calls(lambda: search.danonyir(individuals, model, domains))
    assert work < 1_000 * 2000, "work grows with the individuals, not with pairs of them"
    placed = sorted(who for members in found.classes for who in members)
    assert sorted(placed + found.suppressed) == list(range(2000))
    classes = search.Classes(individuals, model, domains)
    for members in found.classes:
        classes.make(members)
        assert classes.made[-1].state.satisfied
