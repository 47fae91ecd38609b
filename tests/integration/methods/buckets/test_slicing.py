"""The method slicing against the brute force of tests.support.oracles.slicing."""

from __future__ import annotations

import datetime as dt
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from pganon.methods.common.search.clustering import clustered
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Connection, Staged, drop_leftovers, refused, run
from tests.support.oracles import association as association_oracle
from tests.support.oracles import definitions as oracle
from tests.support.oracles.sliced import columns
from tests.support.oracles.slicing import Slicer, candidates, told
from tests.support.sources.builders import KINDS, PATHS, SIZES, WORDS, make_table, policy
from tests.support.sources.registry import DISEASES, SLICING, records
from tests.support.sources.slamsa import Asked, Shown, check, shown

pytestmark = pytest.mark.primary_server_only

VALUES: dict[str, Callable[[random.Random], Any]] = {
    "integer": lambda rng: rng.randint(-5, 9),
    "numeric": lambda rng: Decimal(rng.randint(-6, 20)) / 4,
    "date": lambda rng: dt.date(1999, 12, 25) + dt.timedelta(days=rng.randint(0, 12)),
    "nominal": lambda rng: rng.choice(WORDS),
    "boolean": lambda rng: rng.random() < 0.5,
    "ordinal": lambda rng: rng.choice(SIZES),
    "alphabetical": lambda rng: rng.choice(WORDS),
    "tree": lambda rng: rng.choice(sorted(PATHS)),
    "intervals": lambda rng: rng.randint(0, 15),
}
VALUES |= {f"{name} in a domain": VALUES[name] for name in ("integer", "numeric", "date")}
NUMBERS = ("integer", "numeric", "date")

# -- random tables ------------------------------------------------------------------------------


@dataclass
class Case:
    """A random table; its last column is the sensitive one."""

    columns: dict[str, str]
    rows: list[list[Any]]
    attributes: list[oracle.Attribute]
    roles: dict[str, Any]
    method: dict[str, Any]
    l: int  # noqa: E741 (the field's own letter)
    size: int

    @property
    def document(self) -> dict[str, Any]:
        model = {"model": "slicing_l_diversity", "column": "s", "l": self.l, "min_size": self.size}
        return policy(self.roles, [model], method={"name": "slicing", **self.method})

    @property
    def records(self) -> list[oracle.Record]:
        return [oracle.Record(n, tuple(row[:-1]), (row[-1],)) for n, row in enumerate(self.rows, 1)]

    def divided(self) -> list[list[int]]:
        """Places of columns that are published together; that of the sensitive one comes last."""
        return published_together([*self.columns], self.association(), self.method)

    def association(self) -> list[list[float]]:
        last = len(self.columns)
        found = [[float(i == j) for j in range(last)] for i in range(last)]
        numeric: list[bool] = []
        values: list[list[Any]] = []
        for i, (name, kind) in enumerate(self.columns.items()):
            column, role = [row[i] for row in self.rows], self.roles[name]
            ordinal = "ordinal" in role.values() if isinstance(role, dict) else False
            if ordinal:  # a number by its position
                column = [value and self.attributes[i].codes[value] for value in column]
            values.append(column)
            numeric.append(ordinal or (kind in NUMBERS and "hierarchy" not in (role or {})))
        how = self.method.get("association", "msc")
        for (i, j), value in association_oracle.association(values, numeric, how).items():
            found[i][j] = found[j][i] = value
        return found

    def slicer(self) -> Slicer:
        beside = self.divided()[-1][:-1]
        return Slicer(self.attributes, beside, self.l, max(self.size, self.l))


def published_together(
    names: Sequence[str], association: list[list[float]], method: dict[str, Any]
) -> list[list[int]]:
    """Which columns the policy and their association put together."""
    tables, last = method.get("columns", 2), len(names) - 1
    alpha, how = method.get("alpha"), method.get("clustering", "pam")
    if isinstance(tables, list):
        found = [sorted(map(names.index, table)) for table in tables]
    elif alpha is None:
        found = [list(cluster) for cluster in clustered(association, tables, how)]
    else:
        nearest = sorted(range(last), key=lambda i: (-round(association[i][last], 9), i))
        beside, rest = sorted(nearest[: alpha - 1]), sorted(nearest[alpha - 1 :])
        inner = [[association[i][j] for j in rest] for i in rest]
        number = tables if tables == "auto" else min(tables - 1, len(rest))
        found = [[rest[i] for i in cluster] for cluster in clustered(inner, number, how)]
        found.append([*beside, last])
    return [*(part for part in found if last not in part), *(p for p in found if last in p)]


