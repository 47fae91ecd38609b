"""Regions: the cuts of a first version divide those who come later."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from psycopg import sql

from pganon import database
from pganon.history.increments.steps import UNPLACED
from pganon.plan.build import build_plan
from pganon.publish import lifecycle, release_state
from pganon.publish.people import growth_of
from pganon.run.computation import Computation
from pganon.run.context import resolve_policy
from pganon.run.options import Options, advise_planner
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database

SOURCE = """
CREATE TYPE public.grade AS ENUM ('low', 'middle', 'high');
CREATE TABLE public.person (
    id integer PRIMARY KEY, age integer, born date, pain text, grade public.grade, job text,
    city text, income numeric, zip text, disease text
);
CREATE FUNCTION public.people(first integer, last integer, seed integer)
RETURNS SETOF public.person LANGUAGE sql AS $$
    SELECT n, CASE WHEN h[1] % 9 > 0 THEN h[1] % 70 END,
        CASE WHEN h[2] % 9 > 0 THEN date '1950-01-01' + h[2] % 20000 END,
        (ARRAY['none', 'mild', 'bad'])[1 + h[3] % 3],
        CASE WHEN h[4] % 9 > 0
            THEN (ARRAY['low', 'middle', 'high'])[1 + h[4] % 3]::public.grade END,
        (ARRAY['cook', 'nurse', 'clerk', 'baker', NULL])[1 + h[5] % 5],
        (ARRAY['Rome', 'Oslo', 'Bern', 'Kyiv', NULL])[1 + h[6] % 5],
        CASE WHEN h[7] % 7 > 0 THEN h[7] % 1000 / 10.0 END,
        CASE WHEN h[8] % 5 > 0 THEN (10000 + h[8] % 90000)::text END,
        (ARRAY['flu', 'cold', 'HIV'])[1 + h[9] % 3]
    FROM generate_series(first, last) AS n
    CROSS JOIN LATERAL (
        SELECT array_agg(abs(hashint4(n * 31 + i * 7919 + seed) % 1000000) ORDER BY i) AS h
        FROM generate_series(1, 9) AS i
    ) AS r
