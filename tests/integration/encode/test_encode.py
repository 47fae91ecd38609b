"""Codes: dense, in order, one per value; what reads the source, and with what."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.driver import Staged, fetch, refused, run
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only


def dictionary(staged: Staged, i: int = 0) -> list[tuple[int, str | None, int]]:
    """(code, value, records) of a quasi-identifier."""
    name = staged.state.work(f"dict{i}").identifier
    rows = fetch(
        staged.conn,
        sql.SQL("SELECT code, value::text, n, position FROM {} ORDER BY code").format(name),
    )
    return [(row["code"], row["value"], row["n"]) for row in rows]


@pytest.mark.parametrize("columns", [1, 7, 8, 9, 40])
def test_dictionaries_of_any_number_of_columns(db: Any, columns: int) -> None:
    """Several columns are counted by one scan, and NULL is a value of each, not of the others."""
    rng = random.Random(columns)
    kinds = ["integer", "text", "boolean", "date"]
    drawn = {
        "integer": lambda: rng.randint(-3, 3),
        "text": lambda: rng.choice("abc"),
        "boolean": lambda: rng.random() < 0.5,
        "date": lambda: f"2020-01-0{rng.randint(1, 4)}",
    }
    names = {f"q{i}": kinds[i % 4] for i in range(columns)}
    rows = [
        [None if rng.random() < 0.2 else drawn[kind]() for kind in names.values()]
        for _ in range(60)
    ]
    make_table(db.connect("source_owner"), names, rows)
    staged = run(db.owner(), policy({name: {} for name in names}, 2))
    for i, kind in enumerate(names.values()):
        shown = {True: "true", False: "false"} if kind == "boolean" else {}
        counted = Counter(
            None if row[i] is None else shown.get(row[i], str(row[i])) for row in rows
        )
        assert {value: n for _, value, n in dictionary(staged, i)} == counted


SIZES = ["xs", "s", "m", "l"]


@pytest.mark.parametrize(
    ("kind", "values", "extra", "codes"),
    [
        ("integer", [10, 9, 9, -1], {}, ["-1", "9", "10"]),
        ("text", ["b", "B", "ä", "a"], {}, ["B", "a", "b", "ä"]),
        ("text", ["m", "l", "m", "l"], {"type": "ordinal", "order": SIZES}, ["m", "l"]),
        ("text", ["l", "xs", "m", "l"], {"type": "ordinal", "order": SIZES}, ["xs", "m", "l"]),
        ("numeric", ["1.0", "1.00", "2", "3"], {}, ["1.0", "2", "3"]),
        ("text", ["ba", "ab", "b", "a"], {"hierarchy": {"prefix": [1]}}, ["a", "ab", "b", "ba"]),
    ],
)
def test_codes_are_dense_and_in_order(
    db: Any, kind: str, values: list[Any], extra: dict[str, Any], codes: list[str]
) -> None:
    make_table(db.connect("source_owner"), {"q": kind}, [[value] for value in values])
    staged = run(db.owner(), policy({"q": extra}, 2))
    found = dictionary(staged)
    assert [code for code, _, _ in found] == list(range(1, len(codes) + 1))
    texts = [value for _, value, _ in found]
    if kind != "numeric":  # 1.0 or 1.00 stands for both
        assert texts == codes
    assert sum(n for _, _, n in found) == len(values)


def test_an_order_that_names_absent_values_costs_as_the_present_ones(db: Any) -> None:
    order = ["a", "b", "c", "d", "e", "f"]
    rows = [["b"]] * 2 + [["d"]] * 2 + [["f"]] * 2
    make_table(db.connect("source_owner"), {"q": "text"}, rows)
    declared = policy({"q": {"type": "ordinal", "order": order}}, 3)
    # {b, d, d} cannot be told apart for k = 3, so all are one class of the whole span.
    assert run(db.owner(), declared).utility.gcp == 1
    declared["privacy"] = [{"model": "k_anonymity", "k": 2}]
    staged = run(db.owner(), declared)
    assert sorted(row["q"] for row in staged.table("classes")) == [["b", "d"], ["f"]] or sorted(
        row["q"] for row in staged.table("classes")
    ) == [["b"], ["d"], ["f"]]


def test_a_value_without_place_in_the_order_is_counted_not_shown(db: Any) -> None:
    make_table(db.connect("source_owner"), {"q": "text"}, [["a"], ["zzz"], ["zzz"]])
    with refused("order_gap") as errors:
        run(db.owner(), policy({"q": {"type": "ordinal", "order": ["a", "b"]}}, 2))
    assert "zzz" not in str(errors[0])
    assert "2 records" in str(errors[0])


@pytest.mark.parametrize("distinct", [63, 64, 65, 128, 511, 512, 600])
def test_sets_of_many_values(db: Any, distinct: int) -> None:
    """One to eight words of bits, and counting beyond them."""
    rows = [[f"v{n % distinct:04}", n % distinct // 2] for n in range(distinct)]
    make_table(db.connect("source_owner"), {"q": "text", "i": "integer"}, [*rows, [None, None]])
    staged = run(db.owner(), policy({"q": "q", "i": "i"}, 40))
    published = {v for row in staged.table("classes") for v in row["q"] or []}
    assert published == {row[0] for row in rows}
    sizes = staged.utility
    expected = sum(
        (len(row["q"] or []) + row["q_null"] - 1) / distinct * len(staged.members[class_id])
        for class_id, row in staged.classes.items()
    )
    assert sizes.gcp == pytest.approx(expected / (distinct + 1))
    assert sizes.smallest_class >= 40
    by_id = {number: row[0] for number, row in enumerate([*rows, [None]], start=1)}
    for class_id, ids in staged.members.items():
        assert set(staged.classes[class_id]["q"]) == {by_id[i] for i in ids} - {None}
        assert staged.classes[class_id]["q_null"] == (None in {by_id[i] for i in ids})


def test_the_source_is_read_by_one_statement_of_one_snapshot(db: Any) -> None:
    """Rows that come in during a run are in no later step."""
    make_table(db.connect("source_owner"), {"q": "integer"}, [[n] for n in range(6)])
    owner = db.owner()
    staged = run(owner, policy({"q": "q"}, 2))
    assert staged.facts["records"] == 6
    from pganon.plan.explain import explain

    reads = [step for step in explain(staged.plan) if '"public"."t"' in step.sql]
    assert [step.step for step in reads] == ["snapshot"]
