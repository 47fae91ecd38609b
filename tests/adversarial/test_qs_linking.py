"""Attack: link the two sets of one record, with one set's table in hand.

The adversary knows all values of a target in one set, so the clusters that it may be in, and
has a public table of the other set: what occurs nowhere in it is struck out.
"""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import pytest

from tests.support.harness import driver, faults
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

Row = dict[str, Any]


def candidates(cluster: Row, names: tuple[str, ...], public: set[tuple[Any, ...]]) -> set[Any]:
    """Combinations of a set that a cluster leaves possible."""
    return set(itertools.product(*[cluster[name] for name in names])) & public


def posteriors(clusters: list[Row], records: list[Row]) -> list[Fraction]:
    """For every record and direction, the confidence in the most likely combination.

    The adversary is granted the worst cluster that the target may be in.
    """
    found = []
    for known, wanted in itertools.permutations(vehicles.SETS.values()):
        public = {tuple(record[name] for name in wanted) for record in records}
        for record in records:
            possible = [c for c in clusters if all(record[name] in c[name] for name in known)]
            left = [candidates(cluster, wanted, public) for cluster in possible]
            assert tuple(record[name] for name in wanted) in set().union(*left)
            found.append(max(Fraction(1, len(combinations)) for combinations in left))
    return found


def read(conn: Any, view: str) -> list[Row]:
    cursor = conn.execute(f"SELECT * FROM {view}".encode())
    names = [column.name for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


@pytest.mark.parametrize("method", vehicles.METHODS)
@pytest.mark.parametrize("k", [2, 5, 12])
def test_no_record_is_linked_above_the_bound(db: Any, method: str, k: int) -> None:
    make_table(
        db.connect("source_owner"), vehicles.COLUMNS, vehicles.rows(300), name=("public", "vehicle")
    )
    options = {"name": method, "block_size": 128}
    privacy = vehicles.requirement(k)
    faults.run(db.dsn(), vehicles.policy(method=options, privacy=privacy))
    clusters = read(db.connect("analyst"), "published.vehicles")
    assert len(clusters) > 10
    assert max(posteriors(clusters, read(db.admin, "public.vehicle"))) <= Fraction(1, k)


def test_products_alone_let_through_what_the_worked_example_says(db: Any) -> None:
    """k = 4 of the product, but three years and colours that exist: one in three."""
    rows = [(*row, "", 0) for row in vehicles.EXAMPLE]
    make_table(db.connect("source_owner"), vehicles.COLUMNS, rows, name=("public", "vehicle"))
    records = read(db.admin, "public.vehicle")
    conn = db.owner()
    wanted = {frozenset({3, 4, 6}), frozenset({1, 2, 5})}
    for seed in range(40):
        staged = driver.run(conn, worked(count="product"), seed=seed)
        if {frozenset(ids) for ids in members(staged).values()} == wanted:
            break
    else:
        pytest.fail("no secret of these starts Greedy as the example does")
    assert max(posteriors(staged.table("clusters"), records)) == Fraction(1, 3)
    for seed in range(5):
        clusters = driver.run(conn, worked(count="supported"), seed=seed).table("clusters")
        assert max(posteriors(clusters, records)) <= Fraction(1, 4)


def worked(**requirement: Any) -> dict[str, Any]:
    found = vehicles.document(
        carried=(), method={"name": "qs_greedy"}, privacy=vehicles.requirement(4, **requirement)
    )
    found["columns"]["colour"]["hierarchy"] = {"inline": {"any": vehicles.COLOURS["colour"]}}
    found["columns"]["zone"]["hierarchy"] = {"inline": {"any": vehicles.ZONES["zone"]}}
    return found


def members(staged: driver.Staged) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["cluster_no"], set()).add(int(row["member"]))
    return found
