"""Attack: records of one person fill a group, in a policy that does not say whose records they are.

What the catalog knows of the source, its keys, says so.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness import faults, plans
from tests.support.harness.cluster import Database
from tests.support.harness.driver import fetch, publish, refused
from tests.support.sources import conformance

ADMISSIONS = """
    CREATE TABLE public.patient (id integer PRIMARY KEY);
    INSERT INTO public.patient SELECT generate_series(1, 40);
    CREATE TABLE public.admission (
        id integer PRIMARY KEY, patient_id integer NOT NULL REFERENCES public.patient
    );
    INSERT INTO public.admission SELECT n, 1 + n % 40 FROM generate_series(1, 120) AS n;
    CREATE TABLE public.diagnosis (
        admission_id integer NOT NULL REFERENCES public.admission, age integer, disease text,
        cost integer UNIQUE
    );
    INSERT INTO public.diagnosis
    SELECT n / 4, 20 + n / 4 % 30, 'd' || n % 6, n FROM generate_series(4, 483) AS n;
"""
AGE = {"age": {"role": "quasi_identifying"}}
SHOWN = {**AGE, "disease": {"role": "sensitive"}, "cost": {"role": "insensitive"}}


def policy(columns: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {
        "release": "r",
        "source": "public.diagnosis",
        "columns": {**SHOWN, **columns},
        "privacy": [{"model": "k_anonymity", "k": 5}],
        "method": {"name": "mondrian"},
        **changes,
    }


def few(warnings: tuple[str, ...]) -> list[str]:
    return [warning for warning in warnings if "fewer than" in warning and "people" in warning]


QUASI = {"admission_id": {"role": "quasi_identifying"}}
WITHHELD = {"admission_id": {"role": "identifying"}}


@pytest.mark.parametrize("named", [QUASI, WITHHELD, {}])
def test_a_foreign_key_is_counted_as_people(db: Database, named: dict[str, Any]) -> None:
    db.source(ADMISSIONS)
    result = publish(db, policy(named))
    people: dict[int, set[int]] = defaultdict(set)
    for row in fetch(db.owner(), sql.SQL("SELECT class_id, cost FROM published.r")):
        people[row["class_id"]].add(row["cost"] // 4)
    expected = sum(len(admissions) < 5 for admissions in people.values())
    assert expected > 0
    (warning,) = few(result.warnings)
    assert f"of {len(people)} classes" in warning
    assert f"{expected} by admission_id, which refers to public.admission" in warning
    assert "individual: none" in warning


@pytest.mark.slow
def test_nothing_is_said_once_the_policy_decides(db: Database) -> None:
    db.source(ADMISSIONS)
    assert few(publish(db, policy({}, individual="none")).warnings) == []
    with refused("several_records_per_individual"):
        publish(db, policy(WITHHELD, individual="admission_id"))
    accepted = policy(WITHHELD, individual="admission_id", records_per_individual="many_accepted")
    (warning,) = few(publish(db, accepted).warnings)
    assert re.search("a person with several records is protected less: [1-9]", warning)


def test_keys_of_one_record_each_are_no_warning(db: Database) -> None:
    db.source(ADMISSIONS)
    db.source("ALTER TABLE public.diagnosis DROP CONSTRAINT diagnosis_admission_id_fkey")
    columns = {name: part for name, part in SHOWN.items() if name != "cost"}
    unique = {**policy({}), "columns": {**columns, "cost": {"role": "identifying"}}}
    assert few(publish(db, unique).warnings) == []


@pytest.mark.slow
def test_an_identifying_column_with_repeated_values_is_counted(db: Database) -> None:
    db.source(ADMISSIONS)
    db.source("ALTER TABLE public.diagnosis DROP CONSTRAINT diagnosis_admission_id_fkey")
    assert few(publish(db, policy({})).warnings) == []
    (warning,) = few(publish(db, policy(WITHHELD)).warnings)
    assert " by admission_id" in warning
    assert "refers" not in warning


def test_a_view_has_the_keys_of_its_tables(db: Database) -> None:
    db.source(ADMISSIONS)
    db.source(
        "CREATE VIEW public.v AS"
        " SELECT admission_id::text AS stay, age, disease, cost FROM public.diagnosis"
    )
    (warning,) = few(publish(db, policy({}, source="public.v", trust=["source_owner"])).warnings)
    assert " by stay, which refers to public.admission" in warning


COUNTING = [m for m in conformance.METHODS if m not in ("danonyir", "geneir")]


@pytest.mark.all_versions
@pytest.mark.parametrize("method", COUNTING)
def test_every_method_counts_them(db: Database, method: str) -> None:
    """All records are of the same person, and every group is named."""
    db.source(plans.SOURCE)
    db.source(
        "CREATE TABLE public.person (name text PRIMARY KEY);"
        " INSERT INTO public.person VALUES ('p'); UPDATE public.visit SET person = 'p';"
        " ALTER TABLE public.visit ADD FOREIGN KEY (person) REFERENCES public.person"
    )
    result = faults.run(db.dsn(), plans.policy_of(method), stable=True)
    (warning,) = few(result.warnings)
    found = re.search(r"of (\d+) \w+ .*?(\d+) by person, which refers to public.person", warning)
    assert found is not None
    assert found[1] == found[2] != "0"
