"""Who has which versions."""

from __future__ import annotations

from pganon.history.judgement import PUBLIC, gaining, readers_of


def test_roles_with_the_same_versions_are_one_reader() -> None:
    known = {1: ["a", "b"], 2: ["c"], 3: [], 4: [PUBLIC]}
    found = {one.name: set(one.runs) for one in readers_of(["a", "b", "c", "d"], known)}
    assert found == {"a": {1, 4}, "c": {2, 4}, "d": {4}}


def test_the_public_is_also_everybody_who_has_a_version() -> None:
    """Attack: what everybody may read is added to what one role has."""
    known = {1: ["a"], 2: ["b"], 3: []}
    assert {one.runs for one in readers_of([PUBLIC], known)} == {
        frozenset(),
        frozenset({1}),
        frozenset({2}),
    }
    assert {one.runs for one in gaining([PUBLIC], known, {1})} == {frozenset(), frozenset({2})}
