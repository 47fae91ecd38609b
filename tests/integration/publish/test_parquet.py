"""Numbers of a release as decimals of Parquet."""

from __future__ import annotations

import io
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from pganon.errors import PreconditionError, UsageError
from pganon.publish.export import Exported, export, write_parquet
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.staging import release

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

WIDE = "1" * 30 + "." + "2" * 9


def exported(
    db: Database, folder: Path, kind: str, values: Sequence[str | None], **options: Any
) -> tuple[Exported, str, list[Any]]:
    """What was written; type and values of the column x, in the order of the values."""
    rows = [(n, value) for n, value in enumerate(values)]
    release(db.owner(), columns=[("n", "integer"), ("x", kind)], rows=rows)
    file = folder / "a.parquet"
    done = export(db.connect("analyst"), "adult", file, replace=True, **options)
    table = parquet.read_table(file).sort_by("n")
    return done, str(table.schema.field("x").type), table.column("x").to_pylist()


@pytest.mark.parametrize(
    ("kind", "values", "decimal", "shown"),
    [
        ("numeric(8,2)", ["1.50", None], (8, 2), ["1.50", None]),
        ("numeric", ["1.5", "-100.25", None], (38, 2), ["1.5", "-100.25", None]),
        ("numeric", ["7", "1e20"], (38, 0), ["7", "1e20"]),
        ("numeric", ["0.001"], (38, 3), ["0.001"]),
        ("numeric", [None], (38, 0), [None]),
        ("numeric", ["9" * 38], (38, 0), ["9" * 38]),
        ("numeric", ["9" * 28, "0." + "1" * 10], (38, 10), ["9" * 28, "0." + "1" * 10]),
        ("numeric(50,2)", ["1.5"], (38, 2), ["1.5"]),
    ],
)
def test_decimals(
    db: Database,
    tmp_path: Path,
    kind: str,
    values: list[str | None],
    decimal: tuple[int, int],
    shown: list[str | None],
) -> None:
    done, type_, written = exported(db, tmp_path, kind, values)
    assert type_ == f"decimal128({decimal[0]}, {decimal[1]})"
    assert written == [None if text is None else Decimal(text) for text in shown]
    assert not done.not_decimal


def test_lists_of_decimals(db: Database, tmp_path: Path) -> None:
    _, type_, written = exported(db, tmp_path, "numeric[]", ["{1.5,NULL,3}", None])
    assert "decimal128(38, 1)" in type_
    assert written == [[Decimal("1.5"), None, Decimal(3)], None]


@pytest.mark.parametrize(
    ("kind", "values", "floats"),
    [
        ("numeric", [WIDE, "1"], [float(WIDE), 1.0]),
        ("numeric", ["9" * 29, "0." + "1" * 10], [1e29, 0.1111111111]),
        ("numeric", ["NaN", "1"], None),
        ("numeric", ["Infinity", "-Infinity"], [float("inf"), float("-inf")]),
        ("numeric(8,2)", ["NaN"], None),
        ("numeric[]", [f"{{{WIDE}}}"], [[float(WIDE)]]),
    ],
)
def test_numbers_that_no_decimal_holds(
    db: Database, tmp_path: Path, kind: str, values: list[str], floats: list[Any] | None
) -> None:
    done, type_, written = exported(db, tmp_path, kind, values)
    assert "string" in type_
    assert [str(value).strip("[]'") for value in written] == [value.strip("{}") for value in values]
    assert done.not_decimal == ["x"]
    done, type_, written = exported(db, tmp_path, kind, values, numeric="float64")
    assert "double" in type_
    assert done.not_decimal == ["x"]
    assert floats is None or written == floats


def test_numbers_beyond_float64(db: Database, tmp_path: Path) -> None:
    with pytest.raises(PreconditionError, match="a number beyond float64") as caught:
        exported(db, tmp_path, "numeric", ["1e400"], numeric="float64")
    assert (caught.value.code, caught.value.hint) == (
        "not_in_parquet",
        "leave --numeric float64 out",
    )
    assert list(tmp_path.iterdir()) == []


def test_the_option_is_said(db: Database, tmp_path: Path) -> None:
    release(db.owner(), columns=[("n", "integer"), ("Wide", "numeric")], rows=[(1, WIDE)])
    call = ("export", "adult", "--dsn", db.dsn("analyst"), "--force")
    done = pganon(*call, "-o", str(tmp_path / "a.parquet"))
    assert done.code == 0
    assert 'note: "Wide" is text: no decimal of 38 digits holds its numbers' in done.err
    done = pganon(*call, "-o", str(tmp_path / "a.parquet"), "--numeric", "float64", "--json")
    assert done.json["not_decimal"] == ["Wide"]
    with pytest.raises(UsageError, match="--numeric is about Parquet"):
        export(db.connect("analyst"), "adult", tmp_path / "a.csv", numeric="text")


def test_numbers_of_several_columns_are_measured_in_one_scan(
    bare_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_db.admin.execute("""
        CREATE SEQUENCE public.reads;
        CREATE TABLE public.t
            (a numeric, b numeric(8,2), c numeric[], d numeric, e numeric[], f int);
        INSERT INTO public.t VALUES
            (1.5, 2, '{1.25}', 'NaN', '{Infinity,1}', 1), (20, 3, NULL, 1, '{}', 2),
            (NULL, NULL, '{NULL,7}', NULL, NULL, 3);
    """)
    select = sql.SQL("SELECT * FROM public.t WHERE nextval('public.reads') > 0")
    expected = {
        "a": "decimal128(38, 1)",
        "b": "decimal128(8, 2)",
        "c": "list<element: decimal128(38, 2)>",
        "d": "string",
        "e": "list<element: string>",
        "f": "int32",
    }
    for at_once, scans in ((500, 2), (2, 4)):
        monkeypatch.setattr("pganon.publish.export._COLUMNS_AT_ONCE", at_once)
        bare_db.admin.execute("ALTER SEQUENCE public.reads RESTART")
        file = io.BytesIO()
        written = write_parquet(bare_db.admin, select, file, lambda rows: None)
        assert (written.rows, written.not_decimal) == (3, ["d", "e"])
        schema = parquet.read_table(file).schema
        assert {field.name: str(field.type) for field in schema} == expected
        reads = bare_db.admin.execute("SELECT last_value FROM public.reads").fetchone()
        assert reads == (3 * scans,)
