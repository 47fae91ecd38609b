"""NULL as a sensitive value: bounds that also hold for who knows that a person has a value."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database
from tests.support.harness.driver import fetch, publish, refused
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"person": "text", "age": "integer", "disease": "text", "drug": "text"}
ONE = {"age": "q", "disease": "s"}
TWO = {**ONE, "drug": "s"}
BUCKETS = [{"model": "slicing_l_diversity", "l": 2}]
UNIQUE = [{**BUCKETS[0], "level": "unique"}]
L = 2
POLICIES = {
    "mondrian": policy(ONE, [{"model": "distinct_l_diversity", "column": "disease", "l": L}]),
    "anatomy": policy(
        ONE,
        [{"model": "anatomy_l_diversity", "column": "disease", "l": L}],
        method={"name": "anatomy"},
    ),
    "slicing": policy(ONE, BUCKETS, method={"name": "slicing", "alpha": 1}),
    "slamsa": policy(TWO, BUCKETS, method={"name": "slamsa", "sensitive_tables": 1}),
    "msb": policy(TWO, UNIQUE, method={"name": "msb"}),
    "sloms": policy(
        TWO, UNIQUE, method={"name": "sloms", "sensitive_tables": 1, "link_threshold": 1}
    ),
    "danonyir": policy(
        {"person": "individual", **ONE},
        [{"model": "eir_l_diversity", "column": "disease", "l": L}],
        method={"name": "danonyir"},
    ),
}
SHARES = ("anatomy", "slicing", "slamsa", "msb", "sloms")
"""Methods that bound the share of a value, not only the number of values."""


def conditional(declared: dict[str, Any]) -> dict[str, Any]:
    columns = {
        name: {**column, "nulls": "conditional"} if name == "disease" else column
        for name, column in declared["columns"].items()
    }
    return {**declared, "columns": columns}


@pytest.fixture
def source(db: Database) -> Database:
    """Ages with few diseases each, and many records without one."""
    rng = random.Random(5)
    rows = []
    for n in range(90):
        age = n // 3
        disease = None if n % 3 == 0 else f"d{(age // 6 + (rng.random() < 0.3)) % 5}"
        rows.append([f"p{n}", age, disease, f"m{n % 7}"])
    make_table(db.connect("source_owner"), COLUMNS, rows)
    return db


def groups(db: Database) -> list[Counter[Any]]:
    """Records by disease in every group, from the published views."""
    views = [
        row["name"]
        for row in fetch(
            db.admin,
            sql.SQL("SELECT viewname::text AS name FROM pg_views WHERE schemaname = 'published'"),
        )
    ]
    tables = [view for view in views if re.search(r"_st[0-9]*$", view)] or ["r"]
    found: dict[Any, Counter[Any]] = defaultdict(Counter)
    for table in tables:
        rows = fetch(
            db.admin, sql.SQL("SELECT * FROM {}").format(sql.Identifier("published", table))
        )
        for row in rows:
            if "disease" in row:
                group = row.get("group_id", row.get("class_id"))
                found[group][row["disease"]] += row.get("count", 1)
    return list(found.values())


def holds(method: str, group: Counter[Any]) -> bool:
    """Whether l = 2 holds for who knows that the victim has a disease."""
    known = {value: n for value, n in group.items() if value is not None}
    if not known:
        return True
    if method in SHARES:
        return L * max(known.values()) <= sum(known.values())
    return len(known) >= L


@pytest.mark.parametrize("method", POLICIES)
@pytest.mark.slow
def test_the_bound_holds_without_the_nulls(source: Database, method: str) -> None:
    publish(source, POLICIES[method])
    assert not all(holds(method, group) for group in groups(source)), "NULL does not matter here"
    publish(source, {**conditional(POLICIES[method]), "release": "r"})
    found = groups(source)
    assert any(None in group for group in found)
    assert all(holds(method, group) for group in found)


def test_the_guarantee_says_both(source: Database) -> None:
    result = publish(source, conditional(POLICIES["anatomy"]))
    (row,) = fetch(
        source.owner(),
        sql.SQL("SELECT jsonb_agg(details ORDER BY position) AS guarantee FROM pganon.guarantees"),
    )
    (stated,) = row["guarantee"]
    assert (stated["l"], stated["if_not_null"]) == (3, {"l": 2, "level": "attribute"})
    assert [v.required for v in result.verified if v.model == "anatomy_l_diversity"] == [3]


@pytest.mark.parametrize(("alpha", "k", "left"), [(0.5, 2, 2), (0.5, 7, 5), (1, 4, 2)])
def test_the_k_of_who_knows_that_there_is_a_value(
    source: Database, alpha: float, k: int, left: int
) -> None:
    model = {"model": "alpha_k_anonymity", "column": "disease", "alpha": alpha, "k": k}
    publish(source, conditional(policy(ONE, [model])))
    (row,) = fetch(
        source.owner(),
        sql.SQL("SELECT jsonb_agg(details ORDER BY position) AS guarantee FROM pganon.guarantees"),
    )
    assert row["guarantee"][1]["if_not_null"] == {"alpha": alpha, "k": left}
    found = [sum(n for value, n in group.items() if value is not None) for group in groups(source)]
    assert left <= min(found)


def test_a_small_alpha_leaves_more_records_with_a_value_than_k(db: Database) -> None:
    make_table(
        db.connect("source_owner"),
        {"age": "integer", "disease": "text"},
        [[n, None if n % 10 == 0 else f"v{n % 10}"] for n in range(40)],
    )
    model = {"model": "alpha_k_anonymity", "column": "disease", "alpha": 0.25, "k": 2}
    publish(db, conditional(policy(ONE, [model])))
    (row,) = fetch(
        db.owner(),
        sql.SQL("SELECT jsonb_agg(details ORDER BY position) AS guarantee FROM pganon.guarantees"),
    )
    assert row["guarantee"][1]["if_not_null"] == {"alpha": 0.25, "k": 4}
    found = [sum(n for value, n in group.items() if value is not None) for group in groups(db)]
    assert min(found) >= 4


@pytest.mark.parametrize("method", ["anatomy", "mondrian", "danonyir"])
def test_the_largest_l_that_a_refusal_names_is_accepted(source: Database, method: str) -> None:
    asked = {**conditional(POLICIES[method]), "suppression_limit": 0.9}
    with refused("infeasible") as errors:
        publish(source, {**asked, "privacy": [{**asked["privacy"][0], "l": 50}]})
    named = int(re.findall(r"at most l = (\d+)", errors[0].hint or "")[0])
    best = {**asked, "privacy": [{**asked["privacy"][0], "l": named}]}
    assert publish(source, best).version == 1
    with refused("infeasible"):
        publish(source, {**asked, "privacy": [{**asked["privacy"][0], "l": named + 1}]})


def test_an_l_that_was_not_raised_is_named_as_it_is(db: Database) -> None:
    """At level tuple the l of a single column is no more than was asked for."""
    make_table(
        db.connect("source_owner"),
        {"age": "integer", "disease": "text"},
        [[n, None if n % 2 else f"v{n % 3}"] for n in range(40)],
    )
    model = {"model": "slicing_l_diversity", "level": "tuple"}
    declared = conditional(policy(ONE, BUCKETS, method={"name": "slamsa"}))
    with refused("infeasible") as errors:
        publish(db, {**declared, "privacy": [{**model, "l": 3}]})
    assert "l = 3 allows at most 13" in str(errors[0])
    assert (errors[0].hint or "").startswith("require at most l = 2")
    assert publish(db, {**declared, "privacy": [{**model, "l": 2}]}).version == 1


@pytest.mark.parametrize("alpha", ["0.3", "0.5", "0.6", "0.75", "1"])
def test_a_group_exactly_at_the_bound_is_released(db: Database, alpha: str) -> None:
    """NULL is as frequent as every value may be; without it each has exactly the share alpha."""
    frequent, others = Fraction(alpha).as_integer_ratio()
    values: list[str | None] = [None] * frequent
    left, number = others, 0
    while left:
        values += [f"v{number}"] * min(frequent, left)
        left, number = left - min(frequent, left), number + 1
    make_table(
        db.connect("source_owner"),
        {"age": "integer", "disease": "text"},
        [[group * 10, value] for group in range(2) for value in values],
    )
    model = {"model": "alpha_k_anonymity", "column": "disease", "alpha": float(alpha), "k": 2}
    result = publish(db, conditional(policy(ONE, [model])))
    assert result.utility is not None
    assert result.utility.classes == 2


def test_a_bound_that_no_fraction_of_the_records_has(db: Database) -> None:
    """A third is more than 0.3333333333333333; as floats both are the same."""
    make_table(
        db.connect("source_owner"),
        {"age": "integer", "disease": "text"},
        [[n, f"v{n % 3}"] for n in range(30)],
    )
    model = {"model": "alpha_k_anonymity", "column": "disease", "alpha": 1 / 3, "k": 2}
    with refused("infeasible") as errors:
        publish(db, policy(ONE, [model]))
    assert "require at least alpha = 0.334" in (errors[0].hint or "")
