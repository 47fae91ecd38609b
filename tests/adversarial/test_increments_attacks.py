"""What nobody may learn from when, and with whom, newcomers appear."""

from __future__ import annotations

from typing import Any
from unittest import mock

import pytest

from pganon.errors import PganonError, PrivacyRefusal
from pganon.publish import lifecycle, recording
from pganon.run.erasure import forget_people, forget_version
from pganon.run.grants import guarded
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.sources.growing import (
    POLICY,
    SOURCE,
    add,
    add_diseases,
    cohorts,
    diverse,
    grow,
    rows,
    shown,
)

pytestmark = pytest.mark.primary_server_only


class Stopped(Exception):
    pass


def stop(step: str) -> Any:
    def at(current: str) -> None:
        if current == step:
            raise Stopped

    return at


@pytest.fixture
def people(db: Database) -> Database:
    db.source(SOURCE)
    return db


@pytest.mark.slow
def test_who_was_refused_does_not_wait_for_others(people: Database) -> None:
    """G4: were z released with those before, everybody would know whose value it is."""
    strict = {"privacy": diverse(2, 3), "increment_size": 3}
    conn = people.owner()
    add_diseases(people, 1, "x", "x", "y", "y")
    with driver.refused("infeasible"):
        grow(people, **strict)
    assert cohorts(conn) == [(4, False)]
    add_diseases(people, 5, "z")
    with driver.refused("infeasible"):
        grow(people, **strict)
    assert cohorts(conn) == [(4, False)]  # and z is not among them
    with driver.refused("infeasible") as caught:
        grow(people, **strict, suppression_limit=1)
    assert "the 4 records of these people are permanently suppressed" in str(caught[0])
    assert cohorts(conn) == [(4, True)]
    add_diseases(people, 6, "x", "y")
    result = grow(people, **strict, suppression_limit=1)
    assert (result.version, result.released, result.suppressed) == (1, 3, 4)
    assert sorted(row[-1] for row in rows(conn)) == ["x", "y", "z"]


@pytest.mark.slow
def test_weaker_models_test_the_same_people(people: Database) -> None:
    add_diseases(people, 1, "x", "x", "y", "y")
    with driver.refused("infeasible"):
        grow(people, privacy=diverse(2, 3))
    add_diseases(people, 5, "z", "z", "x")
    assert grow(people, privacy=diverse(2, 2)).added.released == 4
    assert sorted(row[-1] for row in rows(people.owner())) == ["x", "x", "y", "y"]


@pytest.mark.slow
def test_a_later_cohort_that_fails_is_out(people: Database) -> None:
    add(people, 1, 30)
    conn = people.owner()
    grow(people, suppression_limit=0.2)
    before = shown(conn)
    add_diseases(people, 31, "flu", "flu", "flu")
    with driver.refused("infeasible"):
        grow(people, suppression_limit=0.05)
    assert cohorts(conn)[-1] == (3, False)
    with driver.refused("infeasible"):
        grow(people, suppression_limit=0.2)
    assert cohorts(conn)[-1] == (3, True)
    assert shown(conn) == before
    add(people, 40, 42)
    assert grow(people, suppression_limit=0.2).suppressed == 3
    assert before < shown(conn)


LATER = ["snapshot.cohorts", "verify.balance", "publish.publish"]
CRASHES = ["partition.cells", *[pytest.param(step, marks=pytest.mark.slow) for step in LATER]]


@pytest.mark.slow
@pytest.mark.parametrize("step", CRASHES)
def test_stopped_between_cohort_and_publication(people: Database, step: str) -> None:
    """The next run finishes the cohort as it was; who came since waits for the one after."""
    add(people, 1, 12)
    steps: list[str] = []
    grow(people, steps.append)
    conn = people.owner()
    before = shown(conn)
    add(people, 13, 16)
    step = step if step in steps else next(s for s in steps if s.startswith(step.split(".")[0]))
    with pytest.raises(Stopped):
        grow(people, stop(step))
    assert cohorts(conn) == [(12, True), (4, False)]
    assert shown(conn) == before
    add(people, 17, 19)
    second = grow(people)
    assert (second.added.released, second.added.waiting) == (4, 3)
    third = grow(people)
    assert (third.version, third.added.released, third.added.waiting) == (3, 3, 0)
    assert before < shown(conn)
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))


def test_stopped_before_the_cohort(people: Database) -> None:
    add(people, 1, 12)
    with pytest.raises(Stopped):
        grow(people, stop("cohorts.commit"))
    assert cohorts(people.owner()) == []


@pytest.mark.slow
def test_publication_that_fails(people: Database) -> None:
    add(people, 1, 12)
    grow(people)
    conn = people.owner()
    memory = conn.execute("SELECT counter FROM pganon_private.population").fetchall()
    add(people, 13, 16)
    with (
        mock.patch.object(recording, "remember_views", side_effect=Stopped),
        pytest.raises(Stopped),
    ):
        grow(people)
    assert cohorts(conn)[-1] == (4, False)
    assert conn.execute("SELECT counter FROM pganon_private.population").fetchall() == memory
    add(people, 17, 19)
    assert grow(people).added.released == 4


@pytest.mark.slow
def test_nothing_private_opens(people: Database) -> None:
    add(people, 1, 12)
    conn = people.owner()
    conn.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO analyst")
    grow(people, lambda step: None)
    add(people, 13, 16)
    grow(people, regions="leaves")
    assert faults.exposed(conn) == []
    columns = conn.execute(
        "SELECT DISTINCT attname FROM pg_attribute AS a JOIN pg_class AS c ON c.oid = a.attrelid"
        " WHERE c.relname ~ '^cohorts_[0-9]' AND attnum > 0"
    ).fetchall()
    assert {name for (name,) in columns} == {"person", "cohort"}  # digests, and no value


