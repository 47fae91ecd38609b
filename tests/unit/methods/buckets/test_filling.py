"""How many newcomers take over signatures, against trying every choice."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from pganon.methods.buckets.search.filling import Candidates, filled
from tests.support.oracles.invariance import most_filled

pytestmark = pytest.mark.primary_server_only


def _eligible(rest: Mapping[tuple[int, ...], int], l: int) -> bool:  # noqa: E741
    counts: Counter[tuple[int, int]] = Counter()
    for values, n in rest.items():
        counts.update(dict.fromkeys(enumerate(values), n))
    return max(counts.values(), default=0) * l <= sum(rest.values())


def _rest(candidates: Sequence[Candidates], taken: Mapping[int, int]) -> dict[tuple[int, ...], int]:
    return {one.values: one.count - taken[one.code] for one in candidates}


def test_of_one_column_as_many_as_possible_are_taken() -> None:
    """In 2,000 histograms."""
    rng = random.Random(8)
    for _ in range(2000):
        l = rng.choice((2, 3, 4))  # noqa: E741 (the field's own letter)
        new = Counter({n: rng.randint(1, 5) for n in range(rng.randint(0, 5))})
        need = Counter({n: rng.randint(0, 4) for n in range(6)})
        candidates = [Candidates(n, (n,), new[n], need[n]) for n in new]
        found = filled(candidates, l)
        assert all(0 <= found[n] <= min(new[n], need[n]) for n in new)
        assert sum(found.values()) == most_filled(new, need, l)
        fitting = sum(one.fitting for one in candidates)
        assert _eligible(_rest(candidates, found), l) or sum(found.values()) == fitting


def test_of_several_columns_the_others_stay_eligible() -> None:
    """Where all newcomers are eligible, or the rest once all who fit are taken; and in most other
    histograms where some choice leaves the others eligible."""
    rng, possible, missed = random.Random(5), 0, 0
    for _ in range(1500):
        l = rng.choice((2, 3))  # noqa: E741 (the field's own letter)
        context = [range(rng.randint(2, 4)) for _ in range(rng.choice((2, 3)))]
        vectors = rng.sample(list(itertools.product(*context)), rng.randint(1, 4))
        candidates = [
            Candidates(n, values, rng.randint(1, 3), rng.randint(0, 3))
            for n, values in enumerate(vectors)
        ]
        found = filled(candidates, l)
        assert all(0 <= found[one.code] <= one.fitting for one in candidates)
        choices = itertools.product(*[range(one.fitting + 1) for one in candidates])
        good = [c for c in choices if _eligible(_rest(candidates, dict(enumerate(c))), l)]
        if not good:
            assert found == {one.code: one.fitting for one in candidates}
            continue
        possible += 1
        everybody, nobody = [one.fitting for one in candidates], [0] * len(candidates)
        if _eligible(_rest(candidates, found), l):
            assert tuple(everybody) not in good or list(found.values()) == everybody
            continue
        missed += 1
        assert list(found.values()) == everybody
        assert tuple(nobody) not in good
    assert possible > 400
    assert missed < possible / 100


def test_the_most_frequent_are_taken_first() -> None:
    new = [Candidates(1, (1,), 4, 2), Candidates(2, (2,), 3, 3), Candidates(3, (3,), 2, 0)]
    assert filled(new, 2) == {1: 2, 2: 3, 3: 0}
    assert filled(new, 3) == {1: 2, 2: 1, 3: 0}
    new = [Candidates(1, (1,), 5, 5), Candidates(2, (2,), 2, 2), Candidates(3, (3,), 2, 0)]
    assert filled(new, 2) == {1: 5, 2: 0, 3: 0}


def test_nobody_is_taken_where_fewer_are_not_found() -> None:
    """All newcomers are eligible; of those who are put back some would be too many of a value."""
    vectors = [(3, 0, 0), (3, 1, 1), (1, 0, 2), (2, 1, 2), (1, 3, 1), (2, 2, 0)]
    counts, needs = (4, 3, 4, 1, 1, 4), (0, 4, 4, 1, 2, 3)
    new = [
        Candidates(code, values, count, need)
        for code, (values, count, need) in enumerate(zip(vectors, counts, needs, strict=True))
    ]
    assert filled(new, 2) == dict.fromkeys(range(6), 0)
