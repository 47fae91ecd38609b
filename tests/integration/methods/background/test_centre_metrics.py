"""Metrics on request of classes that show means and modes."""

from __future__ import annotations

import random
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pganon.forms.request import Request
from pganon.methods.background.form import BackgroundMetrics
from pganon.metrics.report import AttributeMetrics
from tests.integration.methods.background.test_background import background_policy
from tests.integration.metrics.test_metrics import WORKLOAD, asked_of, close, errors_of
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.oracles.centres import Centres
from tests.support.oracles.definitions import Nominal, Ordered, Ordinal, Record
from tests.support.oracles.metric import Class
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

REQUEST = Request(everything=True, workload=WORKLOAD)
GRADES = ["low", "middle", "high"]
TYPES = {
    "age": "integer",
    "paid": "numeric",
    "born": "date",
    "grade": "text",
    "sex": "text",
    "secret": "integer",
}


def people(seed: str) -> list[tuple[Any, ...]]:
    """NULLs in all columns but the last."""
    rng = random.Random(seed)
    kinds = [
        lambda: rng.choice([20, 21, 30, 47, 80]),
        lambda: Decimal(rng.choice([0, 5, 9, 100])) / 8,
        lambda: date(2000, 1, 1) + timedelta(days=rng.choice([0, 3, 50, 700])),
        lambda: rng.choice(GRADES),
        lambda: rng.choice("FM"),
    ]
    return [
        (*[None if rng.random() < 0.15 else kind() for kind in kinds], rng.choice([1, 2, 2, 3]))
        for _ in range(40)
    ]


def release_of(rows: list[tuple[Any, ...]], staged: Staged) -> Centres:
    columns = list(zip(*rows, strict=True))
    records = [Record(n, row[:-1], row[-1:]) for n, row in enumerate(rows, start=1)]
    attributes = [
        Ordered(list(columns[0])),
        Ordered(list(columns[1])),
        Ordered(list(columns[2]), place=lambda day: Fraction(day.toordinal())),
        Ordinal(list(columns[3]), place=lambda v: Fraction(GRADES.index(v)), order=GRADES),
        Nominal(list(columns[4])),
    ]
    classes = [
        Class(
            tuple(records[key - 1] for key in staged.members[number]),
            tuple((shown[a.published], shown[a.null_column]) for a in staged.plan.spec.attributes),
        )
        for number, shown in staged.classes.items()
    ]
    return Centres(attributes, records, classes)


@pytest.mark.parametrize("method", ["kinc_mic", "kagg_mic"])
def test_from_the_definitions(db: Database, method: str) -> None:
    rows = people(method)
    make_table(db.connect("source_owner"), TYPES, rows)
    policy = background_policy(method, k=3, beta=2)
    grade = {"role": "quasi_identifying", "type": "ordinal", "order": GRADES}
    policy["columns"] = {
        name: {"role": "quasi_identifying"} for name in TYPES if name != "secret"
    } | {"grade": grade, "secret": {"role": "sensitive"}}
    policy["privacy"][1]["column"] = "secret"
    staged = run(db.owner(), policy, request=REQUEST)
    got, release = staged.plan.metrics(staged.state), release_of(rows, staged)
    assert isinstance(got, BackgroundMetrics)
    assert len(release.classes) > 4
    assert got.attributes is not None
    for i, found in enumerate(got.attributes.values()):
        check_attribute(found, release, i)
    assert got.entropy is None
    assert got.links == close(release.links())
    assert got.links_box == close(release.links(box=True))
    assert got.rgcp == close(release.rgcp())
    assert got.kl == close(release.joint_kl())
    queries = asked_of(staged, release)
    pairs = [(release.exact(asked), release.estimate(asked)) for asked in queries]
    assert got.workload is not None
    assert got.workload.count == errors_of([(e[0], g[0]) for e, g in pairs])
    assert got.workload.sums["secret"] == errors_of([(e[1], g[1]) for e, g in pairs])


def check_attribute(found: AttributeMetrics, release: Centres, i: int) -> None:
    assert found.glm == close(release.glm(i))
    assert found.entropy is None
    assert found.emd == close(release.emd(i))
    relative = release.relative(i)
    assert relative is not None
    assert (found.difference, found.half_width, found.absolute) == tuple(map(close, relative))
    assert found.kl == close(release.kl(i))
    assert (found.uncovered > 0) == (release.kl(i) is None)
