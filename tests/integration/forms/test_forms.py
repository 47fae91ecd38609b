"""A published form other than that of classes: what a run asks it for."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pganon.forms.facts import CLASSES
from pganon.forms.form import PublishedForm
from pganon.forms.utility import Utility
from pganon.identifiers import QualifiedName
from pganon.methods import registry
from pganon.resolved.model import ReleaseSpec
from pganon.steps import State
from pganon.steps.facts import Facts
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy


@dataclass(frozen=True)
class HeapUtility(Utility):
    """Figures of a form that nobody has heard of."""

    columns = "quasi-sensitive column"

    heaps: int

    @property
    def number_of_groups(self) -> int:
        return self.heaps

    def summary(self) -> dict[str, str]:
        return {"heaps": f"{self.heaps} heaps", "GCP": f"{self.gcp:g}"}

    def details(self) -> dict[str, str]:
        return {"heaps": f"{self.heaps} heaps"}


def _heaps(spec: ReleaseSpec, facts: Facts) -> HeapUtility:
    return HeapUtility(0.25, {"age": 0.25}, facts[CLASSES])


@pytest.fixture
def policy_file(db: Database, tmp_path: Path) -> str:
    make_table(db.connect("source_owner"), {"age": "integer"}, [(20 + n % 7,) for n in range(20)])
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy({"age": "q"}, 5, publish={"readers": ["analyst"]})))
    return str(file)


def _with(monkeypatch: pytest.MonkeyPatch, **changes: dict[str, Any]) -> PublishedForm:
    """Mondrian with other attributes of these parts of its form."""
    found = registry.methods()
    method = found["mondrian"]
    parts = {name: replace(getattr(method.form, name), **of) for name, of in changes.items()}
    form = replace(method.form, **parts)
    changed = {**found, "mondrian": replace(method, form=form)}
    monkeypatch.setattr(registry, "methods", lambda: changed)
    return form


def _started(db: Database) -> int:
    row = db.owner().execute("SELECT count(*) FROM pganon.ledger").fetchone()
    assert row is not None
    return row[0]


def test_figures_are_the_forms_own(
    db: Database, policy_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with(monkeypatch, statistics={"utility": _heaps, "figures": HeapUtility})
    dsn = db.dsn("steward")
    ran = pganon("run", policy_file, "--dsn", dsn)
    assert ran.code == 0, ran.err
    assert "heaps" in ran.out
    assert "quasi-sensitive column" in ran.out
    assert "classes" not in ran.out.replace("class_id", "")
    shown = pganon("show", "r", "--dsn", dsn)
    assert shown.code == 0, shown.err
    assert "heaps" in shown.out
    (version,) = pganon("show", "r", "--dsn", dsn, "--json").json["versions"]
    assert set(version["measures"]["utility"]) == {"gcp", "ncp", "heaps"}


@pytest.mark.parametrize("asked", [("--metrics", "all"), ("--workload", "queries=5")])
def test_metrics_on_request_are_refused_before_any_work(
    db: Database, policy_file: str, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    _with(monkeypatch, statistics={"on_request": None}, publication={"groups": "heaps"})
    dsn = db.dsn("steward")
    ran = pganon("run", policy_file, "--dsn", dsn, *asked)
    assert ran.code == 2
    assert "nothing to measure in a release of heaps" in " ".join(ran.err.split())
    assert _started(db) == 0
    assert pganon("run", policy_file, "--dsn", dsn).code == 0


def test_names_of_all_views_are_looked_at_before_any_work(
    db: Database, policy_file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = registry.methods()["mondrian"].form

    def two(spec: ReleaseSpec, state: State, tables: dict[str, QualifiedName]) -> Any:
        view, *_ = form.publication.views(spec, state, tables)
        return (view, replace(view, name=QualifiedName(view.name.schema, view.name.name + "_more")))

    _with(monkeypatch, publication={"views": two})
    dsn = db.dsn("steward")
    owner = db.owner()
    owner.execute("CREATE SCHEMA published")
    owner.execute("CREATE TABLE published.r_more (a integer)")
    ran = pganon("run", policy_file, "--dsn", dsn, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "name_taken")
    assert _started(db) == 0
    owner.execute("DROP TABLE published.r_more")
    ran = pganon("run", policy_file, "--dsn", dsn)
    assert ran.code == 0, ran.err
    shown = pganon("show", "r", "--dsn", db.dsn("analyst"), "--json").json
    assert shown["views"] == ["published.r", "published.r_more"]
