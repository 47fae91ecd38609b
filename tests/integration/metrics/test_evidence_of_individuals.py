"""Evidence of releases in which people may have several records, counted by people."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.oracles.evidence import (
    Shown,
    check_attribute,
    check_sizes,
    check_values,
    leaves,
)

pytestmark = pytest.mark.primary_server_only

SMALLEST = 11
NAMES = ("person", "age", "zip", "disease")
ODD = ("odd", "odder", "oddest")
Row = dict[str, Any]


def source() -> list[Row]:
    """240 people with one to four records, and one with 36, of whom alone is what is odd."""
    draw = random.Random(5)
    made: list[tuple[Any, ...]] = []
    for number in range(240):
        age, place = draw.randint(20, 60), f"Z{draw.randrange(4)}"
        for _ in range(draw.randint(1, 4)):
            disease = draw.choices(["flu", "cold", "measles", "gout"], [12, 6, 4, 1])[0]
            made.append((f"p{number}", age + draw.choice([0, 0, 0, 1]), place, disease))
    for number in range(36):
        made.append(("somebody", 90 + number, f"{ODD[number % 3]} place", f"{ODD[number % 3]}"))
    return [dict(zip(NAMES, row, strict=True)) for row in made]


def policy(method: Mapping[str, Any], privacy: list[Row], **keys: Any) -> Row:
    return {
        "release": "visits",
        "source": "public.visit",
        "report": {"smallest": SMALLEST},
        "columns": {
            "id": {"role": "identifying"},
            "person": {"role": "individual"},
            "age": {"role": "quasi_identifying"},
            "zip": {"role": "quasi_identifying"},
            "disease": {"role": "sensitive"},
        },
        "privacy": privacy,
        "method": dict(method),
        **keys,
    }


def staged(db: Database, document: Row) -> Staged:
    conn = db.connect("source_owner")
    conn.execute(
        "CREATE TABLE public.visit (id int PRIMARY KEY, person text, age int, zip text,"
        " disease text)"
    )
    with conn.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO public.visit VALUES (%s, %s, %s, %s, %s)",
            [(number, *row.values()) for number, row in enumerate(source())],
        )
    conn.execute("GRANT SELECT ON public.visit TO steward")
    return run(db.owner(), document, described=True)


def holders(rows: list[Row], name: str, person: str = "person") -> dict[Any, set[Any]]:
    found: dict[Any, set[Any]] = defaultdict(set)
    for row in rows:
        found[row[name]].add(row[person])
    return found


def shown_age(row: Row) -> Shown:
    low, high = int(row["age"].lower), int(row["age"].upper)
    return (lambda v: low <= v <= high), high - low


def shown_zip(row: Row) -> Shown:
    return (lambda v: v in row["zip"]), len(row["zip"])


def check_attributes(evidence: Row, release: Staged) -> None:
    sizes = Counter(record["class_id"] for record in release.table("records"))
    rows = source()
    for one, shows, exactly in zip(
        evidence["attributes"], (shown_age, shown_zip), (0, 1), strict=True
    ):
        shown = [(shows(release.classes[number]), n) for number, n in sizes.items()]
        name = one["column"]
        values = [row[name] for row in rows]
        check_attribute(one, shown, values, SMALLEST, exactly, holders(rows, name))


def check_nothing_of_one_person(evidence: Row) -> None:
    """However many records somebody has, it is one person."""
    said = set(leaves(evidence["sensitive"])) | set(leaves(evidence["attributes"]))
    assert not {text for text in said if isinstance(text, str) and text.startswith("odd")}
    edges = [
        bin[end]
        for bin in evidence["attributes"][0]["distribution"]["bins"]
        for end in ("from", "below")
    ]
    assert max(edge for edge in edges if edge is not None) < 90


RESERVED = [{"model": "ir_kl_anonymity", "column": "disease", "k": 4, "l": 2}]


def test_people_are_counted_and_not_their_records(db: Database):
    release = staged(db, policy({"name": "danonyir", "qi_conflict": "hull"}, RESERVED))
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    records, rows = release.table("records"), source()
    people: dict[int, set[int]] = defaultdict(set)
    held: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        people[record["class_id"]].add(record["individual_no"])
        held[record["class_id"]][record["disease"]].add(record["individual_no"])
    totals = {number: len(found) for number, found in people.items()}
    check_sizes(evidence["class_sizes"]["release"], totals.values(), SMALLEST)
    of_person: dict[str, set[Any]] = defaultdict(set)
    for row in rows:
        of_person[row["person"]].add((row["age"], row["zip"]))
    alike = Counter(frozenset(cells) for cells in of_person.values())
    check_sizes(evidence["class_sizes"]["source"], alike.values(), SMALLEST)
    groups = {
        number: Counter({value: len(who) for value, who in found.items()})
        for number, found in held.items()
    }
    everybody = holders(records, "disease", "individual_no")
    check_values(evidence["sensitive"][0], groups, everybody, SMALLEST, totals)
    check_attributes(evidence, release)
    check_nothing_of_one_person(evidence)


def test_small_counts_are_of_people_where_records_are_counted(db: Database):
    """`records_per_individual: many_accepted`."""
    document = policy(
        {"name": "mondrian"},
        [{"model": "k_anonymity", "k": 4}],
        records_per_individual="many_accepted",
    )
    release = staged(db, document)
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    records = release.table("records")
    groups: dict[int, Counter[str]] = defaultdict(Counter)
    for record in records:
        groups[record["class_id"]][record["disease"]] += 1
    fewest = SMALLEST * max(Counter(row["person"] for row in source()).values())
    everybody = holders(source(), "disease")
    check_values(evidence["sensitive"][0], groups, everybody, SMALLEST, fewest=fewest)
    assert {one["people"] >= fewest for one in evidence["class_sizes"]["source"]["bins"]} == {True}
    check_attributes(evidence, release)
    check_nothing_of_one_person(evidence)
