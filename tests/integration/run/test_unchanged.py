"""A run over an unchanged source by an unchanged policy makes no version."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pganon.publish import lifecycle, listing
from tests.support.harness import driver, faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources import identity, stays, vehicles
from tests.support.sources.builders import make_table

POLICIES: dict[str, dict[str, Any]] = {
    "mondrian": {},
    "anatomy": {
        "method": {"name": "anatomy"},
        "privacy": [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}],
        "columns": {
            name: {key: value for key, value in column.items() if key != "hierarchy"}
            for name, column in faults.POLICY["columns"].items()
        },
    },
}


@pytest.fixture
def source(db: Database) -> Database:
    db.source(faults.SOURCE)
    return db


def rerun(db: Database, **changes: Any) -> Any:
    return faults.run(db.dsn(), faults.policy(**changes), force=False)


@pytest.mark.parametrize("method", POLICIES)
def test_nothing_new(source: Database, method: str) -> None:
    first = rerun(source, **POLICIES[method])
    conn = source.owner()
    shown = faults.content(conn)
    again = rerun(source, **POLICIES[method])
    assert (first.outcome, again.outcome) == ("released", "unchanged")
    assert (again.version, again.applied) == (1, ())
    assert again.run_id > first.run_id
    # What is told of the version is what was told when it was made.
    for figure in ("records", "released", "suppressed", "verified", "utility", "view"):
        assert getattr(again, figure) == getattr(first, figure)
    assert faults.content(conn) == shown
    assert faults.events(conn) == ["started", "released", "started", "unchanged"]
    assert faults.run_tables(conn) == []
    secrets = conn.execute("SELECT run_id FROM pganon_private.run_secret").fetchall()
    assert secrets == [(first.run_id,)]
    assert not pganon("clean", "--dsn", source.dsn(), "--json").json["interrupted"]


@pytest.mark.parametrize("kind", [stays, vehicles], ids=["buckets", "clusters"])
@pytest.mark.slow
def test_other_forms(db: Database, kind: Any) -> None:
    """Columns that follow from the data, too."""
    source = db.connect("source_owner")
    schema, table = kind.document()["source"].split(".")
    make_table(source, kind.COLUMNS, kind.rows(90), name=(schema, table))
    assert faults.run(db.dsn(), kind.policy(), force=False).outcome == "released"
    again = faults.run(db.dsn(), kind.policy(), force=False)
    assert (again.outcome, again.applied) == ("unchanged", ())


def test_records_of_a_person(db: Database) -> None:
    identity.build(db.connect("source_owner"))
    loaded = driver.loaded(identity.of_paper(identity.eir(2), suppression_limit=0.5))
    assert faults.run(db.dsn(), loaded, force=False).outcome == "released"
    assert faults.run(db.dsn(), loaded, force=False).outcome == "unchanged"


@pytest.mark.slow
def test_command(source: Database, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    run = ("run", str(file), "--dsn", source.dsn())
    assert pganon(*run).code == 0
    again = pganon(*run)
    assert (again.code, again.out) == (0, "unchanged: published.patients, version 1\n")
    assert again.err == "warning: not declared and not released: id\n"
    assert pganon(*run, "--json").json["outcome"] == "unchanged"
    assert "with --dry-run or --force" in pganon(*run, "--metrics", "all").err
    forced = pganon(*run, "--force", "--json").json
    assert (forced["outcome"], forced["version"]) == ("released", 2)


@pytest.mark.parametrize(
    "change",
    [
        {"publish": {"readers": ["analyst"], "schema": "elsewhere"}},
        {"columns": {**faults.POLICY["columns"], "days": {"role": "insensitive", "as": "nights"}}},
        {"privacy": [{"model": "k_anonymity", "k": 9}], "republication": "allow"},
        {"method": {"name": "mondrian", "variant": "relaxed"}, "republication": "allow"},
    ],
    ids=["schema", "name of a column", "k", "method"],
)
@pytest.mark.slow
def test_another_policy_is_a_change(source: Database, change: dict[str, Any]) -> None:
    rerun(source)
    changed = rerun(source, **change)
    assert (changed.outcome, changed.version) == ("released", 2)


@pytest.mark.slow
def test_another_schema_of_columns_that_follow_from_the_data(db: Database) -> None:
    """Their views are not compared, so that what the policy says of them must be."""
    schema, table = stays.document()["source"].split(".")
    make_table(db.connect("source_owner"), stays.COLUMNS, stays.rows(90), name=(schema, table))
    assert faults.run(db.dsn(), stays.policy(), force=False).outcome == "released"
    elsewhere = stays.policy(publish={"readers": ["analyst"], "schema": "elsewhere"})
    assert faults.run(db.dsn(), elsewhere, force=False).outcome == "released"


def test_another_bound_of_inference_is_a_change(source: Database) -> None:
    """Nobody has held the version that is there against it."""
    rerun(source, **POLICIES["anatomy"])
    bound = {"limit": 0.9, "share": 1}
    assert rerun(source, **POLICIES["anatomy"], inference=bound).outcome == "released"


@pytest.mark.slow
def test_another_source_is_a_change(source: Database) -> None:
    rerun(source)
    source.source("UPDATE public.patient SET days = days + 1 WHERE id = 1", grant=False)
    assert rerun(source, republication="allow").version == 2
    # The version that is shown counts, not the newest one that was made.
    lifecycle.show_earlier(source.owner(), "patients")
    assert rerun(source, republication="allow").outcome == "released"


@pytest.mark.slow
def test_after_a_rollback_or_a_drop(source: Database) -> None:
    rerun(source)
    faults.run(source.dsn())
    conn = source.owner()
    lifecycle.show_earlier(conn, "patients")
    assert (rerun(source).outcome, faults.version(conn)) == ("unchanged", 1)
    lifecycle.drop(conn, "patients")
    assert (rerun(source).outcome, faults.version(conn)) == ("released", 3)


@pytest.mark.slow
def test_readers_are_applied(source: Database) -> None:
    rerun(source)
    conn = source.owner()
    done = rerun(source, publish={"readers": ["source_owner"]})
    assert (done.outcome, done.version) == ("unchanged", 1)
    assert done.applied == ("readers added: source_owner", "readers removed: analyst")
    assert faults.last_details(conn)["applied"] == list(done.applied)
    assert faults.content(source.connect("source_owner")) == faults.content(conn)
    rows = conn.execute(
        "SELECT has_table_privilege('analyst', 'published.patients', 'SELECT')"
    ).fetchone()
    assert rows == (False,)
    assert listing.show(conn, "patients").readers == ("source_owner",)
    assert all(item.holds for item in lifecycle.verify(conn, "patients"))
    assert rerun(source, publish={"readers": ["source_owner"]}).applied == ()
    with pytest.raises(Exception, match="not roles of the server") as caught:
        rerun(source, publish={"readers": ["nobody_such"]})
    assert caught.value.code == "missing_role"  # type: ignore[attr-defined]


@pytest.mark.slow
def test_versions_kept_are_applied(source: Database) -> None:
    for _ in range(3):
        faults.run(source.dsn())
    conn = source.owner()
    lifecycle.show_earlier(conn, "patients", 1)
    done = rerun(source, publish={"readers": ["analyst"], "keep": 1})
    assert done.applied == ("versions no longer stored: 2",)
    stored = {v.version: v.stored for v in listing.show(conn, "patients").versions or ()}
    assert stored == {3: True, 2: False, 1: True}  # the newest is kept, and what is shown


@pytest.mark.slow
def test_comments_are_applied(source: Database) -> None:
    """Those of an earlier program, for which the state tables stand."""
    rerun(source)
    conn = source.owner()
    conn.execute(
        "UPDATE pganon_private.version SET views = jsonb_set(views, '{0,comment}', '\"old\"')"
    )
    conn.execute("COMMENT ON VIEW published.patients IS 'old'")
    done = rerun(source)
    assert (done.outcome, done.applied) == ("unchanged", ("comments",))
    row = conn.execute("SELECT obj_description('published.patients'::regclass)").fetchone()
    assert row is not None
    assert row[0] not in (None, "old")
    assert rerun(source).applied == ()
    assert all(item.holds for item in lifecycle.verify(conn, "patients"))


def test_views_that_are_gone_come_again(source: Database) -> None:
    rerun(source)
    conn = source.owner()
    shown = faults.content(conn)
    conn.execute("DROP VIEW published.patients")
    done = rerun(source)
    assert (done.outcome, done.applied) == ("unchanged", ("the views were made again",))
    assert faults.content(source.connect("analyst")) == shown
    assert all(item.holds for item in lifecycle.verify(conn, "patients"))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE pganon_data.r{run}_records SET days = days + 1",
        "DROP TABLE pganon_data.r{run}_records CASCADE",
    ],
)
@pytest.mark.slow
def test_what_was_damaged_is_made_anew(source: Database, damage: str) -> None:
    """Unchanged means that readers see what was verified."""
    run = rerun(source).run_id
    conn = source.owner()
    conn.execute(damage.format(run=run).encode())
    done = rerun(source, republication="allow")
    assert (done.outcome, done.version) == ("released", 2)
    assert all(item.holds for item in lifecycle.verify(conn, "patients"))


@pytest.mark.slow
def test_without_its_secrets_a_version_is_made_anew(source: Database) -> None:
    rerun(source)
    source.owner().execute("DELETE FROM pganon_private.run_secret")
    done = rerun(source, republication="allow")
    assert (done.outcome, done.version) == ("released", 2)
    assert all(item.holds for item in lifecycle.verify(source.owner(), "patients"))


@pytest.mark.slow
def test_a_version_with_other_checks_is_made_anew(source: Database) -> None:
    """A program that verifies more than the one before does not vouch for its releases."""
    rerun(source)
    conn = source.owner()
    conn.execute("UPDATE pganon_private.version SET checks = checks - 0")
    assert rerun(source).outcome == "released"
