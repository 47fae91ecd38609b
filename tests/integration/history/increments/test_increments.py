"""Releases that grow: a version is the one before plus groups of newcomers."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from pganon.forms.utility import ClassUtility
from pganon.loading import policy_from
from pganon.policy.loader import LoadedPolicy
from pganon.publish import export, lifecycle, listing
from pganon.resolved.increments import ADDED, EARLIER
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.support.harness import driver, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Connection, Database
from tests.support.sources.builders import make_table
from tests.support.sources.growing import POLICY, SOURCE, add, diverse, grow, rows, shown


@pytest.fixture
def people(db: Database) -> Database:
    db.source(SOURCE)
    add(db, 1, 20)
    return db


def views(conn: Connection, release: str) -> list[str]:
    info = listing.show(conn, release)
    return info.views


def content(conn: Connection, view: str) -> Counter[str]:
    """The rows of a view as texts, with how often they are there."""
    found = conn.execute(f"SELECT v::text FROM {view} AS v".encode()).fetchall()
    return Counter(row for (row,) in found)


@pytest.mark.slow
def test_a_version_grows(people: Database) -> None:
    first = grow(people)
    conn = people.owner()
    assert (first.version, first.released) == (1, 20)
    before = shown(conn)
    add(people, 21, 22)
    waiting = grow(people)
    assert waiting.added is not None
    assert (waiting.outcome, waiting.version, waiting.added.waiting) == ("unchanged", 1, 2)
    assert shown(conn) == before
    add(people, 23, 32)
    second = grow(people)
    assert second.added is not None
    assert (second.version, second.released, second.added.released) == (2, 32, 12)
    after = shown(conn)
    assert before < after
    assert not {row[0] for row in before} & {row[0] for row in after - before}
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    models = [finding.model for finding in lifecycle.verify(conn, "people")]
    assert models.count("k_anonymity") == 1  # one line for all increments


def growing_policy(method: str) -> LoadedPolicy:
    """The small policy of a method, of a release that grows."""
    document = plans.policy_of(method).policy.document()
    privacy = [m for m in document["privacy"] if m["model"] != "background_knowledge"]
    document |= {"privacy": privacy, "refresh": "increments", "increment_size": 20}
    document["publish"] = {"readers": ["analyst"]}
    return LoadedPolicy(policy_from(document), None, Path.cwd())


def more_visits(db: Database, age: str, diseases: int = 7) -> None:
    """Newcomers of ages by an expression of SQL; those before have 6 diseases."""
    db.source(
        f"INSERT INTO public.visit SELECT n, 'p' || n / 2, {age}, nullif('Z' || n % 5, 'Z4'),"
        f" 'd' || n % {diseases}, 'm' || n % 7, n FROM generate_series(62, 151) AS n",
        grant=False,
    )


def run(db: Database, policy: LoadedPolicy) -> RunResult:
    return run_release(policy, dsn=db.dsn())


@pytest.mark.slow
def test_rollback_keep_and_export(people: Database, tmp_path: Path) -> None:
    conn = people.owner()
    told = []
    for last in (20, 30, 40, 50):
        add(people, last - 9, last) if last > 20 else None
        grow(people, publish={"readers": ["analyst"], "keep": 2})
        told.append(shown(conn))
    info = listing.show(conn, "people")
    assert [v.stored for v in info.versions or ()] == [True, True, False, False]
    assert told[0] < told[1] < told[2] < told[3] == shown(conn)
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    file = tmp_path / "people.csv"
    assert export.export(conn, "people", file).rows == 50
    lifecycle.show_earlier(conn, "people")
    assert shown(conn) == told[2]
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    add(people, 51, 60)
    assert grow(people).released == 60  # on the newest, not on the one that is shown
    assert told[3] < shown(conn)
    lifecycle.drop(conn, "people")
    left = conn.execute(
        "SELECT count(*) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE n.nspname = 'pganon_data' AND c.relkind = 'r'"
    ).fetchone()
    assert left == (0,)
    with driver.refused("not_stored"):
        grow(people)


def test_after_a_version_that_was_made_at_once(people: Database) -> None:
    grow(people, refresh="recompute")
    conn = people.owner()
    before = shown(conn)
    add(people, 21, 30)
    second = grow(people)
    assert second.added is not None
    assert (second.version, second.added.cohorts, second.added.released) == (2, 1, 10)
    assert before < shown(conn)
    # Figures are of both, and of what was added beside them; exactly in test_whole_figures.py.
    assert isinstance(second.utility, ClassUtility)
    assert second.increment is not None
    assert isinstance(second.increment.utility, ClassUtility)
    assert second.utility.classes == len({row[0] for row in shown(conn)})
    added = {row[0] for row in shown(conn) - before}
    assert second.increment.utility.classes == len(added) < second.utility.classes
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))


@pytest.mark.slow
def test_stronger_models_for_newcomers(people: Database) -> None:
    grow(people)
    add(people, 21, 40)
    grow(people, privacy=diverse(5, 3))
    found = {
        (f.model, f.parameter): f.measured
        for f in lifecycle.verify(people.owner(), "people")
        if f.model in ("k_anonymity", "distinct_l_diversity")
    }
    assert set(found) == {
        ("k_anonymity", 3),
        ("k_anonymity", 5),
        ("distinct_l_diversity", 2),
        ("distinct_l_diversity", 3),
    }
    assert all(float(measured) >= float(key[1]) for key, measured in found.items())
    told = listing.show(people.owner(), "people").guarantee
    assert [(item["model"], item.get("k", item.get("l")), item["groups"]) for item in told] == [
        ("k_anonymity", 5, ADDED),
        ("distinct_l_diversity", 3, ADDED),
        ("k_anonymity", 3, EARLIER),
        ("distinct_l_diversity", 2, EARLIER),
    ]
    assert "k_anonymity k=3 for groups of earlier policies" in " ".join(
        pganon("show", "people", "--dsn", people.dsn("steward")).out.split()
    )
    add(people, 41, 50)
    grow(people, privacy=diverse(5, 2))
    told = listing.show(people.owner(), "people").guarantee
    assert [(item["model"], item.get("k", item.get("l")), item["groups"]) for item in told] == [
        ("k_anonymity", 5, ADDED),
        ("distinct_l_diversity", 2, ADDED),
        ("distinct_l_diversity", 3, EARLIER),
        ("k_anonymity", 3, EARLIER),
    ]


def test_columns_stay(people: Database) -> None:
    grow(people)
    add(people, 21, 30)
    with driver.refused("other_columns"):
        grow(
            people,
            columns={
                "age": {"role": "quasi_identifying"},
                "city": {"role": "insensitive"},
                "disease": {"role": "sensitive"},
            },
        )


@pytest.mark.parametrize("others", [False, True])
@pytest.mark.slow
def test_columns_that_follow_from_the_data(db: Database, others: bool) -> None:
    """Slicing divides attributes by association: newcomers with another one have other columns."""
    rng = random.Random(5)

    def made(*, swapped: bool) -> list[list[object]]:
        found: list[list[object]] = []
        for _ in range(60):
            same, other = rng.randint(0, 3), rng.randint(0, 3)
            b, c = (other, same) if swapped else (same, other)
            found.append([same, b, c, rng.choice("uvwxyz")])
        return found

    quasi = {name: {"role": "quasi_identifying", "type": "categorical"} for name in "abc"}
    policy = {
        "release": "sliced",
        "source": "public.t",
        "columns": {**quasi, "s": {"role": "sensitive"}},
        "privacy": [{"model": "slicing_l_diversity", "column": "s", "l": 2}],
        "method": {"name": "slicing", "columns": 3},
        "refresh": "increments",
        "trust": ["source_owner"],
    }
    owner = db.connect("source_owner")
    types = {**dict.fromkeys("abc", "integer"), "s": "text"}
    make_table(owner, types, made(swapped=False))
    assert driver.publish(db, policy).version == 1
    for number, row in enumerate(made(swapped=others), start=101):
        owner.execute("INSERT INTO public.t VALUES (%s, %s, %s, %s, %s)", [number, *row])
    if not others:
        assert driver.publish(db, policy).version == 2
        return
    with driver.refused("other_columns"):
        driver.publish(db, policy)
    assert driver.leftovers(db) == []


def test_who_was_released_is_not_new(people: Database) -> None:
    """Neither after a change, nor after leaving and coming back."""
    grow(people)
    people.source(
        "CREATE TABLE public.gone AS SELECT * FROM public.person WHERE id < 8;"
        " DELETE FROM public.person WHERE id < 8; UPDATE public.person SET age = age + 1",
        grant=False,
    )
    assert grow(people).outcome == "unchanged"
    people.source("INSERT INTO public.person SELECT * FROM public.gone", grant=False)
    result = grow(people)
    assert result.added is not None
    assert (result.outcome, result.added.newcomers) == ("unchanged", 0)


def test_sources_without_a_key(db: Database) -> None:
    db.source(SOURCE.replace(" PRIMARY KEY", ""))
    add(db, 1, 20)
    with driver.refused("no_identity"):
        grow(db)
    changes = {"columns": {"id": {"role": "individual"}, **POLICY["columns"]}}
    assert grow(db, **changes).version == 1
    db.source("INSERT INTO public.person VALUES (NULL, 1, 'Rome', 'flu')", grant=False)
    with driver.refused("key_null"):
        grow(db, **changes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"increment_size": 2}, "increment_size"),
        (
            {
                "privacy": [*diverse(3, 2), {"model": "t_closeness", "column": "disease", "t": 1}],
                "publish": {"reference": True},
                "leavers": "withdraw",
            },
            "leavers",
        ),
    ],
)
def test_what_policies_must_say(people: Database, changes: dict[str, Any], field: str) -> None:
    with driver.refused("policy") as caught:
        grow(people, **changes)
    assert [problem.field for problem in caught[0].problems] == [field]  # pyright: ignore


def test_what_readers_expect_beforehand(db: Database) -> None:
    """Of newcomers alone nobody can tell."""
    db.source(plans.SOURCE)
    document = plans.policy_of("kinc").policy.document()
    with driver.refused("policy") as caught:
        run(db, driver.loaded({**document, "refresh": "increments"}))
    assert [problem.field for problem in caught[0].problems] == ["refresh"]  # pyright: ignore


def test_too_few_for_a_first_version(db: Database) -> None:
    db.source(SOURCE)
    add(db, 1, 2)
    with driver.refused("too_few_records"):
        grow(db)
    assert rows(db.owner(), "pganon_private.cohorts") == []


@pytest.mark.slow
def test_people_of_an_unfinished_cohort_who_are_gone(people: Database) -> None:
    """Their cohort ends with them, and the people who came instead are no too few."""
    with driver.refused("infeasible"):
        grow(people, privacy=diverse(3, 4))
    people.admin.execute("UPDATE public.person SET id = id + 1000")
    with driver.refused("too_few_records") as caught:
        grow(people)
    assert "nobody whom an earlier run was to test is left" in caught[0].message
    assert caught[0].hint == "run again: the next run tests the new ones"
    assert grow(people).version == 1


def test_rows_of_another_table(people: Database) -> None:
    """Nobody is new under another name; the cohorts are of one population."""
    grow(people)
    people.source(
        "CREATE TABLE public.copied (LIKE public.person INCLUDING ALL);"
        " INSERT INTO public.copied SELECT * FROM public.person;"
        " GRANT SELECT ON public.copied TO steward",
        grant=False,
    )
    with driver.refused("population"):
        grow(people, release="copied", source="public.copied")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["slamsa", "lgb_mdp"])
def test_after_a_version_with_several_partitions(db: Database, method: str) -> None:
    """What is remembered of it is made now, and newcomers of every run pass."""
    db.source(plans.SOURCE)
    document = growing_policy(method).policy.document()
    if method == "slamsa":
        document["method"] |= {"profile": "independent"}
    at_once = {name: document[name] for name in document if name != "increment_size"}
    run(db, driver.loaded({**at_once, "refresh": "recompute"}))
    conn = db.owner()
    before = {view: content(conn, view) for view in views(conn, "visits")}
    policy = driver.loaded(document)
    for version, last in ((2, 151), (3, 241)):
        db.source(
            "INSERT INTO public.visit SELECT n, 'p' || n / 2, 20 + n % 13, 'Z' || n % 4,"
            f" 'd' || n % 7, 'm' || n % 5, n FROM generate_series({last - 89}, {last}) AS n",
            grant=False,
        )
        assert run(db, policy).version == version
    assert all(found < content(conn, view) for view, found in before.items())
    assert [f for f in lifecycle.verify(conn, "visits") if not f.holds] == []


@pytest.mark.slow
def test_an_increment_beside_a_version_without_a_key(people: Database) -> None:
    """Nobody can tell whether its people are in it, so the policy decides, as for a first version.

    Where nobody is added nothing is shown beside it.
    """
    assert grow(people).version == 1
    people.source("CREATE VIEW public.keyless AS SELECT age, city, disease FROM public.person")
    keyless = {"release": "other", "source": "public.keyless", "trust": ["source_owner"]}
    grow(people, **keyless, refresh="recompute", republication="warn")
    assert grow(people, privacy=diverse(4, 2)).outcome == "unchanged"
    add(people, 41, 60)
    with driver.refused("republication") as caught:
        grow(people)
    assert "version 1 of the release other is over the same source" in str(caught[0])
    tried = grow(people, dry_run=True)
    assert tried.version is None
    accepted = grow(people, republication="warn")
    assert (accepted.version, accepted.released) == (2, 40)
    assert any("version 1 of the release other" in warning for warning in accepted.warnings)
