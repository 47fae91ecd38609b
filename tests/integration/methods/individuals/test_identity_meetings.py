"""Residuals of GeneIR in bounded tasks, held against the definition."""

from __future__ import annotations

import random
from collections import defaultdict
from importlib import import_module
from typing import Any

import pytest
from psycopg import sql

from pganon.run import executor
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, run
from tests.support.oracles import identity as judge
from tests.support.oracles.definitions import Intervals, Tree
from tests.support.oracles.geneir import Class, elements, geneir, handle
from tests.support.sources.builders import make_table
from tests.support.sources.identity import (
    COLUMNS,
    HIERARCHIES,
    QUASI,
    drawn_sequence,
    eir,
    in_order,
    ir,
    members,
    of_paper,
    offences,
    shares,
    triples,
)

pytestmark = pytest.mark.primary_server_only

# The package has a function of the same name.
METHOD = import_module("pganon.methods.individuals.geneir")

TOGETHER = 5
POSTCODES = [c for below in HIERARCHIES["postcode"]["inline"]["100**"].values() for c in below]
GENDERS = ["F", "M"]
People = dict[str, list[tuple[tuple[Any, ...], str]]]


def skewed(people: int, seed: int) -> People:
    """Three of four individuals have one disease and no other."""
    rng = random.Random(seed)
    found: People = {}
    for n in range(people):
        quasi = (rng.choice(GENDERS), rng.randint(30, 59), rng.choice(POSTCODES))
        number = rng.choice([1, 1, 2, 4])
        diseases = ["flu"] if n % 4 else [f"d{rng.randint(1, 9)}" for _ in range(number)]
        found[f"p{n:03}"] = [(quasi, disease) for disease in diseases]
    return found


def trees(people: People) -> tuple[Tree, ...]:
    genders, ages, postcodes = zip(
        *[q for records in people.values() for q, _ in records], strict=True
    )
    paths = {code: (code, f"{code[:4]}*", "100**") for code in POSTCODES}
    return (
        Tree(list(genders), paths={sex: (sex, "*") for sex in GENDERS}),
        Intervals(list(ages), widths=[5]),
        Tree(list(postcodes), paths=paths),
    )


@pytest.fixture
def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, two in a batch; work tables stay."""
    monkeypatch.setattr(METHOD, "TOGETHER", TOGETHER)
    monkeypatch.setattr(METHOD, "AT_ONCE", 2 * TOGETHER)
    monkeypatch.setattr(executor, "drop_tables", lambda conn, tables: None)


def table(staged: Staged, name: str, number: int | None = None) -> list[dict[str, Any]]:
    found = staged.state.work(name, round=number).identifier
    return fetch(staged.conn, sql.SQL("SELECT * FROM {}").format(found))


def meet(
    people: People, shown: tuple[Tree, ...], staged: Staged, requirement: dict[str, Any]
) -> list[Class]:
    """Classes of the definition, with residuals that meet them as the blocks have it."""
    order = in_order(staged)
    found = geneir(people, shown, [requirement], drawn_sequence(staged), [])
    gids = {row["rid"]: row["gid"] for row in table(staged, "swept")}
    by_gid = {}
    for rid, gid in gids.items():
        by_gid[gid] = next(c for c in found if order[rid - 1] in c.members)
    residuals, classes = defaultdict(list), defaultdict(list)
    for row in sorted(table(staged, "stretches"), key=lambda row: row["unit"]):
        which = residuals if row["residual"] else classes
        which[row["block"]].append(row["unit"])
    assert {r for block in residuals.values() for r in block} == set(
        range(1, len(order) + 1)
    ) - gids.keys()
    number = 1 + max([*residuals, *classes])
    own = elements(people, shown)
    for away in [0, *[sign * n for n in range(1, number) for sign in (1, -1)]][:number]:
        for block, rids in residuals.items():
            there = [by_gid[gid] for gid in classes[(block + away) % number]]
            for rid in list(rids):
                person = order[rid - 1]
                handle(person, own[person], people, shown, [
                    c for c in there
                    if judge.holds(requirement, [
                        (p, d) for p in c.members | {person} for _, d in people[p]
                    ])
                ])  # fmt: skip
                if any(person in c.members for c in there):
                    rids.remove(rid)
    return found


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize(
    ("requirement", "rounds"),
    [
        (ir(2, 3), 1),
        (eir(2), 1),
        (eir(3), 2),
        (shares("ir", 0.4, 0.4), 3),
        (shares("eir", 0.4, 0.5), 3),
    ],
    ids=str,
)
def test_a_large_residue_is_split(db: Database, requirement: dict[str, Any], rounds: int) -> None:
    people = skewed(90, seed=5)
    rows = [[name, *quasi, d] for name, records in people.items() for quasi, d in records]
    make_table(db.connect("source_owner"), COLUMNS, rows)
    declared = of_paper(requirement, hierarchies=True, name="geneir", suppression_limit=1)
    staged = run(db.owner(), declared, seed=3)
    assert judge.violations([requirement], triples(staged.rows())) == []
    assert offences(staged.rows(), ["disease"]) == []

    units = staged.facts["residuals"] + staged.facts["residual_classes"]
    assert units > 3 * TOGETHER
    sizes: dict[int, int] = defaultdict(int)
    for row in table(staged, "stretches"):
        sizes[row["block"]] += 1
    assert set(sizes) == set(range(-(-units // TOGETHER)))
    assert max(sizes.values()) <= TOGETHER
    assert staged.facts["meet_rounds"] >= rounds
    for number in range(staged.facts["meet_rounds"]):
        met: dict[int, int] = defaultdict(int)
        for row in table(staged, "units", number):
            met[row["block"]] += 1
        assert max(met.values()) <= 2 * TOGETHER

    shown = trees(people)
    expected = meet(people, shown, staged, requirement)
    assert {
        names: tuple(staged.classes[number][name] for name in QUASI)
        for number, names in members(staged).items()
    } == {
        c.members: tuple(
            tree.published(values)[0] for tree, values in zip(shown, c.element, strict=True)
        )
        for c in expected
    }
    if "k" in requirement or "l" in requirement:
        assert staged.facts["suppressed"] == 0
