"""EIR l-diversity where it is hard to tell: classes grow, and nothing is claimed that is not so."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import publish, refused
from tests.support.oracles.hitting_sets import hits_within
from tests.support.sources.builders import make_table, policy
from tests.support.sources.identity import eir
from tests.support.sources.stays import stored

pytestmark = pytest.mark.primary_server_only

WITNESS = "pganon.methods.individuals.search.hitting_sets.BRANCHES"


def build(db: Database, individuals: int, *, values: int, each: int) -> None:
    """Individuals with `each` of so many equally frequent values."""
    rng = random.Random(1)
    rows = [
        [f"p{n}", n // 4, f"d{value}"]
        for n in range(individuals)
        for value in rng.sample(range(values), each)
    ]
    columns = {"person": "text", "age": "integer", "disease": "text"}
    make_table(db.connect("source_owner"), columns, rows)


def document(l: int, name: str = "danonyir", **options: Any) -> dict[str, Any]:  # noqa: E741
    columns: dict[str, Any] = {"person": "individual", "age": "q", "disease": "s"}
    if name == "geneir":
        columns["age"] = {"hierarchy": {"intervals": [10, 50]}}
    return policy(columns, [eir(l)], method={"name": name, **options}, suppression_limit=0.9)


def classes(db: Database, run_id: int) -> list[list[set[str]]]:
    """Values of every individual of every class."""
    found: dict[int, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for row in stored(db, run_id, "records"):
        found[row["class_id"]][row["individual_no"]].add(row["disease"])
    return [list(held.values()) for held in found.values()]


@pytest.mark.slow
@pytest.mark.parametrize("method", ["danonyir", "geneir"])
def test_ten_of_fifty_values(db: Database, method: str) -> None:
    build(db, 250, values=50, each=10)
    done = publish(db, document(8, method))
    found = classes(db, done.run_id)
    assert found
    assert all(hits_within(map(_numbers, held), 7) is None for held in found)


def _numbers(values: set[str]) -> set[int]:
    return {int(value[1:]) for value in values}


@pytest.mark.slow
def test_classes_grow_while_the_search_cannot_tell(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(db, 300, values=12, each=3)
    sizes: list[int] = []
    for branches in (20_000, 20):
        monkeypatch.setattr(WITNESS, branches)
        done = publish(db, {**document(6), "republication": "allow"})
        found = classes(db, done.run_id)
        assert all(hits_within(map(_numbers, held), 5) is None for held in found)
        sizes.append(min(map(len, found)))
    assert sizes[0] < sizes[1]


def test_a_search_that_never_can_tell_publishes_nothing(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on beyond the question whether it can be reached, and is refused by its rule."""
    monkeypatch.setattr(WITNESS, 0)
    build(db, 60, values=40, each=3)
    with refused("all_suppressed") as caught:
        publish(db, document(14))
    assert caught[0].exit_code == 1
