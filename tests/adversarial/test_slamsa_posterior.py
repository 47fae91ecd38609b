"""Attack: know everybody's quasi-identifiers and count the worlds that a release leaves."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from pganon.loading import load_policy
from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused
from tests.support.oracles.sliced import Published, Rule, columns, sizes, v1, v2, v3, v4, v5, v8
from tests.support.oracles.worlds import Adversary, Shares, knows, of_person, posteriors
from tests.support.sources import registry, stays
from tests.support.sources.stays import METHODS, QUASI, SENSITIVE, build, published, release

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

WOMEN = Rule(lambda person: person["sex"] == "F", "disease", "gout")
EXCLUSION = {"when": {"sex": "F"}, "never": {"disease": "gout"}}
DECLARED = (*QUASI, "nights", *SENSITIVE)


def most(found: list[Shares]) -> Fraction:
    assert all(found)
    return max(p for shares in found for p in shares.values())


def sound(p: Published, l: int, records: int) -> None:  # noqa: E741
    """What the release promises, of every bucket; none is exempt and no record is left over."""
    assert [*v1(p), *v2(p, l), *v3(p, 1, l), *v4(p), *v8(p, DECLARED)] == []
    assert [sizes(relation).total() for _, relation in p.named] == [records] * len(p.named)


def occurring(table: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], int]:
    """How often vectors of sensitive values occur."""
    return Counter(row[4:] for row in table)


# -- aligned buckets ----------------------------------------------------------------------------


@pytest.mark.parametrize("l", [2, 3])
def test_no_posterior_exceeds_one_in_l(db: Database, l: int) -> None:  # noqa: E741
    """Whoever knows nothing, which vectors there are, how often, and who cannot have what."""
    # Seven diseases, drugs and symptoms in turn, which meet in some of all possible ways.
    women, men = "abcdefg", ["a", "b", "c", "d", "gout", "e", None]
    table = [
        (
            n,
            f"Z{n % 5}",
            "FFM"[n % 3],
            1,
            (men if n % 3 == 2 else women)[n % 7],
            "uvwxyz0"[n * 3 % 7],
            str(n // 2 % 7),
        )
        for n in range(48)
    ]
    build(db, table)
    release(db, privacy=stays.requirement(l), exclusions=[EXCLUSION])
    p = published(db.connect("analyst"))
    sound(p, l, len(table))
    assert v5(p, [WOMEN]) == []
    nothing = {name: posteriors(p, name) for name in SENSITIVE}
    exact = occurring(table)
    for adversary in (
        Adversary(SENSITIVE, exact),
        Adversary(rules=[WOMEN]),
        replace(knows(SENSITIVE, exact), rules=[WOMEN]),
    ):
        for name in SENSITIVE:
            # Not only bounded: whatever is known, nothing is learnt beyond the frequencies.
            assert posteriors(p, name, adversary) == nothing[name]
    assert max(map(most, nothing.values())) == Fraction(1, l)


def test_the_join_says_no_more_than_its_parts(db: Database) -> None:
    """What a record may have in the view adds up to the posteriors of every single table."""
    table = [(n, *row[1:]) for n, row in enumerate(stays.rows(50, seed=3))]
    build(db, table)
    for name in ("aligned", "independent"):
        release(db, options=METHODS[name], republication="allow")
        analyst = db.connect("analyst")
        p = published(analyst)
        learned = {
            (row["age"], column): shares
            for column in SENSITIVE
            for row, shares in zip(p.qits[-1], posteriors(p, column), strict=True)
        }
        found: dict[Any, dict[Any, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
        for row in stays.shown(analyst, "stays"):
            probability = Fraction(row["probability"]).limit_denominator(9999)
            assert probability <= Fraction(1, 4)  # two tables, each with at most 1/2
            for column in SENSITIVE:
                found[row["age"], column][row[column]] += probability
        assert found == learned


def people(ages: str, diseases: str, drugs: str) -> list[tuple[Any, ...]]:
    return [
        (ord(age), "Z", "F", 1, None if one == "-" else one, two, str(n % 4))
        for n, (age, one, two) in enumerate(zip(ages, diseases, drugs, strict=True))
    ]


TINY = {
    "all alike": people("aaaaaaaa", "fcfcuuga", "abcdabcd"),
    "a rare value": people("abcdefgh", "fffcccxu", "aabbccdd"),
    "NULL is frequent": people("abcdef", "---fcu", "abcabc"),
    "as frequent as allowed": people("abcdefgh", "ffffcccc", "abababab"),
    "one bucket": people("abc", "fcu", "abc"),
}


def test_small_tables(db: Database) -> None:
    for name, table in TINY.items():
        build(db, table)
        release(db, republication="allow")
        p = published(db.connect("analyst"))
        sound(p, 2, len(table))
        known = knows(SENSITIVE, occurring(table))
        for column in SENSITIVE:
            assert most(posteriors(p, column)) <= Fraction(1, 2), name
            assert most(posteriors(p, column, known)) <= Fraction(1, 2), name
        if name == "as frequent as allowed":
            assert any(row["count"] > 1 for row in p.sts[0]) or len(sizes(p.sts[0])) == 4
        if name == "a rare value":
            (rare,) = (row["group_id"] for row in p.sts[0] if row["disease"] == "x")
            shares = [
                found["x"]
                for row, found in zip(p.qits[0], posteriors(p, "disease"), strict=True)
                if row["group_id"] == rare
            ]
            assert shares == [Fraction(1, len(shares))] * len(shares)


def test_a_victim_with_doubles(db: Database) -> None:
    """Who matches several records is in any of their buckets: a mean of posteriors."""
    table = people("aaaaabbb", "fcfcuuga", "abcdabcd")
    build(db, table)
    release(db)
    p = published(db.connect("analyst"))
    for column in SENSITIVE:
        learned = posteriors(p, column)
        for age in "ab":
            mine = [
                shares
                for row, shares in zip(p.qits[0], learned, strict=True)
                if row["age"] == ord(age)
            ]
            for value in {row[column] for st in p.sts if column in columns(st) for row in st}:
                assert sum(one.get(value, 0) for one in mine) / Fraction(len(mine)) <= 0.5


def test_sliced_quasi_identifiers(db: Database) -> None:
    """The same for whom the parts of a sliced QIT leave in doubt, whoever else is known."""
    rng = random.Random(2)
    table = [
        (n, f"Z{n % 3}", "FM"[n % 2], 1, *rng.sample("abcd", 1), rng.choice("uvw"), "yz"[n % 2])
        for n in range(6)
    ]
    build(db, table)
    persons = [dict(zip(QUASI, row[:3], strict=True)) for row in table]
    for name in ("sliced", "independent, sliced"):
        release(db, options=METHODS[name], republication="allow")
        p = published(db.connect("analyst"))
        sound(p, 2, len(table))
        knowing = [Adversary(population=persons)]
        if name == "sliced":
            exact = occurring(table)
            knowing.append(Adversary(SENSITIVE, exact, population=persons))
        for adversary in knowing:
            for person in persons[:3]:
                found = of_person(p, person, "disease", adversary)
                assert most([found]) <= Fraction(1, 2), name


# -- independent buckets ------------------------------------------------------------------------


def test_independent_buckets_withstand_who_knows_nothing(db: Database) -> None:
    table = [(n, *row[1:]) for n, row in enumerate(stays.rows(60, seed=5))]
    build(db, table)
    for l in (2, 3):  # noqa: E741
        options = METHODS["independent"]
        release(db, privacy=stays.requirement(l), options=options, republication="allow")
        p = published(db.connect("analyst"))
        sound(p, l, len(table))
        for column in SENSITIVE:
            assert most(posteriors(p, column)) <= Fraction(1, l)


def pairs(db: Database, *names: str, l: int = 2, **options: Any) -> Published:  # noqa: E741
    """The registry with two of its sensitive columns, each in a table with buckets of its own."""
    declared = registry.document(
        privacy=stays.requirement(l),
        method={
            "name": "slamsa",
            "profile": "independent",
            "sensitive_tables": [[name] for name in names],
            **options,
        },
        republication="allow",
    )
    for table in registry.SENSITIVE:
        for name in set(table) - set(names):
            del declared["columns"][name]
    faults.run(db.dsn(), load_policy(json.dumps(declared)))
    return published(db.connect("analyst"), "registry")


def test_columns_that_tell_of_each_other_are_refused(db: Database) -> None:
    """Every cancer has a symptom of its own: separate buckets would disclose both."""
    registry.build(db)
    with refused("associated"):
        pairs(db, "cancer", "symptom")
    with refused("associated"):
        pairs(db, "cancer", "date")  # no date repeats, so V is 0, but a date determines the rest
    build(db, [(n, "Z", "F", 1, f"c{n}", "u", f"s{n}") for n in range(8)])
    options = {"profile": "independent", "sensitive_tables": [["disease"], ["symptom"]]}
    roles = dict.fromkeys(QUASI, "quasi_identifying") | dict.fromkeys(
        ("disease", "symptom"), "sensitive"
    )
    with refused("associated"):
        release(db, options=options, columns={n: {"role": role} for n, role in roles.items()})
    assert stays.views(db.connect("analyst")) == []


def test_the_refusal_is_no_guarantee(db: Database) -> None:
    """A limit: V corrected for bias is 0 in a few records, but who knows which symptoms go with
    which treatments learns from separate buckets. From shared ones nothing."""
    registry.build(db)
    names = ("symptom", "treatment")
    known = knows(names, {tuple(row[name] for name in names) for row in registry.ROWS})
    apart = pairs(db, *names)
    assert v2(apart, 2) == []
    assert most(posteriors(apart, "treatment")) <= Fraction(1, 2)
    assert most(posteriors(apart, "treatment", known)) > Fraction(1, 2)
    together = pairs(db, *names, profile="aligned")
    assert most(posteriors(together, "treatment", known)) <= Fraction(1, 2)
