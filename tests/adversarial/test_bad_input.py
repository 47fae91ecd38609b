"""Bad input: each kind has its own clear error and exit code, and leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness import faults
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database

Run = Callable[..., Ran]
VALUES = (faults.SECRET, "Kyiv")
Q: dict[str, Any] = {"role": "quasi_identifying"}


@pytest.fixture
def run(db: Database, tmp_path: Path) -> Run:
    """`pganon run` as the steward: of POLICY with changes, of a text, or of plain data."""
    db.source(faults.SOURCE)

    def call(policy: str | dict[str, Any] | None = None, **changes: Any) -> Ran:
        file = tmp_path / ("policy.yaml" if isinstance(policy, str) else "policy.json")
        data = policy if policy is not None else {**faults.POLICY, **changes}
        file.write_text(data if isinstance(data, str) else json.dumps(data))
        return pganon("run", str(file), "--dsn", db.dsn(), "--json")

    return call


def refused(db: Database, ran: Ran, exit_code: int, code: str, *words: str) -> str:
    """Assert how it was refused, and that nothing is left; gives the message with its hint."""
    assert ran.code == exit_code, ran.out + ran.err
    error = ran.json["error"]
    text = f"{error['message']} {error['hint'] or ''}"
    assert error["code"] == code, text
    for word in words:
        assert word in text, text
    assert not any(value in ran.out + ran.err for value in VALUES), text
    conn = db.admin
    assert faults.run_tables(conn) == []
    assert faults.exposed(conn) == []
    assert conn.execute("SELECT count(*) FROM pganon_private.version").fetchone() == (0,)
    views = conn.execute("SELECT count(*) FROM pg_views WHERE schemaname = 'published'")
    assert views.fetchone() == (0,)
    last = [event for event in faults.events(conn) if not event.startswith("started")][-1:]
    assert all(event.startswith(("refused", "failed")) for event in last)
    return text


def _columns(**changes: Any) -> dict[str, Any]:
    """The policy's columns with some replaced; None takes one away."""
    merged = {**faults.POLICY["columns"], **changes}
    return {name: column for name, column in merged.items() if column is not None}


def _models(*models: dict[str, Any], k: int = 2) -> list[dict[str, Any]]:
    return [{"model": "k_anonymity", "k": k}, *models]


# -- names -----------------------------------------------------------------------------------


def test_unknown_names(db: Database, run: Run) -> None:
    refused(db, run(source="public.patiant"), 2, "source_missing", "public.patient?")
    refused(db, run(source="nowhere.patient"), 2, "source_missing", "public.patient")
    refused(db, run(source="a.b.c"), 2, "policy", "3 parts")
    refused(
        db, run(columns=_columns(citi=Q)), 2, "policy", "no column citi", 'did you mean "city"?'
    )
    several = run(columns=_columns(citi=Q, diseases={"role": "insensitive"}))
    refused(db, several, 2, "policy", "citi", "diseases")
    refused(db, run(where="agee > 3"), 2, "policy", "where", 'did you mean "age"?')
    refused(db, run(publish={"readers": ["nobody_here"]}), 2, "missing_role", "nobody_here")
    assert faults.events(db.admin) == []  # found before a run began


def test_policies_that_contradict_themselves(db: Database, run: Run) -> None:
    text = """
release: patients
source: public.patient
columns:
  age: {role: quasi_identifying}
  age: {role: sensitive}
privacy: [{model: k_anonymity, k: 3}]
method: {name: mondrian}
"""
    refused(db, run(text), 2, "policy", "policy.yaml:6", "age")
    refused(
        db,
        run(columns={"disease": {"role": "sensitive"}}),
        2,
        "policy",
        "no column has the role quasi_identifying",
    )
    refused(db, run(privacy=[]), 2, "policy", "privacy is empty")
    refused(db, run(privacy=[{"model": "k_anonymous", "k": 3}]), 2, "policy", "k_anonymity")
    assert faults.events(db.admin) == []


