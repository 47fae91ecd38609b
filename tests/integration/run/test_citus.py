"""Sources that Citus distributes: what a release shows does not depend on where rows are.

On a given cluster (see `tests/support/harness/citus.py`); `test_distributed.py` needs none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from psycopg import sql

from pganon import assessment
from pganon.catalog.code import reading
from pganon.catalog.model import ExternalObjects
from pganon.catalog.roles import numbers
from pganon.checks.releases import drift
from pganon.errors import DatabaseError, Interrupted
from pganon.identifiers import QualifiedName
from pganon.publish.release_state import source_mark
from pganon.run.erasure import forget_people
from pganon.run.record import RunResult
from tests.integration.methods.test_conformance import released, shown, unverified
from tests.support.harness import citus, faults, plans
from tests.support.harness.citus import STAYS, policy
from tests.support.harness.cluster import Database
from tests.support.harness.driver import refused
from tests.support.sources import conformance

pytestmark = pytest.mark.primary_server_only
After = Callable[..., tuple[Database, RunResult]]
OWNER = ("source_owner",)
"""Who may have put code into shards of the sources."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Database]:
    with citus.cluster() as database:
        yield database


@pytest.fixture
def stays(cluster: Database) -> Iterator[Database]:
    cluster.source(STAYS)
    yield cluster
    cluster.source("DROP TABLE public.stay CASCADE; DROP TABLE IF EXISTS public.told")


@contextmanager
def on_workers(db: Database, setting: str, value: str) -> Iterator[None]:
    """Sessions on workers begin with another value of a setting than those on the coordinator."""
    text = sql.SQL("ALTER DATABASE {} SET {} = {}").format(
        sql.Identifier(db.name), sql.Identifier(setting), value
    )
    reset = sql.SQL("ALTER DATABASE {} RESET {}").format(
        sql.Identifier(db.name), sql.Identifier(setting)
    )
    try:
        _everywhere(db, text)
        yield
    finally:
        _everywhere(db, reset)


def _everywhere(db: Database, command: sql.Composed | sql.SQL) -> None:
    done = db.admin.execute(
        "SELECT bool_and(success) FROM run_command_on_workers(%s)", [command.as_string(db.admin)]
    ).fetchone()
    assert done == (True,)


# -- settings ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value", "where"),
    [
        ("TimeZone", "Asia/Kolkata", "extract(hour from since) = 0"),
        ("extra_float_digits", "-14", None),
    ],
)
def test_workers_with_other_settings_read_the_same(
    stays: Database, setting: str, value: str, where: str | None
) -> None:
    """Attack: an administrator, or a role's setting, changes what expressions mean on workers."""
    changes = {"where": where} if where else {}
    name = f"read_{setting.lower()}"
    with on_workers(stays, setting, value):
        done = faults.run(stays.dsn(), policy(name, **changes))
    assert done.records == (100 if where else 2400)
    shown_weights = stays.admin.execute(
        sql.SQL("SELECT DISTINCT lower(weight)::text FROM published.{}").format(
            sql.Identifier(name)
        )
    ).fetchall()
    weights = stays.admin.execute("SELECT DISTINCT weight::text FROM public.stay").fetchall()
    assert {row[0] for row in shown_weights} <= {row[0] for row in weights}


def test_what_was_set_for_the_database_reaches_workers(stays: Database) -> None:
    """Attack: `ALTER DATABASE` changes what a view means here and not there, or the reverse."""
    stays.source(
        "CREATE VIEW public.asked AS SELECT * FROM public.stay"
        " WHERE to_tsvector(disease || ' runs') @@ to_tsquery('run')"
        " AND coalesce(current_setting('app.disease', true), 'd2') = disease;"
        " GRANT SELECT ON public.asked TO steward"
    )
    models = [{"model": "k_anonymity", "k": 2}]
    columns = {"age": {"role": "quasi_identifying"}}
    asked = policy("asked", source="public.asked", columns=columns, privacy=models)
    name = sql.Identifier(stays.name)
    set_here = sql.SQL("ALTER DATABASE {} SET app.disease = 'd1'").format(name)
    reset_here = sql.SQL("ALTER DATABASE {} RESET app.disease").format(name)
    english = sql.SQL("ALTER DATABASE {} SET default_text_search_config = english").format(name)
    simple = sql.SQL("ALTER DATABASE {} RESET default_text_search_config").format(name)
    try:
        stays.admin.execute(english)
        with on_workers(stays, "default_text_search_config", "simple"):
            assert faults.run(stays.dsn(), asked).records == 480
            stays.admin.execute(set_here)
            stays.source("UPDATE public.stay SET disease = 'd1' WHERE id = 2")
            assert faults.run(stays.dsn(), asked).records == 481
            stays.admin.execute(reset_here)
        with on_workers(stays, "app.disease", "d1"), refused("cluster_differs") as caught:
            faults.run(stays.dsn(), asked)
        assert "app.disease" in str(caught[0])
    finally:
        stays.admin.execute(simple)
        stays.admin.execute(reset_here)


