"""pganon.fingerprint: rows as a multiset, whatever a restored dump renumbers."""

from __future__ import annotations

import psycopg
import pytest

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


ALIKE = {
    "numeric": ("1.5", "-1.5"),
    "numeric[]": ("{1.5,2}", "{1.5,-2}"),
    "numrange": ("[1,2]", "[-1,2]"),
    "nummultirange": ("{[1,2]}", "{[-1,2]}"),
    "interval": ("1 month", "30 days"),
    "float8": ("0", "-0"),
    "jsonb": ('{"a": 1}', '{"a": -1}'),
    "timetz": ("10:00+01", "09:00+00"),
    "bigint": ("5", "4294967300"),
    "int8range": ("[5,6)", "[4294967300,4294967301)"),
    "timestamp": ("2000-01-01 00:00:00.000005", "2000-01-01 01:11:34.9673"),
    "timestamptz": ("2000-01-01 00:00:00.000005+00", "2000-01-01 01:11:34.9673+00"),
    "time": ("00:00:00.000005", "01:11:34.9673"),
    "blind": ("a", "A"),
}
"""Values by type that are equal, or have the same hash."""


@pytest.mark.all_versions
@pytest.mark.parametrize("kind", ALIKE)
def test_values_that_hash_alike_are_told_apart(db, kind):
    """One of 32 bytes, which earlier programs made, is compared as these did."""
    one, other = ALIKE[kind]
    with db.owner() as conn:
        run = ledger.start_run(conn, "r", "hash")
        of = kind
        if kind == "blind":
            try:
                conn.execute(
                    "CREATE COLLATION pganon_stage.blind"
                    " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)"
                )
            except psycopg.errors.FeatureNotSupported:
                pytest.skip("the server was built without ICU")
            of = "text COLLATE pganon_stage.blind"
        conn.execute(f"CREATE TABLE pganon_stage.t (t {of}, n int)")
        conn.execute("INSERT INTO pganon_stage.t VALUES (%s, 1), (NULL, 2)", [one])
        before, old = fingerprint(conn, run, [TABLE]), fingerprint(conn, run, [TABLE], bytes(32))
        assert (len(before), len(old)) == (33, 32)
        assert fingerprint(conn, run, [TABLE], before) == before
        assert fingerprint(conn, run, [TABLE], old) == old
        conn.execute("UPDATE pganon_stage.t SET t = %s WHERE n = 1", [other])
        assert fingerprint(conn, run, [TABLE]) != before
        conn.execute("UPDATE pganon_stage.t SET n = 3 WHERE n = 1")
        assert fingerprint(conn, run, [TABLE], old) != old


def test_texts_do_not_depend_on_the_session(db):
    with db.owner() as conn:
        run = ledger.start_run(conn, "r", "hash")
        conn.execute(
            "CREATE TABLE pganon_stage.t AS SELECT '1 mon 2 days'::interval AS i, 0.1::float8 AS f,"
            " '[2026-01-02,2026-02-03)'::daterange AS d, now() AS t, numrange(1, 2) AS n"
        )
        before = fingerprint(conn, run, [TABLE])
        for setting in (
            "IntervalStyle = iso_8601",
            "DateStyle = 'German'",
            "extra_float_digits = -10",
            "TimeZone = 'Asia/Tokyo'",
        ):
            conn.execute(f"SET {setting}")
        assert fingerprint(conn, run, [TABLE]) == before
