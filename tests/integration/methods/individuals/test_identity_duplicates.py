"""Records that repeat a value of their individual, counted once."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, publish, refused, run
from tests.support.oracles import identity as judge
from tests.support.sources.builders import make_table, policy
from tests.support.sources.identity import eir, ir, members, offences, shares, triples

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"person": "text", "x": "integer", "zone": "text", "disease": "text"}
METHODS = ("danonyir", "geneir")
Rows = list[list[Any]]


def declared(
    requirement: dict[str, Any], method: str = "danonyir", duplicates: str = "collapse"
) -> dict[str, Any]:
    zones = {"inline": {"*": {"low": ["z0", "z1"], "high": ["z2", "z3"]}}}
    columns = {
        "person": "individual",
        "x": {"hierarchy": {"intervals": [5, 20]}} if method == "geneir" else "q",
        "zone": {"hierarchy": zones} if method == "geneir" else "q",
        "disease": "s",
    }
    options = {"name": method, "duplicates": duplicates}
    return policy(columns, [requirement], method=options, suppression_limit=1)


# -- the definition ---------------------------------------------------------------------------

EXAMPLE: Rows = [
    [person, 1, "z0", disease]
    for person, diseases in {"1": ["flu"] * 2, "2": ["flu", "hiv"], "3": ["gout", "hiv"]}.items()
    for disease in diseases
]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.slow
def test_shares_of_records_and_of_individuals(db: Database, method: str) -> None:
    """Two of five records are flu instead of three of six; still two of three people have it."""
    make_table(db.connect("source_owner"), COLUMNS, EXAMPLE)
    owner = db.owner()
    with refused("all_suppressed"):
        run(owner, declared(shares("ir", 0.4, 0.4), method, "keep"))
    staged = run(owner, declared(shares("ir", 0.4, 0.4), method))
    assert len(staged.rows()) == 5
    assert judge.violations([shares("ir", 0.4, 0.4)], triples(staged.rows())) == []
    assert (staged.facts["records"], staged.facts["collapsed"]) == (5, 1)
    assert staged.facts["suppressed"] == 0
    with refused("all_suppressed"):
        run(owner, declared(shares("eir", 0.4, 0.6), method))
    assert len(run(owner, declared(shares("eir", 0.4, 0.7), method)).rows()) == 5


def test_the_run_says_how_many(db: Database) -> None:
    make_table(db.connect("source_owner"), COLUMNS, EXAMPLE)
    found = publish(db, declared(ir(3, 3)))
    assert (found.records, found.released, found.suppressed) == (5, 5, 0)
    said = "1 further records of the source repeat a value of their individual; each value is"
    assert any(warning.startswith(said) for warning in found.warnings)
    kept = publish(db, {**declared(ir(3, 3), duplicates="keep"), "republication": "allow"})
    assert (kept.records, kept.released) == (6, 6)
    assert not any("repeat" in warning for warning in kept.warnings)


# -- random tables ----------------------------------------------------------------------------


def repeating(people: int, seed: int) -> Rows:
    """Individuals with few values in many records, of whom some move."""
    rng = random.Random(seed)
    rows: Rows = []
    for n in range(people):
        x, zone = rng.randint(0, 39), f"z{rng.randint(0, 3)}"
        mine = [rng.choice([None, *[f"d{k}" for k in range(6)]]) for _ in range(rng.randint(1, 2))]
        for _ in range(rng.randint(1, 5)):
            moved = rng.random() < 0.2
            rows.append([f"p{n:02}", rng.randint(0, 39) if moved else x, zone, rng.choice(mine)])
    rng.shuffle(rows)
    return rows


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("requirement", [eir(2), ir(3, 3), shares("ir", 0.5, 0.5)], ids=str)
def test_random_tables(db: Database, method: str, requirement: dict[str, Any]) -> None:
    rows = repeating(40, seed=8)
    make_table(db.connect("source_owner"), COLUMNS, rows)
    staged = run(db.owner(), declared(requirement, method))
    shown = staged.rows()
    assert judge.violations([requirement], triples(shown)) == []
    assert offences(shown, ["disease"]) == []
    once = {(row[0], row[3]) for row in rows}
    assert staged.facts["collapsed"] == len(rows) - len(once)
    assert staged.facts["records"] == len(once) == staged.facts["suppressed"] + len(shown)
    check_classes(staged, rows)
    if method == "danonyir":
        check_hulls(staged, rows)


def check_hulls(staged: Staged, rows: Rows) -> None:
    """The search looks at all records of an individual, with codes in the order of values."""
    codes = {x: n for n, x in enumerate(sorted({row[1] for row in rows}), start=1)}
    held: dict[str, list[int]] = defaultdict(list)
    for person, x, *_ in rows:
        held[person].append(codes[x])
    name = staged.state.work("individuals").identifier
    text = sql.SQL("SELECT individual, lo0, hi0, n FROM {}").format(name)
    assert {(i["individual"], i["lo0"], i["hi0"], i["n"]) for i in fetch(staged.conn, text)} == {
        (person, min(xs), max(xs), len({row[3] for row in rows if row[0] == person}))
        for person, xs in held.items()
    }


def check_classes(staged: Staged, rows: Rows) -> None:
    """Every value of an individual once; the class covers the records that do not count, too."""
    released: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in staged.rows():
        released[row["class_id"]].append(row)
    moved = 0
    for number, people in members(staged).items():
        held: dict[str, set[Any]] = defaultdict(set)
        for person, x, zone, disease in rows:
            if person in people:
                held[person].add(disease)
                shown = released[number][0]
                assert x in shown["x"]
                assert isinstance(shown["zone"], str) or zone in shown["zone"]
                moved += 1
        of_number: dict[int, list[Any]] = defaultdict(list)
        for row in released[number]:
            of_number[row["individual_no"]].append(row["disease"])
        assert sorted(sorted(map(str, v)) for v in of_number.values()) == sorted(
            sorted(map(str, v)) for v in held.values()
        )
    assert moved > len(rows) / 2


def test_records_that_differ_are_a_conflict_also_where_one_counts(db: Database) -> None:
    rows = [["a", 1, "z0", "flu"], ["a", 2, "z0", "flu"], ["b", 1, "z0", "hiv"]]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    policy_with = declared(ir(2, 2))
    policy_with["method"] |= {"qi_conflict": "reject"}
    with refused("qi_conflict"):
        run(db.owner(), policy_with)
