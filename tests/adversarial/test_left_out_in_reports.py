"""Attack: what a report has of the source, beside the same of the release, says who is left out.

All that the one who is left out could have is tried: where the release is the same, all that others
than the steward are told of it is the same, to the last digit.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import pytest

from pganon import MetricsRequest, Options, Workload
from pganon.cli.report_data import collect, collect_held
from pganon.forms.confidential import few_left_out, share_told
from pganon.loading import load_policy
from pganon.report.document import document
from pganon.report.page import page
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.support.harness import driver, faults, plans
from tests.support.harness.cluster import Database
from tests.support.harness.documents import valid
from tests.support.sources import conformance

pytestmark = pytest.mark.primary_server_only

BY = "source_owner"
TIMES = {"at", "timestamp", "published_at", "source_mark"}
WORLDS = list(product((31, 34, 47, 90), ("flu", "cold", "burn")))
"""Age and disease of the one without a zip, who is left out."""

SOURCE = """
CREATE TABLE public.patient (id integer PRIMARY KEY, age integer, zip text, disease text);
INSERT INTO public.patient
SELECT n, 20 + n * 7 % 40, 'Z' || n % 3, (ARRAY['flu', 'flu', 'cold', 'burn'])[1 + n % 4]
FROM generate_series(1, 60) AS n;
"""
POLICY: dict[str, Any] = {
    "release": "patients",
    "source": "public.patient",
    "columns": {
        "id": {"role": "individual"},
        "age": {"role": "quasi_identifying"},
        "zip": {"role": "quasi_identifying", "nulls": "suppress"},
        "disease": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k_anonymity", "k": 4},
        {"model": "t_closeness", "column": "disease", "t": 0.5},
        {"model": "beta_likeness", "column": "disease", "beta": 4},
    ],
    "suppression_limit": 0.5,
    "publish": {"readers": ["analyst"], "approval": {"by": [BY]}},
}


def _waiting(
    db: Database, world: tuple[int, str], method: dict[str, Any], **changes: Any
) -> RunResult:
    age, disease = world
    db.source(f"{SOURCE}INSERT INTO public.patient VALUES (61, {age}, NULL, '{disease}')")
    workload = Workload(queries=50, predicates=1)
    options = Options(metrics=MetricsRequest(workload=workload), force=True)
    with driver.secrets(faults.SEED):
        loaded = load_policy(json.dumps({**POLICY, "method": method, **changes}))
        return run_release(loaded, dsn=db.dsn(), options=options)


def _without_times(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _without_times(one) for name, one in found.items() if name not in TIMES}
    return [_without_times(one) for one in found] if isinstance(found, list) else found


@pytest.mark.parametrize(
    "method",
    [
        {"name": "one_dimensional"},
        {"name": "mondrian"},
    ],
    ids=lambda method: method["name"],
)
@pytest.mark.slow
def test_the_same_release_has_the_same_report(db_after: Any, method: dict[str, Any]) -> None:
    told: defaultdict[str, set[str]] = defaultdict(set)
    whole: set[str] = set()
    worlds: defaultdict[str, int] = defaultdict(int)
    for world in WORLDS:
        db, result = db_after(partial(_waiting, world=world, method=method))
        assert (result.outcome, result.suppressed) == ("awaiting_approval", 1)
        approver = db.connect(BY)
        row = approver.execute("SELECT pganon.request_evidence(%s)", [result.request]).fetchone()
        assert row is not None
        report = valid(document(collect_held(approver, result.request or 0)))
        assert "None" not in page(report)
        parts = [f"pganon_stage.r1_{part}" for part in ("classes", "records", "histogram")]
        released = json.dumps([faults.content(db.admin, part) for part in parts])
        worlds[released] += 1
        told[released].add(json.dumps(_without_times([row[0], report]), sort_keys=True))
        kept = db.admin.execute("SELECT staged -> 'staged' -> 'measures' FROM pganon_private.held")
        whole.add(json.dumps([kept.fetchone(), released]))
    assert max(worlds.values()) > 1
    assert [len(reports) for reports in told.values()] == [1] * len(told)
    assert len(whole) > len(told), "the figures that the steward has tell worlds apart"


def test_a_population_that_is_the_source_does_not_say_where_somebody_is_missing(
    db: Database,
) -> None:
    """Attack: the class that he would be in covers one more than it has records. The mean of the
    chances says by its digits which one that is.
    """
    db.source(SOURCE.replace("'flu', 'flu', 'cold', 'burn'", "'flu', 'cold', 'flu', 'cold'"))
    db.source("INSERT INTO public.patient VALUES (61, 30, 'Z0', 'flu')", grant=False)
    policy: dict[str, Any] = {
        **POLICY,
        "method": {"name": "mondrian"},
        "columns": {**POLICY["columns"], "zip": {"role": "quasi_identifying"}},
        "privacy": [
            {"model": "alpha_k_anonymity", "column": "disease", "k": 4, "alpha": 0.5},
            {"model": "k_map", "k": 2, "population": "public.patient"},
        ],
        "on_infeasible": "suppress",
        "report": {"population": "public.patient"},
    }
    result = run_release(load_policy(json.dumps(policy)), dsn=db.dsn(), options=Options(force=True))
    assert (result.outcome, result.suppressed) == ("awaiting_approval", 1)
    sizes = [
        row[0]
        for row in db.admin.execute(
            "SELECT count(*) FROM pganon_stage.r1_records GROUP BY class_id"
        )
    ]
    assert len(sizes) > 3
    means = [(60 - n + n * n / (n + 1)) / 60 for n in sizes]
    approver = db.connect(BY)
    row = approver.execute("SELECT pganon.request_evidence(%s)", [result.request]).fetchone()
    assert row is not None
    report = valid(document(collect_held(approver, result.request or 0)))
    assert "by_weights" not in json.dumps(row)
    for text in (json.dumps(row), json.dumps(report)):
        assert not any(str(mean)[:8] in text for mean in means)
    assert report["risk"]["population"] is report["record_risk"]["journalist"] is None
    unmeasured = [one["model"] for one in report["guarantee"] if one["measured"] is None]
    assert unmeasured == ["k_map"]
    assert "None" not in page(report)


def test_few_are_of_the_policy_and_of_people() -> None:
    def few(left_out: int, **changes: Any) -> bool:
        return few_left_out(load_policy(json.dumps({**POLICY, **changes})).policy, left_out)

    method = {"name": "mondrian"}
    assert [few(n, method=method) for n in (0, 1, 10, 11)] == [False, True, True, False]
    assert few(19, method=method, report={"smallest": 20})
    accepted = "many_accepted"
    assert few(500, method=method, records_per_individual=accepted), "they may be of one person"


@pytest.mark.slow
def test_many_who_are_left_out_hide_each_other(db: Database) -> None:
    db.source(
        f"{SOURCE}INSERT INTO public.patient SELECT n, 30, NULL, 'flu'"
        " FROM generate_series(61, 71) AS n"
    )
    loaded = load_policy(
        json.dumps({**POLICY, "method": {"name": "mondrian"}, "publish": {"readers": ["analyst"]}})
    )
    assert faults.run(db.dsn(), loaded).suppressed == 11
    report = valid(document(collect(db.owner(), "patients")))
    assert not report["properties"]["withheld"]
    assert all(one["measured"] is not None for one in report["guarantee"])
    assert all(one["distribution"] for one in report["attributes"])
    assert report["class_sizes"]["source"]


FEW = {
    "r2": (180, 3, 3),
    "r4": (35, 1, 5),
}
"""People, those of them who have a rare value, and k."""


@pytest.mark.parametrize("name", FEW)
@pytest.mark.slow
def test_no_share_counts_those_who_have_a_rare_value(db: Database, name: str) -> None:
    """Attack: the share of the others, as 177 of 180 and 34 of 35 are 98.3 and 97.1 %."""
    people, rare, k = FEW[name]
    db.source(
        "CREATE TABLE public.person (id integer PRIMARY KEY, age integer, w boolean);"
        f" INSERT INTO public.person SELECT n, 20 + n, n % {people // rare} = 0"
        f" FROM generate_series(1, {people}) AS n"
    )
    policy = {
        "release": "people",
        "source": "public.person",
        "columns": {
            "id": {"role": "individual"},
            "age": {"role": "quasi_identifying"},
            "w": {"role": "sensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": k}],
        "method": {"name": "mondrian"},
        "publish": {"readers": ["analyst"]},
    }
    result = faults.run(db.dsn(), load_policy(json.dumps(policy)))
    assert result.released == people
    report = valid(document(collect(db.owner(), "people")))
    (found,) = report["sensitive"]
    assert (found["mean"], found["values"]) == (None, [])
    share = f"{100 * (people - rare) / people:.1f}"
    for text in (page(report), json.dumps(report)):
        assert share not in text
        assert "All of its 2" not in text
    assert "None of its 2 values is named here" in page(report)
    if name == "r4":
        (warning,) = result.warnings
        assert ": all but fewer than 11 of the released records are in" in warning


def test_what_is_told_of_shares() -> None:
    assert share_told(177 / 180, 180, 11) is None
    assert share_told(169 / 180, 180, 11) == 169 / 180
    assert share_told(1.0, 180, 11) == 1.0


@pytest.mark.slow
def test_records_of_few_people_are_few(db: Database) -> None:
    """Attack: one person has all the records that the rest of a share is of, and all of a bin."""
    db.source(
        "CREATE TABLE public.visit (person integer, age integer, w boolean);"
        # 60 people with a visit, five with 12 in a group of their own, and of these one has w.
        " INSERT INTO public.visit SELECT n, 20 + n % 4, false FROM generate_series(1, 60) AS n;"
        " INSERT INTO public.visit SELECT 60 + n, 90, n = 5 FROM generate_series(1, 5) AS n,"
        " generate_series(1, 12)"
    )
    policy: dict[str, Any] = {
        "release": "visits",
        "source": "public.visit",
        "individual": "person",
        "records_per_individual": "many_accepted",
        "columns": {
            "person": {"role": "identifying"},
            "age": {"role": "quasi_identifying"},
            "w": {"role": "sensitive"},
        },
        "privacy": [{"model": "k_anonymity", "k": 5}],
        "method": {"name": "mondrian"},
        "publish": {"readers": ["analyst"]},
    }
    result = faults.run(db.dsn(), load_policy(json.dumps(policy)))
    (warning,) = [one for one in result.warnings if "no model is about" in one]
    assert ": all but fewer than 11 of the released records are in" in warning
    report = valid(document(collect(db.owner(), "visits")))
    assert report["sensitive"] == [], "120 records can be of ten people"
    assert report["class_sizes"]["source"]["bins"] == []
    # Who has 12 records at most, is one of 11 people in 132.
    db.source(
        "INSERT INTO public.visit SELECT 100 + n, 91, false FROM generate_series(1, 12) AS n,"
        " generate_series(1, 12)"
    )
    result = faults.run(db.dsn(), load_policy(json.dumps(policy | {"republication": "allow"})))
    report = valid(document(collect(db.owner(), "visits")))
    (found,) = report["sensitive"]
    assert [one["people"] for one in found["bins"] if one["people"]] == [264]
    assert sum(one["people"] for one in report["class_sizes"]["source"]["bins"]) == 264
    # Nobody knows how many records those have who were released before.
    grown = policy | {"release": "grown", "refresh": "increments", "republication": "allow"}
    faults.run(db.dsn(), load_policy(json.dumps(grown)))
    assert valid(document(collect(db.owner(), "grown")))["class_sizes"]["release"]["bins"]
    db.source("INSERT INTO public.visit SELECT 200 + n, 91, false FROM generate_series(1, 99) AS n")
    result = faults.run(db.dsn(), load_policy(json.dumps(grown)))
    assert result.version == 2
    assert any(": all but fewer than 11 of the released" in one for one in result.warnings)
    assert valid(document(collect(db.owner(), "grown")))["class_sizes"]["release"]["bins"] == []


def _left_out(db: Database, method: str, world: tuple[int, str]) -> RunResult:
    """Of every method; one record has no zip, and the age and disease of a world."""
    age, disease = world
    db.source(plans.SOURCE)
    declared = conformance.leaves_out_nulls(method).policy.document()
    shows = conformance.shows_null(declared)
    db.source(f"DELETE FROM public.visit WHERE {shows} AND id > 1", grant=False)
    db.source(
        f"UPDATE public.visit SET zip = NULL, age = {age}, disease = '{disease}', cost = {age}"
        " WHERE id = 1",
        grant=False,
    )
    changes = {"suppression_limit": 0.5, "publish": POLICY["publish"]}
    measures = conformance.family(method) != "clusters"
    metrics = MetricsRequest(workload=Workload(queries=20, predicates=1) if measures else None)
    with driver.secrets(faults.SEED):
        loaded = conformance.loaded({**declared, **changes})
        return run_release(loaded, dsn=db.dsn(), options=Options(metrics=metrics, force=True))


def _differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in {*one, *other}:
            yield from _differences(one.get(name), other.get(name), f"{path}.{name}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from _differences(*pair, f"{path}[{place}]")
    elif one != other:
        yield f"{path}: {one} or {other}"


@pytest.mark.slow
@pytest.mark.parametrize("method", conformance.METHODS)
def test_the_same_release_has_the_same_report_in_every_form(db_after: Any, method: str) -> None:
    told: defaultdict[str, set[str]] = defaultdict(set)
    worlds: defaultdict[str, int] = defaultdict(int)

    def staged(select: str) -> bytes:
        return select.replace("pganon_data", "pganon_stage").encode()

    for world in product((21, 29, 44), ("d1", "d4")):
        db, result = db_after(partial(_left_out, method=method, world=world))
        assert result.outcome == "awaiting_approval"
        approver = db.connect(BY)
        row = approver.execute("SELECT pganon.request_evidence(%s)", [result.request]).fetchone()
        report = valid(document(collect_held(approver, result.request or 0)))
        kept = db.admin.execute(b"SELECT staged -> 'staged' -> 'views' FROM pganon_private.held")
        views = kept.fetchone()[0]
        rows = [
            sorted(map(str, db.admin.execute(staged(one["select"])).fetchall())) for one in views
        ]
        released = json.dumps(rows)
        worlds[released] += 1
        told[released].add(json.dumps(_without_times([row[0], report]), sort_keys=True))
    for reports in told.values():
        one, *others = [json.loads(text) for text in reports]
        assert [list(_differences(one, other)) for other in others] == []
    assert max(worlds.values()) > 1