def test_every_setting_of_the_session_reaches_workers(stays: Database) -> None:
    conn = stays.owner()
    external = ExternalObjects((QualifiedName("public", "stay"),))
    ask = (
        "SELECT s.name, pg_catalog.current_setting(s.name) FROM pg_catalog.pg_settings AS s"
        " WHERE s.source = 'session' AND s.name NOT LIKE 'citus.%'"
        " AND s.name NOT IN ('application_name', 'client_encoding') ORDER BY 1"  # Citus's own
    )
    here = conn.execute(ask.encode()).fetchall()
    assert ("TimeZone", "UTC") in here
    with reading(conn, external, numbers(conn, OWNER).values()):
        there = conn.execute(
            b"SELECT DISTINCT pg_catalog.concat_ws('=', n.name,"
            b" pg_catalog.current_setting(n.name || pg_catalog.left(t.disease, 0)))"
            b" FROM public.stay AS t CROSS JOIN pg_catalog.unnest(%s::text[]) AS n(name)",
            [[name for name, _ in here]],
        ).fetchall()
    assert {row[0] for row in there} == {f"{name}={value}" for name, value in here}


def test_a_message_with_a_set_local_does_not_reach_workers(stays: Database) -> None:
    """A role may have propagation on: the message that makes a table would run on workers."""
    stays.admin.execute(b"ALTER ROLE steward SET citus.propagate_set_commands = 'local'")
    try:
        assert faults.run(stays.dsn(), policy("propagated")).released == 2400
    finally:
        stays.admin.execute(b"ALTER ROLE steward RESET citus.propagate_set_commands")


# -- one instant ------------------------------------------------------------------------------


def test_writers_wait_where_the_table_may_be_locked(stays: Database) -> None:
    stays.source("GRANT TRUNCATE ON public.stay TO steward")
    with psycopg.connect(stays.dsn("source_owner"), autocommit=True) as writer:
        writer.execute(b"SET lock_timeout = '200ms'")
        conn = stays.owner()
        external = ExternalObjects((QualifiedName("public", "stay"),))
        with reading(conn, external, numbers(conn, OWNER).values(), at_once=True):
            with pytest.raises(psycopg.errors.LockNotAvailable):
                writer.execute(b"UPDATE public.stay SET age = 1 WHERE id = 5")
            writer.execute(b"SELECT count(*) FROM public.stay")
        with reading(
            conn, external, numbers(conn, OWNER).values()
        ):  # what only looks holds up nobody
            writer.execute(b"UPDATE public.stay SET age = age WHERE id = 5")
    done = faults.run(stays.dsn(), policy("locked"))
    assert [text for text in done.warnings if "shard" in text] == []
    assert "unlocked" not in _measures(stays, "locked")


def test_a_read_that_may_be_torn_is_said_and_recorded(stays: Database) -> None:
    done = faults.run(stays.dsn(), policy("torn"))
    assert [text for text in done.warnings if "shards of public.stay" in text]
    assert _measures(stays, "torn")["unlocked"] == ["public.stay"]


def _measures(db: Database, release: str) -> dict[str, Any]:
    row = db.admin.execute(
        "SELECT measures FROM pganon_private.version WHERE release = %s", [release]
    ).fetchone()
    assert row is not None
    return row[0]


# -- the same as on one server ----------------------------------------------------------------


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(method, marks=[] if method in conformance.FIRST else pytest.mark.slow)
        for method in conformance.METHODS
    ],
)
def test_a_release_shows_what_it_shows_on_one_server(
    cluster: Database, db_after: After, method: str
) -> None:
    single, _ = db_after(released, method)
    citus.renew(cluster)
    cluster.source(plans.SOURCE)
    cluster.source("SELECT create_distributed_table('public.visit', 'id', shard_count => 8)")
    faults.run(cluster.dsn(), plans.policy_of(method), stable=True)
    assert shown(cluster.admin) == shown(single.admin)
    assert unverified(cluster.owner()) == []


