"""Releases that grow, of which somebody left: with `leavers: withdraw` their groups go for good."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from pganon.plan.explain import explain
from pganon.publish import lifecycle, listing
from pganon.run.context import plan_release
from pganon.run.record import Added
from tests.integration.history.increments.test_increments import growing_policy, run
from tests.support.harness import driver, faults, plans, queue
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.growing import (
    POLICY,
    SOURCE,
    add,
    add_diseases,
    diverse,
    grow,
    rows,
    shown,
)

WITHDRAW: dict[str, Any] = {"leavers": "withdraw"}


@pytest.fixture
def people(db: Database) -> Database:
    db.source(SOURCE)
    add(db, 1, 30)
    return db


def leave(db: Database, *keys: int) -> None:
    db.source(f"DELETE FROM public.person WHERE id IN ({', '.join(map(str, keys))})", grant=False)


def group_of(conn: Connection) -> dict[int, int]:
    """The group of every person who was ever released."""
    digest = "encode(substr(sha256(o.secret || convert_to(p.id::text, 'UTF8')), 1, 16), 'hex')"
    tables = conn.execute(
        "SELECT DISTINCT r ->> 'name' FROM pganon_private.version AS v,"
        " jsonb_array_elements(v.relations) AS r WHERE r ->> 'part' = 'members'"
    ).fetchall()
    found: dict[int, int] = {}
    for (name,) in tables:
        text = (
            "SELECT p.id, m.class_id FROM generate_series(1, 200) AS p(id)"
            f" CROSS JOIN pganon_private.population AS o JOIN pganon_private.{name} AS m"
            f" ON m.member = {digest}::uuid WHERE m.marks IS NOT NULL"
        )
        found |= dict(conn.execute(text.encode()).fetchall())
    return found


def numbers(conn: Connection, view: str = "published.people") -> set[int]:
    found = conn.execute(f"SELECT DISTINCT class_id FROM {view}".encode()).fetchall()
    return {number for (number,) in found}


def holds(db: Database) -> bool:
    return all(finding.holds for finding in lifecycle.verify(db.owner(), "people"))


def told(added: Added | None) -> tuple[int, int, int, int]:
    assert added is not None
    return (
        added.left,
        added.withdrawn_groups,
        added.withdrawn_people,
        added.withdrawn_records,
    )


@pytest.mark.slow
def test_groups_go_with_who_left(people: Database) -> None:
    """Where nobody is new, too; in every view, and for good."""
    assert told(grow(people, **WITHDRAW).added) == (0, 0, 0, 0)
    conn = people.owner()
    where, before = group_of(conn), shown(conn)
    leave(people, 4, 17)
    gone = {where[4], where[17]}
    with_them = [person for person, group in where.items() if group in gone]
    result = grow(people, **WITHDRAW)
    assert (result.outcome, result.version, result.suppressed) == ("released", 2, 0)
    assert told(result.added) == (2, len(gone), len(with_them), len(with_them))
    assert (result.records, result.released) == (28, 30 - len(with_them))
    after = shown(conn)
    assert after == {row for row in before if int(row[0]) not in gone}
    assert numbers(conn, "published.people_flat") == numbers(conn) == set(where.values()) - gone
    assert holds(people)
    assert result.utility is not None
    again = grow(people, **WITHDRAW)
    assert (again.outcome, told(again.added)) == ("unchanged", (0, 0, 0, 0))
    assert again.released == result.released


@pytest.mark.slow
def test_who_was_withdrawn_never_returns(people: Database) -> None:
    """Nor do those who went with them; newcomers have other groups."""
    grow(people, **WITHDRAW)
    conn = people.owner()
    where = group_of(conn)
    people.source(
        "CREATE TABLE public.gone AS SELECT * FROM public.person WHERE id = 4", grant=False
    )
    leave(people, 4)
    grow(people, **WITHDRAW)
    people.source("INSERT INTO public.person SELECT * FROM public.gone", grant=False)
    add(people, 31, 40)
    third = grow(people, **WITHDRAW)
    assert (third.version, third.added and third.added.newcomers) == (3, 10)
    assert where[4] not in numbers(conn)
    assert len(rows(conn)) == third.released
    later = group_of(conn)
    assert {later[person] for person in range(31, 41)} <= numbers(conn)
    assert {person: later[person] for person in where} == where
    kept = grow(people)  # the policy does not withdraw any more; what went stays away
    assert kept.outcome == "unchanged"
    leave(people, 31)
    kept = grow(people)
    assert (kept.outcome, told(kept.added)) == ("unchanged", (1, 0, 0, 0))
    add(people, 41, 50)
    assert grow(people).version == 4
    assert where[4] not in numbers(conn)
    assert later[31] in numbers(conn)
    assert holds(people)


@pytest.mark.slow
def test_newcomers_and_leavers_in_one_version(people: Database) -> None:
    grow(people, **WITHDRAW)
    conn = people.owner()
    where = group_of(conn)
    leave(people, 8)
    add(people, 31, 40)
    second = grow(people, **WITHDRAW)
    size = sum(group == where[8] for group in where.values())
    assert (second.version, second.released) == (2, 40 - size)
    assert told(second.added) == (1, 1, size, size)
    assert len(rows(conn)) == second.released
    assert holds(people)


@pytest.mark.slow
def test_versions_before_stay_as_they_were(people: Database) -> None:
    """A rollback shows the groups again; what comes later is without them."""
    publish = {"readers": ["analyst"], "keep": 2}
    grow(people, **WITHDRAW, publish=publish)
    conn = people.owner()
    where, first = group_of(conn), shown(conn)
    leave(people, 4)
    grow(people, **WITHDRAW, publish=publish)
    second = shown(conn)
    lifecycle.show_earlier(conn, "people")
    assert shown(conn) == first
    assert holds(people)
    assert grow(people, **WITHDRAW, publish=publish).outcome == "unchanged"
    assert shown(conn) == first
    add(people, 31, 40)
    grow(people, **WITHDRAW, publish=publish)
    assert shown(conn) > second
    assert where[4] not in numbers(conn)
    lists = conn.execute(
        "SELECT count(*) FROM pg_class WHERE relname ~ '^r[0-9]+_withdrawn$'"
    ).fetchone()
    assert lists == (1,)  # both versions share it
    free = 4
    for _ in range(2):
        free = next(p for p, group in group_of(conn).items() if group in numbers(conn))
        leave(people, free)
        grow(people, **WITHDRAW, publish=publish)
    stored = [v.stored for v in listing.show(conn, "people").versions or ()]
    assert stored == [True, True, False, False, False]
    copies = conn.execute(
        "SELECT count(*) FROM pg_class WHERE relname ~ '^r[0-9]+_standing_r1_records$'"
    ).fetchone()
    assert copies == (2,)  # one for each that is stored
    assert not {where[4], group_of(conn)[free]} & numbers(conn)
    assert holds(people)


@pytest.mark.slow
def test_who_is_excluded_left(people: Database) -> None:
    people.source(
        "CREATE TABLE public.objections (id integer); GRANT SELECT ON public.objections TO steward",
        grant=False,
    )
    changes: dict[str, Any] = {**WITHDRAW, "exclude": {"relation": "public.objections"}}
    grow(people, **changes)
    conn = people.owner()
    where = group_of(conn)
    people.source("INSERT INTO public.objections VALUES (12)", grant=False)
    assert told(grow(people, **changes).added)[:2] == (1, 1)
    assert where[12] not in numbers(conn)


@pytest.mark.slow
def test_a_version_that_was_made_at_once(people: Database) -> None:
    grow(people, refresh="recompute")
    conn = people.owner()
    where = group_of(conn)
    leave(people, 4)
    result = grow(people, **WITHDRAW)
    assert (result.version, told(result.added)[:2]) == (2, (1, 1))
    assert numbers(conn) == set(where.values()) - {where[4]}
    assert holds(people)


@pytest.mark.slow
def test_a_dry_run_withdraws_nothing(people: Database) -> None:
    grow(people, **WITHDRAW)
    conn = people.owner()
    before = shown(conn)
    leave(people, 4)
    looked = grow(people, dry_run=True, **WITHDRAW)
    assert told(looked.added)[:2] == (1, 1)
    assert looked.released == 30 - told(looked.added)[3]
    assert shown(conn) == before


@pytest.mark.slow
def test_keys_that_were_made_anew(people: Database) -> None:
    """Everybody seems to have left."""
    grow(people, **WITHDRAW)
    conn = people.owner()
    before = shown(conn)
    people.source("UPDATE public.person SET id = id + 100", grant=False)
    with driver.refused("keys_changed"):
        grow(people, **WITHDRAW)
    with driver.refused("nobody_left"):
        grow(people, **WITHDRAW, population={"renewed": True})
    people.source("TRUNCATE public.person", grant=False)
    with driver.refused("nobody_left"):
        grow(people, **WITHDRAW)
    assert shown(conn) == before


@pytest.mark.slow
def test_a_cohort_that_fails_holds_nobody_back(people: Database) -> None:
    """Otherwise who left would be shown for as long as newcomers are refused."""
    grow(people, **WITHDRAW)
    conn = people.owner()
    where = group_of(conn)
    add_diseases(people, 31, "flu", "flu", "flu")
    leave(people, 4)
    result = grow(people, **WITHDRAW)
    assert (result.version, result.added and result.added.withdrawn_groups) == (2, 1)
    assert "nobody was added" in result.warnings[0]
    assert where[4] not in numbers(conn)
    with driver.refused("infeasible"):
        grow(people, **WITHDRAW)  # the cohort is as it was
    assert grow(people, **WITHDRAW, privacy=POLICY["privacy"][:1]).released == result.released + 3
    assert holds(people)


def counted(conn: Connection, view: str, column: str) -> dict[int, int]:
    text = f"SELECT {column}, count(*) FROM {view} GROUP BY 1"
    return dict(conn.execute(text.encode()).fetchall())


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        "anatomy",
        *[
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("slicing", "slamsa", "qs_greedy", "danonyir", "geneir")
        ],
    ],
)
def test_every_form(db: Database, method: str) -> None:
    """In all views of the release."""
    db.source(plans.SOURCE)
    policy = growing_policy(method)
    policy = driver.loaded({**policy.policy.document(), **WITHDRAW})
    first = run(db, policy)
    conn = db.owner()
    views = listing.show(conn, "visits").views
    names = {"class_id", "group_id", "cluster_no"}
    columns = listing.show(conn, "visits").columns
    numbered = {c["view"]: c["name"] for c in columns if c["name"] in names}
    assert set(numbered) == set(views)
    before = {view: counted(conn, view, numbered[view]) for view in views}
    promised = listing.show(conn, "visits").guarantee
    reserved = method in ("danonyir", "geneir")  # there a person is who has these records
    db.source(
        f"DELETE FROM public.visit WHERE {'person' if reserved else 'id::text'} = "
        f"'{'p7' if reserved else 14}'",
        grant=False,
    )
    second = run(db, policy)
    left, groups, together, records = told(second.added)
    assert (left, groups) == (1, 1)
    assert together > 1
    assert reserved or records == together
    assert second.released == first.released - records
    assert listing.show(conn, "visits").guarantee == promised
    after = {view: counted(conn, view, numbered[view]) for view in views}
    gone = set(before[views[0]]) - set(after[views[0]])
    assert len(gone) == 1
    for view in views:
        assert after[view] == {g: n for g, n in before[view].items() if g not in gone}
    assert [f for f in lifecycle.verify(conn, "visits") if not f.holds] == []


def test_several_partitions(db: Database) -> None:
    """A person has a group in each; there is none to go as a whole."""
    db.source(plans.SOURCE)
    policy = driver.loaded({**growing_policy("sloms").policy.document(), **WITHDRAW})
    with driver.refused("partitions"):
        run(db, policy)


@pytest.mark.slow
def test_approved_by_a_second_person(people: Database) -> None:
    """Of a version that grows, what is approved is the tables of earlier versions, too."""
    by: dict[str, Any] = {"publish": {"readers": ["analyst"], "approval": {"by": ["source_owner"]}}}
    conn, approver = people.owner(), people.connect("source_owner")

    def agreed() -> None:
        asked = grow(people, **WITHDRAW, **by)
        assert asked.outcome == "awaiting_approval"
        approver.execute("SELECT pganon.approve_release(%s, 'looked at it')", [asked.request])
        queue.serve(people)

    agreed()
    where = group_of(conn)
    assert numbers(conn) == set(where.values())
    leave(people, 4)
    agreed()
    assert numbers(conn) == set(where.values()) - {where[4]}
    add(people, 31, 40)
    agreed()
    assert len(group_of(conn)) == 40
    assert set(group_of(conn).values()) - numbers(conn) == {where[4]}
    assert holds(people)


@pytest.mark.slow
def test_what_was_approved_and_changed(people: Database) -> None:
    """A stored table that the version would go on showing."""
    by: dict[str, Any] = {"publish": {"readers": ["analyst"], "approval": {"by": ["source_owner"]}}}
    grow(people, **WITHDRAW)
    conn = people.owner()
    before = shown(conn)
    leave(people, 4)
    asked = grow(people, **WITHDRAW, **by)
    (table,) = conn.execute(
        "SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_records$'"
    ).fetchone() or ("",)
    conn.execute(f"UPDATE pganon_data.{table} SET disease = 'cold'".encode())
    approver = people.connect("source_owner")
    approver.execute("SELECT pganon.approve_release(%s, 'looked at it')", [asked.request])
    queue.serve(people)
    versions = conn.execute("SELECT count(*) FROM pganon_private.version").fetchone()
    assert versions == (1,)
    assert len(shown(conn)) <= len(before)


def test_nobody_else_reads_who_went(people: Database) -> None:
    conn = people.owner()
    grow(people, **WITHDRAW)
    conn.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO analyst")
    leave(people, 4)
    grow(people, **WITHDRAW)
    assert faults.exposed(conn) == []
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        people.connect("analyst").execute("SELECT * FROM pganon_private.r2_withdrawn")


def test_the_plan_of_a_release_that_lost_people(people: Database) -> None:
    """Steps that find out who left, and nothing that depends on it."""
    grow(people, **WITHDRAW)
    leave(people, 4)
    plan = plan_release(driver.loaded({**POLICY, **WITHDRAW}), dsn=people.dsn())
    names = [step.step for step in explain(plan)]
    assert names.index("leaving") < names.index("stale") < names.index("commit")
    assert "withdrawn" not in names


@pytest.mark.slow
def test_promises_stay_those_of_the_groups(people: Database) -> None:
    """A stronger policy says nothing of groups that were there before."""
    grow(people, **WITHDRAW)
    conn = people.owner()
    promised = listing.show(conn, "people").guarantee
    leave(people, 4)
    grow(people, **WITHDRAW, privacy=diverse(5, 3))
    assert listing.show(conn, "people").guarantee == promised
    found = {f.model: f.parameter for f in lifecycle.verify(conn, "people")}
    assert found["k_anonymity"] == 3
