"""Metrics computed in the database against the brute force of tests.support.oracles.metric."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from psycopg import sql

from pganon.errors import PrivacyRefusal
from pganon.forms.metrics import Errors
from pganon.forms.request import Request, Workload
from pganon.metrics.report import ClassMetrics, metrics_of
from tests.support.harness.driver import Connection, Staged, drop_leftovers, fetch, run
from tests.support.harness.examples import examples
from tests.support.oracles.definitions import Ordered, Ordinal
from tests.support.oracles.metric import Class, Release, vulnerable
from tests.support.sources.builders import Case, cases, make_table

pytestmark = pytest.mark.primary_server_only

WORKLOAD = Workload(queries=25, predicates=2, selectivity=0.2, seed=7)
REQUEST = Request(everything=True, workload=WORKLOAD)
SETTINGS = examples(3)


@pytest.fixture
def tables(db: Any) -> tuple[Connection, Connection]:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


def release_of(case: Case, staged: Staged) -> Release:
    """What was published, as the oracle sees it."""
    records = {record.id: record for record in case.records}
    spec = staged.plan.spec
    classes = []
    for number, row in staged.classes.items():
        shown = tuple(
            (row[a.published], row[a.null_column] if a.null_column else row[a.published] is None)
            for a in spec.attributes
        )
        classes.append(Class(tuple(records[i] for i in staged.members[number]), shown))
    return Release(case.attributes, case.records, classes)


def close(expected: float | None) -> Any:
    return expected if expected is None else pytest.approx(expected, rel=1e-7, abs=1e-7)


def check_attributes(got: ClassMetrics, release: Release) -> None:
    assert got.attributes is not None
    for i in range(len(release.attributes)):
        found = got.attributes[f"q{i}"]
        assert found.glm == close(release.glm(i))
        assert found.entropy == close(release.entropy(i))
        if found.height is not None:
            assert found.height == close(release.height(i))
        if not release.on_line(i) or release.attributes[i].domain:
            assert found.emd == close(release.emd(i))
            relative = release.relative(i)
            assert (found.difference, found.half_width, found.absolute) == (
                tuple(map(close, relative)) if relative else (None, 0.0, None)
            )
        assert found.kl == close(release.kl(i))
        assert (found.uncovered > 0) == (release.kl(i) is None)


def check_whole(got: ClassMetrics, release: Release) -> None:
    count = len(release.attributes)
    assert got.glm == close(sum(map(release.glm, range(count))) / count)
    assert got.kl == close(release.joint_kl())
    assert got.links == close(release.links())
    assert got.links_box == close(release.links(box=True))
    expected = release.rgcp()
    if expected is not None:
        assert got.rgcp == close(expected)
    groups = [[record.sensitive[0] for record in c.records] for c in release.classes]
    assert got.vulnerable == {"secret": close(vulnerable(groups, 0.5))}


def asked_of(staged: Staged, release: Release) -> list[dict[int, list[Any]]]:
    """The queries that were drawn, as values per attribute."""
    found = []
    table = staged.state.work("mqueries").identifier
    for row in fetch(staged.conn, sql.SQL("SELECT * FROM {} ORDER BY query").format(table)):
        asked: dict[int, list[Any]] = {}
        for i, attribute in enumerate(release.attributes):
            p = next((name[1:] for name in ("a0", "a1", "a2") if row.get(name) == i), "none")
            if row.get(f"first{p}") is not None:
                asked[i] = attribute.domain[row[f"first{p}"] - 1 : row[f"last{p}"]]
            elif row.get(f"bits{p}") is not None:
                bits = row[f"bits{p}"][1:]
                asked[i] = [v for v, bit in zip(attribute.domain, bits, strict=True) if bit == "1"]
        found.append(asked)
    return found


def check_workload(got: ClassMetrics, staged: Staged, release: Release) -> None:
    queries = asked_of(staged, release)
    assert len(queries) == WORKLOAD.queries
    count = min(WORKLOAD.predicates, len(release.attributes))
    for asked in queries:
        assert len(asked) == count
        for i, values in asked.items():
            size = len(release.attributes[i].domain)
            if size:
                wide = max(1, round(size * WORKLOAD.selectivity ** (1 / count)))
                assert len(values) == wide
    assert got.workload is not None
    exact = [release.exact(asked) for asked in queries]
    guessed = [release.estimate(asked) if all(asked.values()) else (0, 0) for asked in queries]
    for n, errors in enumerate((got.workload.count, got.workload.sums["secret"])):
        pairs = [(e[n], g[n]) for e, g in zip(exact, guessed, strict=True)]
        assert errors == errors_of(pairs)
    assert got.workload.bounds is not None
    assert got.workload.bounds.outside == 0


def errors_of(pairs: list[tuple[float, float]]) -> Errors:
    found = sorted(abs(guess - exact) / abs(exact) for exact, guess in pairs if exact)
    if not found:
        return Errors(None, None, len(pairs))
    middle = (found[(len(found) - 1) // 2] + found[len(found) // 2]) / 2
    mean = sum(found) / len(found)
    quantiles = [close(_quantile(found, part)) for part in (0.25, 0.75, 0.95)]
    return Errors(close(middle), close(mean), len(pairs) - len(found), *quantiles)


def _quantile(ordered: list[float], part: float) -> float:
    """Linear between the two nearest, as percentile_cont has it."""
    place = part * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def check(tables: tuple[Connection, Connection], case: Case) -> None:
    source, owner = tables
    make_table(source, case.columns, case.rows)
    drop_leftovers(owner)
    try:
        staged = run(owner, case.mondrian, request=REQUEST)
    except PrivacyRefusal:
        return
    release = release_of(case, staged)
    got = metrics_of(staged.plan.spec, REQUEST, staged.state)
    assert got is not None
    check_attributes(got, release)
    check_whole(got, release)
    check_workload(got, staged, release)


@pytest.mark.random_tables
@given(case=cases(models=False))
@SETTINGS
@pytest.mark.slow
def test_metrics_equal_the_brute_force(tables: tuple[Connection, Connection], case: Case) -> None:
    check(tables, case)


@pytest.mark.random_tables
@given(case=cases(models=False, relaxed=True))
@settings(SETTINGS, max_examples=5)
@pytest.mark.slow
def test_metrics_where_equal_records_are_divided(
    tables: tuple[Connection, Connection], case: Case
) -> None:
    check(tables, case)


def test_ordinal_sets_cover_what_is_suppressed_between_their_ends(
    tables: tuple[Connection, Connection],
) -> None:
    """The record with d and an age of 90 is left out; {a, f} are shown of the others."""
    rows = [["a", 1, 7], ["f", 1, 7], ["d", 90, 7], ["a", 1, 8], ["f", 1, 8]]
    quasi = {"role": "quasi_identifying"}
    case = Case(
        {"q0": "text", "q1": "integer", "secret": "integer"},
        rows,
        {
            "release": "r",
            "source": "public.t",
            "columns": {
                "q0": {**quasi, "type": "ordinal"},
                "q1": {**quasi, "weight": 9},
                "secret": {"role": "sensitive"},
            },
            "privacy": [{"model": "k_anonymity", "k": 4}],
            "method": {"name": "mondrian", "price": 0},
            "suppression_limit": 0.2,
        },
        [Ordinal([row[0] for row in rows]), Ordered([row[1] for row in rows], weight=9)],
    )
    check(tables, case)


def test_sets_of_numbers_cover_them_however_they_were_written(
    tables: tuple[Connection, Connection],
) -> None:
    """Digits that say nothing are cut from published sets."""
    source, owner = tables
    make_table(source, {"code": "numeric"}, [("1.0",), ("1.0",), ("2.00",), ("2.00",)])
    policy = {
        "release": "codes",
        "source": "public.t",
        "columns": {"code": {"role": "quasi_identifying", "type": "categorical"}},
        "privacy": [{"model": "k_anonymity", "k": 2}],
        "method": {"name": "mondrian"},
    }
    staged = run(owner, policy, request=REQUEST)
    got = metrics_of(staged.plan.spec, REQUEST, staged.state)
    assert got is not None
    assert got.attributes is not None
    assert got.attributes["code"].uncovered == 0
