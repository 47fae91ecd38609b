"""Who may read a release and what became of it: readers, history, diff, drop."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
import typer

from pganon.cli import common
from pganon.cli.progress import progress_interval
from pganon.errors import LedgerError, UsageError
from pganon.publish import lifecycle, listing
from pganon.run import grants
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database


@pytest.fixture
def source(db_after: Any) -> Database:
    db, _ = db_after(faults.published)
    return db


def call(db: Database, *words: str, role: str = "steward") -> Any:
    ran = pganon(*words, "--json", "--dsn", db.dsn(role))
    assert ran.code == 0, ran.out
    return ran.json


def code(db: Database, *words: str, role: str = "steward") -> tuple[int, str]:
    ran = pganon(*words, "--json", "--dsn", db.dsn(role))
    return ran.code, ran.json["error"]["code"]


def test_readers_come_and_go_without_a_version(source: Database) -> None:
    conn = source.owner()
    shown = faults.content(conn)
    both = call(source, "readers", "patients", "--add", "source_owner")
    assert both["readers"] == ["analyst", "source_owner"]
    assert faults.content(source.connect("source_owner")) == shown
    assert faults.version(conn) == 1
    one = call(source, "readers", "patients", "--remove", "analyst", "--add", "source_owner")
    assert one["readers"] == ["source_owner"]
    with pytest.raises(Exception, match="permission denied"):
        faults.content(source.connect("analyst"))
    assert listing.releases(source.connect("analyst")) == []
    assert faults.events(conn) == ["started", "released", "readers", "readers"]
    assert faults.last_details(conn) == {"added": [], "removed": ["analyst"]}
    assert all(item.holds for item in lifecycle.verify(conn, "patients"))
    text = pganon("readers", "patients", "--add", "source_owner", "--dsn", source.dsn()).out
    assert text.startswith("nothing to do\n")
    assert faults.events(conn)[-1:] == ["readers"]
    assert len(faults.events(conn)) == 4
    # A run goes by the policy again.
    again = faults.run(source.dsn(), force=False)
    assert again.applied == ("readers added: analyst", "readers removed: source_owner")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("patients", "--add", "nobody_such"), (2, "missing_role")),
        (("patients", "--remove", "source_owner"), (2, "usage")),
        (("patients", "--add", "analyst", "--remove", "analyst"), (2, "usage")),
        (("patient", "--add", "analyst"), (2, "unknown_release")),
    ],
)
def test_readers_that_cannot_be(
    source: Database, words: tuple[str, ...], expected: tuple[int, str]
) -> None:
    conn = source.owner()
    assert code(source, "readers", *words) == expected
    assert faults.events(conn) == ["started", "released"]
    assert listing.show(conn, "patients").readers == ("analyst",)


def test_a_release_that_is_withdrawn_while_its_readers_are_judged(
    source: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn = source.owner()
    judged = grants.admitted

    @contextlib.contextmanager
    def meanwhile(*arguments: Any) -> Iterator[Any]:
        with judged(*arguments) as warnings:
            lifecycle.withdraw(conn, "patients")
            yield warnings

    monkeypatch.setattr(grants, "admitted", meanwhile)
    with pytest.raises(LedgerError) as caught:
        grants.change_readers(source.owner(), "patients", add=["source_owner"])
    assert caught.value.code == "unknown_version"
    assert "readers" not in faults.events(conn)


def test_readers_of_a_dropped_release(source: Database) -> None:
    lifecycle.drop(source.owner(), "patients")
    assert code(source, "readers", "patients", "--add", "source_owner") == (2, "unknown_version")
    assert call(source, "status")["releases"] == []
    assert [r["release"] for r in call(source, "status", "patients")["releases"]] == ["patients"]


def test_only_the_steward_changes_readers(source: Database) -> None:
    for words in (("readers", "patients", "--add", "source_owner"), ("history", "patients")):
        assert code(source, *words, role="analyst") == (3, "not_owner")
    assert code(source, "diff", "patients", role="analyst") == (3, "not_owner")
    hint = pganon("clean", "--json", "--dsn", source.dsn("analyst")).json["error"]["hint"]
    assert "CALL pganon.release('NAME')" in hint
    assert "--owner" not in hint
    source.admin.execute("GRANT steward TO analyst")
    try:
        hint = pganon("clean", "--json", "--dsn", source.dsn("analyst")).json["error"]["hint"]
        assert "--owner" in hint
    finally:
        source.admin.execute("REVOKE steward FROM analyst")


def test_who_can_really_read(source: Database) -> None:
    """Whatever the policy says: grants of the owner, members of readers, superusers."""
    group, member = f"group_{source.name}", f"member_{source.name}"
    source.admin.execute(f"CREATE ROLE {group}; CREATE ROLE {member} LOGIN".encode())
    try:
        source.admin.execute(f"GRANT {group} TO {member}".encode())
        steward = source.connect()
        steward.execute(f"GRANT USAGE ON SCHEMA published TO {group}".encode())
        steward.execute(f"GRANT SELECT (age) ON published.patients TO {group}".encode())
        found = {r["role"]: r for r in call(source, "show", "patients")["can_read"]}
        boss = source.admin.info.user
        assert found[boss]["because"] == "superuser"
        assert found["steward"]["because"] == "owner"
        assert found["analyst"]["because"] == "reader"
        assert found[group] == {"role": group, "because": f"through {group}", "login": False}
        assert found[member] == {"role": member, "because": f"through {group}", "login": True}
        assert "source_owner" not in found
        assert (
            f"{member} (through {group})" in pganon("show", "patients", "--dsn", source.dsn()).out
        )
        assert call(source, "readers", "patients")["can_read"] == list(found.values())
        steward.execute("GRANT SELECT ON published.patients TO PUBLIC")
        steward.execute("GRANT USAGE ON SCHEMA published TO PUBLIC")
        found = {r["role"]: r for r in call(source, "show", "patients")["can_read"]}
        assert found["source_owner"]["because"] == "through public"
        assert call(source, "show", "patients", role="analyst")["can_read"] is None
    finally:
        source.admin.execute(f"DROP OWNED BY {group}, {member}".encode())
        source.admin.execute(f"DROP ROLE {group}, {member}".encode())


@pytest.fixture
def lost(source: Database) -> str:
    """A reader of both versions of the release that was dropped since."""
    role = f"lost_{source.name}"
    source.admin.execute(f"CREATE ROLE {role}".encode())
    both = faults.policy(publish={"readers": ["analyst", role], "keep": 2})
    faults.run(source.dsn(), both)
    source.admin.execute(f"DROP OWNED BY {role}; DROP ROLE {role}".encode())
    return role


@pytest.mark.slow
def test_rollback_without_a_reader_that_was_dropped(source: Database, lost: str) -> None:
    ran = pganon("rollback", "patients", "--dsn", source.dsn())
    assert ran.code == 0
    assert f"warning: the reader {lost} is gone, or another role by now" in ran.err
    assert faults.content(source.connect("analyst"))
    assert faults.version(source.owner()) == 1
    back = call(source, "rollback", "patients", "--to", "2")
    assert back["missing_readers"] == [lost]


@pytest.mark.slow
def test_other_readers_beside_one_that_was_dropped(source: Database, lost: str) -> None:
    ran = pganon("readers", "patients", "--add", "source_owner", "--json", "--dsn", source.dsn())
    error = ran.json["error"]
    assert (ran.code, error["code"]) == (2, "missing_role")
    assert lost in error["message"]
    assert error["hint"] == "create the role, or `pganon readers patients --remove ROLE`"
    ran = pganon(
        "readers",
        "patients",
        "--add",
        "nobody_such",
        "--remove",
        lost,
        "--json",
        "--dsn",
        source.dsn(),
    )
    assert ran.json["error"]["hint"] == "create the role, or name another one"
    done = call(source, "readers", "patients", "--add", "source_owner", "--remove", lost)
    assert done["readers"] == ["analyst", "source_owner"]


@pytest.mark.slow
def test_views_made_again_without_a_reader_that_was_dropped(source: Database, lost: str) -> None:
    source.owner().execute("DROP VIEW published.patients_flat")
    done = faults.run(source.dsn(), force=False)
    assert done.applied[:2] == ("the views were made again", f"readers removed: {lost}")
    assert faults.content(source.connect("analyst"))


def test_who_can_become_a_reader(source: Database) -> None:
    """A member that inherits nothing reads after SET ROLE."""
    admin, member, barred = source.admin, f"quiet_{source.name}", f"barred_{source.name}"
    admin.execute(f"CREATE ROLE {member} LOGIN NOINHERIT; CREATE ROLE {barred} NOINHERIT".encode())
    try:
        admin.execute(f"GRANT analyst, pg_read_all_data TO {member}".encode())
        admin.execute(f"SET ROLE {member}".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            faults.content(admin)
        admin.execute("SET ROLE analyst")
        assert faults.content(admin)
        admin.execute("RESET ROLE")
        if source.version >= 16:
            admin.execute(f"GRANT analyst TO {barred} WITH SET FALSE, INHERIT FALSE".encode())
        found = {r["role"]: r for r in call(source, "show", "patients")["can_read"]}
        because = "can become analyst, pg_read_all_data"
        assert found[member] == {"role": member, "because": because, "login": True}
        assert barred not in found
        assert not [role for role in found if role.startswith("pg_")]
    finally:
        admin.execute("RESET ROLE")
        admin.execute(f"DROP ROLE {member}, {barred}".encode())


def test_show_marks_the_version_that_is_shown(source: Database) -> None:
    faults.run(source.dsn())
    lifecycle.show_earlier(source.owner(), "patients")
    lines = pganon("show", "patients", "--dsn", source.dsn()).out.splitlines()
    rows = {line.split()[0]: line.split()[-1] for line in lines if " mondrian " in line}
    assert rows == {"2": "stored", "1": "shown"}


def test_history(source: Database) -> None:
    faults.run(source.dsn(), force=False)
    call(source, "readers", "patients", "--add", "source_owner")
    with pytest.raises(Exception, match="a class needs at least 30"):
        faults.run(source.dsn(), faults.policy(privacy=[{"model": "k_anonymity", "k": 30}]))
    found = call(source, "history", "patients")
    names = ["started", "released", "started", "unchanged", "readers"]
    assert [row["event"] for row in found][:5] == names
    assert [row["version"] for row in found][:5] == [None, 1, None, 1, 1]
    assert {row["by_role"] for row in found} == {"steward"}
    text = pganon("history", "patients", "--dsn", source.dsn()).out
    assert "added source_owner" in " ".join(text.split())
    assert code(source, "history", "patient") == (2, "unknown_release")


def test_history_of_a_release_that_never_was(db: Database) -> None:
    """Runs that were refused are all that there is of it."""
    db.source(faults.SOURCE)
    with pytest.raises(Exception, match="records"):
        faults.run(db.dsn(), faults.policy(privacy=[{"model": "k_anonymity", "k": 30}]))
    assert [row["event"] for row in call(db, "history", "patients")] == ["started", "refused"]


def test_diff(source: Database) -> None:
    conn = source.owner()
    shown = {**faults.POLICY["columns"], "days": {"role": "insensitive", "as": "nights"}}
    source.source("DELETE FROM public.patient WHERE id = 24", grant=False)
    other = faults.policy(
        republication="allow", columns=shown, privacy=[{"model": "k_anonymity", "k": 7}]
    )
    faults.run(source.dsn(), other)
    found = call(source, "diff", "patients")
    assert (found["before"], found["after"]) == (1, 2)
    said = {(d["about"], d["what"]): (d["before"], d["after"]) for d in found["differences"]}
    assert said["policy", "privacy.k_anonymity.k"] == (8, 7)
    assert said["policy", "privacy.distinct_l_diversity(disease).l"] == (2, None)
    assert said["policy", "columns.days.as"] == (None, "nights")
    assert said["policy", "republication"] == (None, "allow")
    assert said["source", "rows"] == ("as they were then", "changed")
    assert said["records", "released"] == (24, 23)
    assert said["columns", "published.patients.days"] == ("integer", None)
    assert said["columns", "published.patients.nights"] == (None, "integer")
    assert said["measured", "distinct_l_diversity(disease)"][1] is None
    assert ("records", "suppressed") not in said
    assert ("policy", "source") not in said
    text = pganon("diff", "patients", "2", "1", "--dsn", source.dsn()).out
    assert "privacy.k_anonymity.k" in text
    assert text.index("version 2") < text.index("version 1")
    assert code(source, "diff", "patients", "1", "9") == (2, "unknown_version")
    lifecycle.show_earlier(conn, "patients")
    found = call(source, "diff", "patients")  # from what readers saw to what they see again
    assert (found["before"], found["after"]) == (2, 1)


def test_diff_of_an_only_version(source: Database) -> None:
    assert code(source, "diff", "patients") == (2, "unknown_version")


def test_versions_that_say_the_same(source: Database) -> None:
    faults.run(source.dsn())
    assert call(source, "diff", "patients")["differences"] == []
    text = pganon("diff", "patients", "--dsn", source.dsn()).out
    assert text == "versions 1 and 2 of patients say the same\n"


def test_drop_asks(source: Database) -> None:
    conn = source.owner()
    assert code(source, "drop", "patients") == (2, "not_confirmed")
    assert faults.version(conn) == 1
    assert (
        "drop patients with its versions 1" in pganon("drop", "patients", "--dsn", source.dsn()).err
    )
    assert call(source, "drop", "patients", "--yes")["dropped"] == [1]
    assert code(source, "drop", "patients") == (2, "not_stored")


@pytest.mark.parametrize("answer", [True, False])
def test_drop_on_a_terminal(
    source: Database, monkeypatch: pytest.MonkeyPatch, answer: bool
) -> None:
    asked: list[str] = []

    def confirm(question: str, **_: Any) -> bool:
        asked.append(question)
        return answer

    class Terminal:
        is_terminal = True

        def print(self, text: object, **_: Any) -> None:
            asked.append(str(text))

    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(common, "stderr", Terminal)
    monkeypatch.setattr(typer, "confirm", confirm)
    done = pganon("drop", "patients", "--json", "--dsn", source.dsn())
    assert source.name in asked[0]
    assert asked[1] == "drop patients with its versions 1 for good?"
    assert (done.code, faults.version(source.owner())) == ((0, None) if answer else (2, 1))


@pytest.mark.slow
def test_progress_without_a_terminal(
    db: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log shows now and then what a long run is about."""
    db.source(
        faults.SOURCE + "CREATE VIEW public.slow AS SELECT p.* FROM public.patient AS p,"
        " (SELECT pg_sleep(1)) AS s;"
    )
    file = tmp_path / "policy.json"
    file.write_text(
        json.dumps({**faults.POLICY, "source": "public.slow", "trust": ["source_owner"]})
    )
    run = ("run", str(file), "--dsn", db.dsn())
    monkeypatch.setenv("PGANON_PROGRESS", "0.2")
    lines = pganon(*run, "--force").err.splitlines()
    assert any(line.startswith("patients: snapshot: ") and line.endswith(" s)") for line in lines)
    assert not any("the last run took" in line for line in lines)
    again = pganon(*run, "--force").err
    assert re.search(
        r"^patients: snapshot: .* \(\d s; the last run took [1-9]\d* s\)$", again, re.M
    )
    assert pganon(*run, "--force", "--json").err == ""
    monkeypatch.setenv("PGANON_PROGRESS", "0")
    assert "snapshot" not in pganon(*run, "--force").err
    monkeypatch.setenv("PGANON_PROGRESS", "often")
    with pytest.raises(UsageError, match="PGANON_PROGRESS"):
        progress_interval()
    monkeypatch.delenv("PGANON_PROGRESS")
    assert progress_interval() == 10
