"""Releases that grow under models that compare: groups are held against the first version."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles.compared import Value, measure, satisfied
from tests.support.sources.compared import HIDES, add, groups, grow, make, measured_of, policy

pytestmark = pytest.mark.primary_server_only

MODELS = {
    "equal": ({"model": "t_closeness", "t": 0.45, "distance": "equal"}, "integer"),
    "ordered": ({"model": "t_closeness", "t": 0.3, "distance": "ordered"}, "integer"),
    "hierarchical": ({"model": "t_closeness", "t": 0.35, "distance": "hierarchical"}, "text"),
    "basic": ({"model": "beta_likeness", "beta": 2, "variant": "basic"}, "text"),
    "enhanced": ({"model": "beta_likeness", "beta": 4, "variant": "enhanced"}, "integer"),
    "delta": ({"model": "delta_disclosure", "delta": 1.3}, "text"),
}
METHODS = [
    *((name, "mondrian") for name in MODELS),
    *((name, "kinc") for name in ("equal", "ordered", "basic")),
    *((name, "beta_primacy") for name in ("basic", "enhanced")),
    *((name, "lgb_mdp") for name in ("equal", "ordered")),
]


def drawn(rng: random.Random, kind: str, model: str) -> list[Value]:
    """Newcomers with any distribution; now and then values that nobody had."""
    values = range(2 if model == "delta_disclosure" else 6 if rng.random() < 0.4 else 4)
    weights = [rng.choice((1, 1, 2, 5)) for _ in values]
    found = rng.choices(values, weights, k=rng.randint(8, 24))
    return [value(v, kind, rng) for v in found]


def value(number: int, kind: str, rng: random.Random) -> Value:
    if number == 3 and rng.random() < 0.3:
        return None
    return number if kind == "integer" else str(number)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "method"), METHODS)
@pytest.mark.parametrize("seed", range(2))
def test_groups_are_held_against_the_first_version(
    db: Database, name: str, method: str, seed: int
) -> None:
    """By definition, of random increments: what is released satisfies it, and what is not does not.

    An increment is tested as a whole, against the same distribution.
    """
    model, kind = MODELS[name]
    rng = random.Random(f"{name} {seed}")
    document = policy(model, method={"name": method})
    make(db, kind)
    many = 2 if name == "delta" else 4
    reference = [value(v, kind, rng) for v in range(many) for _ in range(rng.randint(4, 12))]
    rng.shuffle(reference)
    add(db, 1, reference, rng)
    assert grow(db, document).suppressed == 0
    conn = db.owner()
    before = groups(conn, method)
    worst = [measure(model, values, reference, reference) for values in before.values()]
    for first in (1000, 1100, 1200, 1300):
        newcomers = drawn(rng, kind, model["model"])
        add(db, first, newcomers, rng)
        whole = measure(model, newcomers, reference, newcomers)
        if not satisfied(model, whole):
            with driver.refused("infeasible"):
                grow(db, document)
            assert groups(conn, method) == before
            continue
        grow(db, document)
        after = groups(conn, method)
        assert all(after[c] == values for c, values in before.items())
        added = [values for c, values in after.items() if c not in before]
        assert Counter(v for values in added for v in values) == Counter(newcomers)
        worst += [measure(model, values, reference, newcomers) for values in added]
        before = after
    assert all(satisfied(model, found) for found in worst)
    assert measured_of(conn, model) == {
        f"first version's {distribution}": pytest.approx(max(worst))
        for distribution in (("published",) if method == HIDES else ("source", "published"))
    }
