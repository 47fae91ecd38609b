"""Attack: find a person's records in a release that keeps them together."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.support.harness import driver
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.driver import publish, run
from tests.support.sources.builders import make_table, policy
from tests.support.sources.identity import eir, grouped
from tests.support.sources.stays import stored, texts

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

SECRET = "Zanzibar-7319"
"""A value of the source that no message may hold."""

COLUMNS = {
    "person": "text",
    "age": "integer",
    "zip": "text",
    "disease": "text",
    "nights": "integer",
}
TREE = {
    "inline": {"*": {"low": [f"Z{n}" for n in range(5)], "high": [f"Z{n}" for n in range(5, 10)]}}
}


def people(count: int, seed: int = 3) -> list[list[Any]]:
    """Records of people in the order of their numbers, which ages follow."""
    rng = random.Random(seed)
    diseases = [SECRET, *[f"d{n:02}" for n in range(19)]]
    return [
        [f"p{n:04}", 20 + n // 20, f"Z{rng.randint(0, 9)}", rng.choice(diseases), rng.randint(0, 9)]
        for n in range(count)
        for _ in range(rng.randint(1, 3))
    ]


def document(**changes: Any) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "person": "individual",
        "age": {"hierarchy": {"intervals": [5, 20]}},
        "zip": {"hierarchy": TREE},
        "disease": "s",
        "nights": "i",
    }
    method = {"name": "danonyir", "block_size": 60}
    declared = policy(columns, [eir(2)], method=method, suppression_limit=0.5)
    return {**declared, "publish": {"readers": ["analyst"]}, **changes}


GLOBAL = {"name": "geneir"}


def build(db: Database, rows: list[list[Any]], **kinds: str) -> None:
    make_table(db.connect("source_owner"), {**COLUMNS, **kinds}, rows)


# -- order of rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("changes", [{}, {"method": GLOBAL}], ids=["danonyir", "geneir"])
def test_the_order_of_the_source_changes_nothing(db: Database, changes: dict[str, Any]) -> None:
    rows = people(80)
    build(db, [*rows, *rows[:30]])
    db.source("ALTER TABLE public.t DROP COLUMN id", grant=False)
    found = []
    for seed in (1, 2):
        db.source(
            f"""
            CREATE TABLE public.other AS TABLE public.t;
            TRUNCATE public.t;
            INSERT INTO public.t SELECT * FROM public.other AS o ORDER BY md5(o::text || '{seed}');
            DROP TABLE public.other
            """,
            grant=False,
        )
        declared = document(republication="allow", **changes)
        found.append(texts(db, publish(db, declared, seed=b"a seed of a test").run_id))
    assert found[0] == found[1]
    assert len(found[0]["records"]) > 100


def test_rows_lie_in_the_order_of_what_they_show(db: Database) -> None:
    """So that their places say nothing that they do not say themselves."""
    build(db, people(120))
    run_id = publish(db, document()).run_id
    keys = [tuple(row.values()) for row in stored(db, run_id, "records")]
    names = list(stored(db, run_id, "records")[0])
    assert names == ["class_id", "individual_no", "disease", "nights"]
    assert keys == sorted(keys)
    numbers = [row["class_id"] for row in stored(db, run_id, "classes")]
    assert numbers == sorted(numbers)


def test_values_that_are_equal_keep_no_order_of_the_source(db: Database) -> None:
    """1.0 and 1.00 are one value, and one person; spellings lie in an order of their own."""
    rng = random.Random(6)
    rows = [
        [rng.choice((Decimal(n), Decimal(f"{n}.00"))), 20 + n // 8, "Z1",
         rng.choice((Decimal(n % 3), Decimal(f"{n % 3}.0"))), 1]
        for n in range(40) for _ in range(2)
    ]  # fmt: skip
    kinds = {"person": "numeric", "disease": "numeric"}
    found = []
    for _ in range(2):
        rng.shuffle(rows)
        build(db, rows, **kinds)
        declared = document(republication="allow", suppression_limit=0)
        done = publish(db, declared, seed=b"a seed of a test")
        found.append(texts(db, done.run_id))
        assert len({row["individual_no"] for row in stored(db, done.run_id, "records")}) == 40
    assert found[0] == found[1]


def test_which_of_equal_records_counts_follows_no_order_of_the_source(db: Database) -> None:
    """Of 1.0 and 1.00 of one person one is published; a copy of the table gives the same one."""
    rng = random.Random(7)
    rows = [
        [f"p{n:02}", 20 + n // 8, "Z1", Decimal(spelled), 1]
        for n in range(40) for spelled in (f"{n % 3}", f"{n % 3}.0", f"{n % 3}.00")
    ]  # fmt: skip
    found = []
    for _ in range(2):
        rng.shuffle(rows)
        build(db, rows, disease="numeric")
        db.source("ALTER TABLE public.t DROP COLUMN id", grant=False)
        declared = document(republication="allow", suppression_limit=0)
        del declared["columns"]["nights"]
        declared["method"] |= {"duplicates": "collapse"}
        done = publish(db, declared, seed=b"a seed of a test")
        assert done.released == 40
        found.append(texts(db, done.run_id))
    assert found[0] == found[1]


def test_the_number_of_visits_finds_nobody_where_repeats_count_once(db: Database) -> None:
    """Everybody has one disease; the attacker knows how often somebody was there."""
    rows = [
        [f"p{n:02}", 20 + n // 10, "Z1", f"d{n % 4}", 1]
        for n in range(40)
        for _ in range(1 + n % 10)
    ]
    build(db, rows)
    groups = {}
    for duplicates in ("keep", "collapse"):
        declared = document(republication="allow")
        del declared["columns"]["nights"]
        declared["method"] |= {"duplicates": duplicates}
        done = publish(db, declared)
        shown = stored(db, done.run_id, "records")
        visits = Counter((row["class_id"], row["individual_no"]) for row in shown)
        groups[duplicates] = Counter((number, n) for (number, _), n in visits.items())
    assert min(groups["keep"].values()) == 1
    assert min(groups["collapse"].values()) > 1


# -- numbers ------------------------------------------------------------------------------------


def rank_correlation(numbers: list[int]) -> float:
    """Spearman's, of a permutation of 1..n with its positions."""
    n = len(numbers)
    squares = sum((number - place) ** 2 for place, number in enumerate(numbers, start=1))
    return 1 - 6 * squares / (n * (n * n - 1))


