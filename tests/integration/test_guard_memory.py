"""What is remembered of people: made again from versions, lost, and told of."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.run.rebuilding import guarded
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.harness.guarded import remembered
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

PEOPLE = 60
COLUMNS = {"q": "integer", "z": "integer", "person": "text", "s": "text"}
ROLES = {"q": "q", "z": "q", "s": "s"}
K = {"model": "k_anonymity", "k": 4}
L = {"model": "distinct_l_diversity", "column": "s", "l": 2}
ANATOMY = {"model": "anatomy_l_diversity", "column": "s", "l": 3}


def rows(people: int = PEOPLE, seed: int = 7) -> list[list[Any]]:
    rng = random.Random(seed)
    return [[n, rng.randint(0, 30), f"p{n}", rng.choice("abcdefg")] for n in range(people)]


def declared(**changes: Any) -> dict[str, Any]:
    return {**policy(ROLES, [K, L], trust=["source_owner"]), "republication": "allow", **changes}


def history(db: Database) -> None:
    """Versions with newcomers, leavers, changed values, and people who are left out."""
    source = db.connect("source_owner")
    make_table(source, COLUMNS, rows())
    driver.publish(db, declared())
    source.execute("DELETE FROM public.t WHERE q % 7 = 3")
    source.execute("UPDATE public.t SET s = 'h' WHERE id % 9 = 1")
    driver.publish(db, declared(privacy=[{**K, "k": 5}, L], republication="warn"))
    source.execute(
        "INSERT INTO public.t SELECT 500 + n, n, n, 'n', 'c' FROM generate_series(1, 9) n"
    )
    rare = declared(
        release="rare",
        method={"name": "anatomy"},
        privacy=[ANATOMY],
        suppression_limit=0.9,
        on_infeasible="suppress",
    )
    source.execute("UPDATE public.t SET s = 'a' WHERE id % 4 = 0")
    driver.publish(db, rare)


@pytest.mark.slow
def test_made_again_it_is_the_same(db: Database) -> None:
    history(db)
    before = remembered(db)
    conn = db.connect("steward")
    found = guarded(conn, driver.loaded(declared()), rebuild=True)
    assert remembered(db) == before
    (everybody,) = found.audiences
    assert everybody.state == "complete"
    assert everybody.versions == ("r 1", "r 2", "rare 1")
    assert driver.leftovers(db) == []
    assert found.changes == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE {value}",
        "DROP TABLE {own}",
        "INSERT INTO {own} VALUES (1, 1, 1, ARRAY[1])",
        "DELETE FROM {cell} WHERE cell = 1",
        "UPDATE {person} SET cell = 1",
        "DELETE FROM pganon_private.memory",
        "UPDATE pganon_private.memory SET runs = '{{}}'",
    ],
)
def test_a_memory_that_was_changed_is_not_used(db: Database, damage: str) -> None:
    make_table(db.connect("source_owner"), COLUMNS, rows())
    driver.publish(db, declared())
    tables = db.admin.execute(
        "SELECT person_table, cell_table, value_table, own_tables[1] FROM pganon_private.memory"
    ).fetchall()
    names = dict(zip(("person", "cell", "value", "own"), tables[0], strict=True))
    db.admin.execute(damage.format(**names).encode())
    with driver.refused("memory") as caught:
        driver.publish(db, declared())
    assert caught[0].hint == "make it again with `pganon guard POLICY --rebuild`"
    guarded(db.connect("steward"), driver.loaded(declared()), rebuild=True)
    assert driver.publish(db, declared()).version == 2


def test_no_earlier_memory_stays(db: Database) -> None:
    source = db.connect("source_owner")
    make_table(source, COLUMNS, rows())
    for number in (1, 2):
        driver.publish(db, declared())
        source.execute("DELETE FROM public.t WHERE q = %s", [number])
    (kept,) = db.admin.execute(
        "SELECT ARRAY[person_table, cell_table, value_table] || own_tables"
        " FROM pganon_private.memory"
    ).fetchall()
    there = db.admin.execute(
        "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables"
        " WHERE schemaname = 'pganon_private' AND tablename LIKE 'r%guard%'"
    ).fetchall()
    assert sorted(name for (name,) in there) == sorted(name.replace('"', "") for name in kept[0])
    assert len(there) == 5


def test_people_of_nobody(db: Database) -> None:
    conn = db.connect("steward")
    make_table(db.connect("source_owner"), COLUMNS, rows())
    with pytest.raises(PganonError, match="no version is about the people"):
        guarded(conn, driver.loaded(declared()))
