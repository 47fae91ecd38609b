"""Attacks with another key, another table or another name: whether people are known again."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.publish import lifecycle, listing
from pganon.run.erasure import forget_people, forget_version
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import growing
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"q": "integer", "s": "text", "visit": "text"}
PEOPLE = 24
ANATOMY = [{"model": "anatomy_l_diversity", "column": "s", "l": 2}]
NAMED = {"population": {"name": "patients"}}


def declared(key: str | None = None, **changes: Any) -> dict[str, Any]:
    """A policy over public.t, of people told apart by its primary key `id` or another column."""
    models = [
        {"model": "k_anonymity", "k": 4},
        {"model": "distinct_l_diversity", "column": "s", "l": 2},
    ]
    found = policy({"q": "q", "s": "s"}, models, trust=["source_owner"])
    if key is not None:
        found["columns"] = {**found["columns"], key: {"role": "individual"}}
    return {**found, "republication": "refuse", **changes}


@pytest.fixture
def source(db: Database) -> Database:
    rng = random.Random(5)
    rows = [[rng.randint(0, 30), rng.choice("abcd"), f"v{n}"] for n in range(PEOPLE)]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    return db


def do(db: Database, text: str) -> None:
    db.connect("source_owner").execute(text.encode())


def view(db: Database, name: str, text: str) -> None:
    do(db, f"CREATE VIEW public.{name} AS {text}; GRANT SELECT ON public.{name} TO steward")


def refused(db: Database, code: str, policy: dict[str, Any]) -> PganonError:
    populations = "SELECT count(*) FROM pganon_private.population"
    before = db.admin.execute(populations.encode()).fetchone()
    with driver.refused(code) as caught:
        driver.publish(db, policy)
    assert driver.leftovers(db) == []
    assert db.admin.execute(populations.encode()).fetchone() == before
    return caught[0]


@pytest.mark.slow
@pytest.mark.parametrize("named", [{}, NAMED], ids=["unnamed", "named"])
def test_one_table_under_two_keys(source: Database, named: dict[str, Any]) -> None:
    driver.publish(source, {**declared(), **named})
    error = refused(source, "population", {**declared("visit", release="b"), **named})
    assert "by id" in (error.hint or "")


def test_one_table_under_two_keys_and_two_names(source: Database) -> None:
    driver.publish(source, declared(**NAMED))
    view(source, "w", "TABLE public.t")
    other = {"population": {"name": "others"}, "release": "b"}
    refused(source, "population", declared("visit", **other))
    refused(source, "population", declared("visit", source="public.w", **other))


def test_a_view_hides_the_key(source: Database) -> None:
    """Nobody is known by the other key."""
    driver.publish(source, declared())
    view(source, "w", "SELECT q + 1 AS q, s, visit FROM public.t")
    error = refused(source, "population", declared("visit", source="public.w", release="b"))
    assert f"0 of {PEOPLE}" in error.message
    refused(source, "population", declared("visit", source="public.w", release="b", **NAMED))


@pytest.mark.slow
def test_a_view_calls_the_key_otherwise(source: Database) -> None:
    """The same people under the same key: they are judged together."""
    driver.publish(source, declared())
    view(source, "w", "SELECT id AS number, q, s FROM public.t WHERE id > 1")
    refused(source, "republication", declared("number", source="public.w", release="b"))
    rows = source.admin.execute(b"SELECT count(*) FROM pganon_private.population")
    assert rows.fetchone() == (1,)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("released", "known", "code"),
    [(24, 12, "republication"), (24, 11, "population"), (8, 4, "republication")],
)
def test_half_of_the_smaller_side(source: Database, released: int, known: int, code: str) -> None:
    driver.publish(source, declared(where=f"id <= {released}"))
    text = (
        "SELECT CASE WHEN id <= {} THEN id ELSE id + 99 END AS number, q + 1 AS q, s FROM public.t"
    )
    view(source, "w", text.format(known))
    refused(source, code, declared("number", source="public.w", release="b"))


@pytest.mark.slow
def test_the_same_rows_under_other_keys(source: Database) -> None:
    """A copy whose keys were numbered anew is a copy."""
    driver.publish(source, declared())
    do(
        source,
        "CREATE TABLE public.u (id integer PRIMARY KEY, q integer, s text);"
        " INSERT INTO public.u SELECT id + 1000, q, s FROM public.t;"
        " GRANT SELECT ON public.u TO steward",
    )
    refused(source, "population", declared(source="public.u", release="b"))
    do(source, "UPDATE public.t SET id = id + 1000")
    refused(source, "keys_changed", declared(release="c"))
    renewed = {"population": {"renewed": True}}
    refused(source, "population", {**declared(release="c"), **renewed})


@pytest.mark.slow
def test_the_same_rows_under_another_name(source: Database) -> None:
    """Whatever the policy accepts: the rows say who they are."""
    driver.publish(source, declared(**NAMED))
    do(
        source,
        "CREATE TABLE public.u AS SELECT visit AS patient, q, s FROM public.t;"
        " GRANT SELECT ON public.u TO steward",
    )
    other = declared("patient", source="public.u", release="b", republication="allow")
    error = refused(source, "population", {**other, "population": {"name": "others"}})
    assert "made from the rows of public.u" in error.message
    assert "not known" not in error.message


@pytest.mark.slow
def test_an_empty_source(source: Database) -> None:
    """Nothing is said of its keys."""
    driver.publish(source, declared())
    do(source, "TRUNCATE public.t")
    refused(source, "empty_source", declared())


@pytest.mark.slow
def test_a_copy_without_its_key(source: Database) -> None:
    driver.publish(source, declared())
    do(
        source,
        "CREATE TABLE public.u AS SELECT q, s FROM public.t; GRANT SELECT ON public.u TO steward",
    )
    refused(source, "no_identity", declared(source="public.u", release="b"))


@pytest.mark.slow
def test_two_names_of_a_release(source: Database) -> None:
    driver.publish(source, declared())
    do(source, "DELETE FROM public.t WHERE id = 3")
    refused(source, "republication", declared(release="b"))


def test_a_release_of_other_people(source: Database) -> None:
    """All keys are new: they changed, or these are others."""
    driver.publish(source, declared())
    do(source, "UPDATE public.t SET id = id + 100, q = q + 1")
    error = refused(source, "keys_changed", declared())
    assert f"0 of the {PEOPLE} people" in error.message
    assert "aliases" in (error.hint or "")
    assert "renewed: true" in (error.hint or "")
    done = driver.publish(source, declared(population={"renewed": True}))
    assert done.version == 2


WHERE: dict[str, Any] = {"where": "id > 12"}


@pytest.mark.parametrize("changes", [{}, WHERE], ids=["all", "some"])
@pytest.mark.slow
def test_another_release_of_keys_that_were_made_anew(
    source: Database, changes: dict[str, Any]
) -> None:
    """Attack: a nightly load numbers people afresh, so nobody of an earlier version is known."""
    driver.publish(source, declared())
    view(source, "w", "SELECT id AS number, q, s FROM public.t")
    do(source, "UPDATE public.t SET id = id + 100, q = q + 1")
    error = refused(source, "keys_changed", declared(release="b", **changes))
    assert f"0 of the {PEOPLE} people of public.t are known" in error.message
    assert "renewed: true" in (error.hint or "")
    again: dict[str, Any] = {"population": {"renewed": True}, "release": "b", **changes}
    assert driver.publish(source, declared(**again)).version == 1
    assert driver.publish(source, declared(release="c", **changes)).version == 1, "b knows them"


@pytest.mark.slow
def test_keys_that_were_made_anew_behind_a_view(source: Database) -> None:
    driver.publish(source, declared())
    do(source, "UPDATE public.t SET id = id + 100, q = q + 1")
    view(source, "w", "SELECT id AS number, q, s FROM public.t")
    refused(source, "population", declared("number", source="public.w", release="b"))
    view(source, "v", "SELECT id, q, s FROM public.t")
    refused(source, "keys_changed", declared("id", source="public.v", release="b"))
    refused(source, "keys_changed", declared("id", source="public.v", release="b", **WHERE))


def test_another_release_of_others_of_the_same_source(source: Database) -> None:
    """Their keys are those that they had: the source has the people of both."""
    driver.publish(source, declared(where="id <= 12"))
    assert driver.publish(source, declared(release="b", **WHERE)).version == 1


@pytest.mark.slow
def test_views_of_different_people_of_one_table(source: Database) -> None:
    """Their keys are those that they had: the view of the others shows them still."""
    view(source, "low", "SELECT id, q, s FROM public.t WHERE id <= 12")
    view(source, "high", "SELECT id, q, s FROM public.t WHERE id > 12")
    view(source, "rest", "SELECT id, q, s FROM public.t WHERE id > 2000")
    do(source, "REVOKE SELECT ON public.t FROM steward")
    driver.publish(source, declared("id", source="public.low"))
    assert driver.publish(source, declared("id", source="public.high", release="b")).version == 1
    # Attack: a nightly load numbers the people of one view afresh, before a release of another.
    do(source, "UPDATE public.t SET id = id + 2000")
    error = refused(source, "keys_changed", declared("id", source="public.rest", release="c"))
    assert "people of public.rest and public.high and public.low are known" in error.message


def test_a_load_that_keeps_what_it_loaded_before(source: Database) -> None:
    """Attack: the table below has all keys that there ever were, the views those of the newest."""
    newest = "SELECT id, q, s FROM public.t WHERE visit = (SELECT max(visit) FROM public.t)"
    do(source, "UPDATE public.t SET visit = '1'")
    view(source, "newest", newest)
    view(source, "few", f"{newest} AND q > 2")
    driver.publish(source, declared("id", source="public.newest"))
    do(source, "INSERT INTO public.t SELECT id + 100, q + 1, s, '2' FROM public.t")
    refused(source, "keys_changed", declared("id", source="public.few", release="b"))


@pytest.mark.parametrize("how", ["privilege", "column", "gone", "key"])
@pytest.mark.slow
def test_a_view_of_earlier_people_that_cannot_be_read(source: Database, how: str) -> None:
    """The hint says what to do; `renewed` remains."""
    view(source, "low", "SELECT id, q, s FROM public.t WHERE id <= 12")
    view(source, "high", "SELECT id, q, s FROM public.t WHERE id > 12")
    driver.publish(source, declared("id", source="public.low"))
    change = {
        "privilege": "REVOKE SELECT ON public.low FROM steward",
        "column": "REVOKE SELECT ON public.low FROM steward;"
        " GRANT SELECT (q) ON public.low TO steward",
        "gone": "DROP VIEW public.low",
        "key": "ALTER VIEW public.low RENAME COLUMN id TO number",
    }
    do(source, change[how])
    error = refused(source, "keys_changed", declared("id", source="public.high", release="b"))
    closed = "(GRANT SELECT (id) ON public.low)" in (error.hint or "")
    assert closed == (how in ("privilege", "column"))
    assert "renewed: true" in (error.hint or "")
    if closed:
        do(source, "GRANT SELECT (id) ON public.low TO steward")
    renewed = {} if closed else {"population": {"renewed": True}}
    again = {**declared("id", source="public.high", release="b"), **renewed}
    assert driver.publish(source, again).version == 1


@pytest.mark.slow
@pytest.mark.parametrize("stay", [2, 3])
def test_a_tenth_of_the_people(source: Database, stay: int) -> None:
    driver.publish(source, declared())
    do(source, f"UPDATE public.t SET id = id + 100, q = q + 1 WHERE id > {stay}")
    refused(source, "keys_changed" if stay == 2 else "republication", declared())


@pytest.mark.slow
def test_a_tenth_of_a_release_that_grows(db: Database) -> None:
    """Its people are those of all increments."""
    db.source(growing.SOURCE)
    for first, last in ((1, 20), (21, 32)):
        growing.add(db, first, last)
        growing.grow(db)
    db.source("DELETE FROM public.person WHERE id > 20", grant=False)
    growing.add(db, 41, 52)
    assert growing.grow(db).version == 3


def forgetting(db: Database, condition: str) -> int | None:
    do(db, f"CREATE TABLE public.erase AS SELECT id FROM public.t WHERE {condition}")
    do(db, "GRANT SELECT ON public.erase TO steward")
    found = forget_people(db.connect("steward"), "r", "public.erase").people
    do(db, "DROP TABLE public.erase")
    return found


def test_forgotten_people_return(source: Database) -> None:
    """Beside newcomers they would be no news to who has the version that they were in."""
    driver.publish(source, declared())
    assert forgetting(source, "id IN (1, 2)") == 2
    do(source, "DELETE FROM public.t WHERE id > 2")
    do(
        source,
        "INSERT INTO public.t SELECT n, n % 5, 'abcd'::char(4), 'v' FROM generate_series(101, 112)"
        " AS n; UPDATE public.t SET s = chr(97 + id % 4)",
    )
    renewed = {"population": {"renewed": True}}
    done = driver.publish(source, {**declared(release="b"), **renewed})
    assert (done.records, done.released) == (12, 12)
    assert any("2 people of public.t were forgotten" in one for one in done.warnings)
    kept = listing.events(source.connect("steward"), "b")
    assert kept[-1]["event"] == "released"
    measures = source.admin.execute(
        b"SELECT measures ->> 'forgotten' FROM pganon_private.version WHERE release = 'b'"
    ).fetchone()
    assert measures == ("2",)


@pytest.fixture
def keyless(source: Database) -> Database:
    do(source, "ALTER TABLE public.t DROP CONSTRAINT t_pkey")
    return source


@pytest.mark.slow
def test_a_source_without_a_key_is_told(keyless: Database, tmp_path: Path) -> None:
    told = "public.t has no key, so this version can never be compared with another"
    file = tmp_path / "r.json"
    file.write_text(json.dumps(declared()))
    for command in (("policy", "check", "--source"), ("plan",)):
        ran = pganon(*command, str(file), "--dsn", keyless.dsn("steward"))
        assert (ran.code, told in ran.err) == (0, True), command
        ran = pganon(*command, str(file), "--dsn", keyless.dsn("steward"), "--json")
        assert told in ran.out, command
    done = driver.publish(keyless, declared())
    assert any(one.startswith(told) and "import --key" in one for one in done.warnings)
    do(keyless, "ALTER TABLE public.t ADD PRIMARY KEY (id)")
    assert told not in pganon("plan", str(file), "--dsn", keyless.dsn("steward")).err


@pytest.mark.slow
def test_a_version_without_a_key_is_forgotten(keyless: Database) -> None:
    driver.publish(keyless, declared())
    do(keyless, "UPDATE public.t SET q = q + 1")
    error = refused(keyless, "no_identity", declared())
    assert "import --key" in (error.hint or "")
    conn = keyless.connect("steward")
    with driver.refused("usage"):
        forget_version(conn, "r", 1, "never copied")
    lifecycle.drop(conn, "r")
    assert forget_version(conn, "r", 1, "never copied").version == 1
    assert driver.publish(keyless, declared()).version == 2


GROWS, KEEPS = "refresh: increments", "refresh: invariant"
SAME, ACCEPTS, LEAVES = "the policy of version 1", "republication: warn", "`exclude`"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "second", "changed", "ways"),
    [
        ({}, {"where": "id > 1"}, None, {GROWS, SAME, ACCEPTS, LEAVES}),
        ({}, {}, "DELETE FROM public.t WHERE id = 3", {GROWS, ACCEPTS, LEAVES}),
        ({}, {}, "UPDATE public.t SET s = 'z' WHERE id = 3", {GROWS, ACCEPTS, LEAVES}),
        (
            {"privacy": ANATOMY, "method": {"name": "anatomy"}},
            {"privacy": ANATOMY, "method": {"name": "anatomy"}},
            "DELETE FROM public.t WHERE id = 3",
            {GROWS, KEEPS, ACCEPTS},
        ),
    ],
    ids=["policy", "leaver", "value", "anatomy"],
)
def test_a_refusal_names_the_ways_that_there_are(
    source: Database,
    first: dict[str, Any],
    second: dict[str, Any],
    changed: str | None,
    ways: set[str],
) -> None:
    driver.publish(source, declared(**first))
    if changed:
        do(source, changed)
    hint = refused(source, "republication", declared(**second)).hint or ""
    named = {way for way in (GROWS, KEEPS, SAME, ACCEPTS, LEAVES) if way in hint}
    assert named - {LEAVES} == ways - {LEAVES}
    assert LEAVES in named or LEAVES not in ways


def test_code_in_what_an_earlier_version_read(source: Database) -> None:
    """Attack: who owned the source of another release has code run by one that trusts others."""
    view(source, "low", "SELECT id, q, s FROM public.t WHERE id <= 12")
    view(source, "high", "SELECT id, q, s FROM public.t WHERE id > 12")
    source.admin.execute(
        b"GRANT SELECT ON public.t TO analyst; CREATE SEQUENCE public.calls;"
        b" GRANT ALL ON SEQUENCE public.calls TO PUBLIC; GRANT CREATE ON SCHEMA public TO analyst;"
        b" ALTER VIEW public.low OWNER TO analyst; GRANT SELECT ON public.low TO steward"
    )
    both = ["source_owner", "analyst"]
    driver.publish(source, declared("id", source="public.low", trust=both))
    source.connect("analyst").execute(
        b"CREATE FUNCTION public.evil(integer) RETURNS integer LANGUAGE plpgsql AS $$BEGIN"
        b" IF current_user <> 'analyst' THEN PERFORM nextval('public.calls'); END IF;"
        b" RETURN $1; END$$;"
        b"CREATE OR REPLACE VIEW public.low AS SELECT public.evil(id) AS id, q, s FROM public.t"
    )
    error = refused(source, "untrusted_code", declared("id", source="public.high", release="b"))
    assert "public.evil(integer)" in error.message
    calls = source.admin.execute(b"SELECT is_called FROM public.calls").fetchone()
    assert calls == (False,)
    renewed = {"population": {"renewed": True}}
    again = {**declared("id", source="public.high", release="b"), **renewed}
    assert driver.publish(source, again).version == 1
