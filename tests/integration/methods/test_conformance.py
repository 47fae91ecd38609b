"""What holds of every registered method; a new one is tried by having its small policy."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from pganon.loading import known, load_policy
from pganon.policy.loader import LoadedPolicy
from pganon.publish import lifecycle
from pganon.run import executor
from pganon.run.options import Options
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.integration.history.increments.test_increments import growing_policy, more_visits
from tests.integration.run.test_dry_run import state
from tests.support.harness import driver, faults, plans
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.walk import walk
from tests.support.oracles.published import ELSEWHERE, Published, offences
from tests.support.sources import conformance
from tests.support.sources.every_model import EVERY

pytestmark = pytest.mark.primary_server_only
every_method = pytest.mark.parametrize("method", conformance.METHODS)
every_method_in_time = pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=[] if method in conformance.FIRST else pytest.mark.slow)
        for method in conformance.METHODS
    ],
)
"""Of tests with a run of their own: one method of every family is fast."""
growing_method = pytest.mark.parametrize("method", conformance.GROWING)
After = Callable[..., tuple[Database, RunResult]]

REORDERED = """
CREATE TABLE public.other AS TABLE public.visit;
TRUNCATE public.visit;
INSERT INTO public.visit SELECT * FROM public.other ORDER BY md5(id::text);
DROP TABLE public.other
"""


def released(db: Database, method: str) -> RunResult:
    """The small policy of a method, run with a fixed seed; to be given to `db_after`."""
    db.source(plans.SOURCE)
    return faults.run(db.dsn(), plans.policy_of(method), stable=True)


def views(conn: Connection) -> list[str]:
    found = conn.execute("SELECT viewname::text FROM pg_views WHERE schemaname = 'published'")
    return sorted(row[0] for row in found.fetchall())


def shown(conn: Connection) -> dict[str, Any]:
    """Rows of all views, as texts."""
    return {view: faults.content(conn, f"published.{view}") for view in views(conn)}


def published(db: Database, loaded: LoadedPolicy) -> Published:
    policy = loaded.policy.document()
    text = sql.SQL("SELECT * FROM {}")
    found: dict[str, Any] = {
        view.removeprefix(policy["release"]).removeprefix("_"): driver.fetch(
            db.admin, text.format(sql.Identifier("published", view))
        )
        for view in views(db.admin)
    }
    return Published(policy, found)


def violated(db: Database, loaded: LoadedPolicy) -> list[Any]:
    """Models of the policy that published rows do not satisfy, with the groups at fault."""
    shows = published(db, loaded)
    models = [m for m in shows.policy["privacy"] if m["model"] not in ELSEWHERE]
    return [(m["model"], groups) for m in models if (groups := offences(shows, m))]


def unverified(conn: Connection, release: str = "visits") -> list[Any]:
    findings = lifecycle.verify(conn, release)
    assert findings
    return [finding for finding in findings if not finding.holds]


# -- models -----------------------------------------------------------------------------------


@pytest.mark.always
@every_method
def test_models_hold_by_definition(db_after: After, method: str) -> None:
    """And so says who verifies the published relations alone."""
    db, _ = db_after(released, method)
    assert violated(db, plans.policy_of(method)) == []
    db.source("DROP TABLE public.visit", grant=False)
    assert unverified(db.owner()) == []


@pytest.mark.always
@pytest.mark.parametrize(("method", "word"), conformance.further_models())
def test_every_other_model_holds_by_definition(db: Database, method: str, word: str) -> None:
    db.source(plans.SOURCE)
    loaded = conformance.with_model(method, word)
    faults.run(db.dsn(), loaded)
    assert violated(db, loaded) == []


def test_every_model_is_judged() -> None:
    """By its definition here, or where it is said to be."""
    elsewhere = ELSEWHERE | conformance.OF_TABLES
    assert {model for model, where in elsewhere.items() if not Path(where).exists()} == set()
    assert set(EVERY) == set(known().models) - set(conformance.OF_TABLES)
    judged = {
        model["model"] for name in conformance.METHODS
        for model in conformance.document(name)["privacy"]
    } | {word for _, word in conformance.further_models()}  # fmt: skip
    assert judged == set(EVERY)


@every_method_in_time
def test_ready_hierarchies(db: Database, method: str) -> None:
    """Codes in any case, one that does not fit, NULLs, and the ages of the oldest."""
    db.source(
        plans.SOURCE
        + "; UPDATE public.visit SET age = age + CASE WHEN age < 25 THEN 0 ELSE 65 END,"
        " zip = CASE zip WHEN 'Z1' THEN 'e11.0'"
        " WHEN 'Z2' THEN '?' ELSE 'E1' || right(zip, 1) || '.9' END"
    )
    policy = conformance.document(method)
    forms = {"age": {"age": [5, 10]}, "zip": {"codes": "icd10", "other": True}}
    for name, form in forms.items():
        policy["columns"][name]["hierarchy"] = form
    loaded = load_policy(json.dumps(policy))
    faults.run(db.dsn(), loaded)
    assert violated(db, loaded) == []
    assert unverified(db.owner()) == []


# -- chance and order -------------------------------------------------------------------------


@every_method_in_time
def test_seed_and_records_decide_all_that_is_shown(
    db: Database, db_after: After, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Not the order in which the source has them, nor anything that is drawn outside the seed, nor
    whether steps travel together, as those of small runs do."""
    first, _ = db_after(released, method)
    db.source(plans.SOURCE)
    db.source(REORDERED, grant=False)
    monkeypatch.setattr(executor, "SMALL_BELOW", 0)
    faults.run(db.dsn(), plans.policy_of(method), stable=True)
    assert shown(db.admin) == shown(first.admin)


