"""pganon.stamp: equal while nobody changes a table, whatever the server does with its files."""

from __future__ import annotations

import random

import psycopg
import pytest
from psycopg import sql

from pganon.identifiers import QualifiedName
from pganon.publish.transaction import stamps
from pganon.run.tables import stamp_of_written
from tests.support.harness.cluster import Connection, Database

TABLE = QualifiedName("pganon_stage", "t")

HARMLESS = (
    "VACUUM (FREEZE) pganon_stage.t",
    "VACUUM FULL pganon_stage.t",
    "VACUUM (FULL, FREEZE) pganon_stage.t",
    "ANALYZE pganon_stage.t",
    "CREATE INDEX t_n ON pganon_stage.t (n)",
    "CLUSTER pganon_stage.t USING t_n",
    "REINDEX TABLE pganon_stage.t",
    "COMMENT ON TABLE pganon_stage.t IS 'a comment'",
    "ALTER TABLE pganon_stage.t SET (fillfactor = 50)",
    "BEGIN; DELETE FROM pganon_stage.t; ROLLBACK",
    "BEGIN; TRUNCATE pganon_stage.t; ROLLBACK",
    "BEGIN; INSERT INTO pganon_stage.t SELECT * FROM pganon_stage.t; ROLLBACK",
    "BEGIN; SELECT FROM pganon_stage.t FOR UPDATE; COMMIT",
)


def _stamp(conn: Connection, name: QualifiedName = TABLE) -> tuple[str, int]:
    ((stamp, rows),) = stamps(conn, [name])
    return stamp, rows


def _fill(conn: Connection) -> None:
    """Rows of several transactions, and dead ones."""
    conn.execute("CREATE TABLE pganon_stage.t AS SELECT n, 'v' || n AS v FROM (VALUES (1)) AS x(n)")
    for number in (2, 3, 4):
        conn.execute("INSERT INTO pganon_stage.t VALUES (%s, 'v')", [number])
    conn.execute("DELETE FROM pganon_stage.t WHERE n = 2")


def test_what_the_server_does_by_itself_does_not_count(db: Database) -> None:
    conn = db.owner()
    _fill(conn)
    before = _stamp(conn)
    assert before[1] == 3
    for text in HARMLESS:
        conn.execute(text.encode())
        assert _stamp(conn) == before, text
    frozen = conn.execute(
        "SELECT min(age(t.xmin)) > max(age(c.relfrozenxid)) FROM pganon_stage.t AS t"
        " JOIN pg_class AS c ON c.oid = t.tableoid"
    ).fetchone()
    assert frozen == (True,)


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE {t} SET n = n WHERE n = 3",
        "INSERT INTO {t} VALUES (3, 'v')",
        "DELETE FROM {t} WHERE n = 3; INSERT INTO {t} VALUES (3, 'v')",
        "DELETE FROM {t} WHERE n = 3",
        "CREATE TEMP TABLE copy AS SELECT * FROM {t}; TRUNCATE {t};"
        " INSERT INTO {t} SELECT * FROM copy",
        "ALTER TABLE {t} ADD COLUMN x integer",
        "ALTER TABLE {t} ADD COLUMN x integer DEFAULT 7",
        "ALTER TABLE {t} ADD COLUMN x integer; ALTER TABLE {t} DROP COLUMN x",
        "ALTER TABLE {t} DROP COLUMN v",
        "ALTER TABLE {t} RENAME COLUMN v TO w",
        "ALTER TABLE {t} RENAME n TO x; ALTER TABLE {t} RENAME v TO n;"
        " ALTER TABLE {t} RENAME x TO v",
        "ALTER TABLE {t} ALTER COLUMN v TYPE varchar",
        'ALTER TABLE {t} ALTER COLUMN v TYPE text COLLATE "C"',
        "ALTER TABLE {t} ALTER COLUMN n TYPE bigint",
        "ALTER TABLE {t} SET UNLOGGED",
        "CREATE TABLE pganon_stage.c () INHERITS ({t}); INSERT INTO pganon_stage.c VALUES (9, 'v')",
        "ALTER TABLE {t} RENAME TO old; CREATE TABLE {t} AS SELECT * FROM pganon_stage.old",
    ],
)
def test_every_change_counts(db: Database, text: str) -> None:
    conn = db.owner()
    _fill(conn)
    before = _stamp(conn)
    conn.execute(text.format(t=TABLE).encode())
    assert _stamp(conn)[0] != before[0]