def case(rng: random.Random) -> Case:
    """4-60 rows, 1-4 quasi-identifiers of mixed kinds with NULLs, one sensitive column."""
    kinds, size = rng.choices(KINDS, k=rng.randint(1, 4)), rng.randint(4, 60)
    values, attributes, roles = [], [], {}
    for i, kind in enumerate(kinds):
        column = draw(rng, VALUES[kind.name], size)
        values.append(column)
        attributes.append(kind.model(column, 1.0, "as_value"))
        roles[f"q{i}"] = dict(kind.policy)
    values.append(draw(rng, lambda rng: rng.randint(1, 9), size))
    names = {f"q{i}": kind.sql_type for i, kind in enumerate(kinds)}
    return Case(
        {**names, "s": "integer"},
        [list(row) for row in zip(*values, strict=True)],
        attributes,
        {**roles, "s": "s"},
        method(rng, [*names]),
        rng.choice((2, 2, 3)),
        rng.choice((1, 1, 5)),
    )


def draw(rng: random.Random, value: Callable[[random.Random], Any], size: int) -> list[Any]:
    """Few or many different values, and NULLs in some columns."""
    some = [value(rng) for _ in range(rng.choice((2, size)))]
    nulls = rng.choice((0, 0, 0.15))
    return [None if rng.random() < nulls else rng.choice(some) for _ in range(size)]


def method(rng: random.Random, quasi: list[str]) -> dict[str, Any]:
    """Columns as listed, by number or as many as are best; with or without `alpha`."""
    form = rng.choice(("listed", "number", "alpha", "alone"))
    if form == "listed":
        return {"columns": split(rng, [*quasi, "s"], rng.randint(2, len(quasi) + 1))}
    if form == "alone":
        return {"columns": [*split(rng, quasi, rng.randint(1, len(quasi))), ["s"]]}
    how = {"association": rng.choice(("msc", "contingency", "pearson"))}
    how["clustering"] = rng.choice(("pam", "aca+pam"))
    if form == "number":
        best = len(quasi) > 1 and rng.random() < 0.5
        return {"columns": "auto" if best else rng.randint(2, len(quasi) + 1), **how}
    alpha = rng.randint(1, len(quasi))
    tables = rng.choice(("auto", rng.randint(2, len(quasi) + 2 - alpha)))
    return {"columns": tables, "alpha": alpha, **how}


def split(rng: random.Random, names: list[str], parts: int) -> list[list[str]]:
    """Into so many lists, none of which is empty."""
    drawn = rng.sample(names, len(names))
    found = [[name] for name in drawn[:parts]]
    for name in drawn[parts:]:
        rng.choice(found).append(name)
    return found


@pytest.mark.parametrize("seed", [0, 1, 2856])
@pytest.mark.slow
def test_random_tables(db: Database, seed: int) -> None:
    """Buckets, columns, and what every possible tuple is told."""
    source, owner = db.connect("source_owner"), db.owner()
    rng, seen = random.Random(seed), Counter[str]()
    for _ in range(12):
        drawn = case(rng)
        while rng.random() < 0.8 and not drawn.slicer().satisfied(drawn.records):
            drawn = case(rng)
        make_table(source, drawn.columns, drawn.rows)
        judged(owner, drawn, seen)
        drop_leftovers(owner)
    assert seen["divided"] >= 3, seen
    assert seen["refused"] >= 1, seen


def judged(conn: Connection, case: Case, seen: Counter[str]) -> None:
    slicer, every = case.slicer(), case.records
    if not slicer.satisfied(every):
        with refused() as errors:
            run(conn, case.document)
        assert errors[0].code in ("infeasible", "too_few_records")
        seen["refused"] += 1
        return
    staged = run(conn, case.document)
    expected = slicer.buckets(every)
    assert members(staged) == {frozenset(record.id for record in bucket) for bucket in expected}
    found = shown(staged)
    names = [*case.columns]
    assert together(found) == [sorted(names[i] for i in part) for part in case.divided()]
    check(found, records(names, case.rows), Asked({"s": case.l}, names, size=case.size))
    check_told(found, case.l)
    seen["divided"] += len(expected) > 1


def members(staged: Staged) -> set[frozenset[int]]:
    """Numbers of the source records of every bucket."""
    found: dict[int, set[int]] = {}
    for row in staged.table("members"):
        found.setdefault(row["group_id"], set()).add(int(row["member"]))
    return set(map(frozenset, found.values()))


def together(found: Shown) -> list[list[str]]:
    """Columns of every table; the sensitive table is last."""
    return [sorted(names) for names in (*map(columns, found.published.qits), *found.tables)]


def check_told(found: Shown, l: int) -> None:  # noqa: E741 (the field's own letter)
    """p(t, v) is at most 1/l, whoever a tuple is of, and adds up to 1."""
    for t in candidates(found.published):
        shares = told(found.published, t)
        assert sum(shares.values()) == 1
        assert max(shares.values()) <= Fraction(1, l)


# -- worked examples ----------------------------------------------------------------------------

PATIENTS = dict(zip(DISEASES, ("integer", "text", "integer", "text"), strict=True))
HALVES = {frozenset({1, 2, 3, 4}), frozenset({5, 6, 7, 8})}


def of_patients(l: int = 2, **method: Any) -> dict[str, Any]:  # noqa: E741
    roles = {"age": "q", "sex": "q", "zip": {"type": "numeric"}, "disease": "s"}
    model = {"model": "slicing_l_diversity", "column": "disease", "l": l}
    return policy(roles, [model], method={"name": "slicing", **method})


