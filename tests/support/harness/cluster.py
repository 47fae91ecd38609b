"""Servers for tests: where they come from, and databases on them.

A *server* is found, not configured: PGANON_TEST_DSN, else the embedded PostgreSQL, else local
binaries, else a container. PGANON_TEST_SERVERS, such as "14 16", names major versions instead;
their binaries may also have been fetched (`fetch_servers.py`). A server gets three roles.
`steward` may log in and create schemas in the test's database, nothing else: a superuser would
hide every missing privilege. `source_owner` owns the tables to be released. `analyst` has nothing.
Servers that tests start have no autovacuum, which comes when it likes and changes plans and
statistics; PGANON_TEST_AUTOVACUUM=often has it come to every table at once.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo, sql

from pganon import database, embedded, install
from pganon.data_directory import DataDirectory
from pganon.errors import DatabaseError
from tests.support.harness import fetch_servers

Connection = psycopg.Connection[Any]
T = TypeVar("T")

ROLES = ("steward", "analyst", "source_owner")
PASSWORD = "pganon-test"
_OPTIONS = (
    "fsync=off",
    "full_page_writes=off",
    "shared_buffers=64MB",
    "max_connections=100",
    "wal_level=minimal",
    "max_wal_senders=0",
    "autovacuum=off",
)
OFTEN = (
    "autovacuum=on",
    "autovacuum_naptime=1s",
    *(
        f"autovacuum_{of}_{what}"
        for of in ("analyze", "vacuum", "vacuum_insert")
        for what in ("threshold=1", "scale_factor=0")
    ),
)
"""Settings of a server where autovacuum comes to every table that is changed, and soon."""
# A worker that reads for a session has no disk to wait for here: both would be woken for nothing.
_SINCE_18 = ("io_method=sync",)


_ROOM = 4 * 1024**3
"""Bytes that the servers of all test processes need together, with a margin."""


@dataclass(frozen=True)
class Origin:
    """A server: `id` such as pg18, and how to start it; None: it was named and is not here."""

    id: str
    major: int
    start: Callable[[], Server] | None
    binaries: Path | None = None


@dataclass
class Server:
    """A running server with the test roles.

    Attributes:
        dsn: connection string of a role that may create databases and roles.
        stop: takes the server down (nothing for a server that was given).
        cluster: the server's own data directory, when pganon's tests started it.
    """

    dsn: str
    stop: Callable[[], None] = lambda: None
    cluster: DataDirectory | None = None
    _templates: dict[bool, str] = field(default_factory=dict)
    _prepared: dict[tuple[Any, ...], tuple[str, Any]] = field(default_factory=dict)
    _admin: Connection | None = None
    _left: list[str] = field(default_factory=list)
    _prefix: str = field(default_factory=lambda: f"pganon_t{uuid.uuid4().hex[:8]}")
    _count: int = 0

    def dsn_of(self, role: str | None = None, dbname: str = "postgres") -> str:
        """Connection string of a test role, or of the administrator without one."""
        if role is None:
            return conninfo.make_conninfo(self.dsn, dbname=dbname)
        return conninfo.make_conninfo(self.dsn, dbname=dbname, user=role, password=PASSWORD)

    def admin(self, dbname: str = "postgres") -> Connection:
        return psycopg.connect(self.dsn_of(None, dbname), autocommit=True)

    def template(self, *, installed: bool = True) -> str:
        """Name of a database in which `steward` has installed pganon, or of a bare one; made once.

        Nobody but `source_owner` may create anything in schema public.
        """
        if installed not in self._templates:
            name = f"{self._prefix}_{'template' if installed else 'bare'}"
            self.create_database(name, self.template(installed=False) if installed else "template0")
            if installed:
                with database.connect(self.dsn_of("steward", name)) as conn:
                    install.init(conn)
            else:
                with self.admin(name) as admin:
                    admin.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
                    admin.execute("GRANT CREATE ON SCHEMA public TO source_owner")
            self._templates[installed] = name
        return self._templates[installed]

    def prepared(self, prepare: Callable[..., T], *arguments: Any) -> tuple[str, T]:
        """Name of a database with pganon in which `prepare(database, ...)` was done, once.

        Tests start from copies of it. So what many tests begin with, such as a release, takes the
        time of one.

        Returns:
            The name of the database, and what `prepare` gave.
        """
        key = (prepare, *arguments)
        if key not in self._prepared:
            database = Database(self, f"{self._prefix}_prepared_{len(self._prepared)}")
            self.create_database(database.name, self.template())
            given = prepare(database, *arguments)
            database.disconnect()
            self._prepared[key] = database.name, given
        return self._prepared[key]

    def new_name(self) -> str:
        self._count += 1
        return f"{self._prefix}_{self._count}"

    def create_database(self, name: str, template: str) -> None:
        """A copy of a template in which `steward` and `source_owner` may create schemas."""
        admin = self._administrator()
        self._drop_left()
        # Copying files is cheaper than logging blocks; older servers know nothing else.
        strategy = " STRATEGY file_copy" if admin.info.server_version >= 150000 else ""
        statement = sql.SQL("CREATE DATABASE {} TEMPLATE {}" + strategy)
        admin.execute(statement.format(sql.Identifier(name), sql.Identifier(template)))
        # CREATE DATABASE does not copy the privileges of its template.
        admin.execute(
            sql.SQL("GRANT CREATE ON DATABASE {} TO steward, source_owner").format(
                sql.Identifier(name)
            )
        )

    def create_encoded(self, name: str, encoding: str) -> None:
        """A bare database of another encoding, in which `steward` may create schemas."""
        admin = self._administrator()
        provider = " LOCALE_PROVIDER libc" if admin.info.server_version >= 150000 else ""
        statement = sql.SQL(
            "CREATE DATABASE {} TEMPLATE template0 ENCODING {} LC_COLLATE 'C' LC_CTYPE 'C'"
            + provider
        )
        admin.execute(statement.format(sql.Identifier(name), sql.Literal(encoding)))
        admin.execute(
            sql.SQL("GRANT CREATE ON DATABASE {} TO steward").format(sql.Identifier(name))
        )

    def drop_database(self, name: str) -> None:
        self._administrator().execute(
            sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
        )

    def leave_database(self, name: str) -> None:
        """End its sessions, and have it dropped before another one is made.

        DROP DATABASE looks whether sessions have ended once in 100 ms, and they hardly ever have at
        once.
        """
        self._administrator().execute(
            "SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity AS a WHERE a.datname = %s",
            [name],
        )
        self._left.append(name)

    def _drop_left(self) -> None:
        """Drop databases that were left, except those that still have sessions."""
        busy = "SELECT DISTINCT a.datname FROM pg_stat_activity AS a WHERE a.datname = ANY (%s)"
        found = self._administrator().execute(busy, [self._left]).fetchall() if self._left else []
        waiting = [name for (name,) in found]
        for name in self._left:
            if name not in waiting:
                self.drop_database(name)
        self._left = waiting

    def _administrator(self) -> Connection:
        """One connection for all databases that are made and dropped."""
        if self._admin is None or self._admin.closed or self._admin.broken:
            self._admin = self.admin()
        return self._admin

    def create_roles(self) -> None:
        """The test roles; several test processes may share a given server."""
        with self.admin() as admin, admin.transaction():
            admin.execute("SELECT pg_advisory_xact_lock(7161736300452070)")
            for role in ROLES:
                if admin.execute("SELECT FROM pg_roles WHERE rolname = %s", [role]).rowcount == 0:
                    admin.execute(
                        sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(
                            sql.Identifier(role), sql.Literal(PASSWORD)
                        )
                    )

    def disconnect(self) -> None:
        if self._admin is not None:
            self._admin.close()

    def close(self) -> None:
        if self.cluster is None:  # else they go with the server
            prepared = [name for name, _ in self._prepared.values()]
            for name in (*self._left, *self._templates.values(), *prepared):
                self.drop_database(name)
        self.disconnect()
        self.stop()


class Database:
    """One test's own database; `pganon` is installed in it unless it is a bare one."""

    def __init__(self, server: Server, name: str) -> None:
        self.server = server
        self.name = name
        self._open: list[Connection] = []
        self._admin: Connection | None = None

    def dsn(self, role: str = "steward") -> str:
        """Connection string of one of the roles steward, analyst, source_owner."""
        return self.server.dsn_of(role, self.name)

    @property
    def admin_dsn(self) -> str:
        return self.server.dsn_of(None, self.name)

    def connect(self, role: str = "steward") -> Connection:
        """A connection as pganon makes them (preamble, autocommit); closed with the test."""
        conn = database.connect(self.dsn(role))
        self._open.append(conn)
        return conn

    def owner(self) -> Connection:
        """A connection of the steward as the owner of pganon, which its logging in made it."""
        conn = self.connect("steward")
        database.set_role(conn, "steward")
        return conn

    @property
    def admin(self) -> Connection:
        """A plain autocommit connection of the administrator."""
        if self._admin is None or self._admin.closed:
            self._admin = self.server.admin(self.name)
            self._open.append(self._admin)
        return self._admin

    def source(self, text: str, *, grant: bool = True) -> None:
        """Run SQL as `source_owner`; then let `steward` read every table that role owns."""
        with psycopg.connect(self.dsn("source_owner"), autocommit=True) as conn:
            conn.execute(text.encode())
            if grant:
                conn.execute(_GRANT_SOURCES)

    @property
    def version(self) -> int:
        """Major version of the server."""
        return self.admin.info.server_version // 10000

    def disconnect(self) -> None:
        """Close all connections, of which a server does not take many hundreds."""
        for conn in self._open:
            conn.close()
        self._open.clear()

    def close(self) -> None:
        self.disconnect()
        self.server.leave_database(self.name)


