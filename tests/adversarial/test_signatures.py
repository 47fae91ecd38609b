"""Attacks on versions whose people keep their signatures."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import LedgerError, PrivacyRefusal
from pganon.publish import lifecycle
from pganon.run.pipeline import Pipeline
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles.invariance import Person, Value
from tests.support.sources.invariant import Kept, declared

pytestmark = pytest.mark.primary_server_only

SECRET = "Zanzibar-7319"


def candidates(kept: Kept) -> dict[Person, set[Value]]:
    """What is left of everybody's values for who has all versions."""
    found: dict[Person, set[Value]] = {}
    for groups in kept.versions:
        for group in groups.values():
            for person in group.people:
                found[person] = found.get(person, set(group.values)) & set(group.values)
    return found


def start(db: Database) -> tuple[Kept, dict[Person, Value]]:
    kept = Kept(db, l=3)
    people: dict[Person, Value] = {n: ("flu", "cold", SECRET)[n % 3] for n in range(9)}
    kept.release(people)
    return kept, people


@pytest.mark.slow
def test_versions_cannot_be_intersected(db: Database) -> None:
    """People leave, return and come; in releases of two names; a lone newcomer among them."""
    kept, people = start(db)
    kept.release({n: people[n] for n in (0, 4, 5, 6)})
    kept.release({**people, 20: "flu"}, release="r_other")
    kept.release({n: people[n] for n in (1, 2, 3)}, release="r_other")
    kept.release({n: people[n] for n in (2,)})
    assert any(g.counterfeits for groups in kept.versions for g in groups.values())
    found = candidates(kept)
    assert set(people) <= set(found)
    assert all(len(values) == 3 for values in found.values())


@pytest.mark.slow
def test_who_left_and_returned_is_nobodys_filler(db: Database) -> None:
    """A place in another set than before would tell the values that both have in common."""
    kept = Kept(db, l=2)
    people: dict[Person, Value] = {1: "a", 2: "b"}
    kept.release(people)
    kept.release({3: "a", 4: "c"})
    kept.release({1: "a", 4: "c"})
    kept.release({1: "a", 2: "b", 3: "a", 4: "c"})
    assert candidates(kept) == {1: {"a", "b"}, 2: {"a", "b"}, 3: {"a", "c"}, 4: {"a", "c"}}


@pytest.mark.parametrize("absent", [False, True], ids=["at once", "while absent"])
@pytest.mark.slow
def test_values_that_change_are_refused(db: Database, absent: bool) -> None:
    kept, people = start(db)
    if absent:
        kept.release({n: people[n] for n in people if n != 2})
    before = kept.published("r_t")
    kept.fill({**people, 2: "flu", 5: "gout"})
    with driver.refused("value_changed") as caught:
        kept.release()
    (error,) = caught
    assert isinstance(error, PrivacyRefusal)
    assert error.observed == 2
    for text in (str(error), str(error.hint)):
        assert not any(value in text for value in ("flu", "gout", SECRET))
    assert kept.published("r_t") == before
    (details,) = db.admin.execute(
        "SELECT details::text FROM pganon.ledger WHERE event = 'refused'"
    ).fetchone() or ("",)
    assert SECRET not in details
    assert "gout" not in details


@pytest.mark.parametrize("order", [("recompute", "invariant"), ("invariant", "recompute")])
def test_no_version_that_keeps_no_sets_stands_beside_one_that_does(
    db: Database, order: tuple[str, str]
) -> None:
    kept = Kept(db, l=3)
    people: dict[Person, Value] = {n: "abcd"[n % 4] for n in range(12)}
    kept.fill(people)
    first, second = (declared(l=3, refresh=word) for word in order)
    run_release(driver.loaded(first), dsn=db.dsn("steward"))
    kept.fill({n: people[n] for n in range(10)} | {30: "a", 31: "b", 32: "c"})
    with driver.refused("republication"):
        run_release(driver.loaded(second), dsn=db.dsn("steward"))


def test_a_refused_run_changes_no_set(db: Database) -> None:
    kept, people = start(db)
    remembered = kept.remembered
    kept.fill({**people, 40: "gout"})
    with driver.refused("suppression_limit"):
        kept.release(suppression_limit=0)
    assert kept.remembered == remembered


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {c} SET count = count + 1",
        "DELETE FROM {c}",
        "INSERT INTO {c} SELECT max(group_id) + 1, 1 FROM {c}",
        "UPDATE {s} SET count = 2",
    ],
)
@pytest.mark.slow
def test_counterfeits_that_were_changed_are_seen(db: Database, change: str) -> None:
    """Rows and counterfeits of a group are as many as its values, and those are different."""
    kept, people = start(db)
    kept.release({n: people[n] for n in (0, 4, 6)})
    ((c,), (s,)) = (
        db.admin.execute(
            "SELECT (r ->> 'schema') || '.' || (r ->> 'name') FROM pganon_private.version AS v,"
            " jsonb_array_elements(v.relations) AS r WHERE v.version = 2 AND r ->> 'part' = %s",
            [part],
        ).fetchone()
        or ("",)
        for part in ("counterfeits", "st")
    )
    db.admin.execute(change.format(c=c, s=s))
    failing = {found.model for found in lifecycle.verify(db.owner(), "r_t") if not found.holds}
    assert failing & {"structure", "different"}


