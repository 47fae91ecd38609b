"""Releases with `ranges: region` over time: newcomers, refusals, figures, files."""

from __future__ import annotations

import csv
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from pganon.forms.request import Request, Workload
from pganon.metrics.report import ClassMetrics
from pganon.plan.explain import explain
from pganon.publish import export, lifecycle, listing
from pganon.run.context import plan_release
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.regional import check, grown, part, run, source
from tests.support.sources.regions import JOBS, KINDS, PLACES, SOURCE, of, people

FIRST = range(1, 301)
FEW = of("age", "city")


def holds(conn: Connection) -> bool:
    return all(finding.holds for finding in lifecycle.verify(conn, "people"))


def rows(conn: Connection, view: str = "people") -> list[dict[str, Any]]:
    return driver.fetch(conn, sql.SQL("SELECT * FROM published.{}").format(sql.Identifier(view)))


@pytest.mark.slow
def test_newcomers_show_their_region(db: Database) -> None:
    """Unseen values, extremes and NULLs too; groups of a region show the same."""
    policy = of("age", "job", "city", "zip", "born", "weight", "grade", "rank", "visits")
    grown(db, policy)
    db.source(
        people(1001, 1600, 2) + ";"
        " UPDATE public.person SET age = -2000000000, weight = 1e300, zip = '', job = 'pilot',"
        " born = '9999-12-31', visits = 2000000000 WHERE id BETWEEN 1001 AND 1100;"
        " UPDATE public.person SET age = 2000000000, weight = -1e300, zip = 'ZZZZZZZZ',"
        " born = '0001-01-01', visits = -2000000000, grade = 'middle', city = 'Riga'"
        " WHERE id BETWEEN 1101 AND 1200;"
        " UPDATE public.person SET age = NULL, weight = NULL, zip = NULL, born = NULL,"
        " visits = NULL, grade = NULL, city = NULL, rank = NULL WHERE id BETWEEN 1201 AND 1300",
        grant=False,
    )
    result = run(db, policy)
    assert result.added.unplaced == 0
    assert result.added.released > 400
    conn = db.owner()
    check(conn, policy, FIRST)
    regions = [row["region"] for row in part(conn, "regions")]
    assert len(set(regions)) < len(regions)
    assert holds(conn)


# -- who is in no region ------------------------------------------------------------------------


@pytest.mark.slow
def test_values_that_no_region_could_have_wait(db: Database) -> None:
    """Of an enum that grew: its people are in no region, and nobody tests them."""
    policy = of("age", "grade")
    grown(db, policy)
    db.source("ALTER TYPE public.grade ADD VALUE 'top'", grant=False)
    db.source(people(1001, 1100, 2), grant=False)
    db.source("UPDATE public.person SET grade = 'top' WHERE id BETWEEN 1001 AND 1030", grant=False)
    result = run(db, policy)
    assert result.added.unplaced == 30
    conn = db.owner()
    assert {value for row in rows(conn) for value in row["grade"] or ()} == {
        *("low", "middle", "high")
    }
    check(conn, policy, FIRST)
    assert holds(conn)


@pytest.mark.slow
def test_a_hierarchy_in_a_table_that_changed(db: Database) -> None:
    db.source(
        "CREATE TABLE public.cities (city text, side text, top text);"
        " INSERT INTO public.cities VALUES ('Rome', 'south', '*'), ('Bern', 'south', '*'),"
        " ('Oslo', 'north', '*'), ('Kyiv', 'north', '*')"
    )
    city = {"role": "quasi_identifying", "hierarchy": {"table": "public.cities"}}
    policy = of("age")
    policy["columns"] = {"city": city, **policy["columns"]}
    grown(db, policy)
    db.source(
        "UPDATE public.cities SET side = 'west' WHERE city = 'Bern';" + people(1001, 1300, 2),
        grant=False,
    )
    result = run(db, policy)
    conn = db.owner()
    moved = {n for n, row in source(conn).items() if n > 1000 and row["city"] == "Bern"}
    assert 0 < result.added.unplaced <= len(moved)
    assert all(row["city"] != "west" for row in rows(conn))


# -- refusals -----------------------------------------------------------------------------------

