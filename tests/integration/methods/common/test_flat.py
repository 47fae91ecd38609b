"""The view `_flat` of a release of classes: the same records in plain columns."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.support.harness import faults
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database
from tests.support.harness.driver import loaded

pytestmark = pytest.mark.primary_server_only

TABLE = """
CREATE SCHEMA clinic;
CREATE TABLE clinic.visit AS SELECT
    20 + (g * 7 % 60) AS age, (g * 13 % 50)::numeric(6, 2) / 4 AS weight,
    date '2025-01-01' + (g * 31 % 365) AS day,
    timestamp '2025-01-01' + g * interval '7 hours' AS seen,
    timestamptz '2025-01-01 00:00+00' + g * interval '5 hours' AS billed,
    CASE WHEN g % 3 = 0 THEN 'male' ELSE 'female' END AS sex,
    (g * 17 % 40)::int AS room, '76' || (100 + g % 30) AS zip,
    CASE WHEN g % 9 > 0 THEN (g % 11) * 100 END AS income,
    (ARRAY['flu', 'cold', 'asthma'])[1 + g * 5 % 3] AS diagnosis
FROM generate_series(1, 200) AS g;
ALTER TABLE clinic.visit ALTER weight TYPE numeric(6, 2);
ALTER TABLE clinic.visit ALTER age SET NOT NULL, ALTER weight SET NOT NULL, ALTER day SET NOT NULL,
    ALTER seen SET NOT NULL, ALTER sex SET NOT NULL, ALTER room SET NOT NULL,
    ALTER zip SET NOT NULL;
