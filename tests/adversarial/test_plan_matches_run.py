"""`pganon plan` shows what a run does: the same steps, nothing secret, nothing at random."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pganon.plan.explain import explain
from pganon.run.context import plan_release
from tests.support.harness import faults, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import conformance


@pytest.fixture
def policy_file(tmp_path: Path) -> str:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    return str(file)


SUPPOSED = {
    "danonyir": tuple(f"partition.{step}" for step in ("regrown", "left", "units", "joined")),
}
"""Steps that a plan supposes and a run of these records does not need: nobody is left over."""


def _outline(steps: list[str]) -> tuple[list[str], set[str]]:
    """Steps by themselves, and those of rounds.

    The first round, which a plan shows, may have no table of an earlier one to drop.
    """
    rounds = {step for step in steps if step.count(".") > 1}
    alone = [step for step in steps if step not in rounds]
    return alone, {step for step in rounds if not step.endswith(".tidy")}


@pytest.mark.all_versions
@pytest.mark.parametrize("method", plans.METHODS)
def test_the_plan_on_file_lists_the_steps_of_a_run(db: Database, method: str) -> None:
    """In their order, but for those of a repetition: of later rounds some steps are the first.

    Who changes a statement shows it to a reviewer: `python -m tests.support.harness.plans`.
    """
    db.source(plans.SOURCE)
    loaded = plans.policy_of(method)
    plan = plan_release(loaded, dsn=db.dsn())
    found: dict[str, list[str]] = {}
    for block in dict.fromkeys(plans.blocks(plan, method)):
        found.setdefault(block.head, []).append(block.sql)
    kept = plans.kept(method)
    assert found.keys() == kept.keys()
    for head, sql in found.items():
        # Another sqlglot may lay out the same statements in another way.
        assert sql == kept[head] or plans.statements(sql) == plans.statements(kept[head]), head
    assert [p.name for p in plan.phases if bool(p.steps) == bool(p.skipped)] == []
    planned = [f"{s.phase}.{s.step}" for s in explain(plan)]
    ran = faults.steps_of(db.dsn(), loaded, jobs=1)
    assert _outline([s for s in planned if not s.startswith(SUPPOSED.get(method, ()))]) == (
        _outline(ran)
    )


@pytest.mark.parametrize(
    ("refresh", "skipped"),
    [
        ("recompute", ["cohorts", "newcomers", "measure", "whole", "explain", "guard"]),
        ("increments", ["newcomers", "measure", "whole", "explain", "guard"]),
    ],
)
def test_phases_that_a_run_skips_have_a_reason(
    db: Database, tmp_path: Path, refresh: str, skipped: list[str]
) -> None:
    db.source(faults.SOURCE)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({**faults.POLICY, "refresh": refresh}))
    shown = pganon("plan", str(file), "--json", "--dsn", db.dsn())
    assert list(shown.json["skipped"]) == skipped
    assert all(shown.json["skipped"].values())
    assert not set(skipped) & {step["phase"] for step in shown.json["steps"]}
    text = pganon("plan", str(file), "--dsn", db.dsn()).out
    assert "no metrics were asked for" in text


@pytest.mark.slow
@pytest.mark.parametrize("method", conformance.FIRST)
def test_chains_take_the_steps_of_a_run_of_one(db: Database, method: str) -> None:
    """Side by side, steps begin in whatever order connections are free."""
    db.source(plans.SOURCE)
    loaded = plans.policy_of(method)
    # Later runs compare themselves with the first, and the second may have to remember it.
    for _ in range(2):
        faults.run(db.dsn(), loaded)
    alone = faults.steps_of(db.dsn(), loaded, jobs=1, force=True)
    assert sorted(faults.steps_of(db.dsn(), loaded, force=True)) == sorted(alone)


@pytest.mark.slow
def test_plans_are_equal_byte_for_byte(db: Database, policy_file: str) -> None:
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    arguments = ("plan", policy_file, "--sql", "--dsn", db.dsn())
    first = pganon(*arguments)
    db.source("INSERT INTO public.patient VALUES (100, 30, 'f', 'Rome', 'plague', 1)")
    second = pganon(*arguments)
    assert (first.code, second.code) == (0, 0)
    assert first.out == second.out


@pytest.mark.slow
def test_a_plan_shows_what_a_run_does_beside_earlier_versions(db: Database) -> None:
    """It takes over the groups of the version over the same source, and is judged beside it."""
    db.source(faults.SOURCE)
    loaded = faults.policy()
    first = {step.step for step in explain(plan_release(loaded, dsn=db.dsn()))}
    faults.run(db.dsn())
    beside = explain(plan_release(loaded, dsn=db.dsn()))
    added = {step.step: step.sql for step in beside if step.step not in first}
    tables = {f"rule {name}" for name in ("same", "pairs", "beside", "judged")}
    assert sorted(added) == sorted(
        {"inherit", "known_people", "still_known_people", "rule", *tables}
    )
    assert "SET partition_seed" in added["inherit"]
    planned = [f"{s.phase}.{s.step}" for s in beside]
    ran = faults.steps_of(db.dsn(), loaded, jobs=1, force=True)
    assert _outline(planned) == _outline(ran)


@pytest.mark.slow
def test_a_plan_holds_no_secret(db: Database, policy_file: str) -> None:
    """Neither keys and seeds of runs nor values of rows: both are read inside the server only."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    text = pganon("plan", policy_file, "--sql", "--dsn", db.dsn()).out
    rows = db.admin.execute(
        "SELECT encode(key, 'hex'), seed_a, seed_b, partition_seed FROM pganon_private.run_secret"
    )
    for row in rows.fetchall():
        assert not any(str(value) in text for value in row)
    assert faults.SECRET not in text
    assert re.search(r"\b\d{15,}\b", text) is None