def test_names_that_pganon_adds(db: Database, run: Run) -> None:
    db.source("ALTER TABLE public.patient ADD class_id text, ADD age_null text")
    added = {"role": "insensitive"}
    refused(db, run(columns=_columns(class_id=added)), 2, "policy", "class_id", "`as:`")
    refused(db, run(columns=_columns(age_null=added)), 2, "policy", "age_null", "`as:`")
    refused(db, run(columns=_columns(days={**added, "as": "sex"})), 2, "policy", "sex", "`as:`")
    long = "x" * 60
    refused(db, run(columns=_columns(age={**Q, "as": long})), 2, "policy", "63 bytes")
    renamed = _columns(class_id={**added, "as": "ward"}, age_null={**added, "as": "unknown"})
    assert run(columns=renamed).code == 0


def test_a_release_name_that_is_taken(db: Database, run: Run) -> None:
    db.source("CREATE TABLE public.other AS TABLE public.patient")
    assert run().code == 0
    before = faults.content(db.admin)
    other = run(source="public.other")
    assert (other.code, other.json["error"]["code"]) == (2, "other_source")
    db.admin.execute("CREATE VIEW published.stranger AS SELECT 1 AS one")
    stranger = run(release="stranger")
    assert (stranger.code, stranger.json["error"]["code"]) == (2, "name_taken")
    private = run(release="third", publish={"schema": "pganon_data"})
    assert private.code == 2
    assert "pganon_data" in private.json["error"]["message"]
    assert faults.content(db.admin) == before


# -- types and values ------------------------------------------------------------------------


@pytest.mark.slow
def test_types_that_cannot_be_released(db: Database, run: Run) -> None:
    db.source(
        "ALTER TABLE public.patient ADD j json, ADD b bytea, ADD p point, ADD a integer[],"
        " ADD i interval, ADD m money, ADD x xml, ADD n inet"
    )
    for name in "jbpaimxn":
        for column in (Q, {"role": "sensitive"}, {"role": "insensitive"}):
            text = run(columns=_columns(**{name: column}))
            refused(db, text, 2, "policy", f"column {name}", "cannot be released", "view")
    refused(db, run(columns=_columns(sex={**Q, "type": "numeric"})), 2, "policy", "sex is text")
    assert faults.events(db.admin) == []


def test_too_little_to_release(db: Database, run: Run) -> None:
    refused(db, run(where="age > 1000"), 2, "empty_source", "no rows", "where")
    refused(db, run(where="id <= 7"), 1, "too_few_records", "7 records", "8")
    db.source("ALTER TABLE public.patient ADD nothing integer")
    nothing = _columns(nothing={**Q, "nulls": "suppress"})
    text = run(columns=nothing, suppression_limit=1.0)
    refused(db, text, 1, "all_suppressed", "all 24 records would be suppressed")
    refused(db, run(columns=nothing, suppression_limit=0.5), 1, "all_suppressed", "24 records")
    db.source("DELETE FROM public.patient")
    refused(db, run(), 2, "empty_source", "public.patient has no rows")
    assert faults.events(db.admin)[-1] == "failed: empty_source"


def test_values_without_a_place(db: Database, run: Run) -> None:
    db.source(
        "ALTER TABLE public.patient ADD f float8 DEFAULT 'NaN', ADD d date DEFAULT 'infinity'"
    )
    for name in "fd":
        text = run(columns=_columns(**{name: Q}))
        refused(db, text, 2, "infinite_values", f"column {name}", "24 records")
    rejected = run(columns=_columns(age={**Q, "nulls": "reject"}))
    refused(db, rejected, 2, "nulls_rejected", "age", "2 records")


# -- requirements ----------------------------------------------------------------------------


def test_requirements_that_cannot_be_met(db: Database, run: Run) -> None:
    """The best that can be reached is named."""
    distinct = {"model": "distinct_l_diversity", "column": "disease", "l": 4}
    refused(
        db, run(privacy=_models(distinct)), 1, "infeasible", "l", "4", "best reachable is l = 3"
    )
    entropy = {"model": "entropy_l_diversity", "column": "disease", "l": 3.5}
    refused(db, run(privacy=_models(entropy)), 1, "infeasible", "best reachable is l = 3")
    # The most frequent value has more than a fifth of the records.
    skewed = {"model": "entropy_l_diversity", "column": "disease", "l": 2.9}
    db.source("UPDATE public.patient SET disease = 'flu' WHERE id > 6")
    refused(db, run(privacy=_models(skewed)), 1, "infeasible", "best reachable is l = 1.")
    details = faults.last_details(db.admin)
    assert details["required"] == 2.9
    assert 1 < details["observed"] < 2


