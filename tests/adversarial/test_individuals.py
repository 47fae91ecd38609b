"""Attack: one person with many records fills a class alone."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.driver import leftovers, publish, refused
from tests.support.sources.builders import make_table, policy

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


# -- several columns tell individuals apart ---------------------------------------------------

KEYED = {"house": "text", "person": "text", **{k: v for k, v in COLUMNS.items() if k != "person"}}


def keyed(**changes: Any) -> dict[str, Any]:
    roles = {"house": {"role": "identifying"}, "person": {"role": "identifying"}, **ROLES}
    return {**policy(roles, 2), "individual": ["house", "person"], **changes}


def build_keyed(db: Any, keys: list[tuple[Any, Any]]) -> None:
    rows = [[house, person, n, "x"] for n, (house, person) in enumerate(keys)]
    make_table(db.connect("source_owner"), KEYED, rows)


@pytest.mark.parametrize(
    "keys",
    [
        [("north", "7"), ("south", "7"), ("north", "8")],
        # However the two are put together, they stay two.
        [("1", "12"), ("11", "2"), ("1,1", "2"), ("1", "1,2"), ('1","1', "2"), ("1", '1","2')],
        [("", "a"), ("a", ""), ("a b", "c"), ("a", "b c")],
    ],
)
def test_people_of_different_keys_are_several(db: Any, keys: list[tuple[str, str]]) -> None:
    build_keyed(db, keys)
    assert publish(db, keyed()).released == len(keys)


def test_people_of_one_key_are_one(db: Any) -> None:
    """Neither column alone would tell: everybody is in one house, and numbers repeat in others."""
    build_keyed(db, [("north", "7"), ("south", "7"), ("north", "7"), ("south", "8")])
    with refused("several_records_per_individual") as errors:
        publish(db, keyed())
    text = f"{errors[0]} {errors[0].hint}"
    assert "3 individuals, 4 records" in text
    assert "house, person" in text
    assert "north" not in text
    assert leftovers(db) == []


def test_spellings_of_a_part_that_are_equal_are_one_person(db: Any) -> None:
    rows = [["a", p, n, "x"] for n, p in enumerate(("1.0", "1.00", "2"))]
    make_table(db.connect("source_owner"), {**KEYED, "person": "numeric"}, rows)
    with refused("several_records_per_individual") as errors:
        publish(db, keyed())
    assert "2 individuals, 3 records" in str(errors[0])


@pytest.mark.parametrize("missing", [(None, "7"), ("north", None), (None, None)])
def test_who_lacks_a_part_of_the_key_is_nobody(db: Any, missing: tuple[Any, Any]) -> None:
    build_keyed(db, [("north", "7"), ("south", "7"), missing])
    with refused("key_null") as errors:
        publish(db, keyed())
    assert "one of the columns house, person is NULL in 1 records" in str(errors[0])


@pytest.mark.parametrize("method", ["danonyir", "geneir"])
def test_records_of_a_key_stay_together_under_one_number(db: Any, method: str) -> None:
    keys = [(f"h{n % 4}", f"{n // 4}") for n in range(24)]
    rows = [[*key, n % 6, f"d{n % 5}{k}"] for n, key in enumerate(keys) for k in range(1 + n % 3)]
    make_table(db.connect("source_owner"), KEYED, rows)
    q: Any = {"hierarchy": {"intervals": [3]}} if method == "geneir" else "q"
    roles = {"house": {"role": "individual"}, "person": {"role": "identifying"}, "q": q, "s": "s"}
    declared = policy(roles, [{"model": "ir_k_anonymity", "k": 2}], method={"name": method})
    found = publish(db, {**declared, "individual": ["house", "person"]})
    cursor = db.owner().execute(f"SELECT * FROM {found.view}")
    names = [column.name for column in cursor.description]
    assert not {"house", "person"} & set(names)
    shown: dict[Any, list[str]] = {}
    classes: dict[Any, set[int]] = {}
    for row in (dict(zip(names, row, strict=True)) for row in cursor.fetchall()):
        shown.setdefault(row["individual_no"], []).append(row["s"])
        classes.setdefault(row["individual_no"], set()).add(row["class_id"])
    held: dict[Any, list[str]] = {}
    for house, person, _, disease in rows:
        held.setdefault((house, person), []).append(disease)
    assert sorted(map(sorted, shown.values())) == sorted(map(sorted, held.values()))
    assert all(len(numbers) == 1 for numbers in classes.values())
