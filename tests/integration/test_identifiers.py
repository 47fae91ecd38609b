"""Hints for columns that identify by themselves: what values look like, and what is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pganon.assessment import identifying_columns
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

COLUMNS = {
    "c_mail": ("text", "'p' || i || '@example.org'", "F"),
    "c_web": ("text", "'https://example.org/' || i % 50", "N"),
    "c_four": ("text", "'10.0.0.' || i % 50", "O"),
    "c_six": ("text", "'2001:db8::' || i % 50", "O"),
    "c_net": ("inet", "'10.0.0.1'", "O"),
    "c_ssn": ("text", "'078-05-' || 1000 + i % 50", "G"),
    "c_plain": ("bigint", "123456000 + i % 50", "G"),
    "c_call": ("text", "'(212) 555-' || 1000 + i % 50", "D"),
    "c_vin": ("text", "'1HGCM82633A00' || 4000 + i % 50", "L"),
    "c_day": ("date", "date '2020-01-01' + i % 50", "C"),
    "c_year": ("date", "date '2020-01-01'", ""),
    "c_said": ("text", "to_char(date '2020-01-01' + i % 50, 'MM/DD/YYYY')", "C"),
    "c_five": ("text", "(10000 + i % 50)::text", "B"),
    "c_income": ("integer", "10000 + i % 50", ""),
    "c_small": ("text", "CASE WHEN i % 9 = 0 THEN '036' ELSE (100 + i % 9)::text END", "B"),
    "c_large": ("text", "(104 + i % 9)::text", ""),
    "c_print": ("bytea", "'x'", "PQ"),
    "c_each": ("integer", "i * 7", "R"),
    "age": ("integer", "20 + i % 72", "C"),
    "days": ("integer", "20 + i % 72", ""),
    "c_mixed": ("text", "i % 40 || CASE WHEN i % 4 = 0 THEN '' ELSE '@example.org' END", ""),
    "c_null": ("text", "NULL", ""),
    "c_json": ("json", "'{}'", ""),
}


@pytest.fixture
def people(db: Database, monkeypatch: pytest.MonkeyPatch) -> Database:
    chosen = ", ".join(f"({value})::{kind} AS {name}" for name, (kind, value, _) in COLUMNS.items())
    db.source(
        f"CREATE TABLE public.t AS SELECT {chosen} FROM generate_series(1, 300) AS i;"
        " GRANT SELECT ON public.t TO steward"
    )
    monkeypatch.setenv("PGANON_DSN", db.dsn())
    return db


def test_every_kind_that_values_or_types_tell(people: Database) -> None:
    ran = pganon("quasi", "public.t", "--identifiers", "us", "--trust", "source_owner", "--json")
    assert ran.code == 0, ran.err
    found = dict.fromkeys(COLUMNS, "")
    for item in ran.json["identifiers"]:
        if item["why"] != "all values differ" or item["column"] == "c_each":
            found[item["column"]] += item["kind"]
    assert found == {name: kinds for name, (_, _, kinds) in COLUMNS.items()}
    (age,) = [item for item in ran.json["identifiers"] if item["column"] == "age"]
    # 90 and 91 stand for i % 72 in (70, 71): eight of 300.
    assert (age["why"], age["share"]) == ("8 records above 89", pytest.approx(8 / 300))


def test_no_value_is_told(people: Database) -> None:
    ran = pganon("quasi", "t", "--identifiers", "us", "--columns", "c_mail,c_ssn,c_small")
    assert ran.code == 0, ran.err
    for part in ("may be", "F, e-mail addresses", "no hint proves nothing"):
        assert part in ran.out
    for value in ("example.org", "078", "036"):
        assert value not in ran.out + ran.err


def test_what_names_say_of_a_column_that_may_not_be_read(people: Database) -> None:
    people.source(
        "CREATE TABLE public.u (city text, mail text, ok text);"
        " INSERT INTO public.u VALUES ('a', 'b', 'c'); GRANT SELECT (ok) ON public.u TO steward"
    )
    found = identifying_columns("public.u", dsn=people.dsn())
    assert [(h.column, h.kind, h.why) for h in found] == [
        ("city", "B", "by its name"),
        ("mail", "F", "by its name"),
    ]
    assert "no column" in pganon("quasi", "u", "--identifiers", "us", "--columns", "no").err


def test_code_of_others_runs_only_if_they_are_trusted(people: Database) -> None:
    people.source(
        "CREATE FUNCTION public.spy(t text) RETURNS text LANGUAGE plpgsql AS"
        " $$BEGIN RAISE EXCEPTION 'ran'; END$$;"
        "CREATE VIEW public.v AS SELECT public.spy(c_mail) AS m FROM public.t;"
        "GRANT SELECT ON public.v TO steward"
    )
    ran = pganon("quasi", "v", "--identifiers", "us")
    assert (ran.code, "would run code of others" in ran.err) == (2, True), ran.err
    trusted = pganon("quasi", "v", "--identifiers", "us", "--trust", "source_owner")
    assert "spy raised an error" in trusted.err


def test_a_plan_and_a_check_warn(people: Database, tmp_path: Path) -> None:
    policy = {
        "release": "w",
        "source": "public.t",
        "columns": {"age": {"role": "quasi_identifying"}, "c_day": {"role": "insensitive"}},
        "privacy": [{"model": "k_anonymity", "k": 2}],
        "method": {"name": "mondrian"},
        "trust": ["source_owner"],
    }
    file = tmp_path / "w.json"
    file.write_text(json.dumps(policy))
    for command in (("plan", str(file)), ("policy", "check", str(file), "--source")):
        assert "c_day (C, dates, ages above 89); see `pganon quasi" in pganon(*command).err
