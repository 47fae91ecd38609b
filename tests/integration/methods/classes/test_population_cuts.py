"""Mondrian under models that count people of a population, against brute force."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import os
import random
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from pganon.errors import PganonError, PolicyError
from pganon.publish import lifecycle
from tests.integration.methods.classes.test_mondrian import check_classes, parts, satisfied
from tests.support.harness.driver import Connection, drop_leftovers, publish, refused, run
from tests.support.harness.examples import examples
from tests.support.oracles import covered
from tests.support.oracles import definitions as oracle
from tests.support.oracles.definitions import Group
from tests.support.sources.builders import Case, cases, make_table, policy

pytestmark = pytest.mark.primary_server_only

PEOPLE = "public.people"
Tables = tuple[Connection, Connection]


@pytest.fixture
def tables(db: Any) -> Tables:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def anybody(rng: random.Random, kind: str) -> Any:
    """A value that the source may lack."""
    if rng.random() < 0.15:
        return None
    match kind:
        case "integer":
            return rng.randint(-8, 18)
        case "numeric":
            return Decimal(rng.randint(-15, 45)) / 8
        case "date":
            return dt.date(1999, 12, 20) + dt.timedelta(days=rng.randint(0, 30))
        case "boolean":
            return rng.random() < 0.5
        case _:
            return rng.choice([*"abcdefgz", "xs", "m", "huge"])


def population(rng: random.Random, case: Case) -> list[list[Any]]:
    """The people of the source, and others who differ from one of them in one or two values."""
    kinds = list(case.columns.values())[:-1]
    people = [list(row[:-1]) for row in case.rows]
    for _ in range(rng.randint(0, 2 * len(people))):
        near = list(rng.choice(people))
        for _ in range(rng.randint(0, 2)):
            place = rng.randrange(len(near))
            near[place] = anybody(rng, kinds[place])
        people.append(near)
    return people


def models(rng: random.Random) -> list[dict[str, Any]]:
    k_map = {"model": "k_map", "k": rng.randint(2, 8), "population": PEOPLE}
    attack = {"model": "no_attack", "gain": 3 * rng.randint(1, 4), "cost": 3, "population": PEOPLE}
    delta = {"model": "delta_presence", "population": PEOPLE, "max": rng.choice([0.5, 0.7, 0.9])}
    k = {"model": "k_anonymity", "k": rng.randint(2, 3)}
    diverse = {"model": "distinct_l_diversity", "column": "secret", "l": 2}
    return rng.choice(
        [[k_map], [k, k_map], [delta], [k_map, delta], [k, attack], [diverse, k_map], [k, delta]]
    )


def shown(case: Case, group: Group) -> covered.Shown:
    """What the published values of a group cover."""
    found: list[Any] = []
    for i, attribute in enumerate(case.attributes):
        value, null = attribute.published(record.qi[i] for record in group)
        if value is None:
            found.append((lambda other: False, null))
        elif isinstance(attribute, oracle.Tree) and not isinstance(attribute, oracle.Intervals):
            paths = attribute.paths
            found.append((lambda other, v=value, p=paths: v in p.get(other, ()), null))
        else:
            found.append((lambda other, v=value: other in v, null))
    return found


@pytest.mark.random_tables
@examples(12)
@given(case=cases(models=False), seed=st.integers(0, 10**9))
@pytest.mark.slow
def test_classes_are_those_of_the_brute_force(tables: Tables, case: Case, seed: int) -> None:
    rng = random.Random(seed)
    source, owner = tables
    people, privacy = population(rng, case), models(rng)
    case.policy["privacy"] = privacy
    case.policy["on_infeasible"] = "refuse"
    make_table(source, case.columns, case.rows)
    types = dict(list(case.columns.items())[:-1])
    make_table(source, types, people, name=("public", "people"))
    drop_leftovers(owner)

    def holds(group: Group) -> bool:
        among = covered.number(shown(case, group), people)
        return all(_holds(model, group, among) for model in privacy)

    records = case.records
    started = parts(case, records)
    released = [record for part in started for record in part]
    for i, attribute in enumerate(case.attributes):
        attribute.released = {record.qi[i] for record in released}
    if not started or not all(map(holds, started)):
        with pytest.raises(PganonError) as caught:
            run(owner, case.policy)
        expected = ("infeasible", "all_suppressed", "too_few_records")
        assert caught.value.code in expected, (seed, caught.value)
        return
    smallest = max(
        model["k"] if model["model"] == "k_anonymity" else 2 if "l" in model else 1
        for model in privacy
    )
    choose = case.policy["method"]["choose"]
    mondrian = oracle.Mondrian(case.attributes, holds, smallest, choose, False)
    groups = [group for part in started for group in mondrian.partition(part)]
    classes = [(shown(case, group), len(group)) for group in groups]
    chances = covered.presences(classes, people)
    limits = [Fraction(str(model["max"])) for model in privacy if "max" in model]
    if any(max(chances) > limit for limit in limits):  # of a person in several classes
        with pytest.raises(PganonError) as caught:
            run(owner, case.policy)
        assert caught.value.code == "verification", seed
        assert "several classes cover" in (caught.value.hint or ""), seed
        return
    staged = run(owner, case.policy)
    check_classes(staged, case, groups, [], [])
    least = min(covered.number(one, people) for one, _ in classes)
    for model in privacy:
        if model["model"] in ("k_map", "no_attack"):
            assert staged.verified("k_map") == [least], seed
        if model["model"] == "delta_presence":
            assert staged.verified("delta_presence") == pytest.approx([float(max(chances))])


def _holds(model: dict[str, Any], group: Group, among: int) -> bool:
    match model["model"]:
        case "k_map":
            return among >= model["k"]
        case "no_attack":
            return model["gain"] < model["cost"] * among
        case "delta_presence":
            return len(group) <= Fraction(str(model["max"])) * among
        case _:
            return satisfied(model, group, [])


# -- by hand -------------------------------------------------------------------------------------


def ages(source: Connection, records: Sequence[int], people: Sequence[int]) -> None:
    make_table(source, {"x": "int", "s": "int"}, [[x, n] for n, x in enumerate(records)])
    make_table(source, {"x": "int"}, [[x] for x in people], name=("public", "people"))


K_MAP = {"model": "k_map", "k": 3, "population": PEOPLE}
QI = {"x": "q", "s": "i"}


def test_people_between_the_records_of_a_class(tables: Tables) -> None:
    """A cut beside 1 or 9 leaves a record alone with one person; 1 to 5 and 6 to 9 are enough."""
    source, owner = tables
    ages(source, [1, 5, 6, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9])
    staged = run(owner, policy(QI, [K_MAP]))
    assert (len(staged.members), staged.verified("k_map")) == (2, [4])
    drop_leftovers(owner)
    with refused("infeasible") as caught:
        run(owner, policy(QI, [{**K_MAP, "k": 10}]))
    assert "the best reachable is k = 9" in str(caught[0])


def test_the_nearest_cut_that_leaves_people_enough(tables: Tables) -> None:
    """The one in the middle leaves 2 people to 6 and 9; that beside 1 leaves 3 to each side."""
    source, owner = tables
    ages(source, [1, 5, 6, 9], [1, 1, 1, 5, 6, 9])
    staged = run(owner, policy(QI, [K_MAP]))
    assert sorted(map(len, staged.members.values())) == [1, 3]


def test_people_below_the_label_of_a_class(tables: Tables) -> None:
    """One label is a value of its own; below the other are people whose values the source lacks."""
    source, owner = tables
    rows = [[x, n] for n, x in enumerate("aabc")]
    make_table(source, {"x": "text", "s": "int"}, rows)
    people = [[x] for x in ("a", "a", "a", "b", "c", "d", "e")]
    make_table(source, {"x": "text"}, people, name=("public", "people"))
    tree = {"all": {"one": ["a"], "more": ["b", "c", "d"]}}
    columns = {**QI, "x": {"role": "quasi_identifying", "hierarchy": {"inline": tree}}}
    staged = run(owner, policy(columns, [K_MAP]))
    assert (len(staged.members), staged.verified("k_map")) == (2, [3])


def test_the_least_chance_is_verified_alone(tables: Tables) -> None:
    """4 of 11 people have 0.36; cut, as `max` allows, 2 of 8 have 0.25."""
    source, owner = tables
    ages(source, [1, 5, 6, 9], [1, 5, 2, 2, 2, 2, 2, 2, 6, 9, 8])
    delta = {"model": "delta_presence", "population": PEOPLE, "max": 0.7, "min": 0.25}
    declared = policy(QI, [{"model": "k_anonymity", "k": 2}, delta])
    assert run(owner, declared).verified("delta_presence") == pytest.approx([2 / 3, 0.25])
    drop_leftovers(owner)
    with refused("verification") as caught:
        run(owner, policy(QI, [declared["privacy"][0], {**delta, "min": 0.3}]))
    assert "requires min >= 0.3; the staged release measures 0.25" in str(caught[0])


def test_values_of_suppressed_records_cover_nobody(tables: Tables) -> None:
    """m is between s and xl, and no set shows it."""
    source, owner = tables
    rows = [["s", 1, 0], ["xl", 1, 1], ["m", None, 2]]
    make_table(source, {"x": "text", "y": "int", "s": "int"}, rows)
    people = [[size, 1] for size in ("s", "xl", "m", "m")]
    make_table(source, {"x": "text", "y": "int"}, people, name=("public", "people"))
    columns = {
        "x": {"type": "ordinal", "order": ["s", "m", "xl"]},
        "y": {"nulls": "suppress"},
        "s": "i",
    }
    declared = policy(columns, [{**K_MAP, "k": 2}], suppression_limit=0.5)
    assert run(owner, declared).verified("k_map") == [2]
    drop_leftovers(owner)
    with refused("infeasible") as caught:
        run(owner, {**declared, "privacy": [K_MAP]})
    assert "the best reachable is k = 2" in str(caught[0])


def test_many_columns(tables: Tables) -> None:
    source, owner = tables
    names = [f"q{i}" for i in range(21)]
    rows = [[*[n % 2 if i else n for i in range(21)], n] for n in range(6)]
    make_table(source, {**dict.fromkeys(names, "int"), "s": "int"}, rows)
    people = [row[:-1] for row in rows]
    make_table(source, dict.fromkeys(names, "int"), people, name=("public", "people"))
    staged = run(owner, policy({**dict.fromkeys(names, "q"), "s": "i"}, [K_MAP]))
    assert staged.verified("k_map") == [3]


def test_cuts_are_undone_beside_it(tables: Tables) -> None:
    """What is undone is a class that was cut before, and covers people enough."""
    source, owner = tables
    ages(source, list(range(0, 40, 2)), range(40))
    average = {"model": "average_risk", "risk": 0.2}
    assert len(run(owner, policy(QI, [K_MAP])).members) == 8
    drop_leftovers(owner)
    staged = run(owner, policy(QI, [K_MAP, average]))
    assert len(staged.members) == 4
    assert staged.verified("k_map")[0] >= 3


def test_a_release_that_counts_people_has_no_increments(tables: Tables) -> None:
    ages(tables[0], [1], [1])
    growing = {"refresh": "increments", "republication": "refuse"}
    declared = policy({"x": "q", "s": {"role": "individual"}}, [K_MAP], **growing)
    with pytest.raises(PolicyError, match="increments are not available with k_map"):
        run(tables[1], declared)
    declared |= {"privacy": [{"model": "k_anonymity", "k": 2}], "report": {"population": PEOPLE}}
    with pytest.raises(PolicyError, match="increments are not compared with a population"):
        run(tables[1], declared)


def test_sets_of_too_many_values(tables: Tables) -> None:
    source, owner = tables
    rows = [[f"v{n}", n] for n in range(600)]
    make_table(source, {"x": "text", "s": "int"}, rows)
    make_table(source, {"x": "text"}, [row[:1] for row in rows], name=("public", "people"))
    with refused("hierarchy") as caught:
        run(owner, policy(QI, [K_MAP]))
    assert "column x has 600 values, too many" in str(caught[0])


def test_verify_counts_in_the_copy(db: Any, tables: Tables) -> None:
    source, owner = tables
    ages(source, [1, 5, 6, 9], range(1, 10))
    delta = {"model": "delta_presence", "population": PEOPLE, "max": 0.5}
    done = publish(db, policy(QI, [K_MAP, delta]))
    source.execute("DROP TABLE public.people, public.t")
    held = {one.model: one.holds for one in lifecycle.verify(owner, "r")}
    assert held["k_map"]
    assert held["delta_presence"]
    table = sql.Identifier("pganon_private", f"r{done.run_id}_population")
    db.admin.execute(sql.SQL("DELETE FROM {} WHERE q0 = 3").format(table))
    assert not all(one.holds for one in lifecycle.verify(owner, "r"))
    db.admin.execute(sql.SQL("DELETE FROM {} WHERE q0 > 5").format(table))  # nobody for a class
    held = {one.model: one.holds for one in lifecycle.verify(owner, "r")}
    assert not held["k_map"]


# -- Adult ---------------------------------------------------------------------------------------

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult"
S6 = ("age", "sex", "race", "marital-status", "education", "native-country")


@pytest.mark.slow
@pytest.mark.skipif(not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult")
def test_adult_among_its_people(tables: Tables) -> None:
    """In itself every class covers its own records alone; every tenth record among all people."""
    source, owner = tables
    with gzip.open(ADULT / "arx/adult.csv.gz", "rt") as file:
        rows = [
            [int(row["age"]), *[row[n] for n in S6[1:]]]
            for row in csv.DictReader(file, delimiter=";")
        ]
    types = {"age": "integer", **dict.fromkeys(S6[1:], "text")}
    make_table(source, types, rows, name=("public", "people"))
    make_table(source, types, rows)
    k_map = {"model": "k_map", "k": 10, "population": PEOPLE}
    columns: dict[str, Any] = dict.fromkeys(S6, "q")
    whole = run(owner, policy(columns, [k_map]))
    assert (len(whole.members), whole.verified("k_map")) == (1396, [10])
    drop_leftovers(owner)
    make_table(source, types, rows[::10])
    average = {"model": "average_risk", "risk": 0.09, "population": PEOPLE}
    k = {"model": "k_anonymity", "k": 2}
    part = run(owner, policy(columns, [k, {**k_map, "k": 2}, average]))
    assert len(part.members) == pytest.approx(893, abs=10)
    assert part.verified("k_map") == [2]
    assert part.verified("average_risk") == pytest.approx([0.0823], abs=0.002)
