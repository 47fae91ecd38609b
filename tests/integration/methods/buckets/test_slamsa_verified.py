"""Verification of slamsa releases finds what the oracles find, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pytest
from psycopg import sql

from pganon.steps.relations import CheckQuery
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, refused
from tests.support.oracles.sliced import ALIGNED, Offence, Published, Relation, Rule, v1, v2, v3, v5
from tests.support.sources import registry
from tests.support.sources.builders import make_table
from tests.support.sources.by_hand import aligned, independent
from tests.support.sources.given_buckets import run_with
from tests.support.sources.registry import BUCKETS, COLUMNS, QUASI, REGISTRY, ROWS, SENSITIVE, WOMEN
from tests.support.sources.slamsa import check_joined, shown, staged_tables

pytestmark = pytest.mark.primary_server_only

LEAST = {"cancer": 2, "symptom": 3, "date": 2, "physician": 2, "method": 3}
SIZE, TUPLES = 3, 3
SEXES = [int(row["sex"] == "F") for row in ROWS]
HARMLESS: dict[Any, Any] = {"Prostate": "Skin", "Jaundice": "Fever"}
"""Values that rules exclude, and what the source has instead: one bucket satisfies all rules."""

EXCLUSIONS = [
    {"when": {"sex": "F"}, "never": {"cancer": "Prostate"}},
    {"when": {"age": {"min": 30}, "zip": {"max": 68061}}, "never": {"symptom": ["Jaundice", "x"]}},
]
RULES = [
    WOMEN,
    Rule(lambda p: p["age"] >= 30 and p["zip"] <= 68061, "symptom", "Jaundice"),
]

APART = ("exclusion", "symptom")
"""The rule whose columns a sliced QIT has in two tables. Where tables have buckets of their own,
verification asks whether each part is possible in the bucket, not whether both are for a record."""


def document(*, free: bool, sliced: bool) -> dict[str, Any]:
    models: list[dict[str, Any]] = [
        {"model": "slicing_l_diversity", "column": name, "l": l}
        for name, l in LEAST.items()  # noqa: E741 (the field's own letter)
    ]
    models.append({"model": "slicing_l_diversity", "level": "tuple", "l": TUPLES, "min_size": SIZE})
    method: dict[str, Any] = {"name": "slamsa", "sensitive_tables": [*map(list, SENSITIVE)]}
    if free:
        method["profile"] = "independent"
    if sliced:
        method["quasi_tables"] = [*map(list, QUASI)]
    return registry.document(privacy=models, method=method, exclusions=EXCLUSIONS)


@dataclass
class Shape:
    """A staged release whose relations may be replaced."""

    staged: Staged
    free: bool
    sliced: bool

    def release(self, groups: Sequence[Sequence[int]]) -> Published:
        """By hand, of as many partitions as the shape has."""
        quasi = QUASI if self.sliced else [[name for part in QUASI for name in part]]
        if not self.free:
            return aligned(ROWS, groups[0], SENSITIVE, quasi)
        own = groups[-1] if self.sliced else None
        return independent(ROWS, groups[:3], SENSITIVE, quasi, own)

    def fill(self, p: Published) -> None:
        tables = staged_tables(self.staged)
        qits = ["qit1", "qit2"] if self.sliced else ["qit"]
        parts = [*qits, "st1", "st2", "st3"]
        with self.staged.conn.transaction():
            for part, relation in zip(parts, [*p.qits, *p.sts], strict=True):
                replace_rows(self.staged.conn, tables[part].identifier, relation)

    @cached_property
    def checks(self) -> tuple[CheckQuery, ...]:
        spec, form = self.staged.plan.spec, self.staged.plan.method.form
        return form.verification.checks(spec, self.staged.state, staged_tables(self.staged))

    def found(self) -> dict[tuple[str, str | None], int]:
        """Failing groups of every check, by model and column."""
        found: dict[tuple[str, str | None], int] = {}
        for check in self.checks:
            (row,) = fetch(self.staged.conn, sql.SQL(check.sql))  # pyright: ignore
            assert (check.model, check.column) not in found
            found[check.model, check.column] = row["failing"]
        return found


def replace_rows(conn: Any, table: sql.Identifier, relation: Relation) -> None:
    names = list(dict.fromkeys(name for row in relation for name in row))
    conn.execute(sql.SQL("DELETE FROM {}").format(table))
    listed = sql.SQL(", ").join(map(sql.Identifier, names))
    with conn.cursor().copy(sql.SQL("COPY {} ({}) FROM STDIN").format(table, listed)) as copy:
        for row in relation:
            copy.write_row([row[name] for name in names])


def shape(
    db: Database, patch: pytest.MonkeyPatch, *, free: bool = False, sliced: bool = False
) -> Shape:
    rows = [[HARMLESS.get(value, value) for value in row] for row in REGISTRY]
    make_table(db.connect("source_owner"), COLUMNS, rows, name=registry.NAME)
    partitions = (3 if free else 1) + (free and sliced)
    declared = document(free=free, sliced=sliced)
    one = [1] * len(ROWS)
    return Shape(run_with(patch, db.owner(), declared, [one] * partitions), free, sliced)


def expected(p: Published) -> dict[tuple[str, str | None], list[Offence]]:
    wrong: dict[tuple[str, str | None], list[Offence]] = {
        ("structure", None): v1(p),
        ("slicing_l_diversity", None): v2(p, TUPLES, "tuple"),
        ("bucket_size", None): v3(p, SIZE),
    }
    for name, l in LEAST.items():  # noqa: E741 (the field's own letter)
        wrong["slicing_l_diversity", name] = v2(p, {name: l})
    for rule in RULES:
        wrong["exclusion", rule.column] = v5(p, [rule])
    return wrong


SHAPES = [(free, sliced) for free in (False, True) for sliced in (False, True)]


@pytest.mark.parametrize(("free", "sliced"), SHAPES)
def test_random_buckets(
    db: Database, monkeypatch: pytest.MonkeyPatch, free: bool, sliced: bool
) -> None:
    """Checks fail for the relations that the oracles refuse; the views join the others."""
    of = shape(db, monkeypatch, free=free, sliced=sliced)
    rng = random.Random(3)
    seen: set[tuple[str, bool]] = set()
    for turn in range(15):
        most = rng.randint(1, 4)
        groups = [[rng.randint(1, most) for _ in ROWS] for _ in range(4)]
        if turn % 2:
            groups = [[10 * n + sex for n, sex in zip(g, SEXES, strict=True)] for g in groups]
        p = of.release(groups)
        of.fill(p)
        found, wrong = of.found(), expected(p)
        assert found.keys() == wrong.keys()
        assert not found["structure", None]
        for key, offences in wrong.items():
            if key == APART and free and sliced and not offences:
                continue
            assert bool(found[key]) == bool(offences), (key, offences)
            seen.add((key[0], bool(offences)))
        if turn % 5 == 0:
            check_joined(shown(of.staged))
    models = ("slicing_l_diversity", "bucket_size", "exclusion")
    assert seen >= {(model, failing) for model in models for failing in (True, False)}


def tampered(rng: random.Random, p: Published) -> Published:
    """One row changed, left out, repeated or moved to another group."""
    relations = [[dict(row) for row in rows] for rows in (*p.qits, *p.sts)]
    rows = rng.choice(relations)
    row = rng.choice(rows)
    numbers = [name for name in row if name.endswith("group_id")]
    match rng.choice(("count", "count", "none", "group", "group", "lost", "twice", "no group")):
        case "count" if "count" in row:
            row["count"] += rng.choice((1, 2))
        case "none" if "count" in row:
            rows.append({**row, "count": 0})
        case "lost":
            rows.remove(row)
        case "no group":
            row[rng.choice(numbers)] = None
        case "group":
            name = rng.choice(numbers)
            row[name] = rng.choice([other[name] for other in rows] + [99])
        case _:
            rows.append(dict(row))
    n = len(p.qits)
    return replace(p, qits=relations[:n], sts=relations[n:])


@pytest.mark.parametrize(("free", "sliced"), SHAPES)
def test_relations_that_do_not_fit_together(
    db: Database, monkeypatch: pytest.MonkeyPatch, free: bool, sliced: bool
) -> None:
    of = shape(db, monkeypatch, free=free, sliced=sliced)
    rng = random.Random(8)
    broken = 0
    for _ in range(15):
        buckets = [[rng.randint(1, 2) for _ in ROWS] for _ in range(4)]
        p = tampered(rng, of.release(buckets))
        of.fill(p)
        assert bool(of.found()["structure", None]) == bool(v1(p) or numberless(p)), p
        broken += bool(v1(p))
    assert broken > 7


def numberless(p: Published) -> bool:
    """Rows without the number of a group, which no other relation can have either."""
    return any(
        row[name] is None
        for relation in (*p.qits, *p.sts)
        for row in relation
        for name in row
        if name.endswith("group_id")
    )


@pytest.mark.parametrize("name", ["cancer", "qit"])
def test_a_run_stops_at_what_verification_finds(
    db: Database, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Buckets of the worked release break its rule; those of its QIT are not 3-diverse."""
    registry.build(db)
    declared = registry.document()
    given = [BUCKETS[name]]
    p = aligned(ROWS, BUCKETS[name], SENSITIVE, [["sex", "age", "zip"]])
    if name == "cancer":
        declared["exclusions"] = EXCLUSIONS[:1]
        assert v5(p, [WOMEN])
    wrong = v2(p, 3)
    with refused("verification") as errors:
        run_with(monkeypatch, db.owner(), declared, given)
    assert ("exclusion" in str(errors[0])) != bool(wrong)
    assert p.links == ALIGNED
