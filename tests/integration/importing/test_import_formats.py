"""Files as spreadsheets and other programs write them: numbers, dates, quoting, packing."""

from __future__ import annotations

import gzip
import io
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import UsageError
from pganon.importing import csvs, table
from pganon.importing import files as importing
from pganon.importing.form import Format
from pganon.importing.notes import Note
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only


@pytest.fixture
def target(bare_db: Database) -> Database:
    bare_db.connect().execute("CREATE SCHEMA s")
    return bare_db


def load(
    db: Database, folder: Path, content: str | bytes, name: str = "data.csv", **form: Any
) -> importing.Imported:
    file = folder / name
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return importing.import_file(db.connect(), file, "s.t", form=Format(**form), replace=True)


def rows(db: Database) -> list[tuple[Any, ...]]:
    return db.admin.execute("SELECT t::text FROM s.t").fetchall()


def texts(db: Database) -> list[str]:
    return [row[0] for row in rows(db)]


def test_numbers_of_spreadsheets(target: Database, tmp_path: Path) -> None:
    text = "a;b;c;d\n1,5;1.234;-1.234.567,89;1.234.567.890.123\n2;7;+,5;1\n"
    done = load(target, tmp_path, text, separator=";", decimal=",", thousands=".")
    assert [kind for _, kind in done.columns] == ["numeric", "integer", "numeric", "bigint"]
    assert texts(target) == ["(1.5,1234,-1234567.89,1234567890123)", "(2,7,0.5,1)"]


@pytest.mark.parametrize(
    ("thousands", "value"),
    [("'", "1'234.5"), ("\u2019", "1\u2019234.5"), (" ", "1\u00a0234.5"), (" ", "1\u202f234.5")],
)
def test_swiss_and_french_thousands(
    target: Database, tmp_path: Path, thousands: str, value: str
) -> None:
    done = load(target, tmp_path, f"a,b\n{value},x\n", thousands=thousands)
    assert (done.columns[0], texts(target)) == (("a", "numeric"), ["(1234.5,x)"])


def test_decimal_and_separator_may_be_one_where_numbers_are_quoted(
    target: Database, tmp_path: Path
) -> None:
    done = load(target, tmp_path, 'a,b\n"1,5",x\n"2,25",y\n', decimal=",")
    assert (done.columns[0], texts(target)) == (("a", "numeric"), ["(1.5,x)", "(2.25,y)"])


@pytest.mark.parametrize(
    ("values", "form", "because", "remedy"),
    [
        (["1,5", "2"], {}, "decimal ','", "--decimal , makes it numeric"),
        (
            ["1.234,5", "1"],
            {},
            "decimal ',' and thousands '.'",
            "--decimal , --thousands . makes it numeric",
        ),
        (["1'234", "5"], {}, "thousands '''", "--thousands ''\"'\"'' makes it integer"),
        (
            ["1,234", "2"],
            {},
            "decimal ',' or thousands ','",
            "--decimal , makes it numeric; --thousands , makes it integer",
        ),
        (
            ["1,5", "NA", "*"],
            {},
            "decimal ',', *, NA",
            "--decimal , --null '' --null '*' --null 'NA' makes it numeric",
        ),
        (
            ["1.5", "2"],
            {"decimal": ",", "thousands": "."},
            "decimal '.'",
            "--decimal . without --thousands makes it numeric",
        ),
        (["31.12.2019"], {}, "dates in the order dmy", "--dates dmy makes it date"),
        (["12/31/2019"], {}, "dates in the order mdy", "--dates mdy makes it date"),
        (
            ["1/2/2019 7:00"],
            {},
            "dates in the order dmy or dates in the order mdy",
            "--dates dmy makes it timestamp; --dates mdy makes it timestamp",
        ),
        (
            ["2019-12-31 07:00Z"],
            {"dates": "dmy"},
            "dates in the order ymd",
            "--dates ymd makes it timestamptz",
        ),
        (
            ["31.12.2019", "N"],
            {},
            "dates in the order dmy, N",
            "--dates dmy --null '' --null 'N' makes it date",
        ),
        (["5", "."], {}, ".", "--null '' --null '.' makes it integer"),
        (["5", " "], {}, "' '", "--null '' --null ' ' makes it integer"),
        (["5", '""'], {}, '""', "--force-null makes it integer"),
        (["5", '"NA"'], {"nulls": ["", "NA"]}, '"NA"', "--force-null makes it integer"),
    ],
)
def test_a_column_that_stays_text_is_noted_with_a_remedy(
    target: Database,
    tmp_path: Path,
    values: list[str],
    form: dict[str, Any],
    because: str,
    remedy: str,
) -> None:
    text = "a;b\n" + "".join(f"{value};x\n" for value in values)
    done = load(target, tmp_path, text, separator=";", **form)
    assert done.columns[0] == ("a", "text")
    assert done.notes == (Note("a", f"text because of {because}", remedy),)


