"""Attack: learn from order or numbers which sensitive values belong to which record."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles.sliced import LINK, Relation, Row
from tests.support.sources import stays
from tests.support.sources.stays import METHODS, build, document, parts, release, stored, texts

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

VALUES = [f"d{n:02}" for n in range(20)]


# -- order of rows ------------------------------------------------------------------------------


def shown(row: Row, part: str) -> list[tuple[bool, Any]]:
    """What a row shows, as it is sorted by: NULL comes last among sensitive values, else first."""
    last = part.startswith("st")
    return [((v is None) == last, v) for name, v in row.items() if name != "count"]


def test_rows_lie_in_the_order_of_what_they_show(db: Database) -> None:
    """So that their places say nothing that they do not say themselves."""
    table = stays.rows(120)
    build(db, [*table, *table[:40]])
    for name, options in METHODS.items():
        run_id = release(db, options=options, republication="allow").run_id
        for part in parts(db, run_id):
            found = stored(db, run_id, part)
            keys = [shown(row, part) for row in found]
            assert keys == sorted(keys), (name, part)
            counted = "count" in found[0]
            assert counted == (part != "qit")
            assert not counted or all(a != b for a, b in itertools.pairwise(keys))


@pytest.mark.parametrize(("key", "name"), [(True, "independent, sliced"), (False, "aligned")])
def test_the_order_of_the_source_changes_nothing(db: Database, key: bool, name: str) -> None:
    table = stays.rows(100)
    build(db, [*table, *table[:30]])
    if not key:
        db.source("ALTER TABLE public.stay DROP COLUMN id", grant=False)
    found = []
    for seed in (1, 2):
        db.source(
            f"""
            CREATE TABLE public.other AS TABLE public.stay;
            TRUNCATE public.stay;
            INSERT INTO public.stay SELECT * FROM public.other AS o
                ORDER BY md5(o::text || '{seed}');
            DROP TABLE public.other
            """,
            grant=False,
        )
        changes = {"options": METHODS[name], "republication": "allow"}
        found.append(texts(db, release(db, stable=True, **changes).run_id))
    assert found[0] == found[1]


def unrelated(count: int, seed: int = 3) -> list[tuple[Any, ...]]:
    """Stays of which the three sensitive columns hang on nothing; `age` is the record's number."""
    rng = random.Random(seed)
    return [
        (n, f"Z{rng.randint(0, 99):02}", rng.choice("FM"), 1, *rng.choices(VALUES, k=3))
        for n in range(count)
    ]


def by_group(relation: Relation, name: str = "group_id") -> dict[int, Relation]:
    found: dict[int, Relation] = {}
    for row in relation:
        found.setdefault(row[name], []).append(row)
    return found


def test_places_in_relations_tie_nothing_together(db: Database) -> None:
    """The i-th record of a bucket has the i-th row of a table no more often than chance has it;
    nor do the i-th rows of two tables belong together."""
    table = unrelated(600)
    build(db, table)
    run_id = release(db, privacy=stays.requirement(4), options={"optimizer": "base"}).run_id
    qit, st1, st2 = (by_group(stored(db, run_id, part)) for part in ("qit", "st1", "st2"))
    values = {row[0]: row[4:] for row in table}
    both = {(a, b, c) for a, b, c in values.values()}
    first = second = together = 0
    expected = 0.0
    for number, records in qit.items():
        one, two = st1[number], st2[number]
        if len(one) != len(records) or len(two) != len(records):
            continue  # a value twice in a bucket is one row
        owned = [values[row["age"]] for row in records]
        rows = list(zip(one, two, strict=True))
        first += sum((r["disease"], r["drug"]) == v[:2] for r, v in zip(one, owned, strict=True))
        second += sum(r["symptom"] == v[2] for r, v in zip(two, owned, strict=True))
        together += sum((a["disease"], a["drug"], b["symptom"]) in both for a, b in rows)
        expected += 1
    assert expected > 60
    # One per bucket is expected, with a variance of one each.
    for found in (first, second, together):
        assert abs(found - expected) < 5 * expected**0.5


# -- numbers of buckets -------------------------------------------------------------------------


def rank_correlation(numbers: list[int]) -> float:
    """Spearman's, of a permutation of 1..n with its positions."""
    n = len(numbers)
    squares = sum((number - place) ** 2 for place, number in enumerate(numbers, start=1))
    return 1 - 6 * squares / (n * (n * n - 1))


def unrelated_orders(*orders: list[int]) -> None:
    for order in orders:
        assert sorted(order) == list(range(1, len(order) + 1))
        # Five standard deviations of a random permutation.
        assert abs(rank_correlation(order)) < 5 / (len(order) - 1) ** 0.5


def built(staged: driver.Staged, partition: int) -> list[int]:
    """Numbers of the buckets of a partition, in the order in which they were made."""
    name = staged.state.work(f"numbers_b{partition}").identifier
    text = sql.SQL("SELECT gid, {} AS number FROM {} ORDER BY gid")
    found = driver.fetch(staged.conn, text.format(sql.Identifier(f"b{partition}"), name))
    return [row["number"] for row in found]


def test_numbers_follow_neither_building_nor_source_nor_values(db: Database) -> None:
    table = unrelated(700)
    build(db, table)
    numberings = []
    for seed in (1, 2):
        staged = driver.run(db.owner(), document(options={"optimizer": "base"}), seed=seed)
        order = built(staged, 0)
        assert len(order) > 250
        members = by_group(staged.table("members"))
        values = by_group(staged.table("st1"))
        ages = by_group(staged.table("qit"))
        unrelated_orders(
            order,
            sorted(members, key=lambda n: min(int(row["member"]) for row in members[n])),
            sorted(values, key=lambda n: (min(row["disease"] for row in values[n]), n in order)),
            sorted(ages, key=lambda n: min(row["age"] for row in ages[n])),
        )
        numberings.append(order)
    same = sum(a == b for a, b in zip(*numberings, strict=False))
    assert same < len(numberings[0]) / 10


def test_numbers_of_independent_partitions_say_nothing_of_each_other(db: Database) -> None:
    """Even where the partitions are the same: where no value repeats, no condition binds."""
    build(db, [(n, "Z", "F", 1, f"d{n}", f"u{n}", f"s{n}") for n in range(600)])
    options = {**METHODS["independent"], "optimizer": "base"}
    staged = driver.run(db.owner(), document(options=options))
    links = {(row["st1_group_id"], row["st2_group_id"]) for row in staged.table("members")}
    one, two = built(staged, 0), built(staged, 1)
    assert set(zip(one, two, strict=True)) == links
    assert len(links) == len(one) == 300
    unrelated_orders(one, two, [second for _, second in sorted(links)])
    assert sum(a == b for a, b in links) < 12


def test_versions_share_buckets_but_not_their_numbers(db: Database) -> None:
    build(db, stays.rows(160))
    for options in (METHODS["aligned"], METHODS["independent"]):
        name = "independent" if options else "aligned"
        numbers = []
        for _ in range(2):
            run_id = release(db, release=name, options=options, republication="allow").run_id
            numbers.append({row.pop("member"): row for row in stored(db, run_id, "members")})
        columns = [c for c in next(iter(numbers[0].values())) if c == "group_id" or LINK.match(c)]
        assert len(columns) == (2 if options else 1)
        for column in columns:
            pairs = {(numbers[0][m][column], numbers[1][m][column]) for m in numbers[0]}
            # The same buckets: one number is always the other.
            assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
            assert len(pairs) > 40
            unrelated_orders([second for _, second in sorted(pairs)])
            assert sum(a == b for a, b in pairs) < 10
