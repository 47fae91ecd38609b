"""Attacks with several versions about the same people: what the rule must not let through."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.publish import lifecycle, listing
from pganon.run.erasure import forget_people, forget_version
from pganon.run.grants import guarded
from pganon.run.options import Options
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"q": "integer", "z": "integer", "person": "text", "s": "text", "o": "text"}
ROLES = {"q": "q", "z": "q", "s": "s"}
K = {"model": "k_anonymity", "k": 4}
L = {"model": "distinct_l_diversity", "column": "s", "l": 3}
PEOPLE = 48


def declared(**changes: Any) -> dict[str, Any]:
    found = policy(ROLES, [K, L], trust=["source_owner"])
    return {**found, "republication": "refuse", **changes}


def other_columns() -> dict[str, Any]:
    roles = {"q": "q", "z": "q", "o": "s"}
    models = [{"model": "k_anonymity", "k": 5}, {**L, "column": "o"}]
    return {**policy(roles, models, trust=["source_owner"]), "release": "others"}


def by_one(column: str) -> dict[str, Any]:
    """A release under a name of its own, with classes by one quasi-identifier."""
    found = policy({column: "q", "s": "s"}, [K, L], trust=["source_owner"])
    return {**found, "release": f"by_{column}", "republication": "refuse"}


@pytest.fixture
def source(db: Database) -> Database:
    rng = random.Random(3)
    rows = [
        [n, rng.randint(0, 40), f"p{n}", rng.choice("abcdef"), rng.choice("uvwx")]
        for n in range(PEOPLE)
    ]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    return db


def change(db: Database, text: str) -> None:
    db.connect("source_owner").execute(text.encode())


def refused(db: Database, code: str = "republication", **changes: Any) -> PganonError:
    with driver.refused(code) as caught:
        driver.publish(db, declared(**changes))
    return caught[0]


def memory(db: Database) -> list[Any]:
    """Everything that is remembered of people, and where."""
    rows = db.admin.execute(
        "SELECT v.release, v.version, v.manner, v.over_versions, p.counter"
        " FROM pganon_private.population AS p JOIN pganon_private.version AS v"
        " ON v.population = p.id ORDER BY 1, 2"
    ).fetchall()
    named = db.admin.execute(
        "SELECT c.oid::regclass::text FROM pg_class AS c"
        " WHERE c.relnamespace = 'pganon_private'::regnamespace"
        " AND c.relname ~ '_(members|remembered_groups|functions)$' ORDER BY 1"
    )
    tables = [name for (name,) in named]
    return [
        rows,
        tables,
        *[db.admin.execute(f"SELECT * FROM {t} ORDER BY 1, 2").fetchall() for t in tables],
    ]


@pytest.mark.slow
def test_a_lone_newcomer(source: Database) -> None:
    """What is new in a class must be the newcomer's."""
    driver.publish(source, declared())
    change(source, "INSERT INTO public.t VALUES (900, 20, 1, 'new', 'zzz', 'u')")
    before = memory(source)
    error = refused(source)
    assert error.reason == "crossing"  # pyright: ignore
    assert error.hint is not None
    assert error.hint.startswith("refresh: increments")
    assert memory(source) == before
    assert driver.leftovers(source) == []
    last = listing.events(source.connect("steward"), "r")[-1]
    assert last["event"] == "refused"
    found = last["details"]
    assert (found["code"], found["reason"]) == ("republication", "crossing")


@pytest.mark.slow
def test_held_back_and_then_released(source: Database) -> None:
    """Who is left out of one version and in the next is as alone as a newcomer."""
    driver.publish(source, declared(where="id <> 7"))
    refused(source)


@pytest.mark.slow
def test_a_lone_leaver(source: Database) -> None:
    driver.publish(source, declared())
    change(source, "DELETE FROM public.t WHERE id = 7")
    refused(source)


@pytest.mark.parametrize("changes", [{}, {"where": "id > 3"}])
def test_two_names(source: Database, changes: dict[str, Any]) -> None:
    driver.publish(source, by_one("q"))
    with driver.refused("republication"):
        driver.publish(source, {**by_one("z"), **changes})


@pytest.mark.slow
def test_a_view_and_its_table(source: Database) -> None:
    change(source, "CREATE VIEW public.v AS SELECT id, q, z, person, s, o FROM public.t")
    change(source, "GRANT SELECT ON public.v TO steward")
    driver.publish(source, by_one("q"))
    columns = {**by_one("z")["columns"], "id": {"role": "individual"}}
    with driver.refused("republication"):
        driver.publish(source, {**by_one("z"), "source": "public.v", "columns": columns})


