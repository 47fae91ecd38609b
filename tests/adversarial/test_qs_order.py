"""Attack: learn from order, numbers or bags which record is where, or what belongs together."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness import driver, faults
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

RECORDS = 240
BLOCK = {"qs_greedy": 64, "qs_efficient": 64}


def build(db: Any, rows: Any, *, key: bool = True, columns: dict[str, str] | None = None) -> None:
    source = db.connect("source_owner")
    make_table(source, columns or vehicles.COLUMNS, rows, name=("public", "vehicle"))
    if not key:
        source.execute("ALTER TABLE public.vehicle DROP COLUMN id")


def shuffled(rows: list[Any], seed: int) -> list[Any]:
    return random.Random(seed).sample(rows, len(rows))


def run(db: Any, method: str, *, seed: bytes | None = b"one", **changes: Any) -> int:
    """Publish; gives the number of the run."""
    loaded = vehicles.policy(
        method={"name": method, "block_size": BLOCK[method]}, republication="allow", **changes
    )
    return faults.run(db.dsn(), loaded, stable=seed == b"one").run_id


def stored(db: Any, run_id: int, part: str = "clusters") -> list[tuple[Any, ...]]:
    """Rows as they lie in the table."""
    schema = "pganon_data" if part == "clusters" else "pganon_private"
    name = sql.Identifier(schema, f"r{run_id}_{part}")
    return db.admin.execute(sql.SQL("SELECT t.* FROM {} AS t").format(name)).fetchall()


def numbered_members(db: Any, run_id: int) -> list[tuple[int, int]]:
    """Number of the cluster and key of every record: people are known by digests of their keys."""
    keys = db.admin.execute(
        "SELECT c.id, encode(substr(sha256(p.secret || convert_to(c.id::text, 'UTF8')), 1, 16),"
        " 'hex')::uuid FROM public.vehicle AS c CROSS JOIN pganon_private.population AS p"
    )
    by_digest = {digest: key for key, digest in keys.fetchall()}
    name = sql.Identifier("pganon_private", f"r{run_id}_members")
    found = db.admin.execute(sql.SQL("SELECT m.cluster_no, m.member FROM {} AS m").format(name))
    return [(number, by_digest[member]) for number, member in found.fetchall()]


def texts(db: Any, run_id: int) -> list[str]:
    name = sql.Identifier("pganon_data", f"r{run_id}_clusters")
    found = db.admin.execute(sql.SQL("SELECT t::text FROM {} AS t").format(name))
    return [row[0] for row in found.fetchall()]


@pytest.mark.parametrize("method", vehicles.METHODS)
@pytest.mark.parametrize("key", [True, False])
@pytest.mark.parametrize("count", ["supported", "product"])
def test_the_order_of_the_source_changes_nothing(
    db: Any, method: str, key: bool, count: str
) -> None:
    rows = vehicles.rows(RECORDS)
    rows += rows[:60]
    found = []
    for seed in (1, 2, 3):
        build(db, shuffled(rows, seed), key=key)
        found.append(
            texts(db, run(db, method, carried=(), privacy=vehicles.requirement(4, count=count)))
        )
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 20


@pytest.mark.parametrize("method", vehicles.METHODS)
def test_bags_hold_what_they_must_whatever_the_order(db: Any, method: str) -> None:
    """Without equal records even the bags are the same; only their own order is drawn anew."""
    rows = [(n, f"c{n % 7}", f"z{n % 11}", n * 5 % 24, f"note {n}", n % 3) for n in range(150)]
    found = []
    for seed in (1, 2):
        build(db, shuffled(rows, seed))
        clusters = stored(db, run(db, method))
        found.append([(*row[:5], sorted(row[5]), sorted(row[6]), row[7]) for row in clusters])
    assert found[0] == found[1]


@pytest.mark.parametrize("method", vehicles.METHODS)
def test_equal_numbers_that_look_different_keep_no_order(db: Any, method: str) -> None:
    """1.0 and 1.00 are one value; which of them is shown must not hang on who came first."""
    columns = {**vehicles.COLUMNS, "reg_year": "numeric", "hour": "numeric"}
    rows: list[Any] = [
        (f"{n % 5}.{'0' * (n % 4)}", f"c{n % 3}", f"z{n % 4}", f"{n % 7}.5{'0' * (n % 3)}", "", 0)
        for n in range(120)
    ]
    found = []
    for seed in range(3):
        build(db, shuffled(rows, seed), columns=columns)
        found.append(texts(db, run(db, method, carried=())))
    assert found[0] == found[1] == found[2]
    assert "0.0" not in "".join(found[0])


def rank_correlation(numbers: list[int]) -> float:
    """Spearman's, of a permutation of 1..n with its positions."""
    n = len(numbers)
    squares = sum((number - place) ** 2 for place, number in enumerate(numbers, start=1))
    return 1 - 6 * squares / (n * (n * n - 1))


