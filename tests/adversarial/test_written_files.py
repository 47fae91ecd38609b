"""Attack: links and curious eyes where the program writes a file; cells that are formulas."""

from __future__ import annotations

import csv
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from pganon import files
from pganon.errors import UsageError
from pganon.publish import export as exporting
from pganon.publish import lifecycle
from pganon.publish.export import export
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.staging import ROWS, release


@pytest.fixture(autouse=True)
def _umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def precious(tmp_path: Path) -> Path:
    path = tmp_path / "precious"
    path.write_text("precious")
    return path


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_an_export_goes_through_no_link(db: Database, tmp_path: Path, precious: Path) -> None:
    release(db.owner())
    out = tmp_path / "out.csv"
    foreseen = tmp_path / f".{out.name}.{os.getpid()}.part"
    foreseen.symlink_to(precious)
    export(db.connect("analyst"), "adult", out)
    assert foreseen.is_symlink()
    for target in (precious, tmp_path / "nothing"):
        link = tmp_path / f"{target.name}.csv"
        link.symlink_to(target)
        with pytest.raises(UsageError, match="is no file"):
            export(db.connect("analyst"), "adult", link, replace=True)
    assert not (tmp_path / "nothing").exists()
    assert precious.read_text() == "precious"


def test_an_export_has_no_readers_that_the_view_has_not(db: Database, tmp_path: Path) -> None:
    conn, analyst = db.owner(), db.connect("analyst")
    release(conn, rows=ROWS[:1])
    release(conn)

    def mode(by: psycopg.Connection, version: int | None = None) -> int:
        path = tmp_path / "out.csv"
        path.unlink(missing_ok=True)
        export(by, "adult", path, version=version)
        return _mode(path)

    assert (mode(conn), mode(analyst)) == (0o600, 0o600)
    conn.execute("GRANT SELECT ON published.adult TO PUBLIC")
    assert mode(analyst) == 0o600, "the schema is closed"
    conn.execute("GRANT USAGE ON SCHEMA published TO PUBLIC")
    assert (mode(conn), mode(analyst), mode(conn, 2)) == (0o644, 0o644, 0o644)
    assert mode(conn, 1) == 0o600, "nobody reads an earlier version"
    lifecycle.show_earlier(conn, "adult")
    conn.execute("REVOKE SELECT ON published.adult FROM PUBLIC")
    open_before = tmp_path / "before.csv"
    open_before.write_text("")
    export(analyst, "adult", open_before, replace=True)
    assert _mode(open_before) == 0o600


def test_a_policy_goes_through_no_link(db: Database, tmp_path: Path, precious: Path) -> None:
    db.source("CREATE TABLE public.patient (id int PRIMARY KEY, age int)")
    link = tmp_path / "policy.yaml"
    for target in (precious, tmp_path / "nothing"):
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        written = ("public.patient", "-o", str(link), "--force", "--dsn", db.dsn())
        done = pganon("policy", "init", *written)
        assert (done.code, "is no file" in done.err) == (2, True)
    assert not (tmp_path / "nothing").exists()
    assert precious.read_text() == "precious"


def test_migrations_and_scripts_go_through_no_link(tmp_path: Path, precious: Path) -> None:
    history = tmp_path / "history"
    history.mkdir()
    (history / "0001_stays.yaml").write_text(
        "release: stays\nsource: public.patient\ncolumns: {age: {role: quasi_identifying}}\n"
        "privacy: [{model: k_anonymity, k: 2}]\nmethod: {name: mondrian}\n"
    )
    commands: list[Callable[[Path], tuple[str, ...]]] = [
        lambda folder: ("extension", "build", str(folder)),
        lambda folder: ("migrate", str(history), "--emit", "sql", "-o", str(folder)),
    ]
    for number, command in enumerate(commands):
        folder = tmp_path / str(number)
        assert pganon(*command(folder)).code == 0, pganon(*command(folder)).err
        written = [path for path in folder.rglob("*") if path.is_file()]
        assert written
        for path in written:
            assert _mode(path) == 0o644
            path.unlink()
            path.symlink_to(precious)
            assert pganon(*command(folder)).code in (2, 3), path
            assert precious.read_text() == "precious"
            path.unlink()
        blocked = tmp_path / "precious" / "below"
        assert pganon(*command(blocked)).code == 2


