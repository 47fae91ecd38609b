"""Evidence of a release of classes against the same figures of the published relations by hand."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, run

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


def test_evidence_is_what_the_published_relations_say(staged: Staged):
    evidence = staged.plan.evidence(staged.state)
    assert evidence is not None
    source = [dict(zip(NAMES, row, strict=True)) for row in rows()]
    records = staged.table("records")
    _check_sizes(evidence["class_sizes"]["release"], Counter(r["class_id"] for r in records))
    keys = (tuple(row[name] for name in NAMES[:5]) for row in source)
    _check_sizes(evidence["class_sizes"]["source"], Counter(keys))
    _check_values(evidence["sensitive"][0], records)
    _check_attributes(evidence["attributes"], staged, source)
    _check_nothing_rare(evidence)


def _check_sizes(found: dict[str, Any], sizes: Counter[Any]) -> None:
    people = sum(sizes.values())
    assert (found["people"], found["groups"]) == (people, len(sizes))
    assert (found["smallest"], found["largest"]) == (min(sizes.values()), max(sizes.values()))
    assert sum(one["people"] for one in found["bins"]) == people
    for one in found["bins"]:
        inside = [n for n in sizes.values() if one["from"] <= n <= (one["to"] or people)]
        assert one["people"] == sum(inside)
        assert one["people"] == 0 or one["people"] >= SMALLEST
    for limit, chance in (("0.09", 0.09), ("1/11", 1 / 11)):
        above = sum(n for n in sizes.values() if 1 / n > chance + 1e-12)
        assert found["above"][limit] == (above if above == 0 or above >= SMALLEST else None)
    alone = sum(n for n in sizes.values() if n == 1)
    assert found["alone"] == (alone if alone == 0 or alone >= SMALLEST else None)


def _check_values(found: dict[str, Any], records: list[dict[str, Any]]) -> None:
    classes: dict[int, Counter[str]] = defaultdict(Counter)
    for record in records:
        classes[record["class_id"]][record["disease"]] += 1
    commonest = [(max(c.values()), c.total()) for c in classes.values()]
    assert found["most"] == pytest.approx(max(n / total for n, total in commonest))
    mean = sum(n for n, _ in commonest) / len(records)
    assert found["mean"] == pytest.approx(mean)
    for one in found["bins"]:
        inside = [t for n, t in commonest if one["from"] < n / t <= one["to"] + 1e-12]
        assert one["people"] == sum(inside)
        assert one["people"] == 0 or one["people"] >= SMALLEST
    whole = Counter(record["disease"] for record in records)
    for one in found["values"]:
        assert one["share"] == pytest.approx(whole[one["value"]] / len(records), abs=1e-6)
        highest = max(c[one["value"]] / c.total() for c in classes.values())
        assert one["highest"] == pytest.approx(highest, abs=1e-6)
    hidden = set(whole) - {one["value"] for one in found["values"]}
    assert found["others"]["values"] == len(hidden) >= 2
    assert sum(whole[name] for name in hidden) >= SMALLEST
    worst = max(
        c[name] / c.total() / (whole[name] / len(records))
        for name in hidden
        for c in classes.values()
    )
    over = found["others"]["times_over"]
    assert over is None or worst > over
    assert next(t for t in (100, 50, 20, 10, 5, 0) if worst > t) == (over or 0)


def _check_attributes(
    found: list[dict[str, Any]], staged: Staged, source: list[dict[str, Any]]
) -> None:
    sizes = Counter(record["class_id"] for record in staged.table("records"))
    classes = staged.classes
    for one in found:
        name = one["column"]
        values = Counter(row[name] for row in source)
        spread: Counter[Any] = Counter()
        exact = wide = 0.0
        for number, size in sizes.items():
            holds, width = SHOWN[name](classes[number])
            covered = [value for value in values if holds(value)]
            exact += size * (width == EXACT[name])
            wide += size * width
            for value in covered:
                spread[value] += size / len(covered)
        people = sizes.total()
        assert one["exact"] == pytest.approx(exact / people, abs=1e-6)
        assert one["width"] == pytest.approx(wide / people, abs=1e-4)
        _check_bins(one["distribution"], values, spread)


def _check_bins(found: dict[str, Any], values: Counter[Any], spread: Counter[Any]) -> None:
    bins, others = found["bins"], found.get("others")
    people, released = values.total(), sum(spread.values())
    assert 5 <= len(bins) <= 20 or found["kind"] == "values"
    seen: set[Any] = set()
    for one in bins:
        inside = {value for value in values if _inside(one, value)}
        seen |= inside
        assert one["source"] == pytest.approx(sum(values[v] for v in inside) / people, abs=1e-4)
        assert one["release"] == pytest.approx(sum(spread[v] for v in inside) / released, abs=1e-4)
        assert sum(values[v] for v in inside) >= SMALLEST or not inside
    hidden = set(values) - seen
    assert bool(hidden) == bool(others)
    if others:
        assert others["values"] == len(hidden) >= 2
        assert sum(values[v] for v in hidden) >= SMALLEST
        assert others["release"] == pytest.approx(
            sum(spread[v] for v in hidden) / released, abs=1e-4
        )
    every = [*bins, *([others] if others else [])]
    largest = max(abs(one["source"] - one["release"]) for one in every)
    assert found["largest_error"] == pytest.approx(largest, abs=1e-4)


def _inside(one: dict[str, Any], value: Any) -> bool:
    if "value" in one:
        return one["value"] == value
    place = value.year if isinstance(value, date) else value
    after = one["from"] is None or place >= one["from"]
    return after and (one["below"] is None or place < one["below"])


Shows = Callable[[dict[str, Any]], tuple[Callable[[Any], bool], float]]


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
        said = set(_leaves({**found, "bins": []})) | set(_leaves(found.get("distribution", {})))
        assert not said & {"odd grade", "odd disease", "777", 117, 1899}


def _leaves(found: Any) -> Iterator[Any]:
    if isinstance(found, dict):
        found = list(found.values())
    if not isinstance(found, list):
        yield found
        return
    for one in found:
        yield from _leaves(one)
