"""Metrics of local generalization and bucketization: worked examples, and random tables."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql
from sqlglot import exp

from pganon.errors import PrivacyRefusal
from pganon.forms.request import Request, Workload
from pganon.methods.local.metrics.report import LocalMetrics
from pganon.metrics import queries
from pganon.sqltools import cast, named, query
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, fetch, run
from tests.support.oracles.lgb import Table, nominal, numeric
from tests.support.oracles.lgb_queries import (
    Among,
    Answer,
    Between,
    Query,
    actual,
    answer,
    help_table,
    probability,
)
from tests.support.oracles.lgb_release import Release
from tests.support.sources import lgb_cases as cases
from tests.support.sources.local import Roles, build, diverse, domains, policy, release, roles

pytestmark = pytest.mark.primary_server_only

WORKLOAD = Workload(queries=60, predicates=2, selectivity=0.2, seed=5)
REQUEST = Request(everything=True, workload=WORKLOAD)
NCP = {"name": "lgb_ncp"}
PAY = [diverse("age", 2), diverse("salary", 2)]


def measured(
    db: Database,
    table: Table,
    declared: Mapping[str, Any],
    request: Request = REQUEST,
) -> tuple[Staged, LocalMetrics]:
    drop_leftovers(db.owner())
    staged = run(db.owner(), dict(declared), request=request)
    found = staged.plan.metrics(staged.state)
    assert isinstance(found, LocalMetrics)
    return staged, found


def work(staged: Staged, table: str) -> list[dict[str, Any]]:
    name = staged.state.work(table).identifier
    return fetch(staged.conn, sql.SQL("SELECT * FROM {}").format(name))


def close(value: Any) -> Any:
    return pytest.approx(float(value), rel=1e-9, abs=1e-9)


# -- worked examples ----------------------------------------------------------------------------

ASKED: dict[str, tuple[str, Query, int, tuple[int, int], Fraction, tuple[int, int]]] = {
    "sex=f and age>=30": (
        "select 0 as a0, 1 as a1, b'010' as bits0, 1::bigint as first1, 4::bigint as last1,"
        " 0::float8 as low1, 14::float8 as high1",
        {0: Among("f"), 1: Between(31, 45)},
        800,
        (800, 900),
        Fraction(1, 8),
        (800, 900),
    ),
    "age>=30": (
        "select 1 as a0, 0 as a1, b'011' as bits1, 1::bigint as first0, 4::bigint as last0,"
        " 0::float8 as low0, 14::float8 as high0",
        {0: Among("fm"), 1: Between(31, 45)},
        3000,
        (2900, 3100),
        Fraction(1, 15),
        (2900, 3100),
    ),
    "age=31": (
        "select 1 as a0, 0 as a1, b'011' as bits1, 1::bigint as first0, 1::bigint as last0,"
        " 0::float8 as low0, 0::float8 as high0",
        {0: Among("fm"), 1: Between(31, 31)},
        1000,
        (0, 1500),
        Fraction(3, 2),
        (0, 1800),
    ),
    "sex=f and age=34": (
        "select 0 as a0, 1 as a1, b'010' as bits0, 2::bigint as first1, 2::bigint as last1,"
        " 3::float8 as low1, 3::float8 as high1",
        {0: Among("f"), 1: Between(34, 34)},
        700,
        (0, 600),
        Fraction(6, 7),
        (0, 900),
    ),
}


@pytest.mark.parametrize("name", ASKED, ids="5.9 {}".format)
def test_sums(db: Database, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    text, asked, truth, around, width, within = ASKED[name]
    tree = query(f"{text}, 1::bigint as query")
    names = [*[f"{n}{p}" for n in ("first", "last", "low", "high", "bits") for p in "01"], "item"]
    kinds = {"bits": "varbit", "low": "float8", "high": "float8"}
    for missing in {*names, "first", "last", "bits"} - set(tree.named_selects):
        kind = kinds.get(missing.rstrip("01"), "bigint")
        tree = tree.select(named(cast(exp.null(), kind), missing))
    monkeypatch.setattr(queries, "queries", lambda spec, workload, state: tree)
    build(db, cases.PAY)
    request = Request(workload=Workload(queries=1, predicates=2, sensitive=False))
    staged, got = measured(db, cases.PAY, policy(cases.PAY, NCP, 2, PAY), request)
    (exact,) = work(staged, "mexact")
    (bounds,) = work(staged, "mbounds1")
    assert exact["t1"] == truth
    assert (bounds["lower"], bounds["upper"]) == around
    assert (bounds["least"], bounds["most"]) == within
    assert got.bounds is not None
    found = got.bounds["salary"]
    assert found.mean == found.median == close(width)
    assert found.outside == (name == "sex=f and age=34")
    assert found.beyond == 0
    told = answer(release(staged, cases.PAY), asked, 2)
    assert work(staged, "mestimate")[0]["t1"] == close(told.estimate)


def test_help_table(db: Database) -> None:
    """5.9"""
    build(db, cases.PAY)
    staged, got = measured(db, cases.PAY, policy(cases.PAY, NCP, 2, PAY))
    assert (got.discernibility, got.ncp, got.ncp_relative) == (16, close(1), close(1 / 12))
    found = {(r["number"], r["h"]): (r["low"], r["high"]) for r in work(staged, "mhelp1")}
    assert found == help_table(release(staged, cases.PAY), 2)
    assert sorted(found.values()) == sorted(
        [(0, 0)] * 4
        + [(100, 200), (300, 300), (300, 400), (700, 700)]
        + [(500, 600), (1100, 1100), (700, 900), (1600, 1600)]
    )


# -- random tables ------------------------------------------------------------------------------

COLUMNS = (numeric("x"), nominal("y"), nominal("z"), nominal("s"), numeric("v"))
ROLES = {
    "x": "semi_sensitive",
    "y": "semi_sensitive",
    "z": "quasi_identifying",
    "s": "sensitive",
    "v": "sensitive",
}
PRINCIPLES = [diverse(name, 2) for name in "xysv"]


def table(seed: int) -> Table:
    """Some hide x and y; values that are hidden may be between and beyond those that are shown."""
    rng = random.Random(seed)
    values, hidden = {}, {}
    for key in range(1, 61):
        away = frozenset({3, 4, *[a for a in (0, 1) if rng.random() < 0.3]})
        x = rng.choice([1, 4, 9, 12, None]) if 0 not in away else rng.randrange(14)
        values[key] = (x, rng.choice("abcd"), rng.choice(["k", "l", None]), rng.choice("opqrst"),
                       rng.choice([*range(-3, 30), None]))  # fmt: skip
        hidden[key] = away
    return Table(COLUMNS, values, hidden)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("way", ["suppress", "merge", "withhold"])
@pytest.mark.slow
def test_random_tables(db: Database, seed: int, way: str) -> None:
    """Withheld values, groups that are merged, and records that are left out are counted, too."""
    t = table(seed)
    build(db, t, ROLES)
    method: dict[str, Any] = {**NCP, "ncp_small": "fill"}
    principles = PRINCIPLES
    if way == "withhold":
        method["ineligible"] = "withhold"
        principles = [diverse("x", 2), diverse("y", 5), diverse("s", 2), diverse("v", 2)]
    if way == "merge":
        method["small_subsets"] = "merge"
    declared = policy(
        t, method, 6, principles, ROLES, on_infeasible="suppress", suppression_limit=1
    )
    try:
        staged, got = measured(db, t, declared)
    except PrivacyRefusal as error:
        pytest.skip(f"nothing to measure: {error}")
    check_workload(staged, got, t)


def check_workload(staged: Staged, got: LocalMetrics, t: Table, roles: Roles = ROLES) -> None:
    r, domain = release(staged, t, roles), domains(t)
    named = [item.published for item in staged.plan.spec.sensitive]
    total = named.index("v")
    exact = {row["query"]: row for row in work(staged, "mexact")}
    guessed = {row["query"]: row for row in work(staged, "mestimate")}
    bounds = {row["query"]: row for row in work(staged, f"mbounds{total}")}
    errors, outside, beyond = [], 0, 0
    asked = work(staged, "mqueries")
    assert len(asked) == WORKLOAD.queries
    for row in asked:
        wanted = _wanted(row, domain)
        (item,) = [a for a, one in enumerate(COLUMNS) if one.name == named[row["item"]]]
        secret = _secret(row, t, item)
        truth = actual(_amounts(t), wanted, 4, list(t.values))
        told = answer(_amounts_of(r), wanted, 4, domain)
        known, seen = exact.get(row["query"], {}), guessed.get(row["query"], {})
        assert (known.get(f"t{total}") or 0) == truth
        assert (seen.get(f"t{total}") or 0) == close(told.estimate)
        held = bounds.get(row["query"], dict.fromkeys(("lower", "upper", "least", "most"), 0))
        for name in ("lower", "upper", "least", "most"):
            assert held[name] == close(getattr(told, name)), name
        matching = [k for k, v in t.values.items() if v[item] in secret]
        count = sum(all(p.holds(t.values[k][a]) for a, p in wanted.items()) for k in matching)
        assert (known.get("n") or 0) == count
        assert (seen.get("n") or 0) == close(_count(r, wanted, domain, item, secret))
        if truth:
            errors.append(float((told.upper - told.lower) / abs(truth)))
        outside += not _within(told.lower, truth, told.upper)
        beyond += not _within(told.least, truth, told.most)
    assert got.bounds is not None
    found = got.bounds["v"]
    assert found.mean == close(sum(errors) / len(errors))
    assert found.empty == WORKLOAD.queries - len(errors)
    assert (found.outside, found.beyond) == (
        close(outside / WORKLOAD.queries),
        close(beyond / WORKLOAD.queries),
    )
    if not staged.facts["suppressed"]:
        assert beyond == 0


def _within(low: Any, value: Any, high: Any) -> bool:
    return low <= value <= high


def _wanted(row: Mapping[str, Any], domain: Mapping[int, list[Any]]) -> Query:
    found: dict[int, Among | Between] = {}
    for place in range(WORKLOAD.predicates):
        a = row[f"a{place}"]
        if row[f"bits{place}"] is None:
            values = domain[a][row[f"first{place}"] - 1 : row[f"last{place}"]]
            found[a] = Between(values[0], values[-1])
        else:
            bits = row[f"bits{place}"][1:]
            found[a] = Among([v for v, b in zip(domain[a], bits, strict=False) if b == "1"])
    assert len(found) == WORKLOAD.predicates
    return found


def _secret(row: Mapping[str, Any], t: Table, item: int) -> list[Any]:
    """The values that are asked of a sensitive column, which is no attribute."""
    assert item in (3, 4)
    known = sorted({v[item] for v in t.values.values()} - {None})
    if row["bits"] is None:
        return known[row["first"] - 1 : row["last"]]
    return [v for v, b in zip(known, row["bits"][1:], strict=False) if b == "1"]


def _amounts(t: Table) -> Table:
    """NULL adds nothing to a sum."""
    return Table(t.attributes, {k: (*v[:4], v[4] or 0) for k, v in t.values.items()}, t.hidden)


def _amounts_of(r: Release) -> Release:
    amounts = tuple((b, value or 0, n) for b, value, n in r.values.get(4, ()))
    return Release(r.attributes, r.rows, {**r.values, 4: amounts})


def _count(
    r: Release, wanted: Query, domain: Mapping[int, list[Any]], item: int, secret: list[Any]
) -> Fraction:
    counts, found = r.counts(item), Fraction(0)
    for row in r.rows:
        if (bucket := row.buckets[item]) is not None:
            held = counts[bucket]
            share = Fraction(sum(held[v] for v in secret), held.total())
            found += share * probability(r, row, wanted, domain)
    return found


@pytest.mark.slow
def test_no_column_is_a_quasi_identifier_of_all(db: Database) -> None:
    """Queries ask about columns that some hide, and nothing else."""
    t = table(2)
    drawn = random.Random(2)
    hidden = {key: own | ({2} if drawn.random() < 0.4 else set()) for key, own in t.hidden.items()}
    t = Table(COLUMNS, t.values, hidden)
    roles = {**ROLES, "z": "semi_sensitive"}
    build(db, t, roles)
    principles = [diverse(name, 2) for name in "xyzsv"]
    method = {**NCP, "small_subsets": "merge"}
    staged, got = measured(db, t, policy(t, method, 3, principles, roles))
    assert not [a for a in staged.plan.spec.attributes if a.hidden is None]
    check_workload(staged, got, t, roles)


def test_everybody_hides_what_is_asked(db: Database) -> None:
    """Nothing is shown of any column; the counts of sensitive values remain."""
    t = table(3)
    t = Table(COLUMNS, t.values, dict.fromkeys(t.values, frozenset({0, 1, 2, 3, 4})))
    roles = {**ROLES, "z": "semi_sensitive"}
    build(db, t, roles)
    principles = [diverse(name, 2) for name in "xyzsv"]
    staged, got = measured(db, t, policy(t, NCP, 3, principles, roles))
    assert {row["x_form"] for row in staged.table("groups")} == {"b"}
    assert got.workload is not None
    assert got.workload.count.empty == WORKLOAD.queries


def test_nobody_is_asked_what_all_hide_in_parts(db: Database) -> None:
    """Without a column that is sensitive for all there is no sum, and no sensitive predicate."""
    t = table(1)
    known: Roles = {n: r for n, r in ROLES.items() if r != "sensitive"}
    build(db, t, ROLES)
    declared = policy(t, NCP, 2, PRINCIPLES[:2], known)
    _, got = measured(db, t, declared)
    assert got.workload is not None
    assert (got.workload.workload.sensitive, got.workload.sums, got.bounds) == (False, {}, {})
    assert got.workload.count.mean is not None


@pytest.mark.slow
def test_metrics_are_shown_and_kept(db: Database, tmp_path: Path) -> None:
    build(db, cases.PAY)
    assert roles(cases.PAY)["age"] == "semi_sensitive"
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy(cases.PAY, NCP, 2, PAY)))
    dsn = db.dsn("steward")
    ran = pganon("run", str(file), "--metrics", "all", "--json", "--dsn", dsn)
    assert ran.code == 0, ran.err
    kept = pganon("show", "r", "--json", "--dsn", dsn).json["versions"][0]["measures"]
    assert kept["metrics"] == ran.json["metrics"]
    read = LocalMetrics.recorded(kept["metrics"])
    assert asdict(read) == kept["metrics"]
    text = " ".join(pganon("show", "r", "--dsn", dsn).out.split())
    for said in ("discernibility", "NCP (share)", "sum of salary", "sums outside"):
        assert said in text


def test_answer_is_exact_where_everything_is_shown() -> None:
    """An oracle that says so of itself: bounds meet where every row matches or does not."""
    assert Answer({}, 1, 1, 1, 1, Fraction(1)).error(2) == 0
