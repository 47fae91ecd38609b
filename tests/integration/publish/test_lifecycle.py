"""Releases after publication: listed, measured again, rolled back, dropped, exported."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from pganon import install
from pganon.errors import LedgerError, PreconditionError, PrivacyRefusal, UsageError
from pganon.identifiers import QualifiedName
from pganon.privacy.base import ALL_VERSIONS, ONE_VERSION, over_finer
from pganon.publish import export as exporting
from pganon.publish import lifecycle, listing, sessions
from pganon.publish.export import export
from pganon.resolved.guarantee import in_words
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import COLUMNS, ROWS, release


def _events(conn: Connection) -> list[tuple[str, int | None]]:
    return conn.execute("SELECT event, version FROM pganon.ledger ORDER BY id").fetchall()


def _count(conn: Connection) -> int:
    row = conn.execute("SELECT count(*) FROM published.adult").fetchone()
    assert row is not None
    return row[0]


def test_listing(db: Database) -> None:
    conn = db.owner()
    assert listing.releases(conn) == []
    release(conn)
    release(conn, "hidden", readers=())
    steward = {info.release: info for info in listing.releases(conn)}
    assert set(steward) == {"adult", "hidden"}
    assert steward["adult"].source == "public.adult"
    assert [v.row_count for v in steward["adult"].versions or ()] == [3]
    analyst = db.connect("analyst")
    assert sessions.become_steward(analyst) is False
    (seen,) = listing.releases(analyst)
    assert (seen.release, seen.version, seen.source, seen.versions) == ("adult", 1, None, None)
    assert [c["name"] for c in seen.columns] == [name for name, _ in COLUMNS]
    assert seen.columns == steward["adult"].columns
    assert listing.show(analyst, "adult") == seen
    for name in ("hidden", "hiden"):
        with pytest.raises(LedgerError, match="there is no release") as caught:
            listing.show(analyst, name)
        assert "did you mean" not in str(caught.value.hint)
    with pytest.raises(LedgerError) as caught:
        listing.show(conn, "Hiden")
    assert caught.value.hint == "did you mean hidden?"
    assert caught.value.code == "unknown_release"


def test_a_reader_of_an_older_installation_is_told_so(db: Database) -> None:
    db.owner().execute("DROP VIEW pganon.release_columns")
    done = pganon("releases", "--dsn", db.dsn("analyst"), "--json")
    assert (done.code, done.json["error"]["code"]) == (3, "outdated")
    assert "pganon upgrade" in done.json["error"]["hint"]


def test_a_model_with_several_parameters_is_listed_with_all(db: Database) -> None:
    promised = {"model": "grouped", "k": 4, "count": "supported", "min_values": 2, "column": None}
    promised |= {
        "requirement": in_words(promised),
        "reader": "who knows all",
        "assumes": ["it", "is"],
    }
    release(db.owner(), guarantee=[promised])
    for role in ("steward", "analyst"):
        shown = pganon("show", "adult", "--dsn", db.dsn(role), "--json").json
        assert shown["guarantee"] == [promised]
        text = pganon("show", "adult", "--dsn", db.dsn(role)).out
        assert "grouped k=4 count=supported min_values=2" in text
    text = "grouped k=4 count=supported min_values=2"
    listed = db.connect("analyst").execute("SELECT guarantee FROM pganon.releases").fetchall()
    assert listed == [(f"{text}, against a reader who knows all",)]
    rows = db.connect("analyst").execute("SELECT * FROM pganon.guarantees").fetchall()
    assert rows == [("adult", 1, 1, text, "who knows all", ["it", "is"], None, promised)]


@pytest.mark.parametrize(
    ("over_versions", "state", "said"),
    [
        (ALL_VERSIONS, "holds", ""),
        (ONE_VERSION, None, " and has no other version"),
        (ONE_VERSION, "void", " and has no other version"),
        (over_finer(3), "finer", " and has no finer version"),
    ],
)
def test_the_guarantee_is_a_sentence(
    db: Database, over_versions: str, state: str | None, said: str
) -> None:
    """Whoever reads it in psql learns what holds, and against whom."""
    reader = "who knows the quasi-identifiers of a person"
    models = ("k_anonymity k=5", "distinct_l_diversity(disease) l=2")
    told = [{"requirement": m, "reader": reader, "over_versions": over_versions} for m in models]
    release(db.owner(), guarantee=told)
    db.owner().execute("UPDATE pganon_private.version SET over_versions = %s", [state])
    rows = db.connect("analyst").execute("SELECT guarantee FROM pganon.releases").fetchall()
    assert rows == [(f"{', '.join(models)}, against a reader {reader}{said}",)]


def test_verify(db: Database) -> None:
    conn = db.owner()
    done = release(conn, joined=True)
    found = lifecycle.verify(conn, "adult")
    assert all(m.holds for m in found)
    assert [(m.model, m.against, m.parameter, m.measured) for m in found] == [
        ("k_anonymity", "", 1.0, 1.0),
        ("row_count", "records", 3.0, 3.0),
        ("row_count", "classes", 2.0, 2.0),
        ("row_count", "members", 3.0, 3.0),
        ("fingerprint", "", None, None),
        ("view", "published.adult", None, None),
        ("privileges", "private schemas", 0.0, 0.0),
        ("privileges", "schema pganon", 0.0, 0.0),
        ("privileges", "schema published", 0.0, 0.0),
        ("privileges", "published.adult", 0.0, 0.0),
    ]
    conn.execute(
        "SET extra_float_digits = 0; SET TimeZone = 'Asia/Tokyo'; SET bytea_output = 'escape'"
    )
    assert lifecycle.verify(conn, "adult") == found

    def failing() -> list[str]:
        return [m.model for m in lifecycle.verify(conn, "adult") if not m.holds]

    conn.execute(f"UPDATE pganon_data.r{done.run_id}_records SET disease = 'x'".encode())
    assert failing() == ["fingerprint"]
    conn.execute(f"TRUNCATE pganon_data.r{done.run_id}_records".encode())
    assert failing() == ["k_anonymity", "row_count", "fingerprint"]
    conn.execute(
        "CREATE OR REPLACE VIEW published.adult AS"
        " SELECT 1::bigint AS class_id, '[1,2]'::numrange AS age, ''::text AS disease"
    )
    assert failing()[3:] == ["view"]
    conn.execute(f"DROP TABLE pganon_data.r{done.run_id}_records CASCADE".encode())
    assert failing() == ["k_anonymity", "row_count", "fingerprint", "view"]


def test_verify_needs_a_release(db: Database) -> None:
    conn = db.owner()
    with pytest.raises(LedgerError, match="no release adult"):
        lifecycle.verify(conn, "adult")


def test_rollback(db: Database) -> None:
    conn = db.owner()
    for n in (1, 2, 3):
        release(conn, rows=ROWS[:n])
    done = lifecycle.show_earlier(conn, "adult")
    assert (done.before, done.now) == (3, 2)
    assert _count(db.connect("analyst")) == 2
    assert lifecycle.show_earlier(conn, "adult", 3).now == 3
    assert lifecycle.show_earlier(conn, "adult", 1).now == 1
    assert _events(conn)[-1] == ("rolled_back", 1)
    assert all(m.holds for m in lifecycle.verify(conn, "adult"))
    for to, code in ((None, "not_stored"), (9, "unknown_version")):
        with pytest.raises(LedgerError) as caught:
            lifecycle.show_earlier(conn, "adult", to)
        assert caught.value.code == code
    with pytest.raises(UsageError):
        lifecycle.show_earlier(conn, "adult", 1)
    assert release(conn, keep=2).version == 4
    with pytest.raises(LedgerError, match="version 1 of the release adult is no longer stored"):
        lifecycle.show_earlier(conn, "adult", 1)
    assert lifecycle.show_earlier(conn, "adult").now == 3


def test_rollback_to_other_columns(db: Database) -> None:
    conn = db.owner()
    release(conn, extra_views=["_st"])
    release(conn, columns=COLUMNS[:2], rows=[r[:2] for r in ROWS])
    conn.execute("CREATE SCHEMA mine; CREATE VIEW mine.v AS SELECT age FROM published.adult")
    built = ("view mine.v depends on view published.adult",)
    assert lifecycle.show_earlier(conn, "adult").dependents == built
    analyst = db.connect("analyst")
    assert analyst.execute("SELECT disease FROM published.adult_st LIMIT 0").fetchall() == []


def test_rollback_refuses_what_was_changed(db: Database) -> None:
    conn = db.owner()
    done = release(conn)
    release(conn)
    conn.execute(f"DELETE FROM pganon_data.r{done.run_id}_records".encode())
    with pytest.raises(PrivacyRefusal):
        lifecycle.show_earlier(conn, "adult")
    conn.execute(f"DROP TABLE pganon_data.r{done.run_id}_records".encode())
    with pytest.raises(PrivacyRefusal):
        lifecycle.show_earlier(conn, "adult")


def test_drop(db: Database, tmp_path: Path) -> None:
    conn = db.owner()
    release(conn)
    done = release(conn)
    conn.execute("CREATE SCHEMA mine; CREATE VIEW mine.v AS SELECT age FROM published.adult")
    changed = lifecycle.drop(conn, "adult")
    assert (changed.before, changed.now, changed.dropped) == (2, None, (2, 1))
    assert changed.dependents == ("view mine.v depends on view published.adult",)
    assert _events(conn)[-1] == ("dropped", 2)
    left = conn.execute(
        "SELECT to_regclass('published.adult'), to_regclass(%s), to_regclass(%s),"
        " (SELECT count(*) FROM pganon_private.version WHERE dropped_at IS NOT NULL)",
        [f"pganon_data.r{done.run_id}_records", f"pganon_private.r{done.run_id}_members"],
    ).fetchone()
    assert left == (None, None, f"pganon_private.r{done.run_id}_members", 2)
    assert [i.version for i in listing.releases(conn)] == [None]
    assert listing.releases(db.connect("analyst")) == []
    assert pganon("releases", "--dsn", db.dsn()).out == "dropped: adult\n"
    told = pganon("history", "adult", "--dsn", db.dsn()).out
    assert "suppressed 0" in told
    assert "sha256" not in told
    for act in (
        lambda: lifecycle.drop(conn, "adult"),
        lambda: lifecycle.show_earlier(conn, "adult"),
        lambda: lifecycle.verify(conn, "adult"),
        lambda: export(conn, "adult", tmp_path / "x.csv"),
    ):
        with pytest.raises(LedgerError):
            act()
    assert release(conn).version == 3


TYPED = (
    ("Id", "integer"), ("price", "numeric(8,2)"), ("free", "numeric"), ("span", "daterange"),
    ("tags", "text[]"), ("ranges", "numrange[]"), ("at", "timestamp with time zone"),
    ("ok", "boolean"), ("x\"; --", "text"),
)  # fmt: skip
VALUES = (
    (1, "1.50", "0.1", "[2020-01-01,2020-02-01)", "{a,b}", '{"[1,2]"}', "2020-01-01 00:00Z", True,
     'a,"b"'),
    (2, None, None, None, None, None, None, None, None),
)  # fmt: skip


def test_export_csv(db: Database, tmp_path: Path) -> None:
    release(db.owner(), columns=TYPED, rows=VALUES)
    analyst = db.connect("analyst")
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    done = export(analyst, "adult", plain)
    assert (done.rows, done.view, done.version) == (2, "published.adult", 1)
    export(analyst, "adult", packed)
    text = plain.read_text()
    assert gzip.decompress(packed.read_bytes()).decode() == text
    rows = list(csv.reader(text.splitlines()))
    assert rows[0] == [name for name, _ in TYPED]
    assert rows[1][:4] == ["1", "1.50", "0.1", "[2020-01-01,2020-02-01)"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.csv", "a.csv.gz"]
    with pytest.raises(UsageError, match="exists"):
        export(analyst, "adult", plain)
    export(analyst, "adult", plain, replace=True)


def test_what_the_steward_exports_is_in_the_ledger(db: Database, tmp_path: Path) -> None:
    """Nothing of it is: what readers export, and what did not become a file."""
    conn = db.owner()
    release(conn, extra_views=["_st"], rows=ROWS[:1])
    release(conn, extra_views=["_st"])
    exported = (
        "SELECT version, run_id, by_role, details FROM pganon.ledger WHERE event = 'exported'"
    )
    read = export(db.connect("analyst"), "adult", tmp_path / "read.csv")
    assert not read.recorded
    # A name that is no text in any encoding.
    file = tmp_path / os.fsdecode(b"a\xff.csv.gz")
    done = export(conn, "adult", file, view="st", version=1)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (done.recorded, done.sha256) == (True, digest)
    row = (1, "steward", {"file": "a?.csv.gz", "view": done.view, "rows": 1, "sha256": digest})
    (found,) = conn.execute(exported).fetchall()
    assert (found[0], *found[2:]) == row
    of_version = "SELECT run_id FROM pganon_private.version WHERE version = 1"
    assert conn.execute(of_version).fetchone() == (found[1],)
    conn.execute("SET default_transaction_read_only = on")
    assert not export(conn, "adult", tmp_path / "replica.csv").recorded
    conn.execute("SET default_transaction_read_only = off")
    # A row that cannot be committed.
    db.admin.execute(
        "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON pganon_private.ledger DEFERRABLE"
        " INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION pganon_private.refuse_change()"
    )
    with pytest.raises(LedgerError):
        export(conn, "adult", tmp_path / "lost.csv")
    assert not (tmp_path / "lost.csv").exists()
    assert conn.execute(exported).fetchall() == [found]


def test_export_of_a_release_that_changes(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader gets what was looked at, or nothing."""
    conn = db.owner()
    for n in (1, 2):
        release(conn, rows=ROWS[:n])
    hold = exporting._hold

    def late(reader: Connection, view: QualifiedName) -> None:
        lifecycle.show_earlier(conn, "adult")
        hold(reader, view)

    monkeypatch.setattr(exporting, "_hold", late)
    out = tmp_path / "out.csv"
    with pytest.raises(PreconditionError) as caught:
        exporting.export(db.connect("analyst"), "adult", out)
    assert caught.value.code == "busy"
    assert not out.exists()


