"""People who were forgotten: nothing leads to them, and nobody tests or groups them again."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon.publish import lifecycle
from pganon.run.erasure import forget_people, forget_version
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources import growing
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"q": "integer", "s": "text"}
PEOPLE = 24
ANATOMY = {
    "privacy": [{"model": "anatomy_l_diversity", "column": "s", "l": 2}],
    "method": {"name": "anatomy", "division": "eligible"},
    "refresh": "invariant",
    "suppression_limit": 1,
}


def declared(**changes: Any) -> dict[str, Any]:
    models = [{"model": "k_anonymity", "k": 4}]
    found = policy({"q": "q", "s": "s"}, models, trust=["source_owner"])
    return {**found, "republication": "refuse", **changes}


@pytest.fixture
def source(db: Database) -> Database:
    rng = random.Random(5)
    rows = [[rng.randint(0, 30), "abcd"[n % 4]] for n in range(PEOPLE)]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    do(db, "CREATE TABLE public.erase (id integer); GRANT SELECT ON public.erase TO steward")
    return db


def do(db: Database, text: str) -> None:
    db.connect("source_owner").execute(text.encode())


def forget(db: Database, *keys: int, release: str = "r", table: str = "public.erase") -> int | None:
    listed = ", ".join(f"({key})" for key in keys)
    do(db, f"TRUNCATE {table}; INSERT INTO {table} VALUES {listed}")
    return forget_people(db.connect("steward"), release, table).people


def places(db: Database, key: int) -> list[str]:
    """Columns of pganon's own tables that have the digest of a key under any secret."""
    columns = db.admin.execute(
        "SELECT format('%I.%I', n.nspname, c.relname), quote_ident(a.attname)"
        " FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname LIKE 'pganon%' AND c.relkind = 'r' AND a.atttypid = 'uuid'::regtype"
        " AND a.attnum > 0 ORDER BY 1"
    ).fetchall()
    text = (
        "SELECT 1 FROM {} AS t JOIN pganon_private.population AS p ON t.{} ="
        " encode(substr(sha256(p.secret || convert_to(%s, 'UTF8')), 1, 16), 'hex')::uuid LIMIT 1"
    )
    return [
        table
        for table, column in columns
        if db.admin.execute(text.format(table, column).encode(), [str(key)]).fetchone()
    ]


def remembered(db: Database, part: str) -> list[str]:
    found = db.admin.execute(
        "SELECT c.relname FROM pg_class AS c WHERE c.relkind = 'r' AND c.relname LIKE %s"
        " AND c.relnamespace = 'pganon_private'::regnamespace",
        [f"r%\\_{part}"],
    )
    return [f"pganon_private.{name}" for (name,) in found]


def groups(db: Database, known: str = "NOT NULL") -> int:
    """Groups of all versions that can be compared, or not."""
    text = "SELECT 1 FROM {} WHERE who1 IS {n} AND who2 IS {n} AND held IS {n}"
    return sum(
        len(db.admin.execute(text.format(table, n=known).encode()).fetchall())
        for table in remembered(db, "remembered_groups")
    )


@pytest.mark.slow
def test_nothing_leads_to_them_in_any_version(source: Database) -> None:
    """Shown, rolled back, dropped, or waiting for approval."""
    conn = source.connect("steward")
    for _ in range(2):
        driver.publish(source, declared())
    lifecycle.show_earlier(conn, "r")
    driver.publish(source, declared(release="b"))
    lifecycle.drop(conn, "b")
    waits = {"publish": {"readers": ["analyst"], "approval": {"by": ["analyst"]}}}
    held = driver.publish(source, declared(release="c", **waits))
    assert held.outcome == "awaiting_approval"
    assert len(places(source, 7)) == 4
    all_groups = groups(source)
    assert groups(source, "NULL") == 0
    assert forget(source, 7) == 1
    assert places(source, 7) == []
    assert groups(source, "NULL") == 3
    assert groups(source) == all_groups - 3
    assert driver.leftovers(source) == []
    assert all(finding.holds for finding in lifecycle.verify(conn, "r"))


@pytest.mark.slow
def test_nothing_leads_to_them_in_signatures(source: Database) -> None:
    done = driver.publish(source, declared(**ANATOMY))
    assert done.suppressed == 0
    assert len(places(source, 7)) == 2
    assert forget(source, 7) == 1
    assert places(source, 7) == []
    again = driver.publish(source, declared(**ANATOMY))
    assert (again.records, again.released) == (PEOPLE - 1, PEOPLE - 1)


