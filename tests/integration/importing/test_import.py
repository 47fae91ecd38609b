"""`pganon import`: streaming, inferred types, errors that hold no value."""

import gzip
import json
from pathlib import Path

import pytest

from pganon.errors import PganonError, PreconditionError, UsageError
from pganon.importing import files as importing
from pganon.importing.form import Format
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database


@pytest.fixture
def target(bare_db: Database) -> Database:
    """A database in which steward has a schema `s`; importing works before `pganon init`."""
    bare_db.connect().execute("CREATE SCHEMA s")
    return bare_db


def _file(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _types(db: Database, file: Path, **form) -> dict[str, str]:
    done = importing.import_file(db.connect(), file, "s.t", form=Format(**form), replace=True)
    return dict(done.columns)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["true", "false"], "boolean"),
        (["TRUE", "FALSE", ""], "boolean"),
        (["t", "f"], "boolean"),
        (["t", "t"], "text"),
        (["true", "False"], "text"),
        (["1", "0", "-5"], "integer"),
        (["999999999"], "integer"),
        (["2147483647"], "bigint"),
        (["-999999999999999999"], "bigint"),
        (["9223372036854775807"], "numeric"),
        (["+5"], "text"),
        (["-0"], "text"),
        (["-0.0"], "text"),
        (["1", "1.5", "-0.5", "2.0"], "numeric"),
        (["1.50", "2.25"], "numeric"),
        (["1.10", "1.1"], "text"),
        (["1.50", "2"], "text"),
        ([".5"], "text"),
        (["5."], "text"),
        (["1.5", "1e-05", "1e+20"], "double precision"),
        (["1.5", "1.0", "2.5e-07"], "double precision"),
        (["-0.0", "1e-05"], "double precision"),
        (["0.00001", "1e-06"], "text"),
        (["123456789.123456", "1e-05"], "double precision"),
        (["1234567890.123456", "1e-05"], "text"),
        (["1E50", "1E51"], "text"),
        (["1.5", "1e-03"], "text"),
        (["1.5E+03"], "text"),
        (["1e+400"], "text"),
        (["12345678901234567890.5"], "numeric"),
        (["00123", "1"], "text"),
        (["NaN"], "text"),
        (["1,5"], "text"),
        (["0x1F"], "text"),
        (["١٢"], "text"),
        ([" 1", "2"], "text"),
        (["2024-02-29", "0001-01-01", "9999-12-31"], "date"),
        (["2023-02-29"], "text"),
        (["0000-01-01"], "text"),
        (["1/2/2020"], "text"),
        (["2020-01-01 23:59", "2020-01-01 00:00"], "timestamp"),
        (["2020-01-01 23:59", "2020-01-01T00:00"], "text"),
        (["2020-01-01 23:59:00", "2020-01-01 00:00"], "text"),
        (["2020-01-01 23:59:00.5", "2020-01-01 00:00:00"], "timestamp"),
        (["2020-01-01 23:59:00.50", "2020-01-01 00:00:00"], "text"),
        (["2020-01-01 23:59:00.500", "2020-01-01 00:00:00.000"], "timestamp"),
        (["2020-01-01 23:59:00.123456789"], "text"),
        (["2020-01-01 24:00"], "text"),
        (["2020-01-01 10:00:60"], "text"),
        (["2020-01-01 10:00:00Z"], "timestamptz"),
        (["2020-01-01 10:00:00Z", "2020-01-01 10:00:00+0530"], "text"),
        (["2020-01-01 10:00:00+05"], "text"),
        (["2020-01-01 10:00:00Z", "2020-01-01 10:00:00"], "text"),
        (["2020-01-01", "2020-01-01 10:00:00"], "text"),
        (["10:00", "11:00"], "text"),
        (["123e4567-e89b-12d3-a456-426614174000"], "uuid"),
        (["123E4567-e89b-12d3-a456-426614174000"], "text"),
        (["", ""], "text"),
        (["", "7"], "integer"),
        (["yes", "no"], "text"),
    ],
)
@pytest.mark.primary_server_only
def test_inferred_type(target: Database, tmp_path, values, kind):
    lines = "".join(f'"{value}",x\n' if value else ",x\n" for value in values)
    assert _types(target, _file(tmp_path, "a,b\n" + lines))["a"] == kind


def test_a_value_after_the_sample_decides(target: Database, tmp_path):
    rows = ["1,2020-01-01,,5"] * 3000 + ["2147483648,2020-02-30,true,1.5"]
    file = _file(tmp_path, "a,b,c,d\n" + "\n".join(rows))
    assert _types(target, file) == {"a": "bigint", "b": "text", "c": "boolean", "d": "numeric"}


