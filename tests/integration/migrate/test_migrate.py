"""`pganon migrate` and `pganon migrate down`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pganon import locks
from pganon.errors import LedgerError, PreconditionError, PrivacyRefusal
from pganon.migrate import down as taking
from pganon.migrate import up as applying
from pganon.migrate.files import read_folder
from pganon.migrate.history import alone, applied
from pganon.migrate.up import Target, up
from pganon.run import release
from pganon.run.options import Options
from tests.support.harness import faults, queue
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database
from tests.support.sources.migrations import k, put, rows, two, write


@pytest.fixture
def folder(db: Database, tmp_path: Path) -> Path:
    db.source(faults.SOURCE)
    return tmp_path / "releases"


def migrate(db: Database, folder: Path, *options: str) -> Ran:
    return pganon("migrate", str(folder), *options, "--dsn", db.dsn())


def down(db: Database, folder: Path, to: int, *options: str) -> Ran:
    return pganon("migrate", "down", str(folder), "--to", str(to), *options, "--dsn", db.dsn())


def code(done: Ran) -> str:
    assert done.code in (1, 2, 3), (done.out, done.err)
    return done.json["error"]["code"]


def states(db: Database, folder: Path) -> list[tuple[str, str]]:
    done = migrate(db, folder, "--status", "--json")
    return [(found["file"], found["state"]) for found in done.json]


def _k(db: Database) -> int:
    """Of the policy that is newest."""
    row = db.admin.execute(
        "SELECT document #>> '{privacy,0,k}' FROM pganon_private.policy ORDER BY revision DESC"
    ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.slow
def test_forwards_and_back(db: Database, folder: Path) -> None:
    done = migrate(db, two(folder))
    assert done.out.splitlines() == [
        "0001_patients.json: patients, version 1: released",
        "0002_patients_k12.json: patients, version 2: released",
    ], done.err
    assert rows(db) == [("0001_patients.json", None, 1), ("0002_patients_k12.json", 1, 2)]
    assert migrate(db, folder).out == "nothing to do\n"
    put(folder, "0003_withdraw_patients", {"withdraw": "patients"})
    assert migrate(db, folder).out == "0003_withdraw_patients.json: patients is withdrawn\n"
    assert rows(db)[2] == ("0003_withdraw_patients.json", 2, None)
    conn = db.owner()
    assert faults.content(conn) is None
    # A withdrawal is taken back by a new version under the policy from before.
    back = down(db, folder, 2, "--json").json
    assert [(d["file"], d["outcome"], d["version"]) for d in back] == [
        ("0003_withdraw_patients.json", "released", 3)
    ]
    assert [v[0] for v in rows(db)] == ["0001_patients.json", "0002_patients_k12.json"]
    assert _k(db) == 12
    assert down(db, folder, 1).out == "0002_patients_k12.json: patients, version 1: reverted\n"
    assert faults.version(conn) == 1
    assert _k(db) == 8
    assert down(db, folder, 0).out == "0001_patients.json: patients is withdrawn\n"
    assert faults.content(conn) is None
    assert rows(db) == []
    assert code(down(db, folder, 1, "--json")) == "unknown_number"
    # All of it again: what was published is remembered.
    assert migrate(db, folder).code == 0
    assert [row[0] for row in rows(db)][-1] == "0003_withdraw_patients.json"


@pytest.mark.slow
def test_status_and_dry_run_change_nothing(db: Database, folder: Path) -> None:
    two(folder)
    write(folder, "0003_patients_k4", privacy=k(4))
    before = faults.events(db.owner())
    done = migrate(db, folder, "--dry-run")
    assert (
        "0002_patients_k12.json releases patients\n  privacy.k_anonymity.k 8 -> 12: stronger"
        in (done.out)
    )
    assert "privacy.k_anonymity.k 12 -> 4: weaker" in done.out
    assert done.err == ("warning: 0003_patients_k4.json makes the guarantee of patients weaker\n")
    assert states(db, folder) == [
        ("0001_patients.json", "pending"),
        ("0002_patients_k12.json", "pending"),
        ("0003_patients_k4.json", "pending"),
    ]
    assert faults.events(db.owner()) == before
    assert rows(db) == []
    assert migrate(db, folder, "--to", "1").code == 0
    found = migrate(db, folder, "--dry-run", "--to", "2", "--json").json
    assert [(f["file"], f["differences"][0]["effect"]) for f in found] == [
        ("0002_patients_k12.json", "stronger")
    ]
    assert states(db, folder)[0] == ("0001_patients.json", "applied")
    assert "0001_patients.json" in migrate(db, folder, "--status").out
    assert migrate(db, folder, "--status", "--dry-run").code == 2


@pytest.mark.slow
def test_a_refusal_stops_there_and_the_next_call_goes_on(db: Database, folder: Path) -> None:
    two(folder)
    write(folder, "0002_patients_k12", privacy=k(25))
    write(folder, "0003_patients_k10", privacy=k(10))
    done = migrate(db, folder)
    assert done.code == 1
    assert done.out == "0001_patients.json: patients, version 1: released\n"
    assert done.err.startswith("error: 0002_patients_k12.json: ")
    assert [row[0] for row in rows(db)] == ["0001_patients.json"]
    assert faults.version(db.owner()) == 1
    assert _k(db) == 8, "the policy of what was refused is not kept"
    write(folder, "0002_patients_k12", privacy=k(12))
    assert migrate(db, folder).out.splitlines() == [
        "0002_patients_k12.json: patients, version 2: released",
        "0003_patients_k10.json: patients, version 3: released",
    ]


def _edited(folder: Path) -> None:
    write(folder, "0001_patients", privacy=k(9))


def _renamed(folder: Path) -> None:
    (folder / "0001_patients.json").rename(folder / "0001_patients_first.json")


def _gap(folder: Path) -> None:
    write(folder, "0004_patients")


def _bad_policy(folder: Path) -> None:
    put(folder, "0003_patients", {"release": "patients", "source": "public.patient"})


def _no_source(folder: Path) -> None:
    write(folder, "0003_patients", source="public.nothing")


def _no_reader(folder: Path) -> None:
    write(folder, "0003_patients", publish={"readers": ["nobody"]})


def _no_trusted(folder: Path) -> None:
    write(folder, "0003_patients", trust=["nobody"])


def _no_file(folder: Path) -> None:
    column = {"role": "quasi_identifying", "hierarchy": {"csv": "none.csv"}}
    write(folder, "0003_patients", columns={**faults.POLICY["columns"], "city": column})


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (_edited, "changed_migration"),
        (_renamed, "missing_migration"),
        (_gap, "gap"),
        (_bad_policy, "policy"),
        (_no_source, "source_missing"),
        (_no_reader, "missing_role"),
        (_no_trusted, "missing_role"),
        (_no_file, "policy"),
    ],
)
def test_nothing_is_done_if_anything_is_wrong(
    db: Database, folder: Path, spoil: Callable[[Path], None], expected: str
) -> None:
    two(folder)
    assert migrate(db, folder, "--to", "1").code == 0
    spoil(folder)
    before = faults.events(db.owner())
    assert code(migrate(db, folder, "--json")) == expected
    assert code(migrate(db, folder, "--dry-run", "--json")) == expected
    assert faults.events(db.owner()) == before
    assert len(rows(db)) == 1
    if expected in ("source_missing", "missing_role"):
        assert migrate(db, folder).err.startswith("error: 0003_patients.json: ")


@pytest.mark.slow
def test_status_shows_what_is_wrong(db: Database, folder: Path) -> None:
    assert migrate(db, two(folder)).code == 0
    _edited(folder)
    (folder / "0002_patients_k12.json").rename(folder / "0002_patients.json")
    assert states(db, folder) == [
        ("0001_patients.json", "changed"),
        ("0002_patients.json", "pending"),
        ("0002_patients_k12.json", "missing"),
    ]
    assert code(down(db, folder, 0, "--json")) == "changed_migration"


@pytest.mark.slow
def test_a_repeatable_file_is_run_when_policy_or_source_changed(db: Database, folder: Path) -> None:
    write(folder, "R_patients")
    assert migrate(db, folder).out == "R_patients.json: patients, version 1: released\n"
    assert migrate(db, folder).out == "R_patients.json: patients, version 1: unchanged\n"
    db.source(
        "INSERT INTO public.patient SELECT id + 100, age, sex, city, disease, days"
        " FROM public.patient"
    )
    assert migrate(db, folder).out == "R_patients.json: patients, version 2: released\n"
    write(folder, "R_patients", privacy=k(9))
    assert states(db, folder) == [("R_patients.json", "pending")]
    assert migrate(db, folder).out == "R_patients.json: patients, version 3: released\n"
    assert states(db, folder) == [("R_patients.json", "applied")]
    assert code(down(db, folder, 1, "--json")) == "unknown_number"


@pytest.mark.slow
def test_readers_alone(db: Database, folder: Path) -> None:
    """A policy with other readers makes no version, and going back gives the old ones again."""
    write(folder, "0001_patients")
    write(folder, "0002_patients_readers", publish={"readers": []})
    assert migrate(db, folder).out.splitlines()[1] == (
        "0002_patients_readers.json: patients, version 1: unchanged"
    )
    assert rows(db)[1] == ("0002_patients_readers.json", 1, 1)
    listed = "SELECT release FROM pganon.releases"
    analyst = db.connect("analyst")
    assert analyst.execute(listed).fetchall() == []
    assert down(db, folder, 1).out == "0002_patients_readers.json: patients, version 1: reverted\n"
    assert analyst.execute(listed).fetchall() == [("patients",)]


@pytest.mark.slow
def test_a_reader_that_is_no_role_any_more(db: Database, folder: Path) -> None:
    with queue.role(db, "guest", "other") as (guest, other):
        readers = [guest, other, "analyst"]
        write(folder, "0001_patients", privacy=k(8), publish={"readers": readers})
        write(folder, "0002_patients", privacy=k(12), publish={"readers": []})
        assert migrate(db, folder).code == 0
    db.admin.execute(f"CREATE ROLE {other}".encode())
    try:
        _taken_back_for_the_analyst(db, folder)
    finally:
        db.admin.execute(f"DROP ROLE {other}".encode())


def _taken_back_for_the_analyst(db: Database, folder: Path) -> None:
    assert down(db, folder, 1).out == "0002_patients.json: patients, version 1: reverted\n"
    row = db.admin.execute("SELECT readers FROM pganon_private.release").fetchone()
    assert row == (["analyst"],)
    assert faults.events(db.owner())[-2:] == ["rolled_back", "readers"]


@pytest.mark.slow
def test_readers_from_before_are_judged_as_new_ones_are(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If they are refused, nobody reads more than before, and the next call goes on there."""
    write(folder, "0001_patients", privacy=k(8))
    write(folder, "0002_patients", privacy=k(12), publish={"readers": []})
    assert migrate(db, folder).code == 0

    def refuse(conn: Any, name: str, add: list[str]) -> None:
        raise PrivacyRefusal(f"{name} for {add}")

    monkeypatch.setattr(taking, "change_readers", refuse)
    done = down(db, folder, 1, "--json")
    assert done.code == 1
    assert done.json["error"]["message"] == "0002_patients.json: patients for ['analyst']"
    assert len(rows(db)) == 2
    conn, listed = db.connect("analyst"), "SELECT version FROM pganon.releases"
    assert conn.execute(listed).fetchall() == []
    monkeypatch.undo()
    assert down(db, folder, 1).out == "0002_patients.json: patients, version 1: reverted\n"
    assert conn.execute(listed).fetchall() == [(1,)]
    assert len(rows(db)) == 1
    assert _k(db) == 8


