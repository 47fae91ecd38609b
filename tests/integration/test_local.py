"""Releases of local generalization and bucketization, judged from what is published."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.sources.builders import make_table

K2 = {"model": "k_anonymity", "k": 2}


def semi(companion: str, **others: Any) -> dict[str, Any]:
    return {"role": "semi_sensitive", "sensitive_when": {"column": companion}, **others}


def diverse(column: str, l: int) -> dict[str, Any]:  # noqa: E741 (the field's letter)
    return {"model": "local_bucket_diversity", "column": column, "l": l}


def local_policy(columns: dict[str, Any], privacy: list[dict[str, Any]], **others: Any) -> Any:
    full = {n: {"role": c} if isinstance(c, str) else c for n, c in columns.items()}
    method = {"name": "lgb_ncp", **others.pop("method", {})}
    return {
        "release": "r",
        "source": "public.t",
        "columns": full,
        "privacy": privacy,
        "method": method,
        **others,
    }


def groups(staged: Staged) -> list[list[int]]:
    """Keys of the records of every group."""
    found: dict[int, list[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["group_id"], []).append(int(row["member"]))
    return sorted(map(sorted, found.values()))


def values(staged: Staged, j: int, column: str) -> list[list[Any]]:
    """Values of every bucket of a column."""
    found: dict[int, list[Any]] = {}
    for row in staged.table(f"values{j}"):
        found.setdefault(row[f"{column}_bucket"], []).extend([row[column]] * row["count"])
    return sorted(sorted(v, key=lambda x: (x is None, x)) for v in found.values())


# The table of the paper's example: age and zip are hidden where the flag says so.
EXAMPLE = [
    ("F", 22, False, 3201, True, "flu"),
    ("F", 27, False, 3225, True, "bronchitis"),
    ("M", 41, False, 3236, False, "dyspepsia"),
    ("M", 24, True, 3271, False, "pneumonia"),
    ("F", 29, True, 3285, False, "flu"),
    ("M", 45, False, 3242, False, "gastritis"),
    ("F", 34, True, 3290, False, "dyspepsia"),
    ("M", 31, True, 3276, False, "bronchitis"),
]
EXAMPLE_COLUMNS = {
    "gender": "quasi_identifying",
    "age": semi("age_private"),
    "zip": semi("zip_private"),
    "disease": "sensitive",
}
EXAMPLE_MODELS = [K2, diverse("age", 2), diverse("zip", 2), diverse("disease", 2)]


def make_example(db: Database) -> None:
    make_table(
        db.connect("source_owner"),
        {
            "gender": "text",
            "age": "integer",
            "age_private": "boolean",
            "zip": "integer",
            "zip_private": "boolean",
            "disease": "text",
        },
        EXAMPLE,
    )


METHODS = ["lgb_mdp", "lgb_ncp"]


@pytest.mark.parametrize("method", METHODS)
def test_example_of_the_paper(db: Database, method: str) -> None:
    make_example(db)
    declared = local_policy(
        EXAMPLE_COLUMNS, EXAMPLE_MODELS, method={"name": method, "link_threshold": 1}
    )
    staged = run(db.owner(), declared)
    assert groups(staged) == [[1, 2], [3, 6], [4, 8], [5, 7]]
    assert values(staged, 0, "age") == [[24, 29], [31, 34]]
    assert values(staged, 1, "zip") == [[3201, 3225]]
    assert values(staged, 2, "disease") == [
        ["bronchitis", "dyspepsia"],
        ["bronchitis", "dyspepsia"],
        ["flu", "gastritis"],
        ["flu", "pneumonia"],
    ]
    assert staged.utility.discernibility == 16
    forms = Counter((row["age_form"], row["zip_form"]) for row in staged.table("groups"))
    assert forms == {("g", "b"): 1, ("g", "g"): 1, ("b", "g"): 2}
    for row in staged.table("groups"):
        assert (row["age"] is None) == (row["age_form"] == "b")
        assert (row["zip"] is None) == (row["zip_form"] == "b")
