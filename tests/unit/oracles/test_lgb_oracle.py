"""The oracles of local generalization and bucketization against numbers worked out by hand.

Identifiers number the examples.
"""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from tests.support.oracles import lgb
from tests.support.oracles.lgb import Extent, Refused, Table, nominal, numeric, tree
from tests.support.oracles.lgb_buckets import (
    anatomy,
    diverse_buckets,
    histogram,
    leaves,
)
from tests.support.oracles.lgb_groups import (
    Greedy,
    Rows,
    ancestor,
    discernibility,
    mdp,
    ncp,
    paper_loss,
)
from tests.support.oracles.lgb_release import (
    Closeness,
    Diversity,
    Outcome,
    bound,
    driver,
    element,
    greedy,
    matching,
    posterior,
    publish,
    v1,
    v2,
    v3,
    v4,
    v5,
    v6,
    v7,
)
from tests.support.sources import lgb_cases as cases
from tests.support.sources.lgb_cases import sets

PAPER_PRINCIPLES = {name: Diversity(2) for name in ("age", "zip", "disease")}
GROUPINGS = {"mdp": mdp, "ncp": greedy(), "ncp_fill": greedy(small="fill")}


@pytest.mark.parametrize("grouping", GROUPINGS.values(), ids=GROUPINGS)
def test_5_1_groups_and_figures(grouping: Any) -> None:
    assert {form: set(keys) for form, keys in lgb.partition(cases.PAPER).items()} == {
        "ggbb": {1001, 1002},
        "gggb": {1003, 1006},
        "gbgb": {1004, 1005, 1007, 1008},
    }
    found = driver(cases.PAPER, 2, PAPER_PRINCIPLES, grouping)
    assert set(found.groups) == cases.PAPER_GROUPS
    assert discernibility(found.groups) == 16
    assert [found.extents[a].width for a in (1, 2)] == [23, 54]
    lost = ncp(cases.PAPER, found.extents, found.groups)
    assert (lost.ncp, lost.ratio) == (Fraction(854, 621), Fraction(427, 5589))


def test_5_1_buckets() -> None:
    found = driver(cases.PAPER, 2, PAPER_PRINCIPLES).buckets
    assert list(found[1]) == [frozenset({1004, 1005}), frozenset({1007, 1008})]
    assert list(found[2]) == [frozenset({1001, 1002})]
    expected = [{1002, 1003}, {1007, 1008}, {1001, 1006}, {1004, 1005}]
    assert list(found[3]) == [frozenset(bucket) for bucket in expected]
    parts = leaves(histogram(cases.cells(cases.PAPER, "disease").values(), nominal("disease")), 2)
    assert parts == [
        [("bronchitis", 2), ("dyspepsia", 2)],
        [("flu", 2), ("gastritis", 1), ("pneumonia", 1)],
    ]


def test_5_1_verified() -> None:
    r = driver(cases.PAPER, 2, PAPER_PRINCIPLES).release(cases.PAPER)
    assert (v1(r), v2(r, 2), v3(r), v4(r)) == ([], [], [], [])
    assert [v5(r, a, 2) for a in (1, 2, 3)] == [[], [], []]
    assert [max(v7(r, a).values()) for a in (1, 2, 3)] == [
        Fraction(1, 4),
        Fraction(1, 2),
        Fraction(1, 4),
    ]


BY_HAND = sets("1001,1002 1003,1004 1005,1006 1007,1008")
"""Buckets of disease as the paper has them."""