def test_everything_is_written_by_one_module() -> None:
    """But into folders of random names, and what developers call."""
    root = Path(files.__file__).parent
    writes = re.compile(r"\.write_(text|bytes)\(|\bopen\([^)]*[\"'][wax]|os\.replace\(")
    found = [path for path in root.rglob("*.py") if writes.search(path.read_text())]
    known = {"applied/store.py", "importing/content.py"}
    assert {str(path.relative_to(root)) for path in found} == known


_CELLS = {
    "=1+1": "'=1+1",
    "=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
    "+49 170 1": "'+49 170 1",
    "-2+3": "'-2+3",
    "@SUM(1)": "'@SUM(1)",
    "\t=1": "'\t'=1",
    "\r=1": "'\r'=1",
    "\n=1": "'\n'=1",
    "\uff1d1+1": "'\uff1d1+1",
    "-5": "-5",
    "+1.50": "+1.50",
    "-1e5": "-1e5",
    "-": "'-",
    "-1\n=2": "'-1\n'=2",
    "sep;=1+1": "sep;'=1+1",
    "a|=1;;@b\t+c": "a|'=1;;'@b\t'+c",
    'a;"=1': "a;\"'=1",
    ";\t=1": ";\t'=1",
    "a;\uff1d1": "a;'\uff1d1",
    "=1;-2": "'=1;'-2",
    "a,=1; b": "a,=1; b",
    "1=1": "1=1",
    "'=1": "'=1",
    "": "",
}


def test_cells_that_are_formulas(db: Database, tmp_path: Path) -> None:
    conn = db.owner()
    columns = [("n", "integer"), ("=t;=u", "text"), ("tags", "text[]"), ("x", "numeric")]
    rows = [(-n, cell, ["=1"], "-1.50") for n, cell in enumerate(_CELLS)]
    release(conn, columns=columns, rows=[*rows, (1, None, None, None)])
    path = tmp_path / "out.csv"

    def read() -> tuple[list[str], dict[str, list[str]]]:
        with path.open(newline="") as file:
            header, *found = csv.reader(file)
        return header, {row[0]: row[1:] for row in found}

    for role in ("analyst", "steward"):
        export(db.connect(role), "adult", path, safe_csv=True, replace=True)
        header, found = read()
        assert header == ["n", "'=t;'=u", "tags", "x"]
        assert found == {
            **{str(-n): [cell, "{=1}", "-1.50"] for n, cell in enumerate(_CELLS.values())},
            "1": ["", "", ""],
        }
    assert "\n0," in path.read_text() or "\r0," in path.read_text()
    export(conn, "adult", path, replace=True)
    header, found = read()
    assert header == [name for name, _ in columns]
    assert [row[0] for row in found.values()] == [*_CELLS, ""]
    done = pganon("export", "adult", "-o", str(path), "--safe-csv", "--force", "--dsn", db.dsn())
    assert done.code == 0
    assert read()[0][1] == "'=t;'=u"
    with pytest.raises(UsageError, match="safe-csv"):
        export(conn, "adult", tmp_path / "out.parquet", safe_csv=True)


def test_empty_and_missing_cells_stay_apart(db: Database, tmp_path: Path) -> None:
    release(db.owner(), columns=[("t", "text")], rows=[("",), (None,)])
    for safe in (False, True):
        export(db.owner(), "adult", tmp_path / "out.csv", safe_csv=safe, replace=True)
        assert sorted((tmp_path / "out.csv").read_text().splitlines()) == ["", '""', "t"]


def test_texts_of_any_collation_can_be_looked_at(db: Database) -> None:
    """Not all collations know regular expressions."""
    try:
        db.admin.execute(
            "CREATE COLLATION public.ci (provider = icu, locale = 'und', deterministic = false)"
        )
    except psycopg.errors.FeatureNotSupported:
        pytest.skip("the server was built without ICU")
    read = exporting._safe(db.owner(), sql.SQL("SELECT '=1'::text COLLATE public.ci AS t"))
    assert db.owner().execute(read).fetchall() == [("'=1",)]
