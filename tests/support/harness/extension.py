"""Servers that find the files of an extension in a folder of a test.

PostgreSQL 18 looks into folders that a database names. Earlier servers look into their own folder
alone, so they run from copies of their programs, which find their folders relative to themselves.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database, Server, start_cluster

CONTROL_PATH = 18
"""The first version with `extension_control_path`."""
_PROGRAMS = ("initdb", "pg_ctl", "postgres", "pg_dump", "pg_restore")


@contextmanager
def able(server: Server) -> Iterator[Server]:
    """The server, or one of the same version whose extensions a test can change."""
    with server.admin() as admin:
        major = admin.info.server_version // 10000
    if major >= CONTROL_PATH:
        yield server
        return
    binaries = server.cluster.bin_dir if server.cluster else None
    if binaries is None or not (binaries / "pg_config").exists():
        pytest.skip(f"needs the programs of PostgreSQL {major}, to give it files of an extension")
    with tempfile.TemporaryDirectory(prefix="pganon-server-") as name:
        Path(name).chmod(0o755)
        running = start_cluster(_copy(binaries, Path(name)))
        try:
            yield running
        finally:
            running.close()


def _asked(binaries: Path, what: str) -> Path:
    done = subprocess.run(
        [binaries / "pg_config", f"--{what}"], capture_output=True, text=True, check=True
    )
    return Path(done.stdout.strip())


def _copy(binaries: Path, folder: Path) -> Path:
    """A server's programs with a folder of extensions of their own; the rest are links."""
    share = _asked(binaries, "sharedir")
    library = _asked(binaries, "pkglibdir")
    common = Path(os.path.commonpath([binaries, share, library]))
    copied, extensions = folder / binaries.relative_to(common), share / "extension"
    copied.mkdir(parents=True)
    for program in _PROGRAMS:
        shutil.copy2((binaries / program).resolve(), copied / program)
    (folder / library.relative_to(common)).parent.mkdir(parents=True, exist_ok=True)
    for place in {binaries.parent / "lib", library}:
        target = folder / place.relative_to(common)
        if place.exists() and not target.exists():
            target.symlink_to(place)
    for entry in [*share.iterdir(), *extensions.iterdir()]:
        target = folder / entry.relative_to(common)
        target.parent.mkdir(parents=True, exist_ok=True)
        if entry != extensions:
            target.symlink_to(entry)
    return copied


def offer(db: Database, folder: Path) -> None:
    """Let the server of a database find the files in `folder/extension` and no others of pganon."""
    if db.version >= CONTROL_PATH:
        statement = sql.SQL("ALTER DATABASE {} SET extension_control_path = {}")
        path = sql.Literal(f"$system:{folder}")
        db.admin.execute(statement.format(sql.Identifier(db.name), path))
        db.disconnect()
        return
    assert db.server.cluster is not None
    place = db.server.cluster.bin_dir / _to_extensions(db.server.cluster.bin_dir)
    for path in place.glob("pganon*"):
        path.unlink()
    for path in (folder / "extension").iterdir():
        shutil.copy(path, place)


def _to_extensions(copied: Path) -> Path:
    """From the copied programs to the copied folder of extensions."""
    root = next(path for path in copied.parents if path.name.startswith("pganon-server-"))
    (control,) = root.rglob("plpgsql.control")
    return Path(os.path.relpath(control.parent, copied))
