"""The commands about a release, one after the other, on a policy over the source of plans."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pganon.policy.loader import LoadedPolicy
from tests.support.harness.cli import Ran, pganon
from tests.support.harness.cluster import Database

COLUMNS = ("id", "person", "age", "zip", "disease", "drug", "cost")


def commands(file: Path, folder: Path) -> Iterator[tuple[str, ...]]:
    """In an order in which each can be given; `visits` is the release."""
    policy, table = str(file), str(folder / "visits.csv")
    yield from (("check", policy), ("check", "--values", policy), ("plan", policy, "--sql"))
    yield ("run", policy)
    yield from (("run", policy), ("compare", policy))  # unchanged
    yield ("run", policy, "--force", "--timing")
    yield from (("show", "visits"), ("verify", "visits"), ("history", "visits"), ("releases",))
    yield from (("diff", "visits"), ("readers", "visits"), ("status",), ("status", "visits"))
    yield ("export", "visits", "-o", table)
    yield ("report", "visits", "-o", str(folder / "report.html"))
    yield from (("guard", policy), ("guard", policy, "--json"))
    yield ("rollback", "visits")
    yield ("run", policy, "--force")
    yield ("forget", "visits", "--version", "1", "--reason", "nobody read it")
    yield from (("guard", policy), ("guard", policy, "--json"))
    yield ("run", policy, "--force")
    yield from (
        ("policy", "list"),
        ("policy", "show", "visits"),
        ("policy", "diff", "visits", policy),
    )
    yield from (("clean",), ("drop", "visits", "--yes"), ("show", "visits"), ("history", "visits"))


def walk(db: Database, loaded: LoadedPolicy, folder: Path) -> list[tuple[str, Ran]]:
    """Failed commands, and what they said."""
    document: dict[str, Any] = loaded.policy.document()
    nobody: dict[str, Any] = {name: {"role": "identifying"} for name in COLUMNS}
    document["columns"] = {**nobody, **document["columns"]}  # else `check` finds them
    document["publish"] = {**document.get("publish", {}), "keep": 2}
    file = folder / "visits.json"
    file.write_text(json.dumps(document), "utf-8")
    failed: list[tuple[str, Ran]] = []
    for command in commands(file, folder):
        ran = pganon(*command, "--dsn", db.dsn("steward"))
        if ran.code:
            failed.append((" ".join(command), ran))
    return failed
