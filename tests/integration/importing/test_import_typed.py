"""Workbooks, Parquet, Arrow, Stata, SPSS and SAS: columns that have types."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pyreadstat
import pytest

from pganon.errors import UsageError
from pganon.importing import files as importing
from pganon.importing import typed_files
from pganon.importing.form import Format
from pganon.importing.notes import Note
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.workbook import Raw, ods, xlsx

pytestmark = pytest.mark.primary_server_only

DAY = dt.date(2020, 2, 29)
MOMENT = dt.datetime(2020, 2, 29, 10, 30, 0)


@pytest.fixture
def target(bare_db: Database) -> Database:
    bare_db.connect().execute("CREATE SCHEMA s")
    return bare_db


def load(db: Database, file: Path, content: bytes | None = None, **form: Any) -> importing.Imported:
    if content is not None:
        file.write_bytes(content)
    return importing.import_file(db.connect(), file, "s.t", form=Format(**form), replace=True)


def kinds(done: importing.Imported) -> list[str]:
    return [kind for _, kind in done.columns]


def texts(db: Database) -> list[str]:
    return [row[0] for row in db.admin.execute("SELECT t::text FROM s.t").fetchall()]


def arrow_table() -> pa.Table:
    return pa.table(
        {
            "i8": pa.array([1, None, 3], pa.int8()),
            "u32": pa.array([1, 2, 2**32 - 1], pa.uint32()),
            "i64": pa.array([1, 2, 2**60], pa.int64()),
            "u64": pa.array([1, 2, 2**64 - 1], pa.uint64()),
            "dec": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")]),
            "f32": pa.array([1.5, float("nan"), 0.1], pa.float32()),
            "f64": pa.array([1e-5, float("inf"), 0.1]),
            "yes": [True, False, None],
            "day": [DAY, None, DAY],
            "at": pa.array([MOMENT, None, MOMENT], pa.timestamp("ns")),
            "zoned": pa.array([MOMENT, None, MOMENT], pa.timestamp("s", "Europe/Oslo")),
            "time": [dt.time(10, 30), None, dt.time(0)],
            "text": ["", "007", None],
            "large": pa.array(['"', "\\.", "a,b"], pa.large_string()),
            "word": pa.array(["x", None, "x"]).dictionary_encode(),
            "none": pa.nulls(3),
        }
    )


ARROW_KINDS = [
    *("integer", "bigint", "bigint", "numeric", "numeric(3,2)", "real", "double precision"),
    *("boolean", "date", "timestamp", "timestamptz", "text", "text", "text", "text", "text"),
]


@pytest.mark.parametrize("kind", ["parquet", "feather", "gzip"])
def test_files_of_columns(target: Database, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "data"
    table = arrow_table()
    if kind == "feather":
        pyarrow.feather.write_feather(table, str(file))
    else:
        pyarrow.parquet.write_table(table, file)
        if kind == "gzip":
            file.write_bytes(gzip.compress(file.read_bytes()))
    done = load(target, file)
    assert kinds(done) == ARROW_KINDS
    assert done.rows == 3
    row = target.admin.execute("SELECT * FROM s.t ORDER BY u32 DESC LIMIT 1").fetchone()
    zoned = MOMENT.replace(tzinfo=dt.UTC)
    assert row is not None
    assert [value for value in row if not isinstance(value, float)] == [
        *(3, 2**32 - 1, 2**60, 2**64 - 1, decimal.Decimal("2.25"), None, DAY, MOMENT, zoned),
        *("00:00:00.000000", None, "a,b", "x", None),
    ]
    found = target.admin.execute(
        "SELECT count(*) FILTER (WHERE f32 = 'NaN'), count(*) FILTER (WHERE f64 = 'Infinity'),"
        " count(*) FILTER (WHERE f64 = 1e-5), count(*) FILTER (WHERE text = ''),"
        " count(*) FILTER (WHERE text IS NULL) FROM s.t"
    )
    assert found.fetchone() == (1, 1, 1, 1, 1)


def test_a_file_of_columns_without_rows(target: Database, tmp_path: Path) -> None:
    pyarrow.parquet.write_table(arrow_table().slice(0, 0), tmp_path / "data")
    done = load(target, tmp_path / "data")
    assert (kinds(done), done.rows) == (ARROW_KINDS, 0)


def test_columns_that_cannot_be_stored_are_all_named(target: Database, tmp_path: Path) -> None:
    table = pa.table({"id": [1], "l": [[1]], "s": [{"a": 1}], "b": [b"x"]})
    file = tmp_path / "data"
    pyarrow.parquet.write_table(table, file)
    with pytest.raises(UsageError, match="l, s, b") as caught:
        load(target, file)
    assert "--columns" in (caught.value.hint or "")
    assert load(target, file, columns=["id"]).columns == [("id", "bigint")]


def test_nanoseconds_are_not_cut(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data"
    pyarrow.parquet.write_table(pa.table({"at": pa.array([1], pa.timestamp("ns"))}), file)
    with pytest.raises(UsageError, match="nanoseconds"):
        load(target, file)


def test_row_names_of_pandas(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data"
    pd.DataFrame({"a": [1, 2]}, index=["x", "y"]).to_parquet(file)
    done = load(target, file)
    assert sorted(done.columns) == [("a", "bigint"), ("row_name", "text")]
    assert [note.column for note in done.notes] == ["row_name"]


def test_a_workbook(target: Database, tmp_path: Path) -> None:
    rows = [
        ["id", "share", "day", "at", "ok", "code", "num", "mixed", "gone"],
        [1, 0.5, DAY, MOMENT, True, "007", "12", 5, None],
        [2, 1, dt.date(2021, 1, 1), DAY, False, "x", "13", "a", None],
        [3, None, None, None, None, None, None, 2.5, None],
        [],
    ]
    done = load(target, tmp_path / "data.xlsx", xlsx({"Data": rows}))
    assert done.rows == 3
    assert done.columns == [
        *(("id", "bigint"), ("share", "double precision"), ("day", "date"), ("at", "timestamp")),
        *(("ok", "boolean"), ("code", "text"), ("num", "integer"), ("mixed", "text")),
        ("gone", "text"),
    ]
    assert texts(target) == [
        '(1,0.5,2020-02-29,"2020-02-29 10:30:00",t,007,12,5,)',
        '(2,1,2021-01-01,"2020-02-29 00:00:00",f,x,13,a,)',
        "(3,,,,,,,2.5,)",
    ]
    assert [note.column for note in done.notes] == ["mixed"]


def test_words_of_a_workbook(target: Database, tmp_path: Path) -> None:
    content = xlsx({"Data": [["age"], [5], ["NA"], [7]]})
    done = load(target, tmp_path / "data.xlsx", content)
    assert done.notes == (Note("age", "text because of NA", "--null '' --null 'NA'"),)
    done = load(target, tmp_path / "data.xlsx", nulls=("", "NA"))
    assert (done.columns, done.notes) == ([("age", "bigint")], ())


@pytest.mark.parametrize("batch", [typed_files._ROWS, 7])
def test_the_row_that_a_value_is_in(
    target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """However many rows are looked at together; texts that come later are not in the first."""
    monkeypatch.setattr(typed_files, "_ROWS", batch)
    cells = [[str(number % 9)] for number in range(40)]
    rows = [["age"], *cells[:15], ["90+"], *cells[15:], ["90+"]]
    done = load(target, tmp_path / "data.xlsx", xlsx({"A": rows}))
    assert [note.note for note in done.notes] == [
        "text because 2 of 42 values are no number, the first in row 17"
    ]


def test_sheets(target: Database, tmp_path: Path) -> None:
    sheets = {"A & B": [["a"], [1]], "Two": [["b"], ["x"]], "Empty": [], "Old": [["c"], [1]]}
    file = tmp_path / "data.xlsx"
    with pytest.raises(UsageError, match="several sheets: A & B, Two") as caught:
        load(target, file, xlsx(sheets, hidden=["Old"]))
    assert "Old" not in caught.value.message
    assert load(target, file, sheet="Two").columns == [("b", "text")]
    assert load(target, file, sheet="Old").columns == [("c", "bigint")]
    with pytest.raises(UsageError, match='no sheet "Three"'):
        load(target, file, sheet="Three")
    only = xlsx({"A": [["a"], [1]], "B": []})
    assert load(target, file, only).columns == [("a", "bigint")]
    with pytest.raises(UsageError, match="has no cells"):
        load(target, file, xlsx({"A": []}))


def test_a_title_above_the_header(target: Database, tmp_path: Path) -> None:
    rows = [["Report", None, None], ["id", "age", "dx"], [1, 30, "a"]]
    file = tmp_path / "data.xlsx"
    with pytest.raises(UsageError, match=r"row 1 of .* has merged cells") as caught:
        load(target, file, xlsx({"A": rows}, merged=["A1:C1"]))
    assert "--header-row 2" in (caught.value.hint or "")
    done = load(target, file, header_row=2)
    assert [name for name, _ in done.columns] == ["id", "age", "dx"]
    with pytest.raises(UsageError, match="is empty") as caught:
        load(target, file, xlsx({"A": rows}))
    assert "--header-row" in (caught.value.hint or "")


@pytest.mark.parametrize(
    "cell", ['t="e"><v>#DIV/0!</v></c>', "><f>A1+1</f></c>", '><f ca="1">NOW()</f></c>']
)
def test_cells_without_a_value(target: Database, tmp_path: Path, cell: str) -> None:
    content = xlsx({"A": [["a", "b"], [1, 2], [Raw(cell), 3]], "B": []})
    file = tmp_path / "data.xlsx"
    with pytest.raises(UsageError, match="has 1 cells with an error, or a formula"):
        load(target, file, content)
    load(target, file, nulls=("", typed_files.ERROR_CELLS))
    assert texts(target) == ["(1,2)", "(,3)"]
    stored = xlsx({"A": [["a"], [Raw("><f>1+1</f><v>2</v></c>")]]})
    assert load(target, file, stored).columns == [("a", "bigint")]


def test_a_sheet_of_opendocument(target: Database, tmp_path: Path) -> None:
    def text(value: str) -> str:
        return f'office:value-type="string"><text:p>{value}</text:p></table:table-cell>'

    rows = [
        [text("id"), text("day")],
        [
            'office:value-type="float" office:value="1"/>',
            'office:value-type="date" office:date-value="2020-02-29"/>',
        ],
    ]
    done = load(target, tmp_path / "data.ods", ods(rows))
    assert done.columns == [("id", "bigint"), ("day", "date")]
    assert texts(target) == ["(1,2020-02-29)"]


def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "id": [1.0, 2.0, 3.0],
            "x": [1.5, None, 2.0],
            "s": ["a", "", "c"],
            "sex": [1.0, 2.0, 2.0],
            "part": [1.0, 9.0, 1.0],
            "day": [DAY, None, DAY],
            "at": [MOMENT, None, MOMENT],
        }
    )


LABELS = {"sex": {1: "male", 2: "female"}, "part": {1: "one"}}


@pytest.mark.parametrize("kind", ["sav", "zsav", "dta", "packed"])
def test_files_of_statistics(
    target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    file = tmp_path / "data"
    if kind == "dta":
        pyreadstat.write_dta(frame(), file, variable_value_labels=LABELS)
    else:
        pyreadstat.write_sav(
            frame(), file, variable_value_labels=LABELS, row_compress=kind == "zsav"
        )
    if kind == "packed":
        file.write_bytes(gzip.compress(file.read_bytes()))
    for rows in (typed_files._ROWS, 1):
        monkeypatch.setattr(typed_files, "_ROWS", rows)
        done = load(target, file)
        assert done.columns == [
            *(("id", "bigint"), ("x", "double precision"), ("s", "text"), ("sex", "text")),
            *(("part", "bigint"), ("day", "date"), ("at", "timestamp")),
        ]
        assert texts(target) == [
            '(1,1.5,a,male,1,2020-02-29,"2020-02-29 10:30:00")',
            '(2,,"",female,9,,)',
            '(3,2,c,female,1,2020-02-29,"2020-02-29 10:30:00")',
        ]
    assert [note.column for note in done.notes] == ["sex"]
    done = load(target, file, labels=False)
    assert dict(done.columns)["sex"] == "bigint"


def test_a_transport_file_of_sas(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data.xpt"
    pyreadstat.write_xport(frame()[["id", "x", "s"]], file)
    done = load(target, file)
    assert kinds(done) == ["bigint", "double precision", "text"]
    assert done.rows == 3


def test_values_that_spss_declares_missing(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data.sav"
    pyreadstat.write_sav(frame(), file, missing_ranges={"part": [9]})
    done = load(target, file)
    assert target.admin.execute("SELECT count(part) FROM s.t").fetchone() == (2,)
    assert [note.column for note in done.notes] == ["part"]


def test_options_of_other_files_are_refused(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data"
    pyarrow.parquet.write_table(pa.table({"a": [1]}), file)
    for options in (["--sep", ";"], ["--null", "NA"], ["--sheet", "x"], ["--no-header"]):
        ran = pganon("import", str(file), "s.t", *options, "--dsn", target.dsn())
        assert ran.code == 2
        assert options[0] in ran.err


def test_what_is_wanted_of_a_file(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("id,code,seen,age\n1,007,31-OCT-2023,5\n2,+8,1-NOV-2023,6\n")
    options = ("--columns", "seen,id", "--columns", "code", "--type", "seen=date")
    ran = pganon("import", str(file), "s.t", *options, "--dsn", target.dsn(), "--json")
    assert [(c["name"], c["type"]) for c in ran.json["columns"]] == [
        *(("id", "integer"), ("code", "text"), ("seen", "date")),
    ]
    assert texts(target) == ["(1,007,2023-10-31)", "(2,+8,2023-11-01)"]
    done = load(target, file, types={"code": "numeric(5,1)", "age": "text"})
    assert kinds(done) == ["integer", "numeric(5,1)", "text", "text"]
    assert kinds(load(target, file, text=True)) == ["text"] * 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--type", "age=integer"], "line 3: a value is none of the type"),
        (["--type", "age=nothing"], '"nothing" is no type'),
        (["--type", "age=s.mine"], "is no type"),
        (["--type", "age=integer); DROP TABLE x; --"], "is no type"),
        (["--type", "age"], 'no "=" in it'),
        (["--type", "x=text"], "has no column x"),
        (["--columns", "x"], "has no column x"),
        (["--header-row", "0"], "rows are counted from 1"),
    ],
)
def test_what_cannot_be_wanted(
    target: Database, tmp_path: Path, options: list[str], message: str
) -> None:
    target.connect().execute("CREATE DOMAIN s.mine AS integer")
    file = tmp_path / "data.csv"
    file.write_text("id,age\n1,5\n2,Mueller\n")
    ran = pganon("import", str(file), "s.t", *options, "--dsn", target.dsn())
    assert ran.code == 2
    assert message in " ".join(ran.err.split())
    assert "Mueller" not in ran.err
    assert target.admin.execute("SELECT to_regclass('s.t')").fetchone() == (None,)


def test_the_line_that_a_value_is_in(target: Database, tmp_path: Path) -> None:
    """Quoted line ends, blank lines and lines before the header count."""
    file = tmp_path / "data.csv"
    file.write_text('title\n\nid,note\n1,"a\nb"\n\n2,x\n3,y\nxx,z\n')
    with pytest.raises(UsageError, match="line 9: a value"):
        load(target, file, header_row=3, types={"id": "integer"})
    rows = "".join(f"{n},20\n" for n in range(50))
    file.write_text(f"id,age\n{rows}51,90+\n")
    done = load(target, file)
    assert done.notes == (
        Note(
            "age",
            "text because 1 of 51 values is no number, the first in line 52",
            "mend them, or --null WORD if they mean that there is no value",
        ),
    )


@pytest.mark.parametrize(
    ("values", "note", "remedy"),
    [
        (["31-OCT-2023", "1-NOV-2023"], "names of months", "--type v=date"),
        (["12.5%", "7%"], "per cent", "write the numbers alone"),
        (["$1200.50", "$7"], "signs of money", "write the numbers alone"),
        (["(100)", "7"], "parentheses", "write the numbers alone"),
        (["1.1", "1.10"], "differing decimals", "--type v=numeric"),
        (["2020-01-01 10:00Z", "2020-01-01 10:00+05"], "several offsets", "--type v=timestamptz"),
        (["2020-01-01", "2020-01-01 10:00"], "several forms", "=timestamp without"),
    ],
)
def test_notes_on_what_people_write(
    target: Database, tmp_path: Path, values: list[str], note: str, remedy: str
) -> None:
    file = tmp_path / "data.csv"
    file.write_text("".join(f"{line}\n" for line in ("v;w", *(f"{v};x" for v in values))))
    done = load(target, file, separator=";")
    assert kinds(done)[0] == "text"
    assert [n.column for n in done.notes] == ["v"]
    assert note in done.notes[0].note
    assert remedy in done.notes[0].remedy


def test_names_that_a_table_cannot_have(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    long = "ä" * 40
    file.write_text(f"a,a,a_2,xmin,{long},{long}b\n1,2,3,4,5,6\n")
    done = load(target, file)
    cut = "ä" * 30
    names = ["a", "a_3", "a_2", "xmin_", cut, f"{cut}_2"]
    assert [name for name, _ in done.columns] == names
    assert [note.column for note in done.notes] == ["a_3", "xmin_", cut, f"{cut}_2"]


def test_columns_of_fixed_width_are_named(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text("id   age  sex\n1    20   m\n2    31   f\n")
    with pytest.raises(UsageError, match="several blanks") as caught:
        load(target, file)
    assert caught.value.code == "separator"
    assert "fixed width" in (caught.value.hint or "")


def piped(pipe: Path, content: bytes) -> threading.Thread:
    """A pipe that somebody writes this into."""
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_bytes(content), daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("kind", ["parquet", "sav", "dta", "xlsx"])
def test_a_pipe_leaves_no_file(
    target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, packed: bool
) -> None:
    """What it gave is read several times, and has no name anywhere."""
    folder, made = tmp_path / "temporary", tmp_path / "made"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    rows = frame()[["id", "x"]]
    if kind == "xlsx":
        made.write_bytes(xlsx({"Data": [["id", "x"], [1, 1.5], [2, None], [3, 2]]}))
    elif kind == "parquet":
        rows.to_parquet(made)
    else:
        (pyreadstat.write_sav if kind == "sav" else pyreadstat.write_dta)(rows, made)
    content = gzip.compress(made.read_bytes()) if packed else made.read_bytes()
    thread = piped(tmp_path / "pipe", content)
    seen: list[Path] = []
    real = importing.content_of

    @contextmanager
    def content_of(file: Path) -> Iterator[Any]:
        with real(file) as found:
            seen.extend(folder.iterdir())
            yield found
            seen.extend(folder.iterdir())

    monkeypatch.setattr(importing, "content_of", content_of)
    if kind == "xlsx" and packed:
        with pytest.raises(UsageError):
            load(target, tmp_path / "pipe")
    else:
        assert load(target, tmp_path / "pipe").rows == 3
        assert texts(target) == ["(1,1.5)", "(2,)", "(3,2)"]
    thread.join(timeout=20)
    assert (seen, list(folder.iterdir())) == ([], [])


def test_a_pipe_leaves_no_file_when_the_program_is_killed(tmp_path: Path) -> None:
    folder, pipe = tmp_path / "temporary", tmp_path / "pipe"
    folder.mkdir()
    os.mkfifo(pipe)
    program = (
        "import sys, time; from pathlib import Path\n"
        "from pganon.importing.content import content_of\n"
        "with content_of(Path(sys.argv[1])) as found:\n"
        "    print(found.kind, flush=True); time.sleep(600)"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", program, str(pipe)],
        env={**os.environ, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        pipe.write_bytes(gzip.compress(b"a,b\n" + b"1,secret\n" * 100_000))
        assert running.stdout is not None
        assert running.stdout.readline() == "text\n"
    finally:
        running.kill()
        running.communicate()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "others", [["Mueller"] * 2, [float("inf"), 2.0**80]], ids=["texts", "floats"]
)
def test_types_that_differ_within_a_file_tell_no_value(
    target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: list[Any]
) -> None:
    file = tmp_path / "data.sav"
    pyreadstat.write_sav(pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0]}), file)
    real, chunks = pyreadstat.read_sav, iter([[2**53 + 1, 2], others, []])

    def read(*arguments: Any, **options: Any) -> Any:
        found = real(*arguments, **options)
        return found if "metadataonly" in options else ({"x": next(chunks)}, found[1])

    monkeypatch.setattr(pyreadstat, "read_sav", read)
    monkeypatch.setattr(typed_files, "_ROWS", 2)
    with pytest.raises(UsageError, match="column of several types") as caught:
        load(target, file)
    assert "9007199254740993" not in str(caught.value)
