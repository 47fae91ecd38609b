"""What `pganon import` does for files as people have them."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import PreconditionError, UsageError
from pganon.importing import files as importing
from pganon.importing.form import Format
from pganon.importing.notes import Note
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

LEAP = "2020-02-29"


@pytest.fixture
def target(bare_db: Database) -> Database:
    bare_db.connect().execute("CREATE SCHEMA s")
    return bare_db


def load(db: Database, folder: Path, text: str, **form: Any) -> importing.Imported:
    file = folder / "data.csv"
    file.write_text(text)
    return importing.import_file(db.connect(), file, "s.t", form=Format(**form), replace=True)


def not_null(db: Database) -> dict[str, bool]:
    rows = db.admin.execute(
        "SELECT attname::text, attnotnull FROM pg_attribute"
        " WHERE attrelid = 's.t'::regclass AND attnum > 0 ORDER BY attnum"
    )
    return dict(rows.fetchall())


@pytest.mark.parametrize(("mark", "shown"), [(";", "';'"), ("\t", "tab"), ("|", "'|'")])
def test_another_separator(target: Database, tmp_path: Path, mark: str, shown: str) -> None:
    text = f"age{mark}sex\n1{mark}f\n"
    with pytest.raises(UsageError) as caught:
        load(target, tmp_path, text)
    assert caught.value.code == "separator"
    assert (caught.value.hint or "").startswith(f"--sep {shown}")
    assert "sex" not in str(caught.value)
    assert [name for name, _ in load(target, tmp_path, text, separator=mark).columns] == [
        "age",
        "sex",
    ]
    # Whoever says so has a file of one column.
    assert load(target, tmp_path, text, separator=",").columns == [(f"age{mark}sex", "text")]
    assert load(target, tmp_path, "age\n1\n").columns == [("age", "integer")]


def test_words_for_what_is_missing(target: Database, tmp_path: Path) -> None:
    text = "age,seen,note,country,full\n1,2020-01-01,x,NA,1\nNA,NaN,NA,DE,2\n?,2020-02-01,y,FR,3\n"
    done = load(target, tmp_path, text)
    assert dict(done.columns) == dict.fromkeys(("age", "seen", "note", "country"), "text") | {
        "full": "integer"
    }
    assert done.notes == (
        Note("age", "text because of ?, NA", "--null '' --null '?' --null 'NA' makes it integer"),
        Note("seen", "text because of NaN", "--null '' --null 'NaN' makes it date"),
    )
    again = load(target, tmp_path, text, nulls=("", "NA", "NaN", "?"))
    assert dict(again.columns)["age"] == "integer"
    assert again.notes == ()
    # A Namibian country code is a value: nothing else would be in such a column than text.
    assert not any(note.column == "country" for note in done.notes)
    file = tmp_path / "data.csv"
    command = ("import", str(file), "s.t", "--replace", "--dsn", target.dsn())
    ran = pganon(*command)
    assert "text because of ?, NA" in ran.out
    assert pganon(*command, "--json").json["notes"][1] == {
        "column": "seen",
        "note": "text because of NaN",
        "remedy": "--null '' --null 'NaN' makes it date",
    }


def test_only_words_are_named(target: Database, tmp_path: Path) -> None:
    done = load(target, tmp_path, "age\n1\nMueller\n")
    assert (done.columns, done.notes) == ([("age", "text")], ())


def test_lower(target: Database, tmp_path: Path) -> None:
    done = load(target, tmp_path, "Age,ZIP Code\n1,2\n", lower=True)
    assert [name for name, _ in done.columns] == ["age", "zip code"]
    done = load(target, tmp_path, "Age,age\n1,2\n", lower=True)
    assert [name for name, _ in done.columns] == ["age", "age_2"]
    assert [note.column for note in done.notes] == ["age_2"]
    with pytest.raises(UsageError, match="columns 1 and 2 have the same name"):
        load(target, tmp_path, "a,b\n1,2\n", names=["x", "x"])
    file = tmp_path / "data.csv"
    file.write_text("Age\n1\n")
    ran = pganon("import", str(file), "s.u", "--lower", "--json", "--dsn", target.dsn())
    assert ran.json["columns"] == [{"name": "age", "type": "integer"}]


@pytest.mark.parametrize(
    ("order", "texts", "days"),
    [
        (
            "dmy",
            ["31.12.2019", "1.2.2020", "29.02.2020"],
            ["2019-12-31", "2020-02-01", "2020-02-29"],
        ),
        ("mdy", ["12/31/2019", "1/2/2020", ""], ["2019-12-31", "2020-01-02", None]),
        ("ymd", ["2019-12-31", "2020-01-02"], ["2019-12-31", "2020-01-02"]),
    ],
)
def test_dates(
    target: Database, tmp_path: Path, order: str, texts: list[str], days: list[str | None]
) -> None:
    text = "n,d\n" + "".join(f"{n},{value}\n" for n, value in enumerate(texts))
    assert load(target, tmp_path, text, dates=order).columns[1] == ("d", "date")
    rows = target.admin.execute("SELECT d::text FROM s.t ORDER BY n").fetchall()
    assert [row[0] for row in rows] == days


@pytest.mark.parametrize(
    ("order", "value"),
    [
        ("dmy", "30.02.2020"),
        ("dmy", "12/31/2019"),
        ("dmy", "1.2-2020"),
        ("dmy", "2019-12-31"),
        ("mdy", "31/12/2019"),
        ("ymd", "31.12.2019"),
        ("dmy", "1.2.0000"),
    ],
)
def test_what_is_no_date_in_that_order(
    target: Database, tmp_path: Path, order: str, value: str
) -> None:
    assert load(target, tmp_path, f"d\n{value}\n", dates=order).columns == [("d", "text")]


def test_not_null_where_nothing_is_missing(target: Database, tmp_path: Path) -> None:
    load(target, tmp_path, "a,b,c\n1,,x\n2,3,y\n")
    assert not_null(target) == {"a": True, "b": False, "c": True}
    load(target, tmp_path, "a,b\n")
    assert not_null(target) == {"a": False, "b": False}


def test_replace_keeps_grants(target: Database, tmp_path: Path) -> None:
    load(target, tmp_path, "a,b\n1,2\n")
    steward = target.connect()
    steward.execute("GRANT SELECT ON s.t TO analyst WITH GRANT OPTION")
    steward.execute("GRANT SELECT (b), UPDATE (a) ON s.t TO source_owner")
    load(target, tmp_path, "a,c\n1,2\n")
    rows = target.admin.execute(
        "SELECT has_table_privilege('analyst', 's.t', 'SELECT WITH GRANT OPTION'),"
        " has_column_privilege('source_owner', 's.t', 'a', 'UPDATE'),"
        " has_any_column_privilege('source_owner', 's.t', 'SELECT')"
    )
    assert rows.fetchone() == (True, True, False)


def test_replace_names_dependents(target: Database, tmp_path: Path) -> None:
    load(target, tmp_path, "a\n1\n")
    steward = target.connect()
    steward.execute("CREATE VIEW s.mine AS SELECT a FROM s.t")
    with pytest.raises(PreconditionError, match=r"depend on s\.t: view s\.mine") as caught:
        load(target, tmp_path, "a\n2\n")
    assert caught.value.code == "dependents"
    assert target.admin.execute("SELECT a FROM s.mine").fetchall() == [(1,)]


@pytest.mark.parametrize(
    "protection",
    [
        "ALTER TABLE s.t ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY p ON s.t USING (current_user = 'nobody')",
    ],
)
def test_replace_refuses_what_row_level_security_closed(
    target: Database, tmp_path: Path, protection: str
) -> None:
    load(target, tmp_path, "a\n1\n")
    steward = target.connect()
    steward.execute(protection)  # pyright: ignore[reportArgumentType]
    steward.execute("GRANT SELECT ON s.t TO analyst")
    with pytest.raises(PreconditionError, match=r"s\.t has row-level security") as caught:
        load(target, tmp_path, "a\n2\n")
    assert caught.value.code == "row_security"
    assert target.admin.execute("SELECT a FROM s.t").fetchall() == [(1,)]


def test_a_pipe_that_is_no_text_is_read_once(target: Database, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        pipe.write_bytes(b"a,b\n1,\xff\n")

    errors: list[UsageError] = []

    def read() -> None:
        with pytest.raises(UsageError) as caught:
            importing.import_file(target.connect(), pipe, "s.t")
        errors.append(caught.value)

    threads = [threading.Thread(target=act, daemon=True) for act in (write, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    assert [error.message for error in errors] == [f"{pipe}, line 2: not utf-8 text"]
