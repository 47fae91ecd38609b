"""Releases in clusters after publication: both views through every command."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pganon import install
from pganon.errors import PganonError, PreconditionError, PrivacyRefusal
from pganon.publish import lifecycle
from pganon.publish.export import export
from tests.support.harness import digests, faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles.remembered import hashed
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

VIEWS = ("vehicles", "vehicles_expanded")
MONDRIAN: dict[str, Any] = {
    "columns": {"reg_year": {"role": "quasi_identifying"}, "zone": {"role": "insensitive"}},
    "privacy": [{"model": "k_anonymity", "k": 3}],
    "method": {"name": "mondrian"},
}


@pytest.fixture
def source(db: Database) -> Database:
    build(db)
    return db


def build(db: Database, count: int = 60) -> None:
    make_table(
        db.connect("source_owner"),
        vehicles.COLUMNS,
        vehicles.rows(count),
        name=("public", "vehicle"),
    )


def release(db: Database, **changes: Any) -> Any:
    return faults.run(db.dsn(), vehicles.policy(**changes))


def readable(conn: Connection) -> dict[str, int | None]:
    found = {}
    for view in VIEWS:
        rows = faults.content(conn, f"published.{view}")
        found[view] = None if rows is None else len(rows)
    return found


def failing(conn: Connection) -> list[str]:
    return [m.model for m in lifecycle.verify(conn, "vehicles") if not m.holds]


@pytest.mark.slow
def test_commands(source: Database, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(vehicles.document()))
    at, analyst = ("--dsn", source.dsn()), ("--dsn", source.dsn("analyst"))
    ran = pganon("run", str(file), *at)
    assert ran.code == 0, ran.err
    assert vehicles.SECRET not in ran.out
    for who in (at, analyst):
        assert "qs_k_anonymity" in pganon("releases", *who).out
        shown = pganon("show", "vehicles", *who)
        assert shown.code == 0
        assert all(view in shown.out for view in VIEWS)
        assert "cluster_no" in shown.out
        views = pganon("show", "vehicles", "--json", *who).json["columns"]
        assert vehicles.SECRET not in json.dumps(views)
    verified = pganon("verify", "vehicles", *at)
    assert verified.code == 0
    assert verified.out.endswith("vehicles: everything holds\n")
    assert pganon("verify", "vehicles", *analyst).code == 3
    for view in VIEWS:
        out = str(tmp_path / f"{view}.csv")
        assert pganon("export", "vehicles", "--view", view, "-o", out, *analyst).code == 0
    dropped = pganon("drop", "vehicles", "--yes", "--json", *at)
    assert (dropped.code, dropped.json["now"]) == (0, None)
    assert readable(source.owner()) == dict.fromkeys(VIEWS)
    assert pganon("verify", "vehicles", *at).code != 0
    assert pganon("clean", *at).out == "nothing to clean\n"


@pytest.mark.slow
def test_another_k_and_back(source: Database) -> None:
    conn = source.owner()
    release(source, privacy=vehicles.requirement(2))
    few = readable(conn)
    with pytest.raises(PrivacyRefusal) as caught:
        release(source, privacy=vehicles.requirement(8))
    assert caught.value.code == "republication"
    assert readable(conn) == few
    second = release(source, privacy=vehicles.requirement(8), republication="warn")
    assert any("void for who has both" in warning for warning in second.warnings)
    many = readable(conn)
    assert many["vehicles"] < few["vehicles"]  # pyright: ignore[reportOperatorIssue]
    assert lifecycle.show_earlier(conn, "vehicles").now == 1
    assert readable(conn) == few
    assert failing(conn) == []
    assert lifecycle.show_earlier(conn, "vehicles", 2).now == 2
    assert readable(source.connect("analyst")) == many
    assert failing(conn) == []


@pytest.mark.slow
def test_a_changed_version_is_not_rolled_back_to(source: Database) -> None:
    conn = source.owner()
    first = release(source)
    release(source)
    conn.execute(f"TRUNCATE pganon_private.r{first.run_id}_reference".encode())
    with pytest.raises(PrivacyRefusal):
        lifecycle.show_earlier(conn, "vehicles")
    assert faults.version(conn, "vehicles") == 2


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
def test_changed_columns_and_what_depends_on_them(source: Database, view: str) -> None:
    """What others have built on either view stops no change of its columns."""
    conn = source.owner()
    release(source)
    conn.execute(
        f"CREATE SCHEMA mine; CREATE VIEW mine.v AS SELECT hour FROM published.{view}".encode()
    )
    fewer = vehicles.document()["columns"]
    del fewer["hour"]
    narrower = vehicles.policy(columns=fewer, republication="allow")
    assert release(source).version == 2  # the same columns are no change
    assert conn.execute("TABLE mine.v").fetchall() != []
    done = faults.run(source.dsn(), narrower)
    assert done.version == 3
    assert any(f"view mine.v depends on view published.{view}" in told for told in done.dependents)
    with pytest.raises(psycopg.errors.InvalidTextRepresentation, match="has other columns now"):
        conn.execute("TABLE mine.v")
    for name in VIEWS:
        cursor = source.connect("analyst").execute(f"SELECT * FROM published.{name}".encode())
        assert "hour" not in [column.name for column in cursor.description or []]
    assert failing(conn) == []


@pytest.mark.slow
def test_another_method_takes_its_views_along(source: Database) -> None:
    conn = source.owner()
    release(source)
    release(source, republication="allow", **MONDRIAN)
    assert readable(conn)["vehicles_expanded"] is None
    assert failing(conn) == []
    release(source, republication="allow")
    assert readable(source.connect("analyst"))["vehicles_expanded"]
    lifecycle.show_earlier(conn, "vehicles", 2)
    assert readable(conn)["vehicles_expanded"] is None
    lifecycle.show_earlier(conn, "vehicles", 1)
    assert failing(conn) == []
    conn.execute("CREATE SCHEMA mine; CREATE VIEW mine.v AS TABLE published.vehicles_expanded")
    done = release(source, republication="allow", **MONDRIAN)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        source.connect("analyst").execute("TABLE mine.v")
    assert done.dependents == ("view mine.v depends on view published.vehicles_expanded",)


@pytest.mark.parametrize("kind", ["TABLE published.vehicles_expanded (a integer)",
                                  "VIEW published.vehicles_expanded AS SELECT 1 AS a",
                                  "SEQUENCE published.vehicles_expanded",
                                  "TYPE published.vehicles_expanded AS (a integer)"])  # fmt: skip
def test_a_name_that_is_taken(source: Database, kind: str) -> None:
    conn = source.owner()
    release(source, release="other")
    conn.execute(f"CREATE {kind}".encode())
    before = conn.execute("SELECT count(*) FROM pganon_private.run_secret").fetchone()
    with pytest.raises(PreconditionError, match="vehicles_expanded") as caught:
        release(source)
    assert caught.value.code == "name_taken"
    assert faults.content(conn, "published.vehicles") is None
    assert conn.execute("SELECT count(*) FROM pganon_private.run_secret").fetchone() == before


@pytest.mark.parametrize("names", [VIEWS, VIEWS[::-1]])
def test_a_release_named_like_a_part_of_another(source: Database, names: tuple[str, str]) -> None:
    release(source, release=names[0])
    conn = source.owner()
    before = readable(conn)
    with pytest.raises(PreconditionError) as caught:
        release(source, release=names[1])
    assert caught.value.code == "name_taken"
    assert readable(conn) == before


def test_a_release_whose_part_has_no_room_for_its_name(source: Database) -> None:
    with pytest.raises(PganonError) as caught:
        release(source, release="v" * 60)
    assert caught.value.code == "policy"
    assert faults.events(source.owner(), "v" * 60) == []


@pytest.mark.slow
def test_views_outlive_pganon(source: Database) -> None:
    conn = source.owner()
    release(source)
    before = readable(conn)
    with source.connect() as installer:
        install.uninstall(installer)
    assert readable(source.connect("analyst")) == before
    with source.connect() as installer:
        install.init(installer)
    assert failing(source.owner()) == []
    assert release(source).version == 2


# -- files --------------------------------------------------------------------------------------

TYPES = {
    "reg_year": "numeric(6,2)",
    "colour": "character varying(9)",
    "zone": "date",
    "hour": "double precision",
    "note": "timestamp(3) with time zone",
    "fee": "boolean",
}


def typed(db: Database) -> Database:
    rows = [
        (n % 5 + 0.5, [None, 'a,"b"', "{c}", "NULL"][n % 4], f"2020-01-{n % 9 + 1:02}", n / 8,
         "2020-01-01 00:00Z", n % 2 == 0)
        for n in range(40)
    ]  # fmt: skip
    make_table(db.connect("source_owner"), TYPES, rows, name=("public", "vehicle"))
    return db


def test_csv(db: Database, tmp_path: Path) -> None:
    release(typed(db))
    analyst = db.connect("analyst")
    for view in VIEWS:
        path = tmp_path / f"{view}.csv"
        done = export(analyst, "vehicles", path, view=view)
        assert done.view == f"published.{view}"
        with open(path, newline="") as file:
            rows = list(csv.reader(file))
        assert len(rows) - 1 == done.rows == readable(analyst)[view]
        # A file that is read back is the view: arrays with quotes, braces and NULLs included.
        make = f"CREATE TEMP TABLE copy_{view} AS TABLE published.{view} WITH NO DATA"
        analyst.execute(make.encode())
        with analyst.cursor().copy(f"COPY copy_{view} FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(path.read_bytes())
        left = analyst.execute(
            f"SELECT t::text FROM copy_{view} AS t EXCEPT ALL"
            f" SELECT t::text FROM published.{view} AS t".encode()
        )
        assert left.fetchall() == []
    assert export(analyst, "vehicles", tmp_path / "part.csv", view="expanded").rows > 0


def test_parquet(db: Database, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    release(typed(db))
    analyst = db.connect("analyst")
    export(analyst, "vehicles", tmp_path / "a.parquet")
    rows = sorted(parquet.read_table(tmp_path / "a.parquet").to_pylist(), key=lambda r: r["size"])
    seen = analyst.execute("SELECT * FROM published.vehicles ORDER BY size").fetchall()
    assert len(rows) == len(seen)
    by_number = {row["cluster_no"]: row for row in rows}
    for number, years, colours, zones, hours, notes, fees, size in seen:
        row = by_number[number]
        assert row["size"] == size == len(row["note"]) == len(row["fee"])
        assert [float(year) for year in row["reg_year"]] == [float(year) for year in years]
        assert row["colour"] == colours
        assert row["zone"] == zones
        assert row["hour"] == hours
        assert row["fee"] == fees
        assert len(notes) == size
    export(analyst, "vehicles", tmp_path / "b.parquet", view="expanded")
    expanded = parquet.read_table(tmp_path / "b.parquet")
    assert expanded.column_names == ["cluster_no", *vehicles.ARRAYS]
    assert expanded.num_rows == readable(analyst)["vehicles_expanded"]


# -- republication and memory -------------------------------------------------------------------


@pytest.mark.slow
def test_a_changed_source(source: Database) -> None:
    conn = source.owner()
    release(source)
    assert release(source).version == 2
    before = readable(conn)
    source.source("INSERT INTO public.vehicle VALUES (1000, 2001, 'red', 'Z1', 1, 'new', 1)")
    with pytest.raises(PrivacyRefusal) as caught:
        release(source)
    assert caught.value.code == "republication"
    assert readable(conn) == before
    warned = release(source, republication="warn")
    assert any("void for who has both" in warning for warning in warned.warnings)
    source.source("UPDATE public.vehicle SET note = 'other' WHERE id = 1")
    allowed = release(source, republication="allow")
    assert not any("void for" in warning for warning in allowed.warnings)
    # What is bagged is shown, too: a note that changed would tell whose it is.
    source.source("UPDATE public.vehicle SET note = 'third' WHERE id = 1")
    with pytest.raises(PrivacyRefusal) as caught:
        release(source)
    assert caught.value.code == "republication"
    # Who is filtered out can be told from the others.
    with pytest.raises(PrivacyRefusal) as caught:
        release(source, where="id <> 3")
    assert caught.value.code == "republication"
    # So can somebody else who leaves, though nothing is readable any more.
    lifecycle.drop(conn, "vehicles")
    source.source("DELETE FROM public.vehicle WHERE id = 3")
    with pytest.raises(PrivacyRefusal) as caught:
        release(source)
    assert caught.value.code == "republication"


def stored(db: Database, run_id: int, part: str, columns: str) -> list[tuple[Any, ...]]:
    schema = "pganon_data" if part == "clusters" else "pganon_private"
    text = sql.SQL("SELECT {} FROM {}").format(
        sql.SQL(columns),  # pyright: ignore[reportArgumentType]
        sql.Identifier(schema, f"r{run_id}_{part}"),
    )
    return db.admin.execute(text).fetchall()


def test_memory_by_key(source: Database) -> None:
    """Every record once, in a cluster that shows all of its values."""
    done = release(source)
    records = {
        str(row[0]): row[1:5]
        for row in source.admin.execute("SELECT * FROM public.vehicle").fetchall()
    }
    clusters = {
        row[0]: row[1:]
        for row in stored(source, done.run_id, "clusters", "cluster_no, reg_year, colour, zone,"
                          " hour, size")
    }  # fmt: skip
    members = digests.members(source, done.run_id, "cluster_no", table=("public", "vehicle"))
    assert sorted(member for member, _ in members) == sorted(records)
    for member, number in members:
        values = zip(records[member], clusters[number][:4], strict=True)
        assert all(value in array for value, array in values)
    for number, cluster in clusters.items():
        assert cluster[4] == sum(found == number for _, found in members)


def test_memory_by_individual(source: Database) -> None:
    columns = vehicles.document()["columns"] | {"note": {"role": "individual"}}
    done = release(source, columns=columns, records_per_individual="many_accepted")
    members = digests.members(
        source, done.run_id, "cluster_no", key="note", table=("public", "vehicle")
    )
    notes = source.admin.execute("SELECT note FROM public.vehicle").fetchall()
    assert sorted((member,) for member, _ in members) == sorted(notes)
    cursor = source.connect("analyst").execute("SELECT * FROM published.vehicles")
    assert "note" not in [column.name for column in cursor.description or []]


def test_memory_without_a_key(source: Database) -> None:
    """Hashes of what records hold, per cluster; nothing but the run's key tells what they are."""
    source.source("ALTER TABLE public.vehicle DROP COLUMN id")
    done = release(source)
    members = stored(source, done.run_id, "members", "member, cluster_no")
    clusters = stored(source, done.run_id, "clusters", "cluster_no, size")
    assert {number for _, number in members} == {number for number, _ in clusters}
    assert len(members) == len(set(members)) <= sum(size for _, size in clusters)
    (key,) = source.admin.execute(
        "SELECT key FROM pganon_private.run_secret WHERE run_id = %s", [done.run_id]
    ).fetchone()  # pyright: ignore[reportGeneralTypeIssues]
    held = source.admin.execute(
        "SELECT DISTINCT reg_year::text, colour, zone, hour::text FROM public.vehicle"
    ).fetchall()
    assert {bytes(member) for member, _ in members} == {hashed(key, values) for values in held}
