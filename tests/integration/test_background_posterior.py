"""What readers who hold the priors conclude: as measured by a run, and from the definitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from pganon.forms.background import posterior
from pganon.forms.background.metrics import BackgroundMetrics, Conclusion, Posterior
from pganon.published.request import Request
from tests.integration.test_background import D14, TYPES, background_policy
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, run
from tests.support.oracles.background_posterior import Audit, Members
from tests.support.oracles.background_search import Beta
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

KERNEL = {"kernel": {"bandwidth": {"age": 0.4, "sex": 2}}}
LEAVING_OUT = {"on_infeasible": "suppress", "suppression_limit": 0.9, "republication": "allow"}


def measured(db: Database, policy: dict[str, Any]) -> tuple[Staged, BackgroundMetrics]:
    staged = run(db.owner(), policy, request=Request(everything=True))
    found = staged.plan.metrics(staged.state)
    assert isinstance(found, BackgroundMetrics)
    return staged, found


def audit_of(staged: Staged, people: Sequence[tuple[int, str, str]], beta: float) -> Audit:
    """Classes as their owner has them."""
    priors = {row["prior"]: row["probabilities"] for row in staged.table("prior")}
    source = Counter(person[-1] for person in people)
    codes = {value: code for code, value in enumerate(sorted(source))}
    members: dict[int, list[list[float]]] = {}
    for row in staged.table("audit"):
        members.setdefault(row["class_id"], []).extend([priors[row["prior"]]] * row["n"])
    values: dict[int, list[int]] = {}
    for row in staged.table("records"):
        values.setdefault(row["class_id"], []).append(codes[row["s"]])
    released = Counter(v for found in values.values() for v in found)
    shares = [
        [source[value] / source.total() for value in codes],
        [released[code] / released.total() for code in codes.values()],
    ]
    classes = [Members(priors, values[number]) for number, priors in members.items()]
    return Audit(classes, Beta(beta, shares))


def expected(audit: Audit) -> Posterior:
    none = (None, None, None)
    return Posterior(
        believed=audit.believed,
        estimate=Conclusion(*(audit.concluded("estimate") or none)),
        exact=Conclusion(*(audit.concluded("exact") or none)),
        counted=audit.counted,
        impossible=audit.impossible,
    )


def flat(found: Posterior) -> dict[str, Any]:
    said = asdict(found)
    return {
        f"{name}.{key}": value
        for name, part in said.items()
        for key, value in (part.items() if isinstance(part, dict) else [("", part)])
    }


@pytest.mark.parametrize("method", ["beta_primacy", "kinc", "kagg"])
def test_random_tables(db: Database, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of two classes, so that several are read."""
    monkeypatch.setattr(posterior, "BATCH", 2)
    rng = random.Random("posterior beta_primacy")  # some clusters of these are left out
    gains: list[float] = []
    lost = 0
    for j in (0.3, 0.1, 0.05, 0.02):
        drop_leftovers(db.owner())
        people = [
            (age, sex, rng.choices("abcd", [2, 3 + age, 4, 1 + 9 * (sex == "F")])[0])
            for age, sex in [(rng.randint(0, 9), rng.choice("FM")) for _ in range(40)]
        ]
        make_table(db.connect("source_owner"), TYPES, people)
        policy = background_policy(method, k=2, beta=2, j=j, knowledge=KERNEL, **LEAVING_OUT)
        staged, found = measured(db, policy)
        assert found.posterior is not None
        wanted = expected(audit_of(staged, people, 2))
        assert flat(found.posterior) == {
            name: pytest.approx(value, abs=1e-9) for name, value in flat(wanted).items()
        }
        gains.append(found.posterior.estimate.gain or 0)
        lost += staged.facts["suppressed"]
    assert max(gains) > 0.05
    assert lost


def test_no_priors_no_posteriors(db: Database) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    _, found = measured(db, background_policy("kagg"))
    assert found.posterior is None
    assert found.glm is not None


def test_what_a_version_records(db: Database) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    policy = background_policy("kagg", k=2, beta=3, j=0.5, knowledge=KERNEL, **LEAVING_OUT)
    _, found = measured(db, policy)
    assert found.posterior is not None
    assert BackgroundMetrics.recorded(asdict(found)) == found
    text = str(found.shown()[-1])
    assert "posteriors of a reader who holds the priors" in text
