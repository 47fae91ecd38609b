"""Blocks of DAnonyIR: what they share, held against the definition."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from psycopg import sql

from pganon.identifiers import QualifiedName
from pganon.methods.individuals.danonyir import span_steps
from pganon.run import executor, pool
from pganon.run.executor import Executor
from pganon.sqltools import statement
from pganon.steps import State
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, Staged, drop_leftovers, fetch, run
from tests.support.oracles import identity as judge
from tests.support.oracles import identity_search as oracle
from tests.support.oracles.identity_search import Cat, Num, Table
from tests.support.sources.builders import make_table, policy
from tests.support.sources.identity import eir, ir, members, offences, shares, triples

pytestmark = pytest.mark.primary_server_only

F = Fraction
COLUMNS = {"person": "text", "age": "integer", "zone": "text", "disease": "text"}
Rows = list[list[Any]]


def declared(requirement: dict[str, Any], **options: Any) -> dict[str, Any]:
    columns = {"person": "individual", "age": "q", "zone": "q", "disease": "s"}
    method = {"name": "danonyir", "block_size": 6, **options}
    return policy(columns, [requirement], method=method, suppression_limit=1)


def skewed(people: int, seed: int) -> Rows:
    """Half of the records have one value, and whole stretches of ages nothing else."""
    rng = random.Random(seed)
    rows: Rows = []
    for n in range(people):
        alike = (n // 15) % 2 and rng.random() < 0.95
        for _ in range(rng.choice([1, 1, 2, 4])):
            value = "d0" if alike or rng.random() < 0.3 else f"d{rng.randint(1, 5)}"
            rows.append([f"p{n:03}", 20 + n // 2, f"z{rng.randint(0, 2)}", value])
    return rows


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work tables stay."""
    monkeypatch.setattr(executor, "drop_tables", lambda conn, tables: None)


# -- blocks without a class -------------------------------------------------------------------


