"""The four rules for NULL in quasi-identifiers, and NULL among sensitive values."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from psycopg.types.range import Range

from tests.support.harness.driver import Connection, Staged, refused, run
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only


def build(db: Any, kind: str, values: list[Any]) -> Connection:
    make_table(db.connect("source_owner"), {"q": kind}, [[value] for value in values])
    return db.owner()


def shown(staged: Staged) -> list[tuple[Any, ...]]:
    """(q, q_null or nothing, records), one per class."""
    sizes: dict[int, int] = {}
    for row in staged.table("records"):
        sizes[row["class_id"]] = sizes.get(row["class_id"], 0) + 1
    found = [
        (row["q"], *([row["q_null"]] if "q_null" in row else []), sizes[class_id])
        for class_id, row in staged.classes.items()
    ]
    return sorted(found, key=str)


def closed(lo: int, hi: int) -> Range[Decimal]:
    return Range(Decimal(lo), Decimal(hi), "[]")


AS_VALUE = [
    ([1, 2, 8, 9], {(closed(1, 2), False), (closed(8, 9), False)}),
    # NULL is lower than every value, so it falls to the lowest ones.
    ([None, 2, 8, 9], {(closed(2, 2), True), (closed(8, 9), False)}),
    ([None, None, 8, 9], {(None, True), (closed(8, 9), False)}),
    ([None, None], {(None, True)}),
    ([None, None, None, None], {(None, True)}),
]


@pytest.mark.parametrize(("values", "classes"), AS_VALUE)
def test_as_value_may_share_a_class(db: Any, values: list[Any], classes: set[Any]) -> None:
    staged = run(build(db, "integer", values), policy({"q": "q"}, 2))
    assert {row[:2] for row in shown(staged)} == classes


@pytest.mark.parametrize(
    ("kind", "extra"),
    [
        ("text", {}),
        ("text", {"type": "ordinal"}),
        ("text", {"hierarchy": {"prefix": [1]}}),
        ("date", {}),
        ("date", {"hierarchy": {"date": ["month"]}}),
        ("integer", {"hierarchy": {"intervals": [5]}}),
        ("boolean", {}),
        ("text", {"type": "ordinal", "order": ["a", "b"]}),
        ("text", {"hierarchy": {"inline": {"*": ["a", "b"]}}}),
    ],
)
def test_a_column_of_nothing_but_null(db: Any, kind: str, extra: dict[str, Any]) -> None:
    conn = build(db, kind, [None] * 4)
    for choose in ("width", "loss"):
        staged = run(conn, policy({"q": extra}, 2, method={"name": "mondrian", "choose": choose}))
        assert shown(staged) == [(None, True, 4)]
        assert staged.utility.gcp == 0


@pytest.mark.parametrize("rule", ["as_value", "own_class", "suppress", "reject"])
def test_columns_depend_on_the_policy_not_on_the_data(db: Any, rule: str) -> None:
    staged = run(build(db, "integer", [1, 2]), policy({"q": {"nulls": rule}}, 2))
    assert ("q_null" in staged.table("classes")[0]) == (rule == "as_value")


def test_own_class_is_never_mixed(db: Any) -> None:
    owner = build(db, "integer", [None, None, None, 1, 2, 3])
    staged = run(owner, policy({"q": {"nulls": "own_class"}}, 3))
    assert shown(staged) == sorted([(None, 3), (closed(1, 3), 3)], key=str)


OWN = {"q": {"nulls": "own_class"}}


def test_own_class_that_is_too_small_is_refused_with_what_would_do(db: Any) -> None:
    owner = build(db, "integer", [None, *range(6)])
    with refused("infeasible") as errors:
        run(owner, policy(OWN, 3))
    limit = re.findall(r"suppression_limit: ([0-9.]+)", errors[0].hint or "")
    assert "1 of 2 parts" in str(errors[0])
    staged = run(owner, policy(OWN, 3, on_infeasible="suppress", suppression_limit=float(limit[0])))
    assert staged.facts["suppressed"] == 1


@pytest.mark.parametrize("missing", [1, 2, 3, 7, 10])
def test_the_named_limit_is_enough_and_no_larger_than_needed(db: Any, missing: int) -> None:
    owner = build(db, "integer", [None] * missing + list(range(100 - missing)))
    suppress = policy({"q": {"nulls": "suppress"}}, 3)
    with refused("suppression_limit") as errors:
        run(owner, suppress)
    limit = float(re.findall(r"[0-9.]+$", errors[0].hint or "")[0])
    assert limit == missing / 100
    assert run(owner, {**suppress, "suppression_limit": limit}).facts["suppressed"] == missing
    with refused("suppression_limit"):
        run(owner, {**suppress, "suppression_limit": limit - 0.0001})


def test_the_named_limit_counts_what_other_rules_suppress(db: Any) -> None:
    rows = [[None, 1]] * 4 + [[1, None]] + [[n, n] for n in range(15)]
    make_table(db.connect("source_owner"), {"a": "integer", "b": "integer"}, rows)
    owner = db.owner()
    columns = {"a": {"nulls": "suppress"}, "b": {"nulls": "own_class"}}
    with refused("infeasible") as errors:
        run(owner, policy(columns, 2))
    limit = re.findall(r"suppression_limit: ([0-9.]+)", errors[0].hint or "")
    assert limit == ["0.25"]
    staged = run(owner, policy(columns, 2, on_infeasible="suppress", suppression_limit=0.25))
    assert (staged.facts["suppressed"], staged.facts["published"]) == (5, 15)


def test_reject_names_column_and_count(db: Any) -> None:
    owner = build(db, "integer", [None, 1, 2])
    with refused("nulls_rejected") as errors:
        run(owner, policy({"q": {"nulls": "reject"}}, 2))
    assert "column q is NULL in 1 record" in str(errors[0])


@pytest.mark.parametrize(
    ("values", "l", "holds"),
    [([None, 1], 2, True), ([None, None], 2, False), ([None, None, 1], 3, False)],
)
def test_sensitive_null_counts_as_one_value(
    db: Any,
    values: list[Any],
    l: int,  # noqa: E741
    holds: bool,
) -> None:
    make_table(db.connect("source_owner"), {"q": "integer", "s": "integer"},
               [[1, value] for value in values])  # fmt: skip
    declared = policy(
        {"q": "q", "s": "s"}, [{"model": "distinct_l_diversity", "column": "s", "l": l}]
    )
    if holds:
        assert run(db.owner(), declared).verified("distinct_l_diversity") == [l]
    else:
        with refused():
            run(db.owner(), declared)


def test_sensitive_null_can_be_rejected(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "integer", "s": "integer"}, [[1, None], [1, 1]])
    with refused("nulls_rejected"):
        run(db.owner(), policy({"q": "q", "s": {"role": "sensitive", "nulls": "reject"}}, 2))