_GRANT_SOURCES = b"""
DO $$
DECLARE statement text;
BEGIN
    FOR statement IN
        SELECT format('GRANT USAGE ON SCHEMA %I TO steward', n.nspname)
        FROM pg_namespace AS n WHERE pg_get_userbyid(n.nspowner) = current_user
        UNION ALL
        SELECT format('GRANT SELECT ON %s TO steward', c.oid::regclass)
        FROM pg_class AS c
        WHERE pg_get_userbyid(c.relowner) = current_user AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND NOT c.relispartition AND c.relpersistence <> 't'
    LOOP
        EXECUTE statement;
    END LOOP;
END
$$
"""


class CrashableServer:
    """A server of one test that may be killed; pganon is installed in its database."""

    def __init__(self, binaries: Path) -> None:
        self._server = start_cluster(binaries, "wal_level=replica")
        self._database = Database(self._server, self._server.new_name())
        self._server.create_database(self._database.name, self._server.template())
        self._replica: embedded.DataDirectory | None = None

    @property
    def _cluster(self) -> DataDirectory:
        assert self._server.cluster is not None
        return self._server.cluster

    def dsn(self, role: str = "steward") -> str:
        return self._database.dsn(role)

    def connect(self, role: str = "steward") -> Connection:
        return self._database.connect(role)

    def source(self, text: str) -> None:
        self._database.source(text)

    def crash(self) -> None:
        """Kill the postmaster; its backends notice and end, unwritten buffers are lost."""
        pid = int((self._cluster.data_dir / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)
        _patiently(lambda: os.kill(pid, 0), until=ProcessLookupError)

    def restart(self) -> None:
        """Start again; the server recovers from its log first."""
        for attempt in range(400):
            try:
                return self._cluster.start()
            except DatabaseError:
                # Backends of the killed server may still hold its shared memory.
                if attempt == 399:
                    raise
                time.sleep(0.25)

    def replica(self) -> str:
        """Start a copy that stays in recovery; the connection string of `steward` on it."""
        self._database.disconnect()
        self._server.disconnect()
        self._cluster.stop()
        copy = replace(self._cluster, home=self._cluster.home.with_name("replica"))
        subprocess.run(["cp", "-a", self._cluster.home, copy.home], check=True)
        (copy.data_dir / "standby.signal").touch()
        self._replica = copy
        self._cluster.start()
        copy.start()
        return conninfo.make_conninfo(
            copy.dsn(), dbname=self._database.name, user="steward", password=PASSWORD
        )

    def close(self) -> None:
        for conn in self._database._open:
            conn.close()
        self._server.disconnect()
        if self._replica is not None:
            self._replica.remove()
        self._cluster.remove()
        shutil.rmtree(self._cluster.home.parent, ignore_errors=True)


def _patiently(act: Callable[[], object], *, until: type[Exception]) -> None:
    for _ in range(2400):
        try:
            act()
        except until:
            return
        time.sleep(0.05)
    raise TimeoutError


def _memory() -> Path | None:
    """A folder in memory, where a new database takes a tenth of the time; None without one."""
    folder = Path("/dev/shm")
    roomy = folder.is_dir() and shutil.disk_usage(folder).free > _ROOM
    return folder if roomy and os.access(folder, os.W_OK) else None


def start_cluster(binaries: Path, *options: str) -> Server:
    """A server of our own in a temporary folder, reached through a socket only."""
    parent = Path(tempfile.mkdtemp(prefix="pganon-test-", dir=_memory()))
    parent.chmod(0o755)
    since = _SINCE_18 if (_major(binaries) or 0) >= 18 else ()
    settings = (*_OPTIONS, *since, *options)
    cluster = DataDirectory(binaries, parent / "pg", embedded.server_user(), settings)
    cluster.start()

    def stop() -> None:
        cluster.remove()
        shutil.rmtree(parent, ignore_errors=True)

    server = Server(cluster.dsn(), stop, cluster)
    server.create_roles()
    return server


def _start_fast(binaries: Path) -> Server:
    often = OFTEN if os.environ.get("PGANON_TEST_AUTOVACUUM") == "often" else ()
    return start_cluster(binaries, "synchronous_commit=off", *often)


def find_origins() -> list[Origin]:
    """Servers in order of preference: the first, and others of further major versions."""
    given = os.environ.get("PGANON_TEST_DSN")
    if given:
        return [_given(given)]
    named = named_majors()
    if named:
        every = _by_major([*_binaries(), *map(fetch_servers.binaries, fetch_servers.PACKAGES)])
        return [every.get(major, Origin(f"pg{major}", major, None)) for major in named]
    found = _by_major(_binaries())
    if not found:
        container = _container()
        return [container] if container else []
    return list(found.values())[:2]


def named_majors() -> list[int]:
    """The versions that PGANON_TEST_SERVERS asks for; none: tests take what they find."""
    return [int(word) for word in os.environ.get("PGANON_TEST_SERVERS", "").split()]


def _by_major(folders: list[Path]) -> dict[int, Origin]:
    """Origins by major version; the first folder of a version counts."""
    found: dict[int, Origin] = {}
    for binaries in folders:
        major = _major(binaries)
        if major is not None and major not in found and (binaries / "postgres").exists():
            start = partial(_start_fast, binaries)
            found[major] = Origin(f"pg{major}", major, start, binaries)
    return found


def _binaries() -> list[Path]:
    packaged = embedded.package_binaries()
    local = sorted(
        (path for path in fetch_servers.LOCAL.glob("*/bin") if (path / "initdb").exists()),
        key=lambda path: path.parent.name.zfill(4),
        reverse=True,
    )
    return [*([packaged] if packaged else []), *local]


def _major(binaries: Path) -> int | None:
    name = binaries.parent.name.removeprefix("pginstall")
    return int(name) if name.isdigit() else None


def _given(dsn: str) -> Origin:
    with psycopg.connect(dsn) as conn:
        major = conn.info.server_version // 10000

    def start() -> Server:
        server = Server(dsn)
        server.create_roles()
        return server

    return Origin(f"pg{major}", major, start)


def _container() -> Origin | None:
    try:
        from testcontainers.postgres import PostgresContainer

        import docker

        docker.from_env().ping()
    except Exception:
        return None

    def start() -> Server:
        container = PostgresContainer("postgres:18", driver=None)
        container.start()
        server = Server(container.get_connection_url(), container.stop)
        server.create_roles()
        return server

    return Origin("pg18", 18, start)
