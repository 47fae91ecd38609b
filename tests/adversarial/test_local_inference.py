"""What records that show a value teach about those that hide it, and what the steward is told."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, refused, run
from tests.support.oracles import inference as oracle
from tests.support.oracles.inference import Record
from tests.support.oracles.lgb import Table, nominal, numeric
from tests.support.sources.local import build, diverse, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = (numeric("age"), nominal("town"), nominal("status"), nominal("secret"))
PRINCIPLES = [diverse("age", 2), diverse("status", 2), diverse("secret", 2)]
METHOD = {"name": "lgb_ncp"}
HIDDEN = -1


def table(seed: int, strength: float, n: int = 240) -> Table:
    """The status follows from age and town, as far as `strength` goes."""
    rng = random.Random(seed)
    values, hidden = {}, {}
    for key in range(1, n + 1):
        status = rng.choice("klmn")
        told = rng.random() < strength
        age = 20 + 10 * "klmn".index(status) if told else rng.choice([20, 30, 40, 50])
        town = "ABCD"["klmn".index(status)] if told else rng.choice("ABCD")
        values[key] = (age, town, status, rng.choice("opqrst"))
        away = [a for a, share in ((0, 0.1), (2, 0.3)) if rng.random() < share]
        hidden[key] = frozenset({3, *away})
    return Table(COLUMNS, values, hidden)


def made(db: Database, t: Table, **others: Any) -> Staged:
    build(db, t)
    return run(db.owner(), policy(t, METHOD, 2, PRINCIPLES, **others))


def attacked(staged: Staged, t: Table) -> tuple[oracle.Figures, oracle.Figures]:
    """By buckets, and by the records that show their status."""
    bucket = {int(row["member"]): row["status_bucket"] for row in staged.table("members")}
    known = {
        key: (HIDDEN if 0 in t.hidden[key] else row[0], row[1]) for key, row in t.values.items()
    }
    away = [key for key in t.values if bucket.get(key) is not None]
    records = [Record(bucket[key], known[key]) for key in away]
    counts: dict[Any, Counter[Any]] = defaultdict(Counter)
    for key in away:
        counts[bucket[key]][t.values[key][2]] += 1
    kinds = {v: v for v in "klmn"}
    told = [
        (known[key], t.values[key][2])
        for key in t.values
        if key in bucket and 2 not in t.hidden[key]
    ]
    truth = [t.values[key][2] for key in away]
    limit = staged.utility.taught["status"].limit
    return (
        oracle.figures(oracle.posteriors(records, counts, kinds), truth, limit),
        oracle.figures(oracle.taught(records, counts, kinds, told), truth, limit),
    )


@pytest.mark.parametrize(("seed", "strength"), [(1, 0.9), (2, 0.5), (3, 0.0)])
def test_measured_as_an_attacker_would(db: Database, seed: int, strength: float) -> None:
    t = table(seed, strength)
    staged = made(db, t, on_infeasible="suppress", suppression_limit=0.2)
    expected = attacked(staged, t)
    seen = (staged.utility.inferred["status"], staged.utility.taught["status"])
    for found, wanted in zip(seen, expected, strict=True):
        assert found.confidence == pytest.approx(wanted.confidence)
        assert found.above == pytest.approx(wanted.above)
        assert wanted.accuracy[0] - 1e-9 <= found.accuracy <= wanted.accuracy[1] + 1e-9
        assert wanted.share[0] - 1e-9 <= found.share <= wanted.share[1] + 1e-9
    assert set(staged.utility.taught) == {"age", "status"}
    assert set(staged.utility.inferred) == {"age", "status", "secret"}


def test_the_steward_is_warned_of_both(db: Database) -> None:
    staged = made(db, table(1, 0.95), on_infeasible="suppress", suppression_limit=0.2)
    assert staged.utility.taught["status"].share > 0.5
    said = staged.plan.method.form.publication.warnings(staged.plan.spec, staged.state.facts)
    (warned,) = [text for text in said if 'records that show "status"' in text or
                 "records that show status" in text]  # fmt: skip
    assert f"a share of {staged.utility.taught['status'].share:.4g}" in warned


@pytest.mark.parametrize("told", [True, False])
def test_forms_that_go_with_values_are_reported(db: Database, told: bool) -> None:
    """Who hides the town only with a bad diagnosis tells the diagnosis by hiding the town."""
    rng = random.Random(4)
    values, hidden = {}, {}
    for key in range(1, 241):
        secret = rng.choice("opqrst")
        values[key] = (rng.choice([20, 30, 40, 50]), rng.choice("ABCD"), "k", secret)
        away = secret in "op" if told else rng.random() < 1 / 3
        hidden[key] = frozenset({3, *([1] if away else [])})
    columns = (COLUMNS[0], COLUMNS[1], nominal("status"), COLUMNS[3])
    t = Table(columns, values, hidden)
    build(db, t)
    principles = [diverse("town", 2), diverse("secret", 2)]
    staged = run(db.owner(), policy(t, {"name": "lgb_mdp"}, 2, principles))
    found = staged.utility.inferred["secret"]
    # Records whose town is hidden have one of two diagnoses of six, and others one of four.
    assert (found.accuracy > 0.55) == told
    assert (found.share > 0.1) == told
    said = staged.plan.method.form.publication.warnings(staged.plan.spec, staged.state.facts)
    assert any("secret" in text and f"{found.share:.4g}" in text for text in said) == told


def test_the_policy_may_refuse_it(db: Database) -> None:
    t = table(1, 0.95)
    build(db, t)
    with refused("inference") as caught:
        run(
            db.owner(),
            policy(
                t,
                METHOD,
                2,
                PRINCIPLES,
                on_infeasible="suppress",
                suppression_limit=0.2,
                inference={"limit": 0.8, "share": 0.2},
            ),
        )
    assert "status" in str(caught[0])