$$;
"""
CITIES = {"any": {"south": ["Rome", "Bern"], "north": ["Oslo", "Kyiv"]}}
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi_identifying"},
    "born": {"role": "quasi_identifying", "hierarchy": {"date": ["month", "year", "decade"]}},
    "pain": {"role": "quasi_identifying", "type": "ordinal", "order": ["none", "mild", "bad"]},
    "grade": {"role": "quasi_identifying", "type": "ordinal"},
    "job": {"role": "quasi_identifying", "nulls": "own_class"},
    "city": {"role": "quasi_identifying", "hierarchy": {"inline": CITIES}},
    "income": {"role": "quasi_identifying", "hierarchy": {"intervals": [10, 50]}},
    "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [3, 1]}},
    "disease": {"role": "sensitive"},
}
POLICY: dict[str, Any] = {
    "release": "people",
    "source": "public.person",
    "columns": COLUMNS,
    "privacy": [{"model": "k_anonymity", "k": 4}],
    "method": {"name": "mondrian"},
    "refresh": "increments",
    "regions": "leaves",
}
PEOPLE = 400


def grown(db: Database, columns: dict[str, Any], choose: str) -> dict[str, Any]:
    policy = {**POLICY, "columns": columns, "method": {"name": "mondrian", "choose": choose}}
    db.source(SOURCE)
    db.source(f"INSERT INTO public.person SELECT * FROM public.people(1, {PEOPLE}, 1)", grant=False)
    faults.run(db.dsn(), driver.loaded(policy), force=False)
    return policy


def gathered(db: Database, policy: dict[str, Any]) -> Computation:
    """A run that knows who is new, with its work tables."""
    conn = db.owner()
    options = Options(dry_run=True)
    database.set_up(conn, database.RUN_SETTINGS)
    advise_planner(conn, options)
    spec = resolve_policy(conn, driver.loaded(policy))
    sources = release_state.sources_of(conn, spec.source.oid)
    run_id = next(_RUNS)
    conn.execute(
        "INSERT INTO pganon_private.run_secret (run_id, key, seed_a, seed_b, partition_seed)"
        " VALUES (%s, sha256('x'), 1, 2, 3)",
        [run_id],
    )
    spec = replace(spec, growth=growth_of(conn, spec, sources, run_id))
    plan = build_plan(spec, reasoned=True)
    computation = Computation(conn, driver._no_other, plan, run_id, options, sources)
    computation.walk(plan.gathering)
    return computation


_RUNS = itertools.count(5_000)


def regions(db: Database, computation: Computation) -> dict[int, int]:
    """The region of every newcomer, by key."""
    name = {part: str(computation.state.work(part)) for part in ("everybody", "newcomers")}
    rows = db.owner().execute(
        f"SELECT w.record::int, n.region FROM {name['newcomers']} AS n"
        f" JOIN {name['everybody']} AS w USING (person)".encode()
    )
    found = rows.fetchall()
    assert len(found) == len(dict(found))  # one region per record
    return dict(found)


SINGLE = [{name: column, "disease": COLUMNS["disease"]} for name, column in COLUMNS.items()][:-1]


def by_hand(db: Database, people: range, columns: dict[str, Any] = COLUMNS) -> dict[int, int]:
    """The regions by the definition, from the stored cuts."""
    cuts = stored_cuts(db)
    rows = driver.fetch(db.owner(), sql.SQL("SELECT * FROM public.person"))
    return {
        row["id"]: replayed(cuts, {n: row[n] for n in columns})
        for row in rows
        if row["id"] in people
    }


def stored_cuts(db: Database) -> list[dict[str, Any]]:
    conn = db.owner()
    name = conn.execute("SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_cuts$'").fetchone()
    assert name is not None
    text = sql.SQL("SELECT * FROM pganon_private.{}").format(sql.Identifier(name[0]))
    return driver.fetch(conn, text)


def replayed(cuts: list[dict[str, Any]], row: dict[str, Any]) -> int:
    nodes = {cut["node"]: cut for cut in cuts}
    own = ["job"] if "job" in row and row["job"] is None else []
    (node,) = (cut["node"] for cut in cuts if cut["nulls"] == own)
    while node > 0:
        cut = nodes[node]
        name = cut["column_name"]
        left = name is None or goes_left(cut, name, row[name])
        node = cut["left_node"] if left else cut["right_node"]
    return node


def goes_left(cut: dict[str, Any], name: str, value: Any) -> bool:
    end, level = cut["threshold"], cut["level"]
    match name:
        case "job":
            return value in cut["members"]
        case "city":
            child = {"Rome": "south", "Bern": "south", "Oslo": "north", "Kyiv": "north"}
            return (child.get(value) if level else value) in cut["members"]
        case "zip":
            kept = {0: 5, 1: 3, 2: 1}[level]
            label = value and value[:kept] + "*" * (len(value) - kept)
            return label in cut["members"]
    if value is None:
        return True
    if end is None:
        return False
    match name:
        case "age":
            return value <= int(end)
        case "pain" | "grade":
            places = ["none", "mild", "bad", "low", "middle", "high"]
            return places.index(value) <= places.index(end)
        case "born":
            day = date.fromisoformat(end)
            return value < day if level else value <= day
        case _:
            return value < Decimal(end) if level else value <= Decimal(end)


def grouped(conn: Any, version: int) -> list[tuple[int, int]]:
    """Key and group of the people whom a version added."""
    members = conn.execute(
        "SELECT members_table FROM pganon_private.version WHERE version = %s", [version]
    ).fetchone()
    digest = "encode(substr(sha256(o.secret || convert_to(p.id::text, 'UTF8')), 1, 16), 'hex')"
    return conn.execute(
        "SELECT p.id, c.class_id FROM public.person AS p CROSS JOIN pganon_private.population AS o"
        f" JOIN {members[0]} AS c ON c.member = {digest}::uuid".encode()
    ).fetchall()


@pytest.mark.parametrize("choose", ["width", "loss"])
@pytest.mark.parametrize(
    "columns",
    [COLUMNS, *[pytest.param(columns, marks=pytest.mark.slow) for columns in SINGLE]],
    ids=lambda columns: "_".join(columns)[:12],
)
@pytest.mark.slow
def test_who_looks_the_same_is_in_the_same_region(
    db: Database, columns: dict[str, Any], choose: str
) -> None:
    policy = grown(db, columns, choose)
    names = [name for name in COLUMNS if name != "disease"]
    db.source(
        f"INSERT INTO public.person SELECT id + 1000, {', '.join(names)}, disease"
        " FROM public.person",
        grant=False,
    )
    found = regions(db, gathered(db, policy))
    assert set(found) == set(range(1001, 1001 + PEOPLE))
    classes = defaultdict(set)
    for person, group in grouped(db.owner(), 1):
        classes[group].add(person + 1000)
    by_region = defaultdict(set)
    for person, region in found.items():
        by_region[region].add(person)
    assert len(classes) >= 3
    assert sorted(map(sorted, by_region.values())) == sorted(map(sorted, classes.values()))


def test_labels_on_the_left_are_of_one_level(db: Database) -> None:
    """The first leaf below an ancestor stands for it, for its ancestors, and for itself."""
    grown(db, {name: COLUMNS[name] for name in ("zip", "disease")}, "loss")
    cuts = [cut for cut in stored_cuts(db) if cut["column_name"] == "zip"]
    assert {cut["level"] for cut in cuts} == {1, 2}
    for cut in cuts:
        stars = {label.count("*") for label in cut["members"] if label is not None}
        assert stars <= {2 * cut["level"]}


@pytest.mark.slow
def test_newcomers_anywhere(db: Database) -> None:
    """Unseen values, extremes and NULLs have one region each, but for unseen patterns of NULLs."""
    policy = grown(db, COLUMNS, "width")
    db.source(
        "INSERT INTO public.person SELECT * FROM public.people(1001, 1600, 2);"
        " UPDATE public.person SET age = -1000, income = 1e9, zip = '00', job = 'pilot',"
        " born = '2200-01-01' WHERE id BETWEEN 1001 AND 1100;"
        " UPDATE public.person SET age = 100000, income = -1e9 WHERE id BETWEEN 1101 AND 1200",
        grant=False,
    )
    computation = gathered(db, policy)
    found = regions(db, computation)
    assert set(found) == set(range(1001, 1601))
    assert found == by_hand(db, range(1001, 1601))
    assert computation.state[UNPLACED] == 0


@pytest.mark.slow
def test_patterns_of_nulls_that_nobody_had(db: Database) -> None:
    db.source(SOURCE)
    policy = {**POLICY, "columns": {n: COLUMNS[n] for n in ("age", "job", "disease")}}
    db.source(
        "INSERT INTO public.person SELECT * FROM public.people(1, 100, 1) WHERE job IS NOT NULL",
        grant=False,
    )
    faults.run(db.dsn(), driver.loaded(policy), force=False)
    db.source("INSERT INTO public.person SELECT * FROM public.people(1001, 1200, 2)", grant=False)
    result = faults.run(db.dsn(), driver.loaded(policy), force=False)
    conn = db.owner()
    nobody = conn.execute("SELECT count(*) FROM public.person WHERE job IS NULL").fetchone()
    assert nobody is not None
    assert result.added is not None
    assert result.added.unplaced == nobody[0] > 10
    assert result.added.waiting >= result.added.unplaced
    assert result.added.released > 0


@pytest.mark.slow
def test_groups_stay_in_their_region(db: Database) -> None:
    columns = {name: COLUMNS[name] for name in ("age", "city", "job", "disease")}
    policy = grown(db, columns, "loss")
    db.source("INSERT INTO public.person SELECT * FROM public.people(1001, 1400, 2)", grant=False)
    where = by_hand(db, range(1001, 1401), columns)
    result = faults.run(db.dsn(), driver.loaded(policy), force=False)
    assert result.added is not None
    conn = db.owner()
    groups = defaultdict(set)
    for person, group in grouped(conn, 2):
        groups[group].add(where[person])
    assert len(groups) > 10
    assert all(len(found) == 1 for found in groups.values())
    sizes = Counter(where.values())
    assert result.added.cohorts == sum(size >= 4 for size in sizes.values())
    assert result.added.tested == sum(size for size in sizes.values() if size >= 4)
    assert result.added.released == result.added.tested
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))


@pytest.mark.parametrize(
    "changed",
    [
        {"city": {"role": "quasi_identifying", "hierarchy": {"inline": {"any": {"x": ["Rome"]}}}}},
        {"pain": {**COLUMNS["pain"], "order": ["mild", "none", "bad"]}},
    ],
    ids=["hierarchy", "order"],
)
def test_cuts_under_another_order(db: Database, changed: dict[str, Any]) -> None:
    names = ("age", "city", "pain", "disease")
    policy = grown(db, {name: COLUMNS[name] for name in names}, "loss")
    with driver.refused("other_regions"):
        columns = {**policy["columns"], **changed}
        faults.run(db.dsn(), driver.loaded({**policy, "columns": columns}), force=False)


def test_relaxed_cuts_cannot_be_replayed(db: Database) -> None:
    db.source(SOURCE)
    policy = {**POLICY, "method": {"name": "mondrian", "variant": "relaxed"}}
    with driver.refused("policy") as caught:
        faults.run(db.dsn(), driver.loaded(policy), force=False)
    assert "variant: strict" in str(caught[0])


@pytest.mark.slow
def test_cuts_of_a_version_that_was_made_at_once(db: Database) -> None:
    """A release that was recomputed goes on by increments in the regions of its newest version."""
    columns = {name: COLUMNS[name] for name in ("age", "city", "job", "disease")}
    policy = {**POLICY, "columns": columns}
    at_once = {k: v for k, v in policy.items() if k not in ("refresh", "regions")}
    db.source(SOURCE)
    db.source(f"INSERT INTO public.person SELECT * FROM public.people(1, {PEOPLE}, 1)", grant=False)
    faults.run(db.dsn(), driver.loaded(at_once), force=False)
    db.source("INSERT INTO public.person SELECT * FROM public.people(1001, 1400, 2)", grant=False)
    where = by_hand(db, range(1001, 1401), columns)
    result = faults.run(db.dsn(), driver.loaded(policy), force=False)
    sizes = Counter(where.values())
    assert result.added is not None
    assert result.added.cohorts == sum(size >= 4 for size in sizes.values()) > 5
    groups = defaultdict(set)
    for person, group in grouped(db.owner(), 2):
        groups[group].add(where[person])
    assert all(len(found) == 1 for found in groups.values())


@pytest.mark.slow
def test_cuts_of_many_categories_are_not_kept(db: Database) -> None:
    """Each would be kept with all values on its left; newcomers have one region then."""
    columns = {name: COLUMNS[name] for name in ("age", "job", "disease")}
    policy = {**POLICY, "columns": columns}
    at_once = {k: v for k, v in policy.items() if k not in ("refresh", "regions")}
    db.source(SOURCE)
    db.source(
        "INSERT INTO public.person SELECT * FROM public.people(1, 1200, 1);"
        " UPDATE public.person SET job = 'job' || id / 2 WHERE id > 100",
        grant=False,
    )
    faults.run(db.dsn(), driver.loaded(at_once), force=False)
    kept = "SELECT count(*) FROM pg_class WHERE relname ~ '^r[0-9]+_cuts$'"
    assert db.owner().execute(kept).fetchone() == (0,)
    db.source("INSERT INTO public.person SELECT * FROM public.people(2001, 2100, 2)", grant=False)
    result = faults.run(db.dsn(), driver.loaded(policy), force=False)
    assert result.added is not None
    assert (result.added.cohorts, result.added.waiting) == (1, 0)
