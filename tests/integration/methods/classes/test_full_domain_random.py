"""Full-domain recoding of random tables against brute force over all combinations of levels."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pganon.errors import PrivacyRefusal
from tests.support.harness.driver import Connection, drop_leftovers, run
from tests.support.harness.examples import examples
from tests.support.oracles import definitions as oracle
from tests.support.oracles.levels import Column, Node, Table
from tests.support.oracles.levels_in_rounds import recoded
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

LEAVES = {
    "a": ("a", "l1", "left", "all"),
    "b": ("b", "l1", "left", "all"),
    "c": ("c", "l2", "left", "all"),
    "d": ("d", "r1", "right", "all"),
    "e": ("e", "r2", "right", "all"),
    "f": ("f", "r2", "right", "all"),
}
TREE = {"all": {"left": {"l1": ["a", "b"], "l2": ["c"]}, "right": {"r1": ["d"], "r2": ["e", "f"]}}}
WIDTHS = (5, 10)
K = {"model": "k_anonymity", "k": 2}
MODELS: list[dict[str, Any]] = [
    {"model": "distinct_l_diversity", "l": 2},
    {"model": "entropy_l_diversity", "l": 2},
    {"model": "alpha_k_anonymity", "alpha": 0.5, "k": 2},
    {"model": "recursive_cl_diversity", "c": 2, "l": 2},
    {"model": "t_closeness", "t": 0.4},
    {"model": "beta_likeness", "beta": 1.5, "variant": "basic"},
    {"model": "delta_disclosure", "delta": 1},
    {"model": "t_closeness", "t": 0.3, "distance": "ordered"},
]


def satisfied(
    privacy: Sequence[dict[str, Any]], values: Sequence[Any], distributions: Sequence[Sequence[Any]]
) -> bool:
    return all(_holds(model, values, distributions) for model in privacy)


def _holds(
    model: dict[str, Any], values: Sequence[Any], distributions: Sequence[Sequence[Any]]
) -> bool:
    counts = sorted((values.count(v) for v in set(values)), reverse=True)
    match model["model"]:
        case "k_anonymity":
            return len(values) >= model["k"]
        case "distinct_l_diversity":
            return len(counts) >= model["l"]
        case "entropy_l_diversity":
            return oracle.entropy_at_least(values, Fraction(model["l"]))
        case "alpha_k_anonymity":
            bound = Fraction(str(model["alpha"]))
            return len(values) >= model["k"] and Fraction(counts[0], len(values)) <= bound
        case "recursive_cl_diversity":
            return counts[0] < model["c"] * sum(counts[model["l"] - 1 :])
        case "beta_likeness":
            return all(_gain(values, reference) <= model["beta"] for reference in distributions)
        case "delta_disclosure":
            return all(_change(values, reference) < model["delta"] for reference in distributions)
    t, domain = Fraction(str(model["t"])), sorted(set(distributions[0]))
    if model.get("distance"):
        return all(oracle.t_ordered(values, one, domain) <= t for one in distributions)
    return all(oracle.t_equal(values, one) <= t for one in distributions)


def _gain(values: Sequence[Any], reference: Sequence[Any]) -> Fraction:
    """The most that a value's share exceeds that of the reference, over the latter."""
    q, p = oracle.shares(values), oracle.shares(reference)
    return max((q[value] - p[value]) / p[value] for value in q)


def _change(values: Sequence[Any], reference: Sequence[Any]) -> float:
    q, p = oracle.shares(values), oracle.shares(reference)
    if q.keys() != p.keys():
        return math.inf
    return max(abs(math.log(q[value] / p[value])) for value in p)


