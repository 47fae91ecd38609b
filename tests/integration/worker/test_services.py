"""What containers would do, on a server: scripts of initdb, commands of services, health check."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import conninfo, sql

from tests.support.harness import faults, queue
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database
from tests.support.harness.services import FOLDER, SECRETS, compose, in_order

pytestmark = pytest.mark.primary_server_only

SERVICES = compose("compose.worker.yaml")
ROLES = {"steward": "pganon_services_steward", "analyst": "pganon_services_analyst"}
"""Roles belong to the whole server, and the tests' own have these names."""


def _renamed(text: str) -> str:
    for name, other in ROLES.items():
        text = text.replace(name, other)
    return text


def _psql(db: Database) -> str:
    cluster = db.server.cluster
    found = str(cluster.bin_dir / "psql") if cluster else shutil.which("psql")
    if found is None or db.version < 15:
        pytest.skip("psql of PostgreSQL 15 or later was not found")
    return found


@pytest.fixture
def clinic(bare_db: Database, tmp_path: Path) -> Iterator[Database]:
    """A database after the scripts of initdb, as the image of PostgreSQL calls them."""
    psql = _psql(bare_db)
    parts = conninfo.conninfo_to_dict(bare_db.admin_dsn)
    environment = {
        **os.environ,
        **SECRETS,
        "PATH": f"{Path(psql).parent}{os.pathsep}{os.environ['PATH']}",
        "PGHOST": str(parts["host"]),
        "PGPORT": str(parts.get("port", 5432)),
        "POSTGRES_USER": str(parts["user"]),
        "POSTGRES_DB": bare_db.name,
    }
    try:
        for script in sorted((FOLDER / "initdb").iterdir()):
            copy = tmp_path / script.name
            copy.write_text(_renamed(script.read_text("utf-8")), "utf-8")
            if script.suffix == ".sql":
                command = [psql, "-qX", "-v", "ON_ERROR_STOP=1", "-f", str(copy), bare_db.admin_dsn]
            else:
                command = ["sh", str(copy)]
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
        yield bare_db
    finally:
        bare_db.disconnect()
        with bare_db.server.admin(bare_db.name) as admin:
            for role in ROLES.values():
                name = sql.Identifier(role)
                if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount:
                    admin.execute(sql.SQL("DROP OWNED BY {}").format(name))
                    admin.execute(sql.SQL("DROP ROLE {}").format(name))


def _dsn(db: Database) -> str:
    return conninfo.make_conninfo(
        db.admin_dsn, user=ROLES["steward"], password=SECRETS["STEWARD_PASSWORD"]
    )


def _policies(folder: Path) -> Path:
    place = folder / "policies"
    place.mkdir()
    for file in (FOLDER / "policies").iterdir():
        (place / file.name).write_text(_renamed(file.read_text("utf-8")), "utf-8")
    return place


def test_from_nothing_to_a_release_on_schedule(clinic: Database, tmp_path: Path) -> None:
    place, dsn = _policies(tmp_path), _dsn(clinic)
    assert in_order(SERVICES) == ["db", "install", "policies", "worker"]
    for service in ("install", "policies"):
        command = [word.replace("/policies", str(place)) for word in SERVICES[service]["command"]]
        done = pganon(*command, "--dsn", dsn)
        assert (done.code, done.err) == (0, "")
    clinic.admin.execute("UPDATE pganon_private.schedule SET next_at = now() - interval '1 minute'")
    worker = SERVICES["worker"]["command"]
    done = pganon(*worker, "--once", "--dsn", dsn)
    assert done.code == 0
    clinic.admin.execute(f"SET ROLE {ROLES['analyst']}".encode())
    assert clinic.admin.execute("SELECT count(*) FROM published.visits").fetchone() == (200,)


def test_the_steward_is_no_superuser_and_has_its_password(clinic: Database) -> None:
    found = clinic.admin.execute(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolcanlogin FROM pg_roles WHERE rolname = %s",
        [ROLES["steward"]],
    ).fetchone()
    assert found == (False, False, False, True)
    (stored,) = clinic.admin.execute(
        "SELECT rolpassword FROM pg_authid WHERE rolname = %s", [ROLES["steward"]]
    ).fetchall()[0]
    assert stored.startswith("SCRAM-SHA-256$")


@pytest.mark.slow
def test_the_worker_is_healthy_while_it_works(db: Database, tmp_path: Path) -> None:
    program = tmp_path / "pganon"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m pganon.cli.main "$@"\n')
    program.chmod(0o755)
    shell, text = SERVICES["worker"]["healthcheck"]["test"]
    assert shell == "CMD-SHELL"

    def healthy(pid: int) -> bool:
        command = text.replace("$$", "$").replace("process 1", f"process {pid}")
        environment = {
            **os.environ,
            "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}",
            "PGANON_DSN": db.dsn(),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        done = subprocess.run(["sh", "-c", command], env=environment, check=False)
        return done.returncode == 0

    with queue.process(db.dsn()) as worker:
        faults.wait_until(
            lambda: db.admin.execute("SELECT FROM pganon_private.worker").rowcount == 1
        )
        assert healthy(worker.pid)
        assert not healthy(worker.pid + 1)
    assert not healthy(worker.pid)