@pytest.mark.slow
def test_a_session_that_was_taken_for_dead_takes_nothing_back(db: Database, folder: Path) -> None:
    assert migrate(db, two(folder)).code == 0
    with applying.session(Target(folder, db.dsn())) as conn, alone(conn, "default") as mine:
        db.admin.execute("UPDATE pganon_private.migration_history SET worker = 4711")
        with pytest.raises(PreconditionError) as caught:
            taking._roll_back(conn, mine, applied(conn, "default")[1], Options())
    assert caught.value.code == "lock_lost"
    assert faults.version(db.owner()) == 2
    assert _k(db) == 12


@pytest.mark.slow
def test_a_version_that_is_not_stored_any_more(db: Database, folder: Path) -> None:
    write(folder, "0001_patients", publish={"keep": 1}, privacy=k(8))
    write(folder, "0002_patients", publish={"keep": 1}, privacy=k(12))
    assert migrate(db, folder).code == 0
    done = down(db, folder, 1, "--json")
    assert code(done) == "not_stored"
    assert done.json["error"]["message"].startswith("0002_patients.json: version 1 of the release")
    assert len(rows(db)) == 2


@pytest.mark.slow
def test_two_histories(db: Database, folder: Path, tmp_path: Path) -> None:
    assert migrate(db, two(folder), "--history", "clinic").code == 0
    assert states(db, folder)[0][1] == "pending"
    assert code(migrate(db, folder, "--json")) == "other_history"
    other = tmp_path / "others"
    write(other, "0001_others", release="others", source="public.patient")
    assert migrate(db, other).code == 0
    assert migrate(db, folder, "--history", "clinic").out == "nothing to do\n"
    assert migrate(db, folder, "--history", " ").code == 2


