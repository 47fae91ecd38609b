"""The bounds of the guard against all possible worlds of random histories.

Many histories make one population: people of different ones are in no group together. So a few
versions judge hundreds of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.guard.model import ROUNDS
from pganon.guard.rules import Rule
from pganon.privacy.frequency import AnatomyLDiversity, DistinctLDiversity, KAnonymity
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.harness.guarded import Population, Row, as_before
from tests.support.oracles import guard_worlds as oracle

DOMAIN = ("a", "b", "c")
FAR = 1000
"""People and groups of the next history have numbers that are so much higher."""

L = 2
RULES = (
    Rule(KAnonymity(2)),
    Rule(DistinctLDiversity(L), "v"),
    Rule(AnatomyLDiversity(L), "v"),
)

Cells = Mapping[int, dict[str, Any]]


@dataclass(frozen=True)
class Told:
    """A history, and what the guard made of it: its cells, and who is in which."""

    history: oracle.History
    cells: Cells
    worlds: Sequence[oracle.World]

    @property
    def last(self) -> Mapping[int, int]:
        return {
            person: oracle.current_era(self.history, person)
            for person in oracle.people(self.history)
        }


def judged(
    population: Population,
    histories: Sequence[oracle.History],
    after: Callable[[int], None] = lambda number: None,
    *,
    rounds: Sequence[int] = (ROUNDS,),
    **options: Any,
) -> Cells:
    """Publish them as one population, version by version.

    Args:
        rounds: of the versions in turn.
    """
    for number in range(max(map(len, histories))):
        source = {
            FAR * place + person: Row(
                (FAR * place + seen.group,) if seen.group > 0 else (),
                (seen.values,),
                min(seen.group, 0),
            )
            for place, history in enumerate(histories)
            if number < len(history)
            for person, seen in history[number].items()
        }
        taken = rounds[number % len(rounds)]
        figures = population.add(source, RULES, rounds=taken, **options)
        assert figures["guard_certain"] == certain(population.cells)
        after(number)
    return population.cells


def certain(cells: Cells) -> int:
    """People of whom everybody in their cell must have one value."""
    return sum(
        cell["size"]
        for cell in cells.values()
        if cell["seen"] and any(row["at_least"] == cell["size"] for row in cell["values"].values())
    )


def of_history(cells: Cells, place: int) -> Cells:
    """Its cells that were ever in a group; people of all histories are together in the others."""
    found = {}
    for number, cell in cells.items():
        if not cell["seen"]:
            continue
        mine = {person - FAR * place for person in cell["people"] if person // FAR == place}
        assert not mine or len(mine) == len(cell["people"])
        if mine:
            found[number] = {**cell, "people": mine}
    return found


def histories_of(seed: int, count: int, **options: Any) -> list[oracle.History]:
    random = Random(seed)
    most = 5 if options.get("several") else 7
    return [
        oracle.random_history(
            random, most_people=most, versions=random.randint(2, 4), domain=DOMAIN, **options
        )
        for _ in range(count)
    ]


def told(
    population: Population,
    histories: Sequence[oracle.History],
    *,
    several: bool = False,
    **options: Any,
) -> list[Told]:
    cells = judged(population, histories, several=several, **options)
    return [
        Told(
            history,
            of_history(cells, place),
            oracle.worlds(history, DOMAIN, several=several),
        )
        for place, history in enumerate(histories)
    ]


def check_cells(found: Told) -> None:
    """People are together who have the same past, and nobody else."""
    expected = [who for past, who in oracle.cells(found.history).items() if oracle.was_seen(past)]
    assert sorted(map(sorted, expected)) == sorted(
        sorted(cell["people"]) for cell in found.cells.values()
    )
    for cell in found.cells.values():
        assert cell["size"] == len(cell["people"])


def check_bounds(found: Told) -> tuple[int, int]:
    """No world has more people with a value, or fewer; how many bounds are exact, of all."""
    exact = every = 0
    for cell in found.cells.values():
        counts = [oracle.number_having(w, cell["people"], found.last) for w in found.worlds]
        bounds = {value: row for (_, value), row in cell["values"].items()}
        told_of = set(oracle.eras(found.history))
        if not all((person, found.last[person]) in told_of for person in cell["people"]):
            assert not bounds, "nothing was published of these values"
            assert cell["peak"] == [None]
            continue
        for value in DOMAIN:
            row = bounds.get(value, {"at_most": 0, "at_least": 0})
            most, least = max(c[value] for c in counts), min(c[value] for c in counts)
            assert row["at_least"] <= least <= most <= row["at_most"]
            every += 2
            exact += (row["at_least"] == least) + (row["at_most"] == most)
        assert cell["peak"] == [max(row["at_most"] for row in bounds.values())]
    return exact, every


def check_own(found: Told) -> int:
    """Own values are the true ones, or unknown. Returns how many are known."""
    true = oracle.truth(found.history)
    known = 0
    for cell in found.cells.values():
        counts = oracle.number_having(true, cell["people"], found.last)
        rows = [row for row in cell["values"].values() if row["own"] is not None]
        assert len(rows) in (0, len(cell["values"]))
        if rows:
            assert {row["value"]: row["own"] for row in rows if row["own"]} == dict(counts)
            known += 1
    return known


def check_past(found: Told) -> None:
    """What people had before they changed: at most, and how many different values at least."""
    true = oracle.truth(found.history)
    told_eras = oracle.eras(found.history)
    for cell in found.cells.values():
        earlier = {
            era
            for person, era in told_eras
            if person in cell["people"] and era < found.last[person]
        }
        if not earlier:
            assert cell["past"] == [None]
            assert cell["past_own"] == [None]
            continue
        for era in earlier:
            numbers = dict.fromkeys(cell["people"], era)
            most = max(
                max(oracle.number_having(w, cell["people"], numbers).values()) for w in found.worlds
            )
            assert most <= cell["past"][0]
            had = oracle.number_having(true, cell["people"], numbers)
            assert cell["past_own"][0] <= len(had)


def check_posteriors(found: Told, seed: int) -> None:
    """No belief that is exchangeable in cells makes a value likelier than the bound says."""
    likely = oracle.posteriors(found.history, found.worlds, Random(seed))
    of_person = {person: cell for cell in found.cells.values() for person in cell["people"]}
    for ((person, era), value), probability in likely.items():
        cell = of_person[person]
        past = era < found.last[person]
        most = cell["past"][0] if past else cell["values"][1, value]["at_most"]
        assert probability <= most / cell["size"] + 1e-9


def check(found: Told, seed: int) -> tuple[int, int]:
    assert found.worlds
    check_cells(found)
    check_own(found)
    check_past(found)
    check_posteriors(found, seed)
    return check_bounds(found)


@pytest.mark.random_tables
@pytest.mark.parametrize(
    ("several", "rounds", "least"),
    [
        (False, (0,), 0.7),
        (False, (ROUNDS,), 0.95),
        (False, (ROUNDS, 0), 0.7),
        (True, (ROUNDS,), 0.5),
        (True, (0,), 0.4),
    ],
    ids=["no rounds", "rounds", "rounds in turn", "several records", "several, no rounds"],
)
@examples(1)
@given(seed=st.integers(0, 10**6))
def test_bounds_hold_in_every_world(
    db: Database, several: bool, rounds: Sequence[int], least: float, seed: int
) -> None:
    """And most of them are reached in some world."""
    histories = histories_of(seed, 60 if several else 150, several=several)
    exact = every = 0
    for found in told(Population(db.owner()), histories, several=several, rounds=rounds):
        tight, bounds = check(found, seed)
        exact, every = exact + tight, every + bounds
    assert exact / every >= least


def by_people(population: Population) -> list[Any]:
    """Everything that is known of cells, whatever their numbers."""
    known = [
        (
            sorted(cell["people"]),
            {
                key: tuple(row[name] for name in ("own", "at_least", "at_most"))
                for key, row in sorted(cell["values"].items())
            },
            {name: cell[name] for name in ("size", "seen", "peak", "past", "past_own")},
        )
        for cell in population.cells.values()
    ]
    return sorted(known, key=str)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("own_apart", [False, True])
@pytest.mark.parametrize("rounds", [(0,), (ROUNDS,), (ROUNDS, 0)], ids=["none", "all", "in turn"])
def test_a_memory_from_before(
    db: Database, several: bool, own_apart: bool, rounds: Sequence[int]
) -> None:
    histories = histories_of(11, 80, several=several)
    now, before = Population(db.owner()), Population(db.owner())
    judged(now, histories, several=several, rounds=rounds)

    def after(number: int) -> None:
        assert before.memory is not None
        if number < max(map(len, histories)) - 1:
            before.memory = as_before(before.conn, before.memory, own_apart=own_apart)

    judged(before, histories, after, several=several, rounds=rounds)
    assert by_people(before) == by_people(now)


@pytest.mark.random_tables
@examples(1)
@given(seed=st.integers(0, 10**6))
def test_a_union_of_cells_has_no_worse_bound(db: Database, seed: int) -> None:
    """Who cannot tell two cells apart holds nothing for likelier than of one of them."""
    compared = 0
    for found in told(Population(db.owner()), histories_of(seed, 150)):
        cells = [cell for cell in found.cells.values() if cell["values"]]
        for one, other in itertools.combinations(cells, 2):
            people = one["people"] | other["people"]
            worst = max(
                row["at_most"] / cell["size"]
                for cell in (one, other)
                for row in cell["values"].values()
            )
            for world in found.worlds:
                having = oracle.number_having(world, people, found.last)
                assert max(having.values()) / len(people) <= worst + 1e-9
            compared += 1
    assert compared > 100


@pytest.mark.random_tables
@examples(1)
@given(seed=st.integers(0, 10**6))
def test_nobody_of_a_passed_history_is_above_the_promise(db: Database, seed: int) -> None:
    """However people come and go, are left out and change."""
    histories = histories_of(seed, 150, most_groups=1)
    population = Population(db.owner())
    failed: set[int] = set()

    def look(number: int) -> None:
        who = {cell: person // FAR for person, cell in population.cell_of.items()}
        failed.update(
            who[cell]
            for cell, row in population.outcome(2).items()
            if row["judged"] and not row["holds"]
        )

    judged(population, histories, after=look)
    passed = [history for place, history in enumerate(histories) if place not in failed]
    assert passed
    for history in passed:
        found = oracle.worlds(history, DOMAIN)
        likely = oracle.posteriors(history, found, Random(seed))
        assert max(likely.values(), default=0) <= 1 / L + 1e-9