def test_assess_measures_what_it_measures_of_a_copy(stays: Database) -> None:
    stays.source("CREATE TABLE public.stay_copy AS SELECT * FROM public.stay")
    found = [
        assessment.assess(name, ["age", "weight"], ["disease"], trust=OWNER, dsn=stays.dsn())
        for name in ("public.stay", "public.stay_copy")
    ]
    assert found[0].measures == found[1].measures
    assert found[0].risks == found[1].risks
    assert [len(one.warnings) for one in found] == [1, 0]


def test_a_change_in_any_shard_is_noticed(stays: Database) -> None:
    first = faults.run(stays.dsn(), policy("noticed"))
    assert faults.run(stays.dsn(), policy("noticed"), force=False).outcome == "unchanged"
    assert _source(stays) == "unchanged"
    placed = stays.admin.execute(
        "SELECT min(id) FROM public.stay GROUP BY get_shard_id_for_distribution_column"
        "('public.stay', id) ORDER BY 1"
    ).fetchall()
    assert len(placed) == 8
    for (number,) in placed:
        before = source_mark(stays.owner(), ['"public"."stay"'])
        assert before
        stays.source(f"UPDATE public.stay SET disease = 'other' WHERE id = {number}")
        faults.wait_until(
            lambda before=before: source_mark(stays.owner(), ['"public"."stay"']) != before
        )
    assert _source(stays) == "perhaps_changed"
    assert faults.run(stays.dsn(), policy("noticed"), force=False).version == first.version + 1


def _source(db: Database) -> str:
    found = drift(db.owner(), "noticed")
    assert found is not None
    return found.source


# -- work tables in shards --------------------------------------------------------------------


def test_nobody_else_may_read_a_shard(stays: Database) -> None:
    """Attack: on a worker, default privileges of the owner of pganon open all that it makes."""
    text = sql.SQL("ALTER DEFAULT PRIVILEGES FOR ROLE steward {} SELECT ON TABLES {} analyst")
    granted: list[Any] = []

    def look() -> None:
        for table in faults.run_tables(stays.owner()):
            found = stays.admin.execute(
                "SELECT result FROM run_command_on_all_nodes(%s)",
                [
                    "SELECT string_agg(relname || ' ' || relacl::text, ' ') FROM pg_class"
                    f" WHERE relname LIKE '{table.partition('.')[2]}%' AND relacl::text ~ 'analyst'"
                ],
            )
            granted.extend(found.fetchall())

    _everywhere(stays, text.format(sql.SQL("GRANT"), sql.SQL("TO")))
    try:
        faults.run(stays.dsn(), policy("sealed"), before=faults.at("partition.cells", look))
    finally:
        _everywhere(stays, text.format(sql.SQL("REVOKE"), sql.SQL("FROM")))
    assert granted
    assert {row[0] for row in granted} == {""}


def test_values_are_told_apart_in_shards_as_here(stays: Database) -> None:
    """Two floats of one text, to workers as they are: there would be one value, and no class."""
    stays.source("UPDATE public.stay SET weight = 1 + id % 2 * 1e-15")
    columns = {"age": {"role": "quasi_identifying"}, "weight": {"role": "sensitive"}}
    models = [{"model": "distinct_l_diversity", "column": "weight", "l": 2}]
    with on_workers(stays, "extra_float_digits", "-14"):
        done = faults.run(stays.dsn(), policy("apart", columns=columns, privacy=models))
    assert done.released == 2400


def test_who_was_forgotten_is_left_out_of_shards(cluster: Database) -> None:
    """They stay forgotten, so pganon is installed anew."""
    try:
        cluster.source(STAYS)
        faults.run(cluster.dsn(), policy("without"))
        cluster.source("CREATE TABLE public.leaving AS SELECT id FROM public.stay WHERE id < 100")
        assert forget_people(cluster.owner(), "without", "public.leaving").people == 100
        assert faults.run(cluster.dsn(), policy("without")).released == 2300
    finally:
        citus.renew(cluster)


def test_a_worker_that_ends_its_sessions_ends_the_run_or_nothing_else(stays: Database) -> None:
    """A run fails and leaves nothing, on no server, or shows what it would have shown."""
    ended = sql.SQL(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
        " WHERE usename = 'steward' AND pid <> pg_backend_pid() AND datname = current_database()"
    )
    for step in ("encode.coded", "partition.cells", "recode.records", "verify.balance"):
        before = faults.version(stays.owner(), "ended")
        with contextlib.suppress(DatabaseError, Interrupted):
            done = faults.run(
                stays.dsn(),
                policy("ended"),
                before=faults.at(step, lambda: _everywhere(stays, ended)),
            )
            assert done.released == 2400
            before = done.version
        assert faults.version(stays.owner(), "ended") == before
        assert citus.on_servers(stays) == []


