"""Related tables that grow: new people alone, in classes and groups of their own."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest

from pganon.checks.releases import drift
from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from pganon.publish import lifecycle
from pganon.run.dry_run import look
from pganon.run.erasure import forget_people
from pganon.run.options import Options
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.integration.methods.related.test_related import COMMON, oracle
from tests.support.harness import faults
from tests.support.harness.cluster import Connection, Database
from tests.support.harness.driver import refused
from tests.support.oracles.related import Rule
from tests.support.sources import wards
from tests.support.sources.growing import cohorts

pytestmark = pytest.mark.primary_server_only

Rows = dict[str, list[tuple[Any, ...]]]


def growing(tables: dict[str, Any] | None = None, **changes: Any) -> LoadedPolicy:
    others = {"group_size": 30, "increment_size": 60, "refresh": "increments", **changes}
    k, beta = others.pop("k", 3), others.pop("beta", 0.9)
    others = {key: value for key, value in others.items() if value is not None}
    return load_policy(json.dumps(wards.policy(tables or wards.WHOLE, k, beta, **others)))


def grow(db: Database, loaded: LoadedPolicy | None = None, **options: Any) -> RunResult:
    return faults.run(db.dsn(), loaded or growing(), force=False, **options)


@pytest.fixture
def built(db: Database) -> Database:
    wards.build(db.connect("source_owner"), wards.rows(220, 1))
    return db


def moved(people: int, seed: int, by: int = 1000) -> Rows:
    """Rows of other people, with other keys of people and admissions."""
    more = wards.rows(people, seed)
    return {
        "patient": [(row[0] + by, *row[1:]) for row in more["patient"]],
        "admission": [(row[0] + by, row[1] + by, *row[2:]) for row in more["admission"]],
        "diagnosis": [(row[0] + by, row[1] + by, row[2]) for row in more["diagnosis"]],
        "patient_study": [(row[0] + by, row[1]) for row in more["patient_study"]],
    }


def add(db: Database, rows: Rows) -> None:
    conn = db.connect("source_owner")
    for name, made in rows.items():
        with conn.cursor().copy(f"COPY hospital.{name} FROM STDIN".encode()) as copy:
            for row in made:
                copy.write_row(row)


def shown(db: Database) -> dict[str, Counter[str]]:
    """Rows of all views as texts."""
    found = {}
    for (view,) in db.admin.execute(
        "SELECT viewname FROM pg_views WHERE schemaname = 'published'"
    ).fetchall():
        rows = db.admin.execute(f"SELECT v::text FROM published.{view} AS v".encode()).fetchall()
        found[view] = Counter(row for (row,) in rows)
    return found


def holds(db: Database) -> bool:
    return all(check.holds for check in lifecycle.verify(db.owner(), "hospital"))


def people(db: Database, number: str = "group_id") -> dict[int, set[int]]:
    """Keys of the people of every group."""
    found: dict[int, set[int]] = defaultdict(set)
    tables = db.admin.execute(
        "SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_members$'"
        " AND relnamespace = 'pganon_private'::regnamespace"
    ).fetchall()
    made = "SELECT relname FROM pg_class WHERE relname ~ '^r[0-9]+_classes$'"
    classes = {name for (name,) in db.admin.execute(made).fetchall()}
    for (table,) in tables:
        if table.replace("members", "classes") not in classes:
            continue  # of a period
        rows = db.admin.execute(
            f"SELECT c.{number}, s.patient_no FROM pganon_private.{table} AS m"
            f" JOIN pganon_data.{table.replace('members', 'classes')} AS c USING (class_id)"
            " JOIN pganon_private.population AS p ON true"
            " JOIN hospital.patient AS s ON m.member = encode(substr(sha256(p.secret ||"
            " convert_to(s.patient_no::text, 'UTF8')), 1, 16), 'hex')::uuid".encode()
        ).fetchall()
        for group, person in rows:
            found[group].add(person)
    return found


def counted(db: Database, tables: Rows, rule: Rule, earlier: set[int]) -> set[int]:
    """Holds groups that are not earlier ones against the rows of their people; gives their
    numbers."""
    events, found = oracle(tables), people(db)
    added = found.keys() - earlier
    rows = db.admin.execute("SELECT * FROM published.hospital_groups").fetchall()
    assert {row[0] for row in rows} == found.keys()
    for group, size, admission, diagnosis in rows:
        if group in added:
            held = [len(events[name].holders(found[group])) for name in COMMON]
            assert [size, admission, diagnosis] == [len(found[group]), *held]
            assert rule.good(found[group], [events[name] for name in COMMON])
    values = db.admin.execute("TABLE published.hospital_diagnosis_code").fetchall()
    assert {row for row in values if row[0] in added} == {
        (group, code, n)
        for group in added
        for code, n in events["diagnosis"].counts(found[group], 0).items()
    }
    for group, row in people(db, "patient_study_group_id").items():
        if row <= set().union(*(found[one] for one in added)):
            assert rule.good(row, [events["patient_study"]]), group
    return added


RULE = Rule(3, 30, Fraction("0.9"))


@pytest.mark.slow
def test_new_people_are_added_in_groups_of_their_own(built: Database) -> None:
    assert grow(built).version == 1
    before, first = shown(built), set(people(built))
    more = moved(120, 2)
    add(built, more)
    done = grow(built)
    assert (done.version, done.added.released, done.released) == (2, 120, 340)
    after = shown(built)
    assert all(rows <= after[view] for view, rows in before.items())
    assert after["hospital_ward"] == before["hospital_ward"]
    assert holds(built)
    assert len(counted(built, more, RULE, first)) >= 2
    add(built, moved(90, 3, 5000))
    assert grow(built).released == 430
    assert all(rows <= shown(built)[view] for view, rows in after.items())
    lifecycle.show_earlier(built.owner(), "hospital")
    assert shown(built) == after
    assert holds(built)


@pytest.mark.slow
def test_people_wait_until_they_are_enough(built: Database) -> None:
    grow(built)
    add(built, moved(59, 2))
    done = grow(built)
    assert (done.outcome, done.added.newcomers, done.added.waiting) == ("unchanged", 59, 59)
    looked = moved(3, 4, 3000)
    add(built, looked)
    assert grow(built).added.released == 62


@pytest.mark.slow
def test_many_people_are_asked_for_by_default(built: Database) -> None:
    """Who fails is left out for good, so chance is not to decide."""
    loaded = growing(increment_size=None, group_size=12)
    assert grow(built, loaded).version == 1
    add(built, moved(119, 2))
    assert grow(built, loaded).outcome == "unchanged"
    add(built, moved(1, 3, 4000))
    assert grow(built, loaded).added.released == 120


@pytest.mark.slow
def test_later_rows_of_earlier_people_are_left_out_and_counted(built: Database) -> None:
    grow(built)
    before = shown(built)
    built.source(
        "INSERT INTO hospital.diagnosis SELECT admission_no, patient_no, 'late'"
        " FROM hospital.admission WHERE patient_no IN (SELECT patient_no FROM hospital.admission"
        " ORDER BY 1 LIMIT 5); DELETE FROM hospital.patient_study WHERE patient_no ="
        " (SELECT max(patient_no) FROM hospital.patient_study)",
        grant=False,
    )
    changed = built.admin.execute(
        "SELECT count(DISTINCT a.patient_no) + 1 FROM hospital.diagnosis AS d"
        " JOIN hospital.admission AS a USING (admission_no) WHERE d.code = 'late'"
    ).fetchone()
    done = grow(built)
    assert (done.outcome, done.added.stale) == ("unchanged", changed[0] if changed else None)
    more = moved(120, 2)
    add(built, more)
    done = grow(built)
    assert (done.added.released, done.added.stale) == (120, changed[0] if changed else None)
    assert all(rows <= shown(built)[view] for view, rows in before.items())
    assert not [row for row in shown(built)["hospital_diagnosis_code"] if "late" in row]


@pytest.mark.slow
def test_the_same_rows_in_another_order_are_no_change(built: Database) -> None:
    grow(built)
    built.source(
        "CREATE TABLE kept AS SELECT * FROM hospital.diagnosis ORDER BY code, admission_no;"
        " DELETE FROM hospital.diagnosis; INSERT INTO hospital.diagnosis TABLE kept",
        grant=False,
    )
    assert grow(built).added.stale == 0


# -- lookups ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_lookups_grow_and_stay_as_they_were_shown(built: Database) -> None:
    grow(built)
    built.source(
        "UPDATE hospital.ward SET name = 'new name' WHERE ward_no = 1;"
        " DELETE FROM hospital.study WHERE study_no = 3;"
        " INSERT INTO hospital.ward VALUES (9, 'ward 9')",
        grant=False,
    )
    more = moved(120, 2)
    more["patient_study"] = [row for row in more["patient_study"] if row[1] != 3]
    more["admission"] = [(*r[:2], 9, *r[3:]) if r[2] == 4 else r for r in more["admission"]]
    add(built, more)
    done = grow(built)
    wards_shown = built.admin.execute("TABLE published.hospital_ward").fetchall()
    assert sorted(wards_shown) == [*((n, f"ward {n}") for n in range(1, 5)), (9, "ward 9")]
    assert len(shown(built)["hospital_study"]) == 3
    said = [text for text in done.warnings if "changed or went" in text]
    assert said == [
        f"1 rows of {name} changed or went; the version shows them as they were"
        for name in ("ward", "study")
    ]
    assert holds(built)


CHANGES = (
    "UPDATE hospital.ward SET name = 'other' WHERE ward_no = 1",
    "INSERT INTO hospital.ward VALUES (99, 'new')",
    "DELETE FROM hospital.study WHERE NOT study_no = ANY"
    " (SELECT study_no FROM hospital.patient_study)",
)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=["changed", "new", "none"])
@pytest.mark.parametrize("refresh", ["increments", None])
def test_status_looks_at_lookups(built: Database, change: str, refresh: str | None) -> None:
    policy = growing(refresh=refresh, increment_size=60 if refresh else None)
    faults.run(built.dsn(), policy, force=False)
    same = None if refresh else False
    assert look(policy, dsn=built.dsn()).changed is same
    owner = built.owner()
    faults.wait_until(lambda: by_statistics(owner) == "unchanged")
    changed = bool(built.admin.execute(change.encode()).rowcount)
    assert look(policy, dsn=built.dsn()).changed is (changed or same)
    if changed:
        faults.wait_until(lambda: by_statistics(owner) == "perhaps_changed")


def by_statistics(conn: Connection) -> str:
    found = drift(conn, "hospital")
    assert found is not None
    return found.source


@pytest.mark.slow
def test_values_of_new_people_name_rows_of_lookups(built: Database) -> None:
    grow(built)
    more = moved(120, 2)
    more["admission"][0] = (*more["admission"][0][:2], 77, *more["admission"][0][3:])
    add(built, more)
    with refused("reference"):
        grow(built)
    built.source("INSERT INTO hospital.ward VALUES (77, 'ward 77')", grant=False)
    assert grow(built).added.released == 120


@pytest.mark.parametrize("beds", [False, True])
@pytest.mark.slow
def test_lookups_are_looked_at_beside_everybody(built: Database, beds: bool) -> None:
    """Of the new people alone most wards that they name are of one person."""
    built.source(
        "INSERT INTO hospital.ward SELECT n, 'w' FROM generate_series(10, 3000) AS n;"
        " UPDATE hospital.admission SET ward_no = 10 + patient_no % 110",
        grant=False,
    )
    grow(built)
    more = moved(120, 2)
    more["admission"] = [
        (*row[:2], 500 + n if beds else 10 + row[1] % 110, *row[3:])
        for n, row in enumerate(more["admission"])
    ]
    add(built, more)
    if beds:
        with refused("lookup_people"):
            grow(built)
    else:
        assert grow(built).added.released == 120


# -- who is left out -------------------------------------------------------------------------------


def few_studies(rows: Rows) -> Rows:
    return {**rows, "patient_study": rows["patient_study"][:2]}


@pytest.mark.slow
def test_new_people_who_are_no_good_group_are_left_out_for_good(built: Database) -> None:
    grow(built)
    before = shown(built)
    bad = few_studies(moved(70, 2))
    add(built, bad)
    with refused("too_few_holders") as caught:
        grow(built)
    assert str(caught[0]).startswith(
        "only 2 people of a part that is kept apart have rows in patient_study"
    )
    assert str(caught[0]).endswith("the 70 records of these people are permanently suppressed")
    assert cohorts(built.owner())[-1] == (70, True)
    assert shown(built) == before
    people = [(person, 1) for person, *_ in bad["patient"][:20]]
    add(built, {"patient_study": people, **moved(60, 3, 5000)})
    done = grow(built)
    assert (done.added.released, done.suppressed, done.released) == (60, 70, 280)
    add(built, moved(70, 4, 9000))
    built.source("DELETE FROM hospital.diagnosis WHERE admission_no >= 9000", grant=False)
    built.source(
        "INSERT INTO hospital.diagnosis SELECT admission_no, patient_no, 'a'"
        " FROM hospital.admission WHERE admission_no >= 9000",
        grant=False,
    )
    with refused("event_share"):
        grow(built)
    assert cohorts(built.owner())[-1] == (70, True)
    add(built, moved(60, 5, 15_000))
    done = grow(built)
    assert (done.added.released, done.suppressed, done.released) == (60, 140, 340)


def apart(**changes: Any) -> LoadedPolicy:
    columns = {**wards.ROOT["columns"], "sex": {"role": "quasi_identifying", "apart": True}}
    root = {**wards.ROOT, "columns": columns}
    return growing({**wards.WHOLE, "patient": root}, increment_size=40, **changes)


@pytest.mark.slow
def test_parts_that_are_kept_apart_wait_and_fail_alone(built: Database) -> None:
    assert grow(built, apart()).version == 1
    first = set(people(built))
    more = moved(200, 2)
    men = [row[0] for row in more["patient"] if row[2] == "M"]
    women = [row[0] for row in more["patient"] if row[2] == "F"]
    assert min(len(men), len(women)) > 60
    few = {person: n for n, person in enumerate(women) if n < 39}
    mine = {*men, *few}
    rows = {
        "patient": [row for row in more["patient"] if row[0] in mine],
        "admission": [row for row in more["admission"] if row[1] in mine],
        "diagnosis": [row for row in more["diagnosis"] if row[1] in mine],
        "patient_study": [row for row in more["patient_study"] if row[0] in mine],
    }
    add(built, rows)
    done = grow(built, apart())
    assert (done.added.cohorts, done.added.released, done.added.waiting) == (1, len(men), 39)
    add(built, {n: [r for r in more[n] if r not in rows[n]] for n in more})
    boys = moved(90, 3, 5000)
    boys["patient"] = [(*row[:2], "M", row[3]) for row in boys["patient"]]
    boys["patient_study"] = boys["patient_study"][:1]
    add(built, boys)
    done = grow(built, apart())
    assert (done.added.cohorts, done.added.tested) == (2, len(women) + 90)
    assert (done.added.released, done.added.suppressed) == (len(women), 90)
    assert holds(built)
    counted(built, more, RULE, first)
    released = set().union(*people(built).values())
    assert released.isdisjoint({row[0] for row in boys["patient"]})
    rows_of = built.admin.execute(
        "SELECT sum(persons) FROM published.hospital_diagnosis_rows WHERE column_name = 'code'"
    ).fetchone()
    assert rows_of is not None


@pytest.mark.slow
def test_cohorts_of_parts_that_are_tested_later(built: Database) -> None:
    grow(built, apart())
    add(built, moved(200, 2))
    with pytest.raises(RuntimeError):
        grow(built, apart(), before=stop("partition.cells"))
    assert cohorts(built.owner())[-1] == (200, False)
    add(built, moved(200, 3, 5000))
    done = grow(built, apart())
    assert (done.added.cohorts, done.added.released, done.added.suppressed) == (2, 200, 0)
    assert grow(built, apart()).added.released == 200
    assert holds(built)


@pytest.mark.slow
def test_parts_of_several_cohorts_that_people_change_into(built: Database) -> None:
    """Between commitment and test: everybody is tested once, in the part where he is by then."""
    columns = {**wards.ROOT["columns"], "blood": {"role": "quasi_identifying", "apart": True}}
    root = {**wards.ROOT, "columns": columns}
    loaded = growing({**wards.WHOLE, "patient": root}, increment_size=40)
    grow(built, loaded)
    add(built, moved(400, 2))
    with pytest.raises(RuntimeError):
        grow(built, loaded, before=stop("partition.cells"))
    assert cohorts(built.owner())[-1] == (400, False)
    for before, after in (("A", "new"), ("B", "A"), ("new", "O")):
        built.source(
            f"UPDATE hospital.patient SET blood = '{after}' WHERE patient_no IN (SELECT patient_no"
            f" FROM hospital.patient WHERE blood = '{before}' AND patient_no > 1000"
            " ORDER BY 1 LIMIT 20)",
            grant=False,
        )
    done = grow(built, loaded)
    assert (done.added.cohorts, done.added.suppressed, done.added.released) == (3, 0, 400)
    assert holds(built)


@pytest.mark.slow
def test_who_changes_into_another_part_is_left_out_alone(built: Database) -> None:
    grow(built, apart())
    women = moved(90, 2)
    women["patient"] = [(*row[:2], "F", row[3]) for row in women["patient"]]
    add(built, women)
    with pytest.raises(RuntimeError):
        grow(built, apart(), before=stop("partition.cells"))
    built.source("UPDATE hospital.patient SET sex = 'M' WHERE patient_no = 1001", grant=False)
    done = grow(built, apart())
    assert (done.added.cohorts, done.added.suppressed, done.added.released) == (1, 1, 89)
    assert holds(built)


# -- what stops on the way -------------------------------------------------------------------------


def stop(step: str) -> Any:
    def at(current: str) -> None:
        if current == step:
            raise RuntimeError

    return at


@pytest.mark.parametrize(
    "step", ["cohorts.links", "partition.cells", "recode.balance_of_tables", "publish.publish"]
)
@pytest.mark.slow
def test_a_run_that_stops_is_finished_by_the_next(built: Database, step: str) -> None:
    steps: list[str] = []
    grow(built, before=steps.append)
    before = shown(built)
    add(built, moved(90, 2))
    assert step in steps
    with pytest.raises(RuntimeError):
        grow(built, before=stop(step))
    assert shown(built) == before
    committed = step != "cohorts.links"
    assert cohorts(built.owner())[1:] == ([(90, False)] if committed else [])
    add(built, moved(90, 3, 5000))
    assert grow(built).added.released == (90 if committed else 180)
    assert holds(built)


@pytest.mark.slow
def test_rows_of_nobody_are_found_before_anybody_is_tested(built: Database) -> None:
    grow(built)
    more = moved(90, 2)
    add(built, {**more, "admission": [*more["admission"], (9999, 9999, 1, "2021-01-01", "now")]})
    with refused("orphans"):
        grow(built)
    assert len(cohorts(built.owner())) == 1


@pytest.mark.slow
def test_a_first_version_that_is_refused_tests_the_same_people_again(built: Database) -> None:
    with refused("event_share"):
        grow(built, growing(beta=0.3))
    assert cohorts(built.owner()) == [(220, False)]
    assert grow(built).released == 220


# -- other policies, and people --------------------------------------------------------------------


def test_a_table_more_has_other_views(built: Database) -> None:
    less = {name: one for name, one in wards.WHOLE.items() if name != "patient_study"}
    grow(built, growing(less))
    add(built, moved(90, 2))
    with refused("other_columns"):
        grow(built)


@pytest.mark.slow
def test_stronger_models_are_for_those_who_are_added(built: Database) -> None:
    grow(built)
    add(built, moved(120, 2))
    done = grow(built, growing(beta=0.8))
    assert done.added.released == 120
    assert holds(built)


@pytest.mark.slow
def test_a_release_goes_on_from_one_that_was_made_at_once(built: Database) -> None:
    grow(built, growing(refresh="recompute", increment_size=None))
    before = shown(built)
    add(built, moved(90, 2))
    assert grow(built).added.released == 90
    assert all(rows <= shown(built)[view] for view, rows in before.items())
    assert holds(built)


@pytest.mark.slow
def test_who_is_forgotten_comes_back_in_no_version(built: Database) -> None:
    grow(built)
    built.source(
        "CREATE TABLE hospital.gone AS SELECT patient_no FROM hospital.patient WHERE patient_no < 4"
    )
    before = shown(built)
    assert forget_people(built.owner(), "hospital", "hospital.gone").people == 3
    add(built, moved(90, 2))
    done = grow(built)
    assert (done.added.newcomers, done.added.released) == (90, 90)
    assert all(rows <= shown(built)[view] for view, rows in before.items())
    assert holds(built)


@pytest.mark.slow
def test_who_left_stays_in_the_groups(built: Database) -> None:
    grow(built)
    built.source(
        "DELETE FROM hospital.patient_study WHERE patient_no = 5; DELETE FROM hospital.diagnosis"
        " WHERE admission_no IN (SELECT admission_no FROM hospital.admission WHERE patient_no = 5);"
        " DELETE FROM hospital.admission WHERE patient_no = 5;"
        " DELETE FROM hospital.patient WHERE patient_no = 5",
        grant=False,
    )
    before = shown(built)
    done = grow(built)
    assert (done.outcome, done.added.left) == ("unchanged", 1)
    assert shown(built) == before


@pytest.mark.slow
def test_a_dry_run_tests_nobody(built: Database) -> None:
    grow(built)
    add(built, few_studies(moved(90, 2)))
    looked = run_release(growing(), dsn=built.dsn(), options=Options(dry_run=True))
    assert (looked.outcome, looked.added.tested) == ("dry_run", 90)
    assert len(cohorts(built.owner())) == 1
