"""Sample weights, households and the expected number of re-identified records."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pganon.importing.files import Format, import_file
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles import expected_risk as oracle
from tests.support.oracles.expected_risk import Row

ADULT = Path(os.environ.get("PGANON_DATA") or "/nowhere") / "adult/arx/adult.csv.gz"

MODEST = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
KEYS = st.sampled_from([None, 0, 1, 2])
PEOPLE = st.dictionaries(
    st.integers(1, 9),
    st.tuples(st.sampled_from([0.5, 1, 1.25, 18, 400]), st.sampled_from("xyz"), st.lists(KEYS)),
    min_size=1,
)


@pytest.fixture
def conn(db: Database) -> Connection:
    conn = db.connect("analyst")
    conn.execute("CREATE TEMP TABLE t (a int, w float8, p int, h text, d date, n numeric)")
    conn.execute("CREATE TEMP TABLE everyone (a int)")
    return conn


def fill(conn: Connection, rows: list[Row]) -> None:
    conn.execute("TRUNCATE pg_temp.t")
    conn.cursor().executemany(
        "INSERT INTO pg_temp.t (a, w, p, h) VALUES (%s, %s, %s, %s)",
        [(row.key, row.weight, row.person, row.household) for row in rows],
    )


def measured(conn: Connection, arguments: str) -> dict[str, float]:
    rows = conn.execute(f"SELECT * FROM pganon.risk('t', {arguments})".encode()).fetchall()
    return {name: float(value) for name, size, value in rows if size is None}


def expected(risks: dict[Any, float], shared: dict[Any, float], share: float) -> dict[str, float]:
    found = [round(risk, 12) for risk in shared.values()]
    limit = oracle.threshold(found, share)
    return {
        "expected": sum(found),
        "global": sum(found) / len(found),
        "household_highest": max(found),
        "household_mean": sum(found) / len(found),
        "household_above_threshold": sum(risk > 0.2 for risk in found),
        "global_threshold": limit,
        "above_global_threshold": sum(risk > limit for risk in found),
    }


# A limit that no mean of so few shares meets to the last digit, where rounding would decide.


@MODEST
@given(people=PEOPLE)
def test_weights_and_households_are_the_brute_force(conn: Connection, people: Any) -> None:
    rows = [
        Row(key, person, weight, home)
        for person, (weight, home, keys) in people.items()
        for key in [*keys, 0]
    ]
    fill(conn, rows)
    found = measured(
        conn, "'{a}', individual => 'p', weight => 'w', household => 'h', max_global => 0.3001"
    )
    risks = oracle.by_weights(rows)
    wanted = {
        **expected(risks, oracle.of_households(rows, risks), 0.3001),
        "weighted_highest": max(risks.values()),
        "weighted_mean": sum(risks.values()) / len(risks),
        "weighted_above_threshold": sum(risk > 0.2 for risk in risks.values()),
    }
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-11)


@MODEST
@given(people=PEOPLE, everybody=st.lists(KEYS))
def test_a_population_is_the_brute_force(conn: Connection, people: Any, everybody: Any) -> None:
    rows = [
        Row(key, person, 1, home)
        for person, (_, home, keys) in people.items()
        for key in [*keys, None]
    ]
    fill(conn, rows)
    conn.execute("TRUNCATE pg_temp.everyone")
    outside = [*everybody, None]
    conn.cursor().executemany("INSERT INTO pg_temp.everyone VALUES (%s)", [(a,) for a in outside])
    found = measured(
        conn, "'{a}', 'everyone', individual => 'p', household => 'h', max_global => 0.3001"
    )
    risks = oracle.in_population(rows, outside)
    wanted = expected(risks, oracle.of_households(rows, risks), 0.3001)
    assert {name: found[name] for name in wanted} == pytest.approx(wanted, abs=1e-11)
    assert "weighted_mean" not in found


def test_records_without_individuals_count_each(conn: Connection) -> None:
    fill(conn, [Row(0, 1), Row(0, 1), Row(1, 2)])
    found = measured(conn, "'{a}', max_global => 0.4")
    wanted = {"expected": 2, "global": 2 / 3, "marketer": 2 / 3, "above_global_threshold": 1}
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)
    assert found["global_threshold"] == 0.5
    fill(conn, [Row(0, 1), Row(0, 1), Row(1, 2), Row(2, 2)])
    at_the_limit = measured(conn, "'{a}', max_global => 0.25")
    assert (at_the_limit["global_threshold"], at_the_limit["above_global_threshold"]) == (0.5, 2)
    assert "expected" not in measured(conn, "'{a}'")
    assert measured(conn, "'{a}', max_global => 0.1")["above_global_threshold"] == 4
    fill(conn, [Row(max(n, 5), n) for n in range(10)])
    sixths = measured(conn, "'{a}', max_global => 0.1")
    assert sixths["above_global_threshold"] == 4, "six of them are one record"


def test_risks_that_rounding_makes_differ_are_equal(conn: Connection) -> None:
    """1 - (1 - 1/4)(1 - 1/3) is one half, but for a product of logarithms."""
    homes = {"a": "ywvu", "b": "ywv", "c": "xz"}
    rows = [
        Row(key, 10 * key + place, household=home)
        for key, letters in enumerate(homes.values())
        for place, home in enumerate(letters)
    ]
    fill(conn, rows)
    found = measured(conn, "'{a}', household => 'h', max_global => 0.4, threshold => 0.5")
    assert (found["global_threshold"], found["above_global_threshold"]) == (0.25, 8)
    assert found["household_above_threshold"] == 0
    for size in range(2, 20):
        fill(conn, [Row(n // size, n, household=str(n)) for n in range(2 * size)])
        alone = measured(conn, f"'{{a}}', household => 'h', threshold => {1 / size!r}")
        assert alone["household_above_threshold"] == 0


def test_a_household_of_very_many(conn: Connection) -> None:
    """The probability that nobody is found is below the smallest float8."""
    fill(conn, [Row(n // 2, n, household="barracks") for n in range(2200)])
    found = measured(conn, "'{a}', household => 'h'")
    assert (found["household_highest"], found["expected"]) == (1, 2200)


# Keys, weights and figures of the data set francdat of sdcMicro.
FRANCDAT = [
    (1251, 18, 0.0171442616),
    (1211, 45.5, 0.0220423262),
    (1211, 39, 0.0220423262),
    (3315, 17, 0.1770758340),
    (4314, 541, 0.0116544801),
    (4311, 8, 0.2970630774),
    (6215, 5, 0.4023594781),
    (1251, 92, 0.0171442616),
]


def test_a_table_that_sdcmicro_measures(conn: Connection) -> None:
    homes = [0, 1, 2, 3, 3, 3, 4, 5]
    rows = [
        Row(key, person, weight, homes[person]) for person, (key, weight, _) in enumerate(FRANCDAT)
    ]
    fill(conn, rows)
    found = measured(conn, "'{a}', weight => 'w'")
    assert found["expected"] == pytest.approx(0.9665260452, abs=1e-10)
    assert found["weighted_highest"] == pytest.approx(0.4023594781, abs=1e-10)
    by_person = oracle.by_weights(rows)
    assert [by_person[n] for n in range(8)] == pytest.approx([r for *_, r in FRANCDAT], abs=1e-10)
    found = measured(conn, "'{a}', weight => 'w', household => 'h'")
    assert found["household_highest"] == pytest.approx(0.4282779139, abs=1e-10)


def test_individual_risk_is_the_mean_of_its_distribution(conn: Connection) -> None:
    for share in (1e-3, 0.1, 0.5, 0.500001, 0.9, 1):
        for records in (1, 2, 3, 19, 20, 60):
            wanted = oracle.individual_risk(records, share)
            assert individual_risk(conn, records, share) == pytest.approx(wanted, rel=1e-11)
    for records, share, risk in (
        (3, 0.1, 0.0463684295),
        (3, 0.9, 0.3078159146),
        (20, 0.9, 0.0452163),
        (10**5, 1e-6, 1e-11),
    ):
        assert individual_risk(conn, records, share) == pytest.approx(risk, rel=2e-5)


def individual_risk(conn: Connection, records: int, share: float) -> float:
    row = conn.execute("SELECT pganon.individual_risk(%s, %s)", [records, share]).fetchone()
    assert row is not None
    return row[0]


REFUSED = [
    ("pganon.risk('t', '{a}', weight => 'nothing')", "PA112"),
    ("pganon.risk('t', '{a}', weight => 'd')", "PA113"),
    ("pganon.risk('t', '{a}', weight => 'h')", "PA113"),
    ("pganon.risk('t', '{a}', weight => 'n')", "PA114"),
    ("pganon.risk('t', '{a}', weight => 'a')", "PA114"),
    ("pganon.risk('t', '{a}', 'everyone', weight => 'w')", "PA114"),
    ("pganon.risk('t', '{a}', weight => 'w', individual => 'p')", "PA114"),
    ("pganon.risk('t', '{a}', household => 'n')", "PA116"),
    ("pganon.risk('t', '{a}', household => 'h', individual => 'p')", "PA114"),
    ("pganon.risk('t', '{a}', max_global => 0)", "PA114"),
    ("pganon.risk('t', '{a}', max_global => 'NaN')", "PA114"),
    ("pganon.individual_risk(0, 0.5)", "PA114"),
    ("pganon.individual_risk(1, 'NaN')", "PA114"),
]


def test_what_is_refused(conn: Connection) -> None:
    conn.execute("INSERT INTO pg_temp.t (a, w, p, h) VALUES (1, 1, 1, 'x'), (1, 2, 1, 'y')")
    conn.execute("INSERT INTO pg_temp.everyone VALUES (1)")
    for call, state in REFUSED:
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(f"SELECT * FROM {call}".encode())
        assert caught.value.sqlstate == state, call


def test_weights_that_are_none(conn: Connection) -> None:
    for weight in ("0", "-1", "'NaN'", "'Infinity'", "NULL"):
        conn.execute("TRUNCATE pg_temp.t")
        conn.execute(f"INSERT INTO pg_temp.t (a, w) VALUES (1, 2), (1, {weight})".encode())
        with pytest.raises(psycopg.Error, match="has no weight in 1 records") as caught:
            measured(conn, "'{a}', weight => 'w'")
        assert caught.value.sqlstate == "PA114"


@pytest.mark.slow
@pytest.mark.primary_server_only
@pytest.mark.skipif(
    not ADULT.exists(), reason="PGANON_DATA is not set, or holds no adult/arx/adult.csv.gz"
)
def test_expected_risk_of_adult(db: Database) -> None:
    steward = db.connect()
    steward.execute("CREATE SCHEMA data")
    import_file(steward, ADULT, "data.adult", form=Format(separator=";"))
    steward.execute(
        "CREATE TABLE data.weighted AS SELECT *, 100 + 37 * (row_number() OVER () - 1) % 1901"
        " AS weight FROM data.adult"
    )
    three = ["age", "sex", "race"]
    for names, figure in (
        (three, 1.1717577247),
        ([*three, "marital-status", "education", "native-country"], 51.9910480006),
    ):
        row = steward.execute(
            "SELECT value FROM pganon.risk('data.weighted', %s, weight => 'weight')"
            " WHERE measure = 'expected'",
            [names],
        ).fetchone()
        assert row is not None
        assert float(row[0]) == pytest.approx(figure, abs=1e-9)
