"""Databases whose server finds the files of an extension."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from pganon.install import scripts, state
from tests.support.harness import extension
from tests.support.harness.cluster import Database, Server

Make = Callable[[], Database]


@pytest.fixture(scope="session")
def able_server(server: Server) -> Iterator[Server]:
    """The server, or one of its version whose extensions tests can change."""
    with extension.able(server) as found:
        yield found


@pytest.fixture
def files() -> Iterator[Path]:
    """A folder with this program's files of the extension.

    Not below that of pytest, which the server's user may not enter.
    """
    with tempfile.TemporaryDirectory(prefix="pganon-files-") as name:
        Path(name).chmod(0o755)
        scripts.build(Path(name), state.program_version())
        yield Path(name)


@pytest.fixture
def new_db(able_server: Server, files: Path) -> Iterator[Make]:
    """Makes databases without pganon, on a server that has the files."""
    with ExitStack() as made:

        def make() -> Database:
            db = Database(able_server, able_server.new_name())
            able_server.create_database(db.name, able_server.template(installed=False))
            made.callback(db.close)
            extension.offer(db, files)
            return db

        yield make


@pytest.fixture
def extension_db(new_db: Make) -> Database:
    """A database in which `steward` created the extension."""
    db = new_db()
    db.connect().execute("CREATE EXTENSION pganon")
    return db
