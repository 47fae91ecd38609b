"""A dump brings back everything that pganon keeps, with and without the extension."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pganon import install
from pganon.errors import PrivacyRefusal
from pganon.install import scripts, state
from pganon.run.grants import guarded
from tests.support.harness import driver, dumps, faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.described import described, members
from tests.support.sources.versions import declared, history

Make = Callable[[], Database]


def _lived(db: Database) -> None:
    """Releases, policies, people remembered, a request that is done and one of a dead worker."""
    history(db)
    queue.applied(db)
    analyst = db.connect("analyst")
    analyst.execute("SELECT pganon.request_release('patients')")
    assert any("released" in line for line in queue.serve(db))
    analyst.execute("""SELECT pganon.request_release('patients', '{"k": 9}')""")
    (worker,) = db.admin.execute("SELECT last_value FROM pganon_private.worker_id_seq").fetchall()[
        0
    ]
    db.admin.execute(
        "UPDATE pganon_private.request SET state = 'running', worker = %s, attempts = 1,"
        " started_at = now() WHERE state = 'waiting'",
        [worker],
    )


def _works(original: Database, copy: Database) -> None:
    """The copy has what the original has, and goes on where that stopped."""
    assert dumps.stored(copy.admin) == dumps.stored(original.admin)
    assert described(copy.admin) == described(original.admin)
    assert members(copy.admin) == members(original.admin)
    _definers_are_the_owners(copy)
    at = ("--dsn", copy.dsn())
    for release in ("patients", "r", "rare"):
        assert pganon("verify", release, *at).code == 0, release
    analyst = copy.connect("analyst")
    faults.guarantee_holds(analyst)
    assert analyst.execute("SELECT pganon.assert_release('patients')").fetchone() == (1,)
    assert pganon("run", "patients", *at, "--json").json["outcome"] == "unchanged"
    _remembers(copy)
    _gives_requests_back(copy)


def _definers_are_the_owners(db: Database) -> None:
    owners = db.admin.execute(
        "SELECT DISTINCT p.proowner::regrole::text FROM pg_proc AS p"
        " WHERE p.pronamespace = 'pganon'::regnamespace"
    ).fetchall()
    assert owners == [("steward",)]


def _remembers(db: Database) -> None:
    found = guarded(db.connect(), driver.loaded(declared())).versions
    assert [(v.release, v.version) for v in found] == [("r", 1), ("r", 2), ("rare", 1)]
    # Whoever has all versions knows who is new.
    db.connect("source_owner").execute("INSERT INTO public.t VALUES (900, 20, 1, 'new', 'b')")
    with pytest.raises(PrivacyRefusal) as caught:
        driver.publish(db, declared(republication="refuse"))
    assert caught.value.code == "republication"


def _gives_requests_back(db: Database) -> None:
    """The first worker of the copy does not take the number of one of the original."""
    queue.serve(db)
    state = "SELECT state, worker FROM pganon_private.request ORDER BY id"
    assert db.admin.execute(state).fetchall() == [("released", None), ("waiting", None)]


@pytest.mark.parametrize(
    "options",
    [pytest.param((), marks=pytest.mark.slow), ("--exclude-schema=pganon_work",)],
    ids=["whole", "without work"],
)
@pytest.mark.slow
def test_what_init_made(new_db: Make, tmp_path: Path, options: tuple[str, ...]) -> None:
    original, copy = new_db(), new_db()
    install.init(original.connect())
    _lived(original)
    dumps.dump(original, tmp_path / "dump", *options)
    done = dumps.restore(copy, tmp_path / "dump")
    assert (done.returncode, done.stderr) == (0, "")
    assert install.init(copy.connect()).changed == bool(options)
    if options:  # The set of objects was made once more.
        copy.admin.execute(
            "DELETE FROM pganon_private.object_set WHERE number >"
            " (SELECT min(number) FROM pganon_private.object_set)"
        )
    _works(original, copy)


@pytest.mark.slow
def test_an_extension_that_its_owner_created_before(
    extension_db: Database, new_db: Make, tmp_path: Path
) -> None:
    _lived(extension_db)
    dumps.dump(extension_db, tmp_path / "dump", "--exclude-schema=pganon_work")
    copy = new_db()
    copy.connect().execute("CREATE EXTENSION pganon")
    done = dumps.restore(copy, tmp_path / "dump")
    assert done.returncode == 0, done.stderr
    _works(extension_db, copy)


def test_an_extension_that_the_restore_creates(
    extension_db: Database, new_db: Make, tmp_path: Path
) -> None:
    faults.published(extension_db)
    dumps.dump(extension_db, tmp_path / "dump", "--exclude-schema=public")
    copy = new_db()
    refused = dumps.restore(copy, tmp_path / "dump")
    assert refused.returncode != 0
    assert "rights of a superuser" in refused.stderr
    assert "pg_restore --role=OWNER" in refused.stderr
    done = dumps.restore(copy, tmp_path / "dump", "--role=steward")
    assert done.returncode == 0, done.stderr
    assert dumps.stored(copy.admin) == dumps.stored(extension_db.admin)
    assert described(copy.admin) == described(extension_db.admin)
    _definers_are_the_owners(copy)
    faults.guarantee_holds(copy.connect("analyst"))


@pytest.mark.slow
def test_a_dump_of_an_earlier_version(
    extension_db: Database,
    new_db: Make,
    files: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Restored as what it was, then updated."""
    faults.published(extension_db)
    before = dumps.stored(extension_db.admin)
    dumps.dump(extension_db, tmp_path / "dump")
    newer = "0.2.0"
    scripts.build(files, newer)
    copy = new_db()
    copy.connect().execute("CREATE EXTENSION pganon VERSION '0.1.0'")
    assert dumps.restore(copy, tmp_path / "dump").returncode == 0
    assert dumps.stored(copy.admin) == before
    copy.connect().execute("ALTER EXTENSION pganon UPDATE")
    monkeypatch.setattr(state, "program_version", lambda: newer)
    assert not install.upgrade(copy.connect()).changed
    assert pganon("verify", "patients", "--dsn", copy.dsn()).code == 0
