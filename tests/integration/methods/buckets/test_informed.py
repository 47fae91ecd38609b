"""What readers of independent buckets learn who know which sensitive values go together."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.harness.cluster import Database
from tests.support.harness.driver import drop_leftovers, fetch, publish, run, sql
from tests.support.harness.examples import examples
from tests.support.oracles.sliced import holder
from tests.support.oracles.sliced_risks import informed
from tests.support.sources import registry
from tests.support.sources.builders import make_table, policy
from tests.support.sources.given_buckets import run_with
from tests.support.sources.registry import BUCKETS
from tests.support.sources.slamsa import shown

pytestmark = pytest.mark.primary_server_only

BOUND = [{"model": "slicing_l_diversity", "l": 2}]
TABLES = [["cancer"], ["symptom"]]


def free(**options: Any) -> dict[str, Any]:
    return {"name": "slamsa", "profile": "independent", "link_threshold": 1, **options}


def of_registry(method: dict[str, Any]) -> dict[str, Any]:
    declared = registry.document(privacy=BOUND, method=method)
    held = {name for table in TABLES for name in table}
    columns = {
        n: c for n, c in declared["columns"].items() if c["role"] != "sensitive" or n in held
    }
    return {**declared, "columns": columns}


def test_the_worked_example(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """4/11 and 3/7 of two patients; the highest of all is 1/2."""
    registry.build(db)
    buckets = [BUCKETS["cancer"], BUCKETS["symptom"]]
    declared = of_registry(free(sensitive_tables=TABLES))
    staged = run_with(monkeypatch, db.owner(), declared, buckets)
    assert staged.utility.sensitive["cancer"].informed == pytest.approx(1 / 2)
    assert staged.utility.sensitive["cancer"].degree == 3
    assert "informed risk of cancer" in staged.utility.summary()


def test_one_set_of_buckets_tells_nothing_more(db: Database) -> None:
    registry.build(db)
    declared = of_registry({"name": "slamsa", "sensitive_tables": TABLES})
    staged = run(db.owner(), declared)
    assert staged.utility.sensitive["cancer"].informed is None


@pytest.mark.random_tables
@examples(4)
@given(seed=st.integers(0, 2**32))
@pytest.mark.slow
def test_random_tables(db: Database, seed: int) -> None:
    """Three columns in two tables, NULLs among them, against the definition."""
    rng = random.Random(seed)
    rows = []
    for n in range(60):
        a = rng.randint(0, 4)
        b = rng.choice((f"b{a}", "b0", "b9", None))
        rows.append([n, f"a{a}", b, f"c{rng.randint(0, 3)}"])
    kinds = {"age": "integer", "a": "text", "b": "text", "c": "text"}
    make_table(db.connect("source_owner"), kinds, rows)
    declared = policy(
        {"age": "q", "a": "s", "b": "s", "c": "s"},
        BOUND,
        method=free(sensitive_tables=[["a"], ["b", "c"]]),
        on_infeasible="suppress",
        suppression_limit=0.5,
    )
    drop_leftovers(db.owner())
    staged = run(db.owner(), declared, seed=seed)
    released = shown(staged).published
    source = [dict(zip(kinds, row, strict=True)) for row in rows]
    for name in "abc":
        own = holder(released, name)[0]
        others = [other for other in "abc" if holder(released, other)[0] != own]
        risks = [informed(released, source, row, name, others) for row in released.qits[-1]]
        expected = max(Fraction(max(shares.values())) for shares in risks)
        assert staged.utility.sensitive[name].informed == pytest.approx(float(expected))


@pytest.mark.slow
def test_the_guarantee_says_against_whom_it_holds(db: Database) -> None:
    registry.build(db)
    for method, words in (
        ({"sensitive_tables": TABLES}, False),
        (free(sensitive_tables=TABLES), True),
    ):
        publish(db, of_registry({"name": "slamsa", **method}))
        (row,) = fetch(
            db.owner(),
            sql.SQL(
                "SELECT jsonb_agg(details ORDER BY position) AS guarantee FROM pganon.guarantees"
            ),
        )
        for stated in row["guarantee"]:
            assert stated["profile"] == method.get("profile", "aligned")
            assert stated["adversary"].startswith("who knows the quasi-identifiers of a person")
            assert ("different sensitive tables go together" in stated["adversary"]) is words
