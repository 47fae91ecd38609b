"""Where people have several records, no report counts records as people, or says less than the
run."""

from __future__ import annotations

import json
import re
from functools import partial
from typing import Any

import pytest

from pganon.cli.readers_data import see
from pganon.cli.report_data import collect
from pganon.loading import load_policy
from pganon.report.document import document
from pganon.report.page import page
from pganon.report.readers.document import document as readers_document
from pganon.report.readers.page import page as readers_page
from pganon.run.record import RunResult
from tests.integration.methods.test_conformance import every_method_in_time
from tests.support.harness import faults, plans
from tests.support.harness.cluster import Database
from tests.support.harness.documents import valid
from tests.support.sources import conformance
from tests.unit.report.test_page import shown

pytestmark = pytest.mark.primary_server_only

COUNTED = re.compile(r"\b([\d,]+) (?:people|persons?)\b")
LIMITS = re.compile(r"(?:publishes no cell with|of \d+ \w+ have) fewer than \d+ people")
"""Numbers of an authority, and of what is required: how many people every group should have."""


def _policy(method: str) -> dict[str, Any]:
    """The small policy of a method, with several records of a person, kept together or not; it
    leaves a column out, of which runs warn."""
    declared = conformance.document(method)
    declared["columns"]["person"] = {"role": "individual"}
    declared["columns"].pop("cost", None)
    if not plans.policy_of(method).policy.several_each:
        declared["records_per_individual"] = "many_accepted"
    return declared


def _released(db: Database, method: str) -> RunResult:
    db.source(plans.SOURCE)
    return faults.run(db.dsn(), load_policy(json.dumps(_policy(method))), stable=True)


@every_method_in_time
def test_records_are_not_called_people(db_after: Any, method: str) -> None:
    db, result = db_after(partial(_released, method=method))
    (people,) = db.admin.execute("SELECT count(DISTINCT person) FROM public.visit").fetchone()
    assert people < result.released
    found = collect(db.owner(), "visits")
    report = valid(document(found))
    several = report["properties"]
    kept = plans.policy_of(method).policy.several_each
    assert (several["rows"], several["members"]) == ("records", "people" if kept else "records")
    text = shown(page(report)) + json.dumps(report)
    seen = valid(readers_document(see(db.owner(), "visits")))
    for each in (text, shown(readers_page(seen)) + json.dumps(seen)):
        counts = [int(n.replace(",", "")) for n in COUNTED.findall(LIMITS.sub("", each))]
        assert all(count <= people for count in counts), counts
        assert kept or not counts
        assert "is one person" not in each
        assert "People by" not in each
    assert "People in every version" not in page(report)
    assert f"{result.released} records" in report["summary"]
    if kept:
        assert f"{result.released} records of {people} people" in report["summary"]
    assert result.warnings
    for warning in result.warnings:
        assert f"The run warned: {warning}." in report["comments"]


@pytest.mark.slow
def test_every_warning_stands_in_the_report(db: Database) -> None:
    """Of the policy, of what others were granted before, and of versions that cross."""
    db.source(faults.SOURCE)
    loaded = faults.policy(republication="warn")
    faults.run(db.dsn(), loaded)
    db.admin.execute("GRANT SELECT ON published.patients TO source_owner")
    db.source("DELETE FROM public.patient WHERE id = 7", grant=False)
    result = faults.run(db.dsn(), loaded)
    report = document(collect(db.owner(), "patients"))
    for said in ("are void for who has both", "source_owner"):
        assert any(said in warning for warning in result.warnings), result.warnings
    for warning in result.warnings:
        assert f"The run warned: {warning}." in report["comments"]
