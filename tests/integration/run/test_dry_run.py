"""A dry run computes, verifies and measures, and leaves nothing but its row in the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pganon.errors import PrivacyRefusal
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import driver, faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table


@pytest.fixture
def source(db: Database) -> Database:
    db.source(faults.SOURCE)
    return db


def state(conn: Connection) -> list[tuple[object, ...]]:
    """All objects, privileges and versions that there are, without the ledger."""
    return conn.execute(
        "SELECT 'c', c.oid::text, c.relname, c.relacl::text FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname !~ '^pg_'"
        " UNION ALL SELECT 'n', n.oid::text, n.nspname, n.nspacl::text FROM pg_namespace AS n"
        " WHERE n.nspname !~ '^pg_'"
        " UNION ALL SELECT 's', s.run_id::text, '', '' FROM pganon_private.run_secret AS s"
        " UNION ALL SELECT 'a', a.kind, '', '' FROM pganon_private.activity AS a"
        " UNION ALL SELECT 'v', v.release, v.version::text, '' FROM pganon_private.version AS v"
        " UNION ALL SELECT 'r', r.name, r.current_version::text, r.readers::text"
        " FROM pganon_private.release AS r ORDER BY 1, 2, 3"
    ).fetchall()


def dry(db: Database, **changes):
    return run_release(faults.policy(**changes), dsn=db.dsn(), options=Options(dry_run=True))


@pytest.mark.slow
def test_it_leaves_nothing(source: Database) -> None:
    conn = source.owner()
    before = state(conn)
    tried = dry(source)
    assert state(conn) == before
    assert driver.leftovers(source) == []
    assert faults.events(conn) == ["started", "dry_run"]
    assert faults.content(conn) is None
    assert (tried.outcome, tried.version, tried.refusal) == ("dry_run", None, None)
    made = faults.run(source.dsn())
    for figure in ("records", "released", "suppressed", "verified", "utility"):
        assert getattr(tried, figure) == getattr(made, figure)


@pytest.mark.slow
def test_it_is_no_memory(source: Database) -> None:
    """Nobody read it, so another policy is no second look at the same people."""
    dry(source)
    fewer = faults.policy(privacy=[{"model": "k_anonymity", "k": 12}])
    assert faults.run(source.dsn(), fewer).version == 1


def test_it_fails_where_a_run_fails(source: Database) -> None:
    conn = source.owner()
    before = state(conn)
    with pytest.raises(PrivacyRefusal):
        dry(source, privacy=[{"model": "k_anonymity", "k": 25}])
    with pytest.raises(Exception, match="not roles of the server"):
        dry(source, publish={"readers": ["nobody_such"]})
    assert state(conn) == before


@pytest.mark.slow
def test_what_publication_would_refuse(source: Database, tmp_path: Path) -> None:
    """Figures are shown all the same: that is how a steward finds a better policy."""
    faults.run(source.dsn())
    conn = source.owner()
    shown = faults.content(conn)
    before = state(conn)
    file = tmp_path / "policy.json"
    changes = {"privacy": [{"model": "k_anonymity", "k": 11}], "where": "id <> 3"}
    file.write_text(json.dumps({**faults.POLICY, **changes}))
    ran = pganon("run", str(file), "--dry-run", "--dsn", source.dsn(), "--json")
    assert ran.code == 1
    assert ran.json["outcome"] == "dry_run"
    assert "people were in other groups in version 1" in ran.json["refusal"]
    assert "refresh: increments" in ran.json["refusal_hint"]
    assert ran.json["utility"]["classes"] == 2
    text = pganon("run", str(file), "--dry-run", "--dsn", source.dsn())
    assert "nothing was published" in text.out
    assert "a run would be refused" in text.err
    assert f"hint: {ran.json['refusal_hint']}" in text.err
    assert faults.events(conn)[-2:] == ["started", "dry_run: crossing"]
    assert (state(conn), faults.content(conn)) == (before, shown)
    same = dry(source)
    assert (same.outcome, same.refusal) == ("dry_run", None)
    # Another k that makes the same classes tells no more.
    assert dry(source, privacy=[{"model": "k_anonymity", "k": 12}]).refusal is None
    assert dry(source, **changes, republication="warn").refusal is None


@pytest.mark.slow
def test_seeds_draw_again(db: Database) -> None:
    """A dry run without one draws what a run would publish; none of them changes what that is."""
    make_table(
        db.connect("source_owner"), vehicles.COLUMNS, vehicles.rows(60), name=("public", "vehicle")
    )
    policy = vehicles.policy(method={"name": "qs_greedy"}, republication="allow")

    def lost(seed: bytes | None = None) -> float:
        options = Options(dry_run=True, seed=seed)
        tried = run_release(policy, dsn=db.dsn(), options=options)
        assert (tried.outcome, tried.refusal) == ("dry_run", None)
        return round(tried.utility.gcp, 9)  # sums of floats come in any order

    made = faults.run(db.dsn(), policy)
    before = state(db.owner())
    found = [lost(b"%d" % number) for number in (1, 2, 3, 1)]
    assert len(set(found)) == 3
    assert found[0] == found[3]
    assert lost() == round(made.utility.gcp, 9)
    assert state(db.owner()) == before
    assert faults.run(db.dsn(), policy, force=False).outcome == "unchanged"


@pytest.mark.slow
def test_another_seed_is_not_held_against_versions(source: Database) -> None:
    """Its groups are nobody's to see; what a run would be refused for is that of its own groups."""
    faults.run(source.dsn())
    fewer = faults.policy(privacy=[{"model": "k_anonymity", "k": 11}], where="id <> 3")
    options = Options(dry_run=True, seed=b"1")
    tried = run_release(fewer, dsn=source.dsn(), options=options)
    assert (tried.refusal, tried.guard) == (None, {})
    assert faults.events(source.owner())[-1] == "dry_run"


