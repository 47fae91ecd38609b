"""`aliases`: people whose key changed are the people whom earlier versions knew."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon.errors import PolicyError
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

L = {"model": "distinct_l_diversity", "column": "s", "l": 3}
PEOPLE = 48


@pytest.fixture
def source(db: Database) -> Database:
    rng = random.Random(3)
    rows = [[f"p{n}", rng.randint(0, 40), rng.choice("abcdef")] for n in range(PEOPLE)]
    make_table(db.connect("source_owner"), {"who": "text", "q": "integer", "s": "text"}, rows)
    listed(db)
    return db


def change(db: Database, text: str) -> None:
    db.connect("source_owner").execute(text.encode())


def listed(db: Database, *pairs: tuple[str, str], table: str = "renamed") -> None:
    """(old, new) of people."""
    conn = db.connect("source_owner")
    conn.execute(f"DROP TABLE IF EXISTS public.{table}".encode())
    conn.execute(f'CREATE TABLE public.{table} ("old" text, "new" text)'.encode())
    for pair in pairs:
        conn.execute(f"INSERT INTO public.{table} VALUES (%s, %s)".encode(), pair)
    conn.execute(f"GRANT SELECT ON public.{table} TO steward".encode())


def declared(**changes: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {"who": "individual", "q": "q", "s": "s"}
    found = policy(columns, [{"model": "k_anonymity", "k": 4}, L], trust=["source_owner"])
    aliases = {"aliases": {"relation": "public.renamed"}}
    return {**found, "republication": "refuse", **aliases, **changes}


def rename(db: Database, old: str, new: str) -> None:
    change(db, f"UPDATE public.t SET who = '{new}' WHERE who = '{old}'")


@pytest.mark.slow
def test_who_is_known_under_another_key(source: Database) -> None:
    driver.publish(source, declared())
    rename(source, "p7", "x7")
    with driver.refused("republication"):
        driver.publish(source, declared())
    listed(source, ("p7", "x7"), ("p1", "p1"))
    assert driver.publish(source, declared()).version == 2
    rename(source, "x7", "y7")
    listed(source, ("x7", "y7"), ("p7", "x7"))
    assert driver.publish(source, declared()).version == 3


@pytest.mark.slow
def test_increments_take_them_for_no_newcomers(source: Database) -> None:
    grows = {"refresh": "increments", "increment_size": 4}
    driver.publish(source, declared(**grows))
    for number in range(4):
        rename(source, f"p{number}", f"x{number}")
    listed(source, *[(f"p{number}", f"x{number}") for number in range(4)])
    result = driver.publish(source, declared(**grows))
    assert (result.outcome, result.added and result.added.newcomers) == ("unchanged", 0)
    listed(source)
    options = Options(dry_run=True)
    loaded = driver.loaded(declared(**grows))
    result = run_release(loaded, dsn=source.dsn("steward"), options=options)
    assert result.added is not None
    assert result.added.newcomers == 4


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([("a", "c"), ("b", "c")], "1 keys have several earlier ones"),
        ([("a", "b"), ("a", "c")], "1 keys have several later ones"),
        ([("a", "b"), ("b", "a")], "2 keys follow one another in a circle"),
        ([(f"k{n}", f"k{n + 1}") for n in range(101)], "1 keys follow one another"),
        ([("a", None), (None, "b"), ("c", "d")], "2 pairs have no key in old or new"),
    ],
)
def test_ambiguous(source: Database, pairs: list[tuple[str, str]], said: str) -> None:
    listed(source, *pairs)
    with driver.refused("aliases") as errors:
        driver.publish(source, declared())
    assert said in str(errors[0])
    assert "public.renamed" in str(errors[0])
    assert "column new one key in the column old" in (errors[0].hint or "")
    assert driver.leftovers(source) == []


def test_the_longest_row_of_keys(source: Database) -> None:
    listed(source, *[(f"k{n}", f"k{n + 1}") for n in range(100)])
    assert driver.publish(source, declared()).version == 1


def test_both_keys_of_a_person(source: Database) -> None:
    listed(source, ("p1", "p2"))
    with driver.refused("several_records_per_individual"):
        driver.publish(source, declared())
    columns: dict[str, Any] = {"q": "q", "s": "s"}
    change(source, "CREATE TABLE public.n AS SELECT id::text AS id, q, s FROM public.t")
    change(source, "ALTER TABLE public.n ADD PRIMARY KEY (id); GRANT SELECT ON public.n TO steward")
    listed(source, ("1", "2"))
    over = {**declared(), "source": "public.n", "columns": policy(columns, 2)["columns"]}
    with driver.refused("aliases") as errors:
        driver.publish(source, over)
    assert "1 records of public.n have a key in id whose earlier one" in str(errors[0])


@pytest.mark.parametrize("key", ["p7", "x7"])
def test_left_out_under_either_key(source: Database, key: str) -> None:
    rename(source, "p7", "x7")
    listed(source, ("p7", "x7"))
    change(source, f"CREATE TABLE public.gone AS SELECT '{key}'::text AS who")
    change(source, "GRANT SELECT ON public.gone TO steward")
    result = driver.publish(source, declared(exclude={"relation": "public.gone"}))
    assert result.records == PEOPLE - 1


def test_relations_that_do_not_fit(source: Database) -> None:
    change(source, "CREATE TABLE public.odd (new text, old integer)")
    change(source, "CREATE TABLE public.short (new text)")
    change(source, "GRANT SELECT ON public.odd, public.short TO steward")
    for name, said in (("odd", "old is integer in public.odd"), ("short", "has no column old")):
        with pytest.raises(PolicyError, match=said):
            driver.publish(source, declared(aliases={"relation": f"public.{name}"}))
    roles: dict[str, Any] = {"who": "identifying", "q": "identifying", "id": "q", "s": "s"}
    two = {**declared(), "individual": ["who", "q"], "columns": policy(roles, 2)["columns"]}
    with pytest.raises(PolicyError, match="aliases are for a key of one column"):
        driver.publish(source, two)
