"""Attack: provoke errors and read values of the source from messages and the ledger."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pganon import database
from pganon.errors import PganonError
from pganon.loading import load_policy
from pganon.run.release import run_release
from tests.support.harness.cli import pganon
from tests.support.harness.driver import leftovers
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.slow

MARKER = "zebra7319"
COLUMNS = {"q": "text", "n": "integer", "d": "date", "s": "text", "i": "text", "p": "text"}
ROLES: dict[str, Any] = {
    "q": "q", "n": "q", "d": "q", "s": "s", "i": "i", "p": {"role": "identifying"},
}  # fmt: skip
NUMBER = 7319_7319


def build(db: Any, records: int = 4) -> None:
    """Every value of every column holds the marker: which one an error meets is chance."""
    rows = [
        [f"{MARKER} q{n % 2}", NUMBER, "7319-07-31"]
        + [f"{MARKER} {column}{n % 2}" for column in "sip"]
        for n in range(records)
    ]
    make_table(db.connect("source_owner"), COLUMNS, rows)


def q(**column: Any) -> dict[str, Any]:
    return {**ROLES, "q": {"nulls": "as_value", **column}}


K, L = {"model": "k_anonymity", "k": 2}, {"model": "distinct_l_diversity", "column": "s", "l": 3}
FUNCTIONS = """
CREATE FUNCTION public.raises(value text, level integer) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION USING MESSAGE = value, DETAIL = value, HINT = value; END$$;
CREATE FUNCTION public.pretends(value text, level integer) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION USING MESSAGE = value, HINT = value, ERRCODE = '42501'; END$$;
CREATE FUNCTION public.own(value text, level integer) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION USING MESSAGE = value, HINT = value, ERRCODE = 'PA201'; END$$;
CREATE FUNCTION public.casts(value text, level integer) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN RETURN value::integer; END$$;
CREATE FUNCTION public.missing(value text, level integer) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN EXECUTE 'SELECT 1 FROM ' || quote_ident(value); RETURN ''; END$$;
CREATE FUNCTION public.lost(value text, level integer) RETURNS text LANGUAGE plpgsql AS
    $$BEGIN RAISE EXCEPTION USING MESSAGE = value, HINT = value, ERRCODE = '08006'; END$$;
CREATE FUNCTION public.class_of(value text, level integer) RETURNS text LANGUAGE sql
    RETURN quote_ident(value)::regclass::text;
CREATE FUNCTION public.schema_of(value text, level integer) RETURNS text LANGUAGE sql
    RETURN (quote_ident(value) || '.x')::regclass::text;
CREATE FUNCTION public.database_of(value text, level integer) RETURNS text LANGUAGE sql
    RETURN (quote_ident(value) || '.x.y')::regclass::text;
CREATE FUNCTION public.gap(value text, level integer) RETURNS text LANGUAGE sql RETURN NULL;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA public TO steward;
"""

PROVOKED: dict[str, dict[str, Any]] = {
    "bad cast in where": policy(ROLES, [K], where="q::integer > 0"),
    "bad date in where": policy(ROLES, [K], where="i::date > date '2000-01-01'"),
    "division by zero": policy(ROLES, [K], where="1 / (n - n) > 0"),
    "overflow": policy(ROLES, [K], where="n * n > 0"),
    "hierarchy gap": policy(q(hierarchy={"inline": {"*": ["x", "y"]}}), [K]),
    "order gap": policy(q(type="ordinal", order=["x", "y"]), [K]),
    "number outside its domain": policy({**ROLES, "n": {"domain": [0, 9]}}, [K]),
    "date outside its domain": policy(
        {**ROLES, "d": {"domain": ["1900-01-01", "2000-01-01"]}}, [K]
    ),
    "function raises": policy(q(hierarchy={"function": "public.raises"}), [K]),
    "function casts": policy(q(hierarchy={"function": "public.casts"}), [K]),
    "function without label": policy(q(hierarchy={"function": "public.gap"}), [K]),
    "l too high": policy(ROLES, [K, L]),
    "k too high": policy(ROLES, 99),
    "not unique": policy(
        {**ROLES, "p": {"role": "individual"}}, [K], records_per_individual="one"
    ),
}  # fmt: skip
PRETENDING = {
    f"function {name}": policy(q(hierarchy={"function": f"public.{name}"}), [K])
    for name in ("pretends", "missing", "own", "lost", "class_of", "schema_of", "database_of")
}


def texts(db: Any, error: PganonError) -> str:
    """All that a run leaves for people to read, the chain of exceptions included."""
    chain: list[str] = []
    step: BaseException | None = error
    while step is not None:
        shown = None if step.__suppress_context__ else step.__context__
        chain += [str(step), repr(step), str(vars(step))]
        step = step.__cause__ or shown
    rows = db.admin.execute("SELECT to_jsonb(l) FROM pganon_private.ledger AS l").fetchall()
    versions = db.admin.execute("SELECT to_jsonb(v) FROM pganon_private.version AS v").fetchall()
    return "\n".join([*chain, json.dumps([rows, versions])])


def silent(text: str) -> bool:
    return not any(marker in text for marker in (MARKER, "7319-07-31", "73197319"))


@pytest.mark.primary_server_only
@pytest.mark.parametrize("name", [*PROVOKED, *PRETENDING])
def test_no_value_in_messages_or_ledger(db: Any, name: str, tmp_path: Any) -> None:
    build(db)
    db.source(FUNCTIONS)
    declared = {**(PROVOKED | PRETENDING)[name], "trust": ["source_owner"]}
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(declared))
    with pytest.raises(PganonError) as raised:
        run_release(file, dsn=db.dsn())
    assert silent(texts(db, raised.value))
    assert leftovers(db) == []
    for arguments in (["run"], ["run", "--json"]):
        ran = pganon(*arguments, str(file), "--dsn", db.dsn())
        assert ran.code in (1, 2, 3)
        assert silent(ran.out + ran.err)


@pytest.mark.primary_server_only
def test_a_statement_timeout_shows_no_value(db: Any) -> None:
    build(db)
    db.source(
        "ALTER TABLE public.t RENAME TO raw; CREATE VIEW public.t AS"
        " SELECT raw.* FROM public.raw, pg_sleep(length(q) * 0.1) AS wait"
    )
    loaded = load_policy(json.dumps(policy(ROLES, [K], trust=["source_owner"])))
    with pytest.raises(PganonError) as raised:
        run_release(loaded, dsn=db.dsn(), settings=database.Settings(statement_timeout="200ms"))
    assert (raised.value.code, raised.value.exit_code) == ("statement_timeout", 3)
    assert "--statement-timeout" in (raised.value.hint or "")
    assert silent(texts(db, raised.value))


def test_the_ledger_of_a_release_holds_no_value(db: Any) -> None:
    build(db)
    run_release(load_policy(json.dumps(policy(ROLES, [K]))), dsn=db.dsn())
    assert silent(texts(db, PganonError("")))
