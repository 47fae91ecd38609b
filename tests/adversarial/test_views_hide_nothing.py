"""Attack: a reader's own conditions see rows that a published view leaves out.

The server may evaluate a reader's functions, casts and divisions before any condition of a view,
and what it expects of a query tells what its tables hold. So views read tables that hold what is
shown and nothing else: in every form, method and history.
"""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from psycopg import sql

from pganon.publish import lifecycle
from tests.integration.history.increments.test_increments import growing_policy, more_visits
from tests.support.harness import driver, faults, leaks, plans, regional
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import conformance, regions
from tests.support.sources.growing import SOURCE, add, grow
from tests.support.sources.invariant import Kept

pytestmark = pytest.mark.primary_server_only
every_method = pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=[] if method in conformance.FIRST else pytest.mark.slow)
        for method in conformance.METHODS
    ],
)
growing_method = pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=[] if method == "anatomy" else pytest.mark.slow)
        for method in conformance.GROWING
    ],
)
PUBLISH = {"readers": ["analyst"], "keep": 6}


def run(db: Database, declared: dict[str, Any]) -> Any:
    return faults.run(db.dsn(), driver.loaded(declared), force=False)


def test_statistics_of_what_is_gone_are_found(db: Database) -> None:
    """By the search for them, which finds nothing in the tests below."""
    db.admin.execute(
        "CREATE SCHEMA published; GRANT USAGE ON SCHEMA published TO analyst;"
        " CREATE TABLE public.kept AS SELECT n % 4 AS x FROM generate_series(1, 400) AS n;"
        " ALTER TABLE public.kept SET (autovacuum_enabled = false);"
        " CREATE VIEW published.v AS SELECT x FROM public.kept;"
        " GRANT SELECT ON published.v TO analyst; ANALYZE public.kept"
    )
    db.admin.execute("DELETE FROM public.kept WHERE x = 3")
    gone = {('"published"."v"', "x"): {"3"}}
    assert leaks.expected(db, gone) == ['"published"."v": 100 rows of x 3, 1']
    db.admin.execute("ANALYZE public.kept")
    assert leaks.expected(db, gone) == []


AGAIN = """
INSERT INTO public.visit
SELECT id + 1000, 'p' || (id + 1000) / 2, age, zip, disease, drug, cost
FROM public.visit WHERE id > 61
"""
SHOWN = """
SELECT min(v.{key})::text FROM public.visit AS v CROSS JOIN pganon_private.population AS o
JOIN pganon_private.{members} AS m
    ON replace(m.member::text, '-', '')
        = encode(substr(sha256(o.secret || convert_to(v.{key}::text, 'UTF8')), 1, 16), 'hex')
WHERE m.{number} IN (SELECT s.{number} FROM published.visits AS s)
"""


def groups_of_one(method: str) -> bool:
    """Whether everybody is in one group, which can be withdrawn as a whole."""
    return method != "sloms" and conformance.family(method) != "local"


def leave(db: Database, key: str, number: str | None, place: int) -> None:
    """Somebody of groups that are shown goes.

    Args:
        key: the column that tells people apart; `number`: that with the number of a group.
        place: of the groups of the oldest (0) or newest (-1) increment that has any.
    """
    tables = db.admin.execute(
        "SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_members$' ORDER BY oid"
    ).fetchall()
    people = ["7"]
    if number is not None:
        texts = [SHOWN.format(members=name, key=key, number=number) for (name,) in tables]
        people = [row[0] for text in texts for row in db.admin.execute(text.encode()) if row[0]]
    db.source(f"DELETE FROM public.visit WHERE {key}::text = '{people[place]}'", grant=False)


@every_method
def test_one_version(db: Database, method: str) -> None:
    db.source(plans.SOURCE)
    run(db, {**conformance.document(method), "publish": {"readers": ["analyst"]}})
    assert leaks.views(db.admin)
    assert leaks.hidden(db) == []