@pytest.mark.parametrize("method", vehicles.METHODS)
def test_numbers_follow_neither_building_nor_source_nor_values(db: Any, method: str) -> None:
    rows = [(n, f"c{n * 7 % 40}", f"z{n * 11 % 50}", n * 13 % 97, "", 0) for n in range(800)]
    make_table(db.connect("source_owner"), vehicles.COLUMNS, rows, name=("public", "vehicle"))
    conn = db.owner()
    numberings = []
    for seed in (1, 2):
        staged = driver.run(
            conn,
            vehicles.document(
                carried=(),
                method={"name": method, "block_size": 128},
                privacy=vehicles.requirement(2),
            ),
            seed=seed,
        )
        built = driver.fetch(
            conn,
            sql.SQL("SELECT cluster_no FROM {} ORDER BY gid").format(
                staged.state.work("numbers_cluster_no").identifier
            ),
        )
        by_building = [row["cluster_no"] for row in built]
        clusters = staged.table("clusters")
        assert [row["cluster_no"] for row in clusters] == list(range(1, len(clusters) + 1))
        assert sorted(by_building) == list(range(1, len(clusters) + 1))
        first: dict[int, int] = {}
        for row in staged.table("members"):
            number = row["cluster_no"]
            first[number] = min(first.get(number, len(rows) + 1), int(row["member"]))
        by_source = sorted(first, key=lambda number: first[number])
        by_value = [r["cluster_no"] for r in sorted(clusters, key=lambda r: r["reg_year"])]
        assert len(clusters) > 100
        # Five standard deviations of a random permutation.
        bound = 5 / (len(clusters) - 1) ** 0.5
        for order in (by_building, by_source, by_value):
            assert abs(rank_correlation(order)) < bound
        numberings.append(by_building)
    assert numberings[0] != numberings[1]


@pytest.mark.parametrize("method", vehicles.METHODS)
def test_arrays_are_sorted_sets_whatever_the_frequencies(db: Any, method: str) -> None:
    rows = vehicles.rows(120)
    rows += [row for row in rows[:12] for _ in range(20)]
    build(db, shuffled(rows, 1))
    run_id = run(db, method, seed=None)
    source = {r[0]: r[1:] for r in db.admin.execute("SELECT * FROM public.vehicle").fetchall()}
    held: dict[int, list[Any]] = {}
    for number, member in numbered_members(db, run_id):
        held.setdefault(number, []).append(source[member])
    for number, *arrays, notes, fees, size in stored(db, run_id):
        records = held.pop(number)
        for place, array in enumerate(arrays):
            values = {record[place] for record in records}
            assert array == sorted(values, key=lambda v: (v is None, v))
        assert sorted(notes) == sorted(record[4] for record in records)
        assert sorted(fees) == sorted(record[5] for record in records)
        assert size == len(records)
    assert held == {}


def test_bags_tie_nothing_together(db: Any) -> None:
    """Equal places of two bags are no more often of one record than chance has it."""
    rows = [(n % 4, f"c{n % 3}", f"z{n % 4}", n % 5, f"{n:04}", n) for n in range(400)]
    build(db, rows)
    clusters = stored(db, run(db, "qs_efficient", seed=None, privacy=vehicles.requirement(12)))
    places = sum(row[7] for row in clusters)
    same = sum(int(a) == b for row in clusters for a, b in zip(row[5], row[6], strict=True))
    # One per cluster is expected, with a variance of one each. Few are not normally distributed.
    assert places == 400
    assert abs(same - len(clusters)) < 5 * len(clusters) ** 0.5 + 5
    # Nor does a bag keep the order of the source.
    rising = sum(a < b for row in clusters for a, b in itertools.pairwise(row[6]))
    pairs = places - len(clusters)
    assert abs(rising - pairs / 2) < 5 * (pairs / 12) ** 0.5 + 1


@pytest.mark.parametrize("method", vehicles.METHODS)
def test_which_of_equal_records_is_where_is_drawn(db: Any, method: str) -> None:
    """Equal records that part ways: neither the source's order nor its key says who went where."""
    copies = 6
    cells = [(n, f"c{n}", f"z{n}", n) for n in range(200)]
    rows = [(*cell, "", cell[0] * copies + copy) for copy in range(copies) for cell in cells]
    chosen = []
    for release in ("one", "two"):
        # Else the second would take over what the first has drawn.
        build(db, [*rows, *[(200, "c200", "z200", 200, "", 200 * copies)] * len(chosen)])
        requirement = vehicles.requirement(2)
        done = run(db, method, seed=None, privacy=requirement, release=release)
        clusters = stored(db, done)
        alone = []
        for row in clusters:
            held = [divmod(int(fee), copies) for fee in row[6]]
            cells_of = Counter(cell for cell, _ in held)
            alone += [(cell, copy) for cell, copy in held if cells_of[cell] == 1]
        assert len(alone) > 100
        chosen.append(dict(alone))
        drawn = Counter(copy for _, copy in alone)
        # Five standard deviations of a fair die.
        expected = len(alone) / copies
        assert all(abs(drawn[n] - expected) < 5 * expected**0.5 for n in range(copies)), drawn
    both = chosen[0].keys() & chosen[1].keys()
    assert any(chosen[0][cell] != chosen[1][cell] for cell in both)