def test_a_server_that_is_behind(db: Database, folder: Path) -> None:
    two(folder)
    db.owner().execute("DELETE FROM pganon_private.migration")
    done = migrate(db, folder, "--json")
    assert done.code == 3
    assert code(done) == "outdated"


# -- approval -----------------------------------------------------------------------------------


def _approved_by(who: str) -> dict[str, Any]:
    return {"readers": ["analyst"], "approval": {"by": [who]}}


@pytest.mark.slow
def test_what_waits_for_approval_counts_as_applied(db: Database, folder: Path) -> None:
    write(folder, "0001_patients", publish=_approved_by("source_owner"), privacy=k(8))
    done = migrate(db, folder)
    assert done.out == "0001_patients.json: patients waits for approval, request 1\n"
    assert states(db, folder) == [("0001_patients.json", "awaiting_approval")]
    assert migrate(db, folder).out == "nothing to do\n"
    db.connect("source_owner").execute("SELECT pganon.approve_release(1, 'fine')")
    assert states(db, folder) == [("0001_patients.json", "awaiting_approval")]
    queue.serve(db)
    found = migrate(db, folder, "--status", "--json").json[0]
    assert (found["state"], found["version"], found["version_before"]) == ("applied", 1, None)
    write(folder, "0002_patients", publish=_approved_by("source_owner"), privacy=k(12))
    assert migrate(db, folder).code == 0
    db.connect("source_owner").execute("SELECT pganon.approve_release(2, 'fine')")
    queue.serve(db)
    found = migrate(db, folder, "--status", "--json").json[1]
    assert (found["version"], found["version_before"]) == (2, 1)
    assert down(db, folder, 1).out == "0002_patients.json: patients, version 1: reverted\n"


