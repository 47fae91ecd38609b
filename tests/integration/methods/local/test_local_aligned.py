"""Buckets that associated columns have in common: from their definition, and by worlds."""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from psycopg import sql

from pganon.plan.verification import verdict
from pganon.resolved.guarantee import guarantee
from tests.integration.methods.local.test_local_examples import beside
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, fetch, refused, run
from tests.support.harness.examples import examples
from tests.support.oracles.lgb import Table, nominal, numeric
from tests.support.oracles.lgb_buckets import eligible, histogram, merged_piles
from tests.support.oracles.lgb_release import v1, v2, v3, v4, v7
from tests.support.oracles.lgb_worlds import pairs_exist, posteriors, surest
from tests.support.sources import lgb_cases as cases
from tests.support.sources.lgb_cases import sets
from tests.support.sources.local import buckets, build, close, diverse, policy, release

pytestmark = pytest.mark.primary_server_only

METHOD = {"name": "lgb_mdp", "buckets": "aligned", "link_threshold": 0.4}
COLUMNS = (nominal("q"), nominal("a"), nominal("b"), nominal("c"))
ROLES = {"q": "quasi_identifying", "a": "semi_sensitive", "b": "sensitive", "c": "semi_sensitive"}
NAMES = "abc"


def made(db: Database, table: Table, *principles: Any, seed: int = 1, **method: Any) -> Staged:
    build(db, table, ROLES if table.attributes == COLUMNS else None)
    known = ROLES if table.attributes == COLUMNS else None
    declared = policy(table, {**METHOD, **method}, 2, principles, known)
    return run(db.owner(), declared, seed=seed)


def table(seed: int, n: int, kinds: int = 6, strength: float = 0.8) -> Table:
    """`a` and `b` go together, `c` with neither; some hide a, and some c."""
    drawn = random.Random(seed)
    values, hidden = {}, {}
    for key in range(1, n + 1):
        a = drawn.randrange(kinds)
        b = a if drawn.random() < strength else drawn.randrange(kinds)
        values[key] = ("x", f"a{a}", f"b{b}", f"c{drawn.randrange(kinds)}")
        hidden[key] = frozenset(
            {2, *[at for at, share in ((1, 0.7), (3, 0.8)) if drawn.random() < share]}
        )
    return Table(COLUMNS, values, hidden)


def common(staged: Staged) -> list[list[str]]:
    return [list(names) for names in staged.utility.aligned]


# -- section 1 ----------------------------------------------------------------------------------

LINKS = set(cases.LINKED.values.values())
SECTION_1 = beside(cases.LINKED)
HALVES = [diverse("organ", 2), diverse("symptom", 2)]


@pytest.mark.slow
def test_9_4_section_1(db: Database) -> None:
    """In the order of the keys {5,1} {6,2} {3,7} {4,8}; which of two alike comes first is drawn."""
    build(db, SECTION_1)
    drawn = []
    for seed in range(24):
        staged = run(db.owner(), policy(SECTION_1, METHOD, 2, HALVES), seed=seed)
        found = buckets(staged, SECTION_1, "organ")
        assert found == buckets(staged, SECTION_1, "symptom")
        drawn.append(found)
        told = posteriors(_seen(staged), pairs_exist(("organ", "symptom"), LINKS))
        assert len(told) == 8
        every = [p for held in told.values() for one in held.values() for p in one.values()]
        assert set(every) == {Fraction(1, 2)}
        drop_leftovers(db.owner())
    assert cases.LINKED_ALIGNED in drawn
    assert {frozenset(map(frozenset, found)) for found in drawn} == {
        frozenset(sets(text))
        for text in ("5,1 6,2 3,7 4,8", "5,2 6,1 3,7 4,8", "5,1 6,2 3,8 4,7", "5,2 6,1 3,8 4,7")
    }


def _seen(staged: Staged) -> dict[str, list[tuple[list[int], list[Any]]]]:
    """Rows and values of the buckets, by column."""
    return {
        name: [
            (sorted(keys), [SECTION_1.values[key][at] for key in sorted(keys)])
            for keys in buckets(staged, SECTION_1, name)
        ]
        for at, name in ((1, "organ"), (2, "symptom"))
    }


@pytest.mark.slow
def test_9_4_section_1_with_buckets_apart(db: Database) -> None:
    """What the bound is for: the same table under independent buckets tells more."""
    build(db, SECTION_1)
    method = {**METHOD, "buckets": "independent", "link_threshold": 1}
    worst = []
    for seed in range(6):
        staged = run(db.owner(), policy(SECTION_1, method, 2, HALVES), seed=seed)
        told = posteriors(_seen(staged), pairs_exist(("organ", "symptom"), LINKS))
        worst.append(surest(told))
        drop_leftovers(db.owner())
    assert max(worst) == 1


