"""Releases of slamsa whose people keep their sets of vectors, against the definition."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pytest

from pganon.plan.explain import explain
from pganon.privacy.base import KEPT_VECTORS
from pganon.resolved.invariance import OUT
from pganon.run.context import plan_release
from pganon.run.release import run_release
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.oracles.anatomy import eligible
from tests.support.oracles.invariance import (
    Person,
    is_invariant,
    keeps_vectors,
    vector_posteriors,
)
from tests.support.sources.invariant import Kept, Vectors, declared_vectors

pytestmark = pytest.mark.primary_server_only

TWO = ("s", "u")


@pytest.mark.slow
def test_by_hand(db: Database) -> None:
    """Two sets of vectors; who leaves is replaced by who has the same vector, else by nobody."""
    kept = Kept(db, columns=TWO)
    people: Vectors = {1: ("flu", "x"), 2: ("cold", "y"), 3: ("HIV", "v"), 4: ("gout", "w")}
    first = kept.release(people)
    assert sorted(sorted(group.values) for group in first.values()) in (
        [["HIV", "flu"], ["cold", "gout"]],
        [["HIV", "gout"], ["cold", "flu"]],
        [["HIV", "cold"], ["flu", "gout"]],
    )
    sets = keeps_vectors(kept.everything, people, 2)
    assert sets is not None
    (partner,) = (p for p in (2, 3, 4) if sets[p] == sets[1])
    (other, another) = (p for p in (2, 3, 4) if p != partner)
    # 5 has the vector of the partner, 6 one value of it.
    people[5] = people[partner]
    people[6] = (people[partner][0], "new")
    people[7] = ("ulcer", "old")
    version = kept.release({p: people[p] for p in (1, 5, 6, 7, other)})
    groups = {frozenset(g.people): g for g in version.values()}
    assert groups.keys() == {frozenset({1, 5}), frozenset({6, 7}), frozenset({other})}
    alone = groups[frozenset({other})]
    assert alone.counterfeits == 1
    assert {frozenset(v) for v in alone.columns} == {
        frozenset(v) for v in zip(people[other], people[another], strict=True)
    }


@pytest.mark.slow
@pytest.mark.parametrize("tables", [1, 2])
def test_posteriors_of_all_versions(db: Database, tables: int) -> None:
    """For who believes anything of which values go together."""
    kept = Kept(db, l=3, columns=TWO)
    method = {"method": {"sensitive_tables": tables}}
    people: Vectors = {n: ("abc"[n % 3], "xyz"[n % 3]) for n in range(6)}
    everybody: Vectors = people | {7: ("b", "y"), 8: ("a", "z"), 9: ("d", "x")}
    kept.release(people, **method)
    kept.release({p: everybody[p] for p in (0, 2, 4, 7, 8)}, **method)
    kept.release({p: everybody[p] for p in (0, 1, 7, 9)}, **method)
    assert any(group.counterfeits for group in kept.everything[-1])
    sets = keeps_vectors(kept.everything, everybody, 3)
    assert sets is not None
    rng = random.Random(1)
    weights = {vectors: Fraction(rng.randint(1, 9)) for vectors in [*sets.values()]}
    for columns in vector_posteriors(
        kept.everything, lambda vectors: weights.setdefault(vectors, Fraction(rng.randint(1, 9)))
    ).values():
        assert all(set(found.values()) == {Fraction(1, 3)} for found in columns)


@pytest.mark.slow
def test_the_order_of_columns_does_not_matter(db: Database) -> None:
    kept = Kept(db, columns=TWO)
    people: Vectors = {1: ("a", "x"), 2: ("b", "y"), 3: ("a", "x"), 4: ("b", "y")}
    kept.release(people)
    kept.columns = ("u", "s")
    kept.release({1: ("x", "a"), 4: ("y", "b")})
    (group,) = kept.versions[-1].values()
    assert [set(values) for values in group.columns] == [{"x", "y"}, {"a", "b"}]


@pytest.mark.slow
def test_values_that_all_left_are_counterfeits(db: Database) -> None:
    """Of a type whose equal values may look different, and NULL, none gives itself away."""
    kept = Kept(db, l=3, kind="numeric", columns=TWO)
    kept.fill({1: ("1.00", "7.0"), 2: ("2.0", None), 3: (None, "9.50")})
    kept.release()
    kept.fill({2: ("2.0", None)})
    (group,) = kept.release().values()
    assert group.people == {2}
    assert [set(values) for values in group.columns] == [{1, 2, None}, {7, None, 9.5}]
    shown = db.admin.execute(
        "SELECT s::text FROM published.r_t_st1 UNION ALL SELECT u::text FROM published.r_t_st2"
    ).fetchall()
    wanted = [("1",), ("2",), ("7",), ("9.5",), (None,), (None,)]
    assert sorted(shown, key=repr) == sorted(wanted, key=repr)


@pytest.mark.slow
@pytest.mark.parametrize("sliced", [False, True])
def test_the_view_adds_up_to_the_records(db: Database, sliced: bool) -> None:
    """Values of nobody take their share of those of a group, and none of its records."""
    kept = Kept(db, l=3, columns=TWO)
    people: Vectors = {n: ("abc"[n % 3], "xyz"[n % 3]) for n in range(6)}
    kept.release(people, sliced=sliced)
    kept.release({n: people[n] for n in (0, 1, 3, 4)}, sliced=sliced)
    assert sum(group.counterfeits for group in kept.versions[-1].values()) == 2
    weight = "expected" if sliced else "probability"
    rows = db.admin.execute(
        f"SELECT s, u, round(sum({weight}), 9) FROM published.r_t GROUP BY 1, 2 ORDER BY 1, 2"
    ).fetchall()
    assert [(s, u) for s, u, _ in rows] == [(s, u) for s in "abc" for u in "xyz"]
    assert all(abs(float(share) - 4 / 9) < 1e-6 for *_, share in rows)


@pytest.mark.slow
def test_who_finds_no_group_is_out_for_good(db: Database) -> None:
    """Of three columns eligible newcomers may have no groups: each two of these share a value."""
    kept = Kept(db, columns=("s", "u", "w"))
    people: Vectors = {1: ("a", "x", "k"), 2: ("b", "y", "m")}
    kept.release(people)
    new: Vectors = {
        3: ("c", "v", "1"),
        4: ("c", "w", "2"),
        5: ("d", "v", "2"),
        6: ("d", "w", "1"),
    }
    assert all(eligible(list(values), 2) for values in zip(*new.values(), strict=True))
    kept.release(people | new)
    assert kept.placed == {1, 2}
    assert kept.results[-1].suppressed == 4
    kept.release(people | new | {7: ("c", "v", "1"), 8: ("d", "w", "2")})
    assert kept.placed == {1, 2, 7, 8}
    assert kept.remembered[OUT] == 4
    kept.fill(people | {9: ("c", "v", "1"), 10: ("c", "w", "2")})
    with driver.refused("suppression_limit"):
        kept.release(suppression_limit=0)


@pytest.mark.slow
def test_nobody_left_in_new_groups(db: Database) -> None:
    """There are no blocks then."""
    kept = Kept(db, columns=TWO)
    people: Vectors = {n: ("ab"[n % 2], "xy"[n % 2]) for n in range(8)}
    kept.release(people)
    kept.release(people)
    assert kept.placed == people.keys()
    assert not any(group.counterfeits for group in kept.versions[-1].values())


def test_the_guarantee_says_against_whom_it_holds(db: Database) -> None:
    kept = Kept(db, columns=TWO)
    kept.release({n: ("ab"[n % 2], "xy"[n % 2]) for n in range(4)})
    rows = db.admin.execute(
        "SELECT details ->> 'column', over_versions FROM pganon.guarantees"
    ).fetchall()
    assert dict(rows) == {"s": KEPT_VECTORS, "u": KEPT_VECTORS}


@pytest.mark.slow
def test_the_largest_l_is_that_of_all_columns(db: Database) -> None:
    """Values of a bucket are as many in one column as in the other."""
    kept = Kept(db, columns=TWO)
    kept.fill({n: ("ab"[n % 2], "vwxyz"[n % 5]) for n in range(10)})
    models = [
        {"model": "slicing_l_diversity", "column": c, "l": n} for c, n in (("s", 2), ("u", 3))
    ]
    with driver.refused("infeasible") as caught:
        kept.release(privacy=models)
    assert "the largest l is that of all columns" in str(caught[0])
    kept.fill({n: ("abc"[n % 3], "vwxyz"[n % 5]) for n in range(15)})
    kept.release(privacy=models)
    assert all(len(g.values) >= 3 for g in kept.versions[-1].values())


@pytest.mark.slow
def test_the_plan_of_a_later_version(db: Database) -> None:
    """It lists the steps of the run, but that the run commits to newcomers."""
    kept = Kept(db, columns=TWO)
    people: Vectors = {n: ("abc"[n % 3], "xyz"[n % 3]) for n in range(9)}
    kept.release(people)
    kept.fill(people | {20: ("d", "v"), 21: ("e", "w")})
    loaded = driver.loaded(kept.declared())
    planned = [f"{s.phase}.{s.step}" for s in explain(plan_release(loaded, dsn=db.dsn("steward")))]
    assert {f"partition.{step}" for step in ("curved", "vectors", "taken", "listed")} <= {*planned}
    assert "partition.trim.eligibility" not in planned
    ran = faults.steps_of(db.dsn("steward"), loaded, jobs=1)
    assert {"guard.completed", "guard.value sets of groups"} <= {*planned}
    assert [step for step in ran if step not in planned] == []


@pytest.mark.parametrize("division", ["eligible", "public"])
def test_a_bucket_that_no_cut_divides(db: Database, division: str) -> None:
    """Seven people of whom two have the same value twice: the median tree leaves one bucket."""
    kept = Kept(db, l=3, columns=TWO)
    rows = ["aa", "cc", "ad", "ba", "dd", "dc", "bb"]
    kept.release({n: tuple(row) for n, row in enumerate(rows)}, method={"division": division})
    assert sorted(len(group.people) for group in kept.versions[-1].values()) == [3, 4]


@pytest.mark.slow
def test_of_one_column_the_sets_are_those_of_anatomy(db: Database) -> None:
    """Whichever method made the version before."""
    kept = Kept(db)
    people: dict[Person, Any] = {1: "a", 2: "b", 3: "a", 4: "b"}
    kept.release(people)
    slamsa = declared_vectors(columns=("s",), release="r_slamsa")
    for released, document in (((1, 4), slamsa), ((1, 2, 3), kept.declared())):
        kept.fill({n: people[n] for n in released})
        run_release(driver.loaded(document), dsn=db.dsn("steward"))
        kept.versions.append(kept.published(document["release"]))
        assert kept.placed == set(released)
    assert is_invariant(kept.everything, 2)
