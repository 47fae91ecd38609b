"""Attack: views of anybody upon views and functions of pganon, which `upgrade` has to replace."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from pganon import install, sqlfiles
from pganon.errors import InstallError
from pganon.install.owner import become_owner
from pganon.publish import lifecycle, listing
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.staging import release

BUILT = """
    CREATE SCHEMA built AUTHORIZATION analyst;
    SET ROLE analyst;
    CREATE VIEW built.shown AS SELECT release, method FROM pganon.releases;
    CREATE VIEW built.columns AS TABLE pganon.release_columns;
    CREATE VIEW built.upon AS SELECT release FROM built.shown;
    CREATE VIEW built.measured AS SELECT * FROM pganon.measures();
    CREATE VIEW built.numbers AS SELECT pganon.share(numrange '[1,2]', 1, 1);
    CREATE VIEW built.days AS
        SELECT pganon.share(daterange '[2025-01-01,2025-01-05)', '2025-01-01', '2025-01-02');
    CREATE VIEW built.never AS SELECT 1 AS n WHERE pganon.seal('pg_class') IS NULL;
    CREATE TABLE built.row_of (r pganon.requests);
    RESET ROLE;
    -- Nobody but the owner may read it, but privileges are not what a dependency needs.
    CREATE VIEW built.past AS TABLE pganon.ledger;
"""


@pytest.fixture
def analyst(db: Database) -> Connection:
    release(db.owner())
    db.admin.execute(BUILT.encode())
    conn = db.connect("analyst")
    conn.execute("CREATE TEMPORARY VIEW passing AS TABLE pganon.releases")
    return conn


def _newer(monkeypatch: pytest.MonkeyPatch, **changes: dict[bytes, bytes] | None) -> None:
    """A program whose views and functions differ: new texts by old ones; None: it has none."""
    known = sqlfiles.object_set()
    objects: list[sqlfiles.SqlObject] = []
    for item in known.objects:
        texts = changes.get(item.name, {})
        if texts is None:
            continue
        made = item.text
        for old, new in texts.items():
            assert old in made
            made = made.replace(old, new, 1)
        objects.append(replace(item, text=made))
    changed = replace(known, objects=tuple(objects), grants=known.grants + b"-- newer\n")
    monkeypatch.setattr(sqlfiles, "object_set", lambda: changed)


def _works(db: Database) -> None:
    become_owner(db.connect())
    assert [info.release for info in listing.releases(db.connect("analyst"))] == ["adult"]


def test_an_upgrade_keeps_what_others_have_built(
    db: Database, analyst: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    _newer(
        monkeypatch,
        releases={
            b"v.published_at\n": b"v.published_at, 1 AS more\n",
            b"published_at timestamptz": b"published_at timestamptz, more integer",
        },
    )
    known = sqlfiles.migrations()
    # What the views read changes its type, which it may not while they read it.
    text = b"ALTER TABLE pganon_private.release ALTER COLUMN view_name TYPE varchar"
    more = sqlfiles.Migration(len(known) + 1, "9999_change_release.sql", text)
    monkeypatch.setattr(sqlfiles, "migrations", lambda: (*known, more))
    done = install.upgrade(db.connect())
    assert (done.changed, done.dropped) == (True, ())
    _works(db)
    assert analyst.execute("TABLE built.upon").fetchall() == [("adult",)]
    assert analyst.execute("SELECT count(*) FROM built.columns").fetchone() == (3,)
    assert analyst.execute("SELECT count(*) > 5 FROM built.measured").fetchone() == (True,)
    assert analyst.execute("TABLE built.numbers").fetchall() == [(Decimal("0.5"),)]
    assert analyst.execute("TABLE built.days").fetchall() == [(Decimal("0.5"),)]
    assert analyst.execute("SELECT release FROM passing").fetchall() == [("adult",)]
    assert db.owner().execute("SELECT more FROM pganon.releases").fetchall() == [(1,)]
    assert not install.upgrade(db.connect()).changed


def test_what_cannot_stay_is_dropped_and_named(
    db: Database, analyst: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A column less, other arguments, another result, and a view that is there no more."""
    _newer(
        monkeypatch,
        release_columns={b"    c.position,\n": b"", b'"position" bigint, ': b""},
        seal={
            b"seal(rel regclass)": b"seal(rel regclass, more int DEFAULT 1)",
            b"pganon.seal(regclass) IS": b"pganon.seal(regclass, int) IS",
        },
        share={
            b"low date, high date)": b"low date, high date, more int DEFAULT 1)",
            b"share(daterange, date, date) IS": b"share(daterange, date, date, int) IS",
        },
        open_to_all={b"share(daterange, date, date)": b"share(daterange, date, date, int)"},
        measures={b"TABLE (name text": b"TABLE (title text"},
        ledger=None,
    )
    done = install.upgrade(db.connect())
    assert set(done.dropped) == {
        "view built.columns depends on view pganon.release_columns",
        "view built.never depends on function pganon.seal(regclass)",
        "view built.measured depends on function pganon.measures()",
        "view built.numbers depends on function pganon.share(numrange,numeric,numeric,boolean)",
        "view built.days depends on function pganon.share(daterange,date,date)",
        "view built.past depends on view pganon.ledger",
    }
    assert analyst.execute("TABLE built.upon").fetchall() == [("adult",)]
    counts = db.owner().execute(
        "SELECT proname, count(*) FROM pg_proc WHERE proname IN ('seal', 'share') GROUP BY 1"
    )
    assert set(counts) == {("seal", 1), ("share", 5)}


def test_uninstall_drops_and_names_what_others_have_built(
    db: Database, analyst: Connection
) -> None:
    conn = db.connect()
    conn.execute("SET client_min_messages = error")
    done = install.uninstall(conn)
    assert "view built.upon depends on view built.shown" in done.dropped
    assert "column r of table built.row_of depends on type pganon.requests" in done.dropped
    assert db.admin.execute("SELECT to_regnamespace('pganon')").fetchone() == (None,)
    assert analyst.execute("TABLE published.adult").rowcount == 3


def test_purge_names_what_others_have_built_on_withdrawn_views(db: Database) -> None:
    conn = db.owner()
    release(conn)
    db.admin.execute("GRANT CREATE ON SCHEMA published TO analyst")
    db.connect("analyst").execute("CREATE VIEW published.v AS TABLE published.adult")
    lifecycle.drop(conn, "adult")
    done = pganon("uninstall", "--purge", "--dsn", db.dsn())
    assert done.code == 0
    assert "view published.v depends on view pganon_private.set_aside_" in done.err
    assert db.admin.execute("SELECT to_regclass('published.v')").fetchone() == (None,)


def test_uninstall_leaves_what_the_steward_put_into_the_schema(db: Database) -> None:
    db.owner().execute("CREATE VIEW pganon.mine AS SELECT 1 AS a")
    with pytest.raises(InstallError, match=r"view pganon\.mine depends on schema pganon") as caught:
        install.uninstall(db.connect())
    assert caught.value.code == "dependents"