# -- against the definition ---------------------------------------------------------------------


def strata(t: Table, columns: Iterable[int]) -> dict[frozenset[int], set[int]]:
    """Keys by which of the columns they hide."""
    found: dict[frozenset[int], set[int]] = defaultdict(set)
    for key, hidden in t.hidden.items():
        own = hidden & frozenset(columns)
        if own:
            found[own].add(key)
    return found


def held_together(staged: Staged, t: Table) -> dict[int, set[int]]:
    """Keys by the number in `a` or `b`."""
    found: dict[int, set[int]] = defaultdict(set)
    for row in staged.table("members"):
        numbers = {row["a_bucket"], row["b_bucket"]} - {None}
        assert len(numbers) == 1
        found[numbers.pop()].add(int(row["member"]))
    return found


@examples(2)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(60, 150),
    ls=st.tuples(st.integers(2, 4), st.integers(2, 4)),
)
@pytest.mark.random_tables
@pytest.mark.slow
def test_random_tables(db: Database, seed: int, n: int, ls: tuple[int, int]) -> None:
    t = table(seed, n)
    assume(min(Counter(t.hidden.values()).values()) >= 2)  # small subsets are another matter
    db.disconnect()  # those of the example before
    drop_leftovers(db.owner())
    least = {1: ls[0], 2: ls[1]}
    wrong = [
        keys
        for own, keys in strata(t, (1, 2)).items()
        for at in own
        if not eligible(histogram([t.values[k][at] for k in keys], t.attributes[at]), least[at])
    ]
    principles = [diverse("a", ls[0]), diverse("b", ls[1]), diverse("c", 2)]
    if wrong:
        with refused("infeasible"):
            made(db, t, *principles)
        return
    staged = made(db, t, *principles)
    if common(staged) != [["a", "b"]]:  # chance may link c
        return
    r = release(staged, t, ROLES)
    assert (v1(r), v2(r, 2), v3(r), v4(r)) == ([], [], [], [])
    for at in (1, 2):
        assert max(v7(r, at).values(), default=0) <= Fraction(1, least[at])
    found = held_together(staged, t)
    kinds = strata(t, (1, 2))
    for keys in found.values():
        (own,) = {kind for kind, of in kinds.items() if keys & of}
        assert keys <= kinds[own]
        for at in own:
            counts = histogram([t.values[key][at] for key in keys], t.attributes[at])
            assert eligible(counts, least[at])
    assert {key for keys in found.values() for key in keys} == set(t.values)


@pytest.mark.parametrize("seed", range(3))
def test_piles_are_dealt_and_merged_as_defined(db: Database, seed: int) -> None:
    """Dealt by the column with the most frequent value, and merged in the order of the piles."""
    t = table(seed, 160)
    staged = made(db, t, diverse("a", 2), diverse("b", 3), diverse("c", 2))
    assert common(staged) == [["a", "b"]]
    key_of = {row["rid"]: int(row["record"]) for row in _work(staged, "coded")}
    piles: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for row in _work(staged, "piles"):
        piles[row["stratum"]][row["place"]].add(key_of[row["rid"]])
    expected = set()
    for stratum, by_place in piles.items():
        own = [at for at in (1, 2) if stratum >> (at - 1) & 1]
        keys = set().union(*by_place.values())
        assert keys == strata(t, (1, 2))[frozenset(own)]
        counts = {
            at: dict(histogram([t.values[k][at] for k in keys], t.attributes[at])) for at in own
        }
        by = max(own, key=lambda at: (max(counts[at].values()), -at))
        assert len(by_place) == len(keys) // {1: 2, 2: 3}[by]
        for pile in by_place.values():
            assert len({t.values[k][by] for k in pile}) == len(pile)
            assert 0 <= len(pile) - len(keys) // len(by_place) <= 1
        _check_drawn(by_place, {k: t.values[k][by] for k in keys})
        rows = {k: [t.values[k][at] for at in own] for k in keys}
        expected |= set(
            merged_piles(
                [frozenset(by_place[place]) for place in sorted(by_place)],
                rows,
                [t.attributes[at] for at in own],
                [{1: 2, 2: 3}[at] for at in own],
            )
        )
    assert set(map(frozenset, held_together(staged, t).values())) == expected


def _check_drawn(by_place: dict[int, set[int]], held: dict[int, Any]) -> None:
    """Values go to piles one after the other; the order of the piles follows a secret instead."""
    place = {key: at for at, keys in by_place.items() for key in keys}
    start, moved = 0, False
    for value, n in sorted(Counter(held.values()).items()):
        dealt = {(start + i) % len(by_place) for i in range(n)}
        moved |= {place[key] for key, own in held.items() if own == value} != dealt
        start += n
    assert moved


