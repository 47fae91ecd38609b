"""What the guard holds against the cells of a version, for every model, and for whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.guard.rules import Rule
from pganon.privacy.frequency import (
    AnatomyLDiversity,
    DistinctLDiversity,
    EntropyLDiversity,
    KAnonymity,
    RelativeFrequency,
    SlicingLDiversity,
)
from pganon.privacy.likeness import BetaLikeness, DeltaDisclosure, TCloseness
from tests.support.harness.cluster import Database
from tests.support.harness.examples import examples
from tests.support.harness.guarded import Population, Row
from tests.support.oracles import guard_rules as oracle
from tests.support.oracles import guard_worlds

SHARES = {"a": Fraction(1, 2), "b": Fraction(1, 4), "c": Fraction(1, 4)}
Holds = Callable[[oracle.Cell], bool]

RULES: Mapping[Rule, Holds] = {
    Rule(KAnonymity(2)): lambda cell: cell.size >= 2,
    Rule(RelativeFrequency(0.6), "v"): lambda cell: oracle.alpha(cell, Fraction(3, 5)),
    Rule(AnatomyLDiversity(2), "v"): lambda cell: oracle.frequency_l(cell, 2),
    Rule(DistinctLDiversity(2), "v"): lambda cell: oracle.distinct_l(cell, 2),
    Rule(BetaLikeness(0.5, "basic"), "v"): lambda cell: oracle.beta_basic(
        cell, Fraction(1, 2), SHARES
    ),
    Rule(TCloseness(0.5), "v"): lambda cell: oracle.t_equal(cell, Fraction(1, 2), SHARES),
    Rule(DeltaDisclosure(1.0), "v"): lambda cell: oracle.delta(cell, 1.0, SHARES),
}


def as_cell(row: Mapping[str, Any]) -> oracle.Cell:
    rows = {value: found for (_, value), found in row["values"].items()}
    own = None
    if all(found["own"] is not None for found in rows.values()):
        own = [value for value, found in rows.items() for _ in range(found["own"])]
    return oracle.Cell(
        row["size"],
        {value: found["at_most"] for value, found in rows.items()},
        {value: found["at_least"] for value, found in rows.items() if found["at_least"]},
        own,
        row["past"][0],
        row["past_own"][0],
    )


def source(version: Mapping[int, guard_worlds.Seen]) -> dict[int, Row]:
    return {
        person: Row((seen.group,) if seen.group > 0 else (), (seen.values,), min(seen.group, 0))
        for person, seen in version.items()
    }


@pytest.mark.random_tables
@examples(2)
@given(seed=st.integers(0, 10**6))
def test_every_model_by_its_definition(db: Database, seed: int) -> None:
    random = Random(seed)
    values = random.choices("abc", k=120)
    population = Population(db.owner())
    before: dict[frozenset[int], bool] = {}  # seen cells, and whether their values were told
    last: dict[int, str] = {}
    met = set()
    for _ in range(3):
        for person in random.sample(range(120), 4):
            values[person] = random.choice("abc")
        version = {
            person: guard_worlds.Seen(random.choice((1, 2, 3, 4, -1, 0)), (values[person],))
            for person in random.sample(range(120), 110)
        }
        now = {person: seen.values[0] for person, seen in version.items()}
        changed = {person for person in now if now[person] != last.get(person, now[person])}
        last |= now
        shares = {value: float(share) for value, share in SHARES.items()}
        population.add(source(version), RULES, reference={"v": shares}, rounds=3)
        cells = population.cells
        for number, holds in enumerate(RULES.values()):
            found = population.outcome(number)
            of_people = number == 0
            for cell, row in cells.items():
                checked = as_cell(row)
                about = row["seen"] and (of_people or checked.told)
                assert (cell in found) == about
                if about:
                    assert found[cell]["holds"] == holds(checked), (number, checked)
                    people = frozenset(row["people"])
                    whole = people in before and not people & changed
                    fresh = whole and not of_people and checked.most and not before[people]
                    assert found[cell]["judged"] == (not whole or bool(fresh))
                    met.add((number, found[cell]["holds"], whole))
        seen_cells = [row for row in cells.values() if row["seen"]]
        before = {frozenset(row["people"]): bool(row["values"]) for row in seen_cells}
    assert {(number, holds) for number, holds, _ in met} >= {(0, True), (0, False), (6, False)}
    assert any(whole for *_, whole in met)


def test_entropy_of_own_records(db: Database) -> None:
    """Bounds say nothing of it; what is not known misses it."""
    population = Population(db.owner())
    rule = Rule(EntropyLDiversity(2), "v")
    first = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
    population.add({p: Row((1,), ((v,),)) for p, v in first.items()}, [rule])
    assert [row["holds"] for row in population.outcome().values()] == [True]
    population.add({p: Row((1,), ((v,),)) for p, v in first.items() if p != 6}, [rule])
    by_size = {row["size"]: row for row in population.outcome().values()}
    assert by_size[5]["holds"]
    assert not by_size[1]["holds"]  # who left has one value, as the owner knows
    assert by_size[1]["measure"] == pytest.approx(1)
    population.add({p: Row((1,), ((first[p],),)) for p in (1, 2, 3)}, [rule])
    by_size = {row["size"]: row for row in population.outcome().values() if row["judged"]}
    assert by_size[3]["measure"] == pytest.approx(1.8899, abs=1e-4)  # a, a, b
    assert by_size[2]["measure"] == pytest.approx(2)  # b, c: all who left
    assert [by_size[n]["holds"] for n in (2, 3)] == [True, False]


def test_values_before_several_changes_are_unknown(db: Database) -> None:
    """Of the last change alone they would be known; whoever changed twice has others, too."""
    population = Population(db.owner())
    rule = Rule(EntropyLDiversity(2), "v")
    for values in ("aabb", "ccdd"):
        population.add({p: Row((1,), ((v,),)) for p, v in enumerate(values)}, [rule])
        assert [row["holds"] for row in population.outcome().values()] == [True]
    population.add({p: Row((1,), ((v,),)) for p, v in enumerate("eeff")}, [rule])
    assert [row["holds"] for row in population.outcome().values()] == [False]


def test_rows_of_several_columns(db: Database) -> None:
    """A row is at most as frequent as the least frequent of its values."""
    population = Population(db.owner(), columns=("v", "w"))
    rule = Rule(SlicingLDiversity(4, level="tuple"), sets=(("v", "w"),))
    people = {
        p: Row((1, 1), ((v,), (w,))) for p, (v, w) in enumerate(zip("aabb", "klmn", strict=True))
    }
    assert population.add(people, [rule])["guard_above"] == 0
    (found,) = population.outcome().values()
    assert (found["measure"], found["holds"]) == (4, True)
    same = {
        p: Row((1, 1), ((v,), (w,))) for p, (v, w) in enumerate(zip("ccdd", "kkll", strict=True))
    }
    assert population.add(same, [rule])["guard_above"] == 4
