"""Attack: roles that are taken for others where their names are read as SQL.

Names that need quotes: of a role beside one that folding makes of it, with a blank, with a dot; of
the database, schemas, tables and readers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from psycopg import sql

from pganon.database import connect
from pganon.errors import PreconditionError
from pganon.identifiers import QualifiedName
from tests.support.harness import faults, queue
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import PASSWORD, Database, Server

READER, APPROVER = 'Analyst "of" a.b', "Data 'protection'.x"
SCHEMA, TABLE = "My Schema", 'the "Patients".x'
SOURCE = QualifiedName(SCHEMA, TABLE)
ROWS = "id,Age,s.e x,disease\n" + "".join(
    f"{n},{20 + n},{'mf'[n % 2]},{('flu', 'cold', 'gout')[n % 3]}\n" for n in range(24)
)
RELEASE = "Ill people.v"


@contextmanager
def _roles(server: Server, *names: str) -> Iterator[None]:
    with server.admin() as admin:
        for name in names:
            admin.execute(
                sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(
                    sql.Identifier(name), sql.Literal(PASSWORD)
                )
            )
        try:
            yield
        finally:
            for name in names:
                admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@contextmanager
def _world(server: Server, steward: str) -> Iterator[Database]:
    """A database whose name needs quotes, in which that role may create schemas."""
    database = Database(server, f'{server.new_name()} "Data".Base')
    with _roles(server, steward, READER, APPROVER):
        server.create_database(database.name, server.template(installed=False))
        try:
            database.admin.execute(
                sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(
                    sql.Identifier(database.name), sql.Identifier(steward)
                )
            )
            yield database
        finally:
            database.close()
            server.drop_database(database.name)  # at once: its roles go with it


def _policy(**changes: Any) -> dict[str, Any]:
    return {
        "release": RELEASE,
        "source": str(SOURCE),
        "individual": "id",
        "columns": {
            "id": {"role": "identifying"},
            "Age": {"role": "quasi_identifying"},
            "s.e x": {"role": "quasi_identifying"},
            "disease": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "k_anonymity", "k": 4},
            {"model": "distinct_l_diversity", "column": "disease", "l": 2},
        ],
        "method": {"name": "mondrian"},
        "republication": "allow",
        "publish": {"schema": "Shown to.All", "readers": [READER]},
        "requests": {"roles": [READER]},
        **changes,
    }


def _done(*arguments: str, code: int = 0) -> Ran:
    ran = pganon(*arguments)
    assert ran.code == code, (arguments, ran.err)
    return ran


@pytest.mark.slow
@pytest.mark.parametrize("steward", ["Steward", "Data Steward", "a.b", 'Ä"; --'])
def test_the_whole_life_of_a_release(server: Server, tmp_path: Path, steward: str) -> None:
    with _world(server, steward) as db:
        dsn = db.dsn(steward)
        _live(dsn, tmp_path, db)
        for command in ("uninstall", "init", "uninstall"):
            _done(command, *(("--purge",) if command == "uninstall" else ()), "--dsn", dsn)


def _live(dsn: str, folder: Path, db: Database) -> None:
    values, policy, exported = folder / "p.csv", folder / "p.json", folder / "out.csv"
    values.write_text(ROWS)
    policy.write_text(json.dumps(_policy()))
    at = ("--dsn", dsn)
    _done("init", *at)
    with db.server.admin(db.name) as admin:
        steward = admin.execute(
            "SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace WHERE nspname = 'pganon'"
        ).fetchone()
        assert steward
        admin.execute(
            sql.SQL("CREATE SCHEMA {} AUTHORIZATION {}").format(
                sql.Identifier(SCHEMA), sql.Identifier(steward[0])
            )
        )
    for more in ((), ("--replace",)):
        _done("import", str(values), str(SOURCE), *more, *at)
    _done("assess", str(SOURCE), "--qi", "Age", "--sensitive", "disease", *at)
    _done("policy", "init", str(SOURCE), "-o", str(folder / "first.yaml"), *at)
    _done("check", str(policy), *at)
    _done("plan", str(policy), *at)
    _done("run", str(policy), "--dry-run", *at)
    for version in (1, 2):
        assert _done("run", str(policy), "--force", "--json", *at).json["version"] == version
    for command in ("verify", "show", "history", "status"):
        _done(command, *(() if command == "status" else (RELEASE,)), *at)
    _done("diff", RELEASE, "1", "2", *at)
    _done("releases", "--dsn", db.dsn(READER))
    _done("export", RELEASE, "-o", str(exported), "--dsn", db.dsn(READER))
    assert exported.read_text().splitlines()[0] == "class_id,Age,s.e x,disease"
    _done("readers", RELEASE, "--remove", READER, *at)
    _done("export", RELEASE, "-o", str(exported), "--force", "--dsn", db.dsn(READER), code=2)
    _done("readers", RELEASE, "--add", READER, *at)
    _done("guard", str(policy), *at)
    _done("rollback", RELEASE, *at)
    _migrated(dsn, folder)
    publish = {**_policy()["publish"], "approval": {"by": [APPROVER]}}
    policy.write_text(json.dumps(_policy(publish=publish)))
    _done("policy", "apply", str(policy), *at)
    _done("check", RELEASE, *at)
    _done("upgrade", *at)
    values.write_text(ROWS + "24,44,f,flu\n")
    _done("import", str(values), str(SOURCE), "--replace", *at)
    with connect(db.dsn(READER)) as conn:
        asked = queue.ask(conn, RELEASE)
    _done("worker", "--once", *at)
    assert queue.state(db, asked) == ("awaiting_approval", None)
    _done("approve", str(asked), "--reason", "as agreed", "--dsn", db.dsn(APPROVER))
    _done("worker", "--once", *at)
    assert queue.state(db, asked) == ("released", None)
    _done("forget", RELEASE, "--version", "1", "--reason", "nobody has it", *at)
    _done("drop", RELEASE, "--yes", *at)
    _done("clean", *at)


def _migrated(dsn: str, folder: Path) -> None:
    """A second release by a file of migrations, which is taken back."""
    files = folder / "my releases"
    files.mkdir()
    again = _policy(release=f"{RELEASE} again")
    (files / "0001_ill_people_v_again.json").write_text(json.dumps(again))
    _done("migrate", "up", str(files), "--dsn", dsn)
    _done("migrate", "down", str(files), "--to", "0", "--dsn", dsn)
    _done("drop", again["release"], "--yes", "--dsn", dsn)


@pytest.mark.slow
def test_the_role_of_a_folded_name_is_somebody_else(server: Server) -> None:
    """`steward` owns the schema that "Steward" is to publish in."""
    with _world(server, "Steward") as db:
        dsn = db.dsn("Steward")
        _done("init", "--dsn", dsn)
        db.admin.execute(
            """CREATE SCHEMA published AUTHORIZATION steward;
            GRANT USAGE, CREATE ON SCHEMA published TO "Steward" WITH GRANT OPTION;
            CREATE SCHEMA own AUTHORIZATION "Steward" """
        )
        with connect(dsn) as conn:
            conn.execute(faults.SOURCE.replace("public.", "own.").encode())
        with pytest.raises(PreconditionError) as caught:
            faults.run(dsn, faults.policy(source="own.patient", publish={}))
        assert caught.value.code == "foreign_schema"
        assert "role steward" in caught.value.message
