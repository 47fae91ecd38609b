"""`pganon guard`, `forget` and `show`: what the steward is told of all versions together."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.privacy.judged import HOLDS_FOR, KEPT_SETS, Judged
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy
from tests.support.sources.keeping import Kept

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
    assert (ran.code, ran.out) == (2, "")
    assert "no version is about the people of public.t" in ran.err
    driver.publish(source, declared())
    told = pganon("guard", str(file), "--json", *dsn).json
    (everybody,) = told.pop("audiences")
    assert told == {
        "population": None,
        "key": ["id"],
        "sources": ["public.t"],
        "changes": 1,
        "rebuilt": False,
    }
    assert everybody == {
        "name": "",
        "versions": ["r 1"],
        "people": 16,
        "cells": 2,
        "smallest_cell": 8,
        "floors": ["k_anonymity k = 4, distinct_l_diversity l = 2 on s"],
        "state": "complete",
    }
    source.admin.execute("DELETE FROM pganon_private.memory")
    shown = pganon("guard", str(file), *dsn)
    assert "nothing is remembered; make it again with --rebuild" in shown.out + shown.err
    shown = pganon("guard", str(file), "--rebuild", *dsn)
    assert shown.code == 0
    assert "made again just now" in shown.out
    assert "complete" in shown.out


def test_forgetting(source: Database) -> None:
    dsn = ("--dsn", source.dsn("steward"))
    driver.publish(source, declared())
    driver.publish(source, declared("z", release="z", republication="allow"))
    change(source, "CREATE TABLE public.gone AS SELECT id FROM public.t WHERE id < 3")
    change(source, "GRANT SELECT ON public.gone TO steward")
    ran = pganon("forget", "r", "--people", "public.gone", *dsn)
    assert (ran.code, ran.out) == (0, "2 people are known by a random digest from now on\n")
    again = pganon("forget", "r", "--people", "public.gone", "--json", *dsn).json
    assert again == {"release": "r", "people": 0, "version": None}
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
        (("--people", "public.other"), "columns that tell people apart"),
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
    ("republication", "expected"),
    [("refuse", (Judged.PEOPLE, Judged.VALUES)), ("warn", (Judged.NOTHING, Judged.NOTHING))],
)
def test_evidence_in_words(source: Database, republication: str, expected: Any) -> None:
    """Readers find it in `pganon.releases`, the steward with `pganon show`."""
    asked = declared(republication=republication, publish={"readers": ["analyst"]})
    driver.publish(source, asked)
    analyst = source.connect("analyst")
    ((found,),) = analyst.execute("SELECT guarantee FROM pganon.releases").fetchall()
    assert [each["over_versions"] for each in found] == [HOLDS_FOR[kind] for kind in expected]
    shown = pganon("show", "r", "--dsn", source.dsn("steward")).out
    assert f"k_anonymity: {HOLDS_FOR[expected[0]]}" in " ".join(shown.split())


def test_evidence_of_people_without_a_key(source: Database) -> None:
    change(source, "ALTER TABLE public.t DROP CONSTRAINT t_pkey")
    driver.publish(source, declared())
    ((found,),) = source.admin.execute("SELECT guarantee FROM pganon_private.version").fetchall()
    assert {each["over_versions"] for each in found} == {HOLDS_FOR[Judged.NOTHING]}


def test_evidence_of_value_sets(db: Database) -> None:
    Kept(db).release({1: "a", 2: "b"})
    ((found,),) = db.admin.execute("SELECT guarantee FROM pganon_private.version").fetchall()
    assert [each["over_versions"] for each in found] == [KEPT_SETS]


def test_sources_that_a_name_joins(db: Database) -> None:
    """The same people in two tables: without the name nobody judges both together."""
    people(db)
    people(db, "u")
    joined: dict[str, Any] = {"population": {"name": "patients"}}
    first = declared(**joined)
    second = declared("z", source="public.u", release="z")
    driver.publish(db, first)
    with driver.refused("republication") as caught:
        driver.publish(db, {**second, **joined, "privacy": [{**K, "k": 6}, L]})
    assert caught[0].required == 6  # pyright: ignore[reportAttributeAccessIssue]
    assert caught[0].observed == 4  # pyright: ignore[reportAttributeAccessIssue]
    # Four of four kinds are left, which is what was promised.
    assert driver.publish(db, {**second, **joined}).guard["guard_smallest_cell"] == 4
    rows = db.admin.execute(
        "SELECT name, cardinality(sources) FROM pganon_private.population WHERE counter > 0"
    ).fetchall()
    assert rows == [("patients", 2)]


def aged(db: Database, run_id: int) -> None:
    """What an earlier pganon remembered of a version: its people under their keys."""
    name = f"pganon_private.r{run_id}_members"
    for text in (
        f"CREATE TABLE pganon_private.old AS SELECT p.id::text AS member, m.class_id"
        f" FROM {name} AS m JOIN pganon_private.population AS g ON true JOIN public.t AS p"
        " ON m.member = encode(substr(sha256(g.secret || convert_to(p.id::text, 'UTF8')), 1, 16),"
        " 'hex')::uuid",
        f"DROP TABLE {name}",
        f"ALTER TABLE pganon_private.old RENAME TO r{run_id}_members",
        f"ALTER TABLE {name} OWNER TO steward",
        "DELETE FROM pganon_private.memory",
        "UPDATE pganon_private.version SET guard = NULL, population = NULL",
    ):
        db.admin.execute(text.encode())


@pytest.mark.slow
def test_versions_of_an_earlier_pganon(source: Database, tmp_path: Path) -> None:
    """Their people enter the memory when it is made again; till then nothing is judged."""
    file, dsn = tmp_path / "policy.json", ("--dsn", source.dsn("steward"))
    file.write_text(json.dumps(declared()))
    first = driver.publish(source, declared()).run_id
    aged(source, first)
    change(source, "INSERT INTO public.t VALUES (900, 1, 1, 'e')")
    with driver.refused("memory") as caught:
        driver.publish(source, declared())
    assert caught[0].hint == "make that with `pganon guard POLICY --rebuild`"
    (everybody,) = pganon("guard", str(file), "--rebuild", "--json", *dsn).json["audiences"]
    assert (everybody["people"], everybody["cells"], everybody["state"]) == (16, 2, "complete")
    assert everybody["versions"] == ["r 1"]
    with driver.refused("republication") as caught:
        driver.publish(source, declared())
    assert caught[0].observed == 1  # pyright: ignore[reportAttributeAccessIssue]
    change(source, "DELETE FROM public.t WHERE id = 900")
    done = driver.publish(source, declared())
    assert (done.version, done.guard["guard_smallest_cell"]) == (2, 8)
    change(source, "CREATE TABLE public.gone AS SELECT id FROM public.t WHERE id = 3")
    change(source, "GRANT SELECT ON public.gone TO steward")
    assert pganon("forget", "r", "--people", "public.gone", "--json", *dsn).json["people"] == 1
    members = f"SELECT member FROM pganon_private.r{first}_members ORDER BY 1"
    keys = {key for (key,) in source.admin.execute(members.encode()).fetchall()}
    assert len(keys) == 16
    assert "3" not in keys  # else it would come back
    (everybody,) = pganon("guard", str(file), "--rebuild", "--json", *dsn).json["audiences"]
    assert (everybody["people"], everybody["cells"]) == (16, 2)  # one of whom nobody knows
