"""Anatomized releases after publication: all three views through every command."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pganon.errors import PganonError, PreconditionError, PrivacyRefusal
from pganon.publish import lifecycle
from pganon.publish.export import export
from tests.support.harness import digests, faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import visits
from tests.support.sources.visits import VIEWS, build, published, release, requirement

pytestmark = pytest.mark.primary_server_only

MONDRIAN: dict[str, Any] = {
    "privacy": [{"model": "k_anonymity", "k": 3}],
    "method": {"name": "mondrian"},
}


@pytest.fixture
def source(db: Database) -> Database:
    build(db, visits.rows(90))
    return db


def readable(conn: Connection) -> dict[str, list[str] | None]:
    return {view: faults.content(conn, f"published.{view}") for view in VIEWS}


def failing(conn: Connection) -> list[str]:
    return [m.model for m in lifecycle.verify(conn, "visits") if not m.holds]


@pytest.mark.slow
def test_commands(source: Database, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(visits.document()))
    at, analyst = ("--dsn", source.dsn()), ("--dsn", source.dsn("analyst"))
    planned = pganon("plan", str(file), *at)
    assert planned.code == 0, planned.err
    assert visits.SECRET not in planned.out
    ran = pganon("run", str(file), *at)
    assert ran.code == 0, ran.err
    assert "groups" in ran.out
    assert visits.SECRET not in ran.out
    for who in (at, analyst):
        assert "anatomy_l_diversity" in pganon("releases", *who).out
        shown = pganon("show", "visits", *who)
        assert shown.code == 0, shown.err
        assert all(view in shown.out for view in VIEWS)
        assert all(name in shown.out for name in ("group_id", "probability", "count"))
        columns = pganon("show", "visits", "--json", *who).json["columns"]
        assert visits.SECRET not in json.dumps(columns)
    verified = pganon("verify", "visits", *at)
    assert verified.code == 0
    assert verified.out.endswith("visits: everything holds\n")
    assert pganon("verify", "visits", *analyst).code == 3
    for view in VIEWS:
        out = str(tmp_path / f"{view}.csv")
        ran = pganon("export", "visits", "--view", view, "-o", out, *analyst)
        assert ran.code == 0, ran.err
    metrics = pganon("run", str(file), "--metrics", "all", "--force", *at)
    assert (metrics.code, "reconstruction, r = 2" in metrics.out) == (0, True)
    dropped = pganon("drop", "visits", "--yes", "--json", *at)
    assert (dropped.code, dropped.json["now"]) == (0, None)
    assert readable(source.owner()) == dict.fromkeys(VIEWS)
    assert pganon("verify", "visits", *at).code != 0
    assert pganon("clean", *at).out == "nothing to clean\n"


@pytest.mark.primary_server_only
def test_not_eligible_leaves_nothing_behind(source: Database, tmp_path: Path) -> None:
    conn = source.owner()
    with pytest.raises(PganonError) as caught:
        release(source, privacy=requirement(8))
    error = caught.value
    assert error.code == "infeasible"
    assert "not eligible: column disease: its most frequent value has" in str(error)
    assert visits.SECRET not in f"{error} {error.hint}"
    assert readable(conn) == dict.fromkeys(VIEWS)
    assert faults.run_tables(conn) == []
    assert faults.events(conn, "visits")[-1].startswith("refused")
    with pytest.raises(PganonError) as caught:
        release(source, privacy=requirement(91))
    assert caught.value.code == "too_few_records"
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(visits.document(privacy=requirement(8))))
    ran = pganon("run", str(file), "--dsn", source.dsn())
    assert ran.code != 0
    assert "not eligible" in ran.err
    assert visits.SECRET not in ran.out + ran.err


@pytest.mark.slow
def test_another_l_and_back(source: Database) -> None:
    conn = source.owner()
    release(source, privacy=requirement(2))
    few = readable(conn)
    with pytest.raises(PrivacyRefusal) as caught:
        release(source, privacy=requirement(4))
    assert caught.value.code == "republication"
    assert readable(conn) == few
    second = release(source, privacy=requirement(4), republication="warn")
    assert second.version == 2
    assert any("void for who has both" in warning for warning in second.warnings)
    many = readable(conn)
    assert all(few[view] != many[view] for view in VIEWS)
    assert lifecycle.show_earlier(conn, "visits").now == 1
    assert readable(source.connect("analyst")) == few
    assert failing(conn) == []
    assert lifecycle.show_earlier(conn, "visits", 2).now == 2
    assert readable(conn) == many
    assert failing(conn) == []


@pytest.mark.primary_server_only
@pytest.mark.slow
def test_another_method_takes_its_views_along(source: Database) -> None:
    conn = source.owner()
    release(source)
    before = readable(conn)
    release(source, republication="allow", **MONDRIAN)
    assert [readable(conn)[view] for view in VIEWS[1:]] == [None, None]
    assert failing(conn) == []
    lifecycle.show_earlier(conn, "visits")
    assert readable(conn) == before
    assert failing(conn) == []
    conn.execute("CREATE SCHEMA mine; CREATE VIEW mine.v AS TABLE published.visits_st")
    release(source, republication="allow", **MONDRIAN)
    assert [readable(conn)[view] for view in VIEWS[1:]] == [None, None]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        source.connect("analyst").execute("TABLE mine.v")


@pytest.mark.primary_server_only
@pytest.mark.parametrize("view", VIEWS[1:])
def test_a_name_that_is_taken(source: Database, view: str) -> None:
    conn = source.owner()
    release(source, release="other")
    conn.execute(f"CREATE VIEW published.{view} AS SELECT 1 AS a".encode())
    with pytest.raises(PreconditionError, match=view) as caught:
        release(source)
    assert caught.value.code == "name_taken"
    assert faults.content(conn, "published.visits") is None


@pytest.mark.primary_server_only
@pytest.mark.parametrize("name", ["group_id", "count", "probability"])
def test_names_that_the_views_add(source: Database, name: str) -> None:
    columns = visits.document()["columns"]
    columns["nights"]["as"] = name
    with pytest.raises(PganonError, match="a column that pganon adds"):
        release(source, columns=columns)


@pytest.mark.primary_server_only
def test_a_changed_source(source: Database) -> None:
    release(source)
    source.source("DELETE FROM public.visit WHERE id = 1")
    with pytest.raises(PganonError) as caught:
        release(source)
    assert caught.value.code == "republication"


def test_csv(source: Database, tmp_path: Path) -> None:
    """A file that is read back is the view."""
    release(source)
    analyst = source.connect("analyst")
    for view in VIEWS:
        path = tmp_path / f"{view}.csv"
        done = export(analyst, "visits", path, view=view)
        assert done.view == f"published.{view}"
        with open(path, newline="") as file:
            assert len(list(csv.reader(file))) - 1 == done.rows
        make = f"CREATE TEMP TABLE copy_{view} AS TABLE published.{view} WITH NO DATA"
        analyst.execute(make.encode())
        with analyst.cursor().copy(f"COPY copy_{view} FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write(path.read_bytes())
        left = analyst.execute(
            f"TABLE copy_{view} EXCEPT ALL TABLE published.{view}".encode()
        ).fetchall()
        assert left == []
    assert export(analyst, "visits", tmp_path / "part.csv", view="st").rows > 0


@pytest.mark.primary_server_only
def test_files_are_in_an_order_that_says_nothing(source: Database, tmp_path: Path) -> None:
    """As the relations are: by what is in them."""
    release(source)
    for part in ("qit", "st"):
        path = tmp_path / f"{part}.csv"
        export(source.connect("analyst"), "visits", path, view=part)
        with open(path, newline="") as file:
            _, *lines = list(csv.reader(file))
        assert [int(line[0]) for line in lines] == sorted(int(line[0]) for line in lines)


@pytest.mark.primary_server_only
def test_parquet(source: Database, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    release(source)
    analyst = source.connect("analyst")
    seen = published(analyst)
    for view, expected in (("qit", len(seen.qit)), ("st", len(seen.st))):
        export(analyst, "visits", tmp_path / f"{view}.parquet", view=view)
        assert parquet.read_table(tmp_path / f"{view}.parquet").num_rows == expected


@pytest.mark.primary_server_only
@pytest.mark.parametrize("key", [True, False])
def test_memory(source: Database, key: bool) -> None:
    """Who was in which group: by digests of keys, or keyed hashes of quasi-identifiers."""
    if not key:
        source.source("ALTER TABLE public.visit DROP COLUMN id", grant=False)
    done = release(source)
    qit = published(source.owner()).qit
    if key:
        members = digests.members(source, done.run_id, "group_id", table=visits.NAME)
        assert sorted(int(member) for member, _ in members) == list(range(1, 91))
        assert Counter(number for _, number in members) == Counter(number for number, _ in qit)
    else:
        members = visits.stored(source, done.run_id, "members")
        described = {(row[:3], number) for number, row in qit}
        assert len(members) == len(set(members)) == len(described)
