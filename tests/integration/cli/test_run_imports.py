"""Modules that a whole run imports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.harness.imported import methods_imported


@pytest.mark.primary_server_only
def test_a_whole_run_imports_its_method_alone(db: Database, tmp_path: Path) -> None:
    """Its warnings, too, name a method only where there is something to say."""
    db.source(faults.SOURCE)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    assert methods_imported(("run", str(file)), dsn=db.dsn()) == {faults.POLICY["method"]["name"]}
    assert faults.content(db.owner()) is not None
