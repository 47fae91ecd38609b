"""Mondrian under every frequency model: classes satisfy it by its definition, and cannot be had
where one class of everything does not."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import pytest

from pganon.errors import PrivacyRefusal
from tests.support.harness.cluster import Database
from tests.support.harness.driver import run
from tests.support.oracles import definitions as oracle
from tests.support.oracles import model as model_oracle
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only
Values = Sequence[Any]

CASES: dict[str, tuple[dict[str, Any], Callable[[Values, Values], bool]]] = {
    "alpha-k": (
        {"model": "alpha_k_anonymity", "alpha": 0.5, "k": 3},
        lambda group, whole: len(group) >= 3 and model_oracle.alpha(group) <= 0.5,
    ),
    "recursive": (
        {"model": "recursive_cl_diversity", "c": 2, "l": 3},
        lambda group, whole: model_oracle.recursive_c(group, 3) < 2,
    ),
    "beta basic": (
        {"model": "beta_likeness", "beta": 1, "variant": "basic"},
        lambda group, whole: model_oracle.beta_basic(group, whole) <= 1,
    ),
    "beta enhanced": (
        {"model": "beta_likeness", "beta": 1},
        lambda group, whole: model_oracle.beta_enhanced(group, whole) <= 1,
    ),
    "delta": (
        {"model": "delta_disclosure", "delta": 1.0},
        lambda group, whole: model_oracle.delta(group, whole) < 1.0,
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("variant", ["strict", "relaxed"])
def test_every_class_satisfies_the_model(db: Database, name: str, variant: str) -> None:
    requirement, satisfied = CASES[name]
    rng = random.Random(7)
    rows = [
        [rng.randint(0, 40), rng.choice("abcd"), rng.choice([1, 1, 2, 2, 3, 4, None])]
        for _ in range(300)
    ]
    make_table(db.connect("source_owner"), {"x": "int", "y": "text", "s": "int"}, rows)
    staged = run(
        db.owner(),
        policy(
            {"x": "q", "y": "q", "s": "s"},
            [{**requirement, "column": "s"}],
            method={"name": "mondrian", "variant": variant},
        ),
    )
    whole = [row[2] for row in rows]
    groups = [[rows[i - 1][2] for i in ids] for ids in staged.members.values()]
    assert sum(map(len, groups)) == len(rows)
    assert len(groups) > 1
    assert all(satisfied(group, whole) for group in groups)


@pytest.mark.parametrize(
    ("requirement", "best"),
    [
        (
            {"model": "alpha_k_anonymity", "alpha": 0.7, "k": 2},
            "the best reachable is alpha = 0.75",
        ),
        ({"model": "recursive_cl_diversity", "c": 3, "l": 2}, "the best reachable is c = 3.001"),
        ({"model": "recursive_cl_diversity", "c": 3, "l": 3}, "no c is enough"),
    ],
)
def test_infeasible_names_the_best(db: Database, requirement: Any, best: str) -> None:
    rows = [[i, 1 if i < 6 else 2] for i in range(8)]
    make_table(db.connect("source_owner"), {"x": "int", "s": "int"}, rows)
    with pytest.raises(PrivacyRefusal) as refusal:
        run(db.owner(), policy({"x": "q", "s": "s"}, [{**requirement, "column": "s"}]))
    assert refusal.value.code == "infeasible"
    assert best in refusal.value.message
    assert (refusal.value.observed is None) == best.startswith("no")


def test_one_class_of_everything_is_like_the_table(db: Database) -> None:
    """beta and delta of one class are 0, so a release is always possible."""
    make_table(db.connect("source_owner"), {"x": "int", "s": "int"}, [[1, 1], [2, 2]])
    models = [
        {"model": "beta_likeness", "column": "s", "beta": 1e-6},
        {"model": "delta_disclosure", "column": "s", "delta": 1e-6},
    ]
    staged = run(db.owner(), policy({"x": "q", "s": "s"}, models))
    assert len(staged.members) == 1
    assert staged.verified("beta_likeness") == [0, 0]
    assert staged.verified("delta_disclosure") == [0, 0]


@pytest.mark.parametrize("choose", ["width", "loss"])
def test_conditions_on_two_sensitive_columns_are_held_apart(db: Database, choose: str) -> None:
    """Each against its own column, not against the pairs of both; exact classes by brute force."""
    rng = random.Random(11)
    rows = [
        [rng.randint(0, 60), rng.choice("abc"), rng.choice("uvwx"), rng.choice([1, 1, 2, 3])]
        for _ in range(240)
    ]
    records = [
        oracle.Record(i, (row[0], row[1]), (row[2], row[3])) for i, row in enumerate(rows, start=1)
    ]
    whole = [row[3] for row in rows]

    def satisfied(group: oracle.Group) -> bool:
        first, second = ([record.sensitive[j] for record in group] for j in (0, 1))
        return (
            len(group) >= 3
            and oracle.distinct_l(first) >= 3
            and oracle.t_equal(second, whole) <= Fraction(4, 10)
        )

    attributes = [
        oracle.Ordered([row[0] for row in rows]),
        oracle.Nominal([row[1] for row in rows]),
    ]
    expected = oracle.Mondrian(attributes, satisfied, 3, choose).partition(records)
    make_table(db.connect("source_owner"), {"x": "int", "y": "text", "s": "text", "u": "int"}, rows)
    staged = run(
        db.owner(),
        policy(
            {"x": "q", "y": "q", "s": "s", "u": "s"},
            [
                {"model": "k_anonymity", "k": 3},
                {"model": "distinct_l_diversity", "column": "s", "l": 3},
                {"model": "t_closeness", "column": "u", "t": 0.4},
            ],
            method={"name": "mondrian", "choose": choose},
        ),
    )
    assert len(expected) > 5
    assert {frozenset(ids) for ids in staged.members.values()} == {
        frozenset(record.id for record in group) for group in expected
    }
