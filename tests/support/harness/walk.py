"""The commands about a release, one after the other, on a policy over the source of plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pganon.error_codes import ErrorCode
from pganon.policy.loader import LoadedPolicy
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database
from tests.support.harness.documents import embedded, valid

COLUMNS = ("id", "person", "age", "zip", "disease", "drug", "cost")
APPROVER = "source_owner"
NO_SERVER = {("report", "schema")}
TRUST = ("--trust", APPROVER)
UNATTACKED = frozenset({ErrorCode.USAGE, ErrorCode.REFUSED, ErrorCode.TOO_FEW_RECORDS})
"""There is no release of fewer people, a control group is too small, or the form is no target."""
QUERY = "SELECT count(*) AS n FROM visits WHERE age > 22"


@dataclass(frozen=True)
class Files:
    """What the commands are given, in a folder that the walk writes.

    Attributes:
        policy: of the release `visits`.
        approved: the same; a second person decides whether a version is shown.
        migrations: a folder with the first one.
    """

    folder: Path

    @property
    def policy(self) -> str:
        return str(self.folder / "visits.json")

    @property
    def approved(self) -> str:
        return str(self.folder / "approved.json")

    @property
    def migrations(self) -> str:
        return str(self.folder / "migrations")

    def write(self, document: dict[str, Any]) -> None:
        publish = {**document["publish"], "approval": {"by": [APPROVER]}}
        approved = {**document, "publish": publish, "requests": {"roles": ["analyst"]}}
        Path(self.migrations).mkdir()
        for file, text in (
            (Path(self.policy), document),
            (Path(self.approved), approved),
            (Path(self.migrations) / "0001_visits.json", document),
        ):
            file.write_text(json.dumps(text), "utf-8")


@dataclass(frozen=True)
class Command:
    """One call.

    Attributes:
        role: who logs in.
        may: codes of errors that are an answer, too.
        asked: whether the steward asks for a release before.
    """

    arguments: tuple[str, ...]
    role: str = "steward"
    may: frozenset[str] = frozenset()
    asked: bool = False


def commands(files: Files, *, alone: bool = False) -> Iterator[Command]:
    """In an order in which each can be given; `visits` is the release.

    Args:
        alone: without requests and migrations.
    """
    folder = files.folder
    policy, table = files.policy, str(folder / "visits.csv")
    plain = [
        *(("check", policy), ("check", "--values", policy), ("plan", policy, "--sql")),
        ("run", policy),
        *(("run", policy), ("compare", policy, "-o", str(folder / "candidates.html"))),  # unchanged
        ("run", policy, "--force", "--timing"),
        *(("show", "visits"), ("verify", "visits"), ("history", "visits"), ("releases",)),
        *(("diff", "visits"), ("readers", "visits"), ("status",), ("status", "visits")),
        ("export", "visits", "-o", table),
        ("report", "visits", "-o", str(folder / "report.html")),
        ("report", "visits", "--for", "readers", "-o", str(folder / "readers.html")),
        ("report", "schema"),
        *(("guard", policy), ("guard", policy, "--json")),
        *(("rollback", "visits"), ("withdraw", "visits"), ("rollback", "visits")),
        ("run", policy, "--force"),
        ("forget", "visits", "--version", "1", "--reason", "nobody read it"),
        *(("guard", policy), ("guard", policy, "--json")),
        ("run", policy, "--force"),
        *(("policy", "list"), ("policy", "show", "visits"), ("policy", "diff", "visits", policy)),
        (
            "assess",
            "public.visit",
            "--qi",
            "age,zip",
            "--sensitive",
            "disease",
            "--trust",
            APPROVER,
        ),
    ]
    yield from (Command(arguments) for arguments in plain)
    yield Command(("estimate", "visits", QUERY), may=frozenset({ErrorCode.ESTIMATE}))
    yield Command(("attack", policy, "--control", "0.4", "--targets", "20"), may=UNATTACKED)
    last = [("clean",), ("drop", "visits", "--yes"), ("show", "visits"), ("history", "visits")]
    yield from (Command(arguments) for arguments in last)
    if not alone:
        yield from _decided(files)
        yield from _migrated(files)


def _decided(files: Files) -> Iterator[Command]:
    """Two versions wait for a second person; one that was asked for is shown, the other is not."""
    why = ("--reason", "looked at it")
    yield Command(("policy", "apply", files.approved))
    yield Command(("worker", "--once"), asked=True)
    report = str(files.folder / "request.html")
    yield Command(("report", "--request", "1", "-o", report), role=APPROVER)
    yield Command(("approve", "1", *why), role=APPROVER)
    yield Command(("worker", "--once"))
    yield Command(("run", files.approved, "--force"))
    yield Command(("reject", "2", *why), role=APPROVER)
    yield Command(("worker", "--once"))


DECIDED = ["released", "rejected"]
"""What became of them."""


def _migrated(files: Files) -> Iterator[Command]:
    """The first version of a folder, which is then taken back."""
    yield Command(("migrate", files.migrations, "--dry-run"))
    yield Command(("migrate", files.migrations))
    yield Command(("migrate", files.migrations, "--status"))
    yield Command(("migrate", "down", files.migrations, "--to", "0"))


def walk(
    db: Database, loaded: LoadedPolicy, folder: Path, *, alone: bool = False
) -> list[tuple[str, Ran]]:
    """Failed commands, and what they said; `alone` as in :func:`commands`.

    Documents of the pages that were written satisfy their schema.
    """
    document: dict[str, Any] = loaded.policy.document()
    nobody: dict[str, Any] = {name: {"role": "identifying"} for name in COLUMNS}
    document["columns"] = {**nobody, **document["columns"]}  # else `check` finds them
    document["publish"] = {**document.get("publish", {}), "keep": 2}
    files = Files(folder)
    files.write(document)
    failed: list[tuple[str, Ran]] = []
    for command in commands(files, alone=alone):
        if command.asked:
            db.owner().execute("SELECT pganon.request_release('visits')")
        server = () if command.arguments in NO_SERVER else ("--dsn", db.dsn(command.role))
        ran = pganon(*command.arguments, *server)
        if ran.code and not _answered(command, db):
            failed.append((" ".join(command.arguments), ran))
    decided = db.admin.execute("SELECT state FROM pganon_private.request ORDER BY id").fetchall()
    expected = [] if alone else DECIDED
    assert [state for (state,) in decided] == expected, (decided, failed)
    for page in folder.glob("*.html"):
        valid(embedded(page.read_text("utf-8")))
    return failed


def _answered(command: Command, db: Database) -> bool:
    """Whether the error is one that the command may answer with, and says what to do."""
    if not command.may:
        return False
    again = pganon(*command.arguments, "--json", "--dsn", db.dsn(command.role))
    error = again.json["error"]
    return error["code"] in command.may and bool(error["message"])