def test_a_memory_that_was_changed_is_not_believed(db: Database) -> None:
    kept, people = start(db)
    ((table,),) = db.admin.execute("SELECT person_table FROM pganon_private.value_sets").fetchall()
    db.admin.execute(f"UPDATE {table} SET value_set = gen_random_uuid()")
    with pytest.raises(LedgerError) as caught:
        kept.release(people)
    assert caught.value.code == "memory"


def waiting(kept: Kept) -> list[bool]:
    """Of every run that committed to newcomers, whether a version decided on them."""
    rows = kept.db.admin.execute(
        "SELECT finished_by IS NOT NULL FROM pganon_private.cohorts ORDER BY run_id"
    )
    return [done for (done,) in rows.fetchall()]


def people_of(kept: Kept) -> set[Person]:
    return {person for group in kept.versions[-1].values() for person in group.people}


@pytest.mark.slow
def test_waiting_for_other_values(db: Database) -> None:
    """Two newcomers are refused; were they released with the next two, who these are would say
    what all four have. They are tested alone, whoever comes and whatever the policy says then."""
    kept = Kept(db, l=2)
    people: dict[Person, Value] = {1: "a", 2: "b"}
    kept.release(people)
    kept.release(people)
    assert waiting(kept) == []  # nobody is new
    kept.fill(people | {3: "x", 4: "x"})
    with driver.refused("suppression_limit"):
        kept.release(suppression_limit=0)
    everybody = people | {3: "x", 4: "x", 5: "y", 6: "z"}
    kept.fill(everybody)
    with driver.refused("suppression_limit"):
        kept.release(suppression_limit=0.1)
    assert waiting(kept) == [False]
    kept.release()
    assert people_of(kept) == {1, 2}
    assert kept.results[-1].suppressed == 2
    assert kept.results[-1].warnings[0].startswith("2 newcomers wait for the next run")
    assert waiting(kept) == [True]
    kept.release()
    assert people_of(kept) == {1, 2, 5, 6}
    assert waiting(kept) == [True, True]
    kept.release(everybody | {7: "x"})
    assert people_of(kept) == {1, 2, 5, 6}  # those who were tested are not pooled with 7


@pytest.mark.slow
def test_a_table_with_another_name(db: Database) -> None:
    """The same rows are the same people, who keep their signatures."""
    kept = Kept(db, l=2)
    kept.release({1: "a", 2: "b", 3: "c", 4: "d"})
    db.connect("source_owner").execute("ALTER TABLE public.t RENAME TO u")
    kept.release(source="public.u", release="r_u")
    assert all(len(values) == 2 for values in candidates(kept).values())
    assert waiting(kept) == []


@pytest.mark.slow
def test_newcomers_of_whom_nobody_is_left(db: Database) -> None:
    """The source is that of the version before, and later newcomers do not wait for ever."""
    kept = Kept(db, l=2)
    people: dict[Person, Value] = {1: "a", 2: "b"}
    kept.release(people)
    kept.fill(people | {3: "x", 4: "x"})
    with driver.refused("suppression_limit"):
        kept.release(suppression_limit=0)
    kept.fill(people | {5: "y", 6: "z"})
    asked = driver.loaded(declared(l=2))
    assert run_release(asked, dsn=db.dsn("steward")).outcome == "unchanged"
    assert waiting(kept) == [True]
    assert run_release(asked, dsn=db.dsn("steward")).released == 4


@pytest.mark.slow
def test_newcomers_of_another_release(db: Database) -> None:
    """Whom one release committed to is nobody's companion in another."""
    kept = Kept(db, l=2)
    people: dict[Person, Value] = {1: "a", 2: "b"}
    kept.release(people)
    kept.fill(people | {3: "x", 4: "x"})
    with driver.refused("suppression_limit"):
        kept.release(suppression_limit=0)
    kept.release(people | {3: "x", 4: "x", 5: "y", 6: "z"}, release="r_other")
    assert people_of(kept) == {1, 2, 5, 6}
    kept.release()
    assert people_of(kept) == {1, 2, 5, 6}
    assert waiting(kept) == [True, True]


@pytest.mark.slow
def test_newcomers_of_a_run_that_was_killed(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = Kept(db, l=2)
    people: dict[Person, Value] = {1: "a", 2: "b"}
    kept.release(people)
    kept.fill(people | {3: "x", 4: "x"})

    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("before it was published")

    with monkeypatch.context() as patched:
        patched.setattr("pganon.run.pipeline.staged_release", fail)
        with pytest.raises(RuntimeError):
            kept.release()
    kept.release(people | {3: "x", 4: "x", 5: "y", 6: "y"})
    assert people_of(kept) == {1, 2}


def test_newcomers_whom_another_run_committed_to_meanwhile(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = Kept(db, l=2)
    people: dict[Person, Value] = {1: "a", 2: "b"}
    kept.release(people)
    kept.fill(people | {3: "x", 4: "x"})
    commit = Pipeline._committed

    def later(*args: Any) -> Any:
        monkeypatch.setattr("pganon.run.pipeline.Pipeline._committed", commit)
        with driver.refused("suppression_limit"):
            kept.release(suppression_limit=0)
        return commit(*args)

    monkeypatch.setattr("pganon.run.pipeline.Pipeline._committed", later)
    with driver.refused("population_moved"):
        kept.release(release="r_other")
    assert waiting(kept) == [False]
