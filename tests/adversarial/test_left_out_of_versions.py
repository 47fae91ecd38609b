"""Attacks through people whom a version leaves out: that they are missing tells of them, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pganon.errors import PganonError
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

K2 = {"model": "k_anonymity", "k": 2}
L2 = {"model": "distinct_l_diversity", "column": "s", "l": 2}
OWN = {"nulls": "own_class"}
LENIENT = {"on_infeasible": "suppress", "suppression_limit": 0.9, "republication": "refuse"}


def make(db: Database, rows: Sequence[Sequence[Any]]) -> None:
    make_table(db.connect("source_owner"), {"q": "integer", "r": "integer", "s": "text"}, rows)


def declared(*models: dict[str, Any], **changes: Any) -> dict[str, Any]:
    columns = changes.pop("columns", {"q": OWN, "r": OWN, "s": "s"})
    document = policy(columns, models, trust=["source_owner"], **LENIENT, **changes)
    if OWN not in columns.values():
        document["on_infeasible"] = "refuse"  # to leave out parts would be refused: there are none
    return document


def refused(db: Database, document: dict[str, Any]) -> str | None:
    with driver.refused("republication") as errors:
        driver.publish(db, document)
    assert driver.leftovers(db) == []
    return _reason(errors[0])


def _reason(error: PganonError) -> str | None:
    return getattr(error, "reason", None)


def test_who_failed_comes_back_beside_a_newcomer(db: Database) -> None:
    """A class of x, x, y, y fails, z comes: all of it is shown, and z is the newcomer's."""
    shown = [(1, 1, v) for v in "abc"]
    failed = [(None, 1, v) for v in "xxyy"]
    make(db, [*shown, *failed])
    l3 = {**L2, "l": 3}
    driver.publish(db, declared(K2, l3))
    make(db, [*shown, *failed, (None, 1, "z")])
    assert refused(db, declared(K2, l3)) == "left_out"


@pytest.mark.slow
def test_two_classes_that_failed_become_one(db: Database) -> None:
    make(db, [(1, 1, "a"), (1, 1, "b"), *[(None, 1, "x")] * 2, *[(1, None, "y")] * 3])
    driver.publish(db, declared(K2, L2))
    together = {"q": {"nulls": "as_value"}, "r": {"nulls": "as_value"}, "s": "s"}
    again = declared({**K2, "k": 5}, L2, columns=together, where="id > 2", release="other")
    assert refused(db, again) == "left_out"


@pytest.mark.slow
def test_who_was_shown_fails_beside_another(db: Database) -> None:
    """x, x were shown; that x, x and one more fail tells the value of the third."""
    others = [(1, 1, "a"), (1, 1, "b")]
    make(db, [*others, *[(None, 1, "x")] * 2])
    driver.publish(db, declared(K2))
    make(db, [*others, *[(None, 1, "x")] * 3])
    assert refused(db, declared(K2, L2)) == "left_out"


@pytest.mark.parametrize("first", ["known", "shown"])
@pytest.mark.slow
def test_a_column_that_is_shown_of_who_is_left_out_for_a_null(db: Database, first: str) -> None:
    """Who is in no group is still in the source: readers know the quasi-identifiers."""
    make(db, [(1, n, "ab"[n % 2]) for n in range(4)] + [(2, None, "a")])
    known = {"q": "q", "r": {"nulls": "suppress"}, "s": "s"}
    shown = {"q": "s", "s": {"nulls": "suppress"}}
    make_more = "insert into public.t values (6, 2, 2, null), (7, 1, 2, 'b'), (8, 2, 2, 'b')"
    db.source(make_more)
    one = declared(K2, columns=known, where="id <= 5")
    two = declared(
        K2,
        columns=shown,
        where="id >= 5",
        release="other",
    )
    before, after = (one, two) if first == "known" else (two, one)
    driver.publish(db, before)
    assert refused(db, after) == "role"


def test_quasi_sensitive_and_quasi_identifying(db: Database) -> None:
    """Readers who know all of these columns are not those who know those of one set."""
    columns = {
        "q": {"role": "quasi_sensitive", "set": "one"},
        "r": {"role": "quasi_sensitive", "set": "two"},
    }
    make(db, [(n % 2, n // 2, "a") for n in range(8)])
    model = {"model": "qs_k_anonymity", "k": 2, "count": "supported"}
    clusters = {**declared(model, columns=columns), "method": {"name": "qs_greedy"}}
    del clusters["on_infeasible"]
    driver.publish(db, clusters)
    known = declared({**K2, "k": 8}, columns={"q": "q", "r": "q"}, release="other")
    assert refused(db, known) == "role"


@pytest.mark.slow
def test_a_null_among_published_values(db: Database) -> None:
    """Its column is shown of all others: who is left out for it is known to have none."""
    columns = {
        "q": {"role": "quasi_sensitive", "set": "one", "nulls": "suppress"},
        "r": {"role": "quasi_sensitive", "set": "two", "nulls": "suppress"},
    }
    clusters = {
        **declared({"model": "qs_k_anonymity", "k": 2, "count": "supported"}, columns=columns),
        "method": {"name": "qs_greedy"},
    }
    del clusters["on_infeasible"]
    make(db, [*[(n % 2, n // 2, "a") for n in range(8)], (None, 1, "a")])
    driver.publish(db, clusters)
    classes = declared(K2, columns={"s": "q"}, where="id > 8", release="other")
    db.source("insert into public.t values (10, 1, 1, 'a')")
    assert refused(db, classes) == "left_out"


def test_who_has_another_record_is_not_left_out(db: Database) -> None:
    make_table(
        db.connect("source_owner"),
        {"person": "text", "q": "integer", "s": "text"},
        [("a", 1, "x"), ("a", None, "x"), ("b", 1, "y"), ("c", None, "y")],
    )
    columns = {"person": {"role": "individual"}, "q": {"nulls": "suppress"}, "s": "s"}
    several = {"records_per_individual": "many_accepted"}
    done = driver.publish(db, declared(K2, columns=columns, **several))
    numbers = db.admin.execute(
        f"select class_id from pganon_private.r{done.run_id}_members order by 1".encode()
    ).fetchall()
    assert numbers == [(0,), (1,), (1,)]
