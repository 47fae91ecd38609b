"""Two versions over one source: numbers of groups and buckets, and the order of rows."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pganon.run.options import Options
from pganon.run.release import run_release
from tests.integration.methods.local.test_local import diverse, local_policy, semi
from tests.support.harness.cluster import Database
from tests.support.harness.driver import loaded, secrets
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

TYPES = {
    "x": "integer",
    "age": "integer",
    "age_private": "boolean",
    "organ": "text",
    "symptom": "text",
}
COLUMNS = {
    "x": "quasi_identifying",
    "age": semi("age_private"),
    "organ": "sensitive",
    "symptom": "sensitive",
}
MODELS = [
    {"model": "k_anonymity", "k": 3},
    *[diverse(column, 2) for column in ("age", "organ", "symptom")],
]
NUMBERS = ("group_id", "age_bucket", "organ_bucket", "symptom_bucket")


def versions(db: Database, method: str, buckets: str) -> list[list[dict[str, Any]]]:
    """Members of two versions, of which the second repeats the buckets of the first."""
    drawn = random.Random(3)
    rows = []
    for i in range(120):
        organ = drawn.randrange(5)
        rows.append([i % 9, drawn.randrange(20, 60), i % 3 > 0, f"o{organ}", f"s{organ}"])
    make_table(db.connect("source_owner"), TYPES, rows)
    limit = 0.3 if buckets == "aligned" else 1
    options = {"name": method, "buckets": buckets, "link_threshold": limit}
    found = []
    for seed in (b"first", b"second"):
        declared = local_policy(COLUMNS, MODELS, method=options)
        with secrets(seed):
            run = run_release(loaded(declared), dsn=db.dsn("steward"), options=Options(force=True))
        text = f"SELECT member, {', '.join(NUMBERS)} FROM pganon_private.r{run.run_id}_members"
        columns = ("member", *NUMBERS)
        rows = db.admin.execute(text).fetchall()  # pyright: ignore
        found.append([dict(zip(columns, row, strict=True)) for row in rows])
    return found


def renumbered(one: list[dict[str, Any]], two: list[dict[str, Any]], name: str) -> dict[int, int]:
    """The number in the second version by that in the first."""
    later = {row["member"]: row[name] for row in two}
    pairs = {(row[name], later[row["member"]]) for row in one}
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == len(pairs), name
    return {a: b for a, b in pairs if a is not None}


def rising(numbers: list[int]) -> float:
    """Share of the pairs that are in the same order in both."""
    pairs = [(i, j) for i in range(len(numbers)) for j in range(i)]
    return sum(numbers[j] < numbers[i] for i, j in pairs) / len(pairs)


@pytest.mark.slow
@pytest.mark.parametrize("buckets", ["independent", "aligned"])
@pytest.mark.parametrize("method", ["lgb_mdp", "lgb_ncp"])
def test_numbers_of_two_versions_tell_nothing(db: Database, method: str, buckets: str) -> None:
    """The same people are together, under numbers that have nothing to do with each other."""
    one, two = versions(db, method, buckets)
    for name in NUMBERS:
        numbers = renumbered(one, two, name)
        assert None not in numbers.values()
        again = [numbers[number] for number in sorted(numbers)]
        assert sorted(again) == list(range(1, len(again) + 1))
        assert len(again) >= 10
        assert sum(a == b for a, b in numbers.items()) <= 5
        assert 0.2 < rising(again) < 0.8


@pytest.mark.slow
def test_numbers_of_columns_tell_nothing_of_each_other(db: Database) -> None:
    """Within a version, too: organ and symptom have equal histograms and equal plans."""
    one, two = versions(db, "lgb_mdp", "independent")
    for rows in (one, two):
        assert sum(row["organ_bucket"] == row["symptom_bucket"] for row in rows) < 12


@pytest.mark.slow
def test_numbers_in_common_are_the_same_in_all_columns(db: Database) -> None:
    for rows in versions(db, "lgb_mdp", "aligned"):
        assert all(row["organ_bucket"] == row["symptom_bucket"] for row in rows)


def test_numbers_do_not_follow_the_values(db: Database) -> None:
    """Plans go from low values to high ones; published numbers do not."""
    drawn = random.Random(5)
    rows = [[i % 9, drawn.randrange(20, 60), True, "o", "s"] for i in range(120)]
    make_table(db.connect("source_owner"), TYPES, rows)
    columns = {"x": "quasi_identifying", "age": semi("age_private")}
    declared = local_policy(columns, MODELS[:2], method={"name": "lgb_mdp"})
    run = run_release(loaded(declared), dsn=db.dsn("steward"), options=Options())
    means = db.admin.execute(
        "SELECT (avg(age) * 1000)::int FROM published.r_values_age GROUP BY age_bucket"  # pyright: ignore
        " ORDER BY age_bucket"
    ).fetchall()
    assert run.version == 1
    assert len(means) > 30
    assert 0.3 < rising([mean for (mean,) in means]) < 0.7
