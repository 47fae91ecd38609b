"""Attack: know the whole method, and compute its buckets for every world (minimality)."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from pganon.methods.buckets.search.conditions import Condition
from pganon.methods.buckets.search.partition import PublicBisection, partition
from tests.support.oracles.worlds import Shares, Weight, posteriors, worlds
from tests.support.sources.by_hand import aligned

both = pytest.mark.parametrize("swarm", [False, True], ids=["base", "firefly"])


def buckets(ages: Sequence[int], values: Sequence[str], l: int, swarm: bool) -> list[int]:  # noqa: E741
    """Of records with one quasi-identifier; the attacker even knows the seed."""
    z = np.array([[age / 100] for age in ages])
    codes = np.array([ord(value) for value in values])
    return partition(z, [Condition(l, codes)], l, swarm=swarm, seed=1).labels.tolist()


def frequencies(values: Sequence[str], groups: Sequence[int]) -> list[Shares]:
    release = aligned(_rows(values), groups, [["value"]], [["age"]])
    return posteriors(release, "value")


def _rows(values: Sequence[str]) -> list[dict[str, object]]:
    return [{"age": place, "value": value} for place, value in enumerate(values)]


def recomputed(
    ages: Sequence[int],
    values: Sequence[str],
    l: int,  # noqa: E741
    swarm: bool = False,
) -> list[Shares]:
    """What is left of the worlds of a release if those with other buckets are left out."""
    groups = buckets(ages, values, l, swarm)
    release = aligned(_rows(values), groups, [["value"]], [["age"]])
    seen: list[dict[str, Weight]] = [defaultdict(int) for _ in values]
    total: Weight = 0
    for weight, world in worlds(release):
        found = [held["value"] for _, held in world]
        if buckets(ages, found, l, swarm) == groups:
            total += weight
            for counts, value in zip(seen, found, strict=True):
                counts[value] += weight
    return [{v: Fraction(n) / total for v, n in counts.items()} for counts in seen]


def eligible(rng: random.Random, size: int, l: int) -> list[str]:  # noqa: E741
    while True:
        values = rng.choices("abcdef"[: max(l, 4) + size % l], k=size)
        if l * max(Counter(values).values()) <= size:
            return values


@both
def test_a_block_of_one_bucket_says_nothing(swarm: bool) -> None:
    """Too small to be divided, whatever its values are."""
    rng = random.Random(1)
    for _ in range(20):
        l = rng.choice([2, 3, 4])  # noqa: E741
        values = eligible(rng, rng.randint(l, min(2 * l - 1, 6)), l)
        ages = rng.sample(range(100), len(values))
        found = recomputed(ages, values, l, swarm)
        assert found == frequencies(values, [0] * len(values))
        assert max(p for one in found for p in one.values()) <= Fraction(1, l)


@both
def test_values_that_do_not_repeat_say_nothing(swarm: bool) -> None:
    """No condition ever binds, so buckets depend on quasi-identifiers alone."""
    rng = random.Random(2)
    for size, l in ((6, 2), (7, 3), (8, 2)):  # noqa: E741
        values = list("abcdefgh"[:size])
        ages = rng.sample(range(100), size)
        groups = buckets(ages, values, l, swarm)
        assert len(set(groups)) == size // l
        assert recomputed(ages, values, l, swarm) == frequencies(values, groups)
        for shuffled in itertools.islice(itertools.permutations(values), 0, None, 719):
            assert buckets(ages, shuffled, l, swarm) == groups


def test_buckets_that_are_no_cut_disclose_what_forced_them() -> None:
    """A limit, not a promise: 1/l does not bound who computes the buckets.

    The two youngest have the same value, so their bucket would not be diverse and two records are
    exchanged. Whoever sees that the buckets are no intervals of age knows of the exchange.
    """
    ages, values = [10, 20, 30, 40, 50], list("aabcd")
    groups = buckets(ages, values, 2, None)
    assert groups == [0, 1, 0, 1, 1]
    assert max(p for one in frequencies(values, groups) for p in one.values()) == Fraction(1, 2)
    found = recomputed(ages, values, 2)
    assert found[0] == found[1] == {"a": 1}


def test_how_often_that_happens() -> None:
    """In blocks of five records and few values."""
    rng = random.Random(5)
    beyond = 0
    for _ in range(40):
        values = eligible(rng, 5, 2)
        found = recomputed(rng.sample(range(100), 5), values, 2)
        beyond += max(p for one in found for p in one.values()) > Fraction(1, 2)
    assert 0 < beyond < 20


# -- division: public ---------------------------------------------------------------------------


def likelihood(ages: Sequence[int], values: Sequence[str], groups: list[int], l: int) -> Fraction:  # noqa: E741
    """How likely values lead to these buckets, over all random orders."""
    z = np.array([[age / 100] for age in ages])
    condition = Condition(l, np.array([ord(value) for value in values]))
    hits = total = 0
    with pytest.MonkeyPatch.context() as patch:
        for order in itertools.permutations(range(len(values))):
            patch.setattr(PublicBisection, "_shuffled", lambda self, order=order: np.array(order))
            found = partition(z, [condition], l, swarm=False, seed=1, public=True)
            hits += found.labels.tolist() == groups
            total += 1
    return Fraction(hits, total)


@pytest.mark.slow
def test_public_parts_and_random_buckets_say_nothing() -> None:
    """Worlds of a release are as likely as each other for who knows all but the random order."""
    rng = random.Random(7)
    several = 0
    for size in (4, 5, 5, 5):
        values = eligible(rng, size, 2)
        ages = rng.choices(range(0, 100, 20), k=size)
        z = np.array([[age / 100] for age in ages])
        codes = np.array([ord(value) for value in values])
        made = partition(z, [Condition(2, codes)], 2, swarm=False, seed=size, public=True)
        groups = made.labels.tolist()
        release = aligned(_rows(values), groups, [["value"]], [["age"]])
        every = {tuple(held["value"] for _, held in world) for _, world in worlds(release)}
        chances = {likelihood(ages, world, groups, 2) for world in every}
        assert len(chances) == 1
        assert chances != {0}
        several += len(every) > 2
    assert several >= 2


@pytest.mark.slow
def test_the_records_that_were_exchanged_stay_hidden() -> None:
    """Buckets of the example above no longer say that the two youngest have the same value."""
    ages, values = [10, 20, 30, 40, 50], list("aabcd")
    z = np.array([[age / 100] for age in ages])
    codes = np.array([ord(value) for value in values])
    made = partition(z, [Condition(2, codes)], 2, swarm=False, seed=1, public=True)
    groups = made.labels.tolist()
    release = aligned(_rows(values), groups, [["value"]], [["age"]])
    seen: list[dict[str, Weight]] = [defaultdict(int) for _ in values]
    for weight, world in worlds(release):
        found = [str(held["value"]) for _, held in world]
        chance = weight * likelihood(ages, found, groups, 2)
        for counts, value in zip(seen, found, strict=True):
            counts[value] += chance
    shares = [Fraction(n) / sum(counts.values()) for counts in seen for n in counts.values()]
    assert max(shares) == Fraction(1, 2)
