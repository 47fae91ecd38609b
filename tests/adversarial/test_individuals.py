"""Attack: one person with many records fills a class alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.builders import make_table, policy
from tests.support.driver import leftovers, publish, refused

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"person": "text", "q": "integer", "s": "text"}
ROLES = {"q": "q", "s": "s"}


def build(db: Any, persons: list[str | None]) -> None:
    make_table(db.connect("source_owner"), COLUMNS, [[p, n, "x"] for n, p in enumerate(persons)])


@pytest.mark.parametrize(
    "named",
    [
        {"columns": {"person": {"role": "individual"}}},
        {"columns": {"person": {"role": "identifying"}}, "individual": "person"},
    ],
)
def test_several_records_of_one_person_are_refused(db: Any, named: dict[str, Any]) -> None:
    build(db, ["anna-marker", "anna-marker", "bert", "cleo", "dora"])
    declared = policy({**ROLES, **named["columns"]}, 2)
    declared |= {key: value for key, value in named.items() if key != "columns"}
    with refused("several_records_per_individual") as errors:
        publish(db, declared)
    text = f"{errors[0]} {errors[0].hint}"
    assert "many_accepted" in text
    assert "anna" not in text
    assert leftovers(db) == []
    accepted = publish(db, {**declared, "records_per_individual": "many_accepted"})
    assert any("several records" in warning for warning in accepted.warnings)
    columns = db.owner().execute(f"SELECT * FROM {accepted.view} LIMIT 0").description
    assert "person" not in [column.name for column in columns or []]


def test_one_record_each_is_released(db: Any) -> None:
    build(db, ["a", "b", "c", "d"])
    assert publish(db, policy({**ROLES, "person": "individual"}, 2)).released == 4


@pytest.mark.parametrize(
    ("kind", "spellings"),
    [
        ("numeric", ["1.0", "1.00", "2"]),
        ("float8", ["0", "-0", "2"]),
        ("char(4)", ["a", "a ", "b"]),
    ],
)
def test_spellings_that_are_equal_are_one_person(db: Any, kind: str, spellings: list[str]) -> None:
    rows = [[person, n, "x"] for n, person in enumerate(spellings)]
    make_table(db.connect("source_owner"), {**COLUMNS, "person": kind}, rows)
    with refused("several_records_per_individual") as errors:
        publish(db, policy({**ROLES, "person": "individual"}, 2))
    assert "2 individuals, 3 records" in str(errors[0])