def spans(found: Sequence[bool]) -> list[tuple[int, ...]]:
    """Blocks that are searched as one: a block without a class goes with the last that has any."""
    runs: list[list[int]] = []
    for block, has in enumerate(found):
        if not runs or (has and any(found[:block])):
            runs.append([])
        runs[-1].append(block)
    pieces: list[tuple[int, ...]] = []
    for blocks in runs:
        number = -(-len(blocks) // 4)
        at = [n * number // len(blocks) for n in range(len(blocks))]
        pieces += [
            tuple(b for b, place in zip(blocks, at, strict=True) if place == piece)
            for piece in range(number)
        ]
    return pieces


def random_patterns() -> Iterator[list[bool]]:
    rng = random.Random(2)
    yield from ([True], [False], [False] * 9, [False, True], [True] * 3, [False] * 5 + [True])
    for _ in range(40):
        share = rng.random()
        yield [rng.random() < share for _ in range(rng.randint(1, 14))]


def test_blocks_searched_as_one(db: Database) -> None:
    owner = db.owner()
    for number, found in enumerate(random_patterns()):
        state = State(7_000 + number)
        blocked, grown = (state.work(name).identifier for name in ("blocked", "grown"))
        owner.execute(sql.SQL("CREATE TABLE {} (block int, rid bigint)").format(blocked))
        owner.execute(sql.SQL("CREATE TABLE {} (rid bigint, gid bigint)").format(grown))
        for block, has in enumerate(found):
            insert = sql.SQL("INSERT INTO {} VALUES (%s, %s), (%s, %s)")
            owner.execute(insert.format(blocked), [block, 2 * block, block, 2 * block + 1])
            if has:
                gids = [2 * block, block << 32, 2 * block + 1, (block << 32) + 1]
                owner.execute(insert.format(grown), gids)
        step = span_steps()[0]
        rows = owner.execute(statement(step.select(state))).fetchall()  # type: ignore[union-attr]
        pieces: dict[int, list[int]] = defaultdict(list)
        labels = {}
        for block, place, several, label in sorted(rows):
            pieces[place].append(block)
            labels[block] = label
            assert several == (label != block)
        assert [tuple(pieces[place]) for place in range(len(pieces))] == spans(found)
        joined = [blocks for blocks in spans(found) if len(blocks) > 1]
        assert [labels[blocks[0]] for blocks in joined] == [
            len(found) + n for n in range(len(joined))
        ]
        assert all(len({labels[block] for block in blocks}) == 1 for blocks in joined)


def test_a_block_without_a_class_is_joined_with_its_neighbour(db: Database) -> None:
    """Forty of one age have one disease: no class of a block of them has two."""
    rows = [[f"p{n:02}", 20 + n // 40, "z", "flu" if n < 40 else f"d{n % 3}"] for n in range(80)]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    asked = ir(2, 2)
    for residuals in ("generalize", "suppress"):
        staged = run(db.owner(), declared(asked, block_size=30, residuals=residuals))
        assert staged.facts["spans_joined"] == 1
        assert judge.violations([asked], triples(staged.rows())) == []
        assert staged.facts["suppressed"] <= (0 if residuals == "generalize" else 1)


# -- residuals --------------------------------------------------------------------------------

MODELS = [
    (eir(2), ("eir", 2)),
    (ir(3, 3), ("ir", 3, 3)),
    (shares("ir", 0.5, 0.6), ("share", F(1, 2), F(3, 5))),
    (shares("eir", 0.6, 0.5), ("eir share", F(3, 5), F(1, 2))),
]


def table(staged: Staged, name: str) -> list[dict[str, Any]]:
    return fetch(staged.conn, sql.SQL("SELECT * FROM {}").format(_named(staged, name).identifier))


def _named(staged: Staged, name: str) -> QualifiedName:
    return staged.state.work(name)


def by_definition(rows: Rows, order: list[Any]) -> Table:
    ages = [row[1] for row in rows]
    zones = tuple(sorted({row[2] for row in rows}))
    triples = [(row[0], (row[1], row[2]), row[3]) for row in rows]
    return Table((Num(min(ages), max(ages)), Cat(zones)), triples, order)


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(("asked", "model"), MODELS, ids=lambda m: m if isinstance(m, str) else "")
@pytest.mark.slow
def test_residuals_of_a_block_join_classes_of_its_neighbours(
    db: Database, asked: dict[str, Any], model: oracle.Model
) -> None:
    source, owner = db.connect("source_owner"), db.owner()
    joined = 0
    for seed in range(5):
        rows = skewed(90, seed)
        make_table(source, COLUMNS, rows)
        staged = run(owner, declared(asked), seed=seed)
        assert offences(staged.rows(), ["disease"]) == []
        assert judge.violations([asked], triples(staged.rows())) == []
        if staged.facts["residuals"]:
            joined += check_passes(staged, rows, model)
        drop_leftovers(owner)
    assert joined > 0


def check_passes(staged: Staged, rows: Rows, model: oracle.Model) -> int:
    """Every third block at a time, its residuals in their order, by the definition of Handle."""
    name = {row["rid"]: row["individual"] for row in table(staged, "individuals")}
    known = by_definition(rows, [name[rid] for rid in sorted(name)])
    span = {row["block"]: row for row in table(staged, "spans")}
    place = {row["rid"]: span[row["block"]]["place"] for row in table(staged, "blocked")}
    of_label = {row["label"]: row["place"] for row in span.values()}
    classes: dict[int, list[Any]] = defaultdict(list)
    placed = [row for row in table(staged, "grown") if not span[row["gid"] >> 32]["several"]]
    if staged.facts["spans_joined"]:
        placed += table(staged, "regrown")
    for row in placed:
        classes[row["gid"]].append(name[row["rid"]])
    left = sorted(set(name) - {row["rid"] for row in placed})
    assert len(left) == staged.facts["residuals"]
    total = 0
    for third in range(3):
        expected = {}
        for rid in [rid for rid in left if place[rid] % 3 == third]:
            near = {g for g in classes if abs(of_label[g >> 32] - place[rid]) <= 1}
            those = {gid: classes[gid] for gid in sorted(near)}
            what, _, _ = oracle.handle_residual(known, model, those, name[rid])
            if what == "residual":
                (gid,) = [g for g in those if name[rid] in those[g]]
                expected[rid] = gid
                classes[gid] = those[gid]
        found = {row["rid"]: row["gid"] for row in table(staged, f"joined{third}")}
        assert found == expected
        total += len(found)
    return total


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(("asked", "looks"), [(eir(2), False), (shares("ir", 0.5, 0.6), True)])
def test_classes_that_cannot_be_broken_are_chosen_without_their_values(
    db: Database, asked: dict[str, Any], looks: bool
) -> None:
    """Who knows whom a residual joined then learns nothing of a value."""
    make_table(db.connect("source_owner"), COLUMNS, skewed(90, 1))
    staged = run(db.owner(), declared(asked))
    found = [row for number in range(3) for row in table(staged, f"units{number}")]
    classes = [row for row in found if not row["residual"]]
    assert classes
    for row in classes:
        assert all((row[name] is not None) == looks for name in ("held0", "counts0", "holders0"))


def test_residuals_may_all_be_suppressed(db: Database) -> None:
    make_table(db.connect("source_owner"), COLUMNS, skewed(90, 1))
    asked = shares("eir", 0.6, 0.5)
    kept = [
        run(db.owner(), declared(asked, residuals=residuals)).facts["suppressed"]
        for residuals in ("generalize", "suppress")
    ]
    assert kept[0] < kept[1]


@pytest.mark.slow
def test_the_number_of_processes_changes_nothing(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_table(db.connect("source_owner"), COLUMNS, skewed(90, 3))
    found = [classes_of(db.owner())]
    monkeypatch.setattr(pool, "WORTH", 0)
    original = Executor.__init__

    def several(self: Executor, *given: Any, **named: Any) -> None:
        original(self, *given, **named)
        self.processes = 2

    monkeypatch.setattr(Executor, "__init__", several)
    found.append(classes_of(db.owner()))
    assert found[0] == found[1]


def classes_of(owner: Connection) -> set[frozenset[str]]:
    staged = run(owner, declared(shares("eir", 0.6, 0.5)))
    assert staged.facts["residuals"] > 0
    return set(members(staged).values())
