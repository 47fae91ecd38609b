"""Every privacy model through every command about a release, once.

Methods are in tests/integration/methods/test_conformance.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from pganon.cli.main import MODULES
from tests.support.harness import plans
from tests.support.harness.cluster import Database
from tests.support.harness.walk import commands, walk
from tests.support.sources.every_model import EVERY

ELSEWHERE = {
    *("server", "init", "upgrade", "uninstall", "extension", "import", "demo"),
    *("assess", "migrate", "worker", "approve", "reject"),
    "estimate",  # tests/integration/estimation asks releases of every form
}
"""Commands that are about no release, about requests, or asked of every form of a release."""


def test_the_walk_leaves_no_command_out(tmp_path: Path) -> None:
    walked = {command for command, *_ in commands(tmp_path / "visits.json", tmp_path)}
    every = {command for module in MODULES.values() for command in module}
    assert every - ELSEWHERE == walked


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.parametrize("model", EVERY)
def test_every_model(db: Database, tmp_path: Path, model: str) -> None:
    db.source(plans.SOURCE)
    assert walk(db, plans.policy_of(*EVERY[model]), tmp_path) == []
