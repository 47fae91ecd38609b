"""What people were promised earlier and a new policy says nothing of: models of a distribution."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

VALUES = range(20)
TREE = {"inline": {"all": {"low": [*VALUES[:10]], "high": [*VALUES[10:]]}}}
K = {"model": "k_anonymity", "k": 20}


def declared(column: str, *models: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A release under a name of its own, with classes by one quasi-identifier."""
    found = policy({column: "q", "s": "s"}, [K, *models], trust=["source_owner"])
    if any(model.get("distance") == "hierarchical" for model in models):
        found["columns"]["s"] |= {"hierarchy": TREE}
    return {**found, "release": f"by_{column}", "republication": "refuse", **changes}


def beta(most: float) -> dict[str, Any]:
    return {"model": "beta_likeness", "column": "s", "beta": most}


def closeness(most: float, distance: str) -> dict[str, Any]:
    return {"model": "t_closeness", "column": "s", "t": most, "distance": distance}


@pytest.fixture
def source(db: Database) -> Database:
    """Twenty people of each of four kinds, every value once in each."""
    rows = [[q, z, value] for q in (1, 2) for z in (1, 2) for value in VALUES]
    make_table(db.connect("source_owner"), {"q": "integer", "z": "integer", "s": "integer"}, rows)
    return db


@pytest.mark.parametrize(
    "promised",
    [beta(1.5), closeness(0.01, "ordered")],
    ids=["beta", "ordered"],
)
@pytest.mark.parametrize("also", [(), ({"model": "distinct_l_diversity", "column": "s", "l": 2},)])
def test_a_promise_that_is_still_kept(source: Database, promised: Any, also: Any) -> None:
    """Cells are compared with the source, whether or not the new policy reads its values."""
    driver.publish(source, declared("q", promised))
    assert driver.publish(source, declared("z", *also)).version == 1


@pytest.mark.parametrize(
    ("promised", "observed"),
    [(beta(0.9), 1.0), (closeness(0.9, "equal"), 1.0)],
    ids=["beta", "equal"],
)
def test_a_promise_that_is_broken(source: Database, promised: Any, observed: float) -> None:
    """Two of 20 people can have each value: twice its share, and a distance of 20 * 0.05."""
    driver.publish(source, declared("q", promised))
    with driver.refused("republication") as caught:
        driver.publish(source, declared("z"))
    assert caught[0].model == promised["model"]  # pyright: ignore[reportAttributeAccessIssue]
    assert caught[0].observed == pytest.approx(observed)  # pyright: ignore


def test_a_promise_that_the_policy_gives_up(source: Database) -> None:
    driver.publish(source, declared("q", beta(0.9)))
    assert driver.publish(source, declared("z", floor="policy")).version == 1


@pytest.mark.slow
def test_ancestors_that_nobody_knows(source: Database) -> None:
    """Without the hierarchy the distance cannot be measured, and what is not known is missed."""
    driver.publish(source, declared("q", closeness(0.01, "hierarchical")))
    with driver.refused("republication") as caught:
        driver.publish(source, declared("z"))
    assert caught[0].observed is None  # pyright: ignore[reportAttributeAccessIssue]
    assert "is not known of them" in caught[0].message
    kept = closeness(0.02, "hierarchical")
    assert driver.publish(source, declared("z", kept)).version == 1


def test_increments_report_of_the_whole_source(source: Database) -> None:
    """Not of newcomers, who have other values."""
    driver.publish(source, declared("q", beta(0.3)))
    source.connect("source_owner").execute(
        "INSERT INTO public.t SELECT 100 + n, 1, 1, 0 FROM generate_series(1, 20) AS n"
    )
    grown = declared("q", refresh="increments", republication="warn", suppression_limit=0.5)
    done = driver.publish(source, grown)
    assert done.version == 2
    # In cells that nobody touched the other values have 1/20, in the source 4/100.
    assert (done.guard["guard_people"], done.guard["guard_above"]) == (100, 0)


def test_buckets_keep_an_earlier_promise(source: Database) -> None:
    """Of another form, that publishes quasi-identifiers as they are."""
    driver.publish(source, declared("q", beta(0.9)))
    anatomy = {
        **policy({"z": "q", "s": "s"}, [{"model": "anatomy_l_diversity", "column": "s", "l": 20}]),
        "release": "buckets",
        "trust": ["source_owner"],
        "republication": "refuse",
        "method": {"name": "anatomy"},
    }
    with driver.refused("republication"):
        driver.publish(source, anatomy)


def test_people_without_sensitive_values(source: Database) -> None:
    """Where nothing is remembered of values, people are still told apart by their groups."""
    found = policy({"q": "q"}, 20, trust=["source_owner"], republication="refuse", release="by_q")
    driver.publish(source, found)
    other = {**found, "columns": {"z": {"role": "quasi_identifying"}}, "release": "by_z"}
    with driver.refused("republication") as caught:
        driver.publish(source, {**other, "privacy": [{**K, "k": 21}]})
    assert (caught[0].required, caught[0].observed) == (21, 20)  # pyright: ignore
    assert driver.publish(source, other).guard["guard_smallest_cell"] == 20
