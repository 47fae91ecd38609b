"""Work tables beside a source in shards, where a catalog says that it is in shards without Citus.

On a given cluster see `test_citus.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import psycopg
import pytest
import sqlglot
from psycopg import sql
from sqlglot import exp

from pganon.catalog.citus import shards_of
from pganon.catalog.introspect import read_relation
from pganon.error_codes import ErrorCode
from pganon.errors import Interrupted, PreconditionError
from pganon.identifiers import QualifiedName
from pganon.loading import load_policy
from pganon.methods.common.form import class_records
from pganon.plan.explain import explain
from pganon.policy.loader import LoadedPolicy
from pganon.run import executor
from pganon.run.context import plan_release
from pganon.run.erasure import forget_people
from pganon.run.record import RunResult
from tests.integration.methods.test_conformance import released, shown, unverified
from tests.support.harness import citus, faults, plans
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only
After = Callable[..., tuple[Database, RunResult]]

IN_CELLS = ("one_dimensional", "mondrian", "full_domain")
"""Methods that need no more of records than their cells."""

_QUASI = {"age": {"role": "quasi_identifying"}, "zip": {"role": "quasi_identifying"}}

PLACED = {
    "pganon_work.r0_snap": ("d", "public.visit"),
    "pganon_work.r0_coded": ("combination", "none"),
    "pganon_work.r0_cell_classes": ("combination", "pganon_work.r0_coded"),
}


def in_shards(db: Database, column: str = "id") -> None:
    db.source(plans.SOURCE)
    citus.pretend(db, {"public.visit": 8})
    citus.distribute(db, "public.visit", column)


def evidence(db: Database) -> list[Any]:
    """What is kept of the version, but for its source, its warnings and when it was made.

    Sums of shares depend in the last digits on which is added first.
    """
    rows = db.admin.execute(
        "SELECT v.evidence, v.measures - '{unlocked,warnings}'::text[]"
        " FROM pganon_private.version AS v"
    ).fetchall()
    return json.loads(json.dumps(rows), parse_float=lambda text: round(float(text), 12))


@pytest.mark.parametrize("method", IN_CELLS)
@pytest.mark.slow
def test_a_release_shows_what_it_shows_where_nothing_is_placed(
    db: Database, db_after: After, method: str
) -> None:
    single, _ = db_after(released, method)
    in_shards(db)
    assert placed(db, plans.policy_of(method)) == PLACED
    faults.run(db.dsn(), plans.policy_of(method), stable=True)
    assert shown(db.admin) == shown(single.admin)
    assert evidence(db) == evidence(single)
    # Keys that tell people apart stay in the shards, so nobody counts them.
    (counted,), (uncounted, apart) = warned(single), warned(db)
    assert re.match(r"of \d+ classes some have records of fewer than 4 people, .*by drug", counted)
    assert uncounted.startswith("how many classes have fewer than 4 people was not counted; keys")
    assert apart.startswith("shards of public.visit are read one after the other")
    assert unverified(db.owner()) == []


def warned(db: Database) -> list[str]:
    (warnings,) = db.admin.execute(
        "SELECT v.measures -> 'warnings' FROM pganon_private.version AS v"
    ).fetchone()  # pyright: ignore
    return warnings


def placed(db: Database, asked: LoadedPolicy) -> dict[str, tuple[str, str]]:
    """Tables that a plan distributes, by what, and beside which table."""
    found: dict[str, tuple[str, str]] = {}
    for step in explain(plan_release(asked, dsn=db.dsn())):
        for part in step.sql.split(";\n"):
            if "create_distributed_table" in part:
                table, column, beside = re.findall("'([^']+)'", part)
                found[table] = (column, beside)
    return found


@pytest.mark.parametrize("method", [name for name in plans.METHODS if name not in IN_CELLS])
def test_records_that_are_numbered_or_divided_stay_on_the_coordinator(
    db_after: After, method: str
) -> None:
    db, _ = db_after(_only_shards)
    citus.safe_path(db)  # a copy of a database has no settings of roles
    assert placed(db, plans.policy_of(method)) == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"refresh": "increments", "increment_size": 20},
        {"columns": {**_QUASI, "person": {"role": "individual"}}},
        {
            "columns": {**_QUASI, "id": {"role": "individual"}},
            "aliases": {"relation": "public.renamed"},
        },
        {"exclude": {"relation": "public.left_out"}},
        {"method": {"name": "mondrian", "variant": "relaxed"}},
        {"method": {"name": "one_dimensional", "variant": "relaxed"}},
        {"source": "public.seen"},
    ],
    ids=lambda changes: " ".join(changes),
)
def test_records_that_need_more_than_their_cells_stay_on_the_coordinator(
    db_after: After, changes: dict[str, Any]
) -> None:
    db, _ = db_after(_only_shards)
    citus.safe_path(db)  # a copy of a database has no settings of roles
    document = plans.policy_of("mondrian").policy.document()
    if "columns" in changes:
        document["privacy"] = document["privacy"][:1]
    assert placed(db, load_policy(json.dumps({**document, **changes}))) == {}


def test_records_of_a_single_code_come_to_the_coordinator(db: Database) -> None:
    """They have no number of a combination; their snapshot is beside the source."""
    in_shards(db)
    document = plans.policy_of("mondrian").policy.document()
    document["columns"] = {"age": {"role": "quasi_identifying"}}
    document["privacy"] = document["privacy"][:1]
    asked = load_policy(json.dumps(document))
    assert list(placed(db, asked)) == ["pganon_work.r0_snap"]
    assert faults.run(db.dsn(), asked).released == 60


@pytest.mark.parametrize(
    ("column", "snapshot"), [("person", {}), ("id", {"pganon_work.r0_snap": ("d", "public.visit")})]
)
def test_individuals_are_counted_in_shards_where_numbers_tell_them_apart(
    db: Database, column: str, snapshot: dict[str, Any]
) -> None:
    """Other values have several texts, or several values have one."""
    in_shards(db, column)
    document = plans.policy_of("mondrian").policy.document()
    document["columns"] = {**_QUASI, column: {"role": "individual"}}
    document["privacy"] = document["privacy"][:1]
    found = placed(db, load_policy(json.dumps(document)))
    assert {t: by for t, by in found.items() if t == "pganon_work.r0_snap"} == snapshot


@pytest.mark.parametrize(
    "said",
    [
        "UPDATE pg_dist_partition SET partmethod = 'n'",
        "UPDATE pg_dist_partition SET colocationid = 0",
        "REVOKE SELECT ON public.visit FROM steward;"
        "GRANT SELECT (age, zip, disease, drug, cost, person) ON public.visit TO steward",
    ],
    ids=["several copies", "placed by hand", "unreadable"],
)
def test_tables_whose_rows_cannot_be_followed_are_read_here(db: Database, said: str) -> None:
    in_shards(db)
    db.admin.execute(said.encode())
    source = read_relation(db.owner(), "public.visit")
    assert shards_of(db.owner(), source) is None


def _only_shards(db: Database) -> None:
    in_shards(db)
    db.source(
        "CREATE TABLE public.left_out (id integer);"
        "CREATE TABLE public.renamed (old integer, new integer);"
        "CREATE VIEW public.seen AS SELECT * FROM public.visit"
    )


# -- what could go wrong unseen ---------------------------------------------------------------


_SPY = """
CREATE FUNCTION public.spy() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TRIGGER spy BEFORE INSERT ON {0} FOR EACH ROW EXECUTE FUNCTION public.spy();
"""


@pytest.mark.parametrize(
    "opened",
    [
        pytest.param(_SPY, id="trigger"),
        pytest.param(
            "GRANT USAGE ON SCHEMA pganon_work TO analyst;"
            "GRANT SELECT ON {0} TO analyst WITH GRANT OPTION; SET ROLE analyst;"
            "GRANT SELECT (d) ON {0} TO source_owner; RESET ROLE",
            id="column",
        ),
        pytest.param(
            "SET allow_system_table_mods = on;"
            "CREATE OR REPLACE FUNCTION pg_catalog.run_command_on_all_nodes("
            "text, OUT nodeid integer, OUT success boolean, OUT result text)"
            " RETURNS SETOF record LANGUAGE sql AS 'SELECT 1, false, NULL::text';"
            "RESET allow_system_table_mods",
            id="no answer",
        ),
    ],
)
def test_shards_that_others_could_read_stay_empty(
    db: Database, monkeypatch: pytest.MonkeyPatch, opened: str
) -> None:
    """Attack: default privileges of another server open every table that is made there, and who
    has them uses them before they are revoked."""
    in_shards(db)
    _before_sealing(db, monkeypatch, opened)
    conn = db.owner()
    filled: list[object] = []
    monkeypatch.setattr(executor, "fill_table", filled.append)
    with pytest.raises(PreconditionError) as caught:
        faults.run(db.dsn(), plans.policy_of("mondrian"))
    assert caught.value.code is ErrorCode.CLUSTER_SHARDS
    assert filled == []
    assert faults.run_tables(conn) == []
    assert faults.version(conn, "visits") is None


@pytest.mark.slow
def test_what_others_were_given_on_shards_is_revoked(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_shards(db)
    _before_sealing(db, monkeypatch, "GRANT SELECT ON {0} TO analyst, PUBLIC")
    held: list[str] = []

    def look() -> None:
        for table in faults.run_tables(db.owner()):
            found = db.admin.execute(
                "SELECT c.relacl::text FROM pg_class AS c WHERE c.oid = %s::regclass", [table]
            ).fetchone()
            assert found is not None
            if found[0]:
                held.append(found[0])

    faults.run(db.dsn(), plans.policy_of("mondrian"), before=faults.at("partition.cells", look))
    assert held
    assert not [one for one in held if one.count("=") > 1]


@pytest.mark.slow
def test_no_one_may_read_a_table_before_it_is_in_shards(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_shards(db)
    opened = "ALTER DEFAULT PRIVILEGES FOR ROLE steward GRANT SELECT ON TABLES TO analyst"
    db.admin.execute(opened.encode())
    closed = "SELECT assert.closed('{0}')"
    db.admin.execute(
        b"CREATE SCHEMA assert; CREATE FUNCTION assert.closed(regclass) RETURNS void"
        b" LANGUAGE plpgsql AS"
        b" 'BEGIN ASSERT NOT has_table_privilege(''analyst'', $1, ''SELECT''); END'"
    )
    _before_sealing(db, monkeypatch, closed)
    faults.run(db.dsn(), plans.policy_of("mondrian"))


def _before_sealing(db: Database, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """What others do with an empty table on another server, before anything is revoked there."""
    seal = executor.seal_shards

    def sealed(conn: Any, table: QualifiedName) -> None:
        db.admin.execute(command.format(table).encode())
        seal(conn, table)

    monkeypatch.setattr(executor, "seal_shards", sealed)


@pytest.mark.parametrize(
    ("table", "step"),
    [
        ("snap", "encode.coded"),
        ("snap", "encode.tidy"),
        ("coded", "partition.cells"),
        ("cell_classes", "verify.balance"),
    ],
)
@pytest.mark.slow
def test_a_server_that_lost_some_rows_of_a_table_ends_the_run(
    db: Database, table: str, step: str
) -> None:
    """Half of a table in shards may be gone, after a crash or by a hand, and half is not empty."""
    in_shards(db)
    conn = db.owner()

    def lose() -> None:
        names = [name for name in faults.run_tables(conn) if name.endswith(f"_{table}")]
        conn.execute(f"DELETE FROM {names[0]} WHERE ctid = '(0,1)'".encode())

    with pytest.raises(Interrupted, match=f"_{table}"):
        faults.run(db.dsn(), plans.policy_of("mondrian"), before=faults.at(step, lose))
    assert faults.version(conn, "visits") is None


@pytest.mark.slow
def test_other_servers_get_the_settings_of_the_session_before_each_read(
    db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A statement over a table in shards is in a transaction that passed on what the session has
    set, or another server would read a time or a float as it likes."""
    in_shards(db)
    reads: list[str] = []
    execute = psycopg.Cursor.execute

    def recorded(cursor: Any, query: Any, *args: Any, **kwargs: Any) -> Any:
        text = query.as_string(cursor) if isinstance(query, sql.Composable) else str(query)
        counts = text.startswith("SELECT count(*) FROM")  # whether rows were lost
        if not counts and re.match(
            r"(SELECT|INSERT|CREATE).*FROM \"pganon_work\".\"r\d+_(snap|coded)\"", text
        ):
            reads.append(text)
            told = "SELECT current_setting('citus.max_intermediate_result_size', true)"
            execute(cursor, told)
            assert cursor.fetchone() in [("-1",), {"current_setting": "-1"}], text
        return execute(cursor, query, *args, **kwargs)

    monkeypatch.setattr(psycopg.Cursor, "execute", recorded)
    faults.run(db.dsn(), plans.policy_of("mondrian"))
    assert len(reads) > 5


