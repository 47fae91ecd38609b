"""What readers who hold the priors conclude: as measured by a run, and from the definitions."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import pytest

from pganon.forms.request import Request
from pganon.methods.background.form import BackgroundMetrics, Conclusion, Posterior, posterior
from tests.integration.methods.background.test_background import D14, TYPES, background_policy
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
@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("hiv", "people", "j", "exact"),
    [
        pytest.param([0, 0.05], ["flu", "hiv"], 0.025462, 0.5, id="G8-certain"),
        pytest.param([0.01, 0.05], ["flu", "hiv"], 0.010797, 0.338983, id="G8-two"),
        pytest.param([0.01] * 3 + [0.1], ["flu"] * 3 + ["hiv"], 0.032374, 0.535714, id="G8-four"),
        pytest.param([0.3] * 4, ["flu"] * 3 + ["hiv"], 0, 0, id="G8-equal"),
        pytest.param([0, 0], ["flu", "hiv"], 0, None, id="G8-impossible"),
    ],
)
def test_priors_that_are_near_tell_much(
    db: Database, hiv: list[float], people: list[str], j: float, exact: float | None
) -> None:
    """One class of people of different ages; `exact` is the largest gain by the definition."""
    rows = [(age, "F", value) for age, value in enumerate(people)]
    make_table(db.connect("source_owner"), TYPES, rows)
    priors = [
        (age, "F", value, p)
        for age, of in enumerate(hiv)
        for value, p in (("flu", 1 - of), ("hiv", of))
    ]
    types = {**TYPES, "probability": "float8"}
    make_table(db.connect("source_owner"), types, priors, name=("public", "prior"))
    knowledge = {"relation": "public.prior"}
    policy = background_policy("kagg", k=len(people), beta=3, j=0.05, knowledge=knowledge)
    staged, found = measured(db, {**policy, "trust": ["source_owner"]})
    assert staged.verified("background_knowledge") == [pytest.approx(j, abs=2e-6)]
    assert found.posterior is not None
    if exact is None:
        assert (found.posterior.impossible, found.posterior.counted) == (1, 0)
        assert found.posterior.estimate == Conclusion(None, None, None)
        assert "they rule out the values of 1 classes" in str(found.shown()[-1])
    else:
        assert (found.posterior.impossible, found.posterior.counted) == (0, 1)
        assert found.posterior.exact.gain == pytest.approx(exact, abs=5e-7)


def test_t_closeness_has_no_limit_by_value(db: Database) -> None:
    make_table(db.connect("source_owner"), TYPES, D14)
    policy = background_policy("kagg", k=3, j=0.5, knowledge=KERNEL, **LEAVING_OUT)
    policy["privacy"][1] = {"model": "t_closeness", "column": "s", "t": 0.5}
    _, found = measured(db, policy)
    assert found.posterior is not None
    assert found.posterior.believed is None
    assert found.posterior.estimate.above is None
    assert found.posterior.estimate.largest is not None


def test_few_classes_are_exact(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(posterior, "MOST_EXACT", 1)
    make_table(db.connect("source_owner"), TYPES, D14 * 2)
    policy = background_policy("kagg", k=2, beta=3, j=0.5, knowledge=KERNEL, **LEAVING_OUT)
    staged, found = measured(db, policy)
    sizes = {number: len(members) for number, members in staged.members.items()}
    assert len(sizes) > 1
    assert found.posterior is not None
    assert found.posterior.counted == (sizes[1] <= posterior.MOST_MEMBERS)


def test_a_value_that_is_not_released(db: Database) -> None:
    """The only record with c is a cluster by itself."""
    people = [*[(age, "F", "ab"[age % 2]) for age in range(8)], (8, "F", "c")]
    make_table(db.connect("source_owner"), TYPES, people)
    priors = [(age, "F", value, 0.5) for age in range(8) for value in "ab"] + [(8, "F", "c", 1)]
    types = {**TYPES, "probability": "float8"}
    make_table(db.connect("source_owner"), types, priors, name=("public", "prior"))
    knowledge = {"relation": "public.prior"}
    policy = background_policy("kagg", k=2, beta=3, j=0.5, knowledge=knowledge, **LEAVING_OUT)
    staged, found = measured(db, {**policy, "trust": ["source_owner"]})
    assert staged.facts["suppressed"] == 1
    assert found.posterior is not None
    assert flat(found.posterior) == {
        name: pytest.approx(value)
        for name, value in flat(expected(audit_of(staged, people, 3))).items()
    }
