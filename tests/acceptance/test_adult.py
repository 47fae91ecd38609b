"""The Adult data set, from the file to what an analyst reads; golden figures of utility.

Needs PGANON_DATA: the folder that holds adult/adult.data.gz (UCI Machine Learning Repository).
"""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness.cli import pganon
from tests.support.harness.driver import Connection
from tests.support.oracles import definitions as oracle

pytestmark = [
    pytest.mark.primary_server_only,
    pytest.mark.skipif(
        not (Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/adult.data.gz").exists(),
        reason="PGANON_DATA is not set, or holds no adult/adult.data.gz",
    ),
]
NAMES = (
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,"
    "capital_gain,capital_loss,hours_per_week,native_country,income"
)
QIS = ("age", "education", "marital_status", "race", "sex", "native_country")
COMPLETE = "workclass is not null and occupation is not null and native_country is not null"
SENSITIVE = "occupation"


@pytest.fixture
def adult(db: Any, tmp_path: Path) -> Any:
    """The database with table steward.adult, imported by the command line."""
    with db.connect() as steward:
        steward.execute("CREATE SCHEMA data")
    packed = Path(os.environ["PGANON_DATA"]) / "adult/adult.data.gz"
    file = tmp_path / "adult.csv"
    file.write_text(gzip.decompress(packed.read_bytes()).decode().replace(", ", ","))
    options = ["--no-header", "--names", NAMES, "--null", "?", "--dsn", db.dsn()]
    ran = pganon("import", str(file), "data.adult", *options)
    assert ran.code == 0, ran.err
    return db


def policy(k: int, l: int = 0, **others: Any) -> dict[str, Any]:  # noqa: E741
    privacy: list[dict[str, Any]] = [{"model": "k_anonymity", "k": k}]
    if l:
        privacy.append({"model": "distinct_l_diversity", "column": SENSITIVE, "l": l})
    return {
        "release": "adult",
        "source": "data.adult",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in QIS},
            SENSITIVE: {"role": "sensitive"},
            "hours_per_week": {"role": "insensitive"},
        },
        "privacy": privacy,
        "method": {"name": "mondrian"},
        "publish": {"readers": ["analyst"]},
        **others,
    }


def release(db: Any, folder: Path, declared: dict[str, Any]) -> dict[str, Any]:
    file = folder / "policy.json"
    file.write_text(json.dumps(declared))
    ran = pganon("run", str(file), "--json", "--dsn", db.dsn())
    assert ran.code == 0, ran.err
    return ran.json


@pytest.mark.slow
def test_an_analyst_reads_what_was_promised(adult: Any, tmp_path: Path) -> None:
    result = release(adult, tmp_path, policy(10, 3))
    source = adult.owner().execute(f"SELECT {', '.join(QIS)}, occupation FROM data.adult")
    records = source.fetchall()
    analyst: Connection = adult.connect("analyst")
    cursor = analyst.execute("SELECT * FROM published.adult")
    names = [column.name for column in cursor.description or []]
    rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    assert len(rows) == len(records) == result["released"] == 32_561
    classes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        classes[row["class_id"]].append(row)
    assert min(map(len, classes.values())) >= 10
    assert min(oracle.distinct_l(r[SENSITIVE] for r in c) for c in classes.values()) >= 3
    assert len(classes) == result["utility"]["classes"]
    for members in classes.values():
        assert len({str([row[name] for name in names[:-2]]) for row in members}) == 1
    check_containment(records, {number: members[0] for number, members in classes.items()}, rows)
    # The source itself is out of reach.
    with pytest.raises(Exception, match="permission denied"):
        analyst.execute("SELECT * FROM data.adult")


