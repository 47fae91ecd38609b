"""Releases against background knowledge, judged from what is published."""

from __future__ import annotations

import math
import random
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from pganon.steps import State
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, refused, run
from tests.support.oracles.definitions import Nominal
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

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


def near(policy: dict[str, Any]) -> dict[str, Any]:
    """With t-closeness: of beta-likeness little survives what the baseline suppresses."""
    if policy["method"]["name"] == "js_reduce":
        policy["privacy"][1] = {"model": "t_closeness", "column": "s", "t": 0.5}
    return policy


def classes(staged: Staged) -> list[list[int]]:
    """Keys of the records of every class."""
    found: dict[int, list[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["class_id"], []).append(int(row["member"]))
    return sorted(map(sorted, found.values()))


METHODS = ["beta_primacy", "kinc", "kagg", "kinc_mic", "kagg_mic", "js_reduce"]


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
    assert min(map(len, found)) >= 3
    assert max(staged.verified("beta_likeness")) <= 0.5


def test_whole_cluster(db: Database) -> None:
    """G5, agg and absorb."""
    make_table(db.connect("source_owner"), TYPES, D14)
    staged = run(db.owner(), background_policy("kagg"))
    assert classes(staged) == [[1, 3, 4, 7, 8, 9, 10, 12, 13], [2, 5, 6, 11, 14]]
    assert staged.utility.gcp == pytest.approx(0.775097, abs=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_the_loss_of_categories_is_that_of_all_methods(db: Database, method: str) -> None:
    """(different values - 1) / (values of the source - 1), of which NULL is one."""
    rows = [(age, "FMXY"[age % 4] if age % 7 else None, "abc"[age % 3]) for age in range(20, 60)]
    make_table(db.connect("source_owner"), TYPES, rows)
    leave_out = {"suppression_limit": 0.1, "on_infeasible": "suppress"}
    staged = run(db.owner(), near(background_policy(method, **leave_out)))
    sexes, found = [row[1] for row in rows], classes(staged)
    losses = [
        len(group) * Nominal(sexes, 1.0, "as_value").loss([sexes[key - 1] for key in group])
        for group in found
    ]
    assert 0 < sum(losses) < len(rows)
    assert staged.utility.ncp["sex"] == pytest.approx(sum(losses) / sum(map(len, found)))


def by_age(age: int) -> list[float]:
    """The priors of G7."""
    if age < 35:
        return [0.6, 0.3, 0.1]
    return [0.4, 0.4, 0.2] if age < 50 else [0.2, 0.3, 0.5]


def make_prior(db: Database) -> None:
    rows = [
        (age, sex, value, p)
        for age, sex in sorted({(age, sex) for age, sex, _ in D14})
        for value, p in zip("abc", by_age(age), strict=True)
    ]
    types = {"age": "integer", "sex": "text", "s": "text", "probability": "float8"}
    make_table(db.connect("source_owner"), types, rows, name=("public", "prior"))


PRIOR = {"relation": "public.prior"}
SUPPRESS = {"on_infeasible": "suppress", "suppression_limit": 0.5}


@pytest.mark.parametrize(
    ("j", "expected"),
    [(0.02, 0.0), (0.1, 0.031950), (0.2, 0.180482)],
    ids=["G7 .02", "G7 .1", "G7 .2"],
)
def test_divergence_of_clusters(db: Database, j: float, expected: float) -> None:
    """J = 0.02 leaves three clusters, 0.1 two, 0.2 one; what is measured is the widest."""
    make_table(db.connect("source_owner"), TYPES, D14)
    make_prior(db)
    policy = background_policy("kagg", knowledge=PRIOR, j=j, k=2, beta=9, **SUPPRESS)
    staged = run(db.owner(), policy)
    assert staged.verified("background_knowledge") == [pytest.approx(expected, abs=1e-6)]
    priors = {row["prior"]: row["probabilities"] for row in staged.table("prior")}
    assert sorted(priors.values()) == sorted(by_age(age) for age in (30, 40, 50))
    audit = staged.table("audit")
    assert sum(row["n"] for row in audit) == sum(map(len, classes(staged)))
    clusters = {row["class_id"]: row["cluster"] for row in audit}
    for members in staged.members.items():
        ages = [D14[key - 1][0] for key in members[1]]
        held = {row["prior"] for row in audit if row["class_id"] == members[0]}
        assert sorted(priors[p] for p in held) == sorted(
            {tuple(by_age(a)): by_age(a) for a in ages}.values()
        )
    assert len(set(clusters.values())) == {0.02: 3, 0.1: 2, 0.2: 1}[j]


def test_dropped_clusters(db: Database) -> None:
    """G7, agg and absorb: the four records of the second cluster miss beta-likeness."""
    make_table(db.connect("source_owner"), TYPES, D14)
    make_prior(db)
    staged = run(db.owner(), background_policy("kagg", knowledge=PRIOR, **SUPPRESS))
    assert classes(staged) == [list(range(1, 11))]


def test_a_smaller_j_is_named(db: Database) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    make_prior(db)
    with refused("infeasible") as errors:
        run(db.owner(), background_policy("kagg", knowledge=PRIOR))
    assert "j = 0.1 leaves 4 of 14 records without a class" in errors[0].message
    assert "the smallest j that leaves none is 0.181" in (errors[0].hint or "")
    staged = run(db.owner(), background_policy("kagg", knowledge=PRIOR, j=0.181))
    assert sum(map(len, classes(staged))) == 14


@pytest.mark.parametrize(
    ("knowledge", "lost", "said"),
    [
        ({"kernel": {}}, 4, 'a bandwidth above 1 for "Job", of which now only equal values count'),
        ({"kernel": {"bandwidth": {"age": 0.01, "Job": 1.01}}}, 4, "a larger bandwidth"),
        ({"kernel": {"bandwidth": {"Job": 2}}}, 0, None),
        ({"cells": {"pseudo_records": 0.01}}, 4, "more pseudo_records"),
        ({"cells": {"pseudo_records": 100}}, 0, None),
    ],
)
def test_what_makes_estimated_priors_more_alike(
    db: Database, knowledge: Any, lost: int, said: str | None
) -> None:
    """All who have the rare job have a disease that nobody else has."""
    rows = [(30 + i % 9, "baker", "ab"[i % 2]) for i in range(36)] + [(34, "diver", "c")] * 4
    make_table(db.connect("source_owner"), {"age": "integer", "Job": "text", "s": "text"}, rows)
    policy = background_policy("kinc", k=2, beta=1, j=0.5, knowledge=knowledge)
    policy["columns"]["Job"] = policy["columns"].pop("sex")
    if lost:
        with refused("infeasible") as errors:
            run(db.owner(), policy)
        assert f", {said} makes priors more alike, or" in (errors[0].hint or "")
    staged = run(db.owner(), {**policy, **SUPPRESS})
    assert sum(map(len, classes(staged))) == 40 - lost
    warned = staged.plan.method.form.publication.warnings(staged.plan.spec, staged.state.facts)
    told = [w for w in warned if "are left out" in w]
    assert [w.startswith(f"{lost} records") and f"; {said} makes" in w for w in told] == (
        [True] if lost else []
    )


@pytest.mark.parametrize("method", METHODS)
def test_kernel(db: Database, method: str) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    knowledge = {"kernel": {"bandwidth": {"age": 0.9, "sex": 2}}}
    policy = background_policy(method, knowledge=knowledge, k=2, j=0.2, beta=9, **SUPPRESS)
    staged = run(db.owner(), near(policy))
    assert 0 < staged.verified("background_knowledge")[0] <= 0.2


@pytest.mark.parametrize("method", METHODS)
def test_j_of_one_needs_no_prior(db: Database, method: str) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    policy = background_policy(method, knowledge={"kernel": {}}, j=1, **SUPPRESS)
    parts = {relation.part for relation in run(db.owner(), near(policy)).plan.relations(State(0))}
    assert not parts & {"audit", "prior"}


@pytest.mark.parametrize("method", ["kagg_mic", "kinc_mic"])
def test_means_and_modes(db: Database, method: str) -> None:
    """Of the published classes, computed from the source."""
    types = {**TYPES, "paid": "numeric", "born": "date", "seen": "timestamptz"}
    rows = [
        (
            age,
            None if age % 7 == 0 else sex,
            s,
            None if age % 5 == 3 else Decimal(age) / 8,
            date(1900 + age, age % 9 + 1, 11),
            datetime(2020, 1, age % 28 + 1, 8, tzinfo=UTC),
        )
        for age, sex, s in D14
    ]
    make_table(db.connect("source_owner"), types, rows)
    policy = background_policy(method)
    policy["columns"] |= {name: {"role": "quasi_identifying"} for name in ("paid", "born", "seen")}
    staged = run(db.owner(), policy)
    assert len(staged.classes) > 1
    for number, shown in staged.classes.items():
        age, sex, _, paid, born, seen = zip(
            *[rows[key - 1] for key in staged.members[number]], strict=True
        )
        known = [p for p in paid if p is not None]
        assert shown["paid"] == (round(sum(known) / len(known), 3) if known else None)
        assert shown["paid_null"] == (len(known) < len(paid))
        assert shown["age"] == round(Decimal(sum(age)) / len(age))
        days = [(b - date(2000, 1, 1)).days for b in born]
        assert abs((shown["born"] - date(2000, 1, 1)).days - sum(days) / len(days)) <= 0.5
        assert shown["seen"].timestamp() == pytest.approx(
            sum(s.timestamp() for s in seen) / len(seen)
        )
        most = max(Counter(sex).values())
        first = min(
            (x for x, n in Counter(sex).items() if n == most), key=lambda x: (x is not None, x)
        )
        assert shown["sex"] == first
        assert shown["sex_null"] == (None in sex)


@pytest.mark.parametrize("residual", ["absorb", "suppress"])
def test_closeness(db: Database, residual: str) -> None:
    """t-closeness in place of beta-likeness."""
    make_table(db.connect("source_owner"), TYPES, D14)
    policy = background_policy({"name": "kagg", "residual": residual})
    policy["privacy"][1] = {"model": "t_closeness", "column": "s", "t": 0.3}
    staged = run(db.owner(), policy)
    assert classes(staged) == [[1, 3, 4], [2, 5, 6, 11, 14], [7, 12, 13], [8, 9, 10]]  # A12
    assert max(staged.verified("t_closeness")) <= 0.3


@pytest.mark.parametrize("method", [{"name": "kinc", "residual": "suppress"}, "js_reduce"])
def test_what_is_left_out_for_what_is_left_out(db: Database, method: Any) -> None:
    """Residuals move the published distribution; classes that miss it are left out in turn."""
    rng = random.Random(1)
    rows = [(rng.randint(20, 70), rng.choice("FMXY"), rng.choice("aaabbc")) for _ in range(90)]
    make_table(db.connect("source_owner"), TYPES, rows)
    leave_out = {"suppression_limit": 0.9, "on_infeasible": "suppress"}
    staged = run(db.owner(), background_policy(method, **leave_out))
    found = classes(staged)
    assert 0 < sum(map(len, found)) < len(rows)
    held = [rows[key - 1][2] for group in found for key in group]
    for group in found:
        own = Counter(rows[key - 1][2] for key in group)
        for value, n in own.items():
            for reference in (held, [row[2] for row in rows]):
                share = reference.count(value) / len(reference)
                assert n / len(group) <= share * (1 + min(0.5, -math.log(share))) + 1e-9
    with refused("suppression_limit") as errors:
        run(db.owner(), background_policy(method, **{**leave_out, "suppression_limit": 0.001}))
    assert ("residual: absorb" in str(errors[0].hint)) == (method != "js_reduce")


@pytest.mark.parametrize(("records", "least"), [(400, 134), (200, 0)])
def test_rare_values_make_large_classes(db: Database, records: int, least: int) -> None:
    """D4: one record of so many has a value, and beta-likeness with beta = 2 bounds its share."""
    rows = [(20 + i % 60, "FM"[i % 2], "a" if i else "b") for i in range(records)]
    make_table(db.connect("source_owner"), TYPES, rows)
    staged = run(db.owner(), background_policy("kagg", beta=2))
    said = [
        w
        for w in staged.plan.method.form.publication.warnings(staged.plan.spec, staged.state.facts)
        if "rarest" in w
    ]
    assert ([f"has at least {least} records" in w for w in said]) == ([True] if least else [])
    assert not least or min(map(len, [g for g in classes(staged) if 1 in g])) >= least


@pytest.mark.parametrize("select", ["random", "nearest"])
def test_slack_makes_more_classes(db: Database, select: str) -> None:
    rows = [(20 + i % 60, "FM"[i % 2], "abcdefg"[i * i % 37 % 7]) for i in range(240)]
    make_table(db.connect("source_owner"), TYPES, rows)
    method = {"name": "beta_primacy", "select": select, "division": "none"}
    slack = {**method, "bucket_slack": 0.2}
    fewer, more = (
        len(classes(run(db.owner(), background_policy(m, beta=1)))) for m in (method, slack)
    )
    assert fewer < more
