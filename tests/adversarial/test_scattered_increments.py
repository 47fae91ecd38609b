"""Releases that grow, with several partitions: nothing else is shown of the same people."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.publish import listing, sessions
from pganon.run.grants import change_readers
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.integration.history.increments.test_increments import growing_policy, more_visits, run
from tests.support.harness import driver, plans
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only


def plain(**changes: Any) -> dict[str, Any]:
    """A release of all people with one partition of them."""
    document = growing_policy("mondrian").policy.document()
    del document["increment_size"]
    return {**document, "release": "plain", "refresh": "recompute", **changes}


@pytest.mark.slow
def test_nothing_else_is_published_of_the_same_people(db: Database) -> None:
    db.source(plans.SOURCE)
    grown = growing_policy("sloms").policy.document()
    run(db, driver.loaded(grown))
    with driver.refused("republication") as errors:
        run(db, driver.loaded(plain()))
    assert getattr(errors[0], "reason", None) == "several"
    assert [release.release for release in listing.releases(db.owner())] == ["visits"]
    # A release that grows is about newcomers alone, and there are none.
    for method, name in (("sloms", "again"), ("lgb_mdp", "hidden")):
        document = growing_policy(method).policy.document()
        with driver.refused("too_few_records"):
            run(db, driver.loaded({**document, "release": name}))
    more_visits(db, "25 + n % 9")
    again = run(db, driver.loaded({**grown, "release": "again"}))
    assert (again.records, again.released) == (150, 90)


@pytest.mark.slow
def test_readers_of_one_version_may_read_the_next(db: Database) -> None:
    """They are judged before: of people who are in one version only there is nothing to judge."""
    names = [f"{db.name}_{letter}" for letter in "ab"]
    for name in names:
        db.admin.execute(f"CREATE ROLE {name} LOGIN".encode())
    try:
        db.source(plans.SOURCE)
        document = growing_policy("sloms").policy.document() | {"audiences": "by_reader"}
        steward = db.connect("steward")
        sessions.become_steward(steward)
        for name in names:
            run(db, driver.loaded({**document, "publish": {"readers": [name]}}))
            more_visits(db, "25 + n % 9") if name == names[0] else None
            change_readers(steward, "visits", remove=[name])
        assert change_readers(steward, "visits", [names[0]]).added == (names[0],)
    finally:
        for name in names:
            db.admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())


@pytest.mark.slow
def test_newcomers_whom_another_release_has_meanwhile(db: Database) -> None:
    """They were new when the run found out who is."""
    db.source(plans.SOURCE)
    policy = driver.loaded(growing_policy("sloms").policy.document())
    run(db, policy)
    more_visits(db, "25 + n % 9")
    published: list[int | None] = []

    def meanwhile(phase: str, step: str, purpose: str) -> None:
        if phase == "recode" and not published:
            published.append(0)
            done = run(db, driver.loaded(plain(republication="allow")))
            published.append(done.version)

    with driver.refused("republication"):
        run_release(policy, dsn=db.dsn(), options=Options(on_step=meanwhile))
    assert published == [0, 1]
    assert listing.show(db.owner(), "visits").version == 1
