"""The SQL files of the repository: manifest, migrations, queries, language level."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.ledger.repository import Event
from pganon.worker.tidying import TASKS

SQL = Path(str(sqlfiles.sql_folder()))
MIGRATIONS = SQL.parent / "migrations"
FILES = sorted([*SQL.rglob("*.sql"), *MIGRATIONS.glob("*.sql")])

# PostgreSQL 14 is the oldest server that pganon runs on.
NEWER_THAN_14 = {
    "MERGE": r"\bMERGE\s+INTO\b",
    "security_invoker": r"\bsecurity_invoker\b",
    "NULLS NOT DISTINCT": r"\bNULLS\s+NOT\s+DISTINCT\b",
    "any_value": r"\bany_value\s*\(",
    "pg_input_is_valid": r"\bpg_input_(is_valid|error_info)\s*\(",
    "regexp_count and others": r"\bregexp_(count|instr|like|substr)\s*\(",
    "JSON constructors": r"\b(JSON_OBJECT|JSON_ARRAY|JSON_TABLE|JSON_EXISTS|JSON_VALUE)\s*\(",
    "random with bounds": r"\brandom\s*\(\s*[^)\s]",
    "range_agg of multiranges": r"\brange_intersect_agg\s*\(",
    "array_shuffle, array_sample": r"\barray_(shuffle|sample)\s*\(",
}


def _code(text: str) -> str:
    return re.sub(r"--[^\n]*", "", text)


def _name(path: Path) -> str:
    return path.relative_to(SQL.parent).as_posix()


CODE = {_name(path): _code(path.read_text()) for path in FILES}
"""Of the SQL files, without comments."""
PYTHON = {_name(path): path.read_text() for path in sorted((SQL.parent / "pganon").rglob("*.py"))}


def _using(feature: str, texts: dict[str, str]) -> list[str]:
    """Files with the feature in them."""
    pattern = re.compile(NEWER_THAN_14[feature], re.IGNORECASE)
    return [name for name, text in texts.items() if pattern.search(text)]


@pytest.mark.parametrize("feature", NEWER_THAN_14)
def test_language_of_postgresql_14(feature: str):
    assert _using(feature, CODE) == []


@pytest.mark.parametrize(
    ("feature", "text"),
    [
        ("MERGE", "merge into t using s on t.id = s.id when matched then do nothing"),
        ("security_invoker", "CREATE VIEW v WITH (security_invoker) AS SELECT 1"),
        ("NULLS NOT DISTINCT", "UNIQUE NULLS  NOT DISTINCT (a)"),
        ("any_value", "SELECT any_value(a)"),
        ("pg_input_is_valid", "SELECT pg_input_is_valid(a, 'int')"),
        ("pg_input_is_valid", "SELECT message FROM pg_input_error_info(a, 'int')"),
        ("regexp_count and others", "SELECT regexp_like(a, 'b')"),
        ("JSON constructors", "SELECT json_object('a': 1)"),
        ("random with bounds", "SELECT random(1, 6)"),
        ("range_agg of multiranges", "SELECT range_intersect_agg(a)"),
        ("array_shuffle, array_sample", "SELECT array_sample(a, 2)"),
    ],
)
def test_newer_language_is_noticed(feature: str, text: str):
    assert [name for name in NEWER_THAN_14 if _using(name, {"": text})] == [feature]


@pytest.mark.parametrize(
    "feature", ["MERGE", "security_invoker", "NULLS NOT DISTINCT", "any_value"]
)
def test_python_renders_no_newer_language(feature: str):
    # Of words in capitals: prose has them in small letters.
    pattern = re.compile(NEWER_THAN_14[feature])
    assert [name for name, text in PYTHON.items() if pattern.search(text)] == []


# reg* types and to_reg* functions take text for SQL: they fold, split and cut the bare name of a
# role or table. What may stand before or in them: a plain literal, an oid, a text that was quoted,
# a parameter for a QualifiedName, or a column or variable that holds such texts.
_REG = (
    r"(?:pg_catalog\.)?reg(?:class|collation|config|dictionary|namespace|oper|operator|proc"
    r"|procedure|role|type)\b"
)
REG = re.compile(
    rf"(?P<cast>(?:%\(\w+\)s|[^\s,(])+)::\s*{_REG}|\bto_reg[a-z]+\(\s*(?P<call>[^\s,)]+)"
    rf"|(?P<other>\bAS\s+{_REG}|[\"']{_REG}[\"'])",
    re.IGNORECASE,
)
QUOTED = re.compile(
    r"'[a-z_.]+('|\(regclass)|([a-z]\.|%s::|%\(oid\)s::)oid|NULL|(ARRAY\[)?\{(name)?\}\]?"
    r"|format\('%%?I\.%%?I'"
    r"|(pg_catalog\.)?quote_ident\([\w.]+|%s|%\((relation|population|table|name)(\)s)?"
    r"|:name|t\.name|against|m\.(person|value)_table"
    # Of pganon.release_columns, whose names and types are quoted where SQL needs it.
    r"|shown|p_kind|p_column|c\.collation"
    r"|%%L"  # a literal of names that Citus quoted
)


def _bare_names(text: str) -> list[str]:
    found = ((m["cast"] or m["call"] or m["other"]).strip('"') for m in REG.finditer(text))
    return [operand for operand in found if not QUOTED.fullmatch(operand)]


def test_no_bare_name_is_read_as_sql():
    texts = CODE | PYTHON
    assert {name: bare for name, text in texts.items() if (bare := _bare_names(text))} == {}


@pytest.mark.parametrize(
    "text",
    [
        "o.oid = current_user::regrole",
        "n.nspname::pg_catalog.regnamespace",
        "(g.name)::regrole",
        "to_regrole(g.name)",
        "to_regrole( current_user)",
        "CAST(r.rolname AS regrole)",
        "to_regclass(c.relname)",
        "'Steward'::regrole",
        'cast(col("name"), "regclass")',
    ],
)
def test_bare_names_are_noticed(text: str):
    assert _bare_names(text)


def test_manifest_lists_every_object_once():
    listed = sqlfiles.object_set().manifest
    there = [
        path.relative_to(SQL).as_posix()
        for folder in ("functions", "views")
        for path in (SQL / folder).rglob("*.sql")
    ]
    assert sorted(listed) == sorted(there)
    assert len(set(listed)) == len(listed)


def test_object_names_are_unique():
    names = [item.name for item in sqlfiles.object_set().objects]
    assert len(set(names)) == len(names)


def test_objects_are_created_in_schema_pganon_under_their_file_name():
    for item in sqlfiles.object_set().objects:
        text = _code(item.text.decode())
        created = re.findall(r"CREATE\s+(?:FUNCTION|PROCEDURE|VIEW)\s+([\w.]+)", text)
        assert created, item.path
        assert set(created) == {f"pganon.{item.name}"}, item.path


def test_migrations_are_numbered_without_a_hole_and_unqualified_by_pganon():
    for migration in sqlfiles.migrations():
        # pganon_private outlives schema pganon, so nothing in it may depend on that schema. Names
        # in the body of a function are looked up when it runs.
        text = re.sub(r"\$\$.*?\$\$", "", _code(migration.text.decode()), flags=re.DOTALL)
        assert not re.search(r"\bpganon\.", text), migration.name


def test_named_queries_parse_completely():
    for path in (SQL / "queries").glob("*.sql"):
        found = sqlfiles.queries(path.stem)
        headers = re.findall(r"^-- \w+ --$", path.read_text(), re.MULTILINE)
        assert len(found) == len(headers), path.name
        for query in found.values():
            text = re.sub(r"'[^']*'", "", _code(query.text.decode()))
            assert text.endswith(";")
            assert text.count(";") == 1, f"{path.name}: {query.name}"


def _asked() -> Iterator[tuple[str, str, set[str], bool]]:
    """File, query and the names of its values, where a fixed query is asked; whether these are
    all."""
    for path in sorted((SQL.parent / "pganon").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or len(node.args) != 3:
                continue
            called = ast.unparse(node.func).split(".")[-1]
            names = [one.value for one in node.args[1:] if isinstance(one, ast.Constant)]
            if called in ("ask", "dicts") and len(names) == 2:
                given = {one.arg for one in node.keywords if one.arg is not None}
                yield str(names[0]), str(names[1]), given, len(given) == len(node.keywords)


def test_queries_are_asked_with_their_values():
    asked = list(_asked())
    assert len(asked) > 150
    for file, name, given, complete in asked:
        wanted = set(re.findall(r"%\((\w+)\)s", sqlfiles.query(file, name).decode()))
        assert given <= wanted, (file, name)
        assert given == wanted or not complete, (file, name)


def test_checksum_does_not_depend_on_line_ends():
    assert sqlfiles.checksum(b"a\r\nb\r\n") == sqlfiles.checksum(b"a\nb\n")


# -- words of columns ---------------------------------------------------------------------------

_LIST = r"\(\s*'[\w']*'(?:\s*,\s*'\w+')*\s*\)|'\w+'"


def _compared(column: str) -> set[str]:
    """Texts that the SQL compares a column with."""
    lists = re.compile(rf"\b{column}\s*(?:=|<>|(?:NOT )?IN)\s*({_LIST})")
    files = [text for name, text in CODE.items() if not name.startswith("migrations/")]
    return {w for text in files for found in lists.findall(text) for w in re.findall(r"\w+", found)}


def _allowed(column: str) -> set[str]:
    """Those that the constraints of the tables allow."""
    checks = re.compile(rf"CHECK\s*\(\s*{column} IN\s*({_LIST})")
    files = [text for name, text in CODE.items() if name.startswith("migrations/")]
    return {
        w for text in files for found in checks.findall(text) for w in re.findall(r"\w+", found)
    }


@pytest.mark.parametrize("column", ["state", "event", "origin", "purpose", "decision"])
def test_words_are_those_of_the_constraints(column: str) -> None:
    assert _compared(column) <= _allowed(column)
    assert _allowed(column)


def test_codes_that_sql_compares_are_codes() -> None:
    assert {"worker_lost", "withdrawn"} <= _compared("code") <= set(ErrorCode)


def test_the_program_writes_events_that_the_ledger_takes() -> None:
    written = {word for part in get_args(Event) for word in get_args(part) or (part,)}
    assert _allowed("event") - written == {"started", "approved", "rejected"}
    assert written <= _allowed("event")


def test_a_worker_looks_for_everything_that_it_does() -> None:
    """Columns of the query `look` are the names of its tasks."""
    text = str(sqlfiles.query("requests", "look"), "utf-8")
    asked = {name for name in re.findall(r"AS (\w+)[,;]?$", text, re.MULTILINE) if len(name) > 1}
    assert asked == {"due", *TASKS}
