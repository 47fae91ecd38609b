"""Who reads a version with several partitions is let read no other groups of the same people."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pganon.publish import listing, sessions
from pganon.run.grants import change_readers
from tests.integration.methods.local.test_local import make_example
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.versions import other, people_decide

pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]

APART = {"audiences": "by_reader"}


@pytest.fixture
def steward(db: Database, roles: list[str]) -> psycopg.Connection[Any]:
    """Two versions about the same people, each with a reader of its own."""
    make_example(db)
    driver.publish(db, people_decide(publish={"readers": roles[:1]}, **APART))
    driver.publish(db, other(publish={"readers": roles[1:2]}, **APART))
    found = db.connect("steward")
    sessions.become_steward(found)
    return found


def test_either_reader(db: Database, steward: psycopg.Connection[Any], roles: list[str]) -> None:
    one, two, third = roles
    for release, role in (("other", one), ("r", two)):
        with driver.refused("republication") as errors:
            change_readers(steward, release, [role])
        assert f"for {role} to read this version, too" in str(errors[0])
        assert "divides them in several ways at once" in str(errors[0])
        assert listing.events(steward, release)[-1]["event"] == "refused"
        assert role not in listing.find(steward, release).release.readers
    assert driver.leftovers(db) == []
    assert change_readers(steward, "r", [third]).added == (third,)
    with driver.refused("republication"):
        change_readers(steward, "other", [third])


def test_everybody(steward: psycopg.Connection[Any]) -> None:
    with driver.refused("republication") as errors:
        change_readers(steward, "other", ["public"])
    assert "divides them in several ways at once" in str(errors[0])


@pytest.mark.parametrize("late", [False, True])
def test_who_inherits(
    db: Database, steward: psycopg.Connection[Any], roles: list[str], late: bool
) -> None:
    """A member of a reader, by whom it is let read; also if that was known to nobody so far."""
    one, _, member = roles
    if late:
        db.admin.execute(f"GRANT {one} TO {member}".encode())
        with driver.refused("republication"):
            change_readers(steward, "other", [member])
    else:
        change_readers(steward, "r", [member])
        group = f"{db.name}_group"
        db.admin.execute(f"CREATE ROLE {group}; GRANT {group} TO {member}".encode())
        try:
            with driver.refused("republication"):
                change_readers(steward, "other", [group])
        finally:
            db.admin.execute(f"DROP ROLE {group}".encode())


def test_a_run_with_another_reader(
    db: Database, steward: psycopg.Connection[Any], roles: list[str]
) -> None:
    """It shows its own groups again, but to somebody who has others."""
    with driver.refused("republication") as errors:
        driver.publish(db, other(publish={"readers": roles[:2]}, **APART, republication="refuse"))
    assert "divides them in several ways at once" in str(errors[0])
    again = other(publish={"readers": roles[1:]}, **APART, republication="refuse")
    assert driver.publish(db, again).version == 2
    accepted = other(publish={"readers": roles}, **APART, republication="allow")
    assert driver.publish(db, accepted).version == 3


def test_the_same_groups_under_another_name(
    db: Database, steward: psycopg.Connection[Any], roles: list[str]
) -> None:
    """Nobody learns anything from groups that he has."""
    driver.publish(db, people_decide(release="z", publish={"readers": roles[2:]}, **APART))
    assert change_readers(steward, "z", roles[:1]).added == (roles[0],)
    with driver.refused("republication"):
        change_readers(steward, "z", roles[1:2])