@pytest.mark.slow
def test_seed_of_a_command(source: Database, tmp_path: Path) -> None:
    faults.run(source.dsn())
    file = tmp_path / "policy.json"
    changes = {"privacy": [{"model": "k_anonymity", "k": 11}], "where": "id <> 3"}
    file.write_text(json.dumps({**faults.POLICY, **changes}))
    run = ("run", str(file), "--dsn", source.dsn(), "--json")
    refused = pganon(*run, "--seed", "0")
    assert (refused.code, refused.json["error"]["hint"]) == (2, "--dry-run")
    assert pganon(*run, "--dry-run").json["refusal"] is not None
    assert pganon(*run, "--dry-run", "--seed", "0").json["refusal"] is None


@pytest.mark.slow
def test_dependents_of_a_view_that_must_go(source: Database) -> None:
    faults.run(source.dsn())
    conn = source.owner()
    conn.execute("CREATE SCHEMA mine; CREATE VIEW mine.v AS SELECT age FROM published.patients")
    fewer = {n: c for n, c in faults.POLICY["columns"].items() if n != "days"}
    built = ("view mine.v depends on published.patients",)
    assert dry(source, columns=fewer).dependents == built
    assert dry(source).dependents == ()


ACCIDENTS = """
CREATE TABLE public.accident AS
SELECT n AS id, n % 50 AS age, n % 7 AS hour, (n % 2)::text AS sex,
    CASE WHEN n % 20 = 0 THEN 1 + n / 20 % 12 END AS month_of_death,
    CASE WHEN n % 20 = 0 THEN 'killed' WHEN n * 7 % 3 = 0 THEN 'severe' ELSE 'slight' END AS injury
FROM generate_series(1, 2400) AS n
"""
ROLES = {name: {"role": "quasi_identifying"} for name in ("age", "hour", "sex", "month_of_death")}


def accidents(**changes) -> dict:
    return {
        "release": "accidents",
        "source": "public.accident",
        "columns": {**ROLES, "injury": {"role": "sensitive"}},
        "privacy": [
            {"model": "k_anonymity", "k": 5},
            {"model": "distinct_l_diversity", "column": "injury", "l": 2},
        ],
        "method": {"name": "mondrian"},
        **changes,
    }


@pytest.mark.slow
def test_why_a_release_is_bad(db: Database, tmp_path: Path) -> None:
    """A column that is known of some people only decides a sensitive one, and costs the others."""
    db.source(ACCIDENTS)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(accidents()))
    run = ("run", str(file), "--dry-run", "--dsn", db.dsn())
    found = {reason["column"]: reason for reason in pganon(*run, "--json").json["reasons"]}
    assert set(found) == set(ROLES)
    assert {name: reason["decides"] for name, reason in found.items() if reason["decides"]} == {
        "month_of_death": {"injury": 0.05}
    }
    assert all(reason["gcp_without"] is None for reason in found.values())
    text = pganon(*run).out
    assert "month_of_death decides injury: 5.00% of the records" in text
    asked = pganon(*run, "--costs", "--json").json
    without = {reason["column"]: reason["gcp_without"] for reason in asked["reasons"]}
    fewer = {n: c for n, c in accidents()["columns"].items() if n != "month_of_death"}
    done = driver.publish(db, accidents(columns=fewer))
    assert without["month_of_death"] == done.utility.gcp < asked["utility"]["gcp"] / 2
    assert without["sex"] is not None
    assert without["sex"] > without["month_of_death"]
    assert driver.leftovers(db) == []
    assert pganon(*run[:2], "--costs", "--dsn", db.dsn()).code == 2


@pytest.mark.slow
def test_what_is_by_chance_decides_nothing(db: Database) -> None:
    """A value of few records has one sensitive value, too."""
    db.source(ACCIDENTS)
    db.source("CREATE TABLE public.one AS SELECT *, id AS number FROM public.accident")
    columns = {"number": {"role": "quasi_identifying"}, "injury": {"role": "sensitive"}}
    loaded = driver.loaded(accidents(source="public.one", columns=columns))
    (reason,) = run_release(loaded, dsn=db.dsn(), options=Options(dry_run=True)).reasons
    assert reason.decides == {}


def test_a_column_that_cannot_be_left_out(db: Database) -> None:
    db.source(ACCIDENTS)
    columns = {"age": {"role": "quasi_identifying"}, "injury": {"role": "sensitive"}}
    loaded = driver.loaded(accidents(columns=columns))
    options = Options(dry_run=True, costs=True)
    (reason,) = run_release(loaded, dsn=db.dsn(), options=options).reasons
    assert reason.gcp_without is None