def test_values_survive(target: Database, tmp_path):
    file = _file(
        tmp_path,
        'id,Name ,"two words"\n1,"a, b",?\n\n2,"say ""x""",""\n3,é,"line 1\nline 2"\n',
    )
    done = pganon("import", str(file), "s.t", "--null", "?", "--dsn", target.dsn(), "--json")
    assert done.code == 0, done.err + done.out
    assert done.json == {
        "table": "s.t",
        "columns": [
            {"name": "id", "type": "integer"},
            {"name": "Name ", "type": "text"},
            {"name": "two words", "type": "text"},
        ],
        "rows": 3,
        "notes": [],
    }
    rows = target.connect().execute('SELECT id, "Name ", "two words" FROM s.t ORDER BY id')
    assert rows.fetchall() == [
        (1, "a, b", None),
        (2, 'say "x"', ""),
        (3, "é", "line 1\nline 2"),
    ]


def test_gzip_without_header(target: Database, tmp_path):
    file = _file(tmp_path, gzip.compress(b"1;x\n2;y\n"), "t.csv.gz")
    kinds = _types(target, file, header=False, names=["n", "Mixed Case"], separator=";")
    assert kinds == {"n": "integer", "Mixed Case": "text"}


def test_names_replace_the_header(target: Database, tmp_path):
    assert _types(target, _file(tmp_path, "a,a\n1,2\n"), names=["x", "y"]) == {
        "x": "integer",
        "y": "integer",
    }


def test_encoding_and_byte_order_mark(target: Database, tmp_path):
    assert list(_types(target, _file(tmp_path, b"\xef\xbb\xbfa,b\n1,2\n"))) == ["a", "b"]
    assert list(_types(target, _file(tmp_path, b"\xe9\n1\n"), encoding="latin-1")) == ["é"]


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.parametrize("before", [0, 1, 5000])
def test_the_first_line_that_is_no_text_is_named(
    target: Database, tmp_path, name: str, before: int
) -> None:
    content = b"a,b\n" + b"1,xxxxxxxxxxxxxxxx\n" * before + b"2,\xe9t\xe9\n3,\xe9\n"
    packed = gzip.compress(content) if name.endswith(".gz") else content
    with pytest.raises(UsageError, match=rf"t\.csv(\.gz)?, line {before + 2}: not utf-8 text"):
        _types(target, _file(tmp_path, packed, name))


def test_an_encoding_without_lines_after_an_error(target: Database, tmp_path) -> None:
    content = "a\n1\n".encode("utf-16") + b"\x00"
    with pytest.raises(UsageError, match=r"t\.csv: not utf-16 text"):
        _types(target, _file(tmp_path, content), encoding="utf-16")


def test_header_alone(target: Database, tmp_path):
    assert _types(target, _file(tmp_path, "a,b\n")) == {"a": "text", "b": "text"}


def test_quoted_target_name(target: Database, tmp_path):
    name = 's."x""; DROP TABLE t; --"'
    done = importing.import_file(target.connect(), _file(tmp_path, "a\n1\n"), name)
    assert done.table == name


def test_default_schema_is_public(target: Database, tmp_path):
    target.admin.execute("GRANT CREATE ON SCHEMA public TO steward")
    assert (
        importing.import_file(target.connect(), _file(tmp_path, "a\n1\n"), "T").table == "public.t"
    )


def test_existing_table(target: Database, tmp_path):
    file = _file(tmp_path, "a\n1\n")
    importing.import_file(target.connect(), file, "s.t")
    with pytest.raises(PreconditionError, match=r"s\.t exists"):
        importing.import_file(target.connect(), file, "s.t")
    other = _file(tmp_path, "b\nx\n")
    done = importing.import_file(target.connect(), other, "s.t", replace=True)
    assert done.columns == [("b", "text")]


def test_views_are_not_replaced(target: Database, tmp_path):
    target.connect().execute("CREATE VIEW s.t AS SELECT 1 AS a")
    with pytest.raises(PreconditionError, match="not a table"):
        importing.import_file(target.connect(), _file(tmp_path, "a\n1\n"), "s.t", replace=True)


SECRET = "Mueller"