@growing_method
@pytest.mark.slow
def test_people_come_leave_and_are_forgotten(db: Database, method: str) -> None:
    """Of a method with several groups of a person, groups stay when somebody leaves."""
    db.source(plans.SOURCE)
    declared = growing_policy(method).policy.document() | {"publish": PUBLISH}
    withdraws = groups_of_one(method)
    declared["leavers"] = "withdraw" if withdraws else "keep"
    if not withdraws:
        with driver.refused("partitions"):
            run(db, {**declared, "leavers": "withdraw"})
    run(db, declared)
    conn, ever = db.owner(), leaks.values(db.admin)
    key = "person" if conformance.family(method) == "individuals" else "id"
    (number,) = {"class_id", "group_id", "cluster_no"} & {
        c for v, c in ever if v.endswith('"visits"')
    }

    def left(place: int) -> None:
        leave(db, key, number if withdraws else None, place)

    def came() -> None:
        more_visits(db, "20 + n % 9", diseases=6)

    def both() -> None:
        db.source(AGAIN, grant=False)
        left(-1)

    def forgotten() -> None:
        db.source("CREATE TABLE public.away AS SELECT * FROM public.visit WHERE person = 'p530'")
        done = pganon("forget", "visits", "--people", "public.away", "--dsn", db.dsn())
        assert done.code == 0, done.err
        left(0)

    happened = (came, lambda: left(0), both, forgotten)
    for version, act in enumerate(happened, start=2):
        act()
        result = run(db, declared)
        if withdraws:
            gone = result.added.withdrawn_groups > 0
            assert (result.version, gone) == (version, version > 2)
        assert leaks.hidden(db) == []
        shown = leaks.values(db.admin)
        assert leaks.expected(db, {key: ever[key] - shown[key] for key in ever}) == []
        assert [found for found in lifecycle.verify(conn, "visits") if not found.holds] == []
        ever = {key: ever[key] | shown[key] for key in ever}
    for version in (1, 2):
        lifecycle.show_earlier(conn, "visits", version)
        assert leaks.hidden(db) == []


@pytest.mark.slow
@pytest.mark.parametrize("kept", [{}, {"columns": ("s", "u")}], ids=["anatomy", "slamsa"])
def test_people_keep_their_values(db: Database, kept: dict[str, Any]) -> None:
    """`refresh: invariant`: people come and leave, and values that nobody has take their place."""
    several = bool(kept)
    kept_of = Kept(db, **kept)

    def people(*numbers: int) -> dict[int, Any]:
        return {n: ("abc"[n % 3], "xyz"[n % 3]) if several else "abc"[n % 3] for n in numbers}

    ever: leaks.Shown = {}
    counterfeits = 0
    for numbers in (range(1, 13), range(1, 25), range(4, 25), range(9, 30), (9, 10, 14, 30, 31)):
        kept_of.release(people(*numbers), publish=PUBLISH, republication="refuse")
        counterfeits += sum(group.counterfeits for group in kept_of.versions[-1].values())
        assert leaks.views(db.admin)
        assert leaks.hidden(db) == []
        shown = leaks.values(db.admin)
        assert (
            leaks.expected(db, {key: old - shown.get(key, set()) for key, old in ever.items()})
            == []
        )
        ever = {key: ever.get(key, set()) | values for key, values in shown.items()} | {
            key: old for key, old in ever.items() if key not in shown
        }
    assert counterfeits > 0
    for version in (1, 3):
        lifecycle.show_earlier(db.owner(), kept_of.declared()["release"], version)
        assert leaks.hidden(db) == []


