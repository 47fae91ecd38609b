"""`pganon guard`, `forget` and `show`: what the steward is told of all versions together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.privacy.base import ALL_VERSIONS, KEPT_SETS, ONE_VERSION
from pganon.publish import lifecycle, sessions
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy
from tests.support.sources.invariant import Kept

pytestmark = pytest.mark.primary_server_only

K = {"model": "k_anonymity", "k": 4}
L = {"model": "distinct_l_diversity", "column": "s", "l": 2}


def declared(column: str = "q", **changes: Any) -> dict[str, Any]:
    found = policy({column: "q", "s": "s"}, [K, L], trust=["source_owner"])
    return {**found, "republication": "refuse", **changes}


def people(db: Database, name: str = "t") -> None:
    """Sixteen people, four of each kind."""
    rows = [[q, z, "abcd"[n]] for q in (1, 2) for z in (1, 2) for n in range(4)]
    columns = {"q": "integer", "z": "integer", "s": "text"}
    make_table(db.connect("source_owner"), columns, rows, name=("public", name))


def change(db: Database, text: str) -> None:
    db.connect("source_owner").execute(text.encode())


@pytest.fixture
def source(db: Database) -> Database:
    people(db)
    return db


def test_what_is_remembered(source: Database, tmp_path: Path) -> None:
    file, dsn = tmp_path / "policy.json", ("--dsn", source.dsn("steward"))
    file.write_text(json.dumps(declared()))
    ran = pganon("guard", str(file), *dsn)
    assert (ran.code, ran.err) == (0, "nothing was released of these people\n")
    driver.publish(source, declared())
    told = pganon("guard", str(file), "--json", *dsn).json
    (version,) = told.pop("versions")
    assert told == {
        "population": None,
        "key": ["id"],
        "sources": ["public.t"],
        "crossings": [],
        "warnings": [],
    }
    assert version == {
        "release": "r",
        "version": 1,
        "form": "classes",
        "readers": [],
        "people": 16,
        "groups": 2,
        "smallest": 8,
        "left_out": 0,
        "over_versions": "holds",
    }


@pytest.mark.slow
@pytest.mark.parametrize("part", ["members", "remembered_groups"])
def test_what_is_missing(source: Database, tmp_path: Path, part: str) -> None:
    """Nothing can be published beside a version of which nobody knows who was in it."""
    run_id = driver.publish(source, declared()).run_id
    source.admin.execute(f"DROP TABLE pganon_private.r{run_id}_{part}".encode())
    change(source, "DELETE FROM public.t WHERE id = 3")
    for accepts in ("refuse", "warn", "allow"):
        with driver.refused("memory") as caught:
            driver.publish(source, declared(republication=accepts))
    assert "who was in which group of version 1 of the release r, is missing" in str(caught[0])
    assert driver.leftovers(source) == []
    file, dsn = tmp_path / "policy.json", ("--dsn", source.dsn("steward"))
    file.write_text(json.dumps(declared()))
    assert "missing" in pganon("guard", str(file), *dsn).out
    # As the hint says.
    conn = source.connect("steward")
    sessions.become_steward(conn)
    lifecycle.drop(conn, "r")
    assert pganon("forget", "r", "--version", "1", "--reason", "no copy", *dsn).code == 0
    assert driver.publish(source, declared()).version == 2


@pytest.mark.slow
def test_forgetting(source: Database) -> None:
    dsn = ("--dsn", source.dsn("steward"))
    driver.publish(source, declared())
    driver.publish(source, declared("z", release="z", republication="allow"))
    change(source, "CREATE TABLE public.gone AS SELECT id FROM public.t WHERE id < 3")
    change(source, "GRANT SELECT ON public.gone TO steward")
    ran = pganon("forget", "r", "--people", "public.gone", *dsn)
    assert (ran.code, ran.out) == (0, "2 people are known by a random digest from now on\n")
    again = pganon("forget", "r", "--people", "public.gone", "--json", *dsn).json
    assert again == {"release": "r", "people": 0, "version": None, "warnings": []}
    assert pganon("drop", "z", "--yes", *dsn).code == 0
    version = ("--version", "1", "--reason", "the only copy was shredded")
    ran = pganon("forget", "z", *version, *dsn)
    assert (ran.code, ran.out) == (0, "forgot who was in version 1 of z\n")
    details = source.admin.execute(
        "SELECT details ->> 'reason' FROM pganon.ledger WHERE event = 'forgotten' AND release = 'z'"
    ).fetchall()
    assert details == [("the only copy was shredded",)]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "either --people or --version"),
        (("--people", "public.t", "--version", "1"), "either --people or --version"),
        (("--version", "1"), "--version needs --reason"),
        (("--people", "public.t", "--reason", "x"), "--version needs --reason"),
        (("--version", "1", "--reason", "x"), "version 1 of the release r is shown"),
        (("--version", "7", "--reason", "x"), "the release r has no version 7"),
        (("--people", "public.other"), "columns that identify people: id"),
    ],
)
def test_what_cannot_be_forgotten(source: Database, arguments: tuple[str, ...], words: str) -> None:
    driver.publish(source, declared())
    change(source, "CREATE TABLE public.other (key integer)")
    change(source, "GRANT SELECT ON public.other TO steward")
    ran = pganon("forget", "r", *arguments, "--dsn", source.dsn("steward"))
    assert ran.code == 2
    assert words in ran.err


def test_a_release_of_which_nobody_is_known(source: Database) -> None:
    ran = pganon("forget", "r", "--people", "public.t", "--dsn", source.dsn("steward"))
    assert ran.code == 2
    assert "there is no release r" in ran.err


@pytest.mark.parametrize(
    ("republication", "expected"), [("refuse", ALL_VERSIONS), ("warn", ONE_VERSION)]
)
@pytest.mark.slow
def test_evidence_in_words(source: Database, republication: str, expected: str) -> None:
    """Readers find it in `pganon.releases`, the steward with `pganon show`."""
    asked = declared(republication=republication, publish={"readers": ["analyst"]})
    driver.publish(source, asked)
    analyst = source.connect("analyst")
    found = analyst.execute("SELECT over_versions FROM pganon.guarantees").fetchall()
    assert found == [(expected,), (expected,)]
    ((said,),) = analyst.execute("SELECT guarantee FROM pganon.releases").fetchall()
    assert said.endswith("a person and has no other version") == (expected == ONE_VERSION)
    shown = pganon("show", "r", "--dsn", source.dsn("steward")).out
    assert f"k_anonymity: {expected}" in " ".join(shown.split())


def test_evidence_of_people_without_a_key(source: Database) -> None:
    change(source, "ALTER TABLE public.t DROP CONSTRAINT t_pkey")
    driver.publish(source, declared())
    rows = source.admin.execute(
        "SELECT guarantee, over_versions FROM pganon_private.version"
    ).fetchall()
    ((found, over_versions),) = rows
    assert {each["over_versions"] for each in found} == {ONE_VERSION}
    assert over_versions is None


def test_evidence_of_signatures(db: Database) -> None:
    Kept(db).release({1: "a", 2: "b"})
    ((found,),) = db.admin.execute("SELECT guarantee FROM pganon_private.version").fetchall()
    assert [each["over_versions"] for each in found] == [KEPT_SETS]


@pytest.mark.slow
def test_sources_that_a_name_joins(db: Database) -> None:
    """The same people in two tables: without the name nobody judges both together."""
    people(db)
    people(db, "u")
    joined: dict[str, Any] = {"population": {"name": "patients"}}
    second = declared("z", source="public.u", release="z")
    driver.publish(db, declared(**joined))
    with driver.refused("republication"):
        driver.publish(db, {**second, **joined})
    assert driver.publish(db, declared(source="public.u", release="q", **joined)).version == 1
    rows = db.admin.execute(
        "SELECT name, cardinality(sources) FROM pganon_private.population WHERE counter > 0"
    ).fetchall()
    assert rows == [("patients", 2)]
    # From now on the table says who they are, with or without the name.
    with driver.refused("republication"):
        driver.publish(db, second)