@pytest.mark.slow
def test_taking_back_what_waits(db: Database, folder: Path) -> None:
    write(folder, "0001_patients", privacy=k(8))
    write(folder, "0002_patients", publish=_approved_by("source_owner"), privacy=k(12))
    assert migrate(db, folder).code == 0
    assert down(db, folder, 1).out == "0002_patients.json: patients will not be published\n"
    assert queue.states(db) == ["superseded"]
    assert faults.events(db.owner())[-1] == "superseded"
    assert _k(db) == 8
    queue.serve(db)
    assert faults.run_tables(db.owner()) == []
    assert rows(db) == [("0001_patients.json", None, 1)]


@pytest.mark.slow
def test_published_while_it_is_taken_back(db: Database, folder: Path) -> None:
    write(folder, "0001_patients", publish=_approved_by("source_owner"))
    assert migrate(db, folder).code == 0
    with applying.session(Target(folder, db.dsn())) as conn, alone(conn, "default") as mine:
        (row,) = applied(conn, "default")
        db.connect("source_owner").execute("SELECT pganon.approve_release(1, 'fine')")
        queue.serve(db)
        with pytest.raises(LedgerError) as caught:
            taking._give_up(conn, mine, row)
    assert caught.value.code == "published_meanwhile"
    assert rows(db) == [("0001_patients.json", None, None)]
    assert down(db, folder, 0).out == "0001_patients.json: patients is withdrawn\n"


@pytest.mark.slow
def test_taking_back_what_somebody_took_back(db: Database, folder: Path) -> None:
    assert migrate(db, two(folder)).code == 0
    assert pganon("rollback", "patients", "--dsn", db.dsn()).code == 0
    assert down(db, folder, 1).out == "0002_patients_k12.json: patients, version 1: reverted\n"
    assert _k(db) == 8
    db.owner().execute("SELECT pganon.withdraw_release('patients')")
    assert down(db, folder, 0).out == "0001_patients.json: patients is withdrawn\n"
    assert rows(db) == []


@pytest.mark.slow
def test_views_that_others_build_on(db: Database, folder: Path) -> None:
    """Other columns, forwards and back: what cannot be used any more is named."""
    fewer = {name: c for name, c in faults.POLICY["columns"].items() if name != "days"}
    write(folder, "0001_patients", privacy=k(8))
    assert migrate(db, folder).code == 0
    write(folder, "0002_patients", privacy=k(8), columns=fewer)
    conn = db.owner()
    for act in (lambda *o: migrate(db, folder, *o), lambda *o: down(db, folder, 1, *o)):
        conn.execute("CREATE VIEW published.mine AS SELECT age FROM published.patients")
        done = act("--json")
        assert "view published.mine depends on view published.patients" in str(done.json)
        conn.execute("DROP VIEW published.mine")
    assert rows(db) == [("0001_patients.json", None, 1)]


