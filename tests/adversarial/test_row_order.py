"""Attack: learn from the order of published rows which record of the source is which."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.harness.driver import publish
from tests.support.sources.builders import make_table, policy

COLUMNS = {"q": "integer", "s": "text", "i": "numeric"}


def source(seed: int) -> list[list[Any]]:
    rng = random.Random(7)
    rows = [[rng.randint(0, 60), rng.choice("abc"), rng.randint(0, 3)] for _ in range(120)]
    random.Random(seed).shuffle(rows)
    return rows


def published(db: Any) -> list[tuple[Any, ...]]:
    """Rows as the server gives them: no ORDER BY."""
    name = (
        db.owner()
        .execute("SELECT relations FROM pganon_private.version ORDER BY version DESC LIMIT 1")
        .fetchone()
    )
    table = next(r for r in str(name[0]).replace("'", " ").split() if r.endswith("_records"))
    table = table if "." in table else f"pganon_data.{table}"
    return db.admin.execute(f"SELECT class_id, s::text, i::text FROM {table}").fetchall()


@pytest.mark.slow
def test_rows_lie_in_an_order_of_published_columns_alone(db: Any) -> None:
    orders = []
    for seed in (1, 2):
        make_table(db.connect("source_owner"), COLUMNS, source(seed))
        publish(
            db,
            policy({"q": "q", "s": "s", "i": "i"}, 4, republication="allow"),
            seed=b"the same secret",
        )
        orders.append(published(db))
    assert orders[0] == orders[1] == sorted(orders[0])


@pytest.mark.parametrize(
    ("kind", "equal"),
    [("numeric", ["1", "1.0", "1.00", "1.000"]), ("public.citext", ["ab", "Ab", "aB", "AB"])],
)
@pytest.mark.slow
def test_values_that_are_equal_but_look_different_keep_no_order(
    db: Any, kind: str, equal: list[str]
) -> None:
    """1.0 and 1.00 tie in a sort, and a sort may keep the order in which ties arrive."""
    if "citext" in kind:
        if not db.admin.execute(
            "SELECT 1 FROM pg_available_extensions WHERE name = 'citext'"
        ).fetchone():
            pytest.skip("the server has no citext")
        db.admin.execute("CREATE EXTENSION citext SCHEMA public")
    found = []
    for turn in range(4):
        rows = [[1, "a", value] for value in equal[turn:] + equal[:turn]]
        make_table(db.connect("source_owner"), {**COLUMNS, "i": kind}, rows)
        publish(
            db,
            policy({"q": "q", "s": "s", "i": "i"}, 4, republication="allow"),
            seed=b"the same secret",
        )
        found.append(published(db))
    assert all(rows == found[0] for rows in found)


def test_values_of_a_set_that_are_equal_but_look_different_keep_no_order(db: Any) -> None:
    """1.0 and 1.00 have one code; the set shows neither as who came first wrote it."""
    found = []
    for turn in range(2):
        values = [f"1.{'0' * (n + turn)}" for n in range(2)] + ["2.50", "2.5"][:: 1 - 2 * turn]
        make_table(db.connect("source_owner"), {"q": "numeric"}, [[value] for value in values])
        result = publish(db, policy({"q": {"type": "categorical"}}, 2, republication="allow"))
        found.append(db.owner().execute(f"SELECT DISTINCT q::text FROM {result.view}").fetchall())
    assert sorted(found[0]) == sorted(found[1]) == [("{1}",), ("{2.5}",)]


def test_no_key_of_the_source_leaves(db: Any) -> None:
    make_table(db.connect("source_owner"), COLUMNS, source(1))
    result = publish(db, policy({"q": "q", "s": "s"}, 4))
    columns = db.admin.execute(f"SELECT * FROM {result.view} LIMIT 0").description
    assert [c.name for c in columns] == ["class_id", "q", "q_null", "s"]
    assert set(result.unreleased_columns) == {"id", "i"}
