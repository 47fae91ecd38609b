"""Metrics of tables that buckets link: worked examples, and random tables by the definitions."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from psycopg import sql

from pganon.forms.metrics import Bounds
from pganon.forms.request import Request, Workload
from pganon.methods.buckets.metrics import reconstruction, report
from pganon.methods.buckets.metrics.report import BucketMetrics, Membership
from pganon.plan import verification
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, fetch
from tests.support.oracles import sliced_risks
from tests.support.oracles.sliced import Published, Row, columns, sizes
from tests.support.oracles.sliced_measures import (
    bounds,
    discernibility,
    estimate,
    kl,
    matches,
    mean_kl,
    same,
    variance,
)
from tests.support.sources import registry
from tests.support.sources.builders import make_table, policy
from tests.support.sources.given_buckets import run_with
from tests.support.sources.registry import BUCKETS, QUASI, ROWS
from tests.support.sources.slamsa import shown

pytestmark = pytest.mark.primary_server_only

WORKLOAD = Workload(queries=40, predicates=2, selectivity=0.2, seed=5)
REQUEST = Request(everything=True, workload=WORKLOAD)
ASKED = ("a0", "a1", "a2", "a3")
Run = Callable[..., tuple[Staged, BucketMetrics]]


@pytest.fixture
def measure(db: Database, monkeypatch: pytest.MonkeyPatch) -> Run:
    """A release with given buckets, whatever they are, and its metrics."""
    monkeypatch.setattr(verification, "verdict", lambda check, row: None)

    def measured(
        declared: dict[str, Any], *buckets: Sequence[int | None]
    ) -> tuple[Staged, BucketMetrics]:
        drop_leftovers(db.owner())
        staged = run_with(monkeypatch, db.owner(), declared, buckets, REQUEST)
        found = staged.plan.metrics(staged.state)
        assert isinstance(found, BucketMetrics)
        return staged, found

    return measured


def work(staged: Staged, table: str) -> list[Row]:
    return fetch(
        staged.conn, sql.SQL("SELECT * FROM {}").format(staged.state.work(table).identifier)
    )


def values(rows: Sequence[Row], name: str) -> list[Any]:
    """By code, from 1; NULL is the last value of a sensitive column."""
    known = sorted({row[name] for row in rows} - {None})
    return [*known, None]


def asked(staged: Staged, rows: Sequence[Row]) -> list[tuple[Row, list[str], str, Any]]:
    """Every question with its quasi-identifiers, and the sensitive column and value."""
    spec = staged.plan.spec
    found = []
    for row in work(staged, "mquestions"):
        by = [spec.attributes[row[a]].published for a in ASKED if row[a] >= 0]
        item = spec.sensitive[row["item"]].published
        found.append((row, by, item, values(rows, item)[row["code"] - 1]))
    return found


def divergences(staged: Staged) -> dict[int, float]:
    found = {row["question"]: row["kl"] for row in work(staged, "mdivergence")}
    return {question: math.inf if kl is None else kl for question, kl in found.items()}


# -- worked examples ----------------------------------------------------------------------------


def test_registry(db: Database, measure: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconstruction, "LEAST", 1)
    table = [(row["sex"], row["age"] < 30, row["cancer"]) for row in ROWS]
    types = {"sex": "text", "young": "boolean", "cancer": "text"}
    make_table(db.connect("source_owner"), types, table)
    declared = policy(
        {"sex": "q", "young": "q", "cancer": "s"},
        [{"model": "slicing_l_diversity", "l": 3}],
        method={"name": "slamsa"},
    )
    staged, got = measure(declared, BUCKETS["cancer"])
    rows = registry.records(types, table)
    found = divergences(staged)
    expected = {
        ("sex",): {"Lung": 0, "Prostate": 0.405465, "Liver": 0.058892, "Colon": 1.098612},
        ("sex", "young"): {
            "Lung": 0.828302,
            "Prostate": 0.462098,
            "Liver": 0.549306,
            "Colon": 1.098612,
        },
    }
    seen = 0
    for question, by, _, cancer in asked(staged, rows):
        wanted = expected.get(tuple(by), {}).get(cancer)
        if wanted is not None:
            assert found[question["question"]] == pytest.approx(wanted, abs=1e-6)
            seen += 1
    assert seen == 8
    assert got.membership is None
    assert (got.suppression, got.additional_loss, got.discernibility) == (0, 0, 27)


def test_suppression_may_make_the_error_infinite(
    db: Database, measure: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reconstruction, "LEAST", 2)
    make_table(db.connect("source_owner"), {"q": "text", "s": "text"}, ["ax", "ay", "bx", "cz"])
    declared = policy(
        {"q": "q", "s": "s"},
        [{"model": "slicing_l_diversity", "l": 2}],
        method={"name": "slamsa"},
    )
    _, got = measure(declared, [1, 1, 2, 2])
    assert got.reconstruction is not None
    assert set(got.reconstruction) == {"1"}
    assert got.reconstruction["1"].mean == pytest.approx(0.346574, abs=1e-6)
    _, got = measure(declared, [1, 1, None, None])
    assert got.reconstruction is not None
    assert asdict(got.reconstruction["1"]) == {"mean": None, "infinite": 100, "queries": 100}
    assert got.suppression == 0.5


@pytest.mark.slow
def test_membership(db: Database, measure: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.build(db)
    method = {
        "name": "slamsa",
        "profile": "independent",
        "sensitive_tables": [list(table) for table in registry.SENSITIVE],
        "quasi_tables": [list(names) for names in QUASI],
    }
    given = [BUCKETS[name] for name in ("qit", "cancer", "symptom", "physician")]
    _, got = measure(registry.document(method=method), *given)
    assert got.membership == Membership(9, 24, 15)
    assert BucketMetrics.recorded(json.loads(json.dumps(asdict(got)))) == got
    monkeypatch.setattr(report, "COMPARED", 26)
    _, got = measure(registry.document(method=method), *given)
    assert got.membership is None


# -- random tables ------------------------------------------------------------------------------

TYPES = {"a": "integer", "b": "text", "c": "date", "s": "text", "t": "integer", "u": "text"}
SHAPES = {
    "aligned": {"sensitive_tables": [["s", "u"], ["t"]]},
    "sliced": {
        "sensitive_tables": [["s"], ["t", "u"]],
        "quasi_tables": [["a"], ["c"], ["b"]],
    },
    "independent": {"profile": "independent", "sensitive_tables": [["s"], ["u", "t"]]},
    "free": {
        "profile": "independent",
        "sensitive_tables": [["t", "s"], ["u"]],
        "quasi_tables": [["b", "a"], ["c"]],
    },
}
PARTITIONS = {"aligned": 1, "sliced": 1, "independent": 2, "free": 3, "slicing": 1}


def table(seed: int) -> list[tuple[Any, ...]]:
    """Few values, NULL among them, so that cells and buckets have several records."""
    r = random.Random(seed)
    days = ["2020-01-01", "2020-02-01", "2021-01-01", None]
    return [
        (
            r.choice([1, 2, 2, 5, None]),
            r.choice("xyz"),
            r.choice(days),
            r.choice(["p", "p", "q", None]),
            r.choice([1, 3, 4, 9]),
            r.choice("mno"),
        )
        for _ in range(30)
    ]


def buckets(seed: int, count: int) -> list[list[int | None]]:
    """The same records are suppressed in every partition."""
    r = random.Random(seed)
    left_out = {r.randrange(30) for _ in range(seed % 2 * 4)}
    return [
        [None if record in left_out else r.randrange(1, 7) for record in range(30)]
        for _ in range(count)
    ]


def document(shape: str) -> dict[str, Any]:
    roles = {name: "q" if name in "abc" else "s" for name in TYPES}
    method = {"name": "slamsa", **SHAPES.get(shape, {})}
    if shape == "slicing":
        roles |= {"t": "i", "u": "i"}
        method = {"name": "slicing", "columns": [["a"], ["c", "s", "b"]]}
    return policy(
        roles,
        [{"model": "slicing_l_diversity", "column": "s", "l": 2}],
        method=method,
    )


@pytest.mark.parametrize(
    ("shape", "seed"),
    [(s, n) for n, s in enumerate(PARTITIONS)] + [("sliced", 7), ("free", 8), ("slicing", 9)],
)
def test_random_tables(db: Database, measure: Run, shape: str, seed: int) -> None:
    make_table(db.connect("source_owner"), TYPES, table(seed))
    rows = fetch(db.owner(), sql.SQL("SELECT a, b, c, s, t, u FROM public.t"))
    staged, got = measure(document(shape), *buckets(seed, PARTITIONS[shape]))
    p = shown(staged).published
    check_reconstruction(staged, got, p, rows)
    check_workload(staged, got, p, rows)
    check_sizes(staged, got, p)
    check_membership(got, p, rows)


def check_reconstruction(
    staged: Staged, got: BucketMetrics, p: Published, rows: Sequence[Row]
) -> None:
    found, expected = divergences(staged), {}
    drawn: dict[str, list[float]] = {"1": [], "2": [], "3": []}
    for row, by, item, value in asked(staged, rows):
        assert sum(r[item] == value for r in rows) >= reconstruction.LEAST
        divergence = kl(p, rows, dict.fromkeys(by, same), {item: lambda v, value=value: v == value})
        assert divergence is not None
        expected[row["question"]] = divergence
        drawn[str(row["r"])] += [divergence] * row["weight"]
    assert found == {question: close(kl) for question, kl in expected.items()}
    assert got.reconstruction is not None
    for r, each in drawn.items():
        mean, infinite = mean_kl(each)
        shown = got.reconstruction[r]
        assert (shown.infinite, shown.queries) == (infinite, reconstruction.DRAWN)
        assert shown.mean == (None if mean is None else close(mean))


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def check_workload(staged: Staged, got: BucketMetrics, p: Published, rows: Sequence[Row]) -> None:
    exact = {row["query"]: row["n"] for row in work(staged, "mexact")}
    guessed = {row["query"]: row["n"] for row in work(staged, "mestimate")}
    errors, deviations, widths, items = [], [], [], set()
    sliced = len(p.qits) > 1 or staged.plan.spec.policy.method.name == "slicing"
    for row in work(staged, "mqueries"):
        query, item = _query(staged, row, rows)
        items.add(item)
        truth = sum(matches(r, query) for r in rows)
        expected = estimate(p, query)
        assert exact.get(row["query"], 0) == truth
        assert guessed.get(row["query"], 0) == close(float(expected))
        if truth:
            errors.append(float(abs(expected - truth) / truth))
            deviations.append(math.sqrt(variance(p, query)) / truth)
            low, high = (0, 0) if sliced else bounds(p, query)
            widths.append((high - low) / truth)
    assert len(items) == len(staged.plan.spec.sensitive)
    assert got.workload is not None
    count = got.workload.count
    assert count.empty == WORKLOAD.queries - len(errors)
    assert count.mean == close(sum(errors) / len(errors))
    assert got.workload.sums == {}
    assert got.workload.bounds == (None if sliced else Bounds(close(median(widths)), 0))
    assert got.deviation == (None if sliced else close(sum(deviations) / len(deviations)))


def _query(staged: Staged, row: Row, rows: Sequence[Row]) -> tuple[dict[str, Any], str]:
    spec = staged.plan.spec
    item = spec.sensitive[row["item"]].published
    names = [spec.attributes[row[f"a{place}"]].published for place in range(WORKLOAD.predicates)]
    query: dict[str, Any] = {}
    for place, name in (*[(str(place), name) for place, name in enumerate(names)], ("", item)):
        domain = values(rows, name)[:-1]
        if row[f"bits{place}"] is None:
            wanted = domain[row[f"first{place}"] - 1 : row[f"last{place}"]]
        else:
            wanted = [
                v for v, bit in zip(domain, row[f"bits{place}"][1:], strict=False) if bit == "1"
            ]
        share = WORKLOAD.selectivity ** (1 / (WORKLOAD.predicates + 1))
        assert len(wanted) == max(1, round(len(domain) * share))
        query[name] = lambda v, wanted=wanted: v in wanted
    assert len(query) == WORKLOAD.predicates + 1
    return query, item


def check_sizes(staged: Staged, got: BucketMetrics, p: Published) -> None:
    relations = p.sts if p.links == "independent" else p.sts[:1]
    held = [n for relation in relations for n in sizes(relation).values()]
    least = staged.plan.spec.minimum_size
    assert got.additional_loss == close(sum(n - least for n in held) / (least * len(held)))
    assert got.sizes == {str(n): held.count(n) for n in sorted(set(held))}
    assert got.discernibility == close(sum(map(discernibility, relations)) / len(relations))
    assert got.suppression == staged.facts["suppressed"] / 30


def check_membership(got: BucketMetrics, p: Published, rows: Sequence[Row]) -> None:
    beside = [c for c in columns(p.sts[0]) if c in ("a", "b", "c")]
    if len(p.qits) == 1 and not beside:
        assert got.membership is None
        return
    parts = [{n: row[n] for n in ("group_id", *beside, "count")} for row in p.sts[0]]
    qits = [parts, *p.qits] if beside else p.qits
    expected = sliced_risks.membership(Published(qits, []), rows, ["a", "b", "c"])
    assert got.membership == Membership(**asdict(expected))


# -- command line -------------------------------------------------------------------------------


@pytest.mark.slow
def test_metrics_are_shown_and_kept(db: Database, tmp_path: Path) -> None:
    registry.build(db)
    method = {
        "name": "slamsa",
        "sensitive_tables": 3,
        "quasi_tables": [["sex", "age"], ["zip"]],
        "association": "pearson",
    }
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(registry.document(method=method)))
    dsn = db.dsn("steward")
    ran = pganon("run", str(file), "--metrics", "all", "--json", "--dsn", dsn)
    assert ran.code == 0, ran.err
    kept = pganon("show", "registry", "--json", "--dsn", dsn).json["versions"][0]["measures"]
    assert kept["metrics"] == ran.json["metrics"]
    assert ran.json["metrics"]["workload"]["workload"]["queries"] == 1000
    assert any("association: pearson" in warning for warning in ran.json["warnings"])
    text = pganon("show", "registry", "--dsn", dsn).out
    for said in ("r = 3", "fakes", "additional loss", "a sensitive column", "bucket sizes"):
        assert said in " ".join(text.split())
    only = pganon("run", str(file), "--workload", "queries=5", "--force", "--json", "--dsn", dsn)
    assert only.code == 0, only.err
    assert only.json["metrics"]["reconstruction"] is None
    assert "reconstruction" not in pganon("show", "registry", "--dsn", db.dsn("analyst")).out
