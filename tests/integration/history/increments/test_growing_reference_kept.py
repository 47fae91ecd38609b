"""What is kept and shown of the first version, which newcomers are compared with."""

from __future__ import annotations

import pytest

from pganon.publish import lifecycle, listing
from tests.integration.history.increments.test_increments import growing_policy, run
from tests.support.harness import driver, plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.sources.compared import (
    COLUMN,
    HIDES,
    T,
    grow,
    make,
    measured_of,
    policy,
    references,
    released,
)

pytestmark = pytest.mark.primary_server_only

TREE_DISTANCE = {"model": "t_closeness", "t": 0.35, "distance": "hierarchical"}


@pytest.fixture
def people(db: Database) -> Database:
    make(db, "text")
    return db


@pytest.mark.slow
def test_one_distribution_is_published(people: Database) -> None:
    document = policy(T, publish={"reference": True, "keep": 1})
    released(people, 1, "aaaaaabbbc", document)
    released(people, 20, "ab", document)
    released(people, 30, "aaaaaabbbd", document)
    conn = people.owner()
    shown = conn.execute("SELECT s, share FROM published.people_reference").fetchall()
    assert sorted(shown) == [("a", 0.6), ("b", 0.3), ("c", 0.1)]
    (_, stated) = listing.show(conn, "people").guarantee
    assert stated["compared_with"] == "the first version of the release"
    told = " ".join(pganon("show", "people", "--dsn", people.dsn("steward")).out.split())
    assert "t_closeness(s) t=0.3 compared with the first version of the release" in told
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    withdraw = policy(T, publish={"reference": True}, leavers="withdraw")
    with driver.refused("policy") as caught:
        grow(people, withdraw)
    assert [problem.field for problem in caught[0].problems] == ["leavers"]  # pyright: ignore


