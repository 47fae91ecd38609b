"""How many people are shown otherwise than they are now."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.publish import lifecycle
from pganon.run import erasure
from tests.integration.history.increments.test_increments import growing_policy, run
from tests.support.harness import driver, plans
from tests.support.harness.cluster import Database
from tests.support.sources.growing import SOURCE, add, grow, rows

WITHDRAW: dict[str, Any] = {"leavers": "withdraw"}


@pytest.fixture
def people(db: Database) -> Database:
    db.source(SOURCE)
    add(db, 1, 20)
    return db


def stale(db: Database, **changes: Any) -> int:
    added = grow(db, **changes).added
    assert added is not None
    return added.stale


def change(db: Database, text: str) -> None:
    db.source(f"UPDATE public.person SET {text}", grant=False)


@pytest.mark.slow
def test_values_and_quasi_identifiers(people: Database) -> None:
    assert stale(people) == 0
    assert stale(people) == 0
    change(people, "age = age + 1 WHERE id IN (1, 2)")
    assert stale(people) == 2
    change(people, "disease = disease || '!' WHERE id IN (2, 3)")
    assert stale(people) == 3
    change(people, "city = NULL WHERE id = 4")
    change(people, "disease = NULL WHERE id = 5")
    assert stale(people) == 5
    change(people, "age = age - 1 WHERE id = 1")
    assert stale(people) == 4


@pytest.mark.slow
def test_of_every_increment(people: Database) -> None:
    grow(people)
    add(people, 21, 30)
    assert stale(people) == 0
    change(people, "age = age + 1 WHERE id IN (1, 25)")
    assert stale(people) == 2
    change(people, "disease = 'other' WHERE id IN (26, 27)")
    add(people, 31, 32)  # newcomers who wait are shown nowhere
    change(people, "age = 0 WHERE id = 31")
    assert stale(people) == 4


@pytest.mark.slow
def test_not_of_who_is_shown_no_longer(people: Database) -> None:
    grow(people, **WITHDRAW)
    change(people, "age = age + 1")
    assert stale(people, **WITHDRAW) == 20
    people.source("DELETE FROM public.person WHERE id = 1", grant=False)
    assert stale(people) == 19
    result = grow(people, **WITHDRAW)
    assert result.added is not None
    assert result.added.stale == 20 - result.added.withdrawn_people == len(rows(people.owner()))
    assert stale(people, **WITHDRAW) == result.added.stale


def test_of_versions_that_were_made_at_once(people: Database) -> None:
    """Their values are known, their quasi-identifiers are not."""
    grow(people, refresh="recompute")
    change(people, "age = age + 1 WHERE id IN (1, 2)")
    change(people, "disease = 'other' WHERE id IN (2, 3)")
    assert stale(people) == 2


def test_who_was_forgotten(people: Database) -> None:
    """No mark is left under the digest of a person; who returns is new."""
    grow(people)
    people.source(
        "CREATE TABLE public.erased AS SELECT id FROM public.person WHERE id < 4;"
        " GRANT SELECT ON public.erased TO steward",
        grant=False,
    )
    conn = people.owner()
    erasure.forget_people(conn, "people", "public.erased")
    (name,) = conn.execute(
        "SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_as_released$'"
    ).fetchone() or ("",)
    digest = "encode(substr(sha256(o.secret || convert_to(p.id::text, 'UTF8')), 1, 16), 'hex')"
    known = conn.execute(
        f"SELECT p.id FROM pganon_private.{name} AS a, public.person AS p,"
        f" pganon_private.population AS o WHERE a.person = {digest}::uuid ORDER BY 1".encode()
    ).fetchall()
    assert [key for (key,) in known] == list(range(4, 21))
    assert all(finding.holds for finding in lifecycle.verify(conn, "people"))
    change(people, "age = age + 1")
    assert grow(people).added.stale == 17  # pyright: ignore[reportOptionalMemberAccess]


def test_spellings_that_are_equal(db: Database) -> None:
    db.source(
        "CREATE TABLE public.person (id integer PRIMARY KEY, age numeric, city text, disease text,"
        " dose numeric); INSERT INTO public.person SELECT n, n + 0.5, 'Rome', 'flu', n % 3"
        " FROM generate_series(1, 10) AS n"
    )
    columns = {
        "age": {"role": "quasi_identifying"},
        "city": {"role": "quasi_identifying"},
        "dose": {"role": "sensitive"},
    }
    changes: dict[str, Any] = {"columns": columns, "privacy": [{"model": "k_anonymity", "k": 3}]}
    changes["columns"]["dose"]["unprotected"] = "accept"
    assert stale(db, **changes) == 0
    change(db, "age = (age::text || '00')::numeric, dose = (dose::text || '.0')::numeric")
    assert stale(db, **changes) == 0
    change(db, "dose = dose + 1 WHERE id = 1")
    assert stale(db, **changes) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "method", ["anatomy", "slicing", "slamsa", "msb", "qs_greedy", "danonyir", "geneir"]
)
def test_of_every_method(db: Database, method: str) -> None:
    db.source(plans.SOURCE)
    policy = driver.loaded(growing_policy(method).policy.document())
    found = []
    for text in (None, None, "age = age + 1 WHERE id = 14", "disease = 'd9' WHERE id = 20"):
        if text is not None:
            db.source(f"UPDATE public.visit SET {text}", grant=False)
        added = run(db, policy).added
        assert added is not None
        found.append(added.stale)
    quasi_only = method == "qs_greedy"  # its small policy has no sensitive column
    assert found == [0, 0, 1, 1 if quasi_only else 2]