@pytest.mark.parametrize(
    "values",
    [
        ["1,5", "x,y"],
        ["1,5", "1.5"],
        ["a", "b"],
        ["1.1", "1.10", "NA"],
        ["31.12.2019", "2019-12-31"],
        ["31.12.2019", "12.31.2019"],
        [*(["1,5"] * 5000), "last"],
        [*(["1"] * 30), "1,5", "last"],
    ],
)
def test_texts_are_not_noted(target: Database, tmp_path: Path, values: list[str]) -> None:
    done = load(
        target, tmp_path, "a;b\n" + "".join(f"{value};x\n" for value in values), separator=";"
    )
    assert (done.columns[0], done.notes) == (("a", "text"), ())


def test_the_last_row_decides(target: Database, tmp_path: Path) -> None:
    numbers = "".join(f"{n};x\n" for n in range(9000))
    assert load(target, tmp_path, f"a;b\n{numbers}1,5;x\n", separator=";").notes == (
        Note("a", "text because of decimal ','", "--decimal , makes it numeric"),
    )
    done = load(target, tmp_path, f"a;b\n{numbers}1,5;x\nend;x\n", separator=";")
    assert done.columns[0] == ("a", "text")
    assert [note.note for note in done.notes] == [
        "text because 2 of 9,002 values are no number, the first in line 9002"
    ]
    dates = "2020-01-01;x\n" * 40
    done = load(target, tmp_path, f"a;b\n{dates}2020-02-30;x\n", separator=";")
    assert [note.note for note in done.notes] == [
        "text because 1 of 41 values is no date, the first in line 42"
    ]


def test_date_times_in_another_order(target: Database, tmp_path: Path) -> None:
    text = "a,b,c\n31.12.2019 23:59,1/2/2020 7:05:06,1-2-2020 10:00 +05:30\n"
    done = load(target, tmp_path, text, dates="dmy")
    assert [kind for _, kind in done.columns] == ["timestamp", "timestamp", "timestamptz"]
    found = target.admin.execute(
        "SELECT a::text, b::text, c = '2020-02-01 04:30Z' FROM s.t"
    ).fetchall()
    assert found == [("2019-12-31 23:59:00", "2020-02-01 07:05:06", True)]
    assert load(target, tmp_path, "a\n1/2/2020 11:30 PM\n", dates="mdy").columns == [
        ("a", "timestamp")
    ]
    assert texts(target) == ['("2020-01-02 23:30:00")']


def test_quoted_text_is_not_null(target: Database, tmp_path: Path) -> None:
    text = 'a,b\n"",1\n,2\n'
    load(target, tmp_path, text)
    found = target.admin.execute("SELECT a, b FROM s.t ORDER BY b").fetchall()
    assert found == [("", 1), (None, 2)]
    load(target, tmp_path, text, force_null=True)
    assert target.admin.execute("SELECT count(a) FROM s.t").fetchall() == [(0,)]


def test_export_and_import_agree(target: Database, tmp_path: Path) -> None:
    """What COPY writes comes back, NULL and all."""
    conn = target.connect()
    conn.execute(
        "CREATE TABLE s.o AS SELECT * FROM (VALUES (1, ''), (2, NULL), (3, 'NA'), (4, E'\\\\.'),"
        " (5, E'a\\n\\\\.\\nb'), (6, ' '), (7, E'x\\r\\ny'), (8, '\"'), (9, 'a,b')) AS v(n, t)"
    )
    for columns in ("n, t", "t"):
        with conn.cursor().copy(
            f"COPY (SELECT {columns} FROM s.o) TO STDOUT (FORMAT csv, HEADER)"
        ) as copy:  # type: ignore[arg-type]
            content = b"".join(bytes(part) for part in copy)
        load(target, tmp_path, content)
        difference = conn.execute(
            f"SELECT count(*) FROM (SELECT {columns} FROM s.o EXCEPT ALL TABLE s.t) AS d"  # type: ignore[arg-type]
        ).fetchone()
        assert difference == (0,)
        assert conn.execute("SELECT count(*) FROM s.t").fetchone() == (9,)


def test_blank_fields_of_one_column_are_records(target: Database, tmp_path: Path) -> None:
    done = load(target, tmp_path, "age\n1\n\n3\n\n")
    assert (done.rows, done.columns) == (4, [("age", "integer")])
    assert target.admin.execute("SELECT count(*), count(age) FROM s.t").fetchall() == [(4, 2)]


