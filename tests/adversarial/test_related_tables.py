"""Attacks on related tables: other versions, changed and emptied tables, orders, the catalog."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pganon.errors import PganonError
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from pganon.publish import lifecycle
from pganon.run.erasure import forget_people
from tests.integration.methods.related.test_growing import add, grow, growing, moved
from tests.integration.methods.related.test_periods import Day, days, timed
from tests.support.harness import faults
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused
from tests.support.sources import wards

pytestmark = pytest.mark.primary_server_only


TAMPERED_LATER = {
    "a person less with a value": (
        "UPDATE {run}_slice1 SET persons = persons + 100 WHERE ctid = (SELECT min(ctid) FROM"
        " {run}_slice1)"
    ),
    "few holders": "UPDATE {run}_groups0 SET diagnosis = 2",
    "a value without a row": "UPDATE {run}_slice0 SET ward_no = 99",
}


def whole(**changes: Any) -> LoadedPolicy:
    return load_policy(json.dumps(wards.policy(wards.WHOLE, 3, 0.9, group_size=30, **changes)))


def alone(source: str, columns: dict[str, Any], **changes: Any) -> LoadedPolicy:
    """A release of one of the tables, as others may make it."""
    data = {
        "release": "other",
        "source": source,
        "columns": columns,
        "privacy": [{"model": "k_anonymity", "k": 3}],
        "method": {"name": "mondrian"},
        **changes,
    }
    return load_policy(json.dumps(data))


PATIENTS = alone(
    "hospital.patient",
    {
        "patient_no": {"role": "identifying"},
        "born": {"role": "quasi_identifying"},
        "blood": {"role": "sensitive", "unprotected": "accept"},
    },
    individual="patient_no",
)
STUDIES = alone(
    "hospital.patient_study",
    {"patient_no": {"role": "identifying"}, "study_no": {"role": "quasi_identifying"}},
    individual="patient_no",
)


@pytest.fixture
def built(db: Database) -> Database:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    return db


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Day:
    return days(monkeypatch)


# -- other versions about the same people ----------------------------------------------------------


@pytest.mark.parametrize("other", [PATIENTS, STUDIES], ids=["root", "events"])
@pytest.mark.parametrize("first", [True, False], ids=["before", "after"])
def test_another_release_of_the_people_is_refused(
    built: Database, other: LoadedPolicy, first: bool
) -> None:
    """Their groups cross: of one class a group is left that the release of all tables hides."""
    one, two = (other, whole()) if first else (whole(), other)
    faults.run(built.dsn(), one)
    with refused("republication"):
        faults.run(built.dsn(), two)


@pytest.mark.parametrize(
    "change",
    [
        "INSERT INTO hospital.diagnosis SELECT admission_no, patient_no, 'z'"
        " FROM hospital.admission LIMIT 1",
        "UPDATE hospital.admission SET ward_no = 5 - ward_no WHERE admission_no = 1",
        "DELETE FROM hospital.patient_study WHERE ctid = (SELECT min(ctid) FROM"
        " hospital.patient_study)",
        "UPDATE hospital.ward SET name = 'other' WHERE ward_no = 1",
    ],
    ids=["added", "changed", "removed", "lookup"],
)
@pytest.mark.slow
def test_events_that_changed_since_are_refused(built: Database, change: str) -> None:
    """The difference of two versions is what happened to whom everybody knows it of."""
    faults.run(built.dsn(), whole())
    same = faults.run(built.dsn(), whole(), force=False)
    assert same.outcome == "unchanged"
    built.source(change)
    with refused("republication"):
        faults.run(built.dsn(), whole())


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [("numeric", "1.5", "-1.5"), ("bigint", "5", "4294967300"), ("float8", "2", "-2")],
)
@pytest.mark.slow
def test_values_that_hash_alike_are_no_rows_that_stayed(
    built: Database, kind: str, before: str, after: str
) -> None:
    built.source(f"ALTER TABLE hospital.ward ADD level {kind} DEFAULT {before}")
    ward = {**wards.WHOLE["ward"], "columns": {**wards.WHOLE["ward"]["columns"], "level": {}}}
    policy = load_policy(
        json.dumps(wards.policy({**wards.WHOLE, "ward": ward}, 3, 0.9, group_size=30))
    )
    faults.run(built.dsn(), policy)
    assert faults.run(built.dsn(), policy, force=False).outcome == "unchanged"
    built.source(f"UPDATE hospital.ward SET level = {after} WHERE ward_no = 1")
    with refused("republication"):
        faults.run(built.dsn(), policy)


@pytest.mark.slow
def test_another_policy_of_the_same_tables_is_refused(built: Database) -> None:
    faults.run(built.dsn(), whole())
    changed = {**wards.WHOLE, "diagnosis": {**wards.WHOLE["diagnosis"], "groups": "own"}}
    policy = load_policy(json.dumps(wards.policy(changed, 3, 0.9, group_size=30)))
    with refused("republication"):
        faults.run(built.dsn(), policy)


@pytest.mark.slow
def test_the_same_again_has_the_same_groups_under_fresh_numbers(built: Database) -> None:
    shown = []
    for _ in range(2):
        faults.run(built.dsn(), whole())
        rows = built.admin.execute(
            "SELECT array_agg((code, persons)::text ORDER BY code)::text, group_id"
            " FROM published.hospital_diagnosis_code GROUP BY group_id ORDER BY 1, 2"
        ).fetchall()
        shown.append(rows)
    assert [row[0] for row in shown[0]] == [row[0] for row in shown[1]]
    assert shown[0] != shown[1]


@pytest.mark.slow
def test_new_people_are_others(built: Database) -> None:
    """A version of people of whom none was in one before."""
    faults.run(built.dsn(), whole())
    more = wards.rows(220, 2)
    moved = {
        "patient": [(row[0] + 1000, *row[1:]) for row in more["patient"]],
        "admission": [(row[0] + 1000, row[1] + 1000, *row[2:]) for row in more["admission"]],
        "diagnosis": [(row[0] + 1000, row[1] + 1000, row[2]) for row in more["diagnosis"]],
        "patient_study": [(row[0] + 1000, row[1]) for row in more["patient_study"]],
    }
    wards.build(built.connect("source_owner"), {**wards.rows(220, 1), **moved})
    done = faults.run(built.dsn(), whole(population={"renewed": True}))
    assert done.version == 2


# -- versions that grow -------------------------------------------------------------------------


def _rows_shown(db: Database, table: str) -> Counter[tuple[Any, ...]]:
    text = f"TABLE published.hospital_{table}_rows"
    return Counter(db.admin.execute(text.encode()).fetchall())


@pytest.mark.slow
def test_the_difference_of_two_versions_is_a_release_of_the_new_people(built: Database) -> None:
    """Frequent values are told of the new people alone: added to those before, 9 people with a
    value would be told by the difference."""
    grow(built)
    before = _rows_shown(built, "diagnosis")
    more = moved(120, 2)
    rare = [(row[0], row[1], "rare") for row in more["diagnosis"][:9]]
    add(built, {**more, "diagnosis": [*more["diagnosis"], *rare]})
    loaded = wards.rows(220, 1)
    code = loaded["diagnosis"][0][0]
    built.source(
        f"INSERT INTO hospital.diagnosis SELECT {code}, 1, 'rare' FROM generate_series(1, 5)",
        grant=False,
    )
    grow(built)
    added = _rows_shown(built, "diagnosis") - before
    assert before < _rows_shown(built, "diagnosis")
    rows = [row[2] for row in more["diagnosis"]]
    of = {row[0]: row[1] for row in more["admission"]}
    for column, value, persons, number in added:
        mine = [of[r[0]] for r in more["diagnosis"] if r[2] == value]
        assert (column, persons, number) == ("code", len(set(mine)), rows.count(value))
        assert persons >= 10
        assert 2 * max(Counter(mine).values()) <= number
    assert "rare" not in {row[1] for row in added}


@pytest.mark.parametrize("what", TAMPERED_LATER)
@pytest.mark.slow
def test_increments_that_are_changed_in_the_store(built: Database, what: str) -> None:
    grow(built)
    add(built, moved(120, 2))
    run_id = grow(built).run_id
    assert all(check.holds for check in lifecycle.verify(built.owner(), "hospital"))
    built.admin.execute(TAMPERED_LATER[what].format(run=f"pganon_data.r{run_id}").encode())
    assert not all(check.holds for check in lifecycle.verify(built.owner(), "hospital"))
    add(built, moved(90, 3, 5000))
    with refused("changed_after_verification"):
        grow(built)


TAMPERED_PERIOD = {
    "people with a value": "UPDATE {run}_slice1 SET persons = persons + 100",
    "few holders": "UPDATE {run}_groups0 SET diagnosis = 2",
    "people of a group": "UPDATE {run}_groups0 SET people = people + 1",
    "a group that is not there": "UPDATE {run}_groups0 SET group_id = group_id + 5000",
    "pairs": "UPDATE {run}_pair0 SET persons = persons + 100",
    "a value without a row": "UPDATE {run}_slice0 SET ward_no = 99",
}


@pytest.mark.parametrize("what", TAMPERED_PERIOD)
@pytest.mark.slow
def test_periods_that_are_changed_in_the_store(built: Database, at: Day, what: str) -> None:
    at("2022-01-01")
    grow(built, timed())
    at("2023-01-01")
    run_id = grow(built, timed()).run_id
    assert all(check.holds for check in lifecycle.verify(built.owner(), "hospital"))
    built.admin.execute(TAMPERED_PERIOD[what].format(run=f"pganon_data.r{run_id}").encode())
    assert [c for c in lifecycle.verify(built.owner(), "hospital") if not c.holds and c.model]
    at("2024-01-01")
    with refused("changed_after_verification"):
        grow(built, timed())


@pytest.mark.slow
def test_nothing_else_is_shown_by_a_period(built: Database, at: Day) -> None:
    """Neither of who has seconds of pairs, nor the order of the source, nor private tables."""
    at("2022-01-01")
    grow(built, timed())
    built.admin.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO analyst")
    at("2023-01-01")
    run_id = grow(built, timed()).run_id
    assert faults.exposed(built.owner()) == []
    counted = built.admin.execute(
        "SELECT relname FROM pg_class WHERE relname ~ %s AND reltuples > 0",
        [f"^r{run_id}_(seconds0|members|as_released)$"],
    ).fetchall()
    assert counted == []
    for part in ("groups0", "slice0", "pair0"):
        stored = _stored(built, part)
        assert stored == sorted(stored)


@pytest.mark.slow
def test_who_is_forgotten_is_in_no_period(built: Database, at: Day) -> None:
    at("2022-01-01")
    grow(built, timed())
    built.source(
        "CREATE TABLE hospital.gone AS SELECT patient_no FROM hospital.patient WHERE patient_no < 4"
    )
    forget_people(built.owner(), "hospital", "hospital.gone")
    at("2023-01-01")
    built.source(
        "INSERT INTO hospital.admission SELECT 70000 + n, 1, 1, '2022-02-02', 'now'"
        " FROM generate_series(1, 20) AS n; INSERT INTO hospital.diagnosis SELECT 70000 + n, 1,"
        " 'forgotten' FROM generate_series(1, 20) AS n",
        grant=False,
    )
    assert grow(built, timed()).added.period == "2022"
    told = built.admin.execute(
        "SELECT count(*) FROM published.hospital_diagnosis_code WHERE code = 'forgotten'"
    ).fetchone()
    assert told == (0,)


@pytest.mark.slow
def test_other_releases_are_refused_beside_one_that_grows(built: Database) -> None:
    grow(built)
    add(built, moved(120, 2))
    grow(built)
    for other in (PATIENTS, STUDIES):
        with refused("republication"):
            faults.run(built.dsn(), other)


@pytest.mark.slow
def test_two_runs_do_not_add_the_same_people(
    built: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    grow(built)
    add(built, moved(120, 2))
    other = growing(release="other")
    tried: list[str] = []

    def another(step: str) -> None:
        if step == "cohorts.commit":
            monkeypatch.setattr("pganon.locks.WAITS", (0,))
            with refused("busy"):
                grow(built, other)
            tried.append(step)

    assert grow(built, before=another).added.released == 120
    assert tried
    with refused("too_few_records"):
        grow(built, other)


@pytest.mark.slow
def test_nothing_private_of_an_increment_opens(built: Database) -> None:
    grow(built)
    built.admin.execute("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO analyst")
    add(built, moved(120, 2))
    grow(built, before=lambda step: None)
    assert faults.exposed(built.owner()) == []


# -- what is staged or stored is changed -----------------------------------------------------------

RUN = "r{run}"
TAMPERED: dict[str, tuple[str, str | None]] = {
    "a person less with a value": (
        "UPDATE {stage}_slice1 SET persons = persons - 1 WHERE ctid = (SELECT min(ctid) FROM"
        " {stage}_slice1 WHERE persons > 1)",
        None,
    ),
    "a value of all": (
        "UPDATE {stage}_slice1 AS s SET persons = g.diagnosis FROM {stage}_groups0 AS g WHERE"
        " g.group_id = s.group_id AND s.code = 'a'",
        "event_share",
    ),
    "values of a group gone": ("DELETE FROM {stage}_slice1 WHERE group_id = 1", "structure"),
    "a value twice": (
        "INSERT INTO {stage}_slice1 SELECT * FROM {stage}_slice1 WHERE group_id = 1 LIMIT 1",
        "structure",
    ),
    "a value in two parts": (
        "WITH most AS (UPDATE {stage}_slice1 SET persons = persons - 1 WHERE ctid = (SELECT ctid"
        " FROM {stage}_slice1 ORDER BY persons DESC LIMIT 1) RETURNING *) INSERT INTO"
        " {stage}_slice1 SELECT group_id, code, 1 FROM most",
        "structure",
    ),
    "fewer holders than have a value": (
        "UPDATE {stage}_groups0 AS g SET diagnosis = (SELECT max(s.persons) - 1 FROM"
        " {stage}_slice1 AS s WHERE s.group_id = g.group_id)",
        "structure",
    ),
    "a holder without a value": (
        "UPDATE {stage}_groups1 SET persons = persons + 1",
        "structure",
    ),
    "a value of no group": ("INSERT INTO {stage}_slice1 VALUES (999, 'a', 1)", "structure"),
    "a value of nobody": ("INSERT INTO {stage}_slice1 VALUES (1, 'q', 0)", "structure"),
    "few holders": (
        "UPDATE {stage}_groups0 SET diagnosis = 2; DELETE FROM {stage}_slice1;"
        " INSERT INTO {stage}_slice1 SELECT g.group_id, c, 1 FROM {stage}_groups0 AS g,"
        " unnest('{{a,b}}'::text[]) AS c",
        "holders",
    ),
    "more holders than the parent": (
        "UPDATE {stage}_groups0 SET admission = diagnosis - 1 WHERE group_id = 1",
        "structure",
    ),
    "a group too small": (
        "UPDATE {stage}_groups0 SET people = 9 WHERE group_id = 1",
        "group_size",
    ),
    "a class in another group": (
        "UPDATE {stage}_classes SET group_id = group_id % (SELECT max(group_id) FROM"
        " {stage}_classes) + 1 WHERE class_id = 1",
        "structure",
    ),
    "a value without a row": ("DELETE FROM {stage}_lookup0 WHERE ward_no = 1", "structure"),
    "a pair of more than have the first": (
        "UPDATE {stage}_pair0 SET persons = persons + 500 WHERE ctid = (SELECT min(ctid) FROM"
        " {stage}_pair0)",
        "event_share",
    ),
    "pairs of more than have the first": (
        "UPDATE {stage}_pair0 SET persons = persons + 500; UPDATE {stage}_seconds0 SET"
        " persons = persons + 500, whole = whole + 500",
        "structure",
    ),
    "a pair that tells": (
        "UPDATE {stage}_pair0 AS p SET persons = x.persons FROM {stage}_slice0 AS x WHERE"
        " (x.group_id, x.ward_no) = (p.group_id, p.ward_no)",
        "event_share",
    ),
    "seconds of few": (
        "UPDATE {stage}_seconds0 SET persons = 2 WHERE ctid = (SELECT min(ctid) FROM"
        " {stage}_seconds0)",
        "holders",
    ),
    "seconds of many": (
        "UPDATE {stage}_seconds0 SET persons = persons + 1000, whole = whole + 1000",
        "structure",
    ),
    "seconds of fewer": ("UPDATE {stage}_seconds0 SET whole = 0", "structure"),
    "seconds gone": ("DELETE FROM {stage}_seconds0", "event_share"),
    "rows of rare values": (
        "INSERT INTO {stage}_frequent1 VALUES ('code', 'rare', 12, 12)",
        "structure",
    ),
}


@pytest.mark.parametrize("what", TAMPERED)
def test_relations_that_are_changed_before_verification(built: Database, what: str) -> None:
    statement, _ = TAMPERED[what]
    found: list[str] = []

    def change(step: str) -> None:
        if step.startswith("verify.") and not found:
            stages = built.admin.execute(
                "SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_groups0$'"
                " AND relnamespace = 'pganon_stage'::regnamespace"
            ).fetchall()
            found.append(stages[-1][0].removesuffix("_groups0"))
            text = statement.format(stage=f"pganon_stage.{found[0]}")
            built.admin.execute(text)  # pyright: ignore[reportArgumentType]

    with pytest.raises(PganonError) as raised:
        faults.run(built.dsn(), whole(), before=change)
    assert found
    assert raised.value.code in ("verification", "changed_after_verification", "interrupted")
    assert faults.content(built.admin, "published.hospital_groups") is None


@pytest.mark.parametrize("what", TAMPERED)
def test_relations_that_are_changed_in_the_store(built: Database, what: str) -> None:
    statement, model = TAMPERED[what]
    run_id = faults.run(built.dsn(), whole()).run_id
    assert all(check.holds for check in lifecycle.verify(built.owner(), "hospital"))
    parts = built.admin.execute(
        "SELECT relname, relnamespace::regnamespace::text FROM pg_class WHERE relname ~ %s",
        [f"^r{run_id}_[a-z]+[0-9]*$"],
    ).fetchall()
    text = statement
    for name, schema in parts:
        text = text.replace(f"{{stage}}_{name.partition('_')[2]} ", f"{schema}.{name} ")
        text = text.replace(f"{{stage}}_{name.partition('_')[2]}", f"{schema}.{name}")
    built.admin.execute(text.replace("{{", "{").replace("}}", "}"))  # pyright: ignore
    failing = {c.model for c in lifecycle.verify(built.owner(), "hospital") if not c.holds}
    assert failing
    assert model is None or model in failing


# -- tables that lose rows while the run goes on ---------------------------------------------------


def _emptied(db: Database, pattern: str, statement: str) -> Callable[[str], None]:
    done: list[str] = []

    def hook(step: str) -> None:
        if done or not step.startswith("recode."):
            return
        found = db.admin.execute(
            "SELECT relname FROM pg_class WHERE relname ~ %s"
            " AND relnamespace = 'pganon_work'::regnamespace",
            [pattern],
        ).fetchall()
        if found:
            done.append(found[-1][0])
            table = sql.Identifier("pganon_work", done[0])
            db.admin.execute(sql.SQL(statement).format(table))  # pyright: ignore

    return hook


@pytest.mark.parametrize(
    "table", ["linked1", "people", "above", "class_groups0", "facts0", "held0", "rows0"]
)
@pytest.mark.slow
def test_tables_that_are_emptied(db: Database, table: str) -> None:
    """As an unlogged table is after a crash of the server."""
    wards.build(db.connect("source_owner"), wards.rows(1200, 1))
    hook = _emptied(db, f"^r[0-9]+_{table}$", "TRUNCATE {}")
    with refused("interrupted"):
        faults.run(db.dsn(), whole(), before=hook)


@pytest.mark.parametrize("table", ["facts1", "linked1"])
@pytest.mark.slow
def test_rows_of_a_person_that_are_gone(db: Database, table: str) -> None:
    """Groups are then good for others than those who are in them."""
    wards.build(db.connect("source_owner"), wards.rows(1200, 1))
    text = "DELETE FROM {} WHERE person = (SELECT min(person) FROM {0})"
    hook = _emptied(db, f"^r[0-9]+_{table}$", text.replace("{}", "{0}"))
    with refused("unbalanced") as caught:
        faults.run(db.dsn(), whole(), before=hook)
    assert "read of diagnosis" in str(caught[0])


# -- orders, numbers and the catalog ---------------------------------------------------------------


def _stored(db: Database, part: str) -> list[tuple[Any, ...]]:
    """Rows as the server gives them: no ORDER BY."""
    (name,) = db.admin.execute(
        "SELECT relname FROM pg_class WHERE relname ~ %s"
        " AND relnamespace = 'pganon_data'::regnamespace ORDER BY oid DESC LIMIT 1",
        [f"^r[0-9]+_{part}$"],
    ).fetchone() or ("",)
    return db.admin.execute(sql.SQL("TABLE pganon_data.{}").format(sql.Identifier(name))).fetchall()


@pytest.mark.slow
def test_rows_lie_in_an_order_of_what_is_published(db: Database) -> None:
    stored = []
    for seed in (1, 2):
        tables = wards.rows(220, 3)
        mixed = {n: random.Random(seed).sample(rows, len(rows)) for n, rows in tables.items()}
        wards.build(db.connect("source_owner"), mixed)
        faults.run(db.dsn(), whole(republication="allow"), stable=True)
        parts = ("groups0", "groups1", "slice0", "slice1", "pair0", "frequent0", "lookup0")
        stored.append({part: _stored(db, part) for part in parts})
    assert stored[0] == stored[1]
    for part in ("groups0", "groups1", "slice0", "pair0", "lookup0"):
        assert stored[0][part] == sorted(stored[0][part])
    numbers = [row[0] for row in stored[0]["slice1"]]
    assert numbers == sorted(numbers)


def test_strangers_read_nothing_of_the_tables(built: Database) -> None:
    faults.run(built.dsn(), whole(publish={"readers": []}))
    built.admin.execute("ANALYZE")
    stranger = built.connect("analyst")
    found = stranger.execute(
        "SELECT count(*) FROM pg_stats WHERE schemaname ~ '^pganon_|^published$'"
    ).fetchone()
    assert found == (0,)
    views = built.admin.execute(
        "SELECT viewname FROM pg_views WHERE schemaname = 'published'"
    ).fetchall()
    assert len(views) > 10
    for (view,) in views:
        text = sql.SQL("SELECT FROM {}").format(sql.Identifier("published", view))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute(text)


@pytest.mark.slow
def test_nobody_learns_how_many_seconds_there_are(db: Database) -> None:
    """Of values that are closed, too: everybody sees what ANALYZE counted."""
    wards.build(db.connect("source_owner"), wards.rows(1200, 1))
    run_id = faults.run(db.dsn(), whole()).run_id
    (rows,) = db.admin.execute(
        "SELECT reltuples FROM pg_class WHERE relname = %s", [f"r{run_id}_seconds0"]
    ).fetchone() or (None,)
    assert rows == -1
