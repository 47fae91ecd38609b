"""Attack: a reader of a SLAMSA release looks for more than its views show."""

from __future__ import annotations

import psycopg
import pytest

from tests.support.harness import driver, faults
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import stays
from tests.support.sources.stays import METHODS, build, document, parts, release, views

pytestmark = pytest.mark.primary_server_only

CLOSED = (
    "SELECT FROM pganon_data.r1_{part}",
    "SELECT ctid FROM pganon_data.r1_{part}",
    "COPY pganon_data.r1_{part} TO STDOUT",
    "UPDATE published.stays_{part} SET group_id = 1",
    "DELETE FROM published.stays_{part}",
    "INSERT INTO published.stays_{part} DEFAULT VALUES",
)
PRIVATE = (
    "SELECT FROM pganon_private.r1_members",
    "SELECT FROM pganon_private.run_secret",
    "SELECT FROM pganon_private.version",
    "SELECT FROM pganon_private.ledger",
    "SELECT FROM pganon.ledger",
    "DELETE FROM published.stays",
    "SELECT FROM public.stay",
)


def published(db: Database, name: str) -> Connection:
    build(db, stays.rows(60))
    assert release(db, options=METHODS[name]).run_id == 1
    for part in parts(db, 1):
        db.admin.execute(f"ANALYZE pganon_data.r1_{part}".encode())
    db.admin.execute(b"ANALYZE pganon_private.r1_members")
    return db.connect("analyst")


@pytest.mark.parametrize("name", ["aligned", "independent, sliced"])
@pytest.mark.slow
def test_views_are_open_and_nothing_else(db: Database, name: str) -> None:
    analyst = published(db, name)
    assert faults.exposed(db.owner()) == []
    held = parts(db, 1)
    assert held == (["qit", "st1", "st2"] if name == "aligned" else ["qit1", "qit2", "st1", "st2"])
    seen = analyst.execute(
        "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname !~ '^(pg_|information_schema|pganon$)'"
        " AND has_any_column_privilege(c.oid, 'SELECT') ORDER BY 1"
    )
    assert [row[0] for row in seen.fetchall()] == ["stays", *[f"stays_{part}" for part in held]]
    for text in [*PRIVATE, *[text.format(part=part) for part in held for text in CLOSED]]:
        with pytest.raises(
            (psycopg.errors.InsufficientPrivilege, psycopg.errors.ObjectNotInPrerequisiteState)
        ) as caught:
            analyst.execute(text.encode())
        assert stays.SECRET not in str(caught.value), text
    for view in views(analyst):
        assert analyst.execute(f"SELECT FROM published.{view}".encode()).rowcount > 0
        for column in ("ctid", "tableoid", "xmin"):
            with pytest.raises(psycopg.errors.UndefinedColumn):
                analyst.execute(f"SELECT {column} FROM published.{view}".encode())


@pytest.mark.slow
def test_stored_relations_hold_what_the_views_show(db: Database) -> None:
    """No column more, no key, trigger or sequence that ties them together or to the source."""
    analyst = published(db, "independent")
    for part in parts(db, 1):
        names = [
            [c.name for c in conn.execute(f"SELECT * FROM {relation} LIMIT 0".encode()).description]  # pyright: ignore[reportOptionalIterable]
            for conn, relation in (
                (analyst, f"published.stays_{part}"),
                (db.admin, f"pganon_data.r1_{part}"),
            )
        ]
        assert names[0] == names[1]
    found = db.admin.execute(
        "SELECT 1 FROM pg_constraint AS c JOIN pg_class AS r ON r.oid = conrelid"
        " WHERE relname ~ '^r1_' AND contype <> 'n'"
        " UNION ALL SELECT 1 FROM pg_trigger AS t JOIN pg_class AS r ON r.oid = tgrelid"
        " WHERE relname ~ '^r1_'"
        " UNION ALL SELECT 1 FROM pg_depend AS d JOIN pg_class AS r ON r.oid = d.objid"
        " WHERE relname ~ '^r1_' AND d.refobjid = 'public.stay'::regclass"
    )
    assert found.fetchall() == []