@pytest.mark.slow
def test_they_are_no_newcomers(db: Database) -> None:
    """Alone in the source with others who are new, they would be in the cohort of these."""
    db.source(growing.SOURCE)
    db.source("CREATE TABLE public.erase (id integer)")
    growing.add(db, 1, 20)
    growing.grow(db)
    assert len(places(db, 1)) > 1  # members and cohorts
    db.source("INSERT INTO public.erase VALUES (1), (2), (999)", grant=False)
    assert forget_people(db.owner(), "people", "public.erase").people == 2
    assert places(db, 1) == []
    growing.add(db, 21, 40)
    done = growing.grow(db)
    assert done.added is not None
    assert (done.added.newcomers, done.released) == (20, 40)
    assert "2 people of public.person were forgotten and are left out" in done.warnings


@pytest.mark.slow
def test_several_groups_of_a_person_are_not_shown_again(source: Database) -> None:
    """The same rows and seed, but for who was forgotten."""
    several = {
        "records_per_individual": "many_accepted",
        "columns": {**declared()["columns"], "id": {"role": "individual"}},
    }
    driver.publish(source, declared(**several))
    assert driver.publish(source, declared(**several)).version == 2
    forget(source, 7)
    for text in ("", "DELETE FROM public.t WHERE id = 7"):
        if text:
            do(source, text)
        with driver.refused("republication") as caught:
            driver.publish(source, declared(**several))
        assert caught[0].reason == "several"  # pyright: ignore


def test_forgotten_while_a_version_is_made(source: Database) -> None:
    """The snapshot has them; the version is not published."""
    driver.publish(source, declared(where="id <= 12"))

    def told(phase: str, step: str, purpose: str) -> None:
        if step == "fingerprint":
            forget(source, 7)

    with driver.refused("forgotten") as caught:
        run_release(
            driver.loaded(declared(republication="allow", release="b")),
            dsn=source.dsn("steward"),
            options=Options(on_step=told),
        )
    assert "1 people of the version were forgotten" in caught[0].message
    assert driver.publish(source, declared(republication="allow", release="b")).records == 23


@pytest.mark.slow
def test_a_copy_brings_them_back(source: Database) -> None:
    """Only when it is read it is known whose rows these are."""
    driver.publish(source, declared())
    do(
        source,
        "CREATE TABLE public.u (LIKE public.t INCLUDING ALL); INSERT INTO public.u TABLE public.t;"
        " GRANT SELECT ON public.u TO steward",
    )
    forget(source, 7)
    with driver.refused("forgotten"):
        driver.publish(source, declared(source="public.u", republication="allow", release="b"))


@pytest.mark.slow
def test_a_version_that_is_forgotten_is_no_longer_judged_beside(source: Database) -> None:
    """Who judged beside it before judges again."""
    for _ in range(2):
        driver.publish(source, declared())
    counter = "SELECT counter FROM pganon_private.population"
    before = source.admin.execute(counter.encode()).fetchone() or (0,)
    forget_version(source.connect("steward"), "r", 1, "no copy is left")
    assert source.admin.execute(counter.encode()).fetchone() == (before[0] + 1,)


@pytest.mark.slow
def test_they_stay_out_where_no_version_is_left(source: Database) -> None:
    """Of these people nothing is remembered but who was forgotten."""
    driver.publish(source, declared())
    forget(source, 3)
    conn = source.connect("steward")
    lifecycle.drop(conn, "r")
    forget_version(conn, "r", 1, "no copy is left")
    done = driver.publish(source, declared(release="again"))
    assert (done.version, done.released) == (1, PEOPLE - 1)
    do(source, "ALTER TABLE public.t ADD other serial")
    other_key = {**declared()["columns"], "other": {"role": "individual"}}
    lifecycle.drop(conn, "again")
    forget_version(conn, "again", 1, "no copy is left")
    with driver.refused("population") as caught:
        driver.publish(source, declared(columns=other_key))
    assert "people who were forgotten" in str(caught[0])


@pytest.mark.slow
def test_who_was_never_released_is_not_marked(source: Database) -> None:
    driver.publish(source, declared(where="id < 20"))
    assert forget(source, 21) == 0
    marks = source.admin.execute("SELECT count(*) FROM pganon_private.forgotten").fetchone()
    assert marks == (0,)


@pytest.mark.slow
def test_a_mark_tells_nothing_without_the_secret(source: Database) -> None:
    """It is no digest: who has the table alone can compare it with no member."""
    driver.publish(source, declared())
    forget(source, 7)
    (mark,) = source.admin.execute("SELECT mark FROM pganon_private.forgotten").fetchone() or (0,)
    (members,) = remembered(source, "members")
    text = "SELECT 1 FROM {} AS m WHERE uuid_hash_extended(m.member, 0) = %s"
    assert source.admin.execute(text.format(members).encode(), [mark]).fetchone() is None
    granted = source.admin.execute(
        "SELECT has_table_privilege('analyst', 'pganon_private.forgotten', 'SELECT')"
    )
    assert granted.fetchone() == (False,)