def test_rows_that_are_born_frozen_count(db: Database) -> None:
    conn = db.owner()
    _fill(conn)
    before = _stamp(conn)
    with conn.transaction():
        conn.execute("TRUNCATE pganon_stage.t")
        with conn.cursor().copy("COPY pganon_stage.t FROM STDIN (FREEZE)") as copy:
            for row in ((1, "v1"), (3, "v"), (4, "v")):
                copy.write_row(row)
    assert _stamp(conn)[1] == before[1]
    assert _stamp(conn)[0] != before[0]


def test_children_that_change_places_count(db: Database) -> None:
    """Both were filled by one transaction, so the numbers of their rows are the same."""
    conn = db.owner()
    with conn.transaction():
        conn.execute("CREATE TABLE pganon_stage.t AS SELECT 1 AS n")
        conn.execute("CREATE TABLE pganon_stage.a AS SELECT 2 AS n")
        conn.execute("CREATE TABLE pganon_stage.b AS SELECT 3 AS n")
    conn.execute("ALTER TABLE pganon_stage.a INHERIT pganon_stage.t")
    before = _stamp(conn)
    assert before[1] == 2
    conn.execute("ALTER TABLE pganon_stage.a NO INHERIT pganon_stage.t")
    conn.execute("ALTER TABLE pganon_stage.b INHERIT pganon_stage.t")
    after = _stamp(conn)
    assert after[1] == 2
    assert after[0] != before[0]


def test_a_table_without_rows(db: Database) -> None:
    """Its columns and itself are all there is."""
    conn = db.owner()
    conn.execute("CREATE TABLE pganon_stage.t (n integer)")
    conn.execute("CREATE TABLE pganon_stage.u (n integer)")
    conn.execute("CREATE TABLE pganon_stage.w ()")
    found = stamps(conn, [QualifiedName("pganon_stage", name) for name in "tuw"])
    assert [rows for _, rows in found] == [0, 0, 0]
    assert len({stamp for stamp, _ in found}) == 3


@pytest.mark.parametrize("column", ["mood", "mood[]", "named", "named[]"])
def test_labels_of_enums_count(db: Database, column: str) -> None:
    """Renaming a label changes what rows show, and no row."""
    conn = db.owner()
    conn.execute("CREATE TYPE pganon_stage.mood AS ENUM ('sad', 'ok')")
    conn.execute("CREATE DOMAIN pganon_stage.named AS pganon_stage.mood")
    conn.execute(f"CREATE TABLE pganon_stage.t (m pganon_stage.{column})".encode())
    before = _stamp(conn)
    with conn.transaction():
        conn.execute("ALTER TYPE pganon_stage.mood RENAME VALUE 'sad' TO 'x'")
        conn.execute("ALTER TYPE pganon_stage.mood RENAME VALUE 'ok' TO 'sad'")
        conn.execute("ALTER TYPE pganon_stage.mood RENAME VALUE 'x' TO 'ok'")
    assert _stamp(conn) != before


