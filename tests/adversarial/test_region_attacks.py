"""What groups that show their region tell of their people: where the cuts send them, no more."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pytest
from psycopg import sql

from pganon.publish import lifecycle
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.regional import check, groups, grown, part, run, source
from tests.support.oracles.regions import region_of
from tests.support.sources.regions import KINDS, SOURCE, of, people

pytestmark = pytest.mark.primary_server_only

NAMES = ("age", "job", "city", "zip", "born", "weight")
_OTHERS = "id, " + ", ".join(name for name in (*KINDS, "disease"))


def policy_of(table: str, **changes: Any) -> dict[str, Any]:
    return of(*NAMES, release=table, source=f"public.{table}", **changes)


def seen(conn: Connection, table: str) -> Counter[str]:
    """The quasi-identifiers of all rows, with how often they are there."""
    columns = [f"v.{c}" for name in NAMES for c in (name, f"{name}_null") if c != "job_null"]
    found = conn.execute(
        f"SELECT ROW({', '.join(columns)})::text FROM published.{table} AS v".encode()
    ).fetchall()
    return Counter(row for (row,) in found)


def shifted(db: Database, choose: dict[int, int]) -> None:
    """Table `b`: the people of `a`, newcomers with the quasi-identifiers of others in their region;
    none has an own value less or more than those show."""
    pairs = ", ".join(f"({old}, {new})" for old, new in choose.items())
    values = ", ".join(f"o.{name}" for name in KINDS)
    db.source(
        f"INSERT INTO public.b ({_OTHERS}) SELECT n.id, {values}, n.disease"
        f" FROM (VALUES {pairs}) AS x (old, new) JOIN public.a AS n ON n.id = x.old"
        " JOIN public.person AS o ON o.id = x.new",
        grant=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("ranges", ["region", "tight"])
def test_other_values_in_the_region_look_the_same(db: Database, ranges: str) -> None:
    """Two sources that differ in quasi-identifiers of newcomers inside their regions alone."""
    db.source(SOURCE)
    db.source("CREATE TABLE public.a (LIKE public.person INCLUDING ALL);"
              "CREATE TABLE public.b (LIKE public.person INCLUDING ALL);"
              "INSERT INTO public.a SELECT * FROM public.people(1, 300, 1);"
              "INSERT INTO public.b SELECT * FROM public.people(1, 300, 1)")  # fmt: skip
    db.source("UPDATE public.b SET disease = 'gout' WHERE id = 1", grant=False)  # other people
    run(db, policy_of("a", ranges=ranges))
    conn = db.owner()
    cuts = part(conn, "cuts")
    run(db, policy_of("b", ranges=ranges))
    assert seen(conn, "a") == seen(conn, "b")
    db.source("INSERT INTO public.a SELECT * FROM public.people(1001, 1200, 2);"
              + people(2001, 6000, 3), grant=False)  # fmt: skip
    pool = defaultdict(list)
    kinds = {name: KINDS[name] for name in NAMES}
    for person, row in source(conn).items():
        pool[region_of(kinds, cuts, row)].append(person)
    newcomers = driver.fetch(conn, sql.SQL("SELECT * FROM public.a WHERE id > 1000"))
    shifted(db, {row["id"]: pool[region_of(kinds, cuts, row)].pop() for row in newcomers})
    for table in ("a", "b"):
        assert run(db, policy_of(table, ranges=ranges)).added.released > 100
    assert (seen(conn, "a") == seen(conn, "b")) == (ranges == "region")


class Stopped(Exception):
    pass


def _crash(db: Database, policy: dict[str, Any]) -> None:
    def stop(phase: str, step: str, purpose: str) -> None:
        if phase == "partition":
            raise Stopped

    with pytest.raises(Stopped):
        run_release(driver.loaded(policy), dsn=db.dsn("steward"), options=Options(on_step=stop))


@pytest.mark.parametrize("ranges", ["region", "tight"])
@pytest.mark.slow
def test_who_left_the_region_of_a_cohort(db: Database, ranges: str) -> None:
    """A run that was stopped had kept the cohorts of two regions. Who looks like people of the
    other one since, when another run finishes them, is as somebody who left: in no group, ever."""
    policy = of("age", ranges=ranges)
    grown(db, policy)
    db.source(people(1001, 1100, 2), grant=False)
    _crash(db, policy)
    kinds = {"age": KINDS["age"]}
    conn = db.owner()
    cuts = part(conn, "cuts")
    before = source(conn)
    of_person = {n: region_of(kinds, cuts, row) for n, row in before.items() if n > 1000}
    size = Counter(of_person.values())
    one, other = [region for region, n in size.most_common() if n > 4][:2]
    moved = next(n for n, region in of_person.items() if region == one)
    like = next(n for n, region in of_person.items() if region == other)
    db.source(
        f"UPDATE public.person SET age = (SELECT age FROM public.person WHERE id = {like})"
        f" WHERE id = {moved}",
        grant=False,
    )
    result = run(db, policy)
    assert result.added.released == sum(n for n in size.values() if n >= 4) - 1
    assert result.added.newcomers == result.added.waiting == sum(n for n in size.values() if n < 4)
    assert moved not in groups(conn)
    if ranges == "region":
        check(conn, policy, range(1, 301))
    later = run(db, policy)
    assert moved not in groups(conn)
    assert later.added.newcomers == sum(n for n in size.values() if n < 4)
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))


def test_cohorts_of_which_no_region_is_known(db: Database) -> None:
    """Those that were formed without regions are finished as they are."""
    policy = of("age", ranges="tight")
    grown(db, policy)
    db.source(people(1001, 1100, 2), grant=False)
    _crash(db, of("age", ranges="tight", regions="none"))
    conn = db.owner()
    result = run(db, policy)
    assert result.added.released == result.added.tested > 50
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))


def test_one_cohort_that_is_finished_later(db: Database) -> None:
    """Its group shows the region that it was formed in."""
    policy = of("age")
    grown(db, policy)
    db.source(people(1001, 1005, 2), grant=False)
    db.source("UPDATE public.person SET age = 1000 WHERE id > 1000", grant=False)
    _crash(db, policy)
    result = run(db, policy)
    assert (result.added.cohorts, result.added.released) == (1, 5)
    check(db.owner(), policy, range(1, 301))


def test_nobody_else_reads_regions(db: Database) -> None:
    policy = of("age", "city", publish={"readers": ["analyst"]})
    grown(db, policy)
    assert db.connect("analyst").execute("SELECT count(*) FROM published.people").fetchone() == (
        300,
    )
    allowed = db.owner().execute(
        "SELECT c.relname, has_table_privilege('analyst', c.oid, 'SELECT') FROM pg_class AS c"
        " WHERE c.relname ~ '^r[0-9]+_(bounds|regions|cuts)$'"
    )
    assert [may for _, may in allowed.fetchall()] == [False] * 3
