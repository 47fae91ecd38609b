"""Minimum hitting sets on the server, against brute force and against the search in Python."""

from __future__ import annotations

import random

import psycopg
import pytest

from pganon.errors import PrivacyRefusal
from pganon.server_errors import translate
from tests.support.harness.cluster import Database
from tests.support.oracles.hitting_sets import hits_within
from tests.support.oracles.model import smallest_hitting_set

pytestmark = pytest.mark.primary_server_only


def bits(family: list[set[int]], width: int) -> list[str]:
    return ["".join("01"[e in member] for e in range(width)) for member in family]


def test_hitting_sets_by_brute_force(db: Database) -> None:
    rng = random.Random(5)
    families: list[tuple[list[set[int]], int]] = []
    for _ in range(150):
        width, size = rng.randint(1, 9), rng.randint(0, 10)
        members = [
            set(rng.sample(range(width), min(width, rng.randint(1, 3)))) for _ in range(size)
        ]
        families.append((members, width))
    families.append(([{n} for n in range(70)], 70))
    owner = db.owner()
    for members, width in families:
        least = smallest_hitting_set(members) if width < 70 else 70
        row = owner.execute(
            "SELECT array_agg(pganon.hitting_set_size(%s::varbit[], m) ORDER BY m)"
            " FROM unnest(%s::int[]) AS m",
            [bits(members, width), asked := [0, 1, 2, 3, 5, 80]],
        ).fetchone()
        assert row == ([min(least, most) for most in asked],), members


def test_hitting_sets_of_many_individuals(db: Database) -> None:
    """None has a single value, so that every bound is below l and branches have to be tried."""
    rng = random.Random(1)
    owner = db.owner()
    owner.execute("SET statement_timeout = '8s'")
    for width, size, l in ((100, 9, 10), (30, 5, 10), (40, 8, 7), (50, 10, 8)):  # noqa: E741
        family = [set(rng.sample(range(width), size)) for _ in range(300)]
        row = owner.execute(
            "SELECT pganon.hitting_set_size(%s::varbit[], %s)", [bits(family, width), l]
        ).fetchone()
        assert row == (l,)
        assert hits_within(family, l - 1) is None


@pytest.mark.slow
def test_a_search_that_is_stopped_says_so(db: Database) -> None:
    rng = random.Random(1)
    family = bits([set(rng.sample(range(40), 3)) for _ in range(130)], 40)
    analyst = db.connect("analyst")
    with pytest.raises(psycopg.Error, match="is not known") as caught:
        analyst.execute("SELECT pganon.hitting_set_size(%s::varbit[], 20)", [family])
    assert caught.value.sqlstate == "PA201"
    refusal = translate(caught.value)
    assert (type(refusal), refusal.exit_code) == (PrivacyRefusal, 1)
    row = analyst.execute("SELECT pganon.hitting_set_size(%s::varbit[], 20, -5)", [family])
    assert row.fetchone() == (-5,)


@pytest.mark.parametrize("family", ["{101,11}", "{000}", "{101,NULL}"])
def test_what_is_no_family(db: Database, family: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        db.connect("analyst").execute("SELECT pganon.hitting_set_size(%s::varbit[], 2)", [family])
    assert caught.value.sqlstate == "PA114"


def test_hitting_sets_of_which_the_smallest_sets_do_not_decide(db: Database) -> None:
    """The smallest sets share an element; what else is needed only larger ones show, in turns."""
    rng = random.Random(3)
    owner = db.owner()
    for least in (2, 3, 4):
        family: list[set[int]] = []
        for part in range(least):
            own = range(10 * part + least, 10 * part + least + 10)
            family += [{part, *rng.sample(own, 3 + part)} for _ in range(300)]
        width = 10 * least + least
        row = owner.execute(
            "SELECT array_agg(pganon.hitting_set_size(%s::varbit[], m) ORDER BY m)"
            " FROM unnest(%s::int[]) AS m",
            [bits(family, width), [1, least, 20]],
        ).fetchone()
        assert row == ([1, least, least],)


def test_many_sets_take_no_long_search(db: Database) -> None:
    """One element is in all of them; most of them need not be looked at bit by bit."""
    owner = db.owner()
    owner.execute("SET statement_timeout = '8s'")
    row = owner.execute(
        "SELECT pganon.hitting_set_size(array_agg(set_bit(set_bit(s.empty, 0, 1), s.i, 1)), 2)"
        " FROM (SELECT i % 499 + 1 AS i, (i / 499)::bit(17) || repeat('0', 483)::varbit AS empty"
        " FROM generate_series(1, 30000) AS i) AS s"
    ).fetchone()
    assert row == (1,)


def test_the_bound_on_work_counts_bits_too(db: Database) -> None:
    """No search is needed, and a table of that many bits would take minutes."""
    owner = db.owner()
    owner.execute("SET statement_timeout = '20s'")
    row = owner.execute(
        "SELECT pganon.hitting_set_size(ARRAY[repeat('1', 30000000)::varbit], 2, -1)"
    ).fetchone()
    assert row == (-1,)


@pytest.mark.parametrize("most", ["NULL", "-2"])
def test_what_is_no_limit(db: Database, most: str) -> None:
    with pytest.raises(psycopg.Error) as caught:
        db.connect("analyst").execute(f"SELECT pganon.hitting_set_size('{{11}}', {most})".encode())
    assert caught.value.sqlstate == "PA114"


@pytest.mark.parametrize("missing", range(4))
def test_a_search_needs_all_its_arguments(db: Database, missing: int) -> None:
    given = ["'{101,011}'", "'111'", "2", "10"]
    given[missing] = "NULL"
    call = f"SELECT pganon.hitting_set_within({', '.join(given)})"
    with pytest.raises(psycopg.Error) as caught:
        db.connect("analyst").execute(call.encode())
    assert caught.value.sqlstate == "PA114"
