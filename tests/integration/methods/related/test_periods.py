"""Periods of events: what is over is added once, to the groups that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from pganon.plan.explain import explain
from pganon.policy.loader import LoadedPolicy
from pganon.publish import lifecycle, release_state
from pganon.run.context import plan_release
from pganon.run.options import Options
from pganon.run.release import run_release
from pganon.sqltools import fragment
from tests.integration.methods.related.test_growing import (
    add,
    grow,
    growing,
    holds,
    moved,
    people,
    shown,
)
from tests.integration.methods.related.test_related import COMMON, oracle
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused
from tests.support.oracles.related import Events, Rule
from tests.support.sources import wards
from tests.support.sources.growing import cohorts

pytestmark = pytest.mark.primary_server_only

Rows = dict[str, list[tuple[Any, ...]]]


COLUMNS = {**wards.ADMISSION["columns"], "kind": {"role": "insensitive"}}
ADMISSION = {**wards.ADMISSION, "columns": COLUMNS, "together": [["ward_no", "kind"]]}


def timed(every: str = "year", **changes: Any) -> LoadedPolicy:
    admission = {**ADMISSION, "period": {"column": "admitted", "every": every}}
    return growing({**wards.WHOLE, "admission": admission}, **changes)


Day = Callable[[str], None]


def days(monkeypatch: pytest.MonkeyPatch) -> Day:
    """Sets the day of the runs."""

    def day(text: str) -> None:
        today = fragment(f"date '{text}'")
        monkeypatch.setattr("pganon.methods.related.links.TODAY", today)

    return day


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Day:
    return days(monkeypatch)


def facts(tables: Rows) -> dict[str, Events]:
    """As the policy shows them: wards beside kinds."""
    admission = [(row[1], (row[2], row[4])) for row in tables["admission"]]
    return {**oracle(tables), "admission": Events(admission, (0,))}


def of_period(tables: Rows, start: str, end: str) -> Rows:
    """Rows of admissions on these days, and below them."""
    admission = [row for row in tables["admission"] if start <= row[3] < end]
    kept = {row[0] for row in admission}
    return {
        **tables,
        "admission": admission,
        "diagnosis": [row for row in tables["diagnosis"] if row[0] in kept],
    }


def rows(db: Database, view: str, period: str) -> list[tuple[Any, ...]]:
    """Of one period, without it."""
    found = db.admin.execute(
        f"SELECT * FROM published.hospital_{view} WHERE period = %s".encode(), [period]
    ).fetchall()
    return [tuple(value for value in row if value != period) for row in found]


def check_period(db: Database, tables: Rows, period: str, rule: Rule, left_out: int) -> None:
    """Holds what is shown of a period against the rows of the people of every group."""
    events, found = facts(tables), people(db)
    common = [events[name] for name in COMMON]
    good = {n for n, group in found.items() if rule.good(group, common)}
    assert len(found) - len(good) == left_out
    assert sorted(rows(db, "groups", period)) == sorted(
        (n, len(found[n]), *[len(one.holders(found[n])) for one in common]) for n in good
    )
    for view, name, column in (
        ("diagnosis_code", "diagnosis", 0),
        ("admission_ward_no", "admission", 0),
    ):
        assert Counter(rows(db, view, period)) == Counter(
            (n, value, held)
            for n in good
            for value, held in events[name].counts(found[n], column).items()
        )
    pairs = rows(db, "admission_ward_no_kind", period)
    expected = []
    for n in good:
        both = [(p, *values) for p, values in events["admission"].of(found[n])]
        opened = rule.open(both)
        held = Counter((x, y) for _, x, y in set(both) if x in opened)
        expected += [(n, x, y, number) for (x, y), number in held.items()]
    assert pairs or left_out
    assert sorted(pairs) == sorted(expected)
    people_of = set().union(*(found[n] for n in good))
    for _, value, persons, number in rows(db, "diagnosis_rows", period):
        mine = [p for p, (code,) in events["diagnosis"].of(people_of) if str(code) == str(value)]
        assert (persons, number) == (len(set(mine)), len(mine))
        assert persons >= 10
        assert 2 * max(Counter(mine).values()) <= number


RULE = Rule(3, 30, Fraction("0.9"))


@pytest.mark.slow
def test_a_period_is_added_to_the_groups_that_there_are(db: Database, at: Day) -> None:
    tables = wards.rows(220, 1)
    wards.build(db.connect("source_owner"), tables)
    at("2022-02-03")
    assert grow(db, timed()).version == 1
    check_period(db, of_period(tables, "", "2022"), "before 2022-01-01", RULE, 0)
    before = shown(db)
    assert grow(db, timed()).outcome == "unchanged"
    at("2023-01-01")
    done = grow(db, timed())
    assert (done.version, done.released) == (2, 220)
    assert (done.added.period, done.added.left_out) == ("2022", 0)
    after = shown(db)
    assert all(rows <= after[view] for view, rows in before.items())
    for view in ("hospital", "hospital_patient_study_groups", "hospital_ward"):
        assert after[view] == before[view]
    check_period(db, of_period(tables, "2022", "2023"), "2022", RULE, 0)
    assert holds(db)
    assert grow(db, timed()).outcome == "unchanged"
    at("2025-12-31")  # every period that is over is added by a run of its own
    assert [grow(db, timed()).added.period for _ in range(3)] == ["2023", "2024", None]
    check_period(db, of_period(tables, "2023", "2024"), "2023", RULE, 0)
    lifecycle.show_earlier(db.owner(), "hospital")
    lifecycle.show_earlier(db.owner(), "hospital")
    assert shown(db) == after
    assert holds(db)


@pytest.mark.parametrize(
    ("every", "days", "periods"),
    [
        ("quarter", ("2021-11-01", "2022-07-01"), ["2021-Q4", "2022-Q1", "2022-Q2", None]),
        ("month", ("2021-11-01", "2022-02-28"), ["2021-11", "2021-12", "2022-01", None]),
    ],
)
@pytest.mark.slow
def test_periods_of_other_lengths(
    db: Database, at: Day, every: str, days: tuple[str, str], periods: list[str | None]
) -> None:
    tables = wards.rows(220, 1)
    wards.build(db.connect("source_owner"), tables)
    at(days[0])
    grow(db, timed(every, beta=0.95))
    at(days[1])
    done = [grow(db, timed(every, beta=0.95)) for _ in periods]
    assert [one.added.period for one in done] == periods
    start = {"quarter": "2022-01-01", "month": "2021-12-01"}[every]
    end = {"quarter": "2022-04-01", "month": "2022-01-01"}[every]
    found = of_period(tables, start, end)
    rule = Rule(3, 30, Fraction("0.95"))
    check_period(db, found, periods[1] or "", rule, done[1].added.left_out)
    assert holds(db)


@pytest.mark.slow
def test_groups_of_which_a_period_is_bad_are_left_out_of_it(db: Database, at: Day) -> None:
    """Two of a group with admissions, or one diagnosis of all."""
    tables = wards.rows(220, 1)
    wards.build(db.connect("source_owner"), tables)
    at("2022-01-01")
    grow(db, timed())
    groups = sorted(people(db).values(), key=min)
    admissions, diagnoses = tables["admission"], tables["diagnosis"]
    some = [p for p in groups[0] if any(r[1] == p and r[3][:4] == "2022" for r in admissions)]
    few = groups[0] - set(some[:2])
    gone = {r[0] for r in admissions if r[1] in few and r[3][:4] == "2022"}
    admissions = [r for r in admissions if r[0] not in gone]
    diagnoses = [r for r in diagnoses if r[0] not in gone]
    alike = {r[0] for r in admissions if r[1] in groups[1] and r[3][:4] == "2022"}
    diagnoses = [(*r[:2], "a") if r[0] in alike else r for r in diagnoses]
    changed = {**tables, "admission": admissions, "diagnosis": diagnoses}
    db.source("TRUNCATE hospital.admission, hospital.diagnosis", grant=False)
    add(db, {name: changed[name] for name in ("admission", "diagnosis")})
    at("2023-05-05")
    done = grow(db, timed())
    assert (done.added.period, done.added.left_out) == ("2022", 2)
    check_period(db, of_period(changed, "2022", "2023"), "2022", RULE, 2)
    assert holds(db)
    assert grow(db, timed()).outcome == "unchanged"  # and not tried again


@pytest.mark.slow
def test_a_period_in_which_no_group_is_good(db: Database, at: Day) -> None:
    tables = wards.rows(220, 1)
    wards.build(db.connect("source_owner"), tables)
    at("2022-01-01")
    grow(db, timed())
    before = shown(db)
    db.source("UPDATE hospital.diagnosis SET code = 'a'", grant=False)
    at("2023-01-01")
    done = grow(db, timed())
    assert (done.version, done.added.left_out) == (2, len(people(db)))
    assert shown(db) == before
    assert holds(db)
    assert grow(db, timed()).outcome == "unchanged"


@pytest.mark.slow
def test_late_rows_are_left_out_and_counted(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-01-01")
    grow(db, timed())
    assert grow(db, timed()).added.late == 0
    db.source(
        "INSERT INTO hospital.admission VALUES (90001, 1, 1, '2021-12-31', 'now'),"
        " (90002, 2, 1, NULL, 'now'), (90003, 3, 1, '2022-01-01', 'now');"
        " INSERT INTO hospital.diagnosis VALUES (90001, 1, 'late'), (90002, 2, 'never')",
        grant=False,
    )
    done = grow(db, timed())
    assert (done.outcome, done.added.late, done.added.stale) == ("unchanged", 2, 0)
    at("2023-01-01")
    assert grow(db, timed()).added.period == "2022"
    assert grow(db, timed()).added.late == 2
    told = shown(db)["hospital_diagnosis_code"]
    assert not [row for row in told if "late" in row or "never" in row]


@pytest.mark.slow
def test_new_people_come_after_the_periods_that_are_over(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-01-01")
    grow(db, timed())
    first = set(people(db))
    more = moved(120, 2)
    add(db, more)
    at("2023-01-01")
    done = grow(db, timed())
    assert (done.added.period, done.added.tested, done.added.waiting) == ("2022", 0, 120)
    assert len(cohorts(db.owner())) == 1
    done = grow(db, timed())
    assert (done.added.period, done.added.released) == (None, 120)
    added = people(db).keys() - first
    events, found = facts(of_period(more, "", "2023")), people(db)
    mine = [row for row in rows(db, "groups", "before 2023-01-01") if row[0] in added]
    assert mine
    for group, size, *held in mine:
        common = [events[name] for name in COMMON]
        assert [size, *held] == [
            len(found[group]),
            *[len(one.holders(found[group])) for one in common],
        ]
        assert RULE.good(found[group], common)
    at("2024-01-01")
    assert grow(db, timed()).added.period == "2023"
    everybody = wards.rows(220, 1)
    both = {name: [*everybody[name], *more.get(name, [])] for name in everybody}
    check_period(db, of_period(both, "2023", "2024"), "2023", RULE, 0)
    assert grow(db, timed()).added.late == 0
    assert holds(db)


@pytest.mark.slow
def test_plans_say_which_period_is_added(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-01-01")
    before = plan_release(timed(), dsn=db.dsn())
    assert before.period is None
    grow(db, timed())
    assert plan_release(timed(), dsn=db.dsn()).period is None
    at("2023-03-01")
    built = plan_release(timed(), dsn=db.dsn())
    assert built.period == "2022"
    steps = [step.step for step in explain(built)]
    assert "placed0" in steps
    assert "facts0" in steps
    assert "cut" not in steps
    assert "cut" in [step.step for step in explain(before, sql=False)]
    assert grow(db, timed()).added.period == built.period
    assert plan_release(timed(), dsn=db.dsn()).period is None


@pytest.mark.slow
def test_a_table_with_groups_of_its_own(db: Database, at: Day) -> None:
    """The period of studies is that of admissions to which they belong."""
    tables = wards.rows(220, 1)
    wards.build(db.connect("source_owner"), tables)
    db.source(
        "ALTER TABLE hospital.patient_study ADD since timestamptz;"
        " UPDATE hospital.patient_study SET since = CASE WHEN patient_no % 3 = 0"
        " THEN timestamptz '2022-12-31 23:00:00+00' ELSE '2021-01-01' END",
        grant=False,
    )
    studies = {**wards.STUDIES, "period": {"column": "since", "every": "year"}}
    loaded = growing({**wards.WHOLE, "patient_study": studies})
    at("2022-06-01")
    grow(db, loaded)
    at("2023-06-01")
    assert grow(db, loaded).added.period == "2022"
    found = people(db, "patient_study_group_id")
    late = {row[0] for row in tables["patient_study"] if row[0] % 3 == 0}
    told = db.admin.execute(
        "SELECT * FROM published.hospital_patient_study_groups WHERE period = '2022'"
    ).fetchall()
    assert told
    assert {row[0]: row[3] for row in told} == {
        n: len(found[n] & late) for n in found if n in {row[0] for row in told}
    }
    columns = [
        c.name for c in db.admin.execute("TABLE published.hospital_groups").description or ()
    ]
    assert "period" not in columns
    assert holds(db)


@pytest.mark.slow
def test_who_left_counts_for_the_groups(db: Database, at: Day) -> None:
    """The people of a group are those who were released."""
    tables = wards.rows(220, 1)
    wards.build(db.connect("source_owner"), tables)
    at("2022-01-01")
    grow(db, timed())
    sizes = sorted(len(group) for group in people(db).values())
    db.source(
        "DELETE FROM hospital.diagnosis WHERE admission_no IN (SELECT admission_no FROM"
        " hospital.admission WHERE patient_no < 9); DELETE FROM hospital.admission"
        " WHERE patient_no < 9; DELETE FROM hospital.patient_study WHERE patient_no < 9;"
        " DELETE FROM hospital.patient WHERE patient_no < 9",
        grant=False,
    )
    at("2023-01-01")
    done = grow(db, timed())
    assert (done.added.period, done.added.left) == ("2022", 8)
    assert sorted(row[1] for row in rows(db, "groups", "2022")) == sizes
    assert holds(db)


@pytest.mark.parametrize(
    "step",
    ["cohorts.linked0", "recode.class_groups0", "recode.balance_of_tables", "publish.publish"],
)
@pytest.mark.slow
def test_a_run_that_stops_adds_the_period_once(db: Database, at: Day, step: str) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-01-01")
    grow(db, timed())
    before = shown(db)
    at("2023-01-01")
    steps: list[str] = []

    def stopped(current: str) -> None:
        steps.append(current)
        if current == step:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        grow(db, timed(), before=stopped)
    assert shown(db) == before
    assert grow(db, timed()).added.period == "2022"
    assert grow(db, timed()).outcome == "unchanged"
    assert holds(db)


@pytest.mark.slow
def test_rows_of_a_period_name_rows_of_lookups(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-01-01")
    grow(db, timed())
    db.source(
        "UPDATE hospital.admission SET ward_no = 9 WHERE ward_no = 1 AND admitted >= '2022-01-01'",
        grant=False,
    )
    at("2023-01-01")
    with refused("reference"):
        grow(db, timed())
    db.source("INSERT INTO hospital.ward VALUES (9, 'ward 9')", grant=False)
    assert grow(db, timed()).added.period == "2022"
    assert len(shown(db)["hospital_ward"]) == 5
    assert holds(db)


@pytest.mark.slow
def test_rows_that_belong_to_no_period(db: Database, at: Day) -> None:
    """A diagnosis of a person without an admission is of no time: in every period it would be."""
    tables = wards.rows(220, 1)
    of = {row[0]: row[1] for row in tables["admission"]}
    tables["diagnosis"] = [(row[0], of[row[0]], row[2]) for row in tables["diagnosis"]]
    wards.build(db.connect("source_owner"), tables)
    add(db, {"diagnosis": [(None, n, "timeless") for n in range(1, 60)]})
    diagnosis = {
        **wards.WHOLE["diagnosis"],
        "references": {"admission_no": "admission", "patient_no": "patient"},
    }
    admission = {**ADMISSION, "period": {"column": "admitted", "every": "year"}}
    loaded = growing({**wards.WHOLE, "admission": admission, "diagnosis": diagnosis})
    at("2022-01-01")
    grow(db, loaded)
    check_period(db, of_period(tables, "", "2022"), "before 2022-01-01", RULE, 0)
    at("2023-01-01")
    assert grow(db, loaded).added.period == "2022"
    check_period(db, of_period(tables, "2022", "2023"), "2022", RULE, 0)
    add(db, {"diagnosis": [(None, 9999, "nobody's")]})
    with refused("orphans"):
        grow(db, loaded)


@pytest.mark.slow
def test_periods_become_longer_or_shorter(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-05-01")
    grow(db, timed("quarter"))
    at("2023-02-01")
    assert grow(db, timed()).added.period == "2022"
    assert grow(db, timed()).outcome == "unchanged"
    at("2023-06-01")
    assert grow(db, timed()).outcome == "unchanged"
    assert grow(db, timed("quarter")).added.period == "2023-Q1"
    assert holds(db)


@pytest.mark.slow
def test_what_is_promised_of_a_period_is_what_the_policy_asked_then(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-01-01")
    grow(db, timed())
    at("2023-01-01")
    done = grow(db, timed(beta=0.95))
    asked = {(one.column, one.required) for one in done.verified if one.model == "event_share"}
    assert {("diagnosis.code", 0.9), ("diagnosis.code", 0.95)} <= asked
    history = release_state.read(db.owner(), "hospital")
    assert history is not None
    first, added = history.versions[0].increments
    told = [item["requirement"] for item in history.versions[0].guarantee]
    assert first.guarantee != added.guarantee
    assert len([text for text in told if "added under the newest policy" in text]) == 4
    assert "k_anonymity" in {check.model for check in first.checks}
    assert "k_anonymity" not in {check.model for check in added.checks}
    assert holds(db)


@pytest.mark.slow
def test_a_dry_run_adds_no_period(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2022-01-01")
    grow(db, timed())
    before = shown(db)
    at("2023-01-01")
    looked = run_release(timed(), dsn=db.dsn(), options=Options(dry_run=True))
    assert (looked.outcome, looked.added.tested, looked.added.period) == ("dry_run", 0, "2022")
    assert shown(db) == before


def test_a_period_column_that_is_no_time(db: Database) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    admission = {**wards.ADMISSION, "period": {"column": "kind", "every": "year"}}
    with refused("policy") as caught:
        grow(db, growing({**wards.WHOLE, "admission": admission}))
    assert "column kind is text, which is no time" in str(caught[0])


@pytest.mark.slow
def test_tables_without_periods_come_before_others(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    db.source(
        "CREATE TABLE hospital.visit AS SELECT patient_no, kind AS reason FROM hospital.admission;"
        " CREATE TABLE hospital.test AS SELECT patient_no, kind AS result FROM hospital.admission"
    )
    seen = {
        name: {
            "source": f"hospital.{name}",
            "references": {"patient_no": "patient"},
            "columns": {column: {"role": "insensitive"}},
        }
        for name, column in (("visit", "reason"), ("test", "result"))
    }
    admission = {**ADMISSION, "period": {"column": "admitted", "every": "year"}}
    loaded = growing(
        {"patient": wards.ROOT, **seen, **wards.WHOLE, "admission": admission}, beta=0.95
    )
    at("2022-01-01")
    grow(db, loaded)
    at("2023-01-01")
    assert grow(db, loaded).added.period == "2022"
    told = db.admin.execute("TABLE published.hospital_groups").fetchall()
    assert {row[1] for row in told if row[3] is None} == {"2022"}
    assert holds(db)


@pytest.mark.slow
def test_rows_of_who_is_left_out_hide_no_late_ones(db: Database, at: Day) -> None:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    columns = {**wards.ROOT["columns"], "sex": {"role": "quasi_identifying", "apart": True}}
    root = {**wards.ROOT, "columns": columns}
    admission = {**ADMISSION, "period": {"column": "admitted", "every": "year"}}
    loaded = growing(
        {**wards.WHOLE, "patient": root, "admission": admission}, increment_size=40, beta=0.95
    )
    at("2022-01-01")
    grow(db, loaded)
    more = moved(200, 2)
    men = {row[0] for row in more["patient"] if row[2] == "M"}
    few = [row for row in more["patient_study"] if row[0] in men][:2]
    more["patient_study"] = [r for r in more["patient_study"] if r[0] not in men] + few
    add(db, more)
    done = grow(db, loaded)
    assert (done.added.suppressed, done.added.late) == (len(men), 0)
    assert any(row[1] in men and row[3] < "2022" for row in more["admission"])
    add(db, {"admission": [(90001, 1, 1, "2021-12-31", "now")]})
    assert grow(db, loaded).added.late == 1


@pytest.mark.slow
def test_new_people_have_what_is_published_of_others(db: Database, at: Day) -> None:
    """Though their period is not over any more, as it is longer now."""
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    at("2023-05-01")
    grow(db, timed("quarter"))
    more = moved(120, 2)
    add(db, more)
    at("2023-05-02")
    done = grow(db, timed())
    assert (done.added.released, done.added.period, done.added.late) == (120, None, 0)
    assert {row[1] for row in db.admin.execute("TABLE published.hospital_groups").fetchall()} == {
        "before 2023-04-01"
    }
    add(db, {"admission": [(90001, 1, 1, "2023-03-31", "now")]})
    assert grow(db, timed()).added.late == 1
    at("2024-01-01")
    assert grow(db, timed()).added.period == "2023"
    assert holds(db)