@pytest.mark.slow
def test_in_regions(people: Database) -> None:
    """Every cohort is held against all of the first version, and those that miss it are out."""
    document = policy({**T, "t": 0.4}, regions="leaves")
    first = [(n, 20 + n // 10 * 40, "Rome", s) for n, s in enumerate("aaaaaabbbc" * 2)]
    later = [(100 + n, 20, "Rome", s) for n, s in enumerate("aab")]
    later += [(200 + n, 60, "Rome", s) for n, s in enumerate("ccb")]
    for rows in (first, later):
        with people.connect("source_owner").cursor() as cursor:
            cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)
        done = grow(people, document)
    assert done.added is not None
    assert (done.added.cohorts, done.added.released, done.added.suppressed) == (2, 3, 3)
    found = measured_of(people.owner(), T)
    assert max(value or 0 for value in found.values()) <= 0.4


@pytest.mark.slow
def test_groups_that_are_withdrawn_still_count(people: Database) -> None:
    document = policy(T, leavers="withdraw")
    released(people, 1, "aaaaaabbbc", document)
    released(people, 20, "ab", document)
    people.source("DELETE FROM public.person WHERE id = 1", grant=False)
    done = grow(people, document)
    assert (done.version, done.released) == (3, 2)
    assert released(people, 30, "ab", document).version == 4
    with driver.refused("infeasible"):
        released(people, 40, "bb", document)
    assert measured_of(people.owner(), T)["first version's source"] == pytest.approx(0.2)


@pytest.mark.slow
def test_only_a_withdrawal_compares_nothing(people: Database) -> None:
    """Nobody's values are encoded, and no ancestors are known."""
    model = TREE_DISTANCE
    document = policy(model, leavers="withdraw")
    released(people, 1, "000111222333", document)
    released(people, 20, "0123", document)
    people.source("DELETE FROM public.person WHERE id = 20", grant=False)
    assert grow(people, document).version == 3
    assert released(people, 30, "0123", document).version == 4


@pytest.mark.slow
def test_another_hierarchy(people: Database) -> None:
    model = TREE_DISTANCE
    document = policy(model)
    released(people, 1, "000111222333", document)
    other = {"*": {"some": ["0", "1"], "others": ["2", "3", "4", "5"]}}
    changed = document["columns"] | {"s": {**COLUMN, "hierarchy": {"inline": other}}}
    with driver.refused("other_reference"):
        released(people, 20, "0123", {**document, "columns": changed})
    assert grow(people, document).version == 2


@pytest.mark.slow
def test_hidden_values_in_an_order_of_their_own(db: Database) -> None:
    """Values that nobody has in a bucket of the first version are in their places."""
    db.source(plans.SOURCE)
    document = growing_policy("lgb_mdp").policy.document()
    zips = document["columns"]["zip"] | {"type": "ordinal", "order": ["Z5", "Z3", "Z2", "Z1", "Z0"]}
    document["columns"] |= {"zip": zips}
    document["privacy"][-1]["t"] = 0.6
    run(db, driver.loaded(document))
    db.source(
        "INSERT INTO public.visit SELECT n, 'p' || n / 2, 20 + n % 13, 'Z' || n % 6, 'd' || n % 7,"
        " 'm', n FROM generate_series(100, 190) AS n WHERE n % 6 <> 4",
        grant=False,
    )
    assert run(db, driver.loaded(document)).version == 2
    conn = db.owner()
    assert all(finding.holds for finding in lifecycle.verify(conn, "visits"))
    (stored,) = references(conn)
    told = conn.execute(
        f"SELECT value, n > 0 FROM {stored} WHERE value <> '' ORDER BY position".encode()
    ).fetchall()
    assert told == [("=Z5", False), *((f"=Z{n}", True) for n in (3, 2, 1, 0))]


@pytest.mark.slow
def test_values_too_far_to_be_hidden(people: Database) -> None:
    document = policy(T, method={"name": "lgb_mdp"})
    released(people, 1, "aaaaaabbbc", document)
    with driver.refused("infeasible") as caught:
        released(people, 20, "ccb", document)
    assert "all 3 sensitive values together are too far" in str(caught[0])
    assert released(people, 30, "aab", document).version == 2
    assert list(measured_of(people.owner(), T)) == ["first version's published"]


def test_a_first_version_without_a_key(people: Database) -> None:
    later = policy(T, republication="warn")
    first = {k: v for k, v in later.items() if k not in ("refresh", "increment_size")}
    people.source("ALTER TABLE public.person DROP CONSTRAINT person_pkey", grant=False)
    released(people, 1, "aaaaaabbbc", first)
    people.source("ALTER TABLE public.person ADD PRIMARY KEY (id)", grant=False)
    with driver.refused("no_identity") as caught:
        released(people, 20, "ab", later)
    assert "version 1 of the release people" in str(caught[0])


@pytest.mark.parametrize("counts", ["n", "published_n"])
@pytest.mark.parametrize("method", ["mondrian", HIDES])
def test_a_reference_that_was_changed(people: Database, method: str, counts: str) -> None:
    """Verification compares it with the first version's own, of its source and as published."""
    document = policy(T, method={"name": method})
    released(people, 1, "aaaaaabbbc", document)
    released(people, 20, "ab", document)
    conn = people.owner()
    more = f"UPDATE {references(conn)[-1]} SET {counts} = {counts} + 1 WHERE value = '=a'"
    conn.execute(more.encode())
    found = {f.model: f.measured for f in lifecycle.verify(conn, "people") if not f.holds}
    assert found["first_version"] == 1


KINDS = {
    "numeric": ("1.0", "1.00", "-3.50", "1e3"),
    "float8": ("0", "-0", "0.1", "1e-300"),
    "date": ("2020-01-01", "0001-01-01 BC", "infinity", "1999-12-31"),
    "timestamptz": ("2020-01-01 00:00:00.000001+02", "1900-01-01", "2020-07-01", "infinity"),
    "boolean": ("true", "false", "true", "false"),
    "uuid": (*("00000000-0000-0000-0000-00000000000" + n for n in "123"), "f" * 32),
    "text": ("", "=", "null", "é'"),
    "varchar(4)": ("A", "a", " a", "B"),
    "char(4)": ("A", "a", "ab", "B"),
    "mood": ("sad", "ok", "happy", "ok"),
}

ORDERED = ("numeric", "float8", "date", "timestamptz", "mood")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_values_of_every_type_are_found_again(db: Database, kind: str) -> None:
    """Shares of the first version are those of the same values, and places are in their order."""
    db.source("CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')") if kind == "mood" else None
    make(db, kind)
    distance = "ordered" if kind in ORDERED else "equal"
    model = {"model": "t_closeness", "t": 1, "distance": distance}
    document = policy(model)
    conn = db.owner()
    values = [*KINDS[kind], None]
    for first, found in ((1, [*values[:3] * 2, None]), (20, values), (40, values[::-1][:3])):
        released(db, first, found, document)  # pyright: ignore[reportArgumentType]
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    told = conn.execute(
        f"SELECT position, n FROM {references(conn)[1]} ORDER BY position".encode()
    ).fetchall()
    order = "s"
    if kind in ("boolean", "uuid"):
        order = "s::text"
    elif "char" in kind or kind == "text":
        order = 's::text COLLATE "C"'
    truth = conn.execute(
        "SELECT count(*) FILTER (WHERE id < 20) FROM public.person WHERE id < 40"
        f" GROUP BY {order} ORDER BY {order} NULLS LAST".encode()
    ).fetchall()
    assert told == [(place, n) for place, (n,) in enumerate(truth, start=1)]
