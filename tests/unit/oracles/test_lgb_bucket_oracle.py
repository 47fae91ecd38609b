"""The oracle of local buckets against numbers worked out by hand.

Identifiers number the examples.
"""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest

from tests.support.oracles.lgb import Refused, Table, nominal, numeric
from tests.support.oracles.lgb_buckets import (
    aligned_buckets,
    anatomy,
    close_buckets,
    dealt_values,
    distance,
    diverse_buckets,
    eligible,
    histogram,
    largest_l,
    leaves,
    segments,
    total,
    wide,
)
from tests.support.oracles.lgb_release import (
    released,
    v6,
    v8,
)
from tests.support.sources import lgb_cases as cases
from tests.support.sources.lgb_cases import sets


def counted(text: str) -> list[tuple[str, int]]:
    """`a3 b2` as a histogram."""
    return [(one[0], int(one[1:])) for one in text.split()]


def written(found: list[tuple[int, tuple[Any, ...]]]) -> str:
    return "; ".join(f"{alpha}: {' '.join(map(str, signature))}" for alpha, signature in found)


@pytest.mark.parametrize(
    ("counts", "m", "plan", "deal"),
    [
        ("a3 b2 c2", 2, "1: a b; 1: a c; 1: a b c", "abc ab ac"),
        ("a1 b1 c1", 2, "1: a b c", "abc"),
        ("a2 b2 c2", 2, "1: a b; 1: c a; 1: b c", "ab ac bc"),
        ("a4 b3 c3 d2 e1", 3, "2: a b c; 1: a d b; 1: a c d e", "abce abc abd acd"),
        ("a5 b5", 2, "5: a b", "ab ab ab ab ab"),
        (
            "a100 b100 c100 d100 e100",
            2,
            "100: a b; 50: c d; 50: e c; 50: d e",
            " ".join(["ac"] * 50 + ["ad"] * 50 + ["bd"] * 50 + ["be"] * 50 + ["ce"] * 50),
        ),
        ("a1 b1 c1 d1 e1", 3, "1: a b c d e", "abcde"),
        (
            "a1 b1 c1 d1 e1 f1 g1 h1 i1 j1",
            3,
            "1: a b c; 1: d e f; 1: g h i j",
            "adgj beh cfi",
        ),
    ],
    ids=lambda value: f"5.2 {value}" if isinstance(value, str) and value[1].isdigit() else "",
)
def test_5_2_plans(counts: str, m: int, plan: str, deal: str) -> None:
    found = counted(counts)
    assert written(segments(found, m)) == plan
    held = dealt_values(found, total(found) // m)
    assert Counter("".join(sorted(bucket)) for bucket in held) == Counter(deal.split())


def test_5_2_infeasible() -> None:
    found = counted("a4 b3 c2")
    assert (eligible(found, 3), largest_l(found)) == (False, 2)
    with pytest.raises(Refused, match="largest l is 2"):
        leaves(found, 3)


def test_5_3_recursion() -> None:
    salary = cases.SALARIES.attributes[0]
    cells = cases.cells(cases.SALARIES, "salary")
    counts = histogram(cells.values(), salary)
    assert leaves(counts, 2) == [
        [(10, 2), (20, 1), (30, 2), (40, 1)],
        [(50, 3), (60, 1), (70, 1), (80, 1)],
    ]
    plans = [written(segments(leaf, 2)) for leaf in leaves(counts, 2)]
    assert plans == ["2: 10 30; 1: 20 40", "1: 50 60; 1: 50 70; 1: 50 80"]
    for assign in ("m_invariance", "deal"):
        found = diverse_buckets(cells, salary, 2, assign=assign)
        if assign == "m_invariance":
            number = {key: n for n, bucket in enumerate(found, 1) for key in bucket}
            assert [number[key] for key in range(1, 13)] == [1, 4, 1, 3, 5, 6, 2, 4, 3, 2, 5, 6]
        assert set(found) == sets("1,3 7,10 4,9 2,8 5,11 6,12")


@pytest.mark.parametrize(
    ("l", "plan"),
    [(3, "2: 50 10 30; 1: 20 40 50; 1: 60 70 80"), (4, "1: 50 10 30 20; 1: 50 10 30 40; ")],
    ids=["5.3 l=3", "5.3 l=4"],
)
def test_5_3_larger_l(l: int, plan: str) -> None:  # noqa: E741
    salary = cases.SALARIES.attributes[0]
    counts = histogram(cases.cells(cases.SALARIES, "salary").values(), salary)
    assert len(leaves(counts, l)) == 1
    found = written(segments(counts, l))
    assert found == (plan if l == 3 else plan + "1: 50 60 70 80")


def test_5_3_median_trap() -> None:
    assert leaves([(1, 2), (2, 2)], 2) == [[(1, 2), (2, 2)]]
    assert segments([(1, 2), (2, 2)], 2) == [(2, (1, 2))]


def test_5_4_one_value() -> None:
    flu = cases.of_column(nominal("disease"), *["flu"] * 5)
    cells = cases.cells(flu, "disease")
    assert largest_l(histogram(cells.values(), nominal("disease"))) == 1
    with pytest.raises(Refused, match="largest l is 1"):
        diverse_buckets(cells, nominal("disease"), 2)
    with pytest.raises(Refused, match="at least 2 distinct"):
        close_buckets(cells, nominal("disease"), Fraction(1, 5), 2)


SEX = cases.of_column(nominal("sex"), *"f" * 7, *"m" * 4)
NUMBERS = cases.of_column(numeric("x"), 1, 2, 3, 3, 4)


@pytest.mark.parametrize(
    ("table", "t", "least", "buckets", "worst"),
    [
        (SEX, Fraction(1, 5), 3, ["fffm", "ffmm", "ffm"], Fraction(3, 22)),
        (SEX, Fraction(1, 10), 3, ["ffffmm", "fffmm"], Fraction(2, 55)),
        (SEX, Fraction(1, 5), 2, ["fffm", "ffmm", "ffm"], Fraction(3, 22)),
        (NUMBERS, Fraction(1, 5), 2, [[1, 3, 4], [2, 3]], Fraction(1, 6)),
        (NUMBERS, Fraction(1, 10), 2, [[1, 2, 3, 3, 4]], Fraction(0)),
    ],
    ids=["5.7 t=1/5", "5.7 t=1/10", "5.7 size 2", "5.7 numbers t=1/5", "5.7 numbers t=1/10"],
)
def test_5_7_t_closeness(
    table: Table, t: Fraction, least: int, buckets: list[Any], worst: Fraction
) -> None:
    attribute = table.attributes[0]
    cells = cases.cells(table, attribute.name)
    found = close_buckets(cells, attribute, t, least)
    held = sorted(sorted(cells[key] for key in bucket) for bucket in found)
    assert held == sorted(list(bucket) for bucket in buckets)
    apart = [distance([cells[k] for k in b], cells.values(), attribute) for b in found]
    assert max(apart) == worst
    r = released(table, {frozenset(cells): "b"}, {0: found})
    assert v6(r, 0, t) == []
    assert v6(r, 0, worst - Fraction(1, 1000)) != [] or worst == 0


def test_5_7_fewer_than_min_size() -> None:
    with pytest.raises(Refused, match="5 sensitive values, min_size is 6"):
        close_buckets(cases.cells(NUMBERS, "x"), numeric("x"), Fraction(1, 5), 6)


def test_5_10_residue_of_anatomy() -> None:
    found = anatomy(dict(enumerate("aaabbcc", 1)), nominal("x"), 2)
    assert found == [frozenset(b) for b in ({1, 4, 7}, {2, 6}, {3, 5})]
    found = anatomy(dict(enumerate("aabbc", 1)), nominal("x"), 2)
    assert found == [frozenset(b) for b in ({1, 3, 5}, {2, 4})]


@pytest.mark.parametrize("assign", ["deal", "m_invariance"], ids="5.10 {}".format)
def test_5_10_proximity(assign: Any) -> None:
    salary = cases.SALARIES.attributes[0]
    cells = cases.cells(cases.SALARIES, "salary")
    counts = histogram(cells.values(), salary)

    def parts(least: int) -> int:
        try:
            return len(leaves(counts, 2, wide(2, least, assign)))
        except Refused:
            return 0

    expected = [2, 2, 1, 1, 0] if assign == "deal" else [2, 2, 0, 0, 0]
    assert [parts(least) for least in (1, 10, 11, 30, 31)] == expected
    found = diverse_buckets(cells, salary, 2, assign=assign, accepted=wide(2, 10, assign))
    r = released(cases.SALARIES, {frozenset(cells): "b"}, {0: found})
    assert v8(r, 0, 10) == []
    assert v8(r, 0, 21) != []


def test_section_1_aligned() -> None:
    found = aligned_buckets(
        cases.LINKED.values, cases.LINKED.attributes, [2, 2], lambda _, key: key
    )
    assert set(found) == cases.LINKED_ALIGNED


def test_3_4_every_bucket_has_l_to_2l_less_1() -> None:
    rng = random.Random(1)
    checked = 0
    for _ in range(1500):
        counts = [(v, rng.randint(1, 12)) for v in range(rng.randint(2, 9))]
        l = rng.randint(2, 6)  # noqa: E741
        if not eligible(counts, l):
            continue
        checked += 1
        for leaf in leaves(counts, l):
            plan = segments(leaf, l)
            assert all(l <= len(signature) <= 2 * l - 1 for _, signature in plan)
            given = Counter({v: 0 for v, _ in leaf})
            for alpha, signature in plan:
                given.update(dict.fromkeys(signature, alpha))
            assert given == Counter(dict(leaf))
            for bucket in dealt_values(leaf, total(leaf) // l):
                assert len(set(bucket)) == len(bucket)
                assert l <= len(bucket) <= 2 * l - 1
    assert checked > 500
