"""Rounds of cuts at the median make the groups of the definition."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from psycopg import sql

from pganon.encode.axis import Axis, NominalAxis, axes
from pganon.methods.common.rounds.median import MedianCuts
from pganon.methods.common.rounds.rounds import SEVERAL, CutRounds, start_step
from pganon.methods.local.form.axes import ShownNames
from pganon.resolved.model import Attribute
from pganon.steps import State
from tests.support.harness.cluster import Database
from tests.support.harness.driver import fetch, prepared
from tests.support.oracles import definitions as oracle
from tests.support.oracles.medians import Medians, share
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

Rows = Sequence[Sequence[Any]]


class Names(ShownNames):
    """Of which d out of m values lose d / m; everybody shows all."""

    def number(self, state: State) -> int:
        return NominalAxis.domain(self, state)


def share_axes(attributes: tuple[Attribute, ...]) -> tuple[Axis, ...]:
    return tuple(
        Names(axis.attribute) if isinstance(axis, NominalAxis) else axis
        for axis in axes(attributes)
    )


def cut(
    db: Database,
    kinds: Sequence[str],
    rows: Rows,
    k: int,
    *,
    hidden: Mapping[int, Sequence[int]] | None = None,
    declared: Mapping[int, dict[str, Any]] | None = None,
    loss: Any = share_axes,
) -> set[frozenset[int]]:
    """The groups by numbers of rows, from 1.

    Args:
        kinds: type of every column.
        hidden: attributes that a row does not show: rows with the same ones start together.
        declared: more about a column.
    """
    names = [f"q{i}" for i in range(len(kinds))]
    make_table(db.connect("source_owner"), dict(zip(names, kinds, strict=True)), rows)
    roles = {
        name: {"role": "quasi_identifying", **(declared or {}).get(i, {})}
        for i, name in enumerate(names)
    }
    conn = db.owner()
    computation = prepared(conn, policy(roles, 2))
    computation.walk(*computation.plan.reading)
    executor, plan = computation.executor, computation.plan
    rule = MedianCuts(loss(plan.spec.attributes), k, further=("start",))
    start_of = {number: tuple((hidden or {}).get(number, ())) for number in range(len(rows) + 1)}
    starts = sorted(set(start_of.values()))
    coded = fetch(conn, sql.SQL("SELECT * FROM {}").format(executor.state.work("coded").identifier))
    cells: dict[tuple[int, ...], list[int]] = {}
    for row in coded:
        number = int(row["record"])
        codes = [0 if i in start_of[number] else row[code] for i, code in enumerate(rule.codes)]
        cells.setdefault((starts.index(start_of[number]) + 1, *codes), []).append(number)
    table = executor.state.work("cells", round=0).identifier
    typed = [
        sql.SQL("node int"),
        *[sql.SQL("{} int").format(sql.Identifier(c)) for c in rule.codes],
    ]
    conn.execute(
        sql.SQL("CREATE TABLE {} ({}, start int, w int)").format(table, sql.SQL(", ").join(typed))
    )
    with conn.cursor().copy(sql.SQL("COPY {} FROM STDIN").format(table)) as copy:
        for cell, members in cells.items():
            copy.write_row([*cell, cell[0], len(members)])
    executor.run([start_step(rule.axes), *CutRounds(rule, "test").steps()])
    grouped = executor.state.work("grouped").identifier
    found: dict[int, set[int]] = {}
    for row in fetch(conn, sql.SQL("SELECT * FROM {}").format(grouped)):
        cell = (row["start"], *[row[code] for code in rule.codes])
        found.setdefault(row["gid"], set()).update(cells.pop(cell))
    assert not cells
    return {frozenset(group) for group in found.values()}


def groups(text: str) -> set[frozenset[int]]:
    """`1 2, 3 4` as sets."""
    return {frozenset(map(int, part.split())) for part in text.split(",")}


# -- examples of the specification ----------------------------------------------------------------

PAPER = [
    ("F", 22, None),
    ("F", 27, None),
    ("M", 41, 3236),
    ("M", None, 3271),
    ("F", None, 3285),
    ("M", 45, 3242),
    ("F", None, 3290),
    ("M", None, 3276),
]
"""Its records 1001 to 1008; what one does not show is NULL."""


def test_golden_5_1_groups_of_the_papers_example(db: Database) -> None:
    """The hidden values are there, and decide nothing."""
    rows = [list(row) for row in PAPER]
    hidden = {n: [i for i in (1, 2) if row[i] is None] for n, row in enumerate(PAPER, start=1)}
    for number, age in zip((4, 5, 7, 8), (24, 29, 34, 31), strict=True):
        rows[number - 1][1] = age
    for number, zip_code in ((1, 3201), (2, 3225)):
        rows[number - 1][2] = zip_code
    found = cut(db, ["text", "int", "int"], rows, 2, hidden=hidden)
    assert found == groups("1 2, 3 6, 4 8, 5 7")


def test_golden_5_6_null_is_first_and_ties_go_to_the_first_column(db: Database) -> None:
    rows = list(zip([1, 1, 1, 2, 2, None, None, 9], "uuvvwuww", strict=True))
    assert cut(db, ["int", "text"], rows, 2) == groups("1 2 6, 3 7, 4 5 8")


def test_golden_5_6_equal_rows_are_one_group(db: Database) -> None:
    assert cut(db, ["int", "text"], [(1, "a")] * 4, 2) == groups("1 2 3 4")


def test_golden_5_8_medians_of_one_column(db: Database) -> None:
    rows = [(x,) for x in (1, 2, 3, 10, 11, 12, 100)]
    assert cut(db, ["int"], rows, 2) == groups("1 2, 3 4, 5 6 7")


CITIES = list(zip([21, 22, 24, 35, 36, 38, 40, 61, 63, 66], "AABBCCACCB", strict=True))


@pytest.mark.parametrize(
    ("k", "expected"),
    [(2, "1 2 3, 4 5, 6 7 8, 9 10"), (3, "1 2 3 4 5, 6 7 8 9 10")],
)
def test_golden_5_8_medians_of_two_columns(db: Database, k: int, expected: str) -> None:
    assert cut(db, ["int", "text"], CITIES, k) == groups(expected)


# -- the definition -------------------------------------------------------------------------------

TOWNS = {f"{a}{b}{c}": (f"{a}{b}{c}", f"{a}{b}", a, "*") for a in "ab" for b in "12" for c in "xyz"}


def expected(
    rows: Rows,
    attributes: Sequence[oracle.Attribute],
    k: int,
    hidden: Mapping[int, Sequence[int]],
    loss: Any = share,
) -> set[frozenset[int]]:
    starts: dict[tuple[int, ...], oracle.Group] = {}
    for number, row in enumerate(rows, start=1):
        starts.setdefault(tuple(hidden.get(number, ())), []).append(
            oracle.Record(number, tuple(row))
        )
    return {
        frozenset(record.id for record in group)
        for hides, start in starts.items()
        for group in Medians(
            attributes, [i for i in range(len(attributes)) if i not in hides], k, loss
        ).groups(start)
    }


@pytest.mark.parametrize("seed", range(4))
def test_random_tables_with_hidden_values(db: Database, seed: int) -> None:
    rng = random.Random(seed)
    size, k = rng.randint(60, 160), rng.randint(1, 6)
    rows = [
        [
            rng.choice([None, *range(6)]),
            rng.choice("uvwxyz"),
            rng.choice(list(TOWNS)),
            rng.randint(0, 40) ** 2,
        ]
        for _ in range(size)
    ]
    hides = [(), (), (0,), (1, 3), (0, 1, 2, 3)]
    hidden = {number: rng.choice(hides) for number in range(1, size + 1)}
    numbers, letters, towns, squares = map(list, zip(*rows, strict=True))
    attributes = [
        oracle.Ordered(numbers),
        oracle.Nominal(letters),
        oracle.Tree(towns, paths=TOWNS),
        oracle.Ordered(squares),
    ]
    found = cut(
        db,
        ["int", "text", "text", "int"],
        rows,
        k,
        hidden=hidden,
        declared={2: {"hierarchy": {"prefix": [2, 1]}}},
    )
    assert found == expected(rows, attributes, k, hidden)
    sizes = Counter(map(len, found))
    assert len(sizes) > 1, "the table must be worth cutting"


def test_the_loss_of_a_set_is_that_of_the_axes(db: Database) -> None:
    """Two of four letters lose 1/2 or 1/3, the numbers beside them 2/5."""
    rows = list(zip([0, 1, 2, 2, 5, 5, 5, 5], "aaabcdcd", strict=True))
    attributes = [oracle.Ordered([x for x, _ in rows]), oracle.Nominal([y for _, y in rows])]
    found = {}
    for loss, by in ((share_axes, share), (axes, lambda a, values: a.loss(values))):
        found[loss] = cut(db, ["int", "text"], rows, 1, loss=loss)
        assert found[loss] == expected(rows, attributes, 1, {}, by)


def test_widths_that_differ_by_rounding_alone_are_ties(db: Database) -> None:
    """0.2 - 0.1 is more than 0.3 - 0.2 in floats, and yet the first column is cut."""
    assert 0.2 - 0.1 > 0.3 - 0.2
    rows = [(2, 1, "a"), (2, 2, "a"), (3, 1, "a"), (3, 2, "a"), (0, 0, "a"), (10, 10, "a")]
    found = cut(db, ["int", "int", "text"], rows, 2, hidden={5: [2], 6: [2]})
    assert found == groups("1 2, 3 4, 5 6")


def test_different_values_in_one_place_are_cut(db: Database) -> None:
    """Of a wide span floats do not tell neighbours apart; they are the narrowest there is."""
    wide = 10**17
    assert (wide - 1) / wide == (wide - 2) / wide
    rows = [(0, wide - 2), (0, wide - 1), (0, wide - 2), (0, wide - 1), (9, 0), (9, wide)]
    found = cut(db, ["int", "bigint"], rows, 2)
    assert found == groups("1 3, 2 4, 5 6")


@pytest.mark.slow
def test_many_columns_are_tried_until_one_can_be_cut(db: Database) -> None:
    """Wide columns of a rare value each come first; more of them than are tried at once."""
    rare = SEVERAL + 2
    rows = [
        *[[int(i == number) for i in range(rare)] + [0] for number in range(rare)],
        *[[0] * rare + [value] for value in (0, 0, 1, 1) for _ in range(4)],
        [0] * rare + [4],
    ]
    kinds = ["int"] * (rare + 1)
    attributes = [oracle.Ordered(list(values)) for values in zip(*rows, strict=True)]
    for k in (2, 8):
        found = cut(db, kinds, rows, k)
        assert len(found) > 1
        assert found == expected(rows, attributes, k, {})
