"""Attack: conclude from who is missing in a release of classes, and from how many."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from psycopg import sql

from pganon.policy.options import UNSEEN
from pganon.resolved.guarantee import guarantee
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, drop_leftovers, fetch, publish, run
from tests.support.sources.builders import make_table, policy

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

ROLES = {"q": "q", "s": "s", "u": "i"}
COLUMNS = {"q": "integer", "s": "text", "u": "text"}
ALPHA = [{"model": "alpha_k_anonymity", "column": "s", "alpha": 0.5, "k": 2}]
PRICED: dict[str, Any] = {"suppression_limit": 0.2, "method": {"name": "mondrian", "price": 0}}
SURPLUS: dict[str, Any] = {"suppression_limit": 1, "on_infeasible": "suppress"}


def table(shift: int = 0) -> list[tuple[int, str, str]]:
    """60 people; with a shift others have the same values."""
    return [(n * n % 83, f"s{(n + shift) % 4}", f"p{n}") for n in range(60)]


def missing(db: Database, rows: list[Any], privacy: Any, **keys: Any) -> tuple[Staged, set[str]]:
    make_table(db.connect("source_owner"), COLUMNS, rows)
    drop_leftovers(db.owner())
    staged = run(db.owner(), policy(ROLES, privacy, **keys))
    return staged, {row[2] for row in rows} - {row["u"] for row in staged.rows("u")}


def test_with_k_alone_who_is_missing_depends_on_no_value(db: Database) -> None:
    first = missing(db, table(), 5, **PRICED)[1]
    assert first
    assert all(missing(db, table(shift), 5, **PRICED)[1] == first for shift in (1, 2, 3))


def test_with_values_judged_who_is_missing_depends_on_them(db: Database) -> None:
    """Minimality, not answered: whoever computes the method for k alone sees a difference."""
    privacy = [{"model": "k_anonymity", "k": 5}, {**ALPHA[0], "alpha": 0.4}]
    alone = missing(db, table(), 5, **PRICED)[1]
    seen = [missing(db, table(shift), privacy, **PRICED)[1] for shift in range(4)]
    assert any(out != alone for out in seen)


def test_whose_value_is_too_frequent_is_remembered_alone(db: Database) -> None:
    """Who is missing has that value: known to who knows that a person was in the source. Beside
    other versions each is a group alone, so no version may show them among others."""
    rows = [(n % 7, "a" if n < 45 else f"s{n % 4}", f"p{n}") for n in range(60)]
    staged, out = missing(db, rows, ALPHA, **SURPLUS)
    value = {u: s for _, s, u in rows}
    assert {value[u] for u in out} == {"a"}
    left = Counter(row["s"] for row in staged.rows("s"))
    assert left["a"] == 15 == sum(left.values()) / 2
    query = sql.SQL("SELECT class_id FROM {} WHERE class_id <= 0").format(staged.name("members"))
    numbers = [row["class_id"] for row in fetch(staged.conn, query)]
    assert len(numbers) == len(set(numbers)) == len(out) == 30
    assert max(numbers) < 0


def test_who_counts_the_people_of_a_class_also_counts_who_is_missing(db: Database) -> None:
    """The bound is about records that are released; readers are told whom it holds against."""
    rows = [(n % 7, "a" if n < 45 else f"s{n % 4}", f"p{n}") for n in range(60)]
    staged, _ = missing(db, rows, ALPHA, **SURPLUS)
    shown = Counter((row["class_id"], row["s"]) for row in staged.rows("class_id, s"))
    certain: dict[int, float] = {}
    for number, row in staged.classes.items():
        there = sum(q in row["q"] for q, _, _ in rows)
        out = there - sum(n for (class_id, _), n in shown.items() if class_id == number)
        certain[number] = (shown[number, "a"] + out) / there
    assert min(certain.values()) > 0.7
    assert all(UNSEEN in stated["adversary"] for stated in guarantee(staged.plan.spec))
    kept, _ = missing(db, table(), [*ALPHA, {"model": "k_anonymity", "k": 5}], **PRICED)
    assert not any(UNSEEN in stated["adversary"] for stated in guarantee(kept.plan.spec))


def test_readers_are_not_told_how_many_are_missing(db: Database) -> None:
    make_table(db.connect("source_owner"), COLUMNS, table())
    publish(db, policy(ROLES, 5, **PRICED, publish={"readers": ["analyst"]}))
    reader = db.connect("analyst")
    numbers = [row[0] for row in reader.execute("SELECT class_id FROM published.r").fetchall()]
    assert len(numbers) < 60
    assert set(numbers) == set(range(1, max(numbers) + 1))
    names = {d.name for d in reader.execute("SELECT * FROM pganon.releases").description or ()}
    assert not names & {"suppressed", "records", "row_count", "measures"}
