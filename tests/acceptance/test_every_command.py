"""Every privacy model through every command about a release, once.

Methods are in tests/integration/methods/test_conformance.py.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pganon.cli.main import COMMANDS
from pganon.privacy.assessment_measures import measures
from pganon.privacy.base import Model
from pganon.privacy.identity import EIRLDiversity
from pganon.sqltools import render
from tests.support.harness import driver, faults, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.walk import Files, commands, walk
from tests.support.sources import conformance
from tests.support.sources.every_model import EVERY

ELSEWHERE = {"server", "init", "upgrade", "uninstall", "extension", "import", "quasi", "demo"}
"""Commands that are about no release."""


def test_the_walk_leaves_no_command_out(tmp_path: Path) -> None:
    walked = {command.arguments[0] for command in commands(Files(tmp_path))}
    every = set(COMMANDS)
    assert every - ELSEWHERE == walked


OF_SMALL_POLICIES = {
    model["model"] for name in conformance.METHODS
    for model in conformance.document(name)["privacy"]
}  # fmt: skip
"""Every method is walked through with its small policy."""


@pytest.mark.slow
@pytest.mark.parametrize("model", [model for model in EVERY if model not in OF_SMALL_POLICIES])
def test_every_model(db: Database, tmp_path: Path, model: str) -> None:
    """On a second version, too, where one of them stands for all commands there.

    Requests and migrations are the same to all models.
    """
    db.source(plans.SOURCE)
    assert walk(db, plans.policy_of(*EVERY[model]), tmp_path, alone=True) == []


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.parametrize("method", ["one_dimensional", "full_domain"])
def test_means_of_weights_and_numbers(db: Database, tmp_path: Path, method: str) -> None:
    db.source(plans.SOURCE)
    said = plans.policy_of(method).policy.document()
    means = {
        "cost": {"role": "weight", "shown": "range", "as": "weight"},
        "id": {"role": "insensitive", "shown": {"groups": 2}},
    }
    loaded = driver.loaded({**said, "columns": {**said["columns"], **means}})
    assert walk(db, loaded, tmp_path, alone=True) == []


UNKNOWN = {
    *("anatomy_l_diversity", "slicing_l_diversity", "local_bucket_diversity"),
    *("qs_k_anonymity", "background_knowledge"),
    *("average_risk", "sample_uniqueness", "delta_presence"),
    *("population_uniqueness", "profitability"),
}
"""Models of what one relation does not show: groups and buckets whose tables are apart, clusters of
joined sources, prior beliefs, people of a population. And those of all classes together, which are
figures of risk."""


def _identity(model: Model) -> tuple[str, str]:
    """Two are the same if they have one name and one SQL."""
    searched = isinstance(model, EIRLDiversity) or not model.from_histogram
    return model.name, "" if searched else render(model.aggregate("g"))


def _required(word: str) -> list[str] | None:
    """`NAME=NUMBER` per measure of the model; None: `pganon assess` does not have one of them."""
    names = {_identity(measure.model): measure.name for measure in measures()}
    models: Any = plans.policy_of(*EVERY[word]).policy.privacy
    own = [m for model in models if model.model == word for m in model.measures()]
    if not all(_identity(m) in names for m in own):
        return None
    return [f"{names[_identity(m)]}={m.parameter}" for m in own]


def test_assess_measures_every_model_of_one_relation() -> None:
    assert {word for word in EVERY if _required(word) is None} == UNKNOWN


OF_CLASSES = [
    word for word, (method, _) in EVERY.items() if method == "mondrian" and word not in UNKNOWN
]


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.parametrize("word", OF_CLASSES)
def test_a_release_is_assessed_as_it_is_verified(db: Database, word: str) -> None:
    """The classes that readers see satisfy what the policy requires, and no more than they do."""
    db.source(plans.SOURCE)
    faults.run(db.dsn(), plans.policy_of(*EVERY[word]))
    required = _required(word)
    assert required
    asked = ("assess", "published.visits", "--qi", "age,zip", "--sensitive", "disease")
    options = [option for one in required for option in ("--require", one)]
    ran = pganon(*asked, *options, "--json", "--dsn", db.dsn())
    assert ran.code == 0, (ran.out, ran.err)
    held = {m["measure"] for m in ran.json["measures"] if m["required"] is not None}
    assert held == {one.partition("=")[0] for one in required}
