"""Attack: a view calls a column of an earlier release otherwise, or computes another one of it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.adversarial.test_who_people_are import do, view
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

PEOPLE = 24


def declared(columns: dict[str, Any], **changes: Any) -> dict[str, Any]:
    roles = {"id": {"role": "identifying"}, **columns}
    found = policy(roles, 4, trust=["source_owner"], individual="id", republication="refuse")
    return {**found, **changes}


def ages(db: Database) -> None:
    """A release with ages as quasi-identifiers."""
    rng = random.Random(7)
    rows = [[rng.randint(20, 60), rng.choice("abcd"), n] for n in range(PEOPLE)]
    make_table(db.connect("source_owner"), {"age": "integer", "s": "text", "n": "integer"}, rows)
    driver.publish(db, declared({"age": "q", "s": "s"}))


@pytest.fixture
def source(db_after: Any) -> Database:
    return db_after(ages)[0]


def refused(db: Database, reason: str, columns: dict[str, Any], **changes: Any) -> str:
    changes = {"source": "public.w", "release": "b", **changes}
    with driver.refused("republication") as caught:
        driver.publish(db, declared(columns, **changes))
    assert getattr(caught[0], "reason", None) == reason
    return f"{caught[0]} {caught[0].hint}"


RENAMED = "SELECT id, age AS yrs, age / 10 AS band, s FROM public.t"


@pytest.mark.parametrize(
    ("select", "shown"),
    [
        (RENAMED, "yrs"),
        ("SELECT id, 2 * age AS twice, age / 10 AS band, s FROM public.t", "twice"),
        (
            "WITH c AS (SELECT id, age AS yrs FROM public.t)"
            " SELECT t.id, c.yrs, t.age / 10 AS band, t.s FROM c JOIN public.t USING (id)",
            "yrs",
        ),
        (
            "SELECT id, (SELECT o.age FROM public.t AS o WHERE o.id = t.id) AS yrs,"
            " age / 10 AS band, s FROM public.t",
            "yrs",
        ),
    ],
)
def test_quasi_identifiers_under_another_name(source: Database, select: str, shown: str) -> None:
    view(source, "w", select)
    told = refused(source, "role", {"band": "q", shown: "i", "s": "s"})
    assert "version 1" in told
    view(source, "x", "TABLE public.w")
    refused(source, "role", {"band": "q", shown: "i", "s": "s"}, source="public.x")


@pytest.mark.slow
def test_what_a_quasi_identifier_finds_in_another_table(source: Database) -> None:
    """Attack: a column of a table of numbers that is joined on the age; it is made of none."""
    do(
        source,
        "CREATE TABLE public.number AS SELECT generate_series(0, 99) AS x, 'c' AS label;"
        "CREATE TABLE public.visit (of integer PRIMARY KEY, cost integer);"
        "INSERT INTO public.visit SELECT id, 7 * id FROM public.t;"
        "GRANT SELECT ON public.number, public.visit TO steward",
    )
    joined = "SELECT id, age, s, x AS yrs, cost FROM public.t JOIN public.visit ON of = id"
    view(source, "w", f"{joined} LEFT JOIN public.number ON x = age")
    view(source, "x", "SELECT * FROM public.w WHERE id > 0")
    columns = {"age": "q", "s": "s"}
    for name in ("public.w", "public.x"):
        refused(source, "role", {**columns, "yrs": "i"}, source=name)
    again = declared({**columns, "cost": "i"}, source="public.x", release="b")
    assert driver.publish(source, again).version == 1, "it is found by the key"
    refused(source, "role", {**columns, "yrs": "i"}, source="public.x", release="c")


def test_a_column_that_was_renamed(source: Database) -> None:
    do(source, "ALTER TABLE public.t RENAME COLUMN age TO years")
    refused(source, "role", {"n": "q", "years": "i", "s": "s"}, source="public.t", release="r")


def test_a_column_that_is_generated(source: Database) -> None:
    do(source, "ALTER TABLE public.t ADD COLUMN yrs int GENERATED ALWAYS AS (age + 1) STORED")
    refused(source, "role", {"n": "q", "yrs": "i", "s": "s"}, source="public.t")


def test_what_functions_read_is_not_known(source: Database) -> None:
    do(
        source,
        "CREATE FUNCTION public.years(integer) RETURNS integer LANGUAGE sql"
        " AS 'SELECT age FROM public.t WHERE id = $1'",
    )
    view(source, "w", "SELECT id, n, public.years(id) AS yrs, s FROM public.t")
    told = refused(source, "unresolved", {"n": "q", "yrs": "i", "s": "s"})
    assert "compute the column in a table" in told


@pytest.mark.slow
def test_a_value_that_changed_under_another_name(source: Database) -> None:
    """The difference of both versions would show whose it is."""
    view(source, "w", "SELECT id, age, s AS d, upper(s) AS e FROM public.t")
    do(source, "UPDATE public.t SET s = 'e' WHERE id = 3")
    refused(source, "changed", {"age": "q", "d": "s"})
    refused(source, "derived", {"age": "q", "e": "s"})


def test_the_same_under_another_name(source: Database) -> None:
    """Nothing new is shown of anybody, so it may be shown again."""
    view(source, "w", "SELECT id, age, s AS d FROM public.t")
    assert driver.publish(source, declared({"age": "q", "d": "s"}, source="public.w", release="b"))
    view(source, "x", "SELECT id, age AS yrs, s FROM public.t")
    again = declared({"yrs": "q", "s": "s"}, source="public.x", release="c")
    assert driver.publish(source, again).version == 1


def test_a_view_of_columns_of_one_is_released_again(db: Database) -> None:
    """What both versions show in the same way is no reason to refuse, whatever its roles."""
    rows = [[20 + n % 9, "abcd"[n % 4]] for n in range(PEOPLE)]
    make_table(db.connect("source_owner"), {"age": "integer", "s": "text"}, rows)
    view(db, "w", RENAMED)
    columns = {"band": "q", "yrs": "i", "s": "s"}
    for version in (1, 2):
        found = driver.publish(db, declared(columns, source="public.w"))
        assert found.version == version