@pytest.mark.slow
def test_no_statistics_and_no_comments_with_values(db: Database) -> None:
    analyst = published(db, "aligned")
    for view in ("pg_stats", "pg_stats_ext", "pg_stats_ext_exprs"):
        found = analyst.execute(f"SELECT FROM {view} WHERE schemaname ~ 'pganon'".encode())
        assert found.fetchall() == []
    texts = analyst.execute(
        "SELECT description FROM pg_description"
        " UNION ALL SELECT definition FROM pg_views WHERE schemaname = 'published'"
    ).fetchall()
    assert not any(stays.SECRET in str(row[0]) for row in texts)


@pytest.mark.parametrize("name", ["aligned", "independent"])
def test_views_say_whom_independent_buckets_protect_from(db: Database, name: str) -> None:
    analyst = published(db, name)
    for view in ("stays", "stays_st1", "stays_st2"):
        found = analyst.execute(f"SELECT obj_description('published.{view}'::regclass)".encode())
        ((comment,),) = found.fetchall()
        assert "Guarantee: " in comment
        assert ("for readers who do not know" in comment) == (name == "independent")


# -- who was left out ---------------------------------------------------------------------------

RECORDS, FREQUENT = 97, 61
"""The most frequent disease; 36 others are left, so 25 are too many."""


def unbalanced() -> list[tuple[object, ...]]:
    return [
        (n, "Z", "F", 1, "flu" if n % 97 < FREQUENT else f"d{n}", f"u{n}", f"s{n}")
        for n in range(RECORDS)
    ]


@pytest.mark.slow
def test_how_many_were_left_out_is_not_told(db: Database) -> None:
    """A limit that the documentation states: the ages that are missing all had the one disease."""
    build(db, unbalanced())
    done = release(db, on_infeasible="suppress", suppression_limit=1.0)
    assert (done.records, done.suppressed) == (RECORDS, 25)
    analyst = db.connect("analyst")
    ages = {row["age"] for row in stays.shown(analyst, "stays_qit")}
    assert len(ages) == done.released == 72
    assert set(range(RECORDS)) - ages <= set(range(FREQUENT))
    (row,) = analyst.execute(
        "SELECT r.release, r.version, r.method, r.guarantee,"  # the time may hold any digits
        " (SELECT array_agg(c) FROM pganon.release_columns AS c),"
        " (SELECT array_agg(g) FROM pganon.guarantees AS g) FROM pganon.releases AS r"
    ).fetchall()
    comments = analyst.execute(
        "SELECT description FROM pg_description AS d JOIN pg_class AS c ON c.oid = d.objoid"
        " JOIN pg_namespace AS n ON n.oid = relnamespace WHERE nspname = 'published'"
    ).fetchall()
    assert len(comments) > len(views(analyst))
    for said in (str(row), str(comments)):
        assert not any(text in said for text in ("suppress", "97", "61", "25", "72", "flu", "r1_"))
    left = analyst.execute("SELECT relname, reltuples FROM pg_class WHERE relname ~ '^r1_'")
    assert all(tuples != RECORDS for _, tuples in left.fetchall())


@pytest.mark.slow
def test_who_is_left_out_is_drawn(db: Database) -> None:
    """Neither the source's order nor quasi-identifiers say who of those with a value it was."""
    build(
        db,
        [(n, "Z", "F", 1, "flu" if n % 3 else f"d{n}", f"u{n}", f"s{n}") for n in range(600)],
    )
    drawn = []
    for seed in (1, 2):
        declared = document(
            on_infeasible="suppress", suppression_limit=1.0, options={"optimizer": "base"}
        )
        staged = driver.run(db.owner(), declared, seed=seed)
        kept = {row["age"] for row in staged.table("qit")}
        out = [n for n in range(600) if n not in kept]
        assert len(out) == 200
        # Drawn from 400: five standard deviations of the mean.
        assert abs(sum(out) / 200 - 300) < 5 * (600 / 12**0.5) / 200**0.5
        drawn.append(set(out))
    assert 60 < len(drawn[0] & drawn[1]) < 140