@pytest.mark.slow
def test_other_columns(source: Database) -> None:
    """Another sensitive column of the same people has other groups."""
    driver.publish(source, declared())
    with driver.refused("republication"):
        driver.publish(source, {**other_columns(), "republication": "refuse"})


def test_a_new_seed(source: Database) -> None:
    """Whoever may choose between equal groups may not choose again."""
    anatomy = [{"model": "anatomy_l_diversity", "column": "s", "l": 3}]
    kept = {"privacy": anatomy, "method": {"name": "anatomy"}, "suppression_limit": 0.9,
            "on_infeasible": "suppress"}  # fmt: skip
    first = driver.publish(source, declared(**kept))
    source.admin.execute(
        "UPDATE pganon_private.version SET partition_hash = 'x' WHERE run_id = %s", [first.run_id]
    )
    refused(source, **kept)


@pytest.mark.slow
def test_dropped_and_released_again(source: Database) -> None:
    driver.publish(source, declared())
    lifecycle.drop(source.connect("steward"), "r")
    change(source, "DELETE FROM public.t WHERE id < 3")
    refused(source)


@pytest.mark.slow
def test_rolled_back_between(source: Database) -> None:
    driver.publish(source, declared())
    driver.publish(source, declared())
    change(source, "DELETE FROM public.t WHERE id < 3")
    lifecycle.show_earlier(source.connect("steward"), "r")
    refused(source)


def test_guessed_digests(source: Database) -> None:
    """Without the secret of the population a key does not lead to the digest."""
    done = driver.publish(source, declared())
    members = f"pganon_private.r{done.run_id}_members"
    found = source.admin.execute(
        f"SELECT count(*) FROM {members} AS m JOIN public.t AS t ON m.member IN ("
        " encode(substr(sha256(convert_to(t.id::text, 'UTF8')), 1, 16), 'hex')::uuid,"
        " md5(t.id::text)::uuid)".encode()
    ).fetchone()
    assert found == (0,)
    text = source.admin.execute(f"SELECT string_agg(m::text, ' ') FROM {members} AS m").fetchone()
    assert text is not None
    assert not any(f"p{n}" in text[0] for n in range(PEOPLE))


@pytest.mark.slow
def test_asking_until_it_is_not_refused(source: Database) -> None:
    """Refusals depend on what readers know already: no number of them changes the memory."""
    driver.publish(source, declared())
    before = memory(source)
    for value in "abcdef":
        change(source, "DELETE FROM public.t WHERE id = 900")
        change(source, f"INSERT INTO public.t VALUES (900, 20, 1, 'new', '{value}', 'u')")
        refused(source)
    assert memory(source) == before