def test_equal_stamps_mean_equal_rows(db: Database) -> None:
    """Any mix of changes, kept or undone: a stamp that was seen before comes with its rows."""
    conn = db.owner()
    _fill(conn)
    changes = (
        "INSERT INTO pganon_stage.t SELECT 1 + n, v FROM pganon_stage.t LIMIT 2",
        "DELETE FROM pganon_stage.t WHERE n % 3 = 0",
        "UPDATE pganon_stage.t SET v = v || 'x' WHERE n % 2 = 0",
        "INSERT INTO pganon_stage.t VALUES (1, 'v'), (2, 'v')",
        "VACUUM (FREEZE) pganon_stage.t",
        "VACUUM FULL pganon_stage.t",
    )
    seen: dict[str, list[tuple[object, ...]]] = {}
    chosen = random.Random(7)
    for _ in range(150):
        text = chosen.choice(changes)
        undone = text.startswith(("INSERT", "DELETE", "UPDATE")) and chosen.random() < 0.5
        conn.execute((f"BEGIN; {text}; ROLLBACK" if undone else text).encode())
        stamp, rows = _stamp(conn)
        content = conn.execute("SELECT * FROM pganon_stage.t ORDER BY n, v").fetchall()
        assert rows == len(content)
        assert seen.setdefault(stamp, content) == content
    assert 20 < len(seen) < 140, "some changes were kept and some undone"


def test_order_of_relations_is_kept(db: Database) -> None:
    conn = db.owner()
    names = [QualifiedName("pganon_stage", name) for name in ("t", 'A "b"', "select", "é.x")]
    for number, name in enumerate(names):
        conn.execute(
            sql.SQL("CREATE TABLE {} AS SELECT generate_series(1, {})").format(
                name.identifier, number
            )
        )
    assert [rows for _, rows in stamps(conn, names)] == [0, 1, 2, 3]
    assert stamps(conn, names[::-1]) == stamps(conn, names)[::-1]


def test_what_has_no_stamp(db: Database) -> None:
    conn = db.owner()
    conn.execute("CREATE VIEW pganon_stage.v AS SELECT 1 AS n")
    with pytest.raises(psycopg.Error, match="relation of the release is missing") as caught:
        stamps(conn, [TABLE])
    assert caught.value.sqlstate == "PA303"
    with pytest.raises(psycopg.Error, match="v is not a table in a heap") as caught:
        stamps(conn, [QualifiedName("pganon_stage", "v")])
    assert caught.value.sqlstate == "PA102"


def test_tables_of_another_storage_are_refused(db: Database) -> None:
    """A handler of its own, as an extension would bring; xmin means what it likes there."""
    db.admin.execute(
        "CREATE FUNCTION public.handler(internal) RETURNS table_am_handler"
        " LANGUAGE internal AS 'heap_tableam_handler'"
    )
    db.admin.execute("CREATE ACCESS METHOD other TYPE TABLE HANDLER public.handler")
    conn = db.owner()
    conn.execute("CREATE TABLE pganon_stage.t USING other AS SELECT 1 AS n")
    with pytest.raises(psycopg.Error, match="t is not a table in a heap"):
        stamps(conn, [TABLE])


@pytest.mark.parametrize("rows", [0, 1, 1000])
def test_the_stamp_of_a_table_that_was_just_written(db: Database, rows: int) -> None:
    """Who wrote it need not read it; a row more, less or changed is another stamp."""
    conn = db.owner()
    with conn.transaction():
        conn.execute(
            f"CREATE TABLE pganon_stage.t AS SELECT n FROM generate_series(1, {rows}) AS n".encode()
        )
        written = stamp_of_written(conn, TABLE, rows)
    assert _stamp(conn) == (written, rows)
    assert stamp_of_written(conn, TABLE, rows) == written
    assert (stamp_of_written(conn, TABLE, rows + 1) == written) is (rows == 0)
    conn.execute("INSERT INTO pganon_stage.t VALUES (-1)")
    assert _stamp(conn)[0] != written
    conn.execute("DELETE FROM pganon_stage.t WHERE n = -1")
    assert _stamp(conn) == (written, rows)


def test_the_stamp_of_what_a_savepoint_wrote(db: Database) -> None:
    """Its rows have the number of the part of the transaction."""
    conn = db.owner()
    with conn.transaction(), conn.transaction():
        conn.execute("CREATE TABLE pganon_stage.t AS SELECT generate_series(1, 5) AS n")
        written = stamp_of_written(conn, TABLE, 5)
    assert _stamp(conn) == (written, 5)