@pytest.mark.slow
@pytest.mark.parametrize("leavers", ["keep", "withdraw"])
def test_groups_show_their_regions(db: Database, leavers: str) -> None:
    """`ranges: region`: newcomers of a region show what the first people of it showed."""
    declared = {**regions.of("age", "city", "weight"), "publish": PUBLISH, "leavers": leavers}
    regional.grown(db, declared)
    ever = leaks.values(db.admin)
    withdrawn = 0
    for number, change in enumerate(
        (
            regions.people(1001, 1400, 2),
            "DELETE FROM public.person WHERE id % 50 = 7",
            f"{regions.people(2001, 2300, 3)}; DELETE FROM public.person WHERE id = 1100",
        ),
        start=2,
    ):
        db.source(change, grant=False)
        result = regional.run(db, declared)
        withdrawn += result.added.withdrawn_groups if result.added else 0
        assert leaks.hidden(db) == []
        shown = leaks.values(db.admin)
        assert leaks.expected(db, {key: ever[key] - shown[key] for key in ever}) == []
        ever = {key: ever[key] | shown[key] for key in ever}
        assert all(found.holds for found in lifecycle.verify(db.owner(), "people")), number
    assert (withdrawn > 0) == (leavers == "withdraw")
    lifecycle.show_earlier(db.owner(), "people", 1)
    assert leaks.hidden(db) == []


RARE = "UPDATE public.person SET disease = 'gout', age = 33 WHERE id = 4"
ASKED = (
    "SELECT disease IN ('flu', 'cold', 'HIV') OR disease::int = 1 FROM published.people",
    "SELECT CASE WHEN disease IN ('flu', 'cold', 'HIV') THEN 1 ELSE disease::int END FROM"
    " published.people",
    "SELECT FROM published.people WHERE 1 / (disease <> 'gout')::int = 1",
    "SELECT FROM published.people WHERE 1 / (not age @> 33.0 or disease <> 'gout')::int = 1",
)
"""Each fails on the row of who has left."""


def test_casts_divisions_and_plans(db: Database) -> None:
    db.source(SOURCE)
    add(db, 1, 30)
    db.source(RARE, grant=False)
    grow(db, leavers="withdraw")
    reader, (view, *_) = db.connect("analyst"), leaks.views(db.admin)
    for text in ASKED[1:]:
        with pytest.raises(psycopg.DataError):
            reader.execute(text.encode())
    db.source("DELETE FROM public.person WHERE id = 4", grant=False)
    grow(db, leavers="withdraw")
    for text in ASKED:
        reader.execute(text.encode())
    number, never = (leaks.expected_rows(reader, view, "disease", v) for v in ("gout", "none"))
    assert number == never
    assert leaks.hidden(db) == []


@pytest.mark.slow
def test_rows_that_stand_are_measured(db: Database) -> None:
    """Verification knows which there should be, whatever the fingerprint says."""
    db.source(SOURCE)
    add(db, 1, 30)
    first = grow(db, leavers="withdraw").run_id
    db.source("DELETE FROM public.person WHERE id = 4", grant=False)
    second = grow(db, leavers="withdraw").run_id
    conn = db.owner()
    assert all(found.holds for found in lifecycle.verify(conn, "people"))
    stored = ("r{1}_standing_r{0}_records", "r{0}_records", "r{1}_withdrawn")
    tables = [f"pganon_data.{name.format(first, second)}" for name in stored]
    tables[2] = tables[2].replace("data", "private")
    for change in (
        "DELETE FROM {0} WHERE ctid = (SELECT min(ctid) FROM {0})",
        "INSERT INTO {0} SELECT * FROM {0} LIMIT 1",
        "UPDATE {0} SET disease = disease || 'x' WHERE ctid = (SELECT min(ctid) FROM {0})",
        "INSERT INTO {0} SELECT * FROM {1} WHERE class_id IN (TABLE {2}) LIMIT 1",
    ):
        with conn.transaction(force_rollback=True):
            text = change.format(*tables)
            assert conn.execute(text.encode()).rowcount == 1
            found = {f.model: f.holds for f in lifecycle.verify(conn, "people")}
            assert (found["standing"], found["structure"]) == (False, True), change


