"""Versions with several partitions: only they themselves are shown again of the same people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.methods.local.test_local import make_example
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.versions import other, people_decide

pytestmark = pytest.mark.primary_server_only

REFUSES = {"republication": "refuse"}


@pytest.fixture
def source(db: Database) -> Database:
    make_example(db)
    return db


def refused(db: Database, policy: dict[str, Any]) -> str:
    with driver.refused("republication") as errors:
        driver.publish(db, policy)
    # Columns that one shows are quasi-identifiers of the other, which is said first.
    assert getattr(errors[0], "reason", None) in ("several", "role")
    assert driver.leftovers(db) == []
    return str(errors[0])


@pytest.mark.slow
def test_nothing_is_published_beside_it(source: Database, tmp_path: Path) -> None:
    driver.publish(source, people_decide())
    assert "version 1 of the release r" in refused(source, other(**REFUSES))
    driver.publish(source, people_decide(release="again"))
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(people_decide()))
    told = pganon("guard", str(file), "--json", "--dsn", source.dsn("steward")).json
    found = [(v["release"], v["form"], v["over_versions"]) for v in told["versions"]]
    assert found == [("r", "several", "holds"), ("again", "several", "holds")]


def test_nor_before_it(source: Database) -> None:
    driver.publish(source, other(**REFUSES))
    refused(source, people_decide())


@pytest.mark.slow
def test_the_same_people_in_another_table(source: Database) -> None:
    """No name and no fingerprint tells that a version is about them; what is remembered does."""
    people = {"population": {"name": "patients", "key": ["id"]}}
    driver.publish(source, people_decide(**people))
    owner = source.connect("source_owner")
    owner.execute("CREATE TABLE public.later AS SELECT * FROM public.t WHERE id < 8")
    owner.execute("ALTER TABLE public.later ADD PRIMARY KEY (id)")
    owner.execute("GRANT SELECT ON public.later TO steward")
    beside = other(source="public.later", **people)
    refused(source, {**beside, **REFUSES})
    refused(source, people_decide(release="z", source="public.later", **people))
    told = driver.publish(source, beside).guard
    assert (told["guard_shared"], told["guard_smallest"]) == (7, 1)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["forgotten", "excluded"])
def test_people_who_are_not_there_any_more(source: Database, how: str) -> None:
    """Of a version with others nobody can tell whether it is the same."""
    driver.publish(source, people_decide())
    owner = source.connect("source_owner")
    owner.execute("CREATE TABLE public.gone AS SELECT id FROM public.t WHERE id < 3")
    owner.execute("GRANT SELECT ON public.gone TO steward")
    changes: dict[str, Any] = {"release": "again"}
    if how == "forgotten":
        arguments = ("forget", "r", "--people", "public.gone", "--dsn", source.dsn("steward"))
        assert pganon(*arguments).out == "2 people are known by a random digest from now on\n"
    else:
        changes["exclude"] = {"relation": "public.gone"}
    refused(source, people_decide(**changes))