def test_5_1_what_is_learned_of_mark() -> None:
    groups = driver(cases.PAPER, 2, PAPER_PRINCIPLES).groups
    ages = [frozenset({1004, 1005}), frozenset({1007, 1008})]
    diseases = sorted(BY_HAND, key=min)
    zips = [frozenset({1001, 1002})]
    found = Outcome(groups, {1: ages, 2: zips, 3: diseases})
    r = found.release(cases.PAPER)
    mark = matching(r, "gbgb", ("M", None, 3271, None))
    assert posterior(r, 1, mark) == {
        24: Fraction(1, 4),
        29: Fraction(1, 4),
        34: Fraction(1, 4),
        31: Fraction(1, 4),
    }
    assert posterior(r, 3, mark) == {
        "dyspepsia": Fraction(1, 2),
        "pneumonia": Fraction(1, 4),
        "bronchitis": Fraction(1, 4),
    }
    other = matching(r, "gggb", ("M", 45, 3242, None))
    assert posterior(r, 3, other)["gastritis"] == Fraction(1, 4)
    assert bound(r, 3, other) == Fraction(1, 2)


def test_5_1_baselines() -> None:
    plain = cases.PAPER.ignoring_flags()
    table = Table(plain.attributes[:3], {k: v[:3] for k, v in plain.values.items()}, plain.hidden)
    found = driver(table, 2, {})
    assert set(found.groups) == sets("1001,1002 1005,1007 1004,1008 1003,1006")
    assert discernibility(found.groups) == 16
    assert ncp(table, found.extents, found.groups).ncp == Fraction(5578, 2047)
    diseases = cases.cells(cases.PAPER, "disease")
    expected = sets("1002,1003 1001,1008 1005,1007 1004,1006")
    assert set(anatomy(diseases, nominal("disease"), 2)) == expected


SMALL_PRINCIPLES = {"age": Diversity(2), "city": Diversity(2)}


@pytest.mark.parametrize(
    ("handling", "groups", "measure", "lost", "ratio"),
    [
        ("suppress", "1,2,3,4 5,6,7 8,9,10", 73, Fraction(322, 15), 0.692473),
        ("merge", "1,2,3,4 5,6,7 8,9,10 11,12,13", 43, Fraction(352, 15), 0.711111),
    ],
    ids=["5.5 suppress", "5.5 merge"],
)
def test_5_5_small_subsets(
    handling: Any, groups: str, measure: int, lost: Fraction, ratio: float
) -> None:
    found = driver(cases.SMALL, 3, SMALL_PRINCIPLES, small_subsets=handling)
    assert set(found.groups) == sets(groups)
    dropped = len(found.dropped)
    assert dropped == (3 if handling == "suppress" else 0)
    assert discernibility(found.groups, dropped, 13) == measure
    assert found.extents[0].width == 20
    figures = ncp(cases.SMALL, found.extents, found.groups, found.dropped)
    assert figures.ncp == lost
    assert float(figures.ratio or 0) == pytest.approx(ratio, abs=5e-7)
    r = found.release(cases.SMALL)
    assert {v for _, v, _ in r.values[0]} == {22, 27, 33}
    assert {v for _, v, _ in r.values.get(1, ())} == (set("ABC") if handling == "merge" else set())
    rows = publish(cases.SMALL, found.groups, found.buckets)
    assert rows[1].shown == ((20, 31, "n"), frozenset("AB"), frozenset("fm"))
    assert found.groups.get(frozenset({11, 12, 13})) == ("wbg" if handling == "merge" else None)
    assert (v1(r), v2(r, 3), v3(r), v4(r), v5(r, 0, 2), v5(r, 1, 2)) == ([], [], [], [], [], [])


def test_5_5_refused() -> None:
    parts = lgb.partition(cases.SMALL)
    for handling, limit in (("suppress", Fraction(1, 20)), ("refuse", Fraction(1))):
        with pytest.raises(Refused, match="3 of 13 rows"):
            lgb.small_subsets(parts, 3, handling, limit)  # pyright: ignore[reportArgumentType]
    with pytest.raises(Refused, match="only 13 rows"):
        lgb.small_subsets(parts, 14, "merge")


def test_5_6_null_and_ties() -> None:
    found = driver(cases.TIES, 2, {})
    assert set(found.groups) == sets("1,2,6 3,7 4,5,8")
    rows = publish(cases.TIES, found.groups, found.buckets)
    assert rows[1].shown == ((1, 1, "s"), frozenset("u"))
    assert rows[3].shown == ((1, 1, "s"), frozenset("vw"))
    assert rows[4].shown == ((2, 9, "n"), frozenset("vw"))
    assert discernibility(found.groups) == 22
    assert ncp(cases.TIES, found.extents, found.groups).ncp == Fraction(263, 24)
    assert (found.extents[0].width, found.extents[1].size) == (8, 3)