"""
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi_identifying"},
    "weight": {"role": "quasi_identifying"},
    "day": {"role": "quasi_identifying", "hierarchy": {"date": ["month", "quarter"]}},
    "seen": {"role": "quasi_identifying"},
    "billed": {"role": "quasi_identifying"},
    "sex": {"role": "quasi_identifying"},
    "room": {"role": "quasi_identifying", "hierarchy": {"intervals": [5, 20]}},
    "zip": {"role": "quasi_identifying", "hierarchy": {"prefix": [4]}},
    "income": {"role": "quasi_identifying"},
    "diagnosis": {"role": "sensitive"},
}


def policy(**others: Any) -> dict[str, Any]:
    return {
        "release": "visits",
        "source": "clinic.visit",
        "columns": COLUMNS,
        "privacy": [{"model": "k_anonymity", "k": 5}],
        "method": {"name": "mondrian"},
        "publish": {"readers": ["analyst"]},
        **others,
    }


def _build(db: Database) -> None:
    with db.connect() as steward:
        steward.execute(TABLE.encode())


@pytest.fixture
def clinic(db: Database) -> Database:
    _build(db)
    return db


def _published(db: Database) -> None:
    _build(db)
    faults.run(db.dsn(), loaded(policy()))


@pytest.fixture
def released(db_after: Any) -> Database:
    """With the release of :func:`policy`."""
    return db_after(_published)[0]


def run(db: Database, folder: Path, given: dict[str, Any], *options: str) -> Ran:
    file = folder / "policy.json"
    file.write_text(json.dumps(given))
    return pganon("run", str(file), *options, "--dsn", db.dsn())


def test_both_views_show_the_same_records(released: Database) -> None:
    analyst = released.connect("analyst")
    plain = """
        SELECT class_id, lower(age)::int, upper(age)::int, lower(weight)::numeric(6, 2),
            upper(weight)::numeric(6, 2), lower(day), upper(day) - 1, lower(seen),
            upper(seen) - interval '1 microsecond', lower(billed),
            upper(billed) - interval '1 microsecond', array_to_string(sex, ' | '),
            CASE WHEN upper_inc(room) THEN upper(room) ELSE upper(room) - 1 END, zip,
            lower(income)::int, income_null, diagnosis
        FROM published.visits
    """
    flat = """
        SELECT class_id, age_low, age_high, weight_low, weight_high, day_low, day_high, seen_low,
            seen_high, billed_low, billed_high, sex, room_high, zip,
            income_low, income_null, diagnosis
        FROM published.visits_flat
    """
    for one, other in ((plain, flat), (flat, plain)):
        missing = analyst.execute(f"({one}) EXCEPT ALL ({other})".encode()).fetchall()
        assert missing == []
    counted = analyst.execute(
        b"SELECT count(*), count(DISTINCT class_id) FROM published.visits_flat"
    )
    assert counted.fetchone()[0] == 200  # pyright: ignore[reportOptionalSubscript]


def test_every_source_record_lies_between_the_ends(released: Database) -> None:
    with released.owner() as owner:
        row = owner.execute(b"""
            SELECT count(*) FROM clinic.visit AS v WHERE NOT EXISTS (
                SELECT FROM published.visits_flat AS f
                WHERE v.age BETWEEN age_low AND age_high
                    AND v.weight BETWEEN weight_low AND weight_high
                    AND v.day BETWEEN day_low AND day_high AND v.seen BETWEEN seen_low AND seen_high
                    AND v.billed BETWEEN billed_low AND billed_high
                    AND v.room BETWEEN room_low AND room_high AND v.diagnosis = f.diagnosis
                    AND v.sex = ANY (string_to_array(f.sex, ' | ')))
        """).fetchone()
    assert row == (0,)


def test_types_are_those_of_the_source(released: Database) -> None:
    shown = released.admin.execute(
        b"SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
        b" WHERE attrelid = 'published.visits_flat'::regclass AND attnum > 0"
    ).fetchall()
    types = dict(shown)
    assert types["age_low"] == types["age_high"] == "integer"
    assert types["weight_high"] == "numeric(6,2)"
    assert types["day_low"] == "date"
    assert types["seen_high"] == "timestamp without time zone"
    assert types["room_low"] == "bigint"
    assert types["sex"] == types["zip"] == "text"


def test_comments_say_what_a_range_is(released: Database) -> None:
    rows = released.admin.execute(
        b"SELECT attrelid::regclass::text || '.' || attname, col_description(attrelid, attnum)"
        b" FROM pg_attribute WHERE attnum > 0 AND attrelid IN"
        b" ('published.visits'::regclass, 'published.visits_flat'::regclass)"
    ).fetchall()
    said = dict(rows)
    assert "Smallest range" in said["published.visits.age"]
    for name in ("day", "room"):
        assert "Interval of the hierarchy" in said[f"published.visits.{name}"]
    assert "Smallest" not in said["published.visits.room"]
    assert "Highest value" in said["published.visits_flat.room_high"]
    assert "separated by ' | '" in said["published.visits_flat.sex"]


def test_files_have_two_numbers(released: Database, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for ending in ("csv", "parquet"):
        file = tmp_path / f"visits.{ending}"
        done = pganon(
            "export", "visits", "-o", str(file), "--view", "flat", "--dsn", released.dsn("analyst")
        )
        assert done.code == 0, done.err
    header, first, *_ = (tmp_path / "visits.csv").read_text().splitlines()
    names = header.split(",")
    values = dict(zip(names, first.split(","), strict=True))
    assert int(values["age_low"]) <= int(values["age_high"])
    table = parquet.read_table(tmp_path / "visits.parquet")
    row = table.slice(0, 1).to_pylist()[0]
    assert isinstance(row["age_low"], int)
    assert isinstance(row["room_high"], int)
    assert isinstance(row["weight_low"], Decimal)
    assert isinstance(row["day_high"], date)
    assert isinstance(row["sex"], str)


def test_numbers_that_need_not_be_whole(clinic: Database, tmp_path: Path) -> None:
    columns = {
        "weight": {"role": "quasi_identifying", "hierarchy": {"intervals": [2.5, 5]}},
        "diagnosis": {"role": "sensitive"},
    }
    ran = run(clinic, tmp_path, policy(columns=columns))
    assert ran.code == 0, ran.err
    with clinic.owner() as owner:
        wrong = owner.execute(
            b"SELECT count(*) FROM published.visits AS v JOIN published.visits_flat AS f"
            b" USING (class_id) WHERE (lower(v.weight), upper(v.weight))"
            b" IS DISTINCT FROM (f.weight_low, f.weight_high)"
        ).fetchone()
    assert wrong == (0,)


def test_the_last_day_and_the_first(db: Database, tmp_path: Path) -> None:
    with db.connect() as steward:
        steward.execute(
            b"CREATE SCHEMA clinic; CREATE TABLE clinic.visit AS SELECT d::date AS day,"
            b" 'flu'::text AS diagnosis FROM (VALUES ('5874897-12-31'), ('4713-01-01 BC')) AS v(d)"
        )
    columns = {"day": {"role": "quasi_identifying"}, "diagnosis": {"role": "sensitive"}}
    privacy = [{"model": "k_anonymity", "k": 2}]
    ran = run(db, tmp_path, policy(columns=columns, privacy=privacy))
    assert ran.code == 0, ran.err
    with db.owner() as owner:
        row = owner.execute(
            b"SELECT DISTINCT day_low::text, day_high::text FROM published.visits_flat"
        ).fetchone()
    assert row == ("4713-01-01 BC", "5874897-12-31")


def test_labels_alone_need_no_second_view(clinic: Database, tmp_path: Path) -> None:
    columns = {name: COLUMNS[name] for name in ("zip", "diagnosis")}
    assert run(clinic, tmp_path, policy(columns=columns)).code == 0
    row = clinic.admin.execute(b"SELECT to_regclass('published.visits_flat')").fetchone()
    assert row == (None,)


@pytest.mark.slow
def test_its_name_may_be_that_of_a_release(clinic: Database, tmp_path: Path) -> None:
    assert run(clinic, tmp_path, policy(release="visits_flat")).code == 0
    ran = run(clinic, tmp_path, policy())
    assert ran.code == 2
    assert "published.visits_flat exists" in ran.err
    with clinic.owner() as owner:
        shown = owner.execute(b"SELECT release FROM pganon.releases").fetchall()
    assert shown == [("visits_flat",)]


@pytest.mark.slow
def test_names_of_ends_are_refused_where_taken(clinic: Database, tmp_path: Path) -> None:
    with clinic.connect() as steward:
        steward.execute(b"ALTER TABLE clinic.visit ADD age_low integer")
    columns = {**COLUMNS, "age_low": {"role": "insensitive"}}
    ran = run(clinic, tmp_path, policy(columns=columns))
    assert ran.code == 2
    assert '"age_low"' in ran.err.replace("\n", " ") or "age_low" in ran.err
    assert "choose another name with `as:`" in ran.err
    columns["age_low"] = {"role": "insensitive", "as": "young"}
    assert run(clinic, tmp_path, policy(columns=columns)).code == 0


def test_it_is_verified_and_dropped_with_the_release(released: Database) -> None:
    assert pganon("verify", "visits", "--dsn", released.dsn()).code == 0
    with released.owner() as owner:
        owner.execute(b"GRANT SELECT ON published.visits_flat TO PUBLIC")
    ran = pganon("verify", "visits", "--dsn", released.dsn())
    assert ran.code == 1
    with released.owner() as owner:
        owner.execute(b"REVOKE SELECT ON published.visits_flat FROM PUBLIC")
        row = owner.execute(b"SELECT pg_get_viewdef('published.visits_flat'::regclass)").fetchone()
        assert row is not None
        text = row[0].rstrip(";")
        replaced = (
            f"CREATE OR REPLACE VIEW published.visits_flat AS SELECT * FROM ({text}) AS s LIMIT 1"
        )
        owner.execute(replaced.encode())
    ran = pganon("verify", "visits", "--dsn", released.dsn())
    assert ran.code == 1
    with released.owner() as owner:
        owner.execute(f"CREATE OR REPLACE VIEW published.visits_flat AS {text}".encode())
    assert pganon("verify", "visits", "--dsn", released.dsn()).code == 0
    assert pganon("drop", "visits", "--yes", "--dsn", released.dsn()).code == 0
    row = released.admin.execute(b"SELECT to_regclass('published.visits_flat')").fetchone()
    assert row == (None,)


VERSIONS: dict[str, dict[str, Any]] = {
    "other classes": {"privacy": [{"model": "k_anonymity", "k": 40}]},
    "other columns": {"columns": {name: COLUMNS[name] for name in ("age", "sex", "diagnosis")}},
    "no second view": {"columns": {name: COLUMNS[name] for name in ("zip", "diagnosis")}},
}
"""What the second version has."""


def both_views(db: Database) -> list[list[tuple[Any, ...]]]:
    """Rows of the view and of `_flat`, as an analyst reads them; none of a view that is not."""
    analyst, found = db.connect("analyst"), []
    for view in ("visits", "visits_flat"):
        there = analyst.execute("SELECT to_regclass(%s)", [f"published.{view}"]).fetchone()
        rows = f"SELECT v::text FROM published.{view} AS v ORDER BY 1".encode()
        found.append(analyst.execute(rows).fetchall() if there != (None,) else [])
    return found


@pytest.mark.slow
@pytest.mark.parametrize("other", VERSIONS)
def test_it_goes_back_with_the_release(clinic: Database, tmp_path: Path, other: str) -> None:
    given = policy(republication="allow")
    at = ("--dsn", clinic.dsn())
    assert run(clinic, tmp_path, given).code == 0
    first = both_views(clinic)
    assert run(clinic, tmp_path, {**given, **VERSIONS[other]}).code == 0
    second = both_views(clinic)
    assert bool(second[1]) is (other != "no second view")
    assert first[0] != second[0]
    assert first[1] != second[1]
    for version, shown in ((1, first), (2, second), (1, first)):
        ran = pganon("rollback", "visits", "--to", str(version), *at)
        assert ran.code == 0, ran.err
        assert both_views(clinic) == shown
        assert pganon("verify", "visits", *at).code == 0


@pytest.mark.parametrize("command", ["drop", "run"])
@pytest.mark.slow
def test_who_depends_on_it_is_named_when_it_goes(
    clinic: Database, tmp_path: Path, command: str
) -> None:
    given = policy(republication="allow")
    at = ("--dsn", clinic.dsn())
    assert run(clinic, tmp_path, given).code == 0
    with clinic.owner() as owner:
        owner.execute(b"CREATE SCHEMA mine; CREATE VIEW mine.v AS TABLE published.visits_flat")
    if command == "drop":
        ran = pganon("drop", "visits", "--yes", *at)
    else:
        ran = run(clinic, tmp_path, {**given, "columns": VERSIONS["no second view"]["columns"]})
    assert ran.code == 0
    assert "view mine.v depends on view published.visits_flat" in ran.err
    left = clinic.admin.execute(b"SELECT to_regclass('published.visits_flat')").fetchone()
    assert left == (None,)


def test_show_lists_it(released: Database) -> None:
    with released.owner() as owner:
        owner.execute(
            b"GRANT USAGE ON SCHEMA published TO source_owner;"
            b" GRANT SELECT ON published.visits_flat TO source_owner"
        )
    for role in ("steward", "analyst"):
        at = ("--dsn", released.dsn(role))
        shown = pganon("show", "visits", *at, "--json").json
        assert [view.split(".")[-1] for view in shown["views"]] == ["visits", "visits_flat"]
        columns = {c["name"]: c for c in shown["columns"] if c["view"] == shown["views"][1]}
        assert columns["age_low"]["type"] == "integer"
        assert "Highest value" in columns["age_high"]["comment"]
        text = pganon("show", "visits", *at).out
        assert "published.visits_flat" in text
        assert "age_high" in text
        # Who can read the second view alone is somebody who can read the release.
        assert ("source_owner" in text) is (role == "steward")
