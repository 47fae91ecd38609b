"""Fault: what the source, its server or triggers of others do makes a step fail; the cause is said.

No message has a value of a row, whatever the server or code of others says.
"""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import errors

import pganon as package
from pganon import MetricsRequest, Options
from pganon.errors import DatabaseError, PganonError
from pganon.run.release import run_release
from pganon.server_errors import translate
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

TRUSTING: dict[str, Any] = {"trust": ["source_owner"]}
COLUMNS = "id, age, sex, city, disease, days"


def _fails(db: Database, **changes: Any) -> PganonError:
    """The error of a run that publishes and leaves nothing, and quotes no value."""
    with pytest.raises(PganonError) as caught:
        faults.run(db.dsn(), faults.policy(**changes))
    error = caught.value
    conn = db.owner()
    assert faults.SECRET not in f"{error} {error.hint}"
    assert faults.last_details(conn)["code"] == error.code
    assert faults.content(conn) is None
    return error


VIEWS = {
    "id, age / (age - 21) AS age": "nullif",
    "id, (age::numeric * 1000000000)::integer AS age": "beyond what its type holds",
    "id, disease::integer AS age": "generated column",
}


@pytest.mark.parametrize("columns", VIEWS)
def test_an_expression_of_a_view_that_fails_on_a_row(db: Database, columns: str) -> None:
    rest = "sex, city, disease, days FROM public.patient"
    db.source(faults.SOURCE + f"CREATE VIEW public.v AS SELECT {columns}, {rest}")
    error = _fails(db, source="public.v", **TRUSTING)
    assert error.code == "expression"
    assert "an expression of public.v fails on a row" in str(error)
    assert VIEWS[columns] in str(error.hint)


def test_a_generated_column_that_divides_by_zero(db: Database) -> None:
    """Computed when it is read, from version 18 on."""
    if db.admin.info.server_version < 180000:
        pytest.skip("generated columns are stored, so that such a row cannot be written")
    db.source(
        faults.SOURCE + "ALTER TABLE public.patient RENAME age TO years;"
        "ALTER TABLE public.patient ADD age integer GENERATED ALWAYS AS (9 / days) VIRTUAL"
    )
    error = _fails(db)
    assert error.code == "expression"
    assert "generated columns of public.patient (age): an expression" in str(error)


CONDITIONS = {"9 / days > 1": "nullif", "disease::integer > 1": "in the policy"}


@pytest.mark.primary_server_only
@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_of_the_policy_that_fails_on_a_row(db: Database, condition: str) -> None:
    db.source(faults.SOURCE)
    error = _fails(db, where=condition)
    assert error.code == "expression"
    assert str(error).startswith("`where` of the policy: an expression of public.patient fails")
    assert CONDITIONS[condition] in str(error.hint)


@pytest.mark.primary_server_only
def test_a_decision_about_people_that_divides_by_zero(db: Database) -> None:
    db.source(faults.SOURCE)
    said = {"role": "semi_sensitive", "sensitive_when": {"predicate": "9 / days > 1"}}
    error = _fails(
        db,
        columns={"age": {"role": "quasi_identifying"}, "disease": said},
        privacy=[{"model": "local_bucket_diversity", "column": "disease", "l": 2}],
        method={"name": "local_bucketization"},
    )
    assert error.code == "expression"
    assert str(error).startswith("`sensitive_when` of the policy: an expression")


def test_a_measure_of_a_view_that_divides_by_zero(db: Database) -> None:
    db.source(
        faults.SOURCE + "CREATE VIEW public.v AS SELECT 9 / days AS age, disease FROM patient;"
    )
    with pytest.raises(PganonError) as caught:
        package.assess("public.v", ["age"], trust=["source_owner"], dsn=db.dsn())
    assert caught.value.code == "expression"


