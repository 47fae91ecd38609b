"""Bounds and attacks of local generalization and bucketization, over all worlds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.support.oracles.lgb_buckets import aligned_buckets, diverse_buckets
from tests.support.oracles.lgb_worlds import (
    bucketized,
    dealings,
    own_order,
    pairs_exist,
    posteriors,
    shared_order,
    surest,
)
from tests.support.sources import lgb_cases as cases

LINKS = set(cases.LINKED.values.values())


def buckets_of(found: Any) -> dict[str, list[tuple[list[int], list[Any]]]]:
    """Rows and values of the buckets of each attribute of the linked table."""
    return {
        attribute.name: [
            (sorted(keys), [cases.LINKED.values[key][a] for key in sorted(keys)]) for keys in held
        ]
        for a, (attribute, held) in enumerate(zip(cases.LINKED.attributes, found, strict=True))
    }


def test_section_1_independent_buckets_reveal_every_row() -> None:
    found = [
        diverse_buckets(cases.cells(cases.LINKED, a.name), a, 2) for a in cases.LINKED.attributes
    ]
    told = posteriors(buckets_of(found), pairs_exist(("organ", "symptom"), LINKS))
    resolved = {
        key for key, held in told.items() if held["organ"].get(cases.LINKED.values[key][0]) == 1
    }
    assert len(resolved) == 8
    nothing = posteriors(buckets_of(found), lambda _: True)
    assert surest(nothing) == Fraction(1, 2)


def test_9_4_aligned_buckets_keep_the_bound() -> None:
    found = aligned_buckets(
        cases.LINKED.values, cases.LINKED.attributes, [2, 2], lambda _, key: key
    )
    told = posteriors(buckets_of([found, found]), pairs_exist(("organ", "symptom"), LINKS))
    assert surest(told) == Fraction(1, 2)
    assert all(max(p.values()) == Fraction(1, 2) for held in told.values() for p in held.values())


def test_9_5_one_order_for_two_attributes() -> None:
    """Each column alone keeps 1/2; with the same order of the rows both tell more."""
    one, other = tuple("aaabbc"), tuple("xxyyzz")
    seen = bucketized(one, 2)
    assert own_order(one, seen, 2) == Fraction(1, 2)
    assert own_order(other, bucketized(other, 2), 2) == Fraction(1, 2)
    both = [(one, seen), (other, bucketized(other, 2))]
    worst = [
        shared_order([column for column, _ in pair], [shown for _, shown in pair], 2)
        for pair in (both, both[::-1])
    ]
    assert worst == [Fraction(30, 37), Fraction(199, 333)]


def test_9_5_predicate_on_another_hidden_column() -> None:
    """Whether a disease is hidden tells the hidden age that decides it."""
    ages = {"age": [([1, 3], [24, 66]), ([2, 4], [24, 66])]}
    forms = {1: "g", 2: "g", 3: "b", 4: "b"}

    def as_seen(world: dict[Any, dict[str, Any]]) -> bool:
        return all((forms[key] == "b") == (held["age"] > 60) for key, held in world.items())

    assert surest(posteriors(ages, lambda _: True)) == Fraction(1, 2)
    assert surest(posteriors(ages, as_seen)) == 1


@pytest.mark.parametrize("l", [2, 3])
def test_corollary_3_over_all_dealings(l: int) -> None:  # noqa: E741
    values = dict(enumerate("aabbccd"))
    found = diverse_buckets(values, cases.LINKED.attributes[0], l)
    held = [(sorted(keys), [values[key] for key in sorted(keys)]) for keys in found]
    told = posteriors({"x": held}, lambda _: True)
    assert surest(told) <= Fraction(1, l)
    assert sum(1 for _ in dealings({"x": held})) > 1