def check_containment(
    records: list[Any], classes: dict[int, dict[str, Any]], rows: list[dict[str, Any]]
) -> None:
    """Every source record lies in exactly one class, with its sensitive value among the class's.

    Classes of strict Mondrian do not overlap on source values, except where the values of a class
    are a set: records are matched to the classes that hold all their values.
    """
    by_value: dict[tuple[int, Any], set[int]] = defaultdict(set)
    domains = [{record[i] for record in records} for i in range(len(QIS))]
    for number, row in classes.items():
        for i, name in enumerate(QIS):
            for value in domains[i]:
                if value is None:
                    inside = row[f"{name}_null"]
                else:
                    inside = row[name] is not None and value in row[name]
                if inside:
                    by_value[i, value].add(number)
    found: dict[int, Counter[Any]] = defaultdict(Counter)
    for record in records:
        fitting = set.intersection(*(by_value[i, record[i]] for i in range(len(QIS))))
        assert fitting, "a record without a class that contains it"
        if len(fitting) == 1:
            found[fitting.pop()][record[-1]] += 1
    published: dict[int, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        published[row["class_id"]][row[SENSITIVE]] += 1
    # Records with one candidate must be in it; with none ambiguous the multisets are equal.
    assert all(found[number] <= published[number] for number in classes)
    matched = sum(counter.total() for counter in found.values())
    assert matched > 0.9 * len(records)
    assert Counter(record[-1] for record in records) == Counter(row[SENSITIVE] for row in rows)


MEANS = """
    WITH limits AS (
        SELECT low, low + more AS high
        FROM generate_series(20, 60, 4) AS low CROSS JOIN unnest(ARRAY[2, 4, 9, 14]) AS more
    ),
    weighted AS (
        SELECT low, high, occupation, hours_per_week AS hours,
            pganon.share(age, low, high) AS weight
        FROM limits JOIN published.adult ON age && numrange(low, high, '[]')
    ),
    centred AS (
        SELECT *, sum(weight * hours) OVER alike / sum(weight) OVER alike AS mean
        FROM weighted WINDOW alike AS (PARTITION BY low, high, occupation)
    )
    SELECT low, high, occupation, mean,
        sqrt(sum(weight * (1 - weight) * (hours - mean) ^ 2)) / sum(weight) AS error
    FROM centred GROUP BY low, high, occupation, mean
"""
TRUE_MEANS = """
    SELECT low, high, occupation, avg(hours_per_week)
    FROM (SELECT DISTINCT * FROM unnest(%s::int[], %s::int[])) AS limits(low, high)
    JOIN data.adult ON age BETWEEN low AND high GROUP BY low, high, occupation HAVING count(*) >= 10
"""


@pytest.mark.slow
@pytest.mark.parametrize(("k", "share"), [(10, 0.92), (100, 0.76)])
def test_errors_of_weighted_means(adult: Any, tmp_path: Path, k: int, share: float) -> None:
    """Working hours by occupation of people within an age range, as the docs estimate them."""
    release(adult, tmp_path, policy(k))
    rows = adult.connect("analyst").execute(MEANS).fetchall()
    found = {tuple(key): (mean, error) for *key, mean, error in rows}
    lows, highs, _ = zip(*found, strict=True)
    truth = adult.owner().execute(TRUE_MEANS, [list(lows), list(highs)]).fetchall()
    within = [abs(found[tuple(key)][0] - mean) <= 2 * found[tuple(key)][1] for *key, mean in truth]
    assert len(within) > 500
    assert sum(within) / len(within) == pytest.approx(share, abs=0.01)


GOLDEN = [
    ("width", 5, 0, 2338, 0.009828510265772363),
    ("width", 10, 0, 1411, 0.018008055208116654),
    ("width", 50, 0, 400, 0.06133588099150427),
    ("width", 5, 3, 2230, 0.010493512606758738),
    ("loss", 5, 0, 2373, 0.008409891002589072),
    ("loss", 10, 0, 1396, 0.016633579861038566),
    ("loss", 50, 0, 403, 0.05356377943680485),
    ("loss", 5, 3, 2252, 0.009116838958008303),
]


@pytest.mark.slow
def test_golden_figures_on_complete_rows(adult: Any, tmp_path: Path) -> None:
    for choose, k, l, classes, gcp in GOLDEN:  # noqa: E741
        method = {"name": "mondrian", "choose": choose}
        result = release(
            adult, tmp_path, policy(k, l, method=method, where=COMPLETE, republication="allow")
        )
        assert result["records"] == 30_162
        assert (choose, k, l, result["utility"]["classes"]) == (choose, k, l, classes)
        assert result["utility"]["gcp"] == pytest.approx(gcp, rel=1e-12)


MIXED = {"variant": "relaxed", "dominant": "mixed"}
AT_MOST: list[tuple[dict[str, Any], int, int, float]] = [
    ({}, 5, 0, 0.0065),
    ({}, 10, 0, 0.0132),
    ({}, 50, 0, 0.0465),
    ({"refine": 0}, 5, 0, 0.0071),
    ({"refine": 0}, 10, 0, 0.0143),
    ({"refine": 0}, 50, 0, 0.0498),
    ({**MIXED, "refine": 0}, 5, 0, 0.0062),
    ({**MIXED, "refine": 0}, 10, 0, 0.0127),
    ({**MIXED, "refine": 0}, 50, 0, 0.0475),
    ({**MIXED, "refine": 256}, 5, 0, 0.0057),
    ({**MIXED, "refine": 256}, 10, 0, 0.0119),
    ({**MIXED, "refine": 256}, 50, 0, 0.0432),
    ({**MIXED, "refine": 64}, 5, 3, 0.0063),
    ({}, 5, 3, 0.0069),
]


@pytest.mark.slow
def test_one_dimensional_classes_lose_at_most(adult: Any, tmp_path: Path) -> None:
    """The figures are means of three draws; one is up to 1 % beside them."""
    for options, k, l, gcp in AT_MOST:  # noqa: E741
        method = {"name": "one_dimensional", **options}
        result = release(
            adult, tmp_path, policy(k, l, method=method, where=COMPLETE, republication="allow")
        )
        assert result["records"] == result["released"] == 30_162
        assert result["utility"]["gcp"] <= 1.01 * gcp, (options, k, l)


def unlinked(sensitive: str, l: int, columns: tuple[str, ...], **others: Any) -> dict[str, Any]:  # noqa: E741
    roles = {name: {"role": "quasi_identifying"} for name in columns}
    return {
        "release": "adult",
        "source": "data.adult",
        "columns": {**roles, sensitive: {"role": "sensitive"}},
        "privacy": [{"model": "anatomy_l_diversity", "column": sensitive, "l": l}],
        "method": {"name": "anatomy"},
        **others,
    }


@pytest.mark.slow
def test_relationship_can_be_inferred_from_exact_quasi_identifiers(
    adult: Any, tmp_path: Path
) -> None:
    """1/2 is promised; almost everybody's is told, and those told surely are told rightly."""
    result = release(adult, tmp_path, unlinked("relationship", 2, QIS))
    found = result["utility"]["inferred"]["relationship"]
    assert found["records"] == 32_561
    assert found["limit"] == 0.75
    assert found["accuracy"] > 0.95
    assert found["share"] == found["above"] > 0.9
    assert found["correct"] > 0.99
    assert any("relationship can be inferred" in text for text in result["warnings"])
    pairs = [(r["column"], r["sensitive"]) for r in result["utility"]["related"]]
    assert pairs[:2] == [("sex", "relationship"), ("marital_status", "relationship")]


@pytest.mark.slow
def test_occupation_can_be_inferred_from_everything_else(adult: Any, tmp_path: Path) -> None:
    """1/4 is promised."""
    others = tuple(name for name in NAMES.split(",") if name not in ("fnlwgt", "occupation"))
    declared = unlinked("occupation", 4, others, inference={"limit": 0.5, "share": 0.01})
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(declared))
    ran = pganon("run", str(file), "--json", "--dsn", adult.dsn())
    assert (ran.code, ran.json["error"]["code"]) == (1, "inference")
    assert adult.connect().execute("SELECT to_regclass('published.adult')").fetchone() == (None,)
    del declared["inference"]
    found = release(adult, tmp_path, declared)["utility"]["inferred"]["occupation"]
    assert found["limit"] == 0.5
    assert found["accuracy"] > 0.45
    assert found["share"] > 0.5


@pytest.mark.slow
def test_candidates(adult: Any, tmp_path: Path) -> None:
    """What is beaten, and that figures are those of a run with the chosen k."""
    file = tmp_path / "adult.json"
    file.write_text(json.dumps(policy(5, 4, where=COMPLETE)))
    dsn = ("--dsn", adult.dsn())
    options = ["--methods", "mondrian, {name: mondrian, variant: relaxed}", "--vary", "k=5,12,50"]
    ran = pganon("compare", str(file), *options, *dsn, "--json")
    assert ran.code == 0, ran.err
    found = ran.json["candidates"]
    assert [(row["verdict"], row["beaten_by"]) for row in found] == [
        *(("above_limit", None), ("candidate", None), ("candidate", None)),
        *(("beaten", 1), ("beaten", 2), ("candidate", None)),
    ]
    assert [row["figures"]["groups"] for row in found[:3]] == [1988, 1195, 403]
    file.write_text(json.dumps(policy(12, 4, where=COMPLETE)))
    made = pganon("run", str(file), *dsn, "--json").json
    assert made["utility"]["gcp"] == pytest.approx(found[1]["figures"]["loss"], abs=1e-12)
    assert made["utility"]["classes"] == found[1]["figures"]["groups"]
