"""Metrics of examples that were worked out by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from psycopg import sql
from sqlglot import exp

from pganon.forms.request import Request, Workload
from pganon.metrics import queries
from pganon.metrics.report import ClassMetrics, metrics_of
from pganon.sqltools import cast, named, num, query, text
from tests.support.harness.driver import Staged, fetch
from tests.support.sources.builders import make_table, policy
from tests.support.sources.forced import run_with

pytestmark = pytest.mark.primary_server_only

POINTS = ({"x": "integer", "y": "integer"}, [(0, 0), (2, 0), (0, 1), (2, 1), (8, 4)])
PAIRS = (POINTS[0], list(POINTS[1]) * 2)
PEOPLE = (
    {"age": "integer", "sex": "text"},
    [(20, "F"), (22, "F"), (24, "M"), (30, "M"), (34, "M"), (40, "F")],
)
Table = tuple[dict[str, str], Sequence[Sequence[Any]]]
Measure = Callable[..., tuple[Staged, ClassMetrics]]


@pytest.fixture
def measure(db: Any, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Metrics of a table with given classes of keys from 1."""

    def measured(
        table: Table, classes: Sequence[Sequence[int]], request: Request | None = None
    ) -> tuple[Staged, ClassMetrics]:
        request = request or Request(everything=True)
        make_table(db.connect("source_owner"), *table)
        staged = run_with(
            monkeypatch, db.owner(), policy(dict.fromkeys(table[0], "q"), 1 + 1), classes, request
        )
        found = metrics_of(staged.plan.spec, request, staged.state)
        assert found is not None
        return staged, found

    return measured


@pytest.mark.parametrize(
    ("table", "classes", "gcp", "rgcp"),
    [
        # The far point costs nothing in the sum of GCP if suppressed, and most in RGCP.
        pytest.param(POINTS, [[1, 2, 3, 4]], (4 * 0.25 + 1) / 5, 20, id="G2-one-suppressed"),
        pytest.param(POINTS, [[1, 2, 3, 4, 5]], 1, 10, id="G2-one-class"),
        pytest.param(PAIRS, [[1, 6], [2, 7], [3, 8], [4, 9], [5, 10]], 0, 0, id="G2-equal-points"),
    ],
)
def test_rgcp(
    measure: Measure, table: Table, classes: list[list[int]], gcp: float, rgcp: float
) -> None:
    staged, found = measure(table, classes)
    assert staged.utility.gcp == pytest.approx(gcp)
    assert found.rgcp == pytest.approx(rgcp)
    # Suppressing everything costs 4 x 5 x 2 = 40 of five points; such a release is refused.
    assert found.rgcp_relative == pytest.approx(rgcp / (8 * len(table[1])))


@pytest.mark.parametrize(
    ("classes", "gcp", "links"),
    [
        pytest.param([[1, 2, 3], [4, 5, 6]], 8.1, 2.0, id="G11-neighbours"),
        pytest.param([[1, 3, 5], [2, 4, 6]], 10.8, 4 / 3, id="G11-mixed"),
    ],
)
def test_linkage(measure: Measure, classes: list[list[int]], gcp: float, links: float) -> None:
    staged, got = measure(PEOPLE, classes)
    assert staged.utility.gcp * 6 * 2 == pytest.approx(gcp)
    assert got.links == pytest.approx(links)
    assert got.linked == pytest.approx(links / 6)


@pytest.mark.parametrize("classes", [pytest.param([[1, 3, 5], [2, 4, 6]], id="G11-age")])
def test_distribution_of_a_number(measure: Measure, classes: list[list[int]]) -> None:
    _, got = measure(PEOPLE, classes)
    assert got.attributes is not None
    age = got.attributes["age"]
    assert age.emd == pytest.approx(0.733333 / 20, abs=1e-6)
    assert age.difference == pytest.approx(0, abs=1e-9)
    assert age.half_width == pytest.approx(0.247923, abs=1e-6)
    assert age.absolute == pytest.approx(0.266667, abs=1e-6)


@pytest.mark.parametrize("classes", [pytest.param([[1, 2, 3]], id="G11-suppressed")])
def test_most_records_suppressed(measure: Measure, classes: list[list[int]]) -> None:
    _, got = measure(PEOPLE, classes)
    assert (got.rgcp, got.links) == (pytest.approx(24), pytest.approx(1))
    assert got.attributes is not None
    assert got.attributes["age"].emd == pytest.approx(6.333333 / 20, abs=1e-6)
    assert got.attributes["age"].kl is None
    assert got.attributes["age"].uncovered == pytest.approx(0.5)


@pytest.mark.parametrize("classes", [pytest.param([[1, 2], [3, 4, 5, 6]], id="G11-queries")])
def test_queries(
    measure: Measure, monkeypatch: pytest.MonkeyPatch, classes: list[list[int]]
) -> None:
    """Ages 22-30, 35-40 and 20-22, and the women."""
    codes = [20, 22, 24, 30, 34, 40]

    def asked(spec: Any, workload: Workload, state: Any) -> exp.Expr:
        rows = [(22, 30, None), (40, 40, None), (20, 22, None), (None, None, "010")]
        parts = []
        for number, (low, high, bits) in enumerate(rows, start=1):
            values = {"query": num(number), "a0": num(0 if bits is None else 1)}
            for name, value in (("low0", low), ("high0", high)):
                # The second query begins at 35, between two values.
                given = 35 if (name, value) == ("low0", 40) else value
                # Distances from the lowest age.
                away = exp.null() if given is None else num(given - codes[0])
                values[name] = cast(away, "float8")
            for name, value in (("first0", low), ("last0", high)):
                code = exp.null() if value is None else num(codes.index(value) + 1)
                values[name] = cast(code, "integer")
            values["bits0"] = cast(exp.null() if bits is None else text(bits), "varbit")
            parts.append(exp.select(*[named(v, k) for k, v in values.items()]))
        union: Any = parts[0]
        for part in parts[1:]:
            union = exp.union(union, part, distinct=False)
        return query("select u.* from u", {"u": union})

    monkeypatch.setattr(queries, "queries", asked)
    request = Request(workload=Workload(queries=4, predicates=1))
    staged, got = measure(PEOPLE, classes, request)
    names = (staged.state.work("mexact").identifier, staged.state.work("mestimate").identifier)
    exact, estimate = (
        {
            row["query"]: row["n"]
            for row in fetch(staged.conn, sql.SQL("SELECT * FROM {}").format(n))
        }
        for n in names
    )
    assert exact == {1: 3, 2: 1, 3: 2, 4: 3}
    # A range of whole numbers is full of whole numbers: 9 of 21-22, 7 of 24-40 years.
    assert estimate == {
        1: pytest.approx(2.313725, abs=1e-6),
        2: pytest.approx(1.411765, abs=1e-6),
        3: pytest.approx(2),
        4: pytest.approx(4),
    }
    assert got.workload is not None
    assert got.workload.count.mean == pytest.approx((0.228758 + 0.411765 + 0 + 1 / 3) / 4, abs=1e-6)
    assert got.workload.count.median == pytest.approx((0.228758 + 1 / 3) / 2, abs=1e-6)


@pytest.mark.parametrize("classes", [pytest.param([[1, 2], [3, 4, 5, 6]], id="G11-sex")])
def test_distribution_of_a_set(measure: Measure, classes: list[list[int]]) -> None:
    _, got = measure(PEOPLE, classes)
    assert got.attributes is not None
    assert got.attributes["sex"].emd == pytest.approx(1 / 6)