def test_a_dry_run_tests_nobody(people: Database) -> None:
    add_diseases(people, 1, "x", "x", "x")
    steps: list[str] = []
    looked = grow(people, steps.append, dry_run=True)
    assert (looked.outcome, looked.version, looked.verified) == ("dry_run", None, ())
    assert (looked.added.cohorts, looked.added.tested) == (1, 3)
    assert cohorts(people.owner()) == []
    assert not [step for step in steps if step.startswith(("encode.", "partition.", "verify."))]
    with driver.refused("infeasible"):
        grow(people)


def test_tables_that_were_changed_are_not_added_to(people: Database) -> None:
    add(people, 1, 12)
    grow(people)
    conn = people.owner()
    table = conn.execute(
        "SELECT c.relname FROM pg_class AS c WHERE c.relname ~ '^r[0-9]+_records$'"
    ).fetchone()
    conn.execute(f"DELETE FROM pganon_data.{table[0]}".encode())
    add(people, 13, 16)
    with driver.refused("changed_after_verification") as caught:
        grow(people)
    assert isinstance(caught[0], PrivacyRefusal)


@pytest.mark.slow
def test_two_releases_commit_to_the_same_people(
    people: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One finds out who is new and commits to them before the other looks."""
    add(people, 1, 12)
    found: list[str] = []

    def another(step: str) -> None:
        if step == "cohorts.commit":
            monkeypatch.setattr("pganon.locks.WAITS", (0,))
            with driver.refused("busy"):
                grow(people, release="others")
            found.append(step)

    assert grow(people, another).added.tested == 12
    assert found == ["cohorts.commit"]
    with driver.refused("too_few_records"):
        grow(people, release="others")
    add(people, 13, 16)
    assert grow(people, release="others").added.tested == 4


@pytest.mark.slow
def test_people_who_are_forgotten_are_no_newcomers(people: Database) -> None:
    """Neither versions nor cohorts know them any more, and they are in no later one."""
    add(people, 1, 12)
    grow(people)
    people.source("CREATE TABLE public.gone AS SELECT id FROM public.person WHERE id < 3")
    conn = people.connect("steward")
    assert forget_people(conn, "people", "public.gone").people == 2
    (run,) = people.admin.execute("SELECT run_id FROM pganon_private.cohorts").fetchall()
    digest = "encode(substr(sha256(p.secret || convert_to(s.id::text, 'UTF8')), 1, 16), 'hex')"
    text = (
        f"SELECT count(*) FROM pganon_private.cohorts_{run[0]} AS c"
        " JOIN pganon_private.population AS p ON true"
        f" JOIN public.person AS s ON c.person = {digest}::uuid"
    )
    known = people.admin.execute(text.encode()).fetchone()
    assert known == (10,)
    done = grow(people)
    assert (done.outcome, done.added.newcomers, done.added.waiting) == ("unchanged", 0, 0)


@pytest.mark.slow
def test_a_version_whose_groups_a_later_one_shows(people: Database) -> None:
    """It cannot be forgotten before: nothing new would be judged beside these groups."""
    add(people, 1, 12)
    grow(people)
    add(people, 13, 16)
    grow(people)
    conn = people.connect("steward")
    with pytest.raises(PganonError, match="version 2 of the release people has the groups of"):
        forget_version(conn, "people", 1, "no copy is left")
    before = shown(people.owner())
    lifecycle.show_earlier(conn, "people")
    forget_version(conn, "people", 2, "no copy is left")
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    (only,) = guarded(conn, driver.loaded(POLICY)).versions
    assert (only.version, only.people) == (1, 12)
    assert shown(people.owner()) < before


def test_autovacuum_counts_nobody(people: Database) -> None:
    """Everybody can read in pg_class how many rows an analyzed table has."""
    add(people, 1, 12)
    grow(people)
    watched = people.admin.execute(
        "SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'pganon_private' AND c.relkind = 'r' AND c.relname ~ '[0-9]'"
        " AND c.reloptions IS NULL"
    ).fetchall()
    assert watched == []
    counted = people.admin.execute(
        "SELECT c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'pganon_private' AND c.reltuples > 0"
        " AND c.relname ~ '(members|person|cohorts_[0-9]+)$'"
    ).fetchall()
    assert counted == []


@pytest.mark.slow
def test_a_cohort_of_which_nobody_is_left(people: Database) -> None:
    """They have left, and later newcomers do not wait for them for ever."""
    add(people, 1, 12)
    grow(people)
    conn = people.owner()
    add_diseases(people, 20, "flu", "flu", "flu")
    with driver.refused("infeasible"):
        grow(people)
    people.source("DELETE FROM public.person WHERE id >= 20", grant=False)
    add(people, 30, 33)
    assert grow(people).outcome == "unchanged"
    assert cohorts(conn) == [(12, True), (3, True)]
    assert grow(people).added.released == 4


@pytest.mark.slow
def test_a_cohort_that_another_release_has_meanwhile(people: Database) -> None:
    """Whoever is in a version is no newcomer, also of a cohort that was not published."""
    add(people, 1, 12)
    grow(people)
    add_diseases(people, 20, "flu", "flu", "flu")
    with driver.refused("infeasible"):
        grow(people)
    grow(people, refresh="recompute", release="others", republication="warn")
    assert grow(people).outcome == "unchanged"
    assert cohorts(people.owner()) == [(12, True), (3, True)]