NAMES = {
    "quote_ident(disease)::regclass": "UndefinedTable",
    "(quote_ident(disease) || '.x')::regclass": "InvalidSchemaName",
    "quote_ident(disease)::regproc": "UndefinedFunction",
    "quote_ident(disease)::regtype": "UndefinedObject",
}
"""Casts whose errors have the value as a name."""

COUNTS = (
    ["policy", "init", "public.v"],
    ["assess", "public.v", "--qi", "age", "--sensitive", "name"],
)


@pytest.mark.primary_server_only
@pytest.mark.parametrize("cast", NAMES)
@pytest.mark.parametrize("command", COUNTS, ids=" ".join)
def test_a_name_that_is_a_value(db: Database, command: list[str], cast: str) -> None:
    db.source(
        faults.SOURCE + f"UPDATE patient SET disease = '{faults.SECRET}';"
        f"CREATE VIEW public.v AS SELECT id, age, {cast}::text AS name FROM patient"
    )
    ran = pganon(*command, "--trust", "source_owner", "--dsn", db.dsn())
    assert ran.code == 3
    assert faults.SECRET not in ran.out + ran.err
    assert f"public.v was changed at this moment, or cannot be used: {NAMES[cast]}" in ran.err
    assert "psql" in ran.err


RAISING = """
CREATE FUNCTION public.odd(v integer) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'Zanzibar-7319' USING ERRCODE = '42P01'; END $$;
CREATE VIEW public.v AS SELECT id, public.odd(age) AS age, sex, city, disease, days FROM patient;
"""


def test_a_function_of_others_that_raises(db: Database) -> None:
    db.source(faults.SOURCE + RAISING)
    error = _fails(db, source="public.v", **TRUSTING)
    assert error.code == "foreign_code"
    assert "the function public.odd raised an error" in str(error)


def _event_trigger(db: Database, tag: str, body: str) -> None:
    db.admin.execute(
        f"""
        CREATE FUNCTION public.meddle() RETURNS event_trigger LANGUAGE plpgsql AS $$
        DECLARE r record;
        BEGIN
            FOR r IN SELECT * FROM pg_event_trigger_ddl_commands() LOOP
                IF r.schema_name IN ('pganon_work', 'published') THEN {body}; END IF;
            END LOOP;
        END $$;
        CREATE EVENT TRIGGER meddle ON ddl_command_end WHEN TAG IN ('{tag}')
            EXECUTE FUNCTION public.meddle();
        """.encode()
    )


RENAME = "EXECUTE 'ALTER {} ' || r.object_identity || ' RENAME TO odd' || r.objid"


@pytest.mark.parametrize("tag", ["CREATE TABLE", "CREATE TABLE AS", "CREATE VIEW"])
def test_an_event_trigger_that_raises(db: Database, tag: str) -> None:
    db.source(faults.SOURCE)
    _event_trigger(db, tag, f"RAISE EXCEPTION '{faults.SECRET}'")
    error = _fails(db)
    assert error.code == "foreign_code"
    assert "the function public.meddle raised an error" in str(error)
    assert "event trigger" in str(error.hint)


@pytest.mark.parametrize("kind", ["TABLE", "TABLE AS", "VIEW"])
def test_an_event_trigger_that_renames(db: Database, kind: str) -> None:
    db.source(faults.SOURCE)
    _event_trigger(db, f"CREATE {kind}", RENAME.format(kind.split()[0]))
    error = _fails(db)
    assert error.code == ("open_privileges" if kind == "VIEW" else "table_gone"), error
    assert "event trigger" in str(error.hint)


def test_a_foreign_table_without_a_user_mapping(db: Database) -> None:
    _postgres_fdw(db)
    error = _fails(db, source="public.far", **TRUSTING)
    assert error.code == "foreign_server"
    assert "a user mapping is missing for the server of public.far" in str(error)
    assert "CREATE USER MAPPING" in str(error.hint)


