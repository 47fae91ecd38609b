"""Published values of classes: containment at the bounds, sorted arrays, the lowest ancestor."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.support.harness.driver import drop_leftovers, run
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

FEW = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)
NUMBERS = {
    "bigint": st.integers(-(2**63), 2**63 - 1),
    "numeric": st.decimals(allow_nan=False, allow_infinity=False, places=7),
    "double precision": st.floats(allow_nan=False, allow_infinity=False),
    "real": st.floats(width=32, allow_nan=False, allow_infinity=False),
}


@pytest.fixture
def connections(db: Any) -> Any:
    return db.connect("source_owner"), db.owner()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bigint", "numeric", "double precision", "real"])
@FEW
@given(data=st.data())
def test_every_range_contains_its_values(connections: Any, kind: str, data: Any) -> None:
    source, owner = connections
    values = data.draw(st.lists(NUMBERS[kind], min_size=2, max_size=12))
    make_table(source, {"q": kind}, [[value] for value in values])
    drop_leftovers(owner)
    staged = run(owner, policy({"q": "q"}, 2))
    exact = dict(source.execute("SELECT id, q::text::numeric FROM public.t").fetchall())
    for class_id, ids in staged.members.items():
        shown = staged.classes[class_id]["q"]
        inside = [exact[i] for i in ids]
        # The smallest range: nothing but the outermost values are its bounds.
        assert (shown.lower, shown.upper) == (min(inside), max(inside))


@pytest.mark.slow
@pytest.mark.parametrize(
    "hierarchy", [{"intervals": [5, 10, 20]}, {"intervals": [0.1, 1], "origin": 0.05}]
)
@FEW
@given(data=st.data())
def test_every_interval_contains_its_values(
    connections: Any, hierarchy: dict[str, Any], data: Any
) -> None:
    source, owner = connections
    tenths = st.integers(-600, 600).map(lambda n: Decimal(n) / 20)
    values = data.draw(st.lists(tenths, min_size=2, max_size=12))
    make_table(source, {"q": "numeric"}, [[value] for value in values])
    drop_leftovers(owner)
    staged = run(owner, policy({"q": {"hierarchy": hierarchy}}, 2))
    for class_id, ids in staged.members.items():
        assert all(values[i - 1] in staged.classes[class_id]["q"] for i in ids)


def test_bounds_of_intervals_belong_to_the_upper_one(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "integer"}, [[19], [18], [20], [21]])
    staged = run(db.owner(), policy({"q": {"hierarchy": {"intervals": [10]}}}, 2))
    assert {row["q"] for row in staged.rows("q::text")} == {"[10,20)", "[20,30)"}


def test_arrays_are_sorted_and_of_the_columns_type(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "char(2)"}, [["b"], ["a"], ["B"]])
    staged = run(db.owner(), policy({"q": "q"}, 3))
    rows = staged.rows("q::text, pg_typeof(q)::text AS t")
    assert rows[0] == {"q": '{"B ","a ","b "}', "t": "character[]"}


def test_labels_are_those_of_the_lowest_common_ancestor(db: Any) -> None:
    tree = {"all": {"x": {"x1": ["a", "b"], "x2": ["c"]}, "y": {"y1": ["d"]}}}
    rows = [["a"], ["b"], ["c"], ["c"], ["d"], ["d"]]
    make_table(db.connect("source_owner"), {"q": "text"}, rows)
    declared = policy({"q": {"hierarchy": {"inline": tree}}}, 2)
    assert {r["q"] for r in run(db.owner(), declared).rows()} == {"x1", "c", "d"}
    declared["privacy"] = [{"model": "k_anonymity", "k": 4}]
    assert {r["q"] for r in run(db.owner(), declared).rows()} == {"all"}


def test_insensitive_and_sensitive_columns_stay_with_their_record(db: Any) -> None:
    rows = [[n // 3, n, f"x{n}"] for n in range(9)]
    make_table(db.connect("source_owner"), {"q": "integer", "s": "integer", "i": "text"}, rows)
    declared = policy({"q": "q", "s": {"role": "sensitive", "as": "S 1"}, "i": "i"}, 3)
    published = run(db.owner(), declared).rows()
    assert {(row["q"].lower, row["S 1"], row["i"]) for row in published} == {
        (Decimal(q), s, i) for q, s, i in rows
    }
