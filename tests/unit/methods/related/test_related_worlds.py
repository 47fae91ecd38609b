"""What readers may believe beside related tables: all worlds of a group, and exact posteriors.

The theorems are those of docs/reference/related-tables.md. Each condition is left out once.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from tests.support.oracles.related import Events, Rule, posteriors, worlds

HALF, TWO_THIRDS = Fraction(1, 2), Fraction(2, 3)
Facts = frozenset[Any]
World = tuple[Facts, ...]


def events(world: World, column: int | None = None) -> Events:
    rows = [
        (n, (f if column is None else f[column],)) for n, facts in enumerate(world) for f in facts
    ]
    return Events(rows, (0,))


def one_slice(rule: Rule) -> Any:
    """People of the group, holders, and who has each value; None where it is not good."""

    def published(world: World) -> Any:
        table = events(world)
        people = range(len(world))
        if not rule.good(people, [table]):
            return None
        counted = table.counts(people, 0)
        return len(world), len(table.holders(people)), tuple(sorted(counted.items()))

    return published


@pytest.mark.parametrize(
    ("people", "facts", "k", "beta"),
    [(3, "ab", 2, HALF), (4, "ab", 2, TWO_THIRDS), (3, "abc", 2, TWO_THIRDS)],
)
def test_values_of_one_slice_tell_their_shares(
    people: int, facts: str, k: int, beta: Fraction
) -> None:
    rule = Rule(k, 2, beta)
    for value in facts:
        held = posteriors(worlds(people, facts), one_slice(rule), lambda f, v=value: v in f)
        rows = posteriors(
            worlds(people, facts), one_slice(rule), lambda f, v=value: v in f, known=bool
        )
        for (m, holders, counted), belief in held.items():
            assert belief == Fraction(dict(counted).get(value, 0), m)
            if holders:
                known = rows[m, holders, counted]
                assert known == Fraction(dict(counted).get(value, 0), holders)
                assert known <= beta


def test_a_value_that_all_have_is_known_without_the_share() -> None:
    rule = Rule(2, 2, HALF, frozenset({"beta"}))
    found = posteriors(worlds(2, "ab"), one_slice(rule), lambda f: "a" in f, known=bool)
    assert max(found.values()) == 1


def test_one_of_two_people_with_rows_is_found_without_enough_holders() -> None:
    """Who knows that the victim has rows finds everything that stands there, if all are his."""
    rule = Rule(2, 2, Fraction(1), frozenset({"k"}))
    found = posteriors(worlds(2, "ab"), one_slice(rule), lambda f: "a" in f, known=bool)
    assert found[2, 1, (("a", 1),)] == 1
    kept = posteriors(
        worlds(2, "ab"), one_slice(Rule(2, 2, Fraction(1))), lambda f: "a" in f, known=bool
    )
    assert (2, 1, (("a", 1),)) not in kept


@pytest.mark.parametrize("without", [frozenset[str](), frozenset({"membership"})])
def test_who_has_rows_is_bounded_where_that_is_sensitive(without: frozenset[str]) -> None:
    rule = Rule(2, 2, TWO_THIRDS, without | {"beta"})

    def published(world: World) -> Any:
        table = events(world)
        table = Events(table.rows, (), membership=True)
        people = range(len(world))
        return len(table.holders(people)) if rule.good(people, [table]) else None

    found = posteriors(worlds(3, "a"), published, bool)
    assert (max(found.values()) <= TWO_THIRDS) == (not without)


def test_a_nested_table_is_bounded_by_who_could_have_rows() -> None:
    rule = Rule(1, 2, HALF, frozenset({"beta"}))
    pairs = ("p", "c")  # a row of the parent, and one of the child below it
    all_worlds = [w for w in worlds(3, pairs) if all("p" in f or "c" not in f for f in w)]

    def published(world: World, *, keeps: bool) -> Any:
        parent = Events([(n, (1,)) for n, f in enumerate(world) if "p" in f])
        child = Events([(n, (1,)) for n, f in enumerate(world) if "c" in f], (), keeps, 0)
        people = range(len(world))
        if not rule.good(people, [parent, child]):
            return None
        return len(parent.holders(people)), len(child.holders(people))

    for keeps in (True, False):
        found = posteriors(
            all_worlds,
            lambda w, keeps=keeps: published(w, keeps=keeps),
            lambda f: "c" in f,
            known=lambda f: "p" in f,
        )
        assert (max(found.values()) <= HALF) == keeps


# -- pairs -----------------------------------------------------------------------------------------

PAIRS = list(product("xX", "yY"))


def pairs(rule: Rule) -> Any:
    """Who has each first value, and pairs of those that are open."""

    def published(world: World) -> Any:
        rows = [(n, x, y) for n, facts in enumerate(world) for x, y in facts]
        firsts = Counter(x for _, x in {(n, x) for n, x, _ in rows})
        opened = rule.open(rows)
        shown = Counter((x, y) for _, x, y in set(rows) if x in opened)
        holders = len({n for n, _, _ in rows})
        return holders, tuple(sorted(firsts.items())), tuple(sorted(shown.items()))

    return published


def _believed(rule: Rule, people: int) -> Fraction:
    """The most that anybody believes of a pair that is shown, who knows one value, or a row."""
    most = Fraction(0)
    found = list(worlds(people, PAIRS))
    knowledge = [
        lambda facts: any(x == "x" for x, _ in facts),
        lambda facts: any(y == "y" for _, y in facts),
        bool,
    ]
    for known in knowledge:
        told = posteriors(found, pairs(rule), lambda facts: ("x", "y") in facts, known)
        most = max([most, *[b for shown, b in told.items() if ("x", "y") in dict(shown[2])]])
    return most


def test_no_open_pair_is_believed_above_the_share() -> None:
    for beta in (HALF, TWO_THIRDS):
        assert _believed(Rule(2, 2, beta), 3) <= beta


@pytest.mark.parametrize("without", ["first", "second"])
def test_a_condition_on_pairs_that_is_left_out(without: str) -> None:
    assert _believed(Rule(2, 2, TWO_THIRDS, frozenset({without})), 3) > TWO_THIRDS


def test_pairs_of_a_value_that_one_person_has_are_read_off() -> None:
    """Without enough people with the second value, who knows that it is the victim's knows both."""
    rule = Rule(2, 2, Fraction(1), frozenset({"enough"}))
    assert _believed(rule, 2) == 1
    rows = [(0, "x", "y"), (1, "x", "Y")]
    assert rule.open(rows) == {"x"}
    assert Rule(2, 2, Fraction(1)).open(rows) == set()


