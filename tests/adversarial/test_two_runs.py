"""Fault: several sessions at once on the same or on different releases."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pganon.errors import DatabaseError, PganonError
from pganon.publish import lifecycle, transaction
from pganon.run.tables import clean
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

MIDDLE = "partition.cells"


def _busy(act: Callable[[], object]) -> None:
    """Refused at once: who waited for a lock that is held would end with a state of the server."""
    with pytest.raises(PganonError) as caught:
        act()
    assert (caught.value.code, caught.value.exit_code) == ("busy", 2)
    assert not isinstance(caught.value, DatabaseError), "the second had to wait"


@pytest.mark.slow
def test_one_run_per_release(db: Database, tmp_path: Path) -> None:
    """While a run goes on, a second one, a rollback and a drop of the release are refused."""
    db.source(faults.SOURCE)
    faults.run(db.dsn())
    faults.run(db.dsn())
    conn = db.owner()
    before = faults.content(conn)
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(faults.POLICY))

    def others() -> None:
        _busy(lambda: faults.run(db.dsn()))
        _busy(lambda: lifecycle.show_earlier(conn, "patients"))
        _busy(lambda: lifecycle.drop(conn, "patients"))
        ran = pganon("run", str(file), "--dsn", db.dsn(), "--json")
        assert (ran.code, ran.json["error"]["code"]) == (2, "busy")
        assert pganon("clean", "--dsn", db.dsn()).code == 0  # leaves the live run alone
        assert clean(conn).tables == 0
        assert faults.content(conn) == before

    hook = faults.at(MIDDLE, others)
    assert faults.run(db.dsn(), before=hook).version == 3
    assert hook.reached  # type: ignore[attr-defined]
    # A run that was refused for another one leaves no trace.
    assert faults.events(conn) == ["started", "released"] * 3
    assert lifecycle.show_earlier(conn, "patients").now == 2


@pytest.mark.parametrize(
    ("other", "steps"),
    [("patient", (MIDDLE,)), ("stranger", (MIDDLE, "publish.publish"))],
    ids=["same people", "others"],
)
def test_two_releases_at_once(db: Database, other: str, steps: tuple[str, ...]) -> None:
    """Runs of different releases work side by side, about other people also while they publish."""
    db.source(faults.SOURCE)
    db.source(faults.SOURCE.replace("public.patient", "public.stranger").replace("% 5", "% 7"))
    together = threading.Barrier(2, timeout=faults.LONG)
    failures: list[BaseException] = []

    def one(name: str, source: str) -> None:
        def meet(step: str) -> None:
            if step in steps:
                together.wait()

        try:
            table = f"public.{source}"
            declared = faults.policy(release=name, source=table, republication="allow")
            faults.run(db.dsn(), declared, before=meet)
        except BaseException as error:
            failures.append(error)
            together.abort()

    asked = [("patients", "patient"), ("others", other)]
    threads = [threading.Thread(target=one, args=names) for names in asked]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(90)
    assert not failures
    conn = db.owner()
    for view in ("published.patients", "published.others"):
        faults.guarantee_holds(conn, view)
    assert faults.run_tables(conn) == []
    assert faults.exposed(conn) == []


@pytest.mark.slow
def test_a_run_inside_a_run_of_another_release(db: Database) -> None:
    """The clean-up of the inner run takes nothing from the outer one."""
    db.source(faults.SOURCE)
    allowed = [faults.policy(release=n, republication="allow") for n in ("patients", "inner")]
    hook = faults.at("recode.records", lambda: faults.run(db.dsn(), allowed[1]))
    assert faults.run(db.dsn(), allowed[0], before=hook).version == 1
    assert faults.version(db.owner(), "inner") == 1


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_readers_are_not_blocked(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an open transaction reads cannot be dropped: publication gives up, nothing changes."""
    monkeypatch.setattr(transaction, "LOCK_TIMEOUT", "200ms")
    monkeypatch.setattr(transaction, "PAUSES", (0.1,))
    one = faults.policy(publish={"readers": ["analyst"], "keep": 1})
    db.source(faults.SOURCE)
    faults.run(db.dsn(), one)
    conn = db.owner()
    reader: Any = db.connect("analyst")
    with reader.transaction():
        assert reader.execute("SELECT count(*) FROM published.patients").fetchone() == (24,)
        with pytest.raises(PganonError) as caught:
            faults.run(db.dsn(), one)
        assert caught.value.code == "in_use"
        assert reader.execute("SELECT count(*) FROM published.patients").fetchone() == (24,)
        assert faults.version(conn) == 1
        assert faults.run_tables(conn) == []
    assert faults.run(db.dsn(), one).version == 2
    assert faults.run_tables(conn) == []