@every_method_in_time
def test_another_seed_shows_another_release(db: Database, db_after: After, method: str) -> None:
    first, _ = db_after(released, method)
    db.source(plans.SOURCE)
    with driver.secrets(b"another seed of a test"):
        faults.run(db.dsn(), plans.policy_of(method))
    assert shown(db.admin) != shown(first.admin)


@every_method_in_time
def test_a_dry_run_publishes_nothing(db: Database, method: str) -> None:
    db.source(plans.SOURCE)
    conn = db.owner()
    before = state(conn)
    tried = run_release(plans.policy_of(method), dsn=db.dsn(), options=Options(dry_run=True))
    assert (tried.outcome, tried.version, tried.refusal) == ("dry_run", None, None)
    assert state(conn) == before
    assert driver.leftovers(db) == []


# -- what sources hold ------------------------------------------------------------------------


@every_method_in_time
def test_nulls_are_suppressed_or_values(db: Database, method: str) -> None:
    """Of a column that says so; sensitive ones are values."""
    db.source(plans.SOURCE)
    db.source(conformance.NULLS, grant=False)
    loaded = conformance.leaves_out_nulls(method)
    condition = conformance.shows_null(loaded.policy.document())
    least = db.admin.execute(f"SELECT count(*) FROM public.visit WHERE {condition}").fetchone()
    done = faults.run(db.dsn(), loaded)
    assert (done.suppressed,) >= least > (0,)
    assert done.released + done.suppressed == done.records
    assert violated(db, loaded) == []
    assert unverified(db.owner()) == []


@every_method_in_time
def test_names_and_types_that_need_quotes(db: Database, method: str) -> None:
    db.source(plans.SOURCE)
    db.source(conformance.HOSTILE)
    loaded = conformance.hostile(method)
    done = faults.run(db.dsn(), loaded)
    assert done.released + done.suppressed == 60
    named = set(published(db, loaded).views[""][0])
    assert {conformance.NAMES[name] for name in ("age", "zip", "cost")} <= named
    assert unverified(db.owner(), conformance.RELEASE) == []


@pytest.mark.parametrize("turn", [3, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 2, 0))])
@every_method
@pytest.mark.slow
def test_names_of_the_statements_own_columns(db: Database, method: str, turn: int) -> None:
    """In turns 3, 5, 2 and 0 a sensitive column, an age, a drug and the key are called `n`."""
    db.source(plans.SOURCE)
    source, policy = conformance.homonyms(method, turn)
    db.source(source)
    done = faults.run(db.dsn(), policy)
    assert done.released + done.suppressed == 60
    assert unverified(db.owner(), policy.policy.release) == []


# -- faults, versions, commands ---------------------------------------------------------------


@pytest.mark.slow
@every_method
def test_nothing_is_readable_wherever_a_run_ends(db_after: After, method: str) -> None:
    """Steps commit: what others see between two of them is what a kill there leaves behind.

    Runs that end are tidied up alike, so one method of every family is killed in every phase.
    """
    db, _ = db_after(released, method)
    conn = db.owner()
    before = shown(conn)
    loaded = plans.policy_of(method)
    steps: list[str] = []

    def look(step: str) -> None:
        steps.append(step)
        assert (faults.exposed(conn), shown(conn)) == ([], before), step

    assert faults.run(db.dsn(), loaded, before=look).version == 2
    if method not in conformance.FIRST:
        return
    phases = {step.split(".")[0]: step for step in reversed(steps)}
    now = shown(conn)
    with faults.ForkServer() as server:
        for step in phases.values():
            with server.stopped(db.dsn(), step, loaded=loaded):
                pass
            faults.wait_for_backends(conn)
            assert (faults.exposed(conn), shown(conn)) == ([], now), step
    assert faults.run(db.dsn(), loaded).version == 3
    assert faults.run_tables(conn) == []
    assert unverified(conn) == []


@pytest.mark.slow
@growing_method
def test_rows_of_earlier_versions_stay(db: Database, method: str) -> None:
    """Every method that admits increments works unchanged on the new individuals alone."""
    db.source(plans.SOURCE)
    policy = growing_policy(method)
    faults.run(db.dsn(), policy)
    conn = db.owner()
    before = shown(conn)
    more_visits(db, "20 + n % 9", diseases=6)
    second = faults.run(db.dsn(), policy)
    assert (second.version, second.added and second.added.waiting) == (2, 0)
    after = shown(conn)
    assert before.keys() == after.keys()
    for view, rows in before.items():
        assert Counter(rows) < Counter(after[view]), view
    assert unverified(conn) == []
    lifecycle.show_earlier(conn, "visits")
    assert shown(conn) == before


@pytest.mark.slow
@every_method
def test_every_command(db: Database, tmp_path: Path, method: str) -> None:
    db.source(plans.SOURCE)
    assert walk(db, plans.policy_of(method), tmp_path) == []
