"""Golden examples of versions of the same people, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pganon.guard.rules import Rule
from pganon.privacy.base import Model
from pganon.privacy.frequency import AnatomyLDiversity, DistinctLDiversity, KAnonymity
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused
from tests.support.harness.guarded import Population, Row, left_out, released
from tests.support.oracles import guard_worlds as oracle

FOUR = {1: released(1, "flu"), 2: released(1, "flu"), 3: released(1, "HIV"), 4: released(1, "cold")}
L2 = (Rule(AnatomyLDiversity(2), "v"),)


def bounds(population: Population, *people: int) -> dict[str, tuple[int, int]]:
    """At least and at most so many of the people, who are a cell, have each value."""
    cell = next(c for c in population.cells.values() if c["people"] == set(people))
    return {value: (row["at_least"], row["at_most"]) for (_, value), row in cell["values"].items()}


@pytest.fixture
def population(db: Database) -> Population:
    return Population(db.owner())


def test_g1_who_leaves_a_group(population: Population) -> None:
    """G1"""
    population.add(FOUR, rounds=1)
    memory = population.memory
    stay = {person: FOUR[person] for person in (1, 2, 4)}
    figures = population.add(stay, L2, rounds=0)
    assert bounds(population, 3) == {"flu": (0, 1), "HIV": (0, 1), "cold": (0, 1)}
    assert figures["guard_certain"] == 0
    assert figures["guard_worst_probability"] == 1
    population.memory = memory
    figures = population.add(stay, L2, rounds=1)
    assert bounds(population, 3)["HIV"] == (1, 1)
    assert bounds(population, 1, 2, 4) == {"flu": (2, 2), "cold": (1, 1)}
    assert figures["guard_certain"] == figures["guard_certain_leavers"] == 1
    assert figures["guard_smallest_cell_leavers"] == 1
    assert figures["guard_people"] == 4


def test_what_whole_cells_have_at_least_stays(population: Population) -> None:
    """Whoever is there, and whoever left, without another round."""
    population.add(FOUR, rounds=1)
    stay = {person: FOUR[person] for person in (1, 2, 4)}
    population.add(stay, rounds=1)
    population.add(stay, rounds=0)
    assert bounds(population, 1, 2, 4) == {"flu": (2, 2), "cold": (1, 1)}
    assert bounds(population, 3)["HIV"] == (1, 1)


def test_what_people_were_promised_is_of_versions_that_they_are_in(population: Population) -> None:
    """Neither who left nor who is left out was released under the models of the version."""
    weak, strong = Rule(KAnonymity(2)), Rule(KAnonymity(3))
    population.add(FOUR, [weak])
    population.add(
        {1: FOUR[1], 2: FOUR[2], 4: left_out(0, "cold"), 5: left_out(-1, "flu")}, [strong]
    )
    assert population.memory is not None
    floors = population.memory.floors
    found = {p: cell["floor"] for cell in population.cells.values() for p in cell["people"]}
    assert [floors[found[person] - 1] for person in (1, 2)] == [(strong,)] * 2
    assert [floors[found[person] - 1] for person in (3, 4)] == [(weak,)] * 2
    assert found[5] == 0


def test_values_that_nobody_can_tell_count_as_one(population: Population) -> None:
    """Of two parts that are missing, each may have what the other has."""
    people = {p: released(1, v) for p, v in enumerate("aabbcc")}
    population.add(people)
    gone = {person: left_out(-1, row.values[0][0]) for person, row in people.items() if person > 3}
    figures = population.add({0: people[0], 2: people[2], **gone})
    assert figures["guard_fewest_values"] == figures["guard_fewest_values_leavers"] == 1


def test_rounds_go_on_while_they_help(population: Population) -> None:
    """From no lower bounds at all it takes three to know that HIV left."""
    population.add(FOUR, rounds=0)
    memory = population.memory
    stay = {person: FOUR[person] for person in (1, 2, 4)}
    for rounds, expected in ((1, 0), (2, 0), (3, 1), (5, 1)):
        population.memory = memory
        figures = population.add(stay, rounds=rounds)
        assert bounds(population, 3)["HIV"][0] == expected
        assert figures["guard_certain"] == expected
        assert figures["guard_rounds"] == min(rounds, 4)


def test_the_smallest_count_of_all_versions_bounds(population: Population) -> None:
    population.add({p: released(1, v) for p, v in enumerate("aaabbb")}, rounds=0)
    halves = {p: released(1 + p % 2, v) for p, v in enumerate("aaabbb")}
    population.add(halves, rounds=0)
    assert bounds(population, 0, 2, 4) == {"a": (0, 2), "b": (0, 1)}
    assert bounds(population, 1, 3, 5) == {"a": (0, 1), "b": (0, 2)}


def test_g2_what_intervals_do_not_see(population: Population) -> None:
    """G2: two worlds, in both of which p1 has 0; nobody is reported certain, but it is refused."""
    values = dict(enumerate("10010"))
    history = [
        {p: oracle.Seen(group, (values[p],)) for p, group in groups.items()}
        for groups in ({0: 1, 2: 1, 3: 2, 4: 2}, {0: 1, 1: 1, 4: 1, 2: 2, 3: 2})
    ]
    found = oracle.worlds(history, "01")
    assert len(found) == 2
    assert {world[1, 0] for world in found} == {("0",)}
    versions = [{p: released(s.group, *s.values) for p, s in v.items()} for v in history]
    population.add(versions[0], rounds=3)
    memory = population.memory
    figures = population.add(versions[1], rounds=3)
    assert bounds(population, 1) == {"0": (0, 1), "1": (0, 1)}
    assert figures["guard_certain"] == 0
    population.memory = memory
    with refused("republication"):
        population.add(versions[1], L2, republication="refuse")


def owned(cell: dict[str, Any]) -> dict[str, int | None]:
    """How many people of a cell have a value, as far as it is known."""
    return {value: row["own"] for (_, value), row in cell["values"].items()}


def test_g3_groups_that_unite(population: Population) -> None:
    """G3: undivided cells pass, with the bounds that they had."""
    two = {**FOUR, **{p + 10: released(2, *row.values[0]) for p, row in FOUR.items()}}
    population.add(two, L2, republication="refuse")
    union = {person: released(1, *row.values[0]) for person, row in two.items()}
    population.add(union, L2, republication="refuse")
    for people in ((1, 2, 3, 4), (11, 12, 13, 14)):
        most = {value: high for value, (_, high) in bounds(population, *people).items()}
        assert most == {"flu": 2, "HIV": 1, "cold": 1}
    own = {frozenset(cell["people"]): owned(cell) for cell in population.cells.values()}
    assert set(own) == {frozenset({1, 2, 3, 4}), frozenset({11, 12, 13, 14})}
    assert all(found == {"flu": 2, "HIV": 1, "cold": 1} for found in own.values())
    assert not any(cell["judged"] for cell in population.outcome().values())


@pytest.mark.parametrize("columns", [("v", "w"), ("w", "v")])
def test_figures_are_of_the_worst_column(db: Database, columns: tuple[str, str]) -> None:
    population = Population(db.owner(), columns)
    varied = {"v": "aabc", "w": "xxxy"}
    alike = {"v": "abcd", "w": "xxxx"}
    source = {
        10 * group + place: Row((group, group), tuple((shown[name][place],) for name in columns))
        for group, shown in ((1, varied), (2, alike))
        for place in range(4)
    }
    only = {person: row for person, row in source.items() if person < 20}
    figures = population.add(only, rounds=1)
    assert figures["guard_worst_probability"] == 0.75
    assert figures["guard_fewest_values"] == 2
    assert figures["guard_certain"] == 0
    figures = Population(db.owner(), columns).add(source, rounds=1)
    assert figures["guard_worst_probability"] == 1
    assert figures["guard_fewest_values"] == 1
    assert figures["guard_certain"] == 4


def test_e17_two_pairings_tell_everything(population: Population) -> None:
    """E17: one consistent world, though each version alone is 2-diverse."""
    cancers = ("Lung", "Liver", "Bladder", "Skin")
    groups = ((1, 1, 2, 2), (1, 2, 2, 1))
    versions = [
        {p: released(g, c) for p, (g, c) in enumerate(zip(pairs, cancers, strict=True))}
        for pairs in groups
    ]
    population.add(versions[0], L2, republication="refuse")
    memory = population.memory
    figures = population.add(versions[1], L2)
    assert (figures["guard_certain"], figures["guard_above"]) == (4, 4)
    population.memory = memory
    with refused("republication") as raised:
        population.add(versions[1], L2, republication="refuse")
    assert (raised[0].model, raised[0].required, raised[0].observed) == (
        "anatomy_l_diversity",
        2,
        1,
    )  # type: ignore[attr-defined]


CHANGES: Mapping[str, tuple[Mapping[int, Row], Model, bool]] = {
    "lone newcomer": ({**FOUR, 5: released(1, "flu")}, KAnonymity(2), True),
    "two newcomers": (
        {**FOUR, 5: released(1, "flu"), 6: released(1, "cold")},
        KAnonymity(2),
        False,
    ),
    "two newcomers with one value": (
        {**FOUR, 5: released(1, "flu"), 6: released(1, "flu")},
        DistinctLDiversity(2),
        True,
    ),
    "all leave": ({}, KAnonymity(4), False),
    "one is held back": ({**FOUR, 3: left_out(-1, "HIV")}, KAnonymity(2), True),
    "one is excluded": ({**FOUR, 3: left_out(0, "HIV")}, KAnonymity(2), True),
    "one changed": ({**FOUR, 3: released(1, "cold")}, KAnonymity(2), True),
    "all changed": (
        {p: released(1, v) for p, v in ((1, "HIV"), (2, "cold"), (3, "flu"), (4, "flu"))},
        KAnonymity(4),
        False,
    ),
    "k raised for a whole cell": (FOUR, KAnonymity(5), False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_refused(population: Population, change: str) -> None:
    source, model, expected = CHANGES[change]
    rules = [Rule(model, "v" if model.needs_values else None)]
    population.add(FOUR)
    if expected:
        with refused("republication"):
            population.add(source, rules, republication="refuse")
    else:
        population.add(source, rules, republication="refuse")


def test_released_after_it_was_held_back(population: Population) -> None:
    """The first group after -1 is judged: who was left out is alone in it."""
    population.add({**FOUR, 5: left_out(-1, "flu"), 6: left_out(0, "cold")})
    source = {**FOUR, 5: released(1, "flu"), 6: released(1, "cold"), 7: released(1, "HIV")}
    figures = population.add(source, [Rule(KAnonymity(2))])
    sizes = {frozenset(c["people"]): c["size"] for c in population.cells.values()}
    assert sizes[frozenset({5})] == 1
    assert sizes[frozenset({6, 7})] == 2  # 0 is like being absent
    assert figures["guard_below_k"] == figures["guard_below_k_newcomers"] == 1


def test_k_lowered_is_still_owed_to_who_was_promised_more(population: Population) -> None:
    people = {p: released(1, v) for p, v in enumerate("aabbcc")}
    population.add(people, [Rule(KAnonymity(4))])
    memory = population.memory
    halves = {p: released(1 + p // 3, *row.values[0]) for p, row in people.items()}
    more = {**halves, **{p: released(3, "a") for p in (10, 11)}}
    lowered = [Rule(KAnonymity(2))]
    with refused("republication") as raised:
        population.add(more, lowered, republication="refuse")
    assert raised[0].required == 4  # type: ignore[attr-defined]
    population.memory = memory
    population.add(more, lowered, republication="refuse", strongest=False)
    floors = {frozenset(c["people"]): c["floor"] for c in population.cells.values()}
    assert population.memory is not None
    kept = population.memory.floors
    assert kept[floors[frozenset({10, 11})] - 1] == tuple(lowered)
    assert kept[floors[frozenset({0, 1, 2})] - 1] == (Rule(KAnonymity(4)),)


def test_other_columns_of_the_same_people(db: Database) -> None:
    """A column that was not published for them before is judged for whole cells, too."""
    population = Population(db.owner(), ("v", "w"))
    people = dict(enumerate("abab"))
    population.add({p: Row((1,), ((v,),)) for p, v in people.items()}, published=["v"])
    second = [Rule(DistinctLDiversity(2), "w")]
    with refused("republication"):
        population.add(
            {p: Row((1,), (("x",),)) for p in people},
            second,
            published=["w"],
            republication="refuse",
        )
    both: dict[str, Any] = {"published": ["w"], "republication": "refuse"}
    population.add({p: Row((1,), (("xyxy"[p],),)) for p in people}, second, **both)
    cell = next(iter(population.cells.values()))
    assert cell["peak"] == [2, 2]
    assert set(cell["values"]) == {(1, "a"), (1, "b"), (2, "x"), (2, "y")}


def test_the_order_of_versions_makes_no_other_cells(db: Database) -> None:
    versions = [
        {p: released(1 + (p * step) % 3, "ab"[p % 2]) for p in range(12) if p % (step + 3)}
        for step in (1, 2, 5)
    ]
    found = []
    for order in ((0, 1, 2), (2, 0, 1)):
        population = Population(db.owner())
        for number in order:
            population.add(versions[number])
        found.append({frozenset(c["people"]) for c in population.cells.values()})
    assert found[0] == found[1]


def test_a_class_that_is_gone_as_a_whole_has_no_leavers(population: Population) -> None:
    others = {p: released(2, v) for p, v in ((11, "a"), (12, "b"))}
    population.add({**FOUR, **others})
    stay = {p: FOUR[p] for p in (1, 2, 3)}
    figures = population.add({**stay, 21: released(1, "flu")})
    assert figures["guard_people"] == 7
    assert figures["guard_people_leavers"] == 1
    assert figures["guard_people_newcomers"] == 1
    assert figures["guard_people_changed"] == 0