@pytest.mark.slow
def test_several_records_per_individual(db: Database, run: Run) -> None:
    db.source("ALTER TABLE public.patient ADD person integer; UPDATE public.patient SET person = 1")
    own = _columns(person={"role": "identifying"})
    text = run(columns=own, individual="person")
    refused(db, text, 1, "several_records_per_individual", "1 individuals, 24 records")
    accepted = run(columns=own, individual="person", records_per_individual="many_accepted")
    assert accepted.code == 0
    assert any("several records" in warning for warning in accepted.json["warnings"])


# -- hierarchies -----------------------------------------------------------------------------


def _city(**hierarchy: Any) -> dict[str, Any]:
    return _columns(city={**Q, "hierarchy": hierarchy})


REST = "Oslo;a;b;any\nKyiv;a;b;any"
BAD_TREES = {
    f"Rome;a;b;any\nBern;b;a;any\n{REST}": ("lines 1, 2, 3, 4", "cycle"),
    f"Rome;a;b;any\nBern;a;b;all\n{REST}": ("another root than the others: line 2", "2 roots"),
    f"Rome;a;b;any\nBern;a;c;any\n{REST}": ("another parent", "several parents"),
    f"Rome;a;b;any\nRome;c;b;any\nBern;a;b;any\n{REST}": ("another parent", "several rows"),
}


@pytest.mark.slow
def test_hierarchies_that_do_not_fit(db: Database, run: Run, tmp_path: Path) -> None:
    gap = {"any": {"south": ["Rome", "Bern"], "north": ["Oslo"]}}
    # How many values are missing is told, never which.
    assert "1 value" in refused(db, run(columns=_city(inline=gap)), 2, "hierarchy", "city")
    for number, (text, (of_file, of_table)) in enumerate(BAD_TREES.items()):
        (tmp_path / f"{number}.csv").write_text(text)
        refused(db, run(columns=_city(csv=f"{number}.csv")), 2, "policy", "city", of_file)
        rows = sql.SQL(", ").join(
            sql.SQL("({})").format(sql.SQL(", ").join(map(sql.Literal, line.split(";"))))
            for line in text.split("\n")
        )
        name = sql.Identifier("public", f"tree{number}")
        db.admin.execute(sql.SQL("CREATE TABLE {} AS VALUES {}").format(name, rows))
        db.admin.execute(sql.SQL("GRANT SELECT ON {} TO steward").format(name))
        table = _city(table=f"public.tree{number}")
        refused(db, run(columns=table), 2, "hierarchy", "city", of_table)
    refused(db, run(columns=_city(csv="missing.csv")), 2, "policy", "missing.csv")
    for missing in ("public.no_tree", "no_schema.tree"):
        refused(db, run(columns=_city(table=missing)), 2, "hierarchy", f"no table {missing}")
    refused(db, run(columns=_columns(age={**Q, "hierarchy": {"intervals": [5, 7]}})), 2, "policy")


# -- privileges ------------------------------------------------------------------------------


def test_missing_privileges_on_the_source(db: Database, run: Run) -> None:
    db.source("REVOKE ALL ON public.patient FROM steward", grant=False)
    refused(db, run(), 2, "source_privilege", "SELECT on public.patient", "GRANT SELECT")
    db.source("GRANT SELECT (id, age, sex, city, days) ON public.patient TO steward", grant=False)
    refused(db, run(), 2, "policy", "disease", "may not be read", "GRANT SELECT")
    db.source("CREATE SCHEMA closed; CREATE TABLE closed.t AS TABLE public.patient", grant=False)
    refused(db, run(source="closed.t"), 2, "source_privilege", "USAGE", "closed")
    assert faults.events(db.admin) == []


