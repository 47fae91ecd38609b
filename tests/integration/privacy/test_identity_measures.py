"""Models of identity reservation as the server measures them: the paper's numbers, and what follows
from the definitions."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest

from pganon.identifiers import QualifiedName
from pganon.privacy.base import Bound, Model
from pganon.privacy.frequency import DistinctLDiversity, KAnonymity
from pganon.privacy.identity import EIRBeta, EIRLDiversity, IRAlpha, IRBeta, IRKAnonymity, measured
from pganon.sqltools import render
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection
from tests.support.sources.identity import PEOPLE, TABLE_3, TABLE_4

pytestmark = pytest.mark.primary_server_only

HELD = QualifiedName("pg_temp", "held")
Row = tuple[int, str, str]
"""Class, individual, value."""

MODELS: dict[str, Model] = {
    "n": IRKAnonymity.of(1),
    "m": DistinctLDiversity.of(1),
    "records": KAnonymity.of(1),
    "individual": IRAlpha(1),
    "value": IRBeta(1),
    "holders": EIRBeta(1),
    "mhs": EIRLDiversity.of(100),
}


def measures(conn: Connection, rows: list[Row]) -> dict[int, dict[str, Any]]:
    """Every measure of every class."""
    conn.execute("CREATE TEMP TABLE IF NOT EXISTS held (class int, individual text, value text)")
    conn.execute("TRUNCATE pg_temp.held")
    conn.cursor().executemany("INSERT INTO pg_temp.held VALUES (%s, %s, %s)", rows)
    found: dict[int, dict[str, Any]] = {}
    for name, model in MODELS.items():
        tree = measured(model, HELD, "class")
        at = tree.named_selects.index("class")
        for row in conn.execute(render(tree).encode()).fetchall():
            found.setdefault(row[at], {})[name] = row[1 - at]
    return found


# -- the paper's tables -----------------------------------------------------------------------

EXPECTED = {
    frozenset({"Lily", "Tina", "Ella", "Lucy"}): (4, 5, 5, 2, 1, 1, 4),
    frozenset({"Mike", "Tim", "Jane"}): (3, 3, 5, 2, 3, 3, 1),
    frozenset({"Jane", "Ella", "Lucy"}): (3, 5, 5, 2, 1, 1, 3),
    frozenset({"Mike", "Lily", "Tim", "Tina"}): (4, 4, 5, 2, 2, 2, 3),
}
"""Individuals, values, records, most records of one individual, of one value, most individuals with
one value, and the smallest set of values that hits all."""


@pytest.mark.parametrize("table", [TABLE_3, TABLE_4], ids=["table 3", "table 4"])
def test_classes_of_the_paper(db: Database, table: set[frozenset[str]]) -> None:
    classes = dict(enumerate(table))
    rows = [
        (number, person, disease)
        for number, people in classes.items()
        for person in people
        for disease in PEOPLE[person][3]
    ]
    found = measures(db.owner(), rows)
    for number, people in classes.items():
        n, m, records, individual, value, holders, mhs = EXPECTED[people]
        got = found[number]
        assert (got["n"], got["m"], got["records"], got["mhs"]) == (n, m, records, mhs)
        assert float(got["individual"] * records) == pytest.approx(individual)
        assert float(got["value"] * records) == pytest.approx(value)
        assert float(got["holders"] * n) == pytest.approx(holders)


# -- what follows from the definitions --------------------------------------------------------


def some_classes(rng: random.Random, count: int) -> list[Row]:
    rows: list[Row] = []
    for number in range(count):
        values = rng.randint(1, 6)
        for person in range(rng.randint(1, 6)):
            for _ in range(rng.randint(1, 4)):
                rows.append((number, f"{number}.{person}", f"v{rng.randrange(values)}"))
    return rows


def test_implications(db: Database) -> None:
    """Of 400 random classes, with and without repeated values."""
    conn, rows = db.owner(), some_classes(random.Random(3), 400)
    once = measures(conn, list(dict.fromkeys(rows)))
    for found in (measures(conn, rows), once):
        for one in found.values():
            n, mhs = one["n"], one["mhs"]
            holders = one["holders"] * n
            assert mhs <= min(n, one["m"])  # EIR l implies IR (l, l)
            assert round(holders) <= n - mhs + 1
            # EIR (alpha, beta) implies EIR l for l = 1 / beta, rounded up; and sizes.
            assert mhs >= math.ceil(n / round(holders))
            assert n >= math.ceil(round(1 / one["individual"], 20))
    # EIR (alpha, beta) implies IR (alpha, beta) where no individual has a value twice.
    assert all(one["value"] <= one["holders"] for one in once.values())


def test_a_repeated_value_breaks_the_implication(db: Database) -> None:
    rows = [(1, "1", "flu")] * 5 + [(1, "2", "hiv")]
    (one,) = measures(db.owner(), rows).values()
    assert one["holders"] == Fraction(1, 2)
    assert float(one["value"] * 6) == pytest.approx(5)


def test_merging_classes_keeps_every_model(db: Database) -> None:
    """Of classes with different individuals: no measure is worse than that of the worse class."""
    conn, rows = db.owner(), some_classes(random.Random(4), 400)
    apart = measures(conn, rows)
    together = measures(conn, [(number // 2, person, value) for number, person, value in rows])
    for number, merged in together.items():
        parts = [apart[2 * number], apart[2 * number + 1]]
        for name, model in MODELS.items():
            own = [part[name] for part in parts]
            if model.bound is Bound.AT_LEAST:
                assert merged[name] >= min(own), name
            else:
                assert merged[name] <= max(own), name
        # For k, l and EIR l it is no worse than the better one.
        for name in ("n", "m", "mhs"):
            assert merged[name] >= max(part[name] for part in parts)


def test_one_more_individual_needs_one_more_value_at_most(db: Database) -> None:
    conn, rng = db.owner(), random.Random(5)
    people = [[f"v{rng.randrange(6)}" for _ in range(rng.randint(1, 3))] for _ in range(60)]
    rows = [
        (number, str(person), value)
        for number in range(1, 61)
        for person, values in enumerate(people[:number])
        for value in values
    ]
    sizes = [found["mhs"] for _, found in sorted(measures(conn, rows).items())]
    steps = {later - before for before, later in itertools.pairwise(sizes)}
    assert steps <= {0, 1}
    assert sizes[0] == 1 < sizes[-1]
