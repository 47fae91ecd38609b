"""Evidence of local groups and of classes with buckets against figures of the published rows."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from typing import Any

import pytest

from pganon.forms.request import Request, Workload
from pganon.plan.build import NOTHING_MORE
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.oracles.evidence import (
    Shown,
    check_attribute,
    check_sizes,
    check_values,
    everybody_else,
    leaves,
)

pytestmark = pytest.mark.primary_server_only

SMALLEST = 40
NAMES = ("age", "zip", "job", "disease", "drug", "shy")
Row = dict[str, Any]


def source() -> list[Row]:
    """600 people, of whom 25 alone have some values, most of which some hide and others show."""
    draw = random.Random(3)
    made: list[tuple[Any, ...]] = []
    for number in range(575):
        place = draw.choice(["100", "101", "110", "111", "120", None])
        job = draw.choice(["cook", "smith", "baker"])
        disease = draw.choices(["flu", "cold", "measles", "gout"], [4, 4, 3, 3])[0]
        drug = draw.choice(["a", "b", "c"])
        made.append((draw.randint(20, 60), place, job, disease, drug, number % 3 == 0))
    for number in range(25):
        place, job, disease, drug = draw.choices(["odd", "odder"], k=4)
        odd = (place, f"{job} job", f"{disease} disease", f"{drug} drug")
        made.append((90 + number, *odd, number > 12))
    return [dict(zip(NAMES, row, strict=True)) for row in made]


COLUMNS: dict[str, Row] = {
    "id": {"role": "identifying"},
    "shy": {"role": "identifying"},
    "age": {"role": "quasi_identifying"},
    "zip": {"role": "semi_sensitive", "sensitive_when": {"column": "shy"}},
    "job": {"role": "semi_sensitive", "sensitive_when": {"column": "shy"}},
    "disease": {"role": "sensitive"},
    "drug": {"role": "identifying"},
}


def policy(columns: dict[str, Row], privacy: list[Row], **method: Any) -> Row:
    return {
        "release": "people",
        "source": "public.people",
        "report": {"smallest": SMALLEST},
        "columns": {**COLUMNS, **columns},
        "privacy": [{"model": "k_anonymity", "k": 5}, *privacy],
        "method": method,
    }


def staged(db: Database, document: Row, request: Request = NOTHING_MORE) -> Staged:
    conn = db.connect("source_owner")
    conn.execute(
        "CREATE TABLE public.people (id int PRIMARY KEY, age int, zip text, job text NOT NULL,"
        " disease text, drug text, shy boolean)"
    )
    with conn.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO public.people VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [(number, *row.values()) for number, row in enumerate(source())],
        )
    conn.execute("GRANT SELECT ON public.people TO steward")
    return run(db.owner(), document, request=request, described=True)


def shown_age(row: Row) -> Shown:
    low, high = int(row["age"].lower), int(row["age"].upper)
    return (lambda v: low <= v <= high), high - low


def shown_set(row: Row, name: str) -> Shown:
    held = set(row[name] or ()) | ({None} if row.get(f"{name}_null") else set())
    return (lambda v: v in held), len(held)


def shown_label(row: Row, name: str) -> Shown:
    label = row[name].rstrip("*")
    level = 3 - len(label) if label != row[name] else 0
    return (lambda v: v.startswith(label)), level


def check_nothing_rare(evidence: Row) -> None:
    """What 25 people have, and their ages, is nowhere."""
    said = set(leaves(evidence["attributes"])) | set(leaves(evidence["sensitive"]))
    assert not [text for text in said if isinstance(text, str) and text.startswith("odd")]
    (age,) = (one for one in evidence["attributes"] if one["column"] == "age")
    edges = [bin[end] for bin in age["distribution"]["bins"] for end in ("from", "below")]
    assert max(edge for edge in edges if edge is not None) < 90


LOCAL: list[Row] = [
    {"model": "local_bucket_diversity", "column": name, "l": 2} for name in ("zip", "job")
] + [{"model": "local_bucket_diversity", "column": "disease", "l": 3}]


@pytest.mark.parametrize("method", ["lgb_mdp", "local_generalization"])
def test_of_who_shows_a_column_and_of_who_hides_it(db: Database, method: str):
    """A value that is had by enough people, few of whom hide it, is named among the others only."""
    privacy = LOCAL if method == "lgb_mdp" else []
    options = {"link_threshold": 1} if privacy else {}
    release = staged(db, policy({}, privacy, name=method, **options))
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    rows, records = source(), release.table("records")
    groups = {row["group_id"]: row for row in release.table("groups")}
    sizes = Counter(record["group_id"] for record in records)
    check_sizes(evidence["class_sizes"]["release"], sizes.values(), SMALLEST)
    alike = Counter((r["age"], r["shy"], None if r["shy"] else (r["zip"], r["job"])) for r in rows)
    check_sizes(evidence["class_sizes"]["source"], alike.values(), SMALLEST)
    age, *hidden = evidence["attributes"]
    shown = [(shown_age(groups[number]), n) for number, n in sizes.items()]
    check_attribute(age, shown, [row["age"] for row in rows], SMALLEST, 0)
    for one in hidden:
        name = one["column"]
        open_ = [number for number in groups if groups[number][f"{name}_form"] == "g"]
        assert 0 < len(open_) < len(groups)
        shown = [(shown_set(groups[number], name), sizes[number]) for number in open_]
        theirs = [row[name] for row in rows if not row["shy"]]
        check_attribute(one, shown, theirs, SMALLEST, 1)
    for place, one in enumerate(evidence["sensitive"]):
        name = one["column"]
        assert one["of"] == ("all" if name == "disease" else "hidden")
        held: dict[int, Counter[Any]] = defaultdict(Counter)
        values = release.table(f"values{place}")
        if method == "lgb_mdp":
            for row in values:
                held[row[f"{name}_bucket"]][row[name]] += row["count"]
        else:
            of_bucket = {row[f"{name}_bucket"]: row[name] for row in values}
            for record in records:
                if record[f"{name}_bucket"] is not None:
                    held[record["group_id"]][of_bucket[record[f"{name}_bucket"]]] += 1
        everybody = everybody_else(row[name] for row in rows if row["shy"] or name == "disease")
        check_values(one, held, everybody, SMALLEST)
    check_nothing_rare(evidence)


@pytest.mark.slow
def test_of_classes_with_buckets(db: Database):
    """Also with labels of a hierarchy."""
    columns: dict[str, Row] = {
        "zip": {"role": "identifying"},
        "job": {"role": "quasi_identifying", "hierarchy": {"prefix": [2, 1]}},
        "drug": {"role": "sensitive"},
    }
    diverse = {"model": "slicing_l_diversity", "l": 2, "level": "unique"}
    tables = [["disease"], ["drug"]]
    options = {"name": "sloms", "sensitive_tables": tables, "link_threshold": 1}
    release = staged(db, policy(columns, [diverse], **options))
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    rows, qit = source(), release.table("qit")
    sizes = Counter(row["class_id"] for row in qit)
    classes = {row["class_id"]: row for row in qit}
    check_sizes(evidence["class_sizes"]["release"], sizes.values(), SMALLEST)
    alike = Counter((row["age"], row["job"]) for row in rows)
    check_sizes(evidence["class_sizes"]["source"], alike.values(), SMALLEST)
    age, job = evidence["attributes"]
    shown = [(shown_age(classes[number]), n) for number, n in sizes.items()]
    check_attribute(age, shown, [row["age"] for row in rows], SMALLEST, 0)
    assert job["unit"] == "levels"
    shown = [(shown_label(classes[number], "job"), n) for number, n in sizes.items()]
    check_attribute(job, shown, [row["job"] for row in rows], SMALLEST, 0)
    for place, one in enumerate(evidence["sensitive"], start=1):
        held: dict[int, Counter[Any]] = defaultdict(Counter)
        for row in release.table(f"st{place}"):
            held[row["group_id"]][row[one["column"]]] += row["count"]
        everybody = everybody_else(row[one["column"]] for row in rows)
        check_values(one, held, everybody, SMALLEST)
    check_nothing_rare(evidence)


@pytest.mark.parametrize(
    "request_",
    [Request(everything=True), Request(workload=Workload(queries=20, predicates=1))],
    ids=["everything", "workload"],
)
def test_after_metrics_on_request(db: Database, request_: Request):
    """Which make some of the tables that evidence is from."""
    options = {"name": "lgb_mdp", "link_threshold": 1}
    release = staged(db, policy({}, LOCAL, **options), request_)
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    assert evidence["attributes"][1]["distribution"]["largest_error"] is not None


def test_of_what_too_few_hide_or_show(db: Database):
    """Nothing is said of them together, either."""
    columns: dict[str, Row] = {
        name: {"role": "semi_sensitive", "sensitive_when": {"predicate": f"id {sign} 30"}}
        for name, sign in (("zip", "<"), ("job", ">="))
    }
    release = staged(db, policy(columns, [], name="local_generalization"))
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    assert [one["column"] for one in evidence["sensitive"]] == ["job", "disease"]
    (job,) = (one for one in evidence["attributes"] if one["column"] == "job")
    assert job["distribution"] == {
        "kind": "values",
        "bins": [],
        "others": None,
        "largest_error": None,
    }


def test_of_columns_that_others_hide(db: Database):
    """Who hides a column is not like who has none; labels are of those who show it."""
    hierarchy = {"prefix": [2, 1]}
    young = {"predicate": "age < 30"}
    columns: dict[str, Row] = {
        "job": {"role": "semi_sensitive", "sensitive_when": young, "hierarchy": hierarchy}
    }
    release = staged(db, policy(columns, [], name="local_generalization"))
    evidence = release.plan.evidence(release.state)
    assert evidence is not None
    rows = source()
    alike = Counter(
        (r["age"], "hidden" if r["shy"] else r["zip"], r["job"] if r["age"] >= 30 else None)
        for r in rows
    )
    check_sizes(evidence["class_sizes"]["source"], alike.values(), SMALLEST)
    sizes = Counter(record["group_id"] for record in release.table("records"))
    groups = {row["group_id"]: row for row in release.table("groups")}
    shown = [
        (shown_label(row, "job"), sizes[number])
        for number, row in groups.items()
        if row["job_form"] == "g"
    ]
    (job,) = (one for one in evidence["attributes"] if one["column"] == "job")
    check_attribute(job, shown, [r["job"] for r in rows if r["age"] >= 30], SMALLEST, 0)