def test_to_close_one_value_may_close_another() -> None:
    """Until nothing changes: who is left with y are fewer then."""
    rows = [(0, "x", "y"), (1, "x", "Y"), (2, "X", "y"), (3, "X", "z"), (4, "X", "z")]
    assert Rule(2, 2, HALF).open(rows) == set()


def test_rows_of_both_columns_tell_what_pairs_do_not() -> None:
    """Two people in one ward each, in quarters of their own: the ward gives the quarter."""
    world = (frozenset({("x", "Y")}), frozenset({("X", "y")}))
    rows = [(n, *fact) for n, facts in enumerate(world) for fact in facts]
    assert Rule(2, 2, HALF).open(rows) == set()
    assert Rule(2, 2, HALF, frozenset({"first", "second", "enough"})).open(rows) == {"x", "X"}


# -- values apart ----------------------------------------------------------------------------------


@pytest.mark.parametrize("apart", [True, False])
def test_who_cannot_have_a_value_gives_it_to_others(apart: bool) -> None:
    """One woman and one man in a group: what only women have is hers, unless they are apart."""
    groups = [(0, 1), (2, 3)] if apart else [(0, 2), (1, 3)]  # 0 and 1 are women
    rule = Rule(2, 2, HALF)
    possible = [
        world
        for world in worlds(4, "wvm")
        if all((facts <= {"w", "v"}, facts <= {"m"})[n > 1] for n, facts in enumerate(world))
        and (not apart or not (world[2] or world[3]))
    ]

    def published(world: World) -> Any:
        table = events(world)
        if not all(rule.good(group, [table]) for group in groups):
            return None
        return tuple(
            (len(table.holders(group)), tuple(sorted(table.counts(group, 0).items())))
            for group in groups
        )

    found = posteriors(possible, published, lambda f: "w" in f, known=bool)
    assert found
    assert all(belief <= HALF for belief in found.values()) == apart