BAD = {
    "ragged": (f"a,b\n1,2\n{SECRET},2,3\n", "line 3: 3 fields, there are 2 columns"),
    "short": (f"a,b\n1,2\n\n{SECRET}\n", "line 4: 1 field, there are 2 columns"),
    "empty name": (f"{SECRET},,x\n1,2,3\n", "the name of column 2 is empty"),
    "no names": (f"Unnamed: 0,Unnamed: 1\n{SECRET},x\n", "the name of column 2 is empty"),
    "empty file": ("", "it has no header"),
    "open quote": (f'a,b\n1,"{SECRET}\n', "line 2: a quoted field has no end"),
    "stray quote": (f'a,b\n1,"x"{SECRET}\n', "line 2"),
    "nul": (f"a,b\n{SECRET},x\x00y\n", "line 2: a NUL character"),
    "encoding": (f"a,b\n{SECRET},".encode() + b"\xff\n", "line 2: not utf-8 text"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_refused_without_their_values(target: Database, tmp_path, case):
    text, expected = BAD[case]
    keep = _file(tmp_path, "a\n1\n", "keep.csv")
    importing.import_file(target.connect(), keep, "s.t")
    conn = target.connect()
    with pytest.raises(UsageError) as caught:
        importing.import_file(conn, _file(tmp_path, text), "s.t", replace=True)
    assert expected in caught.value.message
    assert SECRET not in f"{caught.value} {caught.value.hint}"
    # The old table is there still, and nothing else.
    rows = conn.execute("SELECT relname::text FROM pg_class WHERE relnamespace = 's'::regnamespace")
    assert rows.fetchall() == [("t",)]
    assert conn.execute("SELECT a FROM s.t").fetchone() == (1,)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["t.csv", "nowhere.t"], 'the schema "nowhere" does not exist'),
        (["t.csv", "a.b.c"], "3 parts"),
        (["missing.csv", "s.t"], "No such file"),
        (["t.csv", "s.t", "--no-header"], "names of the columns are needed"),
        (["t.csv", "s.t", "--sep", "ab"], "the separator must be one character"),
        (["t.csv", "s.t", "--sep", ", "], "the separator must be one character"),
        (["t.csv", "s.t", "--quote", ","], "the quote must be"),
        (["t.csv", "s.t", "--encoding", "klingon"], 'unknown encoding "klingon"'),
        (["t.csv", "s.t", "--names", "x"], "1 names were given, the file has 2 columns"),
        (["broken.gz", "s.t"], "gzip"),
        (["cut.gz", "s.t"], "is not complete, or damaged"),
    ],
)
@pytest.mark.primary_server_only
def test_wrong_calls(target: Database, tmp_path, monkeypatch, arguments, expected):
    monkeypatch.chdir(tmp_path)
    _file(tmp_path, "a,b\n1,2\n")
    _file(tmp_path, b"not gzip", "broken.gz")
    _file(tmp_path, gzip.compress(b"a,b\n1,2\n" * 1000)[:30], "cut.gz")
    done = pganon("import", *arguments, "--dsn", target.dsn(), "--json")
    assert done.code == 2
    assert expected in json.loads(done.out)["error"]["message"]


def test_missing_privilege_is_a_database_error(target: Database, tmp_path):
    done = pganon("import", str(_file(tmp_path, "a\n1\n")), "t", "--dsn", target.dsn("analyst"))
    assert done.code == 3
    assert "42501" in done.err


def test_a_key(target: Database, tmp_path: Path) -> None:
    file = _file(tmp_path, "a,b,c\n1,x,\n1,y,2\n2,x,3\n")
    done = pganon("import", str(file), "s.t", "--key", "a,b", "--dsn", target.dsn())
    assert done.code == 0
    found = target.connect().execute(
        "SELECT pg_get_constraintdef(c.oid) FROM pg_constraint AS c"
        " WHERE c.conrelid = 's.t'::regclass AND c.contype = 'p'"
    )
    assert found.fetchall() == [("PRIMARY KEY (a, b)",)]


@pytest.mark.parametrize(
    ("key", "code", "message"),
    [
        (["c"], "key_null", "column c of the key has no value in 1 rows"),
        (["b"], "key_repeated", "1 rows have the same b as another"),
        (["b", "d"], None, "the file has no column d"),
    ],
)
def test_a_column_that_is_no_key(
    target: Database, tmp_path: Path, key: list[str], code: str | None, message: str
) -> None:
    """Named without the values, and nothing is left."""
    file = _file(tmp_path, "a,b,c\n1,secret,\n2,secret,2\n3,other,3\n")
    conn = target.connect()
    with pytest.raises(PganonError) as raised:
        importing.import_file(conn, file, "s.t", key=key)
    assert message in raised.value.message
    assert "secret" not in f"{raised.value} {raised.value.hint}"
    assert raised.value.hint
    assert code is None or raised.value.code == code
    assert conn.execute("SELECT to_regclass('s.t')").fetchone() == (None,)
