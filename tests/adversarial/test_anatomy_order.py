"""Attack: learn from order or numbers which sensitive value belongs to which record."""

from __future__ import annotations

import random
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database
from tests.support.sources import visits
from tests.support.sources.builders import make_table
from tests.support.sources.visits import build, deal, document, release, requirement, stored

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

VALUES = [f"d{n:02}" for n in range(20)]


def unrelated(count: int, seed: int = 3) -> list[tuple[Any, ...]]:
    """Visits whose diseases hang on nothing."""
    rng = random.Random(seed)
    return [
        (n, f"Z{rng.randint(0, 99):02}", rng.choice("abc"), rng.randint(0, 999), rng.choice(VALUES))
        for n in range(count)
    ]


def texts(db: Database, run_id: int, part: str) -> list[str]:
    """Rows as they lie in the table."""
    name = sql.Identifier("pganon_data", f"r{run_id}_{part}")
    found = db.admin.execute(sql.SQL("SELECT t::text FROM {} AS t").format(name))
    return [row[0] for row in found.fetchall()]


# -- order of rows ------------------------------------------------------------------------------


def test_rows_lie_in_the_order_of_what_they_show(db: Database) -> None:
    """So that their places say nothing that they do not say themselves."""
    table = visits.rows(300)
    build(db, [*table, *table[:80]])
    for _ in range(2):
        run_id = release(db, republication="allow").run_id
        qit, st = stored(db, run_id, "qit"), stored(db, run_id, "st")
        assert qit == sorted(qit, key=lambda row: [(v is not None, v) for v in row])
        shown = [(number, value is None, value) for number, value, _ in st]
        assert shown == sorted(shown)
        assert len(set(shown)) == len(shown)


@pytest.mark.parametrize(
    ("kind", "looks"),
    [("numeric", ["1.0", "1.00", "1"]), ("double precision", ["0", "-0"]), ("bpchar", ["a", "a "])],
)
def test_equal_values_that_look_different_keep_no_order(
    db: Database, kind: str, looks: list[str]
) -> None:
    """Of insensitive columns: a sort that calls them equal would keep the order of the source."""
    rows = [(1, "Z", "a", look, value) for value in VALUES for look in looks]
    source = db.connect("source_owner")
    found = []
    for seed in (1, 2, 3):
        order = random.Random(seed).sample(rows, len(rows))
        make_table(source, {**visits.COLUMNS, "nights": kind}, order, name=visits.NAME)
        source.execute("ALTER TABLE public.visit DROP COLUMN id")
        run_id = release(db, stable=True, republication="allow").run_id
        found.append((texts(db, run_id, "qit"), texts(db, run_id, "st")))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("key", [True, False])
def test_the_order_of_the_source_changes_nothing(db: Database, key: bool) -> None:
    table = visits.rows(200)
    build(db, [*table, *table[:60]])
    if not key:
        db.source("ALTER TABLE public.visit DROP COLUMN id", grant=False)
    found = []
    for seed in (1, 2, 3):
        db.source(
            f"""
            CREATE TABLE public.other AS TABLE public.visit;
            TRUNCATE public.visit;
            INSERT INTO public.visit SELECT * FROM public.other AS o
                ORDER BY md5(o::text || '{seed}');
            DROP TABLE public.other
            """,
            grant=False,
        )
        run_id = release(db, stable=True, republication="allow").run_id
        found.append((texts(db, run_id, "qit"), texts(db, run_id, "st")))
    assert found[0] == found[1] == found[2]


def test_places_in_both_relations_tie_nothing_together(db: Database) -> None:
    """The i-th record of a group has the i-th value no more often than chance has it."""
    table = unrelated(800)
    build(db, table)
    dealt = deal(db.owner(), document(privacy=requirement(4)))
    values = {row[0]: row[4] for row in table}
    qit: dict[int, list[int]] = {}
    for row in dealt.staged.table("qit"):
        qit.setdefault(row["group_id"], []).append(row["age"])
    st: dict[int, list[str]] = {}
    for row in dealt.staged.table("st"):
        assert row["count"] == 1
        st.setdefault(row["group_id"], []).append(row["disease"])
    same = sum(
        values[age] == value
        for number, ages in qit.items()
        for age, value in zip(ages, st[number], strict=True)
    )
    # One per group is expected, with a variance of one each.
    assert len(qit) > 150
    assert abs(same - len(qit)) < 5 * len(qit) ** 0.5


def test_groups_come_from_values_and_places_by_chance_alone(db: Database) -> None:
    """Who of those with the same value and quasi-identifiers is where: not by the source."""
    build(db, [(1, "Z", "a", n, value) for n in range(60) for value in VALUES])
    for seed in (1, 2):
        dealt = deal(db.owner(), document(privacy=requirement(20)), seed=seed)
        (groups,) = dealt.blocks.values()
        place = {r: at for at, number in enumerate(groups) for r in dealt.groups[number]}
        for first in (1, 8, 20):
            same_value = list(range(first, 1201, len(VALUES)))
            order = [place[record] + 1 for record in same_value]
            assert sorted(order) == list(range(1, 61))
            assert abs(rank_correlation(order)) < 5 / 59**0.5


# -- numbers of groups --------------------------------------------------------------------------


def rank_correlation(numbers: list[int]) -> float:
    """Spearman's, of a permutation of 1..n with its positions."""
    n = len(numbers)
    squares = sum((number - place) ** 2 for place, number in enumerate(numbers, start=1))
    return 1 - 6 * squares / (n * (n * n - 1))


def test_numbers_follow_neither_building_nor_source_nor_values(db: Database) -> None:
    table = unrelated(800)
    build(db, table)
    numberings = []
    for seed in (1, 2):
        dealt = deal(db.owner(), document(privacy=requirement(2)), seed=seed)
        built = [number for block in sorted(dealt.blocks) for number in dealt.blocks[block]]
        assert sorted(built) == list(range(1, len(built) + 1))
        assert len(built) > 300
        first_value: dict[int, str] = {}
        for row in dealt.staged.table("st"):
            number = row["group_id"]
            first_value[number] = min(first_value.get(number, "e"), row["disease"])
        orders = [
            built,
            sorted(dealt.groups, key=lambda number: min(dealt.groups[number])),
            sorted(dealt.groups, key=lambda number: (first_value[number], built.index(number))),
        ]
        # Five standard deviations of a random permutation.
        bound = 5 / (len(built) - 1) ** 0.5
        assert all(abs(rank_correlation(order)) < bound for order in orders)
        numberings.append(built)
    same = sum(a == b for a, b in zip(*numberings, strict=False))
    assert same < len(numberings[0]) / 10