# -- whose code runs ----------------------------------------------------------------------------

ON_WORKERS = """
SET citus.enable_ddl_propagation = off;
CREATE OR REPLACE FUNCTION public.tell(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE AS $t$
BEGIN
    IF current_user <> 'source_owner' THEN
        PERFORM pg_catalog.run_command_on_coordinator(
            'INSERT INTO public.told SELECT current_user, encode(key, ''hex'')'
            ' FROM pganon_private.installation_secret');
    END IF;
    RETURN $1;
END $t$
"""
IN_SHARDS = """
SET citus.enable_ddl_propagation = off;
CREATE INDEX ON %s (age) WHERE public.tell(1) = 1
"""


def test_code_in_shards_of_the_owner_of_a_source_does_not_run(stays: Database) -> None:
    """Attack: from the coordinator alone, the owner puts code on workers that comes back here."""
    with psycopg.connect(stays.dsn("source_owner"), autocommit=True) as owner:
        owner.execute(b"CREATE TABLE public.told (role text, secret text)")
        owner.execute(b"GRANT INSERT ON public.told TO PUBLIC")
        owner.execute("SELECT run_command_on_workers(%s)", [ON_WORKERS])
        done = owner.execute(
            "SELECT bool_and(r.success) FROM run_command_on_shards('public.stay', %s) AS r",
            [IN_SHARDS],
        ).fetchone()
        assert done == (True,)
        for command in (
            lambda: faults.run(stays.dsn(), policy("told", trust=[])),
            lambda: assessment.assess("public.stay", ["age"], dsn=stays.dsn()),
            lambda: assessment.quasi_identifiers("public.stay", dsn=stays.dsn()),
        ):
            with refused("untrusted_code"):
                command()
        told = b"SELECT DISTINCT role FROM public.told"
        assert owner.execute(told).fetchall() == []
        assert faults.run(stays.dsn(), policy("told")).released == 2400
        assert owner.execute(told).fetchall() == [("steward",)]


def test_sessions_on_workers_begin_with_no_schema_of_others(stays: Database) -> None:
    """Attack: a function that Citus itself calls by name, and that fits better than its own."""
    fits = (
        "SET citus.enable_ddl_propagation = off; CREATE FUNCTION"
        " public.assign_distributed_transaction_id(integer, integer, timestamptz) RETURNS void"
        " LANGUAGE plpgsql AS $t$ BEGIN IF current_user = 'steward' THEN"
        " RAISE 'code of others ran'; END IF; END $t$"
    )
    dropped = (
        "DROP FUNCTION public.assign_distributed_transaction_id(integer, integer, timestamptz)"
    )
    _everywhere(stays, sql.SQL(fits))
    try:
        assert faults.run(stays.dsn(), policy("fits")).released == 2400
        stays.admin.execute(
            f"ALTER ROLE steward IN DATABASE {stays.name} RESET search_path".encode()
        )
        with refused("cluster_path"):
            faults.run(stays.dsn(), policy("fits"))
        with psycopg.connect(stays.dsn()) as conn, pytest.raises(psycopg.Error, match="others ran"):
            conn.execute(b"SELECT count(*) FROM public.stay")
    finally:
        _everywhere(stays, sql.SQL(f"SET citus.enable_ddl_propagation = off; {dropped}"))
        citus.safe_path(stays)


@pytest.mark.parametrize("method", ["full_domain", "mondrian", "one_dimensional"])
def test_several_records_of_a_person(cluster: Database, method: str) -> None:
    """The most records that one of them has are counted where the records are."""
    cluster.source(
        "CREATE TABLE public.visited AS SELECT n / 3 AS person, n / 3 % 7 AS age, 'd' || n % 5 AS d"
        " FROM generate_series(0, 899) AS n;"
        "SELECT create_distributed_table('public.visited', 'person', shard_count => 8)"
    )
    columns = {
        "person": {"role": "individual"},
        "age": {"role": "quasi_identifying", "hierarchy": {"intervals": [2, 4]}},
        "d": {"role": "insensitive"},
    }
    declared = policy(
        f"visited_{method}",
        source="public.visited",
        columns=columns,
        privacy=[{"model": "k_anonymity", "k": 5}],
        method={"name": method},
        records_per_individual="many_accepted",
    )
    try:
        assert faults.run(cluster.dsn(), declared).released == 900
    finally:
        cluster.source("DROP TABLE public.visited CASCADE")
