"""Releases against background knowledge, judged from what is published."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.sources.builders import make_table

D14 = [
    (21, "F", "a"), (27, "M", "a"), (31, "F", "a"), (32, "F", "b"), (33, "M", "b"),
    (37, "M", "a"), (38, "F", "b"), (39, "M", "b"), (43, "F", "c"), (46, "M", "a"),
    (52, "M", "c"), (53, "F", "c"), (56, "M", "a"), (58, "M", "b"),
]  # fmt: skip
"""Table D14 of the examples, records 1 to 14."""

TYPES = {"age": "integer", "sex": "text", "s": "text"}


def background_policy(method: Any, **others: Any) -> dict[str, Any]:
    privacy = [
        {"model": "k_anonymity", "k": others.pop("k", 3)},
        {"model": "beta_likeness", "column": "s", "beta": others.pop("beta", 0.5)},
    ]
    if "knowledge" in others:
        known = {"j": others.pop("j", 0.1), "knowledge": others.pop("knowledge")}
        privacy.append({"model": "background_knowledge", **known})
    return {
        "release": "r",
        "source": "public.t",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "sex": {"role": "quasi_identifying"},
            "s": {"role": "sensitive"},
        },
        "privacy": privacy,
        "method": {"name": method} if isinstance(method, str) else method,
        **others,
    }


def classes(staged: Staged) -> list[list[int]]:
    """Keys of the records of every class."""
    found: dict[int, list[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["class_id"], []).append(int(row["member"]))
    return sorted(map(sorted, found.values()))


@pytest.mark.parametrize(
    "method",
    [
        "beta_primacy",
        {"name": "beta_primacy", "select": "sweep", "division": "none"},
        {"name": "beta_primacy", "select": "nearest", "division": "none"},
        {"name": "beta_primacy", "division": "eligible"},
        "kinc",
        "kagg",
    ],
)
def test_release(db: Database, method: Any) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    staged = run(db.owner(), background_policy(method))
    found = classes(staged)
    assert sorted(key for group in found for key in group) == list(range(1, 15))
    print(found)


def by_age(age: int) -> list[float]:
    if age < 35:
        return [0.6, 0.3, 0.1]
    return [0.4, 0.4, 0.2] if age < 50 else [0.2, 0.3, 0.5]


def make_prior(db: Database) -> None:
    """The priors of G7."""
    rows = [
        (age, sex, value, p)
        for age, sex in {(age, sex) for age, sex, _ in D14}
        for value, p in zip("abc", by_age(age), strict=True)
    ]
    types = {"age": "integer", "sex": "text", "s": "text", "probability": "float8"}
    make_table(db.connect("source_owner"), types, rows, name=("public", "prior"))


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        pytest.param("kagg", [list(range(1, 11))], id="G7 agg absorb"),
        pytest.param("kinc", [[1, 4, 7, 9, 10], [2, 3, 5, 6, 8]], id="G7 inc absorb"),
    ],
)
def test_clusters(db: Database, method: str, expected: list[list[int]]) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    make_prior(db)
    knowledge = {"relation": "public.prior"}
    allowed = {"on_infeasible": "suppress", "suppression_limit": 0.5}
    staged = run(db.owner(), background_policy(method, knowledge=knowledge, **allowed))
    print(classes(staged))
    print(staged.table("audit"))
    print(staged.table("prior"))


@pytest.mark.parametrize("method", ["beta_primacy", "kagg", "kinc"])
def test_kernel(db: Database, method: str) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    knowledge = {"kernel": {"bandwidth": {"age": 0.9, "sex": 2}}}
    allowed = {"on_infeasible": "suppress", "suppression_limit": 0.9}
    policy = background_policy(method, knowledge=knowledge, k=2, j=0.05, beta=3, **allowed)
    staged = run(db.owner(), policy)
    print(classes(staged))
    print(staged.table("audit"))
    print(staged.table("prior"))


@pytest.mark.parametrize("method", ["kagg_mic", "kinc_mic"])
def test_centres(db: Database, method: str) -> None:
    """Means and modes of the published classes, computed from the source."""
    types = {**TYPES, "paid": "numeric", "born": "date", "seen": "timestamptz"}
    rows = [
        (
            age,
            sex,
            s,
            None if age % 5 == 3 else age / 8,
            f"19{age}-0{age % 9 + 1}-11",
            f"2020-01-{age % 28 + 1:02} 08:00+00",
        )
        for age, sex, s in D14
    ]
    make_table(db.connect("source_owner"), types, rows)
    policy = background_policy(method)
    policy["columns"] |= {name: {"role": "quasi_identifying"} for name in ("paid", "born", "seen")}
    staged = run(db.owner(), policy)
    print(classes(staged))
    print(staged.table("classes"))
    print(staged.views if hasattr(staged, "views") else "")