@pytest.mark.slow
def test_a_snapshot_is_not_beside_a_source_of_people_who_were_forgotten(db: Database) -> None:
    """Citus takes no rows out of shards that a table of this server names."""
    in_shards(db)
    asked = plans.policy_of("mondrian")
    faults.run(db.dsn(), asked)
    db.source("CREATE TABLE public.gone AS SELECT 1 AS id")
    assert forget_people(db.owner(), "visits", "public.gone").people == 1
    assert placed(db, asked) == {}


# -- what Citus would pull --------------------------------------------------------------------


@pytest.mark.parametrize("method", IN_CELLS)
def test_no_step_over_records_in_shards_is_one_that_citus_pulls(
    db_after: After, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """A SELECT from such a table has no fence, no number over all rows and no order, up to where
    its rows are counted, which those of records do even if all look different."""
    db, _ = db_after(_only_shards)
    citus.safe_path(db)  # a copy of a database has no settings of roles
    monkeypatch.setattr(class_records, "_pays", lambda state: False)
    read, readers = 0, set[str]()
    for step in explain(plan_release(plans.policy_of(method), dsn=db.dsn())):
        if not re.search("(FROM|JOIN)\\s+.pganon_work.*r0_(snap|coded|cell_classes)", step.sql):
            continue
        for tree in sqlglot.parse(step.sql, read="postgres"):
            for table in tree.find_all(exp.Table) if tree else ():
                if f"{table.db}.{table.name}" in PLACED:
                    read += 1
                    readers.add(f"{step.phase}.{step.step}")
                    assert _pulled(table) == [], step.step
    assert read > 8
    # What they need of records is here.
    assert not readers & {"partition.cells", "partition.values0", "recode.records"}


def _pulled(table: exp.Table) -> list[str]:
    found: list[str] = []
    select = table.find_ancestor(exp.Select)
    while select is not None:
        counted = bool(select.args.get("group")) or any(
            item.find(exp.AggFunc) for item in select.expressions
        )
        if not select.expressions:
            found.append("nothing is selected")
        if select.find(exp.GroupingSets):
            found.append("grouping sets")
        if counted:
            break
        if select.args.get("offset"):
            found.append("a fence")
        numbers = [w for item in select.expressions for w in item.find_all(exp.Window)]
        if any(not window.args.get("partition_by") for window in numbers):
            found.append("a number over all rows")
        if select.args.get("order"):
            found.append("an order")
        select = select.find_ancestor(exp.Select)
    return found
