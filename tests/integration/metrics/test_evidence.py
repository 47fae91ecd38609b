"""Evidence of a release of classes against the same figures of the published relations by hand."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest

from pganon.errors import PolicyError
from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run
from tests.support.oracles.evidence import (
    check_attribute,
    check_chances,
    check_sizes,
    check_values,
    everybody_else,
    leaves,
)

pytestmark = pytest.mark.primary_server_only

ORDER = ["a", "b", "c", "odd grade"]
SMALLEST = 40
POLICY: dict[str, Any] = {
    "report": {"smallest": SMALLEST},
    "release": "people",
    "source": "public.people",
    "columns": {
        "id": {"role": "identifying"},
        "age": {"role": "quasi_identifying"},
        "born": {"role": "quasi_identifying"},
        "sex": {"role": "quasi_identifying"},
        "grade": {"role": "quasi_identifying", "type": "ordinal", "order": ORDER},
        "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [2]}},
        "disease": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k_anonymity", "k": 6},
        {"model": "distinct_l_diversity", "column": "disease", "l": 2},
    ],
    "method": {"name": "mondrian"},
}

NAMES = ("age", "born", "sex", "grade", "zip", "disease")


def rows() -> list[tuple[Any, ...]]:
    """600 people, and ten who are the only ones with some values."""
    draw = random.Random(7)
    made: list[tuple[Any, ...]] = []
    for _ in range(600):
        born = date(1930, 1, 1) + timedelta(days=draw.randrange(28_000))
        disease = draw.choices(["flu", "cold", "measles"], [6, 3, 1])[0]
        grade = draw.choices(ORDER[:3], [16, 3, 1])[0]
        place = f"{draw.choice(['10', '20'])}{draw.randrange(4)}"
        made.append(
            (draw.randint(18, 90), born, draw.choice(["f", "m", None]), grade, place, disease)
        )
    for place in range(10):
        made.append((117, date(1899, 5, 1 + place), "f", "odd grade", "777", "odd disease"))
    return made


@pytest.fixture
def staged(db: Database) -> Staged:
    conn = db.connect("source_owner")
    conn.execute(
        "CREATE TABLE public.people (id int PRIMARY KEY, age int, born date, sex text,"
        " grade text, zip text, disease text)"
    )
    with conn.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO public.people VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [(number, *row) for number, row in enumerate(rows())],
        )
    conn.execute("GRANT SELECT ON public.people TO steward")
    return run(db.owner(), POLICY, described=True)


@pytest.mark.slow
def test_evidence_is_what_the_published_relations_say(staged: Staged):
    evidence = staged.plan.evidence(staged.state)
    assert evidence is not None
    source = [dict(zip(NAMES, row, strict=True)) for row in rows()]
    records = staged.table("records")
    sizes = Counter(record["class_id"] for record in records)
    check_sizes(evidence["class_sizes"]["release"], sizes.values(), SMALLEST)
    keys = Counter(tuple(row[name] for name in NAMES[:5]) for row in source)
    check_sizes(evidence["class_sizes"]["source"], keys.values(), SMALLEST)
    classes: dict[int, Counter[str]] = defaultdict(Counter)
    for record in records:
        classes[record["class_id"]][record["disease"]] += 1
    holders = everybody_else(record["disease"] for record in records)
    check_values(evidence["sensitive"][0], classes, holders, SMALLEST)
    for one in evidence["attributes"]:
        name = one["column"]
        shown = [(SHOWN[name](staged.classes[number]), n) for number, n in sizes.items()]
        check_attribute(one, shown, [row[name] for row in source], SMALLEST, EXACT[name])
    _check_nothing_rare(evidence)


Shows = Callable[[dict[str, Any]], tuple[Callable[[Any], bool], float]]


@pytest.mark.parametrize(
    ("method", "everybody", "smallest"),
    [("mondrian", True, SMALLEST), ("one_dimensional", True, SMALLEST), ("mondrian", False, 1000)],
    ids=["mondrian", "one_dimensional", "strangers"],
)
@pytest.mark.slow
def test_the_risk_among_people_of_a_population(
    db: Database, staged: Staged, method: str, everybody: bool, smallest: int
):
    """Whom of a population classes cover, one by one; it decides neither classes nor partition.

    Of strangers some classes cover nobody: their records are found for certain. They are too
    few to be counted.
    """
    draw = random.Random(11)
    elsewhere = [(*draw.choice(rows())[:4], draw.choice(["101", "209", "778"])) for _ in range(500)]
    people = [row[:5] for row in rows() if everybody] + elsewhere
    owner = db.connect("source_owner")
    owner.execute(
        "CREATE TABLE public.everybody (age int, born date, sex text, grade text, zip text)"
    )
    with owner.cursor() as cursor:
        cursor.executemany("INSERT INTO public.everybody VALUES (%s, %s, %s, %s, %s)", people)
    owner.execute("GRANT SELECT ON public.everybody TO steward")
    limits = {0.2: 4, 0.05: 19}
    asked = {"smallest": smallest, "limits": list(limits), "population": "public.everybody"}
    found = run(
        staged.conn, {**POLICY, "method": {"name": method}, "report": asked}, described=True
    )
    evidence = found.plan.evidence(found.state)
    assert evidence is not None
    sizes = Counter(record["class_id"] for record in found.table("records"))
    within = {number: _covered(found.classes[number], people) for number in sizes}
    covered = {number: len(persons) for number, persons in within.items()}
    among = evidence["population"]
    assert among["smallest"] == min(covered.values())
    assert (min(covered.values()) >= 6) == everybody
    assert everybody or min(covered.values()) == 0 < max(covered.values())
    if evidence["record_risk"] is not None:
        picked = [(size, covered[number]) for number, size in sizes.items()]
        check_chances(among, picked, smallest)
    else:
        assert among["mean"] is None
    for limit, largest in limits.items():
        above = sum(size for number, size in sizes.items() if covered[number] <= largest)
        few = 0 < above < smallest or 0 < sizes.total() - above < smallest
        assert among["above"][f"{limit:g}"] == (None if few else above)
    # Everybody, by all classes that cover him.
    held = dict.fromkeys(range(len(people)), 0.0)
    for number, persons in within.items():
        for person in persons:
            held[person] += sizes[number] / covered[number]
    chances = sorted(min(1, chance) for chance in held.values())
    assert among["presence"]["highest"] == pytest.approx(chances[-1])
    enough = 0.05 * len(people) >= smallest
    p95 = chances[-(-95 * len(people) // 100) - 1]
    assert among["presence"]["p95"] == (pytest.approx(p95) if enough else None)
    assert set(evidence["class_sizes"]["release"]["above"]) == {"0.2", "0.05"}
    if method == "mondrian":
        assert found.classes == staged.classes


def _covered(shown: dict[str, Any], people: list[tuple[Any, ...]]) -> list[int]:
    tests = [SHOWN[name](shown)[0] for name in NAMES[:5]]
    return [
        place
        for place, person in enumerate(people)
        if all(holds(v) for holds, v in zip(tests, person, strict=True))
    ]


def test_groups_that_cover_nobody_are_refused_a_population(staged: Staged):
    given = {
        **POLICY,
        "privacy": [{"model": "anatomy_l_diversity", "column": "disease", "l": 2}],
        "method": {"name": "anatomy"},
        "report": {"population": "public.people"},
    }
    with pytest.raises(PolicyError, match=r"report\.population.*method anatomy .* do not say whom"):
        run(staged.conn, given)


def _age(row: dict[str, Any]) -> tuple[Callable[[Any], bool], float]:
    low, high = int(row["age"].lower), int(row["age"].upper)
    return (lambda v: low <= v <= high), high - low


def _born(row: dict[str, Any]) -> tuple[Callable[[Any], bool], float]:
    low, after = row["born"].lower, row["born"].upper
    return (lambda v: low <= v < after), (after - low).days - 1


def _set(name: str) -> Shows:
    def shows(row: dict[str, Any]) -> tuple[Callable[[Any], bool], float]:
        held = set(row[name] or ()) | ({None} if row.get(f"{name}_null") else set())
        return (lambda v: v in held), len(held)

    return shows


def _zip(row: dict[str, Any]) -> tuple[Callable[[Any], bool], float]:
    label = row["zip"].rstrip("*")
    return (lambda v: v.startswith(label)), {3: 0, 2: 1}.get(len(label), 2)


SHOWN: dict[str, Shows] = {
    "age": _age,
    "born": _born,
    "sex": _set("sex"),
    "grade": _set("grade"),
    "zip": _zip,
}
EXACT = {"age": 0, "born": 0, "sex": 1, "grade": 1, "zip": 0}


def _check_nothing_rare(evidence: dict[str, Any]) -> None:
    """Values of ten people, and the greatest and the least, are nowhere."""
    for found in [evidence["sensitive"][0], *evidence["attributes"]]:
        said = set(leaves({**found, "bins": []})) | set(leaves(found.get("distribution", {})))
        assert not said & {"odd grade", "odd disease", "777", 117, 1899}


@pytest.mark.parametrize("missing", [["flu"], ["flu", "cold", "measles", "odd disease"], ["FLU"]])
@pytest.mark.slow
def test_values_that_are_missing_are_not_what_a_group_has_in_common(
    staged: Staged, missing: list[str]
):
    """They are members of the group still, and are shown with their own shares."""
    asked = {"smallest": SMALLEST, "missing": {"disease": missing}}
    found = run(staged.conn, {**POLICY, "report": asked}, described=True)
    evidence = found.plan.evidence(found.state)
    assert evidence is not None
    (item,) = evidence["sensitive"]
    classes: dict[int, Counter[str]] = defaultdict(Counter)
    for record in found.table("records"):
        classes[record["class_id"]][record["disease"]] += 1
    most = {
        number: (max([n for value, n in held.items() if value not in missing] or [0]), held.total())
        for number, held in classes.items()
    }
    assert item["missing"] == missing
    assert item["most"] == pytest.approx(max(n / total for n, total in most.values()))
    share = sum(n for n, _ in most.values()) / sum(total for _, total in most.values())
    assert item["mean"] == pytest.approx(share)
    for one in item["bins"]:
        inside = [t for n, t in most.values() if one["from"] < (n / t or 1e-9) <= one["to"] + 1e-12]
        assert one["people"] == sum(inside)
    assert sum(one["people"] for one in item["bins"]) == sum(h.total() for h in classes.values())
    assert "flu" in [one["value"] for one in item["values"]]


@pytest.mark.slow
def test_null_may_be_missing(db: Database, staged: Staged):
    db.connect("source_owner").execute("UPDATE public.people SET disease = NULL WHERE id % 3 > 0")
    most = []
    for missing in ([], [None]):
        asked = {"smallest": SMALLEST, **({"missing": {"disease": missing}} if missing else {})}
        found = run(staged.conn, {**POLICY, "report": asked}, described=True)
        evidence = found.plan.evidence(found.state)
        assert evidence is not None
        held: dict[int, Counter[Any]] = defaultdict(Counter)
        for record in found.table("records"):
            held[record["class_id"]][record["disease"]] += 1
        shares = [
            max([n for value, n in one.items() if value not in missing] or [0]) / one.total()
            for one in held.values()
        ]
        assert evidence["sensitive"][0]["most"] == pytest.approx(max(shares))
        most.append(max(shares))
    assert most[1] < most[0]
