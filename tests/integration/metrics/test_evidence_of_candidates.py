"""Evidence of clusters and of linked tables: candidates in place of people who look the same."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from itertools import product
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.oracles.evidence import (
    check_attribute,
    check_counted,
    check_values,
    everybody_else,
    leaves,
)

pytestmark = pytest.mark.primary_server_only

SMALLEST = 30
NAMES = ("age", "zip", "job", "disease")
Row = dict[str, Any]


def source() -> list[Row]:
    """300 people, and 20 who alone are what is odd."""
    draw = random.Random(11)
    made: list[tuple[Any, ...]] = []
    for _ in range(300):
        place = draw.choice(["100", "101", "110", "111", None])
        disease = draw.choices(["flu", "cold", "measles", "gout"], [4, 4, 3, 3])[0]
        job = draw.choice(["cook", "smith", "baker"])
        made.append((draw.randint(20, 60), place, job, disease))
    for number in range(20):
        job, disease = (("odd", "odder")[number // power % 2] for power in (2, 1))
        place = draw.choice(["odd", "odder"])
        made.append((90 + number, place, f"{job} job", f"{disease} disease"))
    return [dict(zip(NAMES, row, strict=True)) for row in made]


def staged(db: Database, roles: dict[str, Row], model: Row, method: Row) -> Staged:
    conn = db.connect("source_owner")
    conn.execute(
        "CREATE TABLE public.people (id int PRIMARY KEY, age int, zip text, job text, disease text)"
    )
    with conn.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO public.people VALUES (%s, %s, %s, %s, %s)",
            [(number, *row.values()) for number, row in enumerate(source())],
        )
    conn.execute("GRANT SELECT ON public.people TO steward")
    document = {
        "release": "people",
        "source": "public.people",
        "report": {"smallest": SMALLEST},
        "columns": {"id": {"role": "identifying"}, **roles},
        "privacy": [model],
        "method": method,
    }
    return run(db.owner(), document, described=True)


def check_nothing_rare(evidence: Row) -> None:
    """What 20 people have, and their ages, is nowhere."""
    said = set(leaves(evidence))
    assert not [text for text in said if isinstance(text, str) and text.startswith("odd")]
    for one in evidence["attributes"]:
        bins = one["distribution"]["bins"]
        edges = [bin[end] for bin in bins if "from" in bin for end in ("from", "below")]
        assert max([edge for edge in edges if edge is not None], default=0) < 90


@pytest.mark.parametrize("count", ["supported", "product"])
def test_of_clusters(db: Database, count: str):
    """Combinations that exist, whichever of them the model counts."""
    sets = {"person": ["age", "job"], "place": ["zip", "disease"]}
    roles = {
        name: {"role": "quasi_sensitive", "set": of} for of, names in sets.items() for name in names
    }
    model = {"model": "qs_k_anonymity", "k": 4, "count": count}
    release = staged(db, roles, model, {"name": "qs_efficient"})
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    assert (evidence["class_sizes"], evidence["sensitive"]) == (
        {"release": None, "source": None},
        [],
    )
    rows, clusters = source(), release.table("clusters")
    for one in evidence["candidates"]:
        names = sets[one["of"]]
        assert (one["columns"], one["kind"]) == (names, "combinations")
        exist = {tuple(row[name] for name in names) for row in rows}
        people = Counter[int]()
        for cluster in clusters:
            found = exist & set(product(*(cluster[name] for name in names)))
            people[len(found)] += cluster["size"]
        check_counted(one, people, SMALLEST)
    assert [one["of"] for one in evidence["candidates"]] == [*sets]
    for one in evidence["attributes"]:
        name = one["column"]
        shown = [((lambda v, held=c[name]: v in held), len(c[name]), c["size"]) for c in clusters]
        values = [row[name] for row in rows]
        check_attribute(one, [((holds, n), size) for holds, n, size in shown], values, SMALLEST, 1)
    check_nothing_rare(evidence)


SLICED = [["age", "zip"], ["job", "disease"]]


@pytest.mark.parametrize(
    ("model", "method"),
    [
        ("anatomy_l_diversity", {"name": "anatomy"}),
        (
            "slicing_l_diversity",
            {"name": "slicing", "columns": [["age", "zip"], ["job", "disease"]]},
        ),
    ],
)
def test_of_linked_tables(db: Database, model: str, method: Row):
    """Who knows a column beside the values knows which rows of a bucket they are among."""
    roles: dict[str, Row] = {name: {"role": "quasi_identifying"} for name in NAMES[:3]}
    roles["disease"] = {"role": "sensitive"}
    release = staged(db, roles, {"model": model, "column": "disease", "l": 2}, method)
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    groups: dict[Any, Counter[Any]] = defaultdict(Counter)
    for row in release.table("st"):
        groups[row["group_id"], row.get("job")][row["disease"]] += row["count"]
    (one,) = evidence["candidates"]
    assert (one["of"], one["columns"], one["kind"]) == ("disease", ["disease"], "values")
    people = Counter[int]()
    for held in groups.values():
        people[len(held)] += held.total()
    check_counted(one, people, SMALLEST)
    assert one["groups"] == len(groups)
    everybody = everybody_else(row["disease"] for row in source())
    check_values(evidence["sensitive"][0], groups, everybody, SMALLEST)
    check_nothing_rare(evidence)