def unrelated_order(order: list[int]) -> None:
    assert sorted(order) == list(range(1, len(order) + 1))
    # Five standard deviations of a random permutation.
    assert abs(rank_correlation(order)) < 5 / (len(order) - 1) ** 0.5


def drawn(staged: driver.Staged, group: str, name: str) -> dict[int, int]:
    """The numbers that were drawn, by what they were drawn for, in the order of building."""
    text = sql.SQL("SELECT gid, {} AS number FROM {} ORDER BY gid")
    table = staged.state.work(f"numbers_{name}").identifier
    rows = driver.fetch(staged.conn, text.format(sql.Identifier(name), table))
    return {row["gid"]: row["number"] for row in rows}


@pytest.mark.parametrize("changes", [{}, {"method": GLOBAL}], ids=["danonyir", "geneir"])
def test_numbers_follow_neither_building_nor_source_nor_values(
    db: Database, changes: dict[str, Any]
) -> None:
    build(db, people(400))
    numberings = []
    for seed in (1, 2):
        staged = run(db.owner(), document(**changes), seed=seed)
        classes, numbers = drawn(staged, "gid", "class_id"), drawn(staged, "rid", "individual_no")
        assert len(classes) > 60
        name = staged.state.work("individuals").identifier
        text = sql.SQL("SELECT rid, individual FROM {} ORDER BY individual")
        named = driver.fetch(staged.conn, text.format(name))
        of_people = [numbers[row["rid"]] for row in named if row["rid"] in numbers]
        members = grouped(staged.table("members"))
        for order in (
            [*classes.values()],
            [*numbers.values()],
            of_people,
            sorted(members, key=lambda number: min(members[number])),
        ):
            unrelated_order(order)
        # Within the order of classes, individuals are as random.
        by_class = sorted(staged.rows(), key=lambda row: row["class_id"])
        unrelated_order([*dict.fromkeys(row["individual_no"] for row in by_class)])
        numberings.append(of_people)
    same = sum(a == b for a, b in zip(*numberings, strict=False))
    assert same < len(numberings[0]) / 10


def test_versions_share_classes_but_not_numbers(db: Database) -> None:
    build(db, people(200))
    found = [publish(db, document()).run_id for _ in range(2)]
    first, second = (grouped(stored(db, run_id, "members")) for run_id in found)
    assert set(first.values()) == set(second.values())
    number = {names: n for n, names in second.items()}
    unrelated_order([number[first[n]] for n in sorted(first)])


def test_nobody_is_in_two_classes(db: Database) -> None:
    """People whose records differ in quasi-identifiers would be found by intersecting them."""
    rng = random.Random(9)
    rows = [[row[0], rng.randint(20, 60), f"Z{rng.randint(0, 9)}", *row[3:]] for row in people(90)]
    build(db, rows)
    for changes in ({}, {"method": GLOBAL}):
        seen = run(db.owner(), document(suppression_limit=0.9, **changes)).rows()
        pairs = {(row["individual_no"], row["class_id"]) for row in seen}
        assert len(pairs) == len({person for person, _ in pairs}) > 20


