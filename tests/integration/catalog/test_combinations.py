"""What tells rows apart and what determines what, against the definitions on rows."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from itertools import combinations as subsets
from typing import Any

import pytest

from pganon.catalog import combinations, hash_sample
from pganon.catalog.combinations import Combinations, dependencies, ranking
from pganon.catalog.hash_sample import HashedRows, hashed_rows
from pganon.catalog.introspect import Connection, read_relation
from tests.support.harness.cluster import Database

NAMES = ["a", "b", "c", "d"]

DRAWN = random.Random(7)
Row = tuple[Any, ...]
ROWS: list[Row] = [
    (DRAWN.randrange(40), DRAWN.choice([None, "x", "y"]), i % 3, DRAWN.random() < 0.3)
    for i in range(150)
]


Fill = Callable[..., HashedRows]


@pytest.fixture(params=[True, False], ids=["kept", "read again"])
def filled(
    request: pytest.FixtureRequest, bare_db: Database, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Fill]:
    """Makes hashes of a table, which the session keeps, or of which it may not."""
    if not request.param:
        monkeypatch.setattr(hash_sample, "MOST_KEPT", 0)
    with ExitStack() as stack:

        def fill(rows: list[Row], types: str = "a int, b text, c int, d bool") -> HashedRows:
            bare_db.source(f"CREATE TABLE public.t ({types})")
            marks = ", ".join(["%s"] * len(rows[0]))
            with bare_db.admin.cursor() as cursor:
                cursor.executemany(f"INSERT INTO public.t VALUES ({marks})".encode(), rows)
            made = stack.enter_context(sampled(bare_db.connect(), "t"))
            assert made.kept is request.param
            return made

        yield fill


def sampled(conn: Connection, source: str) -> AbstractContextManager[HashedRows]:
    relation = read_relation(conn, source)
    return hashed_rows(conn, relation, relation.columns)


def counts_of(names: list[str]) -> Combinations:
    places = [NAMES.index(name) for name in names]
    sizes = Counter(tuple(row[place] for place in places) for row in ROWS)
    return Combinations(len(ROWS), len(sizes), sum(n * (n - 1) // 2 for n in sizes.values()))


def test_counts_of_every_set_of_columns(filled: Fill) -> None:
    rows = filled(ROWS)
    sets = [list(s) for size in range(1, 5) for s in subsets(NAMES, size)]
    counts = combinations.combinations(rows, map(frozenset, sets))
    assert counts == {frozenset(s): counts_of(s) for s in sets}


def test_measures() -> None:
    counts = Combinations(rows=5, distinct=4, equal_pairs=1)
    assert (counts.distinction, counts.separation) == (0.8, 0.9)
    none = Combinations(rows=0, distinct=0, equal_pairs=0)
    assert (none.distinction, none.separation) == (0, 0)


def test_next_in_the_ranking_is_what_tells_most_apart(filled: Fill) -> None:
    rows = filled(ROWS)
    ranked = ranking(rows, NAMES)
    assert ranked[0].name == "a"
    chosen: list[str] = []
    for column in ranked:
        assert column.by_itself == counts_of([column.name])
        chosen.append(column.name)
        best = max(counts_of([*chosen[:-1], n]).distinct for n in NAMES if n not in chosen[:-1])
        assert column.with_those_before == counts_of(chosen)
        assert counts_of(chosen).distinct == best


def test_the_ranking_ends_where_nothing_is_added(filled: Fill) -> None:
    drawn = [(i, i % 50, 1, i % 2 == 0) for i in range(60)]
    rows = filled(drawn, "a int, b int, c int, d bool")
    ranked = ranking(rows, NAMES)
    assert [column.name for column in ranked if column.with_those_before] == ["a"]
    assert [column.name for column in ranked] == ["a", "b", "d", "c"]


def test_more_columns_than_a_statement_takes(filled: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = filled(ROWS)
    whole = ranking(rows, NAMES)
    decided = list(dependencies(rows, "a", NAMES[1:]))
    monkeypatch.setattr(combinations, "MOST_COLUMNS", 2)
    ranked = ranking(rows, NAMES)
    assert [(c.name, c.by_itself) for c in ranked[:2]] == [(c.name, c.by_itself) for c in whole[:2]]
    assert [c.with_those_before for c in ranked[2:]] == [None, None]
    assert list(dependencies(rows, "a", NAMES[1:])) == decided


def test_only_a_sample_is_read(filled: Fill, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hash_sample, "SAMPLE_ROWS", 20)
    rows = filled(ROWS)
    counts = combinations.combinations(rows, [frozenset("a")])
    assert counts[frozenset("a")].rows == 20


def test_the_sample_of_an_analyzed_table_is_of_all_of_it(
    bare_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_db.source(
        "CREATE TABLE public.t WITH (autovacuum_enabled = false) AS"
        " SELECT i / 500 AS a, repeat('x', 100) AS b"
        " FROM generate_series(0, 9999) AS s(i); CREATE VIEW public.v AS SELECT * FROM public.t"
    )
    monkeypatch.setattr(hash_sample, "SAMPLE_ROWS", 1000)
    conn = bare_db.connect()

    def values(source: str) -> Combinations:
        with sampled(conn, source) as rows:
            return combinations.combinations(rows, [frozenset("a")])[frozenset("a")]

    assert values("t").distinct == 2
    bare_db.admin.execute("ANALYZE public.t")
    drawn = values("t")
    assert drawn.distinct > 5
    assert 300 < drawn.rows <= 1000
    assert values("t") == drawn  # the same blocks again
    assert values("v").distinct == 2
    bare_db.admin.execute("DELETE FROM public.t WHERE a > 0")
    assert values("t").rows > 0


def test_what_determines_what(filled: Fill) -> None:
    draw = random.Random(3)
    finest = [draw.randrange(20) for _ in range(400)]
    # b follows from a, c has nothing to do with it, and d is nearly constant.
    drawn = [(a, f"b{a % 4}", draw.randrange(5), i % 50 == 7) for i, a in enumerate(finest)]
    rows = filled(drawn)
    by_name = {d.other: d for d in dependencies(rows, "a", ["b", "c", "d"])}
    assert by_name["b"].decided == 1
    assert 0.1 < by_name["b"].decides < 0.4
    assert abs(by_name["c"].decided) < 0.1
    assert (by_name["d"].decided, by_name["d"].decides < 0.1) == (0, True)


def test_values_of_few_rows_determine_nothing(filled: Fill) -> None:
    drawn = [(i // 2, f"b{i // 20}", i, True) for i in range(80)]
    rows = filled(drawn)
    (dependency,) = dependencies(rows, "a", ["b"])
    assert dependency.decided == 0  # 40 pairs
    (dependency,) = dependencies(rows, "b", ["a"])
    assert dependency.decides == 0


def test_every_type_is_counted_by_its_values(bare_db: Database) -> None:
    bare_db.source("""
        CREATE TYPE public.mood AS ENUM ('x', 'y');
        CREATE DOMAIN public.grade AS numeric(3,1);
        CREATE TABLE public.t (a smallint, b bigint, c numeric, d real, e float8, f date,
            g timestamp, h timestamptz, i boolean, j text, k char(5), l public.mood, m uuid,
            n public.grade, o varchar(9));
        INSERT INTO public.t (a, e, l) VALUES (1, 'NaN', 'x'), (NULL, 'Infinity', NULL);
    """)
    with sampled(bare_db.connect(), "t") as rows:
        counts = combinations.combinations(rows, [frozenset(n) for n in "abcdefghijklmno"])
    expected = {"a": 2, "e": 2, "l": 2, "j": 1, "m": 1}
    assert {n: counts[frozenset(n)].distinct for n in expected} == expected


def test_the_relation_is_read_once(bare_db: Database) -> None:
    """A view, a foreign table: whatever it takes to read one is done once."""
    bare_db.source("""
        CREATE TABLE public.t AS SELECT i % 7 AS a, i % 5 AS b, i AS c
            FROM generate_series(1, 60) AS i;
        CREATE SEQUENCE public.reads;
        GRANT USAGE ON public.reads TO PUBLIC;
        CREATE VIEW public.v AS SELECT t.* FROM public.t WHERE nextval('public.reads') > 0;
    """)
    with sampled(bare_db.connect(), "v") as rows:
        assert len(ranking(rows, ["a", "b", "c"])) == 3
        assert len(list(dependencies(rows, "a", ["b", "c"]))) == 2
    assert bare_db.admin.execute("SELECT last_value FROM public.reads").fetchone() == (60,)


@pytest.mark.primary_server_only
def test_who_may_have_no_temporary_table(bare_db: Database) -> None:
    bare_db.source("CREATE TABLE public.t AS SELECT i AS a FROM generate_series(1, 9) AS i")
    database = bare_db.admin.info.dbname
    bare_db.admin.execute(f'REVOKE TEMPORARY ON DATABASE "{database}" FROM PUBLIC'.encode())
    with sampled(bare_db.connect(), "t") as rows:
        assert not rows.kept
        counts = combinations.combinations(rows, [frozenset("a")])
    assert counts[frozenset("a")] == Combinations(9, 9, 0)