# -- one at a time ------------------------------------------------------------------------------


@pytest.mark.slow
def test_one_session_per_history(db: Database, folder: Path) -> None:
    two(folder)
    with alone(db.owner(), "default"):
        done = migrate(db, folder, "--json")
        assert code(done) == "busy"
        assert "release migrations of the history" in done.json["error"]["message"]
        assert code(down(db, folder, 0, "--json")) == "busy"
        status = pganon("status", "--dsn", db.dsn(), "--json").json
        assert status["workers"] == [], "a command serves no requests"
    assert migrate(db, folder).code == 0
    workers = db.admin.execute("SELECT count(*) FROM pganon_private.worker").fetchone()
    assert workers == (0,)


@pytest.mark.slow
def test_a_busy_release_stops_it(db: Database, folder: Path) -> None:
    two(folder)
    with locks.hold(db.owner(), release="patients"):
        done = migrate(db, folder, "--json")
        assert code(done) == "busy"
        assert done.json["error"]["message"].startswith("0001_patients.json: ")
    assert migrate(db, folder).code == 0


@pytest.mark.slow
def test_a_session_that_was_taken_for_dead_publishes_nothing(
    db: Database, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one has the history when the first wants to publish."""
    two(folder)
    run = release.run_release

    def overtaken(*arguments: Any, **options: Any) -> Any:
        db.admin.execute("UPDATE pganon_private.migration_history SET worker = 4711")
        return run(*arguments, **options)

    monkeypatch.setattr(applying, "run_release", overtaken)
    with pytest.raises(PreconditionError) as caught:
        up(Target(folder, db.dsn()))
    assert caught.value.code == "lock_lost"
    assert faults.version(db.owner()) is None
    assert rows(db) == []
    holder = db.admin.execute("SELECT worker FROM pganon_private.migration_history").fetchone()
    assert holder == (4711,)
    monkeypatch.undo()
    assert migrate(db, folder).code == 0, "the other one is dead: it holds no lock"


@pytest.mark.slow
def test_a_withdrawal_of_a_session_that_was_taken_for_dead(db: Database, folder: Path) -> None:
    write(folder, "0001_patients")
    assert migrate(db, folder).code == 0
    put(folder, "0002_withdraw_patients", {"withdraw": "patients"})
    target = Target(folder, db.dsn())
    with applying.session(target) as conn, alone(conn, "default") as mine:
        db.admin.execute("UPDATE pganon_private.migration_history SET worker = NULL")
        with pytest.raises(PreconditionError):
            applying._withdraw(conn, mine, read_folder(folder)[1])
    assert faults.version(db.owner()) == 1


def test_nothing_to_withdraw(db: Database, folder: Path) -> None:
    put(folder, "0001_withdraw_patients", {"withdraw": "patients"})
    done = migrate(db, folder, "--json")
    assert code(done) == "unknown_release"
    assert done.json["error"]["message"].startswith("0001_withdraw_patients.json: ")
    assert rows(db) == []


@pytest.mark.slow
@pytest.mark.parametrize("step", ["snapshot.snapshot", "publish.publish"])
def test_killed_in_a_file(db: Database, folder: Path, step: str) -> None:
    """Attack: the process dies in the second file; the next call begins with that."""
    two(folder)
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from pganon.migrate.up import Target, up\n"
        "done = []\n"
        "def on_step(phase, step, purpose):\n"
        f"    if done and f'{{phase}}.{{step}}' == {step!r}:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "up(Target(Path(sys.argv[1]), sys.argv[2]), report=done.append, on_step=on_step)\n"
    )
    status = os.spawnv(
        os.P_WAIT, faults.sys.executable, [faults.sys.executable, "-c", code, str(folder), db.dsn()]
    )
    assert status == -signal.SIGKILL
    assert [row[0] for row in rows(db)] == ["0001_patients.json"]
    faults.wait_until(lambda: migrate(db, folder, "--json").code == 0)
    assert rows(db) == [("0001_patients.json", None, 1), ("0002_patients_k12.json", 1, 2)]
    faults.guarantee_holds(db.owner())


@pytest.mark.slow
def test_nobody_else_sees_what_was_applied(db: Database, folder: Path) -> None:
    assert migrate(db, two(folder)).code == 0
    for table in ("release_migration", "migration_history"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.connect("analyst").execute(f"SELECT FROM pganon_private.{table}".encode())
    with pytest.raises(PreconditionError), alone(db.owner(), "h"), alone(db.owner(), "h"):
        pass
