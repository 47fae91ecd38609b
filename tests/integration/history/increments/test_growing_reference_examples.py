"""What groups of newcomers are compared with, by hand."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pganon.publish import lifecycle
from tests.support.harness import driver
from tests.support.harness.cluster import Database
from tests.support.sources.compared import (
    COLUMN,
    T,
    classes,
    grow,
    make,
    measured_of,
    policy,
    released,
)

pytestmark = pytest.mark.primary_server_only

BETA = {"model": "beta_likeness", "beta": 1, "variant": "basic"}


def of_ten(model: dict[str, Any]) -> dict[str, Any]:
    privacy = [{"model": "k_anonymity", "k": 10}, {"column": "s", **model}]
    return policy(model, privacy=privacy, increment_size=10)


@pytest.fixture
def people(db: Database) -> Database:
    make(db, "text")
    return db


@pytest.mark.slow
def test_distances_by_hand(people: Database) -> None:
    """The first version has shares 0.6, 0.3 and 0.1; newcomers the distances 0.2, 0.9, 0.4, 0.1."""
    document = policy(T)
    released(people, 1, "aaaaaabbbc", document)
    conn = people.owner()
    assert released(people, 20, "ab", document).version == 2
    assert measured_of(conn, T)["first version's source"] == pytest.approx(0.2)
    for first, letters in ((30, "cc"), (40, "aaad")):
        with driver.refused("infeasible") as caught:
            released(people, first, letters, document)
        assert "permanently suppressed" in str(caught[0])
    # Nobody had a d; its share counts in all, and the other shares are as before.
    assert released(people, 50, "aaaaaabbbd", document).version == 3
    assert measured_of(conn, T)["first version's source"] == pytest.approx(0.2)


@pytest.mark.slow
def test_a_value_that_nobody_had_is_an_infinite_gain(people: Database) -> None:
    document = policy(BETA)
    released(people, 1, "aaaaaabbbc", document)
    with driver.refused("infeasible") as caught:
        released(people, 20, "aaaaaaaaabbbd", document)
    assert "no beta is enough" in str(caught[0])
    strict = policy({"model": "delta_disclosure", "delta": 9})
    with driver.refused("infeasible"):
        released(people, 40, "aaabbbcccd", strict)
    with driver.refused("infeasible"):
        released(people, 50, "aaabbb", strict)  # without c, which the first version has
    assert released(people, 60, "abc", strict).version == 2


def test_values_that_nobody_had_can_be_trimmed(people: Database) -> None:
    """Of a cohort the largest part stays that satisfies the model against the first version."""
    document = policy(BETA, method={"name": "kinc", "lemma2": "trim"}, on_infeasible="suppress")
    released(people, 1, "aaaaaabbbc", document)
    before = classes(people.owner())
    done = released(people, 20, "aaaaaabbbd", document)
    assert done.added is not None
    assert (done.added.released, done.added.suppressed) == (9, 1)
    after = classes(people.owner())
    added = [v for number, values in after.items() if number not in before for v in values]
    assert Counter(added) == Counter(a=6, b=3)


@pytest.mark.slow
def test_newcomers_do_not_shift_what_they_are_held_against(people: Database) -> None:
    """A value of 20 % may have 40 % of a class; many such classes do not make it a frequent one."""
    document = of_ten(BETA)
    released(people, 1, "a" * 16 + "HHHH", document)
    for first in (100, 120, 140):
        released(people, first, "aaaaaaHHHH", document)
    conn = people.owner()
    before = classes(conn)
    assert Counter(v for values in before.values() for v in values) == Counter(a=34, H=16)
    with driver.refused("infeasible") as caught:
        released(people, 160, "aaaaaHHHHH", document)
    assert caught[0].observed == pytest.approx(1.5)  # pyright: ignore[reportAttributeAccessIssue]
    assert classes(conn) == before


@pytest.mark.slow
def test_the_guard_compares_with_the_first_version(people: Database) -> None:
    """Not with the source of now, in which the value is rarer."""
    document = of_ten({**BETA, "beta": 0.4})
    released(people, 1, "aaaaaHHHHH", document)
    released(people, 100, "a" * 70 + "H" * 30, document)
    assert released(people, 300, "aaaaaHHHHH", document).version == 3


@pytest.mark.slow
def test_records_that_the_first_version_left_out(people: Database) -> None:
    """Its source has their values, what it published has not: newcomers are held against both."""
    columns = {
        "age": {"role": "quasi_identifying"},
        "city": {"role": "quasi_identifying", "nulls": "own_class"},
        "s": COLUMN,
    }
    wide = {**T, "t": 0.4}
    document = policy(wide, columns=columns, on_infeasible="suppress")
    people.source(
        "INSERT INTO public.person SELECT n, 30, NULL, 'H' FROM generate_series(1, 4) AS n",
        grant=False,
    )
    assert released(people, 10, "aaaaaaaabbbbbbbb", document).suppressed == 4
    conn = people.owner()
    assert released(people, 30, "aabbHH", document).version == 2
    assert measured_of(conn, wide) == {
        "first version's source": pytest.approx(0.2),  # the first version, without H
        "first version's published": pytest.approx(1 / 3),
    }
    with driver.refused("infeasible") as caught:
        released(people, 40, "aabbHHH", document)
    assert caught[0].observed == pytest.approx(3 / 7)  # pyright: ignore[reportAttributeAccessIssue]
    # Of a cut at their ages one side would be close to the source alone.
    rows = [(60 + n, 20, "Rome", s) for n, s in enumerate("aabbHHH")]
    rows += [(70 + n, 60, "Rome", s) for n, s in enumerate("aaaabbbb")]
    before = classes(conn)
    with people.connect("source_owner").cursor() as cursor:
        cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)
    grow(people, document)
    (added,) = [values for number, values in classes(conn).items() if number not in before]
    assert len(added) == len(rows)
    strict = policy(BETA, columns=columns, on_infeasible="suppress")
    with driver.refused("infeasible"):
        released(people, 50, "aaaabbbbH", strict)


@pytest.mark.parametrize("refresh", ["increments", "recompute"])
@pytest.mark.slow
def test_models_that_come_later(people: Database, refresh: str) -> None:
    """What the first version published is known, by group; of its source nothing else was kept."""
    first = policy(T, privacy=[{"model": "k_anonymity", "k": 2}], refresh=refresh)
    if refresh == "recompute":
        del first["increment_size"]
    released(people, 1, "aaaaaabbbc", first)
    document = policy(T)
    assert released(people, 20, "ab", document).version == 2
    with driver.refused("infeasible"):
        released(people, 30, "cc", document)
    stricter = policy({**T, "t": 0.15})
    with driver.refused("infeasible"):
        released(people, 40, "ab", stricter)
    assert released(people, 50, "aaab", stricter).version == 3
    found = [
        (f.parameter, f.against, f.measured)
        for f in lifecycle.verify(people.owner(), "people")
        if f.model == "t_closeness"
    ]
    assert sorted(found) == [
        (t, f"first version's {kind}", pytest.approx(measured))
        for t, measured in ((0.15, 0.15), (0.3, 0.2))
        for kind in ("published", "source")
    ]


@pytest.mark.slow
def test_after_a_version_that_was_made_at_once(people: Database) -> None:
    """Its own evidence is against the source that it had."""
    first = policy(T, refresh="recompute")
    del first["increment_size"]
    released(people, 1, "aaaaaabbbc", first)
    released(people, 20, "ab", policy(T))
    assert measured_of(people.owner(), T) == {
        "source": 0,
        "published": 0,
        "first version's source": pytest.approx(0.2),
        "first version's published": pytest.approx(0.2),
    }