# -- readers ------------------------------------------------------------------------------------

CLOSED = (
    "SELECT FROM pganon_data.r{run}_records",
    "SELECT FROM pganon_data.r{run}_classes",
    "SELECT FROM pganon_private.r{run}_members",
    "SELECT FROM pganon_private.run_secret",
    "SELECT FROM pganon_private.ledger",
    "SELECT FROM public.t",
    "UPDATE published.r SET individual_no = 1",
    "DELETE FROM published.r",
    "SELECT pganon.verify('r')",
)


def readable(analyst: Connection) -> list[str]:
    found = analyst.execute(
        "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname !~ '^(pg_|information_schema|pganon$)'"
        " AND has_any_column_privilege(c.oid, 'SELECT') ORDER BY 1"
    )
    return [row[0] for row in found.fetchall()]


def test_readers_see_the_views_alone(db: Database) -> None:
    build(db, people(60))
    run_id = publish(db, document()).run_id
    for part in ("records", "classes"):
        db.admin.execute(f"ANALYZE pganon_data.r{run_id}_{part}".encode())
    analyst = db.connect("analyst")
    assert readable(analyst) == ["r", "r_flat"]
    for view in ("r", "r_flat"):
        cursor = analyst.execute(f"SELECT * FROM published.{view}".encode())
        names = [column.name for column in cursor.description or []]
        assert names[:2] == ["class_id", "individual_no"]
        assert {"person", "id", "rid", "gid", "member", "individual"}.isdisjoint(names)
        assert "p0" not in str(cursor.fetchall())
    for text in CLOSED:
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
        ) as caught:
            analyst.execute(text.format(run=run_id).encode())
        assert SECRET not in str(caught.value), text
    for column in ("ctid", "tableoid", "xmin"):
        with pytest.raises(psycopg.errors.UndefinedColumn):
            analyst.execute(f"SELECT {column} FROM published.r".encode())
    stats = analyst.execute("SELECT FROM pg_stats WHERE schemaname ~ 'pganon'")
    assert stats.fetchall() == []


def test_how_many_were_left_out_is_not_told(db: Database) -> None:
    """Counts that differ from the source's would tell what the suppressed individuals have."""
    rows = [["hog", 40, "Z1", f"d{n}", 1] for n in range(700)] + people(40)
    build(db, rows)
    asked = {"model": "eir_alpha_beta_anonymity", "column": "disease", "alpha": 0.5, "beta": 0.7}
    done = publish(db, document(privacy=[asked], suppression_limit=1))
    assert done.suppressed >= 700
    analyst = db.connect("analyst")
    said = analyst.execute(
        "SELECT r.release, r.version, r.method, r.guarantee,"  # the time may hold any digits
        " (SELECT array_agg(c) FROM pganon.release_columns AS c),"
        " (SELECT array_agg(g) FROM pganon.guarantees AS g) FROM pganon.releases AS r"
    ).fetchall()
    comments = analyst.execute(
        "SELECT description FROM pg_description AS d JOIN pg_class AS c ON c.oid = d.objoid"
        " JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = 'published'"
    ).fetchall()
    for text in (str(said), str(comments)):
        assert not any(word in text for word in ("suppress", "700", str(len(rows)), SECRET, "hog"))
    sizes = analyst.execute("SELECT reltuples FROM pg_class WHERE relname ~ '^r1_'").fetchall()
    assert sizes
    assert all(size <= done.released for (size,) in sizes)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ("individual_no = individual_no + 1", True),
        ("individual_no = individual_no - 1", True),
        ("individual_no = CASE individual_no WHEN 1 THEN 0 ELSE individual_no END", True),
        ("individual_no = -individual_no", True),
        ("individual_no = individual_no", False),
    ],
)
def test_numbers_of_individuals_are_those_up_to_how_many_there_are(
    db: Database, change: str, found: bool
) -> None:
    """{0, 2} has as many numbers as its greatest one, and is not {1, 2}."""
    make_table(db.connect("source_owner"), COLUMNS, people(60))
    done = publish(db, document())
    conn = db.owner()
    name = sql.Identifier("pganon_data", f"r{done.run_id}_records")
    conn.execute(sql.SQL("UPDATE {} SET {}").format(name, sql.SQL(change)))  # pyright: ignore
    rows = conn.execute(
        "SELECT holds FROM pganon.verify('r') WHERE model = 'structure_of_individuals'"
    ).fetchall()
    assert rows == [(not found,)]
