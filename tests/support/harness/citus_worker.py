"""A worker of the given cluster that tests kill, if PGANON_TEST_CITUS_KILL=1 says that they may.

It must run on this machine, as the user of the tests unless that is root, and is started again with
what its configuration files say.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest
from psycopg import conninfo

from tests.support.harness import citus, faults
from tests.support.harness.cluster import Database

ALLOWED = "PGANON_TEST_CITUS_KILL"
_FILE = "postmaster.pid"


@dataclass(frozen=True)
class Worker:
    """A server of the cluster on this machine.

    Attributes:
        dsn: of a superuser, who is connected to the server itself.
        data: its data directory.
        binaries: folder with its pg_ctl.
        killers: that wait for a session to be held up.
    """

    dsn: str
    data: Path
    binaries: Path
    killers: list[threading.Thread] = field(default_factory=list)

    def kill(self) -> None:
        """With SIGKILL; its sessions notice and end, too."""
        pid = _pid(self.data)
        os.kill(pid, signal.SIGKILL)
        faults.wait_until(lambda: not _runs(pid))

    def kill_in_a_statement(self, db: Database) -> None:
        """Hold up the next statement that reads any shard of the server, and kill it then."""
        port = conninfo.conninfo_to_dict(self.dsn)["port"]
        shards = db.admin.execute(
            "SELECT DISTINCT shard_name FROM citus_shards WHERE nodeport = %s", [port]
        ).fetchall()
        holder = psycopg.connect(self.dsn)
        holder.execute(b"SET citus.enable_manual_changes_to_shards = on")
        holder.execute(f"LOCK TABLE {', '.join(name for (name,) in shards)}".encode())

        def held_up() -> bool:
            waiting = holder.execute(b"SELECT count(*) FROM pg_locks WHERE NOT granted")
            return waiting.fetchone() != (0,)

        def kill() -> None:
            faults.wait_until(held_up)
            self.kill()
            holder.close()

        self.killers.append(threading.Thread(target=kill))
        self.killers[-1].start()

    def start(self) -> None:
        """Start it again, which it does after its crash; nothing where it runs."""
        while self.killers:
            self.killers.pop().join()
        if (self.data / _FILE).exists() and _runs(_pid(self.data)):
            return
        owner = self.data.stat()
        command = [self.binaries / "pg_ctl", "-D", self.data, "-l", self.data / "killed.log", "-w"]

        def started() -> bool:  # sessions of the killed server may still hold its memory
            done = subprocess.run(
                [*command, "start"],
                cwd=self.data,
                user=owner.st_uid,
                group=owner.st_gid,
                env={**os.environ, "HOME": str(self.data)},  # where it looks for certificates
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            return done.returncode == 0

        faults.wait_until(started)


@contextmanager
def worker(db: Database) -> Iterator[Worker]:
    """One that runs when the block ends; skipped where tests may not, or cannot, kill it."""
    if os.environ.get(ALLOWED) != "1":
        pytest.skip(f"needs {ALLOWED}=1, workers that tests may kill")
    row = db.admin.execute(
        "SELECT nodename, nodeport, result FROM run_command_on_workers("
        "'SELECT pg_read_file(''postmaster.pid'')') WHERE success ORDER BY nodeport LIMIT 1"
    ).fetchone()
    assert row is not None
    host, port, said = row
    data = Path(said.splitlines()[1])
    process = Path("/proc", said.splitlines()[0])
    try:
        binaries = (process / "exe").readlink().parent
        here = (process / "cwd").readlink() == data and os.geteuid() in (0, data.stat().st_uid)
    except OSError:
        here = False
    if not here:
        pytest.skip(f"needs workers on this machine that tests may kill ({citus.GIVEN})")
    one = Worker(
        conninfo.make_conninfo(os.environ[citus.GIVEN], host=host, port=port), data, binaries
    )
    try:
        yield one
    finally:
        one.start()


def _pid(data: Path) -> int:
    return int((data / _FILE).read_text().split()[0])


def _runs(pid: int) -> bool:
    return Path("/proc", str(pid)).exists()
