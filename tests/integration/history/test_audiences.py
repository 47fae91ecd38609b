"""`audiences: by_reader`: versions are judged beside those that one role could ever read."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon import locks
from pganon.publish import lifecycle, listing, readers, sessions
from pganon.run import grants, publication
from pganon.run.grants import change_readers
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

K = {"model": "k_anonymity", "k": 4}
L = {"model": "distinct_l_diversity", "column": "s", "l": 3}


@pytest.fixture
def source(db: Database) -> Database:
    rng = random.Random(3)
    rows = [[n, rng.randint(0, 40), rng.choice("abcdef")] for n in range(48)]
    make_table(db.connect("source_owner"), {"q": "integer", "z": "integer", "s": "text"}, rows)
    return db


def declared(release: str, column: str, *readers: str, **changes: Any) -> dict[str, Any]:
    """Classes by one of the columns, so that those by the other are others."""
    found = policy({column: "q", "s": "s"}, [K, L], trust=["source_owner"])
    found["publish"] = {"readers": list(readers)}
    over_time = {"audiences": "by_reader", "republication": "refuse"}
    return {**found, "release": release, **over_time, **changes}


def publish(source: Database, release: str, column: str, *readers: str, **changes: Any):
    result = driver.publish(source, declared(release, column, *readers, **changes))
    assert isinstance(result, RunResult)
    return result


@pytest.mark.slow
def test_readers_of_one_version_each(source: Database, roles: list[str]) -> None:
    one, two, both = roles
    publish(source, "one", "q", one)
    publish(source, "two", "z", two)
    with driver.refused("republication"):
        driver.publish(source, declared("three", "q", one, both, where="id > 3"))
    with driver.refused("republication"):
        # Who trusts nobody not to talk judges for everybody.
        driver.publish(source, declared("three", "q", both, audiences="everybody", where="id > 3"))


def test_the_same_readers(source: Database, roles: list[str]) -> None:
    publish(source, "one", "q", roles[0])
    with driver.refused("republication"):
        driver.publish(source, declared("two", "z", roles[0]))


@pytest.mark.slow
@pytest.mark.parametrize("public", [False, True])
def test_who_could_read_by_a_grant_of_the_owner(
    source: Database, roles: list[str], public: bool
) -> None:
    """A grant that was taken back again leaves its copies; so does one to everybody."""
    one, two, _ = roles
    publish(source, "one", "q", one)
    who = "public" if public else two
    source.owner().execute(f"GRANT SELECT ON published.one TO {who}".encode())
    result = driver.publish(
        source, declared("two", "z", audiences="everybody", republication="warn")
    )
    assert any("can read version 1 of" in text for text in result.warnings)
    source.owner().execute(f"REVOKE SELECT ON published.one FROM {who}".encode())
    with driver.refused("republication"):
        driver.publish(source, declared("three", "z", two))


@pytest.mark.slow
def test_inherited(source: Database, roles: list[str]) -> None:
    one, two, member = roles
    source.admin.execute(f"GRANT {one} TO {member}; GRANT {two} TO {member}".encode())
    publish(source, "one", "q", one)
    with driver.refused("republication"):  # the member has all versions
        driver.publish(source, declared("two", "z", two))


@pytest.mark.slow
def test_a_reader_is_judged_before(source: Database, roles: list[str]) -> None:
    one, two, third = roles
    publish(source, "one", "q", one)
    publish(source, "two", "z", two)
    steward = source.connect("steward")
    sessions.become_steward(steward)
    with driver.refused("republication") as errors:
        change_readers(steward, "two", [one])
    assert f"for {one} to read this version, too" in str(errors[0])
    assert driver.leftovers(source) == []
    assert listing.find(steward, "two").release.readers == (two,)
    assert listing.events(steward, "two")[-1]["event"] == "refused"
    assert change_readers(steward, "two", [third]).added == (third,)
    assert change_readers(steward, "one", remove=[one]).removed == (one,)
    with driver.refused("republication"):
        change_readers(steward, "one", [third])  # reads two


@pytest.mark.slow
def test_a_policy_with_more_readers(source: Database, roles: list[str]) -> None:
    """An unchanged source makes no version anew, but its readers are judged."""
    one, two, third = roles
    publish(source, "one", "q", one)
    publish(source, "two", "z", two)
    with driver.refused("republication"):
        driver.publish(source, declared("two", "z", two, one))
    assert publish(source, "two", "z", two, third).version == 2


@pytest.mark.parametrize("republication", ["refuse", "warn", "allow"])
@pytest.mark.slow
def test_an_unchanged_source_and_more_readers(
    source: Database, roles: list[str], republication: str
) -> None:
    """Who gains a version beside another one has no guarantee of either."""
    one, two, _ = roles
    for release, column, reader in (("one", "q", one), ("two", "z", two)):
        asked = declared(release, column, reader, republication=republication)
        assert run_release(driver.loaded(asked), dsn=source.dsn("steward")).version == 1
    asked = driver.loaded(declared("two", "z", two, one, republication=republication))
    if republication == "refuse":
        with driver.refused("republication"):
            run_release(asked, dsn=source.dsn("steward"))
        return
    done = run_release(asked, dsn=source.dsn("steward"))
    assert (republication == "warn") == any("void for who has both" in t for t in done.warnings)
    steward = source.connect("steward")
    sessions.become_steward(steward)
    for name in ("one", "two"):
        assert listing.show(steward, name).versions[0].over_versions == "void"


@pytest.mark.slow
def test_who_can_read_the_view_already(source: Database, roles: list[str]) -> None:
    """A new version is for whoever the owner let read the one before, and not for who may write."""
    one, two, third = roles
    publish(source, "one", "q", one, where="id > 24")
    publish(source, "two", "z", two, where="id <= 24")
    publish(source, "other", "q", third, where="id > 24")
    owner = source.owner()
    owner.execute(f"GRANT INSERT ON published.two TO {third}".encode())
    publish(source, "two", "z", two, where="id > 24", population={"renewed": True})
    owner.execute(f"GRANT SELECT ON published.other TO {two}".encode())
    with driver.refused("republication"):
        driver.publish(source, declared("other", "z", third, where="id > 20"))


@pytest.mark.slow
def test_a_reader_is_judged_in_every_later_version(source: Database, roles: list[str]) -> None:
    """That the last of them tells nothing new does not say that those before did not."""
    one, two, third = roles
    publish(source, "one", "q", one, where="id <= 24")
    publish(source, "two", "z", third, where="id <= 24")
    publish(source, "three", "z", third, where="id > 24")
    steward = source.connect("steward")
    sessions.become_steward(steward)
    with driver.refused("republication"):
        change_readers(steward, "one", [third])
    assert change_readers(steward, "one", [two]).added == (two,)


@pytest.mark.slow
def test_readers_of_different_versions_at_once(source: Database, roles: list[str]) -> None:
    """Each is an audience of its own."""
    one, two, third = roles
    publish(source, "one", "q", one, where="id <= 16")
    publish(source, "two", "q", two, where="id BETWEEN 17 AND 32")
    publish(source, "three", "q", third, where="id > 32")
    steward = source.connect("steward")
    sessions.become_steward(steward)
    assert change_readers(steward, "three", [one, two]).added == (one, two)


@pytest.mark.slow
def test_a_version_shown_again(source: Database, roles: list[str]) -> None:
    """A rollback shows an older version to who reads the release now."""
    one, two, _ = roles
    publish(source, "one", "q", one)
    publish(source, "one", "q", two, where="id > 0")
    steward = source.connect("steward")
    sessions.become_steward(steward)
    lifecycle.show_earlier(steward, "one")
    with driver.refused("republication"):
        driver.publish(source, declared("two", "z", two))


@pytest.mark.slow
def test_who_became_a_member_since(source: Database, roles: list[str]) -> None:
    """What a role reads by another one is found out when it is let read more."""
    one, two, third = roles
    publish(source, "one", "q", one)
    publish(source, "two", "z", two)
    source.admin.execute(f"GRANT {one} TO {third}".encode())
    ran = pganon("readers", "one", "--add", third, "--dsn", source.dsn("steward"))
    assert ran.err == f"warning: {third} can read version 1 of one since it was published\n"
    steward = source.connect("steward")
    sessions.become_steward(steward)
    with driver.refused("republication"):
        change_readers(steward, "two", [third])


@pytest.mark.slow
def test_a_version_for_everybody_before_one_that_is_not(source: Database, roles: list[str]) -> None:
    """The later one was judged without it for who did not read it, so these may not now."""
    one, two, third = roles
    publish(source, "one", "q", one, audiences="everybody")
    publish(source, "two", "z", two)
    steward = source.connect("steward")
    sessions.become_steward(steward)
    with driver.refused("republication"):
        change_readers(steward, "one", [two])
    assert change_readers(steward, "one", [third]).added == (third,)
    for asked in (declared("one", "q", one, two), declared("again", "q", one, two)):
        for run in (driver.publish, unchanged):
            with driver.refused("republication"):
                run(source, {**asked, "audiences": "everybody"})
    with driver.refused("republication"):
        driver.publish(source, declared("new", "q", two, audiences="everybody", where="id > 0"))
    found = unchanged(source, declared("one", "q", one, third, audiences="everybody"))
    assert (found.outcome, found.version) == ("unchanged", 1)
    assert publish(source, "new", "q", one, audiences="everybody", where="id > 0").version == 1
    with driver.refused("republication"):
        change_readers(steward, "new", [two])


def unchanged(source: Database, policy: dict[str, Any]) -> RunResult:
    """A run that need not make a version."""
    return run_release(driver.loaded(policy), dsn=source.dsn("steward"))


def add_people(source: Database) -> None:
    """Eight more, whom no version has."""
    source.connect("source_owner").execute(
        "INSERT INTO public.t (id, q, z, s)"
        " SELECT n, n, n, substr('abcd', 1 + n % 4, 1) FROM generate_series(49, 56) AS n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("increments", [1, 2])
def test_who_reads_all_increments_by_the_last(
    source: Database, roles: list[str], increments: int
) -> None:
    """A version that grew shows the groups of those before, whoever read these."""
    one, two, third = roles
    grows = {"refresh": "increments", "increment_size": 8}
    publish(source, "one", "q", one, **grows)
    publish(source, "two", "z", two)
    if increments == 2:
        add_people(source)
        assert publish(source, "one", "q", one, **grows).version == 2
    steward = source.connect("steward")
    sessions.become_steward(steward)
    with driver.refused("republication"):
        change_readers(steward, "one", [two])
    with driver.refused("republication"):
        driver.publish(source, declared("one", "q", one, two, **grows))
    assert change_readers(steward, "one", [third]).added == (third,)
    assert listing.find(steward, "one").release.readers == (one, third)


@pytest.mark.slow
def test_an_increment_for_more_readers(source: Database, roles: list[str]) -> None:
    one, two, third = roles
    grows = {"refresh": "increments", "increment_size": 8}
    publish(source, "one", "q", one, **grows)
    publish(source, "two", "z", two)
    add_people(source)
    with driver.refused("republication"):
        driver.publish(source, declared("one", "q", one, two, **grows))
    assert driver.leftovers(source) == []
    assert publish(source, "one", "q", one, third, **grows).version == 2
    with driver.refused("republication"):
        driver.publish(source, declared("two", "z", third, where="id <= 48"))


@pytest.mark.slow
def test_an_increment_for_who_has_finer_groups(source: Database, roles: list[str]) -> None:
    """What he learns of those that were there is nothing, and their bounds are not for him."""
    one, two, _ = roles
    grows = {"refresh": "increments", "privacy": [{**K, "k": 48}]}
    publish(source, "one", "q", one, **grows)
    publish(source, "two", "q", two)
    source.connect("source_owner").execute(
        "INSERT INTO public.t (id, q, z, s) SELECT n, n, n, 'a' FROM generate_series(49, 96) AS n"
    )
    assert publish(source, "one", "q", one, two, **grows).version == 2
    rows = source.admin.execute(
        "SELECT version, over_versions, guarantee #>> '{0,over_versions}'"
        " FROM pganon_private.version WHERE release = 'one' ORDER BY 1"
    ).fetchall()
    assert [state for _, state, _ in rows] == ["holds", "finer"]
    assert rows[1][2].endswith("k = 4")


@pytest.mark.slow
def test_nobody_judges_until_a_reader_is_added(
    source: Database, roles: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a version could be published for a role that is about to read this one, too."""
    one, two, third = roles
    publish(source, "one", "q", one, audiences="everybody")
    (population,) = source.admin.execute("SELECT id FROM pganon_private.population").fetchone() or [
        0
    ]
    steward, other = source.connect("steward"), source.owner()
    sessions.become_steward(steward)
    monkeypatch.setattr(locks, "WAITS", (0,))
    set_readers, added = readers.set_readers, []

    def held(*args: Any) -> Any:
        with driver.refused("busy"), locks.hold(other, population=population):
            pass
        added.append(args[2])
        return set_readers(*args)

    monkeypatch.setattr(grants, "set_readers", held)
    monkeypatch.setattr(publication, "set_readers", held)
    change_readers(steward, "one", [two])
    unchanged(source, declared("one", "q", one, two, third, audiences="everybody"))
    assert [len(names) for names in added] == [2, 3]
    with locks.hold(other, population=population), driver.refused("busy"):
        change_readers(steward, "one", ["public"])