def test_a_foreign_table_whose_server_does_not_answer(db: Database) -> None:
    """It is no lost connection: the run would be tried again and again."""
    _postgres_fdw(db)
    db.admin.execute("CREATE USER MAPPING FOR steward SERVER away OPTIONS (user 'n', password 'n')")
    error = _fails(db, source="public.far", **TRUSTING)
    assert (error.code, error.exit_code) == ("foreign_server", 3)
    assert "the server of public.far cannot be read" in str(error)


def _postgres_fdw(db: Database) -> None:
    try:
        db.admin.execute("CREATE EXTENSION postgres_fdw")
    except errors.Error:
        pytest.skip("postgres_fdw is not available")
    db.admin.execute("GRANT USAGE ON FOREIGN DATA WRAPPER postgres_fdw TO source_owner")
    db.source(
        "CREATE SERVER away FOREIGN DATA WRAPPER postgres_fdw"
        " OPTIONS (host '127.0.0.1', port '1', dbname 'none');"
        "CREATE FOREIGN TABLE public.far (id integer, age integer, sex text, city text,"
        " disease text, days integer) SERVER away"
    )


def test_numbers_beyond_double_precision(db: Database) -> None:
    db.source(
        faults.SOURCE + "ALTER TABLE public.patient ALTER age TYPE numeric;"
        "UPDATE public.patient SET age = age * 1e400 WHERE id < 9"
    )
    error = _fails(db)
    assert error.code == "out_of_range"
    assert "too large to compute with, in the column age " in str(error)


@pytest.mark.slow
def test_numbers_at_the_end_of_double_precision(db: Database) -> None:
    """Releases of such numbers are made; differences of the largest, in a metric, are too large."""
    db.source(
        faults.SOURCE + "ALTER TABLE public.patient ALTER age TYPE float8;"
        "UPDATE public.patient SET age = CASE WHEN id % 2 = 0 THEN 1 ELSE -1 END * age * 1e199"
    )
    everything = Options(metrics=MetricsRequest(everything=True), dry_run=True)
    assert run_release(faults.policy(), dsn=db.dsn(), options=everything).released
    largest = "UPDATE public.patient SET age = sign(age) * 1.7e308"
    db.source(largest, grant=False)
    with pytest.raises(DatabaseError) as caught:
        run_release(faults.policy(), dsn=db.dsn(), options=everything)
    assert caught.value.code == "out_of_range"
    assert "too large to compute with, in the column age " in str(caught.value)


def test_a_character_that_the_database_lacks(db: Database) -> None:
    db.admin.execute("SET client_encoding = 'LATIN1'")
    with pytest.raises(errors.UntranslatableCharacter) as caught:
        db.admin.execute("SELECT chr(8364)")
    error = translate(caught.value)
    assert error.code == "encoding"
    assert "\u20ac" not in str(error)


CODE = {
    ("apart.odd", "plpgsql"): "the function apart.odd raised",
    ("apart.odd", "sql"): "the function odd raised",
    ('apart."o d"', "plpgsql"): "a function that pganon did not make raised",
    ('apart."o d"', "sql"): "a function that pganon did not make raised",
    ('"Apart".odd', "plpgsql"): "a function that pganon did not make raised",
}


@pytest.mark.primary_server_only
@pytest.mark.parametrize(("name", "language"), CODE)
def test_the_name_of_a_function_of_others(db: Database, name: str, language: str) -> None:
    body = "SELECT $1::integer" if language == "sql" else "BEGIN RETURN $1::integer; END"
    db.admin.execute(
        f"""
        CREATE SCHEMA apart;
        CREATE SCHEMA "Apart";
        CREATE FUNCTION {name}(text) RETURNS integer LANGUAGE {language} VOLATILE STRICT
            SET search_path = pg_catalog AS $${body}$$;
        """.encode()
    )
    with pytest.raises(errors.InvalidTextRepresentation) as caught:
        db.admin.execute(f"SELECT {name}('{faults.SECRET}')".encode())
    error = translate(caught.value)
    assert error.code == "foreign_code"
    assert str(error).startswith(CODE[name, language])
    assert faults.SECRET not in f"{error} {error.hint}"