@pytest.mark.parametrize("grouping", GROUPINGS.values(), ids=GROUPINGS)
def test_5_6_rows_that_are_alike(grouping: Any) -> None:
    table = cases.read((numeric("x"), nominal("y")), "1 4 u\n2 4 u\n3 4 u\n4 4 u")
    found = driver(table, 2, {}, grouping)
    assert (discernibility(found.groups), ncp(table, found.extents, found.groups).ncp) == (16, 0)


def test_5_6_sensitive_null() -> None:
    disease = nominal("disease")
    table = cases.of_column(disease, "flu", None, "flu", "cold", None, "cold")
    cells = cases.cells(table, "disease")
    assert len(leaves(histogram(cells.values(), disease), 2)) == 1
    assert set(diverse_buckets(cells, disease, 2)) == sets("4,1 6,2 3,5")
    assert [lgb.flagged(flag) for flag in (True, False, None)] == [True, False, True]


def grouping_of(method: str, small: str) -> Any:
    return mdp if method == "mdp" else greedy(method, small)


@pytest.mark.parametrize(
    ("method", "small", "groups", "measure", "lost"),
    [
        ("mdp", "", "1,2 3,4 5,6,7", 17, Fraction(283, 99)),
        ("grow", "stop", "1,2,3,4,5,6,7", 49, Fraction(7)),
        ("seeds", "stop", "1,2,3,4,5,6,7", 49, Fraction(7)),
        ("grow", "fill", "1,2,3 4,5 6,7", 17, Fraction(184, 99)),
        ("seeds", "fill", "1,2,3 4,5 6,7", 17, Fraction(184, 99)),
    ],
    ids=lambda value: f"5.8 {value}" if value in ("mdp", "grow", "seeds") else "",
)
def test_5_8_outlier(method: str, small: str, groups: str, measure: int, lost: Fraction) -> None:
    found = driver(cases.OUTLIER, 2, {}, grouping_of(method, small))
    assert set(found.groups) == sets(groups)
    assert discernibility(found.groups) == measure
    assert ncp(cases.OUTLIER, found.extents, found.groups).ncp == lost


@pytest.mark.parametrize(
    ("case", "expected"),
    cases.TOWN_GROUPS.items(),
    ids=[f"5.8 k={k} {method} {small}" for k, method, small in cases.TOWN_GROUPS],
)
def test_5_8_variants(case: tuple[int, str, str], expected: Any) -> None:
    k, method, small = case
    found = driver(cases.TOWNS, k, {}, grouping_of(method, small))
    lost = ncp(cases.TOWNS, found.extents, found.groups).ncp
    assert (set(found.groups), discernibility(found.groups), lost) == expected


def test_5_8_first_division() -> None:
    notes: list[Any] = []
    rows = Rows(cases.TOWNS, lgb.extents(cases.TOWNS, lgb.partition(cases.TOWNS)), "gg")

    def note(cell: Any, one: Fraction, other: Fraction, side: int) -> None:
        notes.append((cell[0], round(float(one), 4), round(float(other), 4), side + 1))

    Greedy(rows, 2, note=note).groups(cases.TOWNS.values)
    assert notes[:8] == [
        (2, 0.0444, 3.2889, 1),
        (3, 2.1556, 1.8667, 2),
        (4, 2.8889, 0.9333, 2),
        (5, 2.9556, 3.6, 1),
        (6, 1.1778, 3.6, 1),
        (7, 1.2667, 3.6, 1),
        (8, 3.8889, 3.6, 2),
        (9, 4.1556, 1.6, 2),
    ]