_PLAIN = {"role": "quasi_identifying"}


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ({"job": _PLAIN}, "columns.job.domain"),
        ({"job": {**_PLAIN, "type": "ordinal"}}, "columns.job.order"),
        ({"age": {**_PLAIN, "type": "categorical"}}, "columns.age.domain"),
    ],
)
def test_regions_that_nobody_can_list(db: Database, column: dict[str, Any], field: str) -> None:
    db.source(SOURCE)
    policy = of("height")
    with driver.refused("policy") as caught:
        run(db, {**policy, "columns": {**column, **policy["columns"]}})
    (problem,) = caught[0].problems  # pyright: ignore[reportAttributeAccessIssue]
    assert problem.field == field
    assert "ranges: tight" in problem.suggestion


@pytest.mark.slow
def test_tight_and_region_are_not_mixed(db: Database) -> None:
    grown(db, FEW)
    db.source(people(1001, 1100, 2), grant=False)
    for changed in ({"ranges": "tight"}, {"ranges": "tight", "regions": "none"}):
        with driver.refused("other_regions") as caught:
            run(db, {**FEW, **changed})
        assert "ranges: tight" in str(caught[0])
        assert "has ranges: region" in str(caught[0])
    conn = db.owner()
    assert conn.execute("SELECT count(*) FROM pganon_private.cohorts").fetchone() == (1,)
    run(db, FEW)
    assert holds(conn)


@pytest.mark.parametrize("before", ["tight", "recompute"])
@pytest.mark.slow
def test_a_release_with_tight_ranges_keeps_them(db: Database, before: str) -> None:
    others = {"ranges": "tight"} if before == "tight" else {}
    left = ("refresh", "regions", "ranges") if before == "recompute" else ()
    grown(db, {k: v for k, v in {**FEW, **others}.items() if k not in left})
    db.source(people(1001, 1100, 2), grant=False)
    with driver.refused("other_regions") as caught:
        run(db, FEW)
    assert "ranges: region" in str(caught[0])
    assert "has ranges: tight" in str(caught[0])


@pytest.mark.slow
def test_another_domain(db: Database) -> None:
    policy = of("age", "job")
    grown(db, policy)
    db.source(people(1001, 1100, 2), grant=False)
    job = {**KINDS["job"].declared, "domain": {"values": [*JOBS, "king"]}}
    with driver.refused("other_regions") as caught:
        run(db, {**policy, "columns": {**policy["columns"], "job": job}})
    assert "domain of column job" in str(caught[0])


# -- verification -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE {classes} SET age = numrange(-9, 999) WHERE class_id = 1",
        "UPDATE {classes} SET city_null = NOT city_null WHERE class_id = 1",
        "UPDATE {bounds} SET g0 = numrange(1, 2)",
        "DELETE FROM {bounds}",
        "DELETE FROM {regions} WHERE class_id = 1",
        "UPDATE {classes} AS c SET age = d.age FROM {classes} AS d WHERE d.age <> c.age",
    ],
)
def test_a_bound_that_was_changed(db: Database, change: str) -> None:
    grown(db, FEW)
    conn = db.owner()
    names = {
        name: conn.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relname ~ ('^r[0-9]+_' || %s || '$')",
            [name],
        ).fetchone()[0]  # pyright: ignore[reportOptionalSubscript]
        for name in ("classes", "bounds", "regions")
    }
    assert holds(conn)
    conn.execute(change.format(**names).encode())
    found = {f.model: f.holds for f in lifecycle.verify(conn, "people")}
    assert not found["fingerprint"]
    assert not found["regions"]


# -- figures ------------------------------------------------------------------------------------


def _lost(name: str, before: list[Any]) -> Callable[[dict[str, Any]], float]:
    """NCP of what a row shows, by the definition; the values of the first version are the span."""
    known = [value for value in before if value is not None]

    def line(first: Any, last: Any, step: Any, closed: bool) -> Callable[[Any], float]:
        def loss(value: Any) -> float:
            low = first if value.lower_inf else value.lower
            high = last if value.upper_inf else value.upper - (0 * step if closed else step)
            whole = last - first
            return float((high - low) / whole)

        return loss

    def by_null(loss: Callable[[Any], float]) -> Callable[[dict[str, Any]], float]:
        def found(row: dict[str, Any]) -> float:
            if row[name] is None:
                return 0.0
            return 1.0 if row.get(f"{name}_null") else loss(row[name])

        return found

    match name:
        case "age" | "weight":
            return by_null(line(min(known), max(known), 1, True))
        case "height":
            return by_null(line(0, 300, 1, True))
        case "born":
            return by_null(line(min(known), max(known), timedelta(days=1), False))
        case "seen":
            return by_null(line(min(known), max(known), timedelta(microseconds=1), False))
        case "grade":
            return by_null(lambda value: (len(value) - 1) / 2)
        case "job":
            return lambda row: 0.0 if row["job"] is None else (len(row["job"]) - 1) / 5
        case "smoker":
            return lambda row: (len(row["smoker"] or ()) + row["smoker_null"] - 1) / 2
        case "city":
            sides = {city: side for side, cities in PLACES.items() for city in cities}
            leaves = sorted(set(known))

            def below(label: str) -> float:
                under = [c for c in leaves if label in (c, sides[c], "any")]
                return 0.0 if len(under) == 1 else len(under) / len(leaves)

            return by_null(below)
        case "visits":
            first, last = min(known) // 20 * 20, max(known) // 20 * 20 + 20
            return by_null(line(first, last, 1, True))
    raise AssertionError(name)


