"""Attack: other users of the machine put folders, links and servers where pganon's own are."""

from __future__ import annotations

import fcntl
import os
import pwd
import socket
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pganon import embedded
from pganon.data_directory import PORT, DataDirectory
from pganon.errors import PreconditionError

ELSE = 65534
"""A user of the machine who is nobody here."""

pytestmark = pytest.mark.primary_server_only
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder below which a socket's path is too long; temporary files are beside it."""
    with tempfile.TemporaryDirectory(prefix="pganon-") as folder:
        base = Path(folder)
        base.chmod(0o755)
        (base / "tmp").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(base / "tmp"))
        yield base / ("x" * 90)


def _directory(home: Path) -> DataDirectory:
    return DataDirectory(Path("/nowhere"), home, embedded.server_user())


def _prepared(home: Path) -> DataDirectory:
    """As if it had been started before."""
    cluster = _directory(home)
    cluster.make_private(home)
    cluster._make_socket_dir()
    return cluster


def test_the_folder_of_a_socket_cannot_be_foreseen(home: Path) -> None:
    cluster = _prepared(home)
    folder = cluster.socket_dir
    status = folder.lstat()
    assert folder.parent == Path(tempfile.gettempdir())
    assert stat.S_IMODE(status.st_mode) == 0o700
    assert status.st_uid == cluster.uid
    cluster._make_socket_dir()
    assert cluster.socket_dir == folder, "it stays as long as it is there"
    folder.rmdir()
    cluster._make_socket_dir()
    assert cluster.socket_dir != folder


def test_temporary_folders_may_be_too_deep_themselves(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    cluster = _prepared(home)
    try:
        assert cluster.socket_dir.parent == Path("/tmp")
    finally:
        cluster.socket_dir.rmdir()


@as_root
def test_nobody_connects_to_a_socket_in_a_folder_of_others(home: Path) -> None:
    cluster = _prepared(home)
    taken = cluster.socket_dir
    os.chown(taken, ELSE, -1)
    for ask in (cluster.dsn, cluster.running, lambda: cluster.user_dsn):
        with pytest.raises(PreconditionError, match="belongs to another user"):
            ask()
    cluster._make_socket_dir()
    assert cluster.socket_dir != taken
    cluster.dsn()


def test_a_folder_that_others_may_enter_is_not_private(home: Path) -> None:
    cluster = _prepared(home)
    cluster.socket_dir.chmod(0o711)
    with pytest.raises(PreconditionError):
        cluster.dsn()
    near = _prepared(home.with_name("near"))
    near.socket_dir.chmod(0o770)
    with pytest.raises(PreconditionError):
        near.dsn()
    near._make_socket_dir()
    near.dsn()


def test_a_link_is_no_folder(home: Path) -> None:
    near = _prepared(home.with_name("near"))
    real = home.with_name("real")
    near.socket_dir.rename(real)
    near.socket_dir.symlink_to(real)
    with pytest.raises(PreconditionError):
        near.dsn()
    for target in (real, home.with_name("nothing")):
        link = home.with_name(f"link-{target.name}")
        link.symlink_to(target)
        with pytest.raises(PreconditionError):
            near.make_private(link)


@as_root
def test_a_folder_of_others_is_not_taken_over(home: Path) -> None:
    squatted = home.with_name("squatted")
    squatted.mkdir()
    os.chown(squatted, ELSE, -1)
    with pytest.raises(PreconditionError):
        _directory(squatted).make_private(squatted)
    assert squatted.stat().st_uid == ELSE


@as_root
def test_a_server_of_another_user_is_not_spoken_to(home: Path) -> None:
    """Whoever gets into the folder between the look and the connection is found by libpq."""
    cluster = _prepared(home.with_name("near"))
    dsn = cluster.dsn()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(cluster.socket_dir / f".s.PGSQL.{PORT}"))
        listening.listen()
        with pytest.raises(psycopg.OperationalError, match="requirepeer"):
            psycopg.connect(dsn)
        assert not cluster.running()
        listening.settimeout(10)
        for _ in range(2):
            with listening.accept()[0] as caller:
                assert caller.recv(100) == b""


def test_users_without_a_name_connect_all_the_same(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    cluster = DataDirectory(Path("/nowhere"), home)
    assert "requirepeer" not in cluster.dsn()


def test_the_lock_empties_no_file(home: Path) -> None:
    cluster = _prepared(home)
    other = home.with_name("other")
    other.write_text("precious")
    (home / "lock").symlink_to(other)
    with pytest.raises(PreconditionError, match="lock"), cluster._lock():
        pass
    assert other.read_text() == "precious"
    (home / "lock").unlink()
    with cluster._lock(), (home / "lock").open() as another:
        assert stat.S_IMODE((home / "lock").lstat().st_mode) == 0o600
        with pytest.raises(BlockingIOError):
            fcntl.flock(another, fcntl.LOCK_EX | fcntl.LOCK_NB)


@as_root
def test_programs_are_copied_into_no_folder_of_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The home belongs to the server's user, who may put links there; root copies."""
    cluster = _prepared(home.with_name("near"))
    package = home.with_name("package") / "pginstall18" / "bin"
    package.mkdir(parents=True)
    (package / "postgres").write_text("")
    other = home.with_name("other")
    other.mkdir()
    (cluster.home / "server-pginstall18.part").symlink_to(other)
    copied = embedded._copy_binaries(DataDirectory(package, cluster.home, cluster.user))
    assert list(other.iterdir()) == []
    assert (copied / "postgres").exists()
    assert embedded._reachable(copied / "postgres", cluster.user or "")