def column(rng: random.Random, kind: str, values: Sequence[Any]) -> tuple[Column, dict[str, Any]]:
    """A quasi-identifier as the oracle and as a policy have it."""
    nulls = rng.choice(["as_value", "as_value", "own_class", "suppress"])
    weight = rng.choice([1, 1, 2])
    declared: dict[str, Any] = {"nulls": nulls, "weight": weight}
    present = sorted({value for value in values if value is not None})
    match kind:
        case "tree":
            declared["hierarchy"] = {"inline": TREE}
            found = Column(LEAVES, nulls, weight, widths=(1,))
        case "range":
            declared["hierarchy"] = {"intervals": list(WIDTHS)}
            low = min(v // WIDTHS[-1] * WIDTHS[-1] for v in present)
            high = max(v // WIDTHS[-1] * WIDTHS[-1] + WIDTHS[-1] for v in present)
            paths = {v: (v, *[v // w * w for w in WIDTHS], "*") for v in present}
            found = Column(paths, nulls, weight, True, (0, *WIDTHS, high - low))
        case "ordinal":
            declared["type"] = "ordinal"
            loss = 1 if len(present) > 1 else 0
            found = Column({v: (v, "*") for v in present}, nulls, weight, True, (0, max(loss, 1)))
        case _:
            declared["type"] = "categorical"
            found = Column({v: (v, "*") for v in present}, nulls, weight)
    if rng.random() < 0.3:
        low = rng.randint(0, found.top)
        high = rng.randint(low, found.top)
        declared["levels"] = [low, high]
        found = Column(found.paths, nulls, weight, found.ranged, found.widths, levels=(low, high))
    return found, declared


SORTS = {"tree": "text", "range": "integer", "ordinal": "integer", "nominal": "text"}


def drawn(rng: random.Random, kind: str) -> Any:
    if rng.random() < 0.1:
        return None
    return {
        "tree": lambda: rng.choice("abcdef"),
        "range": lambda: rng.randint(0, 24),
        "ordinal": lambda: rng.randint(1, 3),
        "nominal": lambda: rng.choice("xyz"),
    }[kind]()


def case(seed: int, rounds: int = 1) -> tuple[Table, dict[str, Any], dict[str, str], int]:
    """A table, its policy, types of its columns, and how many records may be left out."""
    rng = random.Random(seed)
    kinds = [rng.choice(list(SORTS)) for _ in range(rng.randint(1, 3))]
    size = rng.randint(6, 16)
    rows = [(*[drawn(rng, kind) for kind in kinds], rng.choice([1, 2, 2, 3])) for _ in range(size)]
    rows[0] = (*["a" if k == "tree" else "x" if k == "nominal" else 2 for k in kinds], 1)
    privacy: list[dict[str, Any]] = [K]
    if rng.random() < 0.7:
        model = rng.choice(MODELS if rounds == 1 else MODELS[:4])
        privacy.append({**model, "column": "s"})
    columns: dict[str, Any] = {}
    seen: list[Column] = []
    for place, kind in enumerate(kinds):
        found, declared = column(rng, kind, [row[place] for row in rows])
        seen.append(found)
        columns[f"q{place}"] = declared
    objective = rng.choice(["gcp", "gcp", "precision", "entropy"])
    limit = rng.choice([0, 2, 4, size] if rounds == 1 else [0, 0, 1, 3])
    compared = privacy[-1]["model"] in ("t_closeness", "beta_likeness", "delta_disclosure")
    table = Table(
        seen,
        rows,
        lambda values, references: satisfied(privacy, values, references),
        objective,
        compared,
    )
    said = policy(
        {**columns, "s": "s"},
        privacy,
        method={"name": "full_domain", "objective": objective, "rounds": rounds},
        suppression_limit=limit / size,
    )
    types = {f"q{place}": SORTS[kind] for place, kind in enumerate(kinds)} | {"s": "integer"}
    return table, said, types, limit


def check(tables: tuple[Connection, Connection], seed: int) -> None:
    table, declared, types, limit = case(seed)
    source, owner = tables
    make_table(source, types, table.records)
    drop_leftovers(owner)
    allowed = limit - (len(table.records) - len(table.kept))
    expected = table.optimum(allowed) if allowed >= 0 and table.kept else None
    if expected is None:
        with pytest.raises(PrivacyRefusal):
            run(owner, declared)
        return
    staged = run(owner, declared)
    cost, _, node = expected
    assert tuple(level for level, _ in staged.utility.levels.values()) == node, seed
    assert staged.facts["levels_cost"] == cost, seed
    check_classes(table, node, staged.members, seed)


def check_classes(table: Table, node: Node, members: dict[int, set[int]], seed: int) -> None:
    failed = table.failing(node)
    expected = {
        frozenset(number + 1 for number in group)
        for group in table.classes(node)
        if not failed.intersection(group)
    }
    assert {frozenset(group) for group in members.values()} == expected, seed


@pytest.fixture
def tables(db: Any) -> tuple[Connection, Connection]:
    """Connections of the source's and of pganon's owner."""
    return db.connect("source_owner"), db.owner()


@pytest.mark.random_tables
@examples(5)
@given(seed=st.integers(0, 10**9))
def test_the_optimum(tables: tuple[Connection, Connection], seed: int) -> None:
    check(tables, seed)


@pytest.mark.random_tables
@examples(5)
@given(seed=st.integers(0, 10**9), rounds=st.integers(2, 4))
def test_several_rounds(tables: tuple[Connection, Connection], seed: int, rounds: int) -> None:
    table, declared, types, limit = case(seed, rounds)
    source, owner = tables
    make_table(source, types, table.records)
    drop_leftovers(owner)
    allowed = limit - (len(table.records) - len(table.kept))
    expected = recoded(table, rounds, allowed) if allowed >= 0 and table.kept else None
    if expected is None:
        with pytest.raises(PrivacyRefusal):
            run(owner, declared)
        return
    staged = run(owner, declared)
    left = [len(table.kept), *[len(rest) for _, rest in expected.taken]]
    assert staged.utility.rounds == [
        (before - after, list(node))
        for before, after, (node, _) in zip(left, left[1:], expected.taken, strict=False)
    ], seed
    assert staged.facts["levels_cost"] == expected.cost, seed
    found = {frozenset(n - 1 for n in group) for group in staged.members.values()}
    assert found == expected.classes, seed