@pytest.mark.parametrize("header", ['"","age"', ",age"])
def test_row_names_of_r(target: Database, tmp_path: Path, header: str) -> None:
    done = load(target, tmp_path, f'{header}\n"1",30\n"2",40\n')
    assert done.columns == [("row_name", "integer"), ("age", "integer")]
    (note,) = done.notes
    assert note.column == "row_name"
    assert "R and pandas" in note.note
    done = load(target, tmp_path, ",row_name\n1,2\n")
    assert [name for name, _ in done.columns] == ["row_name", "row_name_2"]


def test_a_first_line_for_excel(target: Database, tmp_path: Path) -> None:
    done = load(target, tmp_path, "sep=;\r\na;b\r\n1;x\r\n")
    assert [name for name, _ in done.columns] == ["a", "b"]
    with pytest.raises(UsageError, match="line 4: 1 field"):
        load(target, tmp_path, "sep=;\na;b\n1;x\n2\n")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_known_by_its_mark(target: Database, tmp_path: Path, encoding: str) -> None:
    marked = ("" if encoding in ("utf-16", "utf-32") else "\ufeff") + "é,b\n1,ß\n"
    assert load(target, tmp_path, marked.encode(encoding)).columns == [
        ("é", "integer"),
        ("b", "text"),
    ]
    assert load(target, tmp_path, marked.encode(encoding), encoding=encoding).columns[0][0] == "é"
    assert texts(target) == ["(1,ß)"]