def test_missing_privileges_to_publish(db: Database, run: Run) -> None:
    name = sql.Identifier(db.name)
    db.admin.execute(sql.SQL("REVOKE CREATE ON DATABASE {} FROM steward").format(name))
    refused(db, run(), 2, "no_create", "schema published", "CREATE on the database")
    db.admin.execute("CREATE SCHEMA published")
    refused(db, run(), 2, "no_create", "schema published")
    db.admin.execute("GRANT CREATE, USAGE ON SCHEMA published TO steward")
    refused(db, run(), 2, "no_grant", "published", "analyst")
    db.admin.execute("GRANT USAGE ON SCHEMA published TO analyst")
    assert run().code == 0


def test_a_role_that_is_not_the_owner(db: Database, run: Run, tmp_path: Path) -> None:
    assert run("nonsense: [").code == 2
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    for role in ("analyst", "source_owner"):
        ran = pganon("run", str(file), "--dsn", db.dsn(role), "--json")
        refused(db, ran, 3, "not_owner", "steward")


def test_row_security_is_never_silent(db: Database, run: Run) -> None:
    """A filtered source would be released as if it were all of it."""
    db.source("ALTER TABLE public.patient ENABLE ROW LEVEL SECURITY")
    db.source("CREATE POLICY part ON public.patient USING (id < 20)")
    ran = run()
    assert ran.code in (2, 3)
    refused(db, ran, ran.code, ran.json["error"]["code"], "row", "security")
    assert "BYPASSRLS" in ran.json["error"]["hint"]
    assert "grant" not in ran.json["error"]["hint"]


def test_not_installed_and_newer(bare_db: Database, tmp_path: Path) -> None:
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))
    arguments = ("run", str(file), "--dsn", bare_db.dsn(), "--json")
    missing = pganon(*arguments)
    assert (missing.code, missing.json["error"]["code"]) == (3, "missing")
    assert "pganon init" in missing.json["error"]["hint"]
    assert pganon("init", "--dsn", bare_db.dsn()).code == 0
    bare_db.admin.execute(
        "INSERT INTO pganon_private.migration (number, name, checksum, program_version)"
        " VALUES (9999, '9999_x.sql', 'x', '99.0')"
    )
    newer = pganon(*arguments)
    assert (newer.code, newer.json["error"]["code"]) == (3, "newer")


# -- hostile names and settings --------------------------------------------------------------

HOSTILE = [
    "Age",
    'x"; drop table t; --',
    "a,b",
    "x" * 63,
    "ü" * 31,
    "select",
    "a b.c",
    "it's",
    "%s %(x)s {0} :x",
    "back\\slash",
    "$$",
]


@pytest.mark.slow
def test_hostile_names(db: Database, run: Run) -> None:
    """As schema, table and columns at once; the release publishes them as they are."""
    for schema, table in zip(HOSTILE, reversed(HOSTILE), strict=True):
        names = [name for name in HOSTILE if len(name.encode()) < 58]
        parts = [sql.SQL("{} integer DEFAULT 7").format(sql.Identifier(name)) for name in names]
        text = sql.SQL("CREATE SCHEMA {0}; CREATE TABLE {0}.{1} (id integer PRIMARY KEY, {2})")
        statement = text.format(
            sql.Identifier(schema), sql.Identifier(table), sql.SQL(", ").join(parts)
        ).as_string(None)
        fill = sql.SQL("; INSERT INTO {}.{} SELECT n, n FROM generate_series(1, 24) AS n").format(
            sql.Identifier(schema), sql.Identifier(table)
        )
        db.source(statement + fill.as_string(None))
        source = sql.Identifier(schema, table).as_string(None)
        release = table.encode()[:58].decode(errors="ignore")  # its flat view is named after it
        ran = run(
            {
                "release": release,
                "source": source,
                "columns": {
                    names[0]: Q,
                    **{name: {**Q, "type": "categorical"} for name in names[1:3]},
                    names[3]: {"role": "sensitive"},
                    **{name: {"role": "insensitive"} for name in names[4:]},
                },
                "privacy": [{"model": "k_anonymity", "k": 3}],
                "method": {"name": "mondrian"},
                "publish": {"schema": f"out {schema}"[:30], "readers": ["analyst"]},
                "republication": "allow",  # all these tables hold the same
            }
        )
        assert ran.code == 0, ran.out
        row = db.admin.execute(
            sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(f"out {schema}"[:30], release))
        ).fetchone()
        assert row == (24,)
    assert faults.run_tables(db.admin) == []


