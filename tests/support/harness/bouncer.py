"""PgBouncer between a test and its server, where the program is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from pganon import embedded
from tests.support.harness import faults, fetch_pooler
from tests.support.harness.cluster import PASSWORD, ROLES, Database

_SETTINGS = """\
[databases]
{database} = {server}
[pgbouncer]
unix_socket_dir = {folder}
listen_port = 6432
listen_addr =
auth_type = trust
auth_file = {folder}/users
logfile = {folder}/log
pidfile = {folder}/pid
pool_mode = {mode}
default_pool_size = {size}
server_round_robin = {in_turn}
"""


@contextmanager
def pooled(db: Database, mode: str, *, size: int = 20, in_turn: bool = False) -> Iterator[str]:
    """The connection string of the steward through a pooler of this mode; skips without one.

    Args:
        size: connections to the server at most.
        in_turn: lend them in turn, not the one that was given back last.
    """
    program = fetch_pooler.program()
    if program is None:
        pytest.skip("PgBouncer is not here; `make test-slow` fetches it with apt-get")
    user = embedded.server_user()
    with tempfile.TemporaryDirectory(prefix="pganon-pool-") as place:
        folder = Path(place)
        there = conninfo.conninfo_to_dict(db.server.dsn_of(None, db.name))
        server = {key: there[key] for key in ("host", "port", "dbname") if there.get(key)}
        (folder / "users").write_text("".join(f'"{role}" "{PASSWORD}"\n' for role in ROLES))
        (folder / "settings").write_text(
            _SETTINGS.format(
                database=db.name,
                server=conninfo.make_conninfo(**server),
                folder=folder,
                mode=mode,
                size=size,
                in_turn=int(in_turn),
            )
        )
        if user is not None:
            shutil.chown(folder, user)
        process = subprocess.Popen(
            [program, "-q", str(folder / "settings")],
            user=user,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "LD_LIBRARY_PATH": fetch_pooler.libraries()},
        )
        dsn = conninfo.make_conninfo(host=place, port=6432, dbname=db.name, user="steward")
        try:
            faults.wait_until(lambda: _answers(dsn))
            yield dsn
        finally:
            process.terminate()
            process.wait()


def _answers(dsn: str) -> bool:
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError:
        return False
    return True