MEASURED = ["age", "height", "weight", "born", "seen", "grade", "job", "smoker", "city", "visits"]


@pytest.mark.parametrize(
    "names", [MEASURED, *[pytest.param([n], marks=pytest.mark.slow) for n in MEASURED]]
)
@pytest.mark.slow
def test_losses_are_those_of_the_regions(db: Database, names: list[str]) -> None:
    """Of all versions by the span of the first one, whatever newcomers have."""
    policy = of(*names)
    db.source(SOURCE)
    db.source(people(1, 300, 1), grant=False)
    results = [run(db, policy)]
    db.source(people(1001, 1300, 2), grant=False)
    db.source("UPDATE public.person SET age = 5000 WHERE id > 1250 AND age > 60", grant=False)
    results.append(run(db, policy))
    conn = db.owner()
    before = [row for n, row in source(conn).items() if n in FIRST]
    shown = rows(conn)
    first, second = results
    added = [row for row in shown if row["class_id"] > first.utility.classes]
    assert second.increment is not None
    for utility, mine in (
        (first.utility, [row for row in shown if row["class_id"] <= first.utility.classes]),
        (second.increment.utility, added),
        (second.utility, shown),
    ):
        total = 0.0
        for name in names:
            lost = _lost(name, [row[name] for row in before])
            mean = sum(map(lost, mine)) / len(mine)
            assert utility.ncp[name] == pytest.approx(mean, abs=1e-9), name
            total += mean
        assert utility.gcp == pytest.approx(total / len(names), abs=1e-9)


def test_null_beside_one_label(db: Database) -> None:
    """Half of the people of a region have no city, the others one: all is lost, as in a class."""
    policy = of("city", privacy=[{"model": "k_anonymity", "k": 20}])
    db.source(SOURCE)
    db.source(
        people(1, 60, 1) + "; UPDATE public.person SET city ="
        " (ARRAY[NULL, NULL, NULL, 'Oslo', 'Oslo', 'Riga', 'Riga', 'Rome', 'Rome', 'Bern'])"
        "[1 + id % 10]",
        grant=False,
    )
    result = run(db, policy)
    shown = rows(db.owner())
    lost = _lost("city", ["Oslo", "Riga", "Rome", "Bern"])
    mixed = {row["city"] for row in shown if row["city_null"]} - {None, "any"}
    assert mixed
    mean = sum(map(lost, shown)) / len(shown)
    assert result.utility.ncp["city"] == pytest.approx(mean)


@pytest.mark.parametrize("name", ["zip", "city"])
@pytest.mark.slow
def test_a_hierarchy_of_which_nobody_has_a_value(db: Database, name: str) -> None:
    """One by prefixes is not known then; one that lists its leaves has them still."""
    policy = of("age", name)
    db.source(SOURCE)
    db.source(people(1, 60, 1) + f"; UPDATE public.person SET {name} = NULL", grant=False)
    run(db, policy)
    shown = {(row[name], row[f"{name}_null"]) for row in rows(db.owner())}
    assert shown == {("any" if name == "city" else None, True)}
    assert holds(db.owner())
    db.source(people(1001, 1100, 2), grant=False)
    added = run(db, policy).added
    row = (
        db.owner()
        .execute(f"SELECT count({name}) FROM public.person WHERE id > 1000".encode())
        .fetchone()
    )
    assert row is not None
    assert row[0] > 50
    assert added.unplaced == (row[0] if name == "zip" else 0)  # no region could have their values


