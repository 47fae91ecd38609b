"""Releases of more priors and records than are looked at at a time; here a few are many."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, refused, run
from tests.support.oracles.background_search import Beta
from tests.support.oracles.background_search import clusters as linked
from tests.support.sources.background import ROLES, SUPPRESSES, beta_policy, build, groups
from tests.support.sources.builders import make_table

pytestmark = pytest.mark.primary_server_only

# The package has functions of the same names.
clusters, drawn, grown = (
    import_module(f"pganon.methods.background.{name}")
    for name in ("clusters", "value_buckets", "near_classes")
)

COLUMNS = {name: ROLES[name] for name in ("age", "s")}
TYPES = {"age": "integer", "s": "text"}
AGES = range(20, 34)
"""The first and the last have the same prior."""


def prior(age: int) -> tuple[float, float]:
    p = 0.2 + 0.05 * ((age * 7) % 13)
    return round(p, 12), round(1 - p, 12)


def believed(db: Database) -> None:
    """Four records of every age, and priors that do not follow the order of ages."""
    build(db, [(age, "abab"[n]) for age in AGES for n in range(4)], TYPES)
    rows = [(age, v, p) for age in AGES for v, p in zip("ab", prior(age), strict=True)]
    types = {"age": "integer", "s": "text", "probability": "float8"}
    make_table(db.connect("source_owner"), types, rows, name=("public", "prior"))


def knowing(j: float, **others: Any) -> dict[str, Any]:
    relation = {"relation": "public.prior"}
    return beta_policy("beta_primacy", j=j, knowledge=relation, columns=COLUMNS, **others)


def linked_priors(staged: Staged) -> set[frozenset[tuple[float, ...]]]:
    """Priors of every cluster."""
    vectors = {row["prior"]: tuple(row["probabilities"]) for row in staged.table("prior")}
    found: dict[int, set[tuple[float, ...]]] = {}
    for row in staged.table("audit"):
        found.setdefault(row["cluster"], set()).add(vectors[row["prior"]])
    return set(map(frozenset, found.values()))


@pytest.mark.parametrize("most", [4, 5, 100])
def test_priors_are_linked_in_blocks_along_the_curve(
    db: Database, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(clusters, "MOST", most)
    believed(db)
    staged = run(db.owner(), knowing(0.03))
    # A prior lies where the first of its ages does.
    priors = list(dict.fromkeys(map(prior, AGES)))
    blocks = -(-len(priors) // most)
    expected = set()
    for block in range(blocks):
        held = [p for i, p in enumerate(priors) if i * blocks // len(priors) == block]
        assert len(held) <= most
        labels = linked(held, 0.03)
        expected |= {
            frozenset(p for p, other in zip(held, labels, strict=True) if other == label)
            for label in set(labels)
        }
    assert linked_priors(staged) == expected
    assert len(expected) > blocks


def test_the_j_that_is_named_is_enough_for_every_block(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clusters, "MOST", 5)
    believed(db)
    with refused("infeasible") as caught:
        run(db.owner(), knowing(0.001, k=12))
    said = str(caught[0].hint)
    named = float(said.split("the smallest j that leaves none is ")[1].split(",")[0])
    staged = run(db.owner(), knowing(named, k=12))
    assert sum(map(len, groups(staged))) == 4 * len(AGES)
    with refused("infeasible"):
        run(db.owner(), knowing(named - 0.001, k=12))


def people() -> list[tuple[Any, ...]]:
    return [(20 + n * 7 % 61, "abcd"[n * 5 % 4] if n % 3 else "a") for n in range(120)]


METHODS: tuple[dict[str, Any], ...] = (
    {"name": "beta_primacy"},
    {"name": "beta_primacy", "select": "sweep", "division": "eligible"},
    {"name": "beta_primacy", "select": "nearest", "division": "eligible"},
)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.get("select", "random"))
def test_how_many_blocks_are_read_at_once_changes_nothing(
    db: Database, monkeypatch: pytest.MonkeyPatch, method: dict[str, Any]
) -> None:
    build(db, people(), TYPES)
    asked = beta_policy(method, k=2, beta=3, columns=COLUMNS)
    first = groups(run(db.owner(), asked))
    assert len(first) > 10
    monkeypatch.setattr(drawn, "AT_ONCE", 2)
    monkeypatch.setattr(drawn, "NEAR_AT_ONCE", 1)
    assert groups(run(db.owner(), asked)) == first


@pytest.mark.parametrize("name", ["kinc", "kagg"])
def test_large_clusters_are_cut_along_the_curve(
    db: Database, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    rows = people()
    build(db, rows, TYPES)
    asked = beta_policy({"name": name, "block_size": 30}, k=3, beta=3, columns=COLUMNS)
    whole = groups(run(db.owner(), asked))
    monkeypatch.setattr(grown, "WHOLE", 100)
    found = groups(run(db.owner(), asked))
    assert found != whole
    assert sorted(key for group in found for key in group) == list(range(1, 121))
    # Four pieces of thirty records each, all of which have classes.
    ages = sorted(row[0] for row in rows)
    borders = [ages[30 * i] for i in range(1, 4)]
    for group in found:
        held = [rows[key - 1][0] for key in group]
        assert not any(min(held) < border < max(held) for border in borders)
    monkeypatch.setattr(grown, "AT_ONCE", 1)
    assert groups(run(db.owner(), asked)) == found


def test_pieces_without_classes_are_put_together(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first half has nothing but a, so there is one block."""
    monkeypatch.setattr(grown, "WHOLE", 1)
    rows = [(n, "a" if n < 20 else "bc"[n % 2]) for n in range(40)]
    build(db, rows, TYPES)
    method = {"name": "kagg", "block_size": 20}
    staged = run(db.owner(), beta_policy(method, k=3, beta=0.5, columns=COLUMNS))
    assert staged.facts["cut_blocks"] == 1
    assert max(staged.verified("beta_likeness")) <= 0.5 + 1e-9


