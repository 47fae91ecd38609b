"""`audiences: by_reader` with `assume: [independent_columns]`: T3 among what a role could read."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import psycopg
import pytest
from psycopg.types.range import Range

from pganon.publish import lifecycle
from pganon.run.admitting import change_readers
from pganon.run.result import RunResult
from tests.integration import test_independent_columns as columns
from tests.integration.test_independent_columns import L3, table
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.oracles import guard_worlds, independence
from tests.support.sources.builders import make_table, policy

pytestmark = [pytest.mark.primary_server_only, pytest.mark.slow]


@pytest.fixture
def source(db: Database) -> Database:
    return table(db)


def declared(
    release: str, place: str, column: str, *readers: str, **changes: Any
) -> dict[str, Any]:
    found = columns.declared(release, place, column, audiences="by_reader")
    return {**found, "publish": {"readers": list(readers)}, **changes}


def publish(db: Database, *asked: str, **changes: Any) -> RunResult:
    result = driver.publish(db, declared(*asked, **changes))
    assert isinstance(result, RunResult)
    return result


def steward(db: Database) -> psycopg.Connection[Any]:
    found = db.connect("steward")
    lifecycle.become_steward(found)
    return found


# -- what a component tells, from what is published -----------------------------------------------


def bounds(db: Database, shown: Sequence[tuple[str, str, str]]) -> tuple[float, int]:
    """The largest bound on a value and the fewest different values, by (release, q, column)."""
    people = db.admin.execute("SELECT id, q, z, s, w FROM public.t").fetchall()
    names = ("id", "q", "z", "s", "w")
    groups: list[tuple[str, dict[int, Any], dict[Any, Counter[str]]]] = []
    for release, place, column in shown:
        rows = db.admin.execute(f"SELECT {place}, {column} FROM published.{release}".encode())
        values: dict[Range[int], Counter[str]] = defaultdict(Counter)
        for at, value in rows.fetchall():
            values[at][value] += 1
        at = {p[0]: next(g for g in values if p[names.index(place)] in g) for p in people}
        groups.append((column, at, values))
    cells: dict[Any, list[Any]] = defaultdict(list)
    for person in people:
        cells[tuple(at[person[0]] for _, at, _ in groups)].append(person)
    worst, fewest = 0.0, len(people)
    for cell, members in cells.items():
        for name in {column for column, _, _ in groups}:
            own = {person[names.index(name)] for person in members}
            most = max(
                min(
                    len(members),
                    *(
                        values[group][value]
                        for group, (column, _, values) in zip(cell, groups, strict=True)
                        if column == name
                    ),
                )
                for value in {row[names.index(name)] for row in people}
            )
            worst, fewest = max(worst, most / len(members)), min(fewest, len(own))
    return worst, fewest


def assert_judged_with(db: Database, told: dict[str, Any], shown: Sequence[Any]) -> None:
    found = told["guard_independent"]
    worst, fewest = bounds(db, shown)
    assert found["worst_probability"] == pytest.approx(worst)
    assert found["fewest_values"] == fewest


def test_components_of_each_audience(source: Database, roles: list[str]) -> None:
    """Versions of one column are together where somebody has both, and only for him."""
    one, two, both = roles
    publish(source, "one", "q", "s", one, both)
    publish(source, "two", "z", "s", two)
    first = publish(source, "three", "z", "w", one).guard
    assert first["guard_audience"] == one
    assert first["guard_independent"]["others"] == ["s"]
    assert_judged_with(source, first, [("three", "z", "w")])
    with driver.refused("republication"):
        publish(source, "four", "q", "w", one)
    fourth = publish(source, "four", "q", "w", two).guard
    assert fourth["guard_audience"] == two
    assert_judged_with(source, fourth, [("four", "q", "w")])
    fifth = publish(source, "five", "q", "w", one, assume=[], republication="warn").guard
    assert "guard_independent" not in fifth


def test_without_it(source: Database, roles: list[str]) -> None:
    publish(source, "one", "q", "s", roles[0])
    publish(source, "other", "z", "s", roles[1])
    with driver.refused("republication") as errors:
        publish(source, "two", "z", "w", roles[0], assume=[])
    assert f"that {roles[0]} could ever read" in str(errors[0])
    warned = publish(source, "two", "z", "w", roles[0])
    assert any(
        f"to who has what {roles[0]} could read, w and s are independent" in text
        for text in warned.warnings
    )


def test_columns_that_are_associated(db: Database, roles: list[str]) -> None:
    """They are so to who has both; who has one may have it in any groups."""
    one, two, third = roles
    table(db, lambda n, rng: "abcd"[n % 4])
    publish(db, "one", "q", "s", one)
    with driver.refused("republication"):
        publish(db, "two", "z", "w", one)
    publish(db, "two", "z", "w", two)
    conn = steward(db)
    with driver.refused("republication"):
        change_readers(conn, "two", [one])
    with driver.refused("republication"):
        change_readers(conn, "two", ["public"])
    assert change_readers(conn, "one", [third]).added == (third,)
    with driver.refused("republication"):
        publish(db, "three", "z", "s", third)


def test_new_readers(source: Database, roles: list[str]) -> None:
    """What they have is judged as for a run: columns apart, unless somebody was promised more."""
    one, two, third = roles
    publish(source, "one", "q", "s", one)
    publish(source, "two", "z", "w", two)
    publish(source, "three", "z", "s", two)
    conn = steward(source)
    assert change_readers(conn, "two", [one, third]).added == (one, third)
    with driver.refused("republication"):
        change_readers(conn, "three", [one])
    publish(source, "promised", "q", "s", third, assume=[], republication="allow")
    with driver.refused("republication"):
        change_readers(conn, "promised", [two])
    assert driver.leftovers(source) == []


def test_a_promise_to_readers_of_any_belief(
    source: Database,
    roles: list[str],
) -> None:
    one, two, _ = roles
    publish(source, "one", "q", "s", one, assume=[])
    publish(source, "two", "z", "w", two)
    with driver.refused("republication"):
        change_readers(steward(source), "two", [one])
    with driver.refused("republication"):
        publish(source, "three", "z", "w", one)


@pytest.mark.parametrize("columns_first", [True, False])
def test_a_reader_who_gets_what_joins_columns(
    source: Database,
    roles: list[str],
    columns_first: bool,
) -> None:
    """The version that shows both columns divides nobody more than those before."""
    one, two, _ = roles
    both = policy({"q": "q", "s": "s", "w": "s"}, [{**L3, "column": "s"}])
    shown = {"columns": both["columns"], "privacy": both["privacy"]}
    if not columns_first:
        publish(source, "three", "q", "s", two, **shown)
    publish(source, "one", "q", "s", one)
    publish(source, "two", "z", "w", one)
    if columns_first:
        publish(source, "three", "q", "s", two, **shown)
    with driver.refused("republication"):
        change_readers(steward(source), "three", [one])
    with driver.refused("republication"):
        publish(source, "again", "q", "s", one, **shown)


# -- by enumeration -------------------------------------------------------------------------------

PLACES = {"q": (1, 1, 2, 2), "z": (1, 2, 2, 1)}
VALUES = "abcb"


def world(place: str, values: str) -> dict[int, guard_worlds.Seen]:
    """A version of four people, in pairs by one of the quasi-identifiers."""
    told = zip(PLACES[place], values, strict=True)
    return {n: guard_worlds.Seen(group, (value,)) for n, (group, value) in enumerate(told, start=1)}


def test_who_has_what_two_readers_have(db: Database, roles: list[str]) -> None:
    """Each believes half of what is true; together, whoever takes columns to be independent is
    certain of everybody's value."""
    one, two, _ = roles
    by_q, by_z, other = world("q", VALUES), world("z", VALUES), [world("z", "klkl")]
    for versions in ([by_q], [by_z], [by_q, by_z]):
        belief = independence.independent(versions, other, random.Random(2))
        likely = independence.posteriors(versions, other, "abckl", belief)
        if len(versions) == 1:
            assert max(likely.values()) <= 0.5 + 1e-9
        else:
            certain = {n: value for ((n, _), value), share in likely.items() if share == 1}
            assert certain == dict(enumerate(VALUES, start=1))
    # Twenty-four of each of them.
    rows = [
        [*(PLACES[p][n % 4] for p in "qz"), VALUES[n % 4], "klmn"[n // 4 % 4], "x"]
        for n in range(96)
    ]
    make_table(db.connect("source_owner"), columns.KINDS, rows)
    l2 = {"privacy": [{**L3, "column": "s", "l": 2}]}
    publish(db, "one", "q", "s", one, **l2)
    publish(db, "two", "z", "s", two, **l2)
    for release, place, reader in (("three", "z", one), ("four", "q", two)):
        told = publish(db, release, place, "w", reader).guard
        assert told["guard_audience"] == reader
        assert_judged_with(db, told, [(release, place, "w")])
    assert bounds(db, [("one", "q", "s")]) == (0.5, 2)
    assert bounds(db, [("one", "q", "s"), ("two", "z", "s")]) == (1.0, 1)
    with driver.refused("republication"):
        change_readers(steward(db), "two", [one])
    assert change_readers(steward(db), "four", [one]).added == (one,)