EUROPE = {
    "Paris": "FR",
    "Lyon": "FR",
    "Rome": "IT",
    "Milan": "IT",
    "Turin": "IT",
    "FR": "EU",
    "IT": "EU",
}


@pytest.mark.parametrize(
    ("values", "node", "lost"),
    [
        (["Paris"], "Paris", Fraction(0)),
        (["Paris", "Lyon"], "FR", Fraction(2, 5)),
        (["Rome", "Turin"], "IT", Fraction(3, 5)),
        (["Lyon", "Rome"], "EU", Fraction(1)),
        (["Paris", None], "EU", Fraction(1)),
    ],
    ids=lambda value: f"5.10 {value}" if isinstance(value, list) else "",
)
def test_5_10_hierarchy(values: list[Any], node: str, lost: Fraction) -> None:
    city = tree("city", EUROPE)
    assert (ancestor(city, values), paper_loss(city, values, Extent())) == (node, lost)
    assert element(city, values) == node


def test_5_10_without_hierarchy() -> None:
    assert paper_loss(nominal("city"), ["Paris", "Rome"], Extent(size=5)) == Fraction(2, 5)


def random_table(rng: random.Random) -> Table:
    attributes = (numeric("x"), nominal("y"), tree("z", EUROPE), nominal("s"))
    values, hidden = {}, {}
    for key in range(1, rng.randint(8, 40)):
        cities = ["Paris", "Lyon", "Rome", "Milan", "Turin", None]
        values[key] = (
            rng.choice([*range(12), None]),
            rng.choice("abc"),
            rng.choice(cities),
            rng.choice("opqrst"),
        )
        hidden[key] = frozenset({3, *[a for a in range(2) if rng.random() < 0.3]})
    return Table(attributes, values, hidden)


@pytest.mark.parametrize("grouping", GROUPINGS.values(), ids=GROUPINGS)
@pytest.mark.slow
def test_random_tables_hold_what_is_promised(grouping: Any) -> None:
    rng = random.Random(2)
    principles = {"x": Diversity(2, "deal"), "y": Closeness(Fraction(1, 2), 2), "s": Diversity(2)}
    checked = 0
    for _ in range(120):
        table, k = random_table(rng), rng.randint(2, 4)
        try:
            found = driver(
                table, k, principles, grouping, small_subsets=rng.choice(["suppress", "merge"])
            )
        except Refused:
            continue
        checked += 1
        r = found.release(table)
        assert (v1(r), v2(r, k), v3(r), v4(r)) == ([], [], [], [])
        assert (v5(r, 0, 2), v5(r, 3, 2), v6(r, 1, Fraction(1, 2))) == ([], [], [])
        assert max(v7(r, 3).values(), default=0) <= Fraction(1, 2)
        keys = [key for keys in found.groups for key in keys]
        assert sorted([*keys, *found.dropped]) == sorted(table.values)
    assert checked > 40


def test_predicates_notice_what_is_wrong() -> None:
    r = driver(cases.PAPER, 2, PAPER_PRINCIPLES).release(cases.PAPER)
    one, *others = r.rows
    element_ = (1, 2, "n")

    def but(**changes: Any) -> Any:
        row = type(one)(**{**one.__dict__, **changes})
        return type(r)(r.attributes, (row, *others), r.values)

    assert v1(but(shown=(one.shown[0], element_, None, None))) == [one.group]
    assert v2(but(group=9), 2) == sorted({one.group, 9})
    for wrong in (
        but(buckets=(None, 1, *one.buckets[2:])),
        but(buckets=(*one.buckets[:3], None)),
        but(shown=(*one.shown[:2], element_, None)),
        but(shown=(None, *one.shown[1:])),
        but(form="xgbb"),
    ):
        assert v3(wrong) != []
    assert v4(but(buckets=(None, None, 7, 3))) == [("zip", 1), ("zip", 7)]
    twice = {**r.values, 2: ((1, 3201, 1), (1, 3201, 1))}
    assert v5(type(r)(r.attributes, r.rows, twice), 2, 2) == [1]
    assert v5(r, 2, 3) == [1]
