"""Versions with several partitions: their people are remembered when a version is judged beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.run.options import Options
from pganon.run.pipeline import run_release
from pganon.run.rebuilding import guarded
from tests.integration.test_local import (
    EXAMPLE_COLUMNS,
    EXAMPLE_MODELS,
    local_policy,
    make_example,
)
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.guarded import remembered
from tests.support.sources.builders import policy

pytestmark = pytest.mark.primary_server_only

OTHER = policy(
    {"gender": "q", "zip": "q", "disease": "s"},
    [{"model": "k_anonymity", "k": 2}],
    trust=["source_owner"],
)


def people_decide(**changes: Any) -> dict[str, Any]:
    method = {"name": "lgb_mdp", "link_threshold": 1}
    return local_policy(EXAMPLE_COLUMNS, EXAMPLE_MODELS, method=method, **changes)


def other(**changes: Any) -> dict[str, Any]:
    return {**OTHER, "release": "other", "republication": "allow", **changes}


def memories(db: Database) -> int:
    (found,) = db.admin.execute("SELECT count(*) FROM pganon_private.memory").fetchone() or (0,)
    return found


@pytest.fixture
def source(db: Database) -> Database:
    make_example(db)
    return db


def test_nothing_is_remembered_of_a_first_version(source: Database, tmp_path: Path) -> None:
    dry = run_release(
        driver.loaded(people_decide()), dsn=source.dsn("steward"), options=Options(dry_run=True)
    )
    found = driver.publish(source, people_decide())
    assert dry.guard == found.guard == {}
    assert memories(source) == 0
    assert driver.leftovers(source) == []
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(people_decide()))
    shown = pganon("guard", str(file), "--json", "--dsn", source.dsn("steward")).json
    (everybody,) = shown["audiences"]
    assert everybody["versions"] == ["r 1"]
    assert everybody["state"] == "made when a version is judged beside this one"
    assert everybody["people"] is everybody["cells"] is everybody["smallest_cell"] is None


def test_a_later_version_is_judged_beside_it(source: Database) -> None:
    driver.publish(source, people_decide())
    beside = driver.publish(source, other()).guard
    assert memories(source) == 1
    assert beside["guard_people"] == 8
    # Groups and buckets of the first version divide those of the second.
    assert beside["guard_smallest_cell"] == 1
    made = remembered(source)
    conn = source.connect("steward")
    for rebuild in (False, True):
        (everybody,) = guarded(conn, driver.loaded(other()), rebuild=rebuild).audiences
        assert (everybody.versions, everybody.state) == (("r 1", "other 1"), "complete")
    assert remembered(source) == made
    assert driver.leftovers(source) == []


def test_made_before_it_is_the_same(source: Database) -> None:
    driver.publish(source, people_decide())
    conn = source.connect("steward")
    (everybody,) = guarded(conn, driver.loaded(people_decide()), rebuild=True).audiences
    assert (everybody.state, everybody.people) == ("complete", 8)
    early = driver.publish(source, other()).guard
    assert early["guard_people"] == 8
    made = remembered(source)
    guarded(conn, driver.loaded(other()), rebuild=True)
    assert remembered(source) == made


def test_a_dry_run_beside_it(source: Database) -> None:
    driver.publish(source, people_decide())
    options = Options(dry_run=True)
    dry = run_release(driver.loaded(other()), dsn=source.dsn("steward"), options=options)
    assert dry.guard == driver.publish(source, other(release="again")).guard
    assert dry.guard["guard_people"] == 8


def test_what_grows_is_remembered_from_its_first_version_on(source: Database) -> None:
    """Its next version is one about the same people."""
    grows = people_decide(refresh="increments", increment_size=8)
    first = driver.publish(source, grows)
    assert (first.guard["guard_people"], memories(source)) == (8, 1)
    conn = source.connect("steward")
    (everybody,) = guarded(conn, driver.loaded(grows)).audiences
    assert (everybody.versions, everybody.state, everybody.people) == (("r 1",), "complete", 8)
    made = remembered(source)
    guarded(conn, driver.loaded(grows), rebuild=True)
    assert remembered(source) == made


def test_by_default_nothing_is_published_beside_it(source: Database) -> None:
    driver.publish(source, people_decide())
    with driver.refused("republication"):
        driver.publish(source, other(republication="refuse"))
    assert memories(source) == 0


def test_the_same_people_in_another_table(source: Database) -> None:
    """No name and no fingerprint tells that a version is about them; what is remembered does."""
    people = {"population": {"name": "patients", "key": ["id"]}}
    driver.publish(source, people_decide(**people))
    owner = source.connect("source_owner")
    owner.execute("CREATE TABLE public.later AS SELECT * FROM public.t WHERE id < 8")
    owner.execute("ALTER TABLE public.later ADD PRIMARY KEY (id)")
    owner.execute("GRANT SELECT ON public.later TO steward")
    beside = other(source="public.later", republication="refuse", **people)
    with driver.refused("republication") as errors:
        driver.publish(source, beside)
    assert "version 1 of the release r is about the same people" in str(errors[0])
    assert errors[0].hint == "republication: warn or allow accepts the risk"
    assert driver.leftovers(source) == []
    assert memories(source) == 0
    with driver.refused("republication") as errors:
        driver.publish(
            source, {**people_decide(**people), "release": "z", "source": "public.later"}
        )
    assert errors[0].hint is None  # such a method is for people of whom nothing else is published
    told = driver.publish(source, {**beside, "republication": "allow"}).guard
    assert (told["guard_people"], told["guard_smallest_cell"]) == (8, 1)


def test_what_was_made_is_not_made_again_in_silence(source: Database) -> None:
    driver.publish(source, people_decide())
    driver.publish(source, other())
    source.admin.execute("DELETE FROM pganon_private.memory")
    with driver.refused("memory"):
        driver.publish(source, other(release="third"))


def test_people_who_are_forgotten_before(source: Database) -> None:
    driver.publish(source, people_decide())
    owner = source.connect("source_owner")
    owner.execute("CREATE TABLE public.gone AS SELECT id FROM public.t WHERE id < 3")
    owner.execute("GRANT SELECT ON public.gone TO steward")
    dsn = ("--dsn", source.dsn("steward"))
    ran = pganon("forget", "r", "--people", "public.gone", *dsn)
    assert (ran.code, ran.out) == (0, "2 people are known by a random digest from now on\n")
    # Two of them are newcomers to whoever cannot know them any more.
    beside = driver.publish(source, other()).guard
    assert (beside["guard_people"], beside["guard_people_newcomers"]) == (10, 2)
