"""Cleveland heart data: what the requirements allow, and SLAMSA against its baselines.

Needs PGANON_DATA: the folder that holds heart/processed.cleveland.data (UCI Machine Learning
Repository).
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from pganon.forms.request import Request
from pganon.methods.buckets.metrics.report import BucketMetrics
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, refused, run
from tests.support.sources.builders import make_table, policy

FILE = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "heart/processed.cleveland.data"
pytestmark = [
    pytest.mark.primary_server_only,
    pytest.mark.skipif(not FILE.exists(), reason="PGANON_DATA is not set, or holds no heart data"),
]
NAMES = ("age", "sex", "cp", "rbp", "sc", "fbs", "restecg", "thalach", "exang", "oldpeak",
         "slope", "ca", "thal", "class")  # fmt: skip
DEGREES = {"cp": 2.09, "rbp": 8.03, "sc": 49.50, "fbs": 1.17, "restecg": 2.02, "thalach": 27.00,
           "oldpeak": 3.09, "exang": 1.49, "slope": 2.14, "ca": 1.71, "thal": 1.81,
           "class": 1.86}  # fmt: skip
"""Records over those with the most frequent value, for every sensitive column."""
THREE = ("rbp", "sc", "thalach")


@pytest.fixture
def heart(db: Database) -> Database:
    """The 297 complete records as public.t."""
    lines = [line for line in FILE.read_text().split() if "?" not in line]
    make_table(
        db.connect("source_owner"), dict.fromkeys(NAMES, "numeric"), [x.split(",") for x in lines]
    )
    assert len(lines) == 297
    return db


def document(names: Any, model: dict[str, Any], **method: Any) -> dict[str, Any]:
    roles = {"age": "q", "sex": {"type": "categorical"}, **dict.fromkeys(names, "s")}
    models = [{"model": "slicing_l_diversity", **model}]
    if method["name"] == "sloms":
        models.append({"model": "k_anonymity", "k": model["l"]})
    return policy(roles, models, method=method, suppression_limit=1.0)


def test_what_the_columns_allow(heart: Database) -> None:
    """At most 1/l of 297 records with a value: few columns allow l = 3, some not even 2."""
    with refused("infeasible") as errors:
        run(heart.owner(), document(DEGREES, {"l": 100}, name="slamsa"))
    said = re.findall(r"column (\w+): its most frequent value has (\d+) of 297", str(errors[0]))
    degrees = {name: round(297 / int(most), 2) for name, most in said}
    assert degrees == DEGREES
    assert [name for name, degree in degrees.items() if degree >= 3] == [
        "rbp",
        "sc",
        "thalach",
        "oldpeak",
    ]


def error(heart: Database, model: dict[str, Any], **method: Any) -> tuple[Staged, list[float]]:
    """Mean divergence of estimates by one and by two quasi-identifiers."""
    staged = run(heart.owner(), document(THREE, model, **method), request=Request(everything=True))
    metrics = staged.plan.metrics(staged.state)
    assert isinstance(metrics, BucketMetrics)
    found = metrics.reconstruction
    assert found is not None
    return staged, [float(found[r].mean or 0) for r in ("1", "2")]


@pytest.mark.slow
def test_slamsa_against_its_baselines(heart: Database) -> None:
    """SLAMSA < MSB < SLOMS, growing with l and with the columns that are asked about."""
    staged, three = error(heart, {"l": 3}, name="slamsa", optimizer="firefly")
    utility = staged.utility
    assert utility.objective <= 0.6 * utility.baseline
    assert utility.baseline / 297 == pytest.approx(0.0235, rel=0.15)
    assert utility.groups == pytest.approx(99, abs=2)
    unique = {"l": 3, "level": "unique"}
    _, msb = error(heart, unique, name="msb")
    separate = [[name] for name in THREE]
    _, sloms = error(heart, unique, name="sloms", link_threshold=1, sensitive_tables=separate)
    assert all(a < b < c for a, b, c in zip(three, msb, sloms, strict=True))
    _, six = error(heart, {"l": 6}, name="slamsa", optimizer="firefly")
    assert all(a < b for a, b in zip(three, six, strict=True))
    assert all(one < two for one, two in (three, six, msb, sloms))


def test_the_median_tree_stays_usable_near_the_limit(heart: Database) -> None:
    """l = 8 of at most 8.03: without stripes hardly a bucket could be halved."""
    method = {"name": "slamsa", "optimizer": "base"}
    staged = run(heart.owner(), document(THREE, {"l": 8}, **method))
    assert staged.utility.groups >= 30
    assert staged.utility.largest_group < 3 * 8
