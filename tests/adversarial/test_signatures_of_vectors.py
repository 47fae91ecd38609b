"""Attacks on versions whose people keep sets of vectors, in several sensitive columns."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from pganon.errors import PrivacyRefusal
from pganon.run.release import run_release
from pganon.sqltools import query
from pganon.steps import State
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles.invariance import Person, Value
from tests.support.sources.invariant import Kept, Vectors, declared_vectors

pytestmark = pytest.mark.primary_server_only

TWO = ("s", "u")


def candidates(kept: Kept) -> dict[Person, list[set[Value]]]:
    """What is left of everybody's values in every column for who has all versions."""
    found: dict[Person, list[set[Value]]] = {}
    for groups in kept.versions:
        for group in groups.values():
            told = [set(values) for values in group.columns]
            for person in group.people:
                before = found.get(person, told)
                found[person] = [one & other for one, other in zip(before, told, strict=True)]
    return found


def start(db: Database, l: int = 3) -> tuple[Kept, Vectors]:  # noqa: E741
    kept = Kept(db, l=l, columns=TWO)
    people: Vectors = {n: ("abc"[n % 3], "xyz"[(n + n // 3) % 3]) for n in range(9)}
    kept.release(people)
    return kept, people


@pytest.mark.slow
def test_versions_cannot_be_intersected(db: Database) -> None:
    """People leave, return and come, also with one value of who left; in releases of two names."""
    kept, people = start(db)
    new: Vectors = {20: ("a", "x"), 21: ("b", "v"), 22: ("d", "y"), 23: ("e", "w")}
    kept.release({n: people[n] for n in (0, 4, 5, 6)})
    kept.release({**people, **new}, release="r_other")
    kept.release({n: people[n] for n in (1, 2, 3)} | new, release="r_other")
    kept.release({n: people[n] for n in (2,)})
    found = candidates(kept)
    assert set(people) <= set(found)
    first = {p: g for groups in kept.versions[::-1] for g in groups.values() for p in g.people}
    assert all(found[p] == [set(values) for values in first[p].columns] for p in found)
    assert all(len(values) >= 3 for columns in found.values() for values in columns)


@pytest.mark.slow
def test_who_left_and_returned_is_nobodys_filler(db: Database) -> None:
    """A place in another set than before would tell the vector that both have in common."""
    kept = Kept(db, columns=TWO)
    people: Vectors = {1: ("a", "x"), 2: ("b", "y")}
    later: Vectors = {3: ("a", "x"), 4: ("c", "z")}
    kept.release(people)
    kept.release(later)
    kept.release({1: people[1], 4: later[4]})
    kept.release(people | later)
    sets = {1: [{"a", "b"}, {"x", "y"}], 3: [{"a", "c"}, {"x", "z"}]}
    assert candidates(kept) == {1: sets[1], 2: sets[1], 3: sets[3], 4: sets[3]}


@pytest.mark.slow
def test_one_value_in_common_fills_no_place(db: Database) -> None:
    """A newcomer with the value of one column would bring another set of vectors: who knows which
    values go together would find those of the others."""
    kept = Kept(db, columns=TWO)
    people: Vectors = {1: ("a", "x"), 2: ("b", "y")}
    kept.release(people)
    groups = kept.release({1: ("a", "x"), 3: ("b", "z"), 4: ("c", "y")})
    assert {group.people for group in groups.values()} == {frozenset({1}), frozenset({3, 4})}


@pytest.mark.slow
@pytest.mark.parametrize("absent", [False, True], ids=["at once", "while absent"])
@pytest.mark.parametrize("place", [0, 1])
def test_values_of_one_column_that_change_are_refused(
    db: Database, absent: bool, place: int
) -> None:
    kept, people = start(db)
    if absent:
        kept.release({n: people[n] for n in people if n != 2})
    before = kept.published("r_t")
    changed = tuple("gout" if n == place else value for n, value in enumerate(people[2]))
    kept.fill({**people, 2: changed})
    with driver.refused("value_changed") as caught:
        kept.release()
    (error,) = caught
    assert isinstance(error, PrivacyRefusal)
    assert error.observed == 1
    assert "gout" not in f"{error} {error.hint}"
    assert kept.published("r_t") == before


def test_values_that_changed_places_are_refused(db: Database) -> None:
    """Two people of a group exchange a value: every column has the same values as before."""
    kept = Kept(db, columns=TWO)
    kept.release({1: ("a", "x"), 2: ("b", "y")})
    kept.fill({1: ("a", "y"), 2: ("b", "x")})
    with driver.refused("value_changed") as caught:
        kept.release()
    (error,) = caught
    assert isinstance(error, PrivacyRefusal)
    assert error.observed == 2


LATER: dict[str, dict[str, Any]] = {
    "one more": {"columns": ("s", "u", "w")},
    "one less": {"columns": ("s",)},
    "others": {"columns": ("u", "w")},
}


@pytest.mark.slow
@pytest.mark.parametrize("later", LATER.values(), ids=LATER.keys())
def test_columns_that_come_later_or_are_left_out(db: Database, later: dict[str, Any]) -> None:
    """Sets of other columns are no sets to each other."""
    kept = Kept(db, l=2, columns=("s", "u", "w"))
    people: Vectors = {n: ("abcd"[n % 4], "xyz"[n % 3], "kmnop"[n % 5]) for n in range(24)}
    kept.fill(people)
    first = declared_vectors(l=2, columns=("s", "u"))
    run_release(driver.loaded(first), dsn=db.dsn("steward"))
    kept.versions.append({})
    kept.fill({n: people[n] for n in people if n % 6})
    with driver.refused("republication"):
        run_release(driver.loaded(declared_vectors(l=2, **later)), dsn=db.dsn("steward"))


@pytest.mark.slow
@pytest.mark.parametrize("order", [("recompute", "invariant"), ("invariant", "recompute")])
def test_no_version_that_keeps_no_sets_stands_beside_one_that_does(
    db: Database, order: tuple[str, str]
) -> None:
    kept, people = Kept(db, columns=TWO), {n: ("abcd"[n % 4], "xyz"[n % 3]) for n in range(12)}
    kept.fill(people)
    first, second = (declared_vectors(l=2, refresh=word) for word in order)
    run_release(driver.loaded(first), dsn=db.dsn("steward"))
    kept.versions.append({})
    new: Vectors = {30: ("a", "z"), 31: ("b", "x"), 32: ("c", "x")}
    kept.fill({n: people[n] for n in range(10)} | new)
    with driver.refused("republication"):
        run_release(driver.loaded(second), dsn=db.dsn("steward"))


@pytest.mark.slow
def test_waiting_for_other_values(db: Database) -> None:
    """Two newcomers that no group can have are tested alone, whoever comes then."""
    kept = Kept(db, columns=TWO)
    people: Vectors = {1: ("a", "x"), 2: ("b", "y")}
    kept.release(people)
    kept.fill(people | {3: ("c", "v"), 4: ("d", "v")})
    with driver.refused("suppression_limit"):
        kept.release(suppression_limit=0)
    everybody = people | {3: ("c", "v"), 4: ("d", "v"), 5: ("e", "w"), 6: ("f", "k")}
    kept.release(everybody)
    kept.release(everybody)
    assert kept.placed == {1, 2, 5, 6}


@pytest.mark.slow
@pytest.mark.parametrize("tables", [1, 2])
def test_counterfeits_of_other_vectors_are_refused(
    db: Database, monkeypatch: pytest.MonkeyPatch, tables: int
) -> None:
    """Were values of nobody put together otherwise in a table of both columns, the row that is as
    before would be that of the one who stayed. In tables of their own there is no such row."""
    kept, people = Kept(db, l=3, columns=TWO), {1: ("a", "x"), 2: ("b", "y"), 3: ("c", "z")}
    method = {"sensitive_tables": tables}
    kept.release(people, method=method)
    kept.fill({1: ("a", "x")})

    def swapped(state: State) -> exp.Select:
        table = {"c": state.work("counterfeit_values")}
        return query(
            "select c.gid, c.v0, lead(c.v1, 1, o.v1) over (order by c.v1) as v1"
            " from c cross join (select min(m.v1) as v1 from m) as o",
            table | {"m": state.work("counterfeit_values")},
        )

    monkeypatch.setattr("pganon.methods.buckets.slamsa.counterfeits", swapped)
    if tables == 2:
        kept.release(method=method)
        return
    with driver.refused("value_sets"):
        kept.release(method=method)
