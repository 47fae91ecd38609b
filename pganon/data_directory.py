"""A PostgreSQL server of pganon's own, in a private folder and reached through a Unix socket."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import conninfo, pq, sql

from pganon.error_codes import ErrorCode
from pganon.errors import DatabaseError, PreconditionError

PORT = 5432
SUPERUSER = "postgres"
USER = "pganon"
"""Role of commands, which is no superuser but may make databases and roles; and its database."""
_START_SECONDS = 120
# A Unix socket's path has at most 103 bytes on every platform; ".s.PGSQL.5432.lock" is added.
_MAX_SOCKET_DIR = 84


@dataclass(frozen=True)
class DataDirectory:
    """One data directory, reached through a Unix socket only; nothing listens on a network.

    Authentication is `trust`: the socket's folder is closed to everybody but the server's user. Its
    path has a limit; where `home` is too deep, `socket-folder` in it is a link to one of a random
    name below the system's temporary one, where anybody can make folders. So the owner of the
    folder is checked before it is used, and libpq checks whose server answers.

    Attributes:
        bin_dir: folder with initdb, pg_ctl and postgres.
        home: private folder that holds `data`, the log, and the socket or a link to its folder.
        user: operating system user to run as; only root may name one. None: that of the process.
        options: further `name=value` settings of the server.
    """

    bin_dir: Path
    home: Path
    user: str | None = None
    options: tuple[str, ...] = ()

    @property
    def data_dir(self) -> Path:
        return self.home / "data"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    @property
    def uid(self) -> int:
        """Number of the user that the server runs as."""
        return pwd.getpwnam(self.user).pw_uid if self.user else os.geteuid()

    @property
    def socket_dir(self) -> Path:
        """Folder of the socket, made or not; its link while a folder elsewhere is not made."""
        link = self._socket_link
        if link is None:
            return self.home / "socket"
        return link.readlink() if link.is_symlink() else link

    @property
    def _socket_link(self) -> Path | None:
        """Link to the folder of the socket; None: its path at home is short enough."""
        return None if _is_short(self.home / "socket") else self.home / "socket-folder"

    def dsn(self, dbname: str = "postgres", user: str = SUPERUSER) -> str:
        """How to connect; libpq refuses a server of another user of the machine.

        Raises:
            PreconditionError: the folder of the socket is not private.
        """
        folder = self.socket_dir
        if os.path.lexists(folder) and not self._is_private(folder):
            raise _not_private(folder)
        where = {"host": str(folder), "port": PORT, "dbname": dbname, "user": user}
        with contextlib.suppress(KeyError):  # not every user has a name
            where["requirepeer"] = pwd.getpwuid(self.uid).pw_name
        return conninfo.make_conninfo("", **where)

    def running(self) -> bool:
        """Whether a server answers on the socket; raises as :meth:`dsn` does."""
        if not self.socket_dir.exists():
            return False
        answer = pq.PGconn.ping(self.dsn().encode() + b" connect_timeout=5")
        return answer in (pq.Ping.OK, pq.Ping.REJECT)

    def create(self) -> None:
        """Create the data directory; does nothing if it exists."""
        self.make_private(self.home)
        if (self.data_dir / "PG_VERSION").exists():
            return
        version = self._run("postgres", "--version").split()[-1]
        builtin = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8")
        # A half-made data directory of an interrupted initdb would be refused.
        if self.data_dir.exists():
            shutil.rmtree(self.data_dir)
        self._run(
            "initdb",
            "--pgdata",
            str(self.data_dir),
            "--username",
            SUPERUSER,
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            *(builtin if int(version.split(".")[0]) >= 17 else ()),
            "--no-sync",
        )

    def start(self) -> None:
        """Create if needed, start and wait until the server answers."""
        self.make_private(self.home)
        with self._lock():
            self._make_socket_dir()
            if self.running():
                return
            self.create()
            settings = (
                f"port={PORT}",
                "listen_addresses=",
                f"unix_socket_directories={self.socket_dir}",
                "unix_socket_permissions=0700",
                *self.options,
            )
            self._pg_ctl(
                "start",
                "--wait",
                f"--timeout={_START_SECONDS}",
                "--log",
                str(self.log),
                "--options",
                " ".join(f"-c '{setting}'" for setting in settings),
            )

    def provide(self) -> str:
        """Start, and give the connection string of :data:`USER`, no superuser, in its database."""
        self.start()
        name = sql.Identifier(USER)
        with psycopg.connect(self.dsn(), autocommit=True) as conn, self._lock():
            if not conn.execute("SELECT FROM pg_roles WHERE rolname = %s", [USER]).rowcount:
                conn.execute(sql.SQL("CREATE ROLE {} LOGIN CREATEDB CREATEROLE").format(name))
                # Who makes a role may give it a database.
                conn.execute(sql.SQL("ALTER ROLE {} SET createrole_self_grant = set").format(name))
            if not conn.execute("SELECT FROM pg_database WHERE datname = %s", [USER]).rowcount:
                conn.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(name, name))
        return self.user_dsn

    @property
    def user_dsn(self) -> str:
        return self.dsn(USER, USER)

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> bool:
        """Stop the server; False when none ran."""
        if not (self.data_dir / "postmaster.pid").exists():
            return False
        if self._process("pg_ctl", "status", "--pgdata", str(self.data_dir)).returncode != 0:
            return False
        self._pg_ctl("stop", "--wait", f"--timeout={_START_SECONDS}", f"--mode={mode}")
        return True

    def remove(self) -> None:
        """Stop at once and delete everything."""
        self.stop("immediate")
        for folder in (self.socket_dir, self.home):
            shutil.rmtree(folder, ignore_errors=True)

    def _pg_ctl(self, action: str, *arguments: str) -> None:
        self._run("pg_ctl", action, "--silent", "--pgdata", str(self.data_dir), *arguments)

    def _run(self, program: str, *arguments: str) -> str:
        done = self._process(program, *arguments)
        if done.returncode != 0:
            raise DatabaseError(
                f"{program} failed with exit code {done.returncode}: {_last_line(done.stdout)}",
                hint=f"the server's log is {self.log}",
            )
        return done.stdout

    def _process(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        # A file, not a pipe: the postmaster would keep a pipe open and reading would never end.
        with tempfile.TemporaryFile("w+") as output:
            done = subprocess.run(  # noqa: S603
                [str(self.bin_dir / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd="/",
                env={k: v for k, v in os.environ.items() if not k.startswith("PG")},
                user=self.user,
                group=pwd.getpwnam(self.user).pw_gid if self.user else None,
                extra_groups=[] if self.user else None,
                check=False,
            )
            output.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, output.read())

    def make_private(self, path: Path) -> None:
        """A folder that only the server's user may enter; refuse links and somebody else's."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
        try:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            raise _not_private(path) from None
        try:
            if os.fstat(folder).st_uid not in (self.uid, os.geteuid()):
                raise _not_private(path)
            os.fchown(folder, self.uid, -1)
            os.fchmod(folder, 0o700)
        finally:
            os.close(folder)

    def _make_socket_dir(self) -> None:
        if self._socket_link is None:
            self.make_private(self.socket_dir)
        elif not self._is_private(self.socket_dir):
            made = _temporary_folder()
            self.make_private(made)
            self._socket_link.unlink(missing_ok=True)
            self._socket_link.symlink_to(made)

    def _is_private(self, folder: Path) -> bool:
        try:
            status = folder.lstat()
        except OSError:
            return False
        closed = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
        return closed and status.st_uid == self.uid

    @contextmanager
    def _lock(self) -> Iterator[None]:
        path = self.home / "lock"
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise PreconditionError(f"{path} cannot be used: {error.strerror}") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _is_short(folder: Path) -> bool:
    return len(os.fsencode(folder)) <= _MAX_SOCKET_DIR


def _temporary_folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="pganon-"))
    if _is_short(made):
        return made
    made.rmdir()
    return Path(tempfile.mkdtemp(prefix="pganon-", dir="/tmp"))


def _not_private(folder: Path) -> PreconditionError:
    return PreconditionError(
        f"the folder {folder} belongs to another user, is a link, or is open to others",
        hint="choose another PGANON_HOME; if the server runs, stop it: `pganon server stop`",
        code=ErrorCode.NOT_PRIVATE,
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"