def test_export_parquet(db: Database, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    release(db.owner(), columns=TYPED, rows=VALUES)
    export(db.connect("analyst"), "adult", tmp_path / "a.parquet")
    table = parquet.read_table(tmp_path / "a.parquet")
    assert table.column_names == [name for name, _ in TYPED]
    first, second = sorted(table.to_pylist(), key=lambda row: row["Id"])
    assert first["price"] == Decimal("1.50")
    assert first["free"] == Decimal("0.1")
    assert first["span"] == "[2020-01-01,2020-02-01)"
    assert first["tags"] == ["a", "b"]
    assert first["ranges"] == ["[1,2]"]
    assert first["at"].isoformat() == "2020-01-01T00:00:00+00:00"
    assert all(second[name] is None for name, _ in TYPED[1:])


def test_export_parquet_refuses_without_a_value(db: Database, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    release(db.owner(), columns=[("d", "date")], rows=[("infinity",)])
    with pytest.raises(PreconditionError) as caught:
        export(db.connect("analyst"), "adult", tmp_path / "a.parquet")
    assert caught.value.code == "not_in_parquet"
    assert list(tmp_path.iterdir()) == []


def test_export_without_pyarrow(db: Database, tmp_path: Path, monkeypatch) -> None:
    release(db.owner())
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(PreconditionError, match="pyarrow") as caught:
        export(db.owner(), "adult", tmp_path / "a.parquet")
    assert caught.value.code == "no_pyarrow"


def test_export_chooses(db: Database, tmp_path: Path) -> None:
    conn = db.owner()
    release(conn, extra_views=["_st"], rows=ROWS[:1])
    release(conn, extra_views=["_st"])
    done = export(conn, "adult", tmp_path / "a.csv", view="st", version=1)
    assert (done.view, done.rows) == ("published.adult_st", 1)
    analyst = db.connect("analyst")
    for wrong in ({"view": "nothing"}, {"version": 1}):
        with pytest.raises(UsageError):
            export(analyst, "adult", tmp_path / "b.csv", **wrong)
    with pytest.raises(UsageError, match="must end in"):
        export(analyst, "adult", tmp_path / "b.txt")
    with pytest.raises(UsageError, match="cannot be written"):
        export(analyst, "adult", tmp_path / "no" / "b.csv")


def test_hostile_names(db: Database, tmp_path: Path) -> None:
    conn = db.owner()
    name = 'x"; drop table t; --'
    for view in (QualifiedName("a.b", name), QualifiedName("a.b", "Other")):
        release(conn, name, view=view, columns=[("a.b", "integer"), ("t", "text")], rows=[(1, "x")])
    lifecycle.show_earlier(conn, name)
    assert all(m.holds for m in lifecycle.verify(conn, name))
    assert export(db.connect("analyst"), name, tmp_path / "a.csv").rows == 1
    lifecycle.drop(conn, name)


@pytest.mark.slow
def test_commands(db: Database, tmp_path: Path) -> None:
    conn = db.owner()
    assert pganon("releases", "--dsn", db.dsn()).out == "no releases\n"
    first = release(conn)
    release(conn)
    at, analyst = ("--dsn", db.dsn()), ("--dsn", db.dsn("analyst"))
    for who in (at, analyst):
        shown = pganon("releases", *who)
        assert shown.code == 0
        assert "k_anonymity k=1" in shown.out
        assert pganon("releases", "--json", *who).json[0]["version"] == 2
        assert "class_id" in pganon("show", "adult", *who).out
    assert "suppressed" in pganon("show", "adult", *at).out
    assert "suppressed" not in pganon("show", "adult", *analyst).out
    verified = pganon("verify", "adult", *at).out
    assert verified.endswith("adult: everything holds\n")
    lines = [" ".join(line.split()) for line in verified.splitlines()]
    assert "row_count 2 tables yes" in lines
    assert not any("records" in line for line in lines)
    assert pganon("verify", "adult", *analyst).code == 3
    assert pganon("export", "adult", "-o", str(tmp_path / "a.csv"), *analyst).code == 0
    assert "version 1 is shown" in pganon("rollback", "adult", *at).out
    conn.execute(f"DELETE FROM pganon_data.r{first.run_id}_records".encode())
    lines = [" ".join(line.split()) for line in pganon("verify", "adult", *at).out.splitlines()]
    assert "row_count records 3 0 NO" in lines
    assert "row_count members 3 3 yes" in lines
    broken = pganon("verify", "adult", "--json", *at)
    assert (broken.code, broken.json["holds"]) == (1, False)
    assert pganon("rollback", "adlt", *at).code == 2
    assert pganon("drop", "adult", "--yes", "--json", *at).json["now"] is None
    assert pganon("clean", *at).out == "nothing to clean\n"


def test_releases_outlive_pganon(db: Database) -> None:
    """Views and stored tables depend on nothing in schema pganon."""
    conn = db.owner()
    release(conn)
    with db.connect() as installer:
        install.uninstall(installer)
    analyst = db.connect("analyst")
    assert _count(analyst) == 3
    with db.connect() as installer:
        install.init(installer)
    assert all(m.holds for m in lifecycle.verify(db.owner(), "adult"))
