"""`pganon migrate --emit`: files of other tools, run by psql as the tools would run them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import UsageError
from pganon.migrate.emit import emit
from pganon.migrate.words import Tool
from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import PASSWORD, Database
from tests.support.sources.migrations import k, put, two, write

PSQL = shutil.which("psql")
needs_psql = pytest.mark.skipif(PSQL is None, reason="psql was not found")


def psql(db: Database, file: Path) -> subprocess.CompletedProcess[str]:
    assert PSQL is not None
    return subprocess.run(
        [PSQL, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(file), db.dsn()],
        capture_output=True,
        text=True,
        check=False,
    )


def good(db: Database, *files: Path) -> None:
    for file in files:
        done = psql(db, file)
        assert done.returncode == 0, (file.name, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return two(tmp_path / "releases")


def written(folder: Path, tool: str) -> Path:
    output = folder.parent / tool
    done = pganon("migrate", str(folder), "--emit", tool, "-o", str(output), "--json")
    assert done.code == 0, done.out
    assert sorted(done.json["written"]) == sorted(
        path.relative_to(output).as_posix() for path in output.rglob("*.*")
    )
    return output


@pytest.mark.parametrize("tool", list(Tool))
def test_the_same_folder_gives_the_same_files(folder: Path, tool: Tool) -> None:
    put(folder, "0003_withdraw_patients", {"withdraw": "patients"})
    first = emit(folder, tool)
    assert emit(folder, tool) == first
    assert all(text.endswith("\n") for text in first.values())
    assert all("\r" not in text for text in first.values())
    once = {path: (folder.parent / "x" / path) for path in first}
    for _ in range(2):
        assert (
            pganon(
                "migrate", str(folder), "--emit", tool, "--output", str(folder.parent / "x")
            ).code
            == 0
        )
        assert {path: file.read_text("utf-8") for path, file in once.items()} == first


@pytest.mark.slow
@needs_psql
def test_plain_sql(db: Database, folder: Path) -> None:
    db.source(faults.SOURCE)
    write(folder, "R_others", release="others", privacy=k(12), publish={"readers": []})
    output = written(folder, "sql")
    conn = db.owner()
    with queue.serving(db.dsn()):
        good(db, output / "all.sql")
        assert (faults.version(conn), faults.version(conn, "others")) == (1, 1)
        good(db, output / "all.sql")
        assert (faults.version(conn), faults.version(conn, "others")) == (1, 1)
        write(folder, "R_others", release="others", privacy=k(25), publish={"readers": []})
        written(folder, "sql")
        refused = psql(db, output / "all.sql")
        assert refused.returncode == 3
        assert "was refused: public.patient has 24 records" in refused.stderr
        assert "CONTEXT" not in refused.stderr
        write(folder, "R_others", release="others", privacy=k(12), publish={"readers": []})
        put(folder, "0003_withdraw_patients", {"withdraw": "patients"})
        written(folder, "sql")
        for _ in range(2):
            good(db, output / "patients.sql")
            assert faults.content(conn) is None


@needs_psql
@pytest.mark.slow
def test_flyway(db: Database, folder: Path) -> None:
    """Every file in its own session, without a transaction; then what comes after all."""
    db.source(faults.SOURCE)
    output = written(folder, "flyway")
    file = output / "R__release_patients.sql"
    assert (output / "R__release_patients.sql.conf").read_text() == "executeInTransaction=false\n"
    after = output / "afterMigrate__assert.sql"
    with queue.serving(db.dsn()):
        good(db, file, after)
    conn = db.owner()
    assert faults.version(conn) == 1
    assert "$" not in re.sub(r"\$pganon\$", "", file.read_text()), "no placeholder"
    before = file.read_text()
    write(folder, "0003_patients", privacy=k(9))
    written(folder, "flyway")
    assert file.read_text() != before, "it is run when the policy changes"
    assert "has another policy" in psql(db, after).stderr
    put(folder, "0004_withdraw_patients", {"withdraw": "patients"})
    written(folder, "flyway")
    assert "was withdrawn" in psql(db, after).stderr
    good(db, file, after)


def _changesets(text: str) -> list[tuple[str, str, str]]:
    """Head, statement and way back of each."""
    parts = re.split(r"^--changeset (.*)\n", text, flags=re.MULTILINE)
    found = []
    for head, body in zip(parts[1::2], parts[2::2], strict=True):
        lines = body.splitlines(keepends=True)
        back = [line.removeprefix("--rollback ") for line in lines if line.startswith("--rollback")]
        own = [line for line in lines if not line.startswith("--")]
        found.append((head, "".join(own), "".join(back)))
    return found


@pytest.mark.slow
@needs_psql
def test_liquibase(db: Database, folder: Path) -> None:
    db.source(faults.SOURCE)
    output = written(folder, "liquibase")
    text = (output / "releases.sql").read_text()
    assert text.startswith("--liquibase formatted sql\n")
    ((head, statement, back),) = _changesets(text)
    assert head == "pganon:patients runOnChange:true runInTransaction:false splitStatements:false"
    up, down = output / "up.sql", output / "down.sql"
    up.write_text(statement)
    down.write_text(back)
    conn = db.owner()
    with queue.serving(db.dsn()):
        good(db, up, up)
        assert faults.version(conn) == 1
        good(db, down)
        assert faults.content(conn) is None


def _sqitch_order(output: Path) -> list[str]:
    lines = (output / "sqitch.plan").read_text().splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("%")]


@pytest.mark.slow
@needs_psql
def test_sqitch_by_hand(db: Database, folder: Path) -> None:
    """What sqitch does: deploy and verify in order, revert from the end; psql runs each file."""
    db.source(faults.SOURCE)
    put(folder, "0003_withdraw_patients", {"withdraw": "patients"})
    output = written(folder, "sqitch")
    order = _sqitch_order(output)
    assert order == ["0001_patients", "0002_patients_k12", "0003_withdraw_patients"]
    conn = db.owner()

    def run(what: str, name: str) -> None:
        good(db, output / what / f"{name}.sql")

    with queue.serving(db.dsn()):
        for place, name in enumerate(order):
            run("deploy", name)
            run("verify", name)
            assert faults.version(conn) == (1, 2, None)[place]
        run("revert", order[2])
        assert faults.version(conn) == 3
        run("revert", order[1])
        assert faults.version(conn) == 2
        refused = psql(db, output / "verify" / f"{order[2]}.sql")
        assert refused.returncode == 3
        assert "CONTEXT" not in refused.stderr
        policy = "SELECT document #>> '{privacy,0,k}' FROM pganon_private.policy"
        newest = db.admin.execute(f"{policy} ORDER BY revision DESC".encode()).fetchone()
        assert newest == ("8",)


@pytest.mark.slow
@needs_psql
@pytest.mark.skipif(shutil.which("sqitch") is None, reason="sqitch was not found")
def test_sqitch(db: Database, folder: Path) -> None:
    db.source(faults.SOURCE)
    output = written(folder, "sqitch")
    parts = dict(item.split("=", 1) for item in db.dsn().split())
    target = f"db:pg://{parts['user']}:{PASSWORD}@/{parts['dbname']}?host={parts['host']}"
    with queue.serving(db.dsn()):
        for arguments in (("deploy", "--verify"), ("verify",), ("revert", "-y")):
            done = subprocess.run(
                ["sqitch", *arguments, target],
                cwd=output,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr + done.stdout
    assert faults.content(db.owner()) is None


@pytest.mark.slow
@needs_psql
def test_texts_that_tools_would_replace(db: Database, tmp_path: Path) -> None:
    tree = "Rome;'a' :b ${c} %d $pganon$ \\e\n".replace("\\e", "é")
    other = "".join(tree.replace("Rome", city) for city in ("Rome", "Oslo", "Bern", "Kyiv"))
    db.source(faults.SOURCE)
    folder = tmp_path / "releases"
    column = {"role": "quasi_identifying", "hierarchy": {"csv": "city.csv"}}
    write(folder, "0001_patients", columns={**faults.POLICY["columns"], "city": column})
    (folder / "city.csv").write_text(other, "utf-8")
    with queue.serving(db.dsn()):
        good(db, written(folder, "sql") / "all.sql")
    row = db.admin.execute("SELECT content FROM pganon_private.policy_file").fetchone()
    assert row == (other,)


@pytest.mark.slow
@needs_psql
def test_a_hostile_search_path(db: Database, folder: Path) -> None:
    """Attack: operators and functions of somebody else come first where the files are run."""
    db.source(faults.SOURCE)
    db.admin.execute(
        "CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC;"
        " CREATE FUNCTION evil.same(text, text) RETURNS boolean LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'evil'; END $$;"
        " CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.same);"
        f" ALTER ROLE steward IN DATABASE {db.name} SET search_path = evil, pg_catalog, pganon"
    )
    put(folder, "0003_withdraw_patients", {"withdraw": "patients"})
    with queue.serving(db.dsn()):
        good(
            db,
            *[
                written(folder, "sqitch") / "deploy" / f"{name}.sql"
                for name in ("0001_patients", "0003_withdraw_patients")
            ],
        )
    good(db, written(folder, "sql") / "all.sql")


def _refused(folder: Path, tool: Tool, code: str) -> None:
    with pytest.raises(UsageError) as caught:
        emit(folder, tool)
    assert caught.value.code == code
    assert caught.value.hint


def _renamed(folder: Path, name: str, release: str) -> None:
    write(folder, name, release=release)


@pytest.mark.parametrize("release", ["a$b", "a%b", "a\nb", "a\\b"])
def test_names_that_tools_would_replace(folder: Path, release: str) -> None:
    put(folder, f"0003_withdraw_{'a_b'}", {"withdraw": release})
    for tool in Tool:
        _refused(folder, tool, "bad_name")


def test_names_that_would_be_one_file(folder: Path) -> None:
    _renamed(folder, "0003_a_b", "a b")
    _renamed(folder, "0004_a_b", "a-b")
    for tool in (Tool.FLYWAY, Tool.LIQUIBASE, Tool.SQL):
        _refused(folder, tool, "bad_name")
    assert "deploy/0004_a_b.sql" in emit(folder, Tool.SQITCH)


def test_what_sqitch_cannot(folder: Path) -> None:
    write(folder, "R_others", release="others")
    _refused(folder, Tool.SQITCH, "repeatable")
    (folder / "R_others.json").unlink()
    write(folder, "0003_patients again")
    _refused(folder, Tool.SQITCH, "bad_name")


@pytest.mark.parametrize(
    "options",
    [
        ("--emit", "sql"),
        ("--output", "out"),
        ("--emit", "sql", "--output", "out", "--status"),
        ("--emit", "sql", "--output", "out", "--to", "1"),
        ("--emit", "ant", "--output", "out"),
        ("--emit", "sql", "--output", "/dev/null/out"),
    ],
)
def test_options_that_do_not_fit(folder: Path, options: tuple[Any, ...]) -> None:
    assert pganon("migrate", str(folder), *options).code == 2


def test_files_from_before_are_named(folder: Path) -> None:
    write(folder, "0003_others", release="others")
    output = written(folder, "sql")
    (output / "own.sql").write_text("SELECT 1", "utf-8")
    (folder / "0003_others.json").unlink()
    done = pganon("migrate", str(folder), "--emit", "sql", "-o", str(output))
    assert done.err.splitlines() == [
        f"warning: {output}/others.sql was written before and is not among these files: remove it?"
    ]
    assert (output / "others.sql").exists()
