"""pganon.fingerprint: rows as a multiset, whatever a restored dump renumbers."""

from __future__ import annotations

from pganon.identifiers import QualifiedName
from pganon.ledger import repository as ledger
from pganon.publish.transaction import fingerprint

TABLE = QualifiedName("pganon_stage", "t")


def test_enum_values_count_by_their_label(db):
    with db.owner() as conn:
        run = ledger.start_run(conn, "r", "hash")
        conn.execute("CREATE TYPE pganon_stage.mood AS ENUM ('sad', 'ok')")
        conn.execute("CREATE TABLE pganon_stage.t (m pganon_stage.mood, a pganon_stage.mood[])")
        conn.execute("INSERT INTO pganon_stage.t VALUES ('ok', '{ok,sad}'), (NULL, NULL)")
        before = fingerprint(conn, run, [TABLE])
        # The same labels under new numbers, as after dump and restore.
        conn.execute("ALTER TYPE pganon_stage.mood RENAME TO old_mood")
        conn.execute("CREATE TYPE pganon_stage.mood AS ENUM ('sad', 'ok')")
        conn.execute(
            "ALTER TABLE pganon_stage.t"
            " ALTER m TYPE pganon_stage.mood USING m::text::pganon_stage.mood,"
            " ALTER a TYPE pganon_stage.mood[] USING a::text::pganon_stage.mood[]"
        )
        assert fingerprint(conn, run, [TABLE]) == before
        conn.execute("UPDATE pganon_stage.t SET m = 'sad' WHERE m = 'ok'")
        assert fingerprint(conn, run, [TABLE]) != before


def test_order_does_not_count_and_repetition_does(db):
    with db.owner() as conn:
        run = ledger.start_run(conn, "r", "hash")
        conn.execute("CREATE TABLE pganon_stage.t AS SELECT generate_series(1, 3) AS t")
        first = fingerprint(conn, run, [TABLE])
        conn.execute("DROP TABLE pganon_stage.t")
        conn.execute("CREATE TABLE pganon_stage.t AS SELECT generate_series(3, 1, -1) AS t")
        assert fingerprint(conn, run, [TABLE]) == first
        conn.execute("INSERT INTO pganon_stage.t VALUES (2), (2)")
        assert fingerprint(conn, run, [TABLE]) != first


def test_values_that_change_places_count(db):
    """Two rows that exchange a value have the same values in every column as before."""
    with db.owner() as conn:
        run = ledger.start_run(conn, "r", "hash")
        conn.execute(
            "CREATE TABLE pganon_stage.t AS SELECT n AS group_id, 'v' || n AS value"
            " FROM generate_series(1, 30) AS n"
        )
        before = fingerprint(conn, run, [TABLE])
        for n in range(1, 30):
            with conn.transaction(force_rollback=True):
                conn.execute(
                    "UPDATE pganon_stage.t SET group_id = %(one)s + %(other)s - group_id"
                    " WHERE group_id IN (%(one)s, %(other)s)",
                    {"one": n, "other": n + 1},
                )
                assert fingerprint(conn, run, [TABLE]) != before