def _work(staged: Staged, name: str) -> list[dict[str, Any]]:
    table = staged.state.work(name).identifier
    return fetch(staged.conn, sql.SQL("SELECT * FROM {}").format(table))


@pytest.mark.slow
def test_secrets_decide_which_piles_are_neighbours(db: Database) -> None:
    t = table(5, 120)
    found = set()
    for seed in (1, 2):
        staged = made(db, t, diverse("a", 2), diverse("b", 3), diverse("c", 2), seed=seed)
        found.add(frozenset(map(frozenset, held_together(staged, t).values())))
    assert len(found) == 2


@pytest.mark.parametrize("l", [2, 5])
@pytest.mark.slow
def test_chunks(db: Database, monkeypatch: pytest.MonkeyPatch, l: int) -> None:  # noqa: E741
    """Piles are merged a chunk at a time; chunks that could not be a bucket are one with others."""
    monkeypatch.setattr("pganon.methods.local.aligned.CHUNK", 20)
    t = table(8, 300)
    staged = made(db, t, diverse("a", l), diverse("b", l), diverse("c", 2))
    assert common(staged) == [["a", "b"]]
    blocks = _work(staged, "chunk_blocks")
    assert len(blocks) == staged.facts["strata_chunks"] > 10
    assert {row["alone"] for row in blocks} == ({True} if l == 2 else {True, False})
    found = held_together(staged, t)
    kinds = strata(t, (1, 2))
    for keys in found.values():
        (own,) = {kind for kind, of in kinds.items() if keys & of}
        for at in own:
            counts = histogram([t.values[key][at] for key in keys], t.attributes[at])
            assert eligible(counts, l)
    sizes = {row["chunk"]: 0 for row in blocks}
    for row in _work(staged, "piles"):
        sizes[row["chunk"]] += 1
    assert max(sizes.values()) < 60


# -- which columns ------------------------------------------------------------------------------


@pytest.mark.slow
def test_others_keep_buckets_of_their_own(db: Database) -> None:
    t = table(3, 200)
    staged = made(db, t, diverse("a", 2), diverse("b", 2), diverse("c", 2))
    assert common(staged) == [["a", "b"]]
    both = [
        (row["a_bucket"], row["c_bucket"])
        for row in staged.table("members")
        if row["a_bucket"] and row["c_bucket"]
    ]
    assert sum(a != c for a, c in both) > len(both) / 2
    counts = release(staged, t, ROLES).counts(3).values()
    assert all(max(held.values()) == 1 for held in counts)


def test_columns_that_are_linked_through_another_are_one_set(db: Database) -> None:
    drawn = random.Random(1)
    values = {}
    for key in range(1, 121):
        b = drawn.randrange(16)
        values[key] = ("x", f"a{b // 4}", f"b{b}", f"c{b % 4}")
    t = Table(COLUMNS, values, dict.fromkeys(values, frozenset({1, 2, 3})))
    staged = made(db, t, diverse("a", 2), diverse("b", 2), diverse("c", 2))
    measured = {(i, j): (v, d) for i, j, _, v, d in json.loads(staged.facts["links"])}
    assert measured[0, 1][1] == measured[1, 2][1] == 1
    assert max(measured[0, 2]) <= 0.4
    assert common(staged) == [["a", "b", "c"]]
    for row in staged.table("members"):
        assert row["a_bucket"] == row["b_bucket"] == row["c_bucket"]


def test_nothing_is_associated(db: Database) -> None:
    t = table(1, 200, strength=0)
    staged = made(db, t, diverse("a", 2), diverse("b", 2), diverse("c", 2))
    assert common(staged) == []
    assert staged.verified("aligned") == [0]


def test_a_column_that_is_withheld_is_in_no_set(db: Database) -> None:
    t = table(4, 120)
    values = {key: (*row[:2], "b0" if key % 3 else row[2], row[3]) for key, row in t.values.items()}
    staged = made(
        db,
        Table(COLUMNS, values, t.hidden),
        diverse("a", 2),
        diverse("b", 3),
        diverse("c", 2),
        ineligible="withhold",
        link_threshold=0,
    )
    assert {row["b_form"] for row in staged.table("groups")} == {"w"}
    assert all("b" not in names for names in common(staged))