EARLIER = """
UPDATE pganon_private.version AS v SET
    relations = (
        SELECT jsonb_agg(
            CASE WHEN r.item ->> 'part' = 'withdrawn'
                THEN jsonb_set(r.item, '{schema}', '"pganon_data"') ELSE r.item END ORDER BY r.place
        )
        FROM jsonb_array_elements(v.relations) WITH ORDINALITY AS r(item, place)
        WHERE NOT starts_with(r.item ->> 'part', 'standing_')
    ),
    checks = (
        SELECT jsonb_agg(c.item ORDER BY c.place)
        FROM jsonb_array_elements(v.checks) WITH ORDINALITY AS c(item, place)
        WHERE c.item ->> 'model' <> 'standing'
    ),
    increments = regexp_replace(
        v.increments::text, 'r[0-9]+_standing_(r[0-9]+_[a-z]+)', '\\1', 'g'
    )::jsonb,
    views = (
        SELECT jsonb_agg(jsonb_set(w.item, '{select}', to_jsonb(format(
            'SELECT v.* FROM (%s) AS v WHERE NOT EXISTS'
            ' (SELECT FROM pganon_data.RUN_withdrawn AS w WHERE w.number = v.class_id)',
            regexp_replace(w.item ->> 'select', 'r[0-9]+_standing_(r[0-9]+_[a-z]+)', '\\1', 'g')
        ))) ORDER BY w.place)
        FROM jsonb_array_elements(v.views) WITH ORDINALITY AS w(item, place)
    )
WHERE v.version = 2
"""
PRINTED = """
UPDATE pganon_private.version AS v SET fingerprint = pganon.fingerprint(v.run_id, ARRAY(
    SELECT format('%I.%I', r.item ->> 'schema', r.item ->> 'name')::regclass
    FROM jsonb_array_elements(v.relations) WITH ORDINALITY AS r(item, place) ORDER BY r.place
)) WHERE v.version = 2
"""


@pytest.mark.slow
def test_withdrawn_groups_of_an_earlier_pganon_are_never_shown(db: Database) -> None:
    """Its views left them out of tables that have them still, so that nothing is a copy."""
    db.source(SOURCE)
    add(db, 1, 30)
    grow(db, leavers="withdraw", publish=PUBLISH)
    db.source("DELETE FROM public.person WHERE id = 4", grant=False)
    second = grow(db, leavers="withdraw", publish=PUBLISH)
    assert second.added is not None
    assert second.added.withdrawn_groups == 1
    conn = db.owner()
    before = leaks.values(db.admin)
    db.admin.execute(
        sql.SQL("ALTER TABLE pganon_private.{} SET SCHEMA pganon_data").format(
            sql.Identifier(f"r{second.run_id}_withdrawn")
        )
    )
    for text in (EARLIER, PRINTED):
        assert db.admin.execute(text.replace("RUN", f"r{second.run_id}").encode()).rowcount == 1
    for view in leaks.views(db.admin):
        db.admin.execute(sql.SQL("DROP VIEW {}").format(view))
    for version in (1, 2):  # whose views are made anew
        lifecycle.show_earlier(conn, "people", version)
    assert leaks.values(db.admin) == before
    assert leaks.hidden(db) != []
    found = {one.model: one.holds for one in lifecycle.verify(conn, "people")}
    assert (found["standing"], found["fingerprint"], found["structure"]) == (False, True, True)
    add(db, 31, 60)
    for change in ("SELECT", "DELETE FROM public.person WHERE id = 9"):
        db.source(change, grant=False)
        with driver.refused("not_stored") as caught:
            grow(db, leavers="withdraw", publish=PUBLISH)
        assert "an earlier pganon" in caught[0].message
        assert leaks.values(db.admin) == before
    again = grow(db, refresh="recompute", republication="allow", publish=PUBLISH)
    assert again.version == 3
    assert leaks.hidden(db) == []