def test_the_baseline_in_blocks(db: Database) -> None:
    rows = people()
    build(db, rows, TYPES)
    closeness = {"model": "t_closeness", "t": 0.9}
    method = {"name": "js_reduce", "block_size": 30}
    asked = beta_policy(method, k=4, closeness=closeness, columns=COLUMNS, **SUPPRESSES)
    found = groups(run(db.owner(), asked))
    ages = sorted(row[0] for row in rows)
    borders = [ages[30 * i] for i in range(1, 4)]
    for group in found:
        held = [rows[key - 1][0] for key in group]
        assert not any(min(held) < border < max(held) for border in borders)
    assert {len(group) for group in found} == {4}
    assert len(found) == 4 * (30 // 4)


def test_limits_are_those_of_both_references(db: Database) -> None:
    """Of all records, and of those of two clusters out of three."""
    rows = [(20, "abcc"[n % 4]) for n in range(12)] + [(50, "aabc"[n % 4]) for n in range(8)]
    rows += [(80, "b")] * 6
    build(db, rows, TYPES)
    known = {"kernel": {"bandwidth": 0.3}}
    asked = beta_policy("beta_primacy", beta=1, j=0.001, knowledge=known, columns=COLUMNS)
    staged = run(db.owner(), {**asked, **SUPPRESSES})
    assert sum(map(len, groups(staged))) == 20
    name = staged.state.work("limits").identifier
    found = fetch(staged.conn, sql.SQL("SELECT share, f FROM {} ORDER BY value").format(name))
    shares = [
        min([s for _, s in held].count(value) / len(held) for held in (rows, rows[:20]))
        for value in "abc"
    ]
    assert [row["share"] for row in found] == pytest.approx(shares)
    rule = Beta(1, [shares])
    assert [row["f"] for row in found] == pytest.approx([rule.f(p) for p in shares])