# -- refusals -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_stratum_that_is_not_eligible(db: Database) -> None:
    """Those who hide b and show a have too few different values of b among themselves."""
    t = table(2, 100)
    hidden = dict(t.hidden)
    values = dict(t.values)
    for key in range(1, 11):
        hidden[key] = frozenset({2})
        values[key] = ("x", "a0", "b0" if key < 7 else f"b{key % 4 + 1}", "c0")
    for key in range(11, 101):
        hidden[key] |= {1}
    with refused("infeasible") as caught:
        made(
            db,
            Table(COLUMNS, values, hidden),
            diverse("a", 2),
            diverse("b", 2),
            diverse("c", 2),
        )
    said = str(caught[0])
    assert "column b: 10 sensitive values of records that hide b and show a cannot satisfy" in said
    assert "occurs 6 times, at most 5 allowed; the largest feasible l is 1" in said
    assert "link_threshold" in str(caught[0].hint)
    assert "b0" not in said


def test_a_distance_cannot_be_kept_in_common(db: Database) -> None:
    t = table(2, 100)
    with refused("associated") as caught:
        made(db, t, close("a", 0.3, 4), diverse("b", 2), diverse("c", 2))
    assert "column a is associated with b" in str(caught[0])
    assert "cannot keep its t_closeness" in str(caught[0])


# -- what is promised and checked ---------------------------------------------------------------


@pytest.mark.slow
def test_the_guarantee_says_so(db: Database) -> None:
    t = table(3, 200)
    staged = made(db, t, diverse("a", 2), diverse("b", 3), diverse("c", 2))
    stated = [g for g in guarantee(staged.plan.spec) if g["model"] == "local_bucket_diversity"]
    assert [(g["column"], g["l"], g["level"], g["buckets"]) for g in stated] == [
        ("a", 2, "attribute", "aligned"),
        ("b", 3, "attribute", "aligned"),
        ("c", 2, "attribute", "aligned"),
    ]
    measured = staged.verified("local_bucket_diversity")
    assert all(found >= least for found, least in zip(measured, (2, 3, 2), strict=True))
    assert staged.utility.summary()["buckets in common"] == "a and b"
    view = staged.plan.stored_views(staged.state)[0]
    (column,) = [c for c in view.columns if c.name == "a_bucket"]
    assert "The same number is in b_bucket." in column.comment


TAMPERED = {
    "two numbers": (
        "UPDATE {records} SET b_bucket = b_bucket % 3 + 1 WHERE a_bucket IS NOT NULL",
        "aligned",
    ),
    "another stratum": (
        "UPDATE {records} SET a_bucket = NULL WHERE a_bucket = (SELECT min(a_bucket) FROM"
        " {records}) AND ctid = (SELECT min(ctid) FROM {records} AS r WHERE r.a_bucket ="
        " (SELECT min(a_bucket) FROM {records}))",
        "aligned",
    ),
    "too frequent": (
        "UPDATE {values0} SET a = 'a0' WHERE a_bucket = (SELECT min(a_bucket) FROM {values0})",
        "local_bucket_diversity",
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering(db: Database, what: str) -> None:
    text, expected = TAMPERED[what]
    t = table(3, 200)
    staged = made(db, t, diverse("a", 2), diverse("b", 2), diverse("c", 2))
    assert common(staged) == [["a", "b"]]
    names = {part: staged.name(part) for part in ("records", "values0")}
    staged.conn.execute(sql.SQL(text).format(**names))  # pyright: ignore
    tables = {r.part: r.staged for r in staged.plan.relations(staged.state)}
    checks = staged.plan.method.form.verification.checks(staged.plan.spec, staged.state, tables)
    failing = {
        check.model
        for check in checks
        if verdict(check, fetch(staged.conn, sql.SQL(check.sql))[0])  # pyright: ignore
    }
    assert expected in failing


@pytest.mark.slow
def test_numbers_in_common_are_drawn_once(db: Database) -> None:
    """Numbers follow no order of the strata, and each is a bucket of one of them."""
    t = table(3, 200)
    staged = made(db, t, diverse("a", 2), diverse("b", 2), diverse("c", 2))
    found = held_together(staged, t)
    assert sorted(found) == list(range(1, len(found) + 1))
    kinds = strata(t, (1, 2))
    alone = [n in found and found[n] <= kinds[frozenset({2})] for n in sorted(found)]
    assert alone != sorted(alone)
    assert alone != sorted(alone, reverse=True)


def test_numeric_columns(db: Database) -> None:
    """Numbers are compared in quarters where there are many; they can be aligned all the same."""
    drawn = random.Random(3)
    values = {}
    for key in range(1, 161):
        pay = drawn.randrange(40) * 10
        values[key] = ("x", pay, pay + drawn.randrange(3))
    columns = (nominal("q"), numeric("pay"), numeric("tax"))
    t = Table(columns, values, dict.fromkeys(values, frozenset({1, 2})))
    staged = made(db, t, diverse("pay", 3), diverse("tax", 3))
    assert common(staged) == [["pay", "tax"]]
    for at in (1, 2):
        for held in release(staged, t).counts(at).values():
            assert max(held.values()) * 3 <= held.total()