SETTINGS = {
    "search_path": "evil, pg_catalog",
    "row_security": "on",
    "DateStyle": "German, DMY",
    "IntervalStyle": "sql_standard",
    "TimeZone": "Asia/Kolkata",
    "statement_timeout": "100",
    "lock_timeout": "1",
    "default_transaction_read_only": "on",
    "default_transaction_isolation": "serializable",
    "default_transaction_deferrable": "on",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
    "transform_null_equals": "on",
    "array_nulls": "off",
    "client_encoding": "LATIN1",
    "lc_numeric": "C",
    "quote_all_identifiers": "on",
    "check_function_bodies": "off",
    "enable_hashjoin": "off",
    "constraint_exclusion": "on",
    "synchronize_seqscans": "off",
    "default_toast_compression": "pglz",
    "application_name": "someone else",
    "default_statistics_target": "1",
    "from_collapse_limit": "1",
    "plan_cache_mode": "force_generic_plan",
    "work_mem": "64kB",
    "client_min_messages": "debug5",
}

EVIL = """
CREATE SCHEMA evil;
GRANT USAGE ON SCHEMA evil TO PUBLIC;
CREATE FUNCTION evil.count(anyelement) RETURNS bigint LANGUAGE sql AS 'SELECT 1000::bigint';
CREATE FUNCTION evil.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT ''x''::bytea';
CREATE FUNCTION evil.to_regclass(text) RETURNS regclass LANGUAGE sql AS 'SELECT NULL::regclass';
CREATE TABLE evil.patient AS SELECT 1 AS age;
CREATE TABLE evil.pg_class AS SELECT 1 AS oid;
CREATE FUNCTION evil.eq(integer, integer) RETURNS boolean LANGUAGE sql AS 'SELECT true';
CREATE OPERATOR evil.= (LEFTARG = integer, RIGHTARG = integer, FUNCTION = evil.eq);
"""


@pytest.fixture
def hostile_role(db: Database) -> Iterator[None]:
    """Settings of the role in this database, as ALTER ROLE keeps them."""
    names = [row[0] for row in db.admin.execute("SELECT name FROM pg_settings").fetchall()]
    for name, value in SETTINGS.items():
        if name in names:
            # A list of schemas is a list, not one name with a comma.
            values = value.split(", ") if name in ("search_path", "DateStyle") else [value]
            db.admin.execute(
                sql.SQL("ALTER ROLE steward IN DATABASE {} SET {} = {}").format(
                    sql.Identifier(db.name),
                    sql.Identifier(name),
                    sql.SQL(", ").join(map(sql.Literal, values)),
                )
            )
    yield
    db.admin.execute(
        sql.SQL("ALTER ROLE steward IN DATABASE {} RESET ALL").format(sql.Identifier(db.name))
    )


@pytest.mark.slow
def test_hostile_settings_change_nothing(
    db: Database, hostile_role: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.source(faults.SOURCE)
    db.source(
        "ALTER TABLE public.patient ADD f float8 DEFAULT 0.1, ADD w timestamptz DEFAULT now()"
    )
    db.source("UPDATE public.patient SET city = 'Züri' WHERE city = 'Kyiv'")
    db.source(EVIL)
    inline = {"any": {"south": ["Rome", "Bern"], "north": ["Oslo", "Züri"]}}
    columns = _columns(f=Q, w=Q, city={**Q, "hierarchy": {"inline": inline}})
    policy = faults.policy(columns=columns)
    faults.run(db.dsn(), policy, stable=True)
    hostile = faults.content(db.admin)
    faults.guarantee_holds(db.admin)
    db.admin.execute(
        sql.SQL("ALTER ROLE steward IN DATABASE {} RESET ALL").format(sql.Identifier(db.name))
    )
    result = faults.run(db.dsn(), policy, stable=True)  # the source counts as unchanged, too
    assert result.version == 2
    assert faults.content(db.admin) == hostile
    monkeypatch.setenv("PGOPTIONS", "-c search_path=evil -c DateStyle=German")
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    faults.run(db.dsn(), policy, stable=True)
    monkeypatch.undo()
    assert faults.content(db.admin) == hostile
