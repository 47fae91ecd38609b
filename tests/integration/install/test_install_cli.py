"""`pganon init`, `upgrade`, `uninstall`, and how every command reports."""

import pytest

from pganon import install
from pganon.cli import common
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database


def test_init_twice(bare_db: Database):
    first = pganon("init", "--dsn", bare_db.dsn())
    assert first.code == 0
    assert f'is installed in the database {bare_db.name}, owner "steward"' in first.out
    second = pganon("--dsn", bare_db.dsn(), "init")
    assert second.code == 0
    assert second.out.startswith("nothing to do")


def test_option_after_the_command_wins(bare_db: Database):
    assert pganon("--dsn", "host=/nowhere", "init", "--dsn", bare_db.dsn()).code == 0


def test_json(db: Database):
    done = pganon("uninstall", "--purge", "--json", "--dsn", db.dsn())
    assert done.code == 0
    assert done.json["action"] == "uninstall"
    assert done.json["kept"] == []


def test_database_errors_exit_3(bare_db: Database):
    done = pganon("upgrade", "--dsn", bare_db.dsn())
    assert done.code == 3
    assert "error: pganon is not installed" in done.err
    assert "hint: run `pganon init`" in done.err
    host = bare_db.connect().info.host
    assert f"server: database {bare_db.name} on {host}" in done.err
    assert done.err.endswith("role steward (from --dsn)\n")
    assert done.out == ""
    done = pganon("upgrade", "--json", "--dsn", bare_db.dsn())
    assert done.json["error"]["code"] == "missing"
    assert done.err == ""


def test_server_errors_are_translated(bare_db: Database, monkeypatch):
    def fail(conn, **given):
        conn.execute("SELECT 'a secret'::integer")

    monkeypatch.setattr(install, "init", fail)
    done = pganon("init", "--dsn", bare_db.dsn())
    assert done.code == 3
    assert "22P02" in done.err
    assert "secret" not in done.err


@pytest.mark.parametrize("arguments", [["nonsense"], ["init", "--nonsense"], ["import"], []])
def test_usage_errors_exit_2(arguments):
    assert pganon(*arguments).code == 2


def test_usage_errors_as_json():
    done = pganon("init", "--nonsense", "--json")
    assert done.code == 2
    assert done.json["error"]["code"] == "usage"


def test_unexpected_errors_exit_4_without_a_traceback(monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a secret")

    monkeypatch.setattr(common, "connect", fail)
    monkeypatch.delenv("PGANON_DEBUG", raising=False)
    done = pganon("init")
    assert done.code == 4
    assert "internal error (RuntimeError)" in done.err
    assert "secret" not in done.err + done.out


def test_version():
    assert pganon("--version").out.startswith("pganon 0.")


def test_tables_show_brackets_as_they_are(capsys):
    common.table(["[bold]x"], [["[red]y"]])
    assert "[bold]x" in (shown := capsys.readouterr().out)
    assert "[red]y" in shown