def test_two_releases_at_once(source: Database) -> None:
    """Each alone would do, both together would not: one waits, and is refused."""
    found: list[Any] = []

    def go(column: str) -> None:
        try:
            found.append(driver.publish(source, by_one(column)))
        except PganonError as error:
            found.append(error.code)

    threads = [threading.Thread(target=go, args=(column,)) for column in "qz"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(isinstance(one, str) for one in found) == [False, True]


@pytest.mark.slow
def test_a_failed_publication_leaves_the_memory(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.publish(source, declared())
    before = memory(source)

    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("after the memory was swapped")

    with monkeypatch.context() as patched:
        patched.setattr("pganon.publish.transaction._make_readable", fail)
        with pytest.raises(RuntimeError):
            driver.publish(source, declared())
    assert memory(source) == before
    assert driver.leftovers(source) == []
    assert driver.publish(source, declared()).version == 2


def test_a_memory_that_moved_is_judged_with_again(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A counter that grew meanwhile: the version is judged once more, and what that made goes."""
    driver.publish(source, declared())
    judge = __import__("pganon.run.publication", fromlist=["Judging"]).Judging.judge
    times: list[int] = []

    def judged(self: Any) -> Any:
        found = judge(self)
        times.append(1)
        if len(times) == 1:
            source.admin.execute("UPDATE pganon_private.population SET counter = counter + 1")
        return found

    monkeypatch.setattr("pganon.run.publication.Judging.judge", judged)
    assert driver.publish(source, declared()).version == 2
    assert len(times) == 2
    assert driver.leftovers(source) == []


@pytest.mark.slow
def test_a_memory_that_moves_again_and_again(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After three judgements the run gives up, and leaves nothing."""
    driver.publish(source, declared())
    counted: list[Any] = []

    def counter(conn: Any, population: int) -> tuple[int, bool]:
        counted.append(population)
        return -len(counted), False

    before = memory(source)
    monkeypatch.setattr("pganon.history.populations.counter", counter)
    with driver.refused("population_moved"):
        driver.publish(source, declared())
    assert len(counted) == 3, "read by every judgement"
    assert memory(source) == before
    assert driver.leftovers(source) == []


@pytest.mark.slow
def test_versions_of_people_without_a_key(source: Database) -> None:
    change(source, "CREATE TABLE public.u AS SELECT q, z, s FROM public.t")
    change(source, "GRANT SELECT ON public.u TO steward")
    asked = {**declared(), "source": "public.u",
             "columns": {n: c for n, c in declared()["columns"].items() if n in "qzs"}}  # fmt: skip
    driver.publish(source, asked)
    driver.publish(source, asked)
    with driver.refused("no_identity"):
        driver.publish(source, {**asked, "privacy": [{**K, "k": 5}, L]})
    driver.publish(source, {**asked, "privacy": [{**K, "k": 5}, L], "republication": "warn"})


def test_two_keys_of_one_table(source: Database) -> None:
    """Who has another key cannot be compared: the policy has to say who they are."""
    driver.publish(source, declared())
    columns = {**declared()["columns"], "person": {"role": "individual"}}
    refused(source, "population", columns=columns)


@pytest.mark.slow
def test_people_who_object(source: Database) -> None:
    """They are in no version any more, and their leaving is judged like any other."""
    change(source, "CREATE TABLE public.objections AS SELECT id FROM public.t WHERE id % 8 = 0")
    change(source, "GRANT SELECT ON public.objections TO steward")
    done = driver.publish(source, declared(exclude={"relation": "public.objections"}))
    assert done.released == PEOPLE - 6
    refused(source)


@pytest.mark.slow
def test_erased_people(source: Database) -> None:
    """Their digests are random: the old rows count for the others, who returns is new."""
    done = driver.publish(source, declared())
    change(source, "CREATE TABLE public.erase AS SELECT id FROM public.t WHERE id IN (1, 2)")
    change(source, "GRANT SELECT ON public.erase TO steward")
    conn = source.connect("steward")
    members = f"SELECT count(DISTINCT member) FROM pganon_private.r{done.run_id}_members"
    before = source.admin.execute(members.encode()).fetchone()
    assert forget_people(conn, "r", "public.erase").people == 2
    assert source.admin.execute(members.encode()).fetchone() == before
    assert all(finding.holds for finding in lifecycle.verify(conn, "r"))
    assert forget_people(conn, "r", "public.erase").people == 0
    refused(source)  # the two are newcomers, alone in their classes
    assert listing.events(conn, "r")[-3]["details"] == {"people": 0}


@pytest.mark.slow
def test_a_version_that_nobody_has(source: Database) -> None:
    driver.publish(source, declared())
    changed = declared(privacy=[{**K, "k": 5}, L], republication="allow", release="other")
    driver.publish(source, changed)
    conn = source.connect("steward")
    lifecycle.drop(conn, "other")
    forget_version(conn, "other", 1, "the only copy was destroyed")
    (only,) = guarded(conn, driver.loaded(declared())).versions
    assert (only.release, only.version) == ("r", 1)
    assert driver.publish(source, declared()).version == 2
    assert driver.leftovers(source) == []


@pytest.mark.slow
def test_dry_runs_are_told(source: Database) -> None:
    driver.publish(source, declared())
    change(source, "DELETE FROM public.t WHERE id = 7")
    before = memory(source)
    found = run_release(
        driver.loaded(declared()), dsn=source.dsn("steward"), options=Options(dry_run=True)
    )
    assert found.refusal is not None
    assert "were in other groups in version 1" in found.refusal
    assert memory(source) == before


@pytest.mark.slow
def test_twelve_months(source: Database) -> None:
    """Recomputed monthly, each version would be fine alone."""
    change(source, "CREATE VIEW public.w AS SELECT * FROM public.t WHERE id < 24")
    change(source, "GRANT SELECT ON public.w TO steward")
    columns = {**declared()["columns"], "id": {"role": "individual"}}
    driver.publish(source, declared(source="public.w", columns=columns))
    for month in range(1, 12):
        change(source, f"CREATE OR REPLACE VIEW public.w AS SELECT * FROM public.t"
                       f" WHERE id < {24 + 2 * month}")  # fmt: skip
        refused(source, source="public.w", columns=columns)