def _height(name: str, row: dict[str, Any]) -> int:
    """Level of what is shown: cities, sides, any; numbers, two intervals, all."""
    if row[name] is None:
        return 0
    if row[f"{name}_null"]:
        return 2 if name == "city" else 3
    if name == "city":
        return 0 if row[name] in ("Rome", "Oslo", "Bern") else int(row[name] == "any") + 1
    low, high = row["visits"].lower, row["visits"].upper
    if low is None or high is None:
        return 3
    wide = [w for w in (5, 20) if low // w == (high - 1) // w]
    return [5, 20].index(wide[0]) + 1 if wide else 3


def _glm(name: str, before: list[Any]) -> Callable[[dict[str, Any]], float]:
    """Of a label by how many other leaves are below it; of a range the same as NCP."""
    lost, leaves = _lost(name, before), len({value for value in before if value is not None})
    if name == "visits":
        return lost
    return lambda row: max(lost(row) * leaves - 1, 0) / (leaves - 1)


def made(result: Any) -> Any:
    """Figures of what the run made: of the newcomers' groups alone, if there were others."""
    return result.increment or result


@pytest.mark.parametrize(("name", "k"), [("city", 10), ("city", 100), ("visits", 10)])
@pytest.mark.slow
def test_heights_and_glm_are_those_of_the_regions(db: Database, name: str, k: int) -> None:
    """Of 100 people a region has several cities."""
    db.source(SOURCE)
    policy = of(name, "age", privacy=[{"model": "k_anonymity", "k": k}])
    for first in (1, 1001):
        db.source(people(first, first + 299, first), grant=False)
        result = run_release(
            driver.loaded(policy),
            dsn=db.dsn("steward"),
            options=Options(metrics=Request(everything=True)),
        )
        conn = db.owner()
        newest = max(row["class_id"] for row in rows(conn)) - made(result).utility.classes
        mine = [row for row in rows(conn) if row["class_id"] > newest]
        heights = [_height(name, row) for row in mine]
        metrics = made(result).metrics
        assert isinstance(metrics, ClassMetrics)
        assert metrics.attributes is not None
        found = metrics.attributes[name]
        assert found.height == pytest.approx(sum(heights) / len(heights))
        before = [row[name] for n, row in source(conn).items() if n in FIRST]
        glm = [*map(_glm(name, before), mine)]
        assert found.glm == pytest.approx(sum(glm) / len(glm))


@pytest.mark.slow
def test_metrics_on_request(db: Database) -> None:
    """With ranges that have no end, in both versions."""
    policy = of("age", "weight", "born", "seen", "city", "job", "grade", "cost", "call", "zip")
    policy["columns"]["income"] = {"role": "insensitive"}
    db.source(SOURCE)
    workload = Workload(queries=30, predicates=2, selectivity=0.2, seed=7)
    request = Request(everything=True, workload=workload)
    for first in (1, 1001):
        db.source(people(first, first + 299, first), grant=False)
        result = run_release(
            driver.loaded(policy), dsn=db.dsn("steward"), options=Options(metrics=request)
        )
        found = made(result).metrics
        assert isinstance(found, ClassMetrics)
        assert found.attributes is not None
        for name, measured in found.attributes.items():
            assert measured.glm is not None, name
            assert 0 <= measured.glm <= 1, name
            assert measured.uncovered == 0, name
            if name not in ("city", "zip"):
                assert measured.glm == pytest.approx(made(result).utility.ncp[name]), name
        assert found.workload is not None
        assert found.workload.count.median is not None


def test_queries_over_ranges_without_an_end(db: Database) -> None:
    """A count over one column is the share of every range within the source that it covers."""
    policy = of("age")
    db.source(SOURCE)
    db.source(people(1, 300, 1), grant=False)
    workload = Workload(queries=20, predicates=1, selectivity=0.3, seed=3)
    result = run_release(
        driver.loaded(policy),
        dsn=db.dsn("steward"),
        options=Options(metrics=Request(workload=workload)),
    )
    assert isinstance(result.metrics, ClassMetrics)
    assert result.metrics.workload is not None
    assert result.metrics.workload.count.median is not None
    assert result.metrics.workload.count.median < 0.5


# -- what others see ----------------------------------------------------------------------------


@pytest.mark.slow
def test_plain_columns(db: Database) -> None:
    names = ["age", "height", "income", "weight", "born", "seen", "due", "visits", "cost", "call"]
    policy = of(*names)
    grown(db, policy)
    conn = db.owner()
    flat = {row["class_id"]: row for row in rows(conn, "people_flat")}
    micro = timedelta(microseconds=1)
    open_ends = 0
    for row in rows(conn):
        plain = flat[row["class_id"]]
        for name in names:
            low, high, value = plain[f"{name}_low"], plain[f"{name}_high"], row[name]
            if value is None:
                assert (low, high) == (None, None)
                continue
            open_ends += value.lower_inf + value.upper_inf
            step = {"born": timedelta(days=1), "visits": 1}.get(name, micro)
            whole = name in ("age", "height", "income", "weight", "cost")
            last = value.upper if value.upper_inf or whole else value.upper - step
            told = [Decimal(repr(end)) if isinstance(end, float) else end for end in (low, high)]
            assert told == [value.lower, last], name
    assert open_ends > 50


@pytest.mark.slow
def test_files_and_comments(db: Database, tmp_path: Path) -> None:
    grown(db, of("age", "weight", "born", "job", "city"))
    conn = db.owner()
    for view in ("people", "people_flat"):
        file = tmp_path / f"{view}.csv"
        assert export.export(conn, "people", file).rows == 300
        with file.open() as lines:
            assert len(list(csv.DictReader(lines))) == 300
        assert export.export(conn, "people", tmp_path / f"{view}.parquet").rows == 300
    said = dict(
        conn.execute(
            "SELECT column_name, comment FROM pganon.release_columns WHERE release = 'people'"
        ).fetchall()
    )
    assert "region" in said["age"]
    assert "region" in said["city"]
    assert "region" in said["age_null"]
    found = conn.execute(
        "SELECT value FROM pganon.assess('published.people', '{age,weight,born,job,city}',"
        " '{disease}') WHERE measure = 'k_anonymity'"
    ).fetchone()
    assert found is not None
    assert found[0] >= 4


@pytest.mark.slow
def test_plans(db: Database) -> None:
    """Of a first version, and of one that adds to it."""
    db.source(SOURCE)
    loaded = driver.loaded(FEW)
    for first, made in ((1, {"bounds", "regions"}), (1001, {"regions"})):
        db.source(people(first, first + 299, first), grant=False)
        planned = [f"{s.phase}.{s.step}" for s in explain(plan_release(loaded, dsn=db.dsn()))]
        ran = faults.steps_of(db.dsn(), loaded, jobs=1)
        assert [s for s in planned if s.startswith("recode.")] == [
            s for s in ran if s.startswith("recode.")
        ]
        assert {"bounds", "regions"} & {s.removeprefix("recode.") for s in planned} == made


@pytest.mark.slow
def test_rollback_keep_and_withdraw(db: Database) -> None:
    kept = {**FEW, "publish": {"keep": 2}}
    grown(db, kept)
    conn = db.owner()
    told = [len(rows(conn))]
    for first in (1001, 2001, 3001):
        db.source(people(first, first + 99, first), grant=False)
        run(db, kept)
        told.append(len(rows(conn)))
        assert holds(conn)
    assert told == sorted(set(told))
    info = listing.show(conn, "people")
    assert [v.stored for v in info.versions or ()] == [True, True, False, False]
    check(conn, FEW, FIRST)
    lifecycle.show_earlier(conn, "people")
    assert len(rows(conn)) == told[2]
    assert holds(conn)
    db.source("DELETE FROM public.person WHERE id = 5", grant=False)
    db.source(people(4001, 4100, 4), grant=False)
    result = run(db, {**kept, "leavers": "withdraw"})
    assert result.added.withdrawn_groups == 1
    assert holds(conn)
    lifecycle.drop(conn, "people")
    assert part(conn, "classes") == []


@pytest.mark.slow
def test_an_order_of_numbers(db: Database) -> None:
    """The source writes 2.50 where the order lists 2.5, for first and for new individuals."""
    order = ["2.5", "1", "10.0", "0.5"]
    policy = of("age")
    ward = {"role": "quasi_identifying", "type": "ordinal", "order": order}
    policy["columns"] = {"ward": ward, **policy["columns"]}
    spelled = "UPDATE public.person SET ward = (ARRAY[2.50, 1.00, 10.00, 0.50])[1 + id % 4]"
    db.source(f"{SOURCE}; {people(1, 300, 1)}; {spelled}")
    run(db, policy)
    db.source(f"{people(1001, 1300, 2)}; {spelled} WHERE id > 1000", grant=False)
    assert run(db, policy).added.unplaced == 0
    conn = db.owner()
    numbers = list(map(Decimal, order))
    for row in rows(conn):
        places = [numbers.index(value) for value in row["ward"]]
        assert places == list(range(places[0], places[-1] + 1))
    assert len({tuple(row["ward"]) for row in rows(conn)}) > 1
    assert holds(conn)
