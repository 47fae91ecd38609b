"""Attack: know everybody's quasi-identifiers and count the worlds that a release leaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.oracles.anatomy import blocks, estimate, posteriors, violations
from tests.support.sources import visits
from tests.support.sources.visits import Published, build, published, release, requirement

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]


def publish(db: Database, table: list[tuple[Any, ...]], l: int, **changes: Any) -> Published:  # noqa: E741
    build(db, table)
    release(db, privacy=requirement(l), **changes)
    seen = published(db.connect("analyst"))
    assert violations(seen.qit, seen.st, l) == []
    return seen


def people(ages: str, diseases: str) -> list[tuple[Any, ...]]:
    return [
        (ord(age), "Z", "a", 1, None if d == "-" else d)
        for age, d in zip(ages, diseases, strict=True)
    ]


TINY = {
    "nobody alike": people("abcdefgh", "fcfcuuga"),
    "pairs alike": people("aabbccdd", "fcfcuuga"),
    "all alike": people("aaaaaaaa", "fcfcuuga"),
    "a rare value": people("abcdefg", "fffcccx"),
    "NULL is frequent": people("abcdef", "---fcu"),
    "the most frequent value side by side": people("aaabcdef", "fffucgcg"),
    "as frequent as allowed": people("abcdefgh", "ffffcccc"),
}


def test_no_posterior_exceeds_one_in_l(db: Database) -> None:
    """By all ways to give the values of every group to its records."""
    for name, table in TINY.items():
        seen = publish(db, table, 2, republication="allow")
        learned = posteriors(seen.qit, seen.st)
        assert max(p for one in learned for p in one.values()) <= Fraction(1, 2), name
        # The joined view says the same and no more.
        expected = Counter(
            (number, *row, value, p)
            for (number, row), one in zip(seen.qit, learned, strict=True)
            for value, p in one.items()
        )
        found = Counter((*r[:-1], Fraction(r[-1]).limit_denominator(99)) for r in seen.joined)
        assert found == expected, name


@pytest.mark.parametrize(("division", "highest"), [("public", (1, 2)), ("eligible", (1, 1))])
def test_what_who_computes_the_blocks_learns(
    db: Database, division: str, highest: tuple[int, int]
) -> None:
    """Minimality: nothing by default; with `division: eligible` it is a limit, not a promise.

    Two pieces, five records with flu in the first. Three of their groups lie in it altogether, so
    the second cannot have five; the first must, or the block would have been divided.
    """
    diseases = "fffff" + "ijk" + "abcuvwxy"
    method = {"name": "anatomy", "block_size": 8, "division": division}
    seen = publish(db, people("abcdefghijklmnop", diseases), 2, method=method)
    ages = [row[0] for _, row in seen.qit]

    def as_it_is(world: Sequence[Any]) -> bool:
        line = [value for _, value in sorted(zip(ages, world, strict=True))]
        return len(blocks([line[:8], line[8:]], 2, division)) == 1

    def most(learned: list[dict[Any, Fraction]]) -> Fraction:
        return max(p for one in learned for p in one.values())

    assert most(posteriors(seen.qit, seen.st)) == Fraction(1, 2)
    assert most(posteriors(seen.qit, seen.st, as_it_is)) == Fraction(*highest)


def test_a_victim_with_doubles(db: Database) -> None:
    """Who matches several records is in any of their groups: a mean of posteriors."""
    table = people("aaaaabbb", "fcfcuuga")
    seen = publish(db, table, 2)
    learned = posteriors(seen.qit, seen.st)
    for age in "ab":
        mine = [one for (_, row), one in zip(seen.qit, learned, strict=True) if row[0] == ord(age)]
        for value in "fcuga":
            assert sum(one.get(value, 0) for one in mine) / Fraction(len(mine)) <= Fraction(1, 2)


def test_a_rare_value_is_no_rarer_for_its_owner(db: Database) -> None:
    """Its group is known, and in it all records are alike."""
    table = people("abcdefghijkl", "fffcccuuuggx")
    seen = publish(db, table, 3)
    (number,) = [number for number, value, _ in seen.st if value == "x"]
    size = seen.groups[number].total()
    shown = [row[-1] for row in seen.joined if row[0] == number and row[-2] == "x"]
    assert [Fraction(p).limit_denominator(99) for p in shown] == [Fraction(1, size)] * size
    assert size >= 3


def test_sizes_say_nothing_about_values(db: Database) -> None:
    """Groups have l to 2l - 1 records, whoever they are; none is left over by itself."""
    for size in range(6, 12):
        diseases = "fcugxa" * 2
        seen = publish(db, people("a" * size, diseases[:size]), 3, republication="allow")
        sizes = sorted(counts.total() for counts in seen.groups.values())
        assert len(sizes) == size // 3
        assert sizes[0] >= 3
        assert sizes[-1] <= 5
        assert sizes[-1] - sizes[0] <= 1
        assert all(n == 1 for _, _, n in seen.st)


def test_estimates_from_the_views(db: Database) -> None:
    """The joined view adds up to the estimate of anatomy; so do the two relations."""
    table = visits.rows(120)
    seen = publish(db, table, 3)
    expected, variance = estimate(
        seen.qit, seen.st, lambda r: r[0] is not None and r[0] < 40, lambda v: v == "flu"
    )
    analyst = db.connect("analyst")
    for text in (
        "SELECT sum(probability) FROM published.visits WHERE age < 40 AND disease = 'flu'",
        "SELECT sum(a.n * b.n / s.n) FROM"
        " (SELECT group_id, count(*) AS n FROM published.visits_qit WHERE age < 40 GROUP BY 1) AS b"
        " JOIN (SELECT group_id, sum(count) AS n FROM published.visits_st WHERE disease = 'flu'"
        " GROUP BY 1) AS a USING (group_id)"
        " JOIN (SELECT group_id, sum(count) AS n FROM published.visits_st GROUP BY 1) AS s"
        " USING (group_id)",
    ):
        row = analyst.execute(text.encode()).fetchone()
        assert row is not None
        assert float(row[0]) == pytest.approx(float(expected))
    truth = sum(row[0] is not None and row[0] < 40 and row[4] == "flu" for row in table)
    assert abs(truth - float(expected)) < 5 * float(variance) ** 0.5 + 1


@pytest.mark.parametrize("look", ["1.0", "1.00"])
def test_looks_of_one_number_are_counted_as_one(db: Database, look: str) -> None:
    build(db, [(n, "Z", "a", 1, None) for n in range(9)])
    db.source("ALTER TABLE public.visit ALTER disease TYPE numeric USING id % 5", grant=False)
    db.source(f"UPDATE public.visit SET disease = {look} WHERE id = 1", grant=False)
    release(db)
    seen = published(db.connect("analyst"))
    assert violations(seen.qit, seen.st, 3, level="unique") == []
    assert look in {str(value) for _, value, _ in seen.st}
