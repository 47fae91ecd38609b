"""The clustering functions of the server against the oracle of QS k-anonymity."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection
from tests.support.oracles.qs import (
    Cluster,
    Condition,
    Count,
    Infeasible,
    QsSets,
    absorb,
    build_efficient,
    build_greedy,
    ncp_cluster,
)
from tests.support.sources.qs_blocks import Block, Functions
from tests.support.sources.qs_cases import (
    COLOURS,
    EFFICIENT_ORDER,
    VEHICLES,
    Case,
    cases,
    numeric,
    tree,
    vehicles,
)

pytestmark = pytest.mark.primary_server_only

SETTINGS = settings(
    max_examples=80,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
)


def expected(case: Case, *, nearest: bool) -> tuple[list[Cluster], list[int]]:
    """Clusters and what is left over, by the oracle; in the order of the records."""
    try:
        if nearest:
            clusters, left = build_greedy(case.records, case.condition, case.start)
            return clusters, sorted(left)
        return build_efficient(case.records, case.condition, case.records)
    except Infeasible:
        return [], case.records


def check(conn: Connection, case: Case, *, nearest: bool) -> list[Cluster]:
    """The functions do what the oracle does, cell by cell; gives the clusters in the end."""
    block = Block(case)
    functions = Functions(conn, block)
    clusters, left = expected(case, nearest=nearest)
    found, rest = functions.clusters(block, nearest=nearest)
    assert found == [block.cells(cluster) for cluster in clusters]
    assert sorted(rest) == block.cells(left)
    if not clusters:
        return []
    joined = functions.absorb([(block, clusters, left)])
    assert [(place, n) for _, _, place, n in joined] == block.cells(left)
    grown = [Counter(dict(cells)) for cells in found]
    for _, number, place, n in joined:
        grown[number - 1][place] += n
    in_the_end = absorb(clusters, left, case.sets)
    assert grown == [Counter(dict(block.cells(cluster))) for cluster in in_the_end]
    return in_the_end


def vehicles_case(
    k: int, count: Count = "product", order: Sequence[int] = (1, 2, 3, 4, 5, 6), **others: Any
) -> Case:
    sets = vehicles([VEHICLES[record - 1] for record in order])
    return Case(Condition(sets, k, count, **others), 1)


# -- the worked example ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("k", "count", "min_values", "clusters"),
    [
        (2, "product", 1, [[4, 6], [5, 1], [3, 2]]),
        (4, "product", 1, [[4, 6, 3], [2, 5, 1]]),
        (9, "product", 1, [[4, 6, 3, 2, 1, 5]]),
        (2, "product", 2, [[4, 6, 3], [2, 5, 1]]),
        (2, "supported", 1, [[4, 6], [5, 1], [3, 2]]),
        (4, "supported", 1, [[4, 6, 3, 2, 1, 5]]),
        (40, "product", 1, []),
        (7, "supported", 1, []),
        (2, "product", 5, []),
    ],
)
def test_greedy(db: Database, k: int, count: Count, min_values: int, clusters: list[Cluster]):
    case = vehicles_case(k, count, min_values=min_values)
    assert check(db.connect(), case, nearest=True) == clusters


@pytest.mark.parametrize(
    ("k", "clusters"),
    [
        (1, [[1], [5], [2], [6], [4], [3]]),
        (2, [[1, 5], [2, 6], [4, 3]]),
        (4, [[1, 5, 2], [6, 4, 3]]),
        (9, [[1, 5, 2, 6, 4, 3]]),
        (21, []),
    ],
)
def test_efficient(db: Database, k: int, clusters: list[Cluster]):
    found = check(db.connect(), vehicles_case(k, order=EFFICIENT_ORDER), nearest=False)
    assert [[EFFICIENT_ORDER[r - 1] for r in cluster] for cluster in found] == clusters


def test_combinations_of_a_public_relation(db: Database):
    public = {"QS1": {(2018, "black"), (2018, "white"), (2019, "white"), (2019, "pink")}}
    case = vehicles_case(2, "supported", combinations=public)
    assert check(db.connect(), case, nearest=True) == [[4, 6, 3], [5, 1, 2]]


def test_every_one_of_three_sets_has_to_reach_k(db: Database):
    sets = {**vehicles(), "QS3": [tree("owner", *"ppppqq")]}
    case = Case(Condition(sets, 2, "product"), 1)
    assert check(db.connect(), case, nearest=True) == [[4, 3, 6], [1, 5, 2]]


@pytest.mark.parametrize("count", ["product", "supported"])
def test_duplicates_never_close_a_cluster(db: Database, count: Count):
    sets = {"A": [numeric("a", 1, 1, 1, 1, 9, 9)], "B": [tree("b", *"xxxxyy")]}
    case = Case(Condition(sets, 2, count), 1)
    assert check(db.connect(), case, nearest=True) == [[5, 6, 1, 2, 3, 4]]
    assert check(db.connect(), case, nearest=False) == [[1, 2, 3, 4, 5, 6]]


def test_products_beyond_what_a_number_holds(db: Database):
    """Few supported combinations may have a product of 40 to the power of 12."""
    wide = [numeric(f"a{i}", *range(50)) for i in range(12)]
    case = Case(Condition({"A": wide, "B": [numeric("b", *range(50))]}, 40), 1)
    assert len(check(db.connect(), case, nearest=False)) == 1


# -- random tables -----------------------------------------------------------------------------


@pytest.mark.parametrize("nearest", [True, False], ids=["greedy", "efficient"])
@pytest.mark.slow
def test_random_tables(db: Database, nearest: bool):
    conn = db.connect()

    @SETTINGS
    @given(cases())
    def holds(case: Case) -> None:
        check(conn, case, nearest=nearest)

    holds()


def large(seed: int, size: int, k: int, count: Count) -> Case:
    """Many different records, in two or three sets of all kinds of attributes."""
    rng = random.Random(seed)
    paths = {f"{a}{b}{c}": (f"{a}{b}", a, "root") for a in "xyz" for b in "123" for c in "uvw"}
    drawn = {
        tuple(
            None if rng.random() < 0.04 else draw()
            for draw in (
                lambda: rng.randrange(60),
                lambda: rng.choice(sorted(COLOURS)),
                lambda: rng.choice(sorted(paths)),
                lambda: rng.choice("abcdefgh"),
                lambda: rng.randrange(7),
            )
        )
        for _ in range(size)
    }
    rows = sorted(drawn, key=repr)  # sets of texts have another order in every process
    rng.shuffle(rows)
    repeated = [row for row in rows for _ in range(rng.choice((1, 1, 1, 2)))]
    a, b, c, d, e = zip(*repeated, strict=True)
    sets = {
        "one": [numeric("a", *a), tree("b", *b, paths=COLOURS)],
        "two": [tree("c", *c, paths=paths), tree("d", *d)],
        "three": [numeric("e", *e)],
    }
    return Case(Condition(sets, k, count), rng.randint(1, len(repeated)))


@pytest.mark.parametrize(
    ("seed", "size", "k", "count"),
    [(1, 150, 5, "supported"), (2, 150, 5, "product"), (3, 130, 2, "supported")],
)
@pytest.mark.slow
def test_blocks_of_more_records_than_are_considered_at_once(
    db: Database, seed: int, size: int, k: int, count: Count
):
    case = large(seed, size, k, count)
    assert len(Block(case).places) > 100
    assert len(check(db.connect(), case, nearest=True)) > 2
    assert len(check(db.connect(), case, nearest=False)) > 2


def test_blocks_do_not_see_each_other(db: Database):
    """Records left over join clusters of their own block, in the order of the blocks."""
    conn = db.connect()
    sets = vehicles([*VEHICLES, *VEHICLES[:3]])
    blocks = [
        Block(Case(Condition(sets, k, "product"), start), number)
        for number, k, start in ((1, 4, 1), (2, 9, 7), (5, 2, 3))
    ]
    functions = Functions(conn, *blocks)
    formed = []
    for block in blocks:
        clusters, left = expected(block.case, nearest=True)
        found, rest = functions.clusters(block, nearest=True)
        assert (found, sorted(rest)) == (list(map(block.cells, clusters)), block.cells(left))
        formed.append((block, clusters, left))
    assert functions.absorb(formed) == [
        row for block, clusters, left in formed for row in joins(block, clusters, left)
    ]


def joins(block: Block, clusters: Sequence[Cluster], left: Sequence[int]) -> list[Any]:
    """(block, cluster, place, records) of what is left over, by the oracle."""
    home = {
        record: number
        for number, cluster in enumerate(absorb(clusters, left, block.case.sets), 1)
        for record in cluster
    }
    # Of equal records the last ones are left over.
    return [
        (block.number, home[block.places[place - 1][-1]], place, n)
        for place, n in block.cells(left)
    ]


# -- loss --------------------------------------------------------------------------------------


def bounds(functions: Functions, block: Block, cluster: Cluster) -> tuple[list[Any], list[Any]]:
    """Lowest and highest coordinate of records on every axis; NULL does not count."""
    rows = block.rows()
    points = [rows[block.place[record] - 1][-functions.axes :] for record in cluster]
    known = [[x for x in column if x is not None] for column in zip(*points, strict=True)]
    return [min(xs, default=None) for xs in known], [max(xs, default=None) for xs in known]


def loss(functions: Functions, rows: str, boxes: bool, box: Any) -> list[Any]:
    """(place or cluster, loss of it together with a box) by the server."""
    text = functions.conn.execute(
        "SELECT pganon.qs_loss(%s::int[], %s)", [functions.block.heights, boxes]
    ).fetchone()
    assert text is not None
    with psycopg.RawCursor(functions.conn) as cursor:
        asked = f"SELECT c.id, {text[0]} FROM {rows} AS c WHERE c.id >= $1 AND $2 ORDER BY c.id"
        return cursor.execute(asked, [0, True, *box]).fetchall()


def assert_losses(found: list[Any], clusters: Sequence[Cluster], sets: QsSets) -> None:
    """Of clusters, and each united with the one before it."""
    assert [number for number, _ in found] == list(range(1, len(clusters) + 1))
    for (_, measured), cluster in zip(found, clusters, strict=True):
        assert math.isclose(measured, ncp_cluster(cluster, sets), abs_tol=1e-12)


def test_loss_is_that_of_the_oracle(db: Database):
    conn = db.connect()

    @settings(SETTINGS, max_examples=30)
    @given(cases(), st.randoms(use_true_random=False))
    def holds(case: Case, rng: Any) -> None:
        block = Block(case)
        functions = Functions(conn, block)
        box = rng.sample(case.records, rng.randint(1, len(case.records)))
        corners = bounds(functions, block, box)
        conn.execute("CREATE TEMP VIEW numbered AS SELECT place AS id, * FROM pg_temp.points")
        found = loss(functions, "pg_temp.numbered", False, corners)
        conn.execute("DROP VIEW pg_temp.numbered")
        assert_losses(found, [[*box, held[0]] for held in block.places], case.sets)

        clusters = [rng.sample(case.records, rng.randint(1, len(case.records))) for _ in range(5)]
        rows = [
            [number, *lowest, *highest]
            for number, cluster in enumerate(clusters, 1)
            for lowest, highest in [bounds(functions, block, cluster)]
        ]
        names = [f"{end}{i} float8" for end in ("lo", "hi") for i in range(1, functions.axes + 1)]
        conn.execute(f"CREATE TEMP TABLE boxes (id integer, {', '.join(names)})".encode())
        with conn.cursor().copy("COPY pg_temp.boxes FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)
        found = loss(functions, "pg_temp.boxes", True, corners)
        conn.execute("DROP TABLE pg_temp.boxes")
        assert_losses(found, [[*box, *cluster] for cluster in clusters], case.sets)

    holds()


# -- catalog -----------------------------------------------------------------------------------


def test_declarations(db: Database):
    """Only the owner may execute them; those that several processes run are parallel safe."""
    rows = db.admin.execute(
        "SELECT p.proname, p.proparallel::text, p.provolatile::text, p.prosecdef,"
        " has_function_privilege('analyst', p.oid, 'execute'),"
        " p.proconfig = ARRAY['search_path=pg_catalog, pg_temp']"
        " FROM pg_proc AS p WHERE p.pronamespace = 'pganon'::regnamespace AND p.proname ~ '^qs_'"
    ).fetchall()
    assert sorted(rows) == [
        ("qs_absorb", "u", "v", False, False, True),
        ("qs_clusters", "s", "s", False, False, True),
        ("qs_known", "s", "s", False, False, True),
        ("qs_lookups", "s", "s", False, False, True),
        ("qs_loss", "s", "i", False, False, True),
        ("qs_universe", "s", "s", False, False, True),
    ]