@pytest.fixture
def patients(db: Database) -> Connection:
    make_table(db.connect("source_owner"), PATIENTS, SLICING)
    return db.owner()


def test_the_example_of_the_paper(patients: Connection) -> None:
    staged = run(patients, of_patients(columns=[["age", "sex"], ["zip", "disease"]]))
    assert members(staged) == HALVES
    found = shown(staged)
    p = found.published
    assert len(candidates(p)) == 4 * 2 + 3 * 2
    rows = records(DISEASES, SLICING)
    half = Fraction(1, 2)
    expected = [
        {"dyspepsia": half, "flu": half},
        {"flu": half, "bronchitis": half},
        {"flu": half, "dyspepsia": half},
        {"dyspepsia": half, "gastritis": half},
    ]
    for number, row in enumerate(rows):
        person = {name: row[name] for name in ("age", "sex", "zip")}
        assert told(p, person) == expected[number // 2]
    vectors = {tuple(sorted(row.items())) for row in rows}
    candidate = {tuple((n, row[n]) for n in sorted(DISEASES)) for row in found.joined}
    assert (len(vectors), len(candidate), len(candidate - vectors)) == (8, 28, 20)


def test_no_bucket_for_a_larger_l(patients: Connection) -> None:
    with refused("infeasible") as errors:
        run(patients, of_patients(3, columns=[["age", "sex"], ["zip", "disease"]]))
    assert "records with the same" in str(errors[0])
    assert "zip" in str(errors[0])


@pytest.mark.slow
def test_columns_of_the_example(patients: Connection) -> None:
    """By association sex is alone, and alpha puts the most associated beside the disease."""
    found = shown(run(patients, of_patients(columns=[["age"], ["sex"], ["zip"], ["disease"]])))
    assert together(found) == [["age"], ["sex"], ["zip"], ["disease"]]
    found = shown(run(patients, of_patients(columns=2, alpha=1)))
    assert together(found) == [["age", "sex", "zip"], ["disease"]]
    found = shown(run(patients, of_patients(columns=3, alpha=1)))
    assert together(found) == [["age", "zip"], ["sex"], ["disease"]]
    with refused("infeasible") as errors:
        run(patients, of_patients())
    assert "with the same age, zip" in str(errors[0]).replace('"', "")
    with refused("infeasible") as errors:
        run(patients, of_patients(columns=2, alpha=2))
    assert "with the same age," in str(errors[0]).replace('"', "")


def test_equal_widths_are_cut_in_the_order_of_the_columns(db: Database) -> None:
    """0.3 - 0.2 and 0.1 are as wide as each other, though their floats differ."""
    near = [(0, 2, 0), (0, 2, 1), (0, 3, 0), (0, 3, 1)]
    far = [(1, 0, 0), (1, 0, 10), (1, 10, 0), (1, 10, 10)]
    rows = [(*row, number) for number, row in enumerate([*near, *far])]
    make_table(
        db.connect("source_owner"),
        {"first": "integer", "a": "integer", "b": "integer", "s": "integer"},
        rows,
    )
    declared = policy(
        {"first": "q", "a": "q", "b": "q", "s": "s"},
        [{"model": "slicing_l_diversity", "column": "s", "l": 2}],
        method={"name": "slicing", "alpha": 1},
    )
    found = members(run(db.owner(), declared))
    assert {frozenset({1, 2}), frozenset({3, 4})} <= found


def test_a_bucket_whose_widest_attribute_cannot_be_cut_stays_whole(db: Database) -> None:
    """The other one could be, but is not tried."""
    rows = [(n // 6, n % 2, "x" if n < 4 else f"s{n}") for n in range(12)]
    make_table(db.connect("source_owner"), {"a": "integer", "b": "integer", "s": "text"}, rows)
    model = {"model": "slicing_l_diversity", "column": "s", "l": 2}
    for order, buckets, rounds in (("ab", 1, 1), ("ba", 2, 2)):
        declared = policy(
            {**dict.fromkeys(order, "q"), "s": "s"},
            [model],
            method={"name": "slicing", "columns": [["a", "b"], ["s"]]},
        )
        staged = run(db.owner(), declared)
        assert len(members(staged)) == buckets
        assert staged.facts["cut_rounds"] == rounds


def test_intervals_lie_in_the_order_of_their_numbers(db: Database) -> None:
    make_table(
        db.connect("source_owner"),
        {"q": "integer", "s": "integer"},
        [(2 * number, number) for number in range(1, 9)],
    )
    declared = policy(
        {"q": {"hierarchy": {"intervals": [2, 4]}}, "s": "s"},
        [{"model": "slicing_l_diversity", "column": "s", "l": 2}],
        method={"name": "slicing"},
    )
    found = members(run(db.owner(), declared))
    assert found == {frozenset({first, first + 1}) for first in (1, 3, 5, 7)}