@pytest.mark.parametrize("given", [None, "latin-1", "utf-8"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_named(
    target: Database, tmp_path: Path, encoding: str, given: str | None
) -> None:
    content = "age,name\n1,Müller\n".encode(encoding)
    with pytest.raises(UsageError, match="is UTF-16 text, not") as caught:
        load(target, tmp_path, content, encoding=given)
    assert caught.value.hint == f"give --encoding {encoding}"
    for named in (encoding, "utf-16"):
        assert load(target, tmp_path, content, encoding=named).columns[1] == ("name", "text")


def test_latin_1_is_no_utf_16(target: Database, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="line 2: not utf-8 text") as caught:
        load(target, tmp_path, "a,b\n1,Müller\n".encode("latin-1"))
    assert "latin-1" in (caught.value.hint or "")
    with pytest.raises(UsageError, match="is UTF-16 text, not iso8859-1"):
        load(target, tmp_path, "a,b\n1,ü\n".encode("utf-16"), encoding="latin-1")


def zipped(*names: str, content: str = "a,b\n1,x\n") -> bytes:
    """An archive without the time at which it was made: tests are named after it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), "" if name.endswith("/") else content)
    return buffer.getvalue()


def test_a_zip_archive_of_one_file(target: Database, tmp_path: Path) -> None:
    content = zipped("data/", "data/t.csv", "__MACOSX/._t.csv")
    for name in ("data.zip", "data.csv"):
        assert load(target, tmp_path, content, name).rows == 1
    bad = "a,b\n1,Müller\n"
    file = zipped("t.csv", content=bad.encode("latin-1"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="line 2: not utf-8 text"):
        load(target, tmp_path, file, "data.zip")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (zipped("a.csv", "b.csv"), "is a zip archive of 2 files"),
        (zipped(), "is an empty zip archive"),
        (zipped("d/"), "is a zip archive of 0 files"),
        (zipped("[Content_Types].xml", "word/document.xml"), "is an office document"),
        (zipped("[Content_Types].xml", "xl/workbook.xml"), "is damaged, or no workbook"),
        (zipped("t.csv")[:40], "damaged"),
        (b"PAR1xxx\0", "is damaged"),
        (b"ARROW1\0\0xxxx", "is damaged"),
        (b"<stata_dta>xxx", "is damaged"),
        (b"\xfd7zXZ\x00xx", "is not complete, or damaged"),
        (b"BZh91AY", "is not complete, or damaged"),
        (b"\x28\xb5\x2f\xfdxx", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is damaged, or no workbook"),
        (b'[{"a":1}]', "is JSON"),
        (b'{"a":1}\n{"a":2}\n', "is JSON"),
        (b"<html><table><tr><td>a</td></tr></table></html>", "is HTML or XML"),
        (b"<?xml version='1.0'?><a/>", "is HTML or XML"),
        (b"-- PostgreSQL database dump\n", "is an SQL script"),
        (b"SQLite format 3\0", "is an SQLite database"),
        (b"%PDF-1.7", "is a PDF document"),
        (b"", "is empty: it has no header"),
        (b"\xef\xbb\xbf", "is empty: it has no header"),
        (b"\n\n", "is empty: it has no header"),
        (gzip.compress(b"", mtime=0), "is empty: it has no header"),
    ],
)
def test_other_files_are_named(
    target: Database, tmp_path: Path, content: bytes, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        load(target, tmp_path, content, "data.csv")
    assert target.admin.execute("SELECT to_regclass('s.t')").fetchone() == (None,)


@pytest.mark.parametrize(
    "name", ["ORCID", "Set A", "create date", "PAR1", "FEA1", "PGDMP", "Objective", "insert"]
)
def test_names_that_other_files_begin_with(target: Database, tmp_path: Path, name: str) -> None:
    done = load(target, tmp_path, f"{name},b\n1,x\n")
    assert done.columns == [(name, "integer"), ("b", "text")]


def test_a_gzip_file_of_any_name(target: Database, tmp_path: Path) -> None:
    assert load(target, tmp_path, gzip.compress(b"a,b\n1,x\n", mtime=0)).rows == 1


def test_an_encrypted_zip_archive(target: Database, tmp_path: Path) -> None:
    content = bytearray(zipped("t.csv"))
    content[6] |= 1  # the flag, in both headers
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(UsageError, match="encrypted zip archive"):
        load(target, tmp_path, bytes(content))


def test_an_archive_in_a_pipe(target: Database, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    thread = threading.Thread(target=lambda: pipe.write_bytes(zipped("t.csv")), daemon=True)
    thread.start()
    assert importing.import_file(target.connect(), pipe, "s.t").rows == 1
    thread.join(timeout=20)


@pytest.mark.parametrize("mark", ["\x1f", "E", "5"])
def test_any_separator(target: Database, tmp_path: Path, mark: str) -> None:
    text = f"a{mark}b\n1{mark}x\n{mark}\n"
    done = load(target, tmp_path, text, separator=mark)
    assert done.columns == [("a", "integer"), ("b", "text")]
    assert texts(target) == ["(1,x)", "(,)"]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_line_ends_within_quotes_stay(target: Database, tmp_path: Path, ends: str) -> None:
    load(target, tmp_path, f'a,b{ends}1,"x\ny\r\nz"{ends}2,w')
    assert target.admin.execute("SELECT b FROM s.t ORDER BY a").fetchall() == [
        ("x\ny\r\nz",),
        ("w",),
    ]


def test_line_ends_may_differ(target: Database, tmp_path: Path) -> None:
    assert load(target, tmp_path, "a,b\n1,x\r\n2,y\r3,z\n").rows == 3


def test_a_huge_field(target: Database, tmp_path: Path) -> None:
    done = load(target, tmp_path, f'a,b\n1,{"x" * 3_000_000}\n2,"{"y," * 3_000_000}"\n')
    assert done.rows == 2
    assert target.admin.execute("SELECT sum(length(b)) FROM s.t").fetchall() == [(9_000_000,)]


@pytest.mark.parametrize(("columns", "value"), [(1600, "x12345678"), (1601, "1")])
def test_what_no_table_of_postgresql_holds(
    target: Database, tmp_path: Path, columns: int, value: str
) -> None:
    names = [f"c{n}" for n in range(columns)]
    text = f"{','.join(names)}\n{','.join([value] * columns)}\n"
    with pytest.raises(UsageError, match="too many columns") as caught:
        load(target, tmp_path, text)
    assert "--columns" in (caught.value.hint or "")
    assert len(load(target, tmp_path, text, columns=names[:9]).columns) == 9


@pytest.mark.parametrize("encoding", ["cp037", "latin-1"])
def test_quotes_of_other_encodings(target: Database, tmp_path: Path, encoding: str) -> None:
    """Its quote is another byte."""
    with pytest.raises(UsageError, match="line 2: text after the end of a quoted field"):
        load(target, tmp_path, 'a,b\n1,"x"y\n'.encode(encoding), encoding=encoding)


LATER = {
    "1,a\n2,b\n3,c": ["integer", "text"],
    "1,1\n2,2\n3,x": ["integer", "text"],
    "1,1\n2,0\n3,5000000000": ["integer", "bigint"],
    "1,1\n2,2\n3,2.5": ["integer", "numeric"],
    "1,1.5\n2,2\n3,2.5e-07": ["integer", "double precision"],
    "1,1.50\n2,2.25\n3,2.5": ["integer", "text"],
    "1,1\n2,2\n3,NA": ["integer", "text"],
    "1,true\n2,false\n3,1": ["integer", "text"],
    "1,2020-02-29\n2,\n3,2021-01-01 10:00": ["integer", "text"],
    "1,2021-01-01 10:00\n2,\n3,2020-02-29": ["integer", "text"],
    "1,\n2,\n3,7": ["integer", "integer"],
    "1,\n2,\n3,\n4,2020-01-01T10:00+00": ["integer", "timestamptz"],
    "x,\n,2020-01-01": ["text", "date"],
    "1,\n2,1\n3,x": ["integer", "text"],
    "1,t\n2,t\n3,f": ["integer", "boolean"],
    '1,"a\nb"\n2,""\n3,': ["integer", "text"],
}
"""Records of which the last may not fit the types of the first, and the types of all."""


@pytest.mark.parametrize("text", LATER)
def test_a_later_record_decides(
    target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    """The same table, whether batches have one record or all."""
    tables: list[tuple[importing.Imported, object]] = []
    file = tmp_path / "data.csv"
    file.write_text(f"k,v\n{text}\n")
    for block in (csvs._BLOCK, 24):
        monkeypatch.setattr(csvs, "_BLOCK", block)
        done = importing.import_file(target.connect(), file, "s.t", replace=True)
        tables.append((done, sorted(rows(target))))
    assert tables[0] == tables[1]
    assert [kind for _, kind in tables[0][0].columns] == LATER[text]
    left = target.admin.execute("SELECT count(*) FROM pg_class WHERE relname ~ 'pganon_import'")
    assert left.fetchone() == (0,)


def test_columns_that_an_event_trigger_adds_are_not_in_the_file(
    target: Database, tmp_path: Path
) -> None:
    target.admin.execute("""
        CREATE FUNCTION public.add_it() RETURNS event_trigger LANGUAGE plpgsql AS $$
        DECLARE made record;
        BEGIN
            FOR made IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP
                EXECUTE format('ALTER TABLE %s ADD loaded int DEFAULT 7', made.object_identity);
            END LOOP;
        END $$;
        CREATE EVENT TRIGGER add_it ON ddl_command_end
            WHEN TAG IN ('CREATE TABLE', 'CREATE TABLE AS') EXECUTE FUNCTION public.add_it();
    """)
    load(target, tmp_path, "a,b\n1,x\n")
    assert texts(target) == ["(1,x,7)"]


@pytest.mark.parametrize("change", ["replaced", "written"])
def test_a_file_that_changes_before_it_is_read_again(
    target: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """Names that were read before are not those of the columns that are read now."""
    file = tmp_path / "data.csv"
    create = table.create

    def changed(*arguments: Any) -> None:
        create(*arguments)
        other = file if change == "written" else tmp_path / "other.csv"
        other.write_text("disease,name\nflu,Ada\n")
        other.replace(file)

    monkeypatch.setattr(table, "create", changed)
    with pytest.raises(UsageError, match="changed while it was read") as caught:
        load(target, tmp_path, "name,disease\nAda,flu\n")
    assert caught.value.hint
    assert target.admin.execute("SELECT to_regclass('s.t')").fetchone() == (None,)


@pytest.mark.parametrize("encoding", ["base64", "undefined", "klingon"])
def test_encodings_that_are_none(target: Database, tmp_path: Path, encoding: str) -> None:
    with pytest.raises(UsageError, match=f'unknown encoding "{encoding}"'):
        load(target, tmp_path, "a\n1\n", encoding=encoding)


@pytest.mark.parametrize("mark", ["\0", "\n", "ab", "§"])
def test_separators_that_are_none(target: Database, tmp_path: Path, mark: str) -> None:
    with pytest.raises(UsageError, match="must be one character of ASCII"):
        load(target, tmp_path, "a\n1\n", separator=mark)


def test_one_table_of_notes(target: Database, tmp_path: Path) -> None:
    file = tmp_path / "data.csv"
    file.write_text('"",age,day\n1,NA,31.12.2019\n2,5,1.1.2020\n')
    ran = pganon("import", str(file), "s.t", "--dsn", target.dsn())
    assert ran.code == 0
    heads = [line.split() for line in ran.out.splitlines() if "remedy" in line]
    assert heads == [["column", "note", "remedy"]]
    options = ("--decimal", ",", "--thousands", ".", "--dates", "dmy", "--null", "", "--null", "NA")
    done = pganon(
        "import", str(file), "s.t", "--replace", *options, "--dsn", target.dsn(), "--json"
    )
    assert [column["type"] for column in done.json["columns"]] == ["integer", "integer", "date"]
