"""Folders of release migrations over the source of :mod:`tests.support.harness.faults`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.harness import faults
from tests.support.harness.cluster import Database


def write(folder: Path, name: str, **changes: Any) -> Path:
    """A file with the policy of the release `patients`, and other top-level keys."""
    data = {**faults.POLICY, "republication": "allow", **changes}
    return put(folder, name, data)


def put(folder: Path, name: str, data: object) -> Path:
    folder.mkdir(exist_ok=True)
    file = folder / f"{name}.json"
    file.write_text(json.dumps(data), "utf-8")
    return file


def k(number: int) -> list[dict[str, Any]]:
    """The value of `privacy`."""
    return [{"model": "k_anonymity", "k": number}]


def two(folder: Path) -> Path:
    """A release, and another policy for it."""
    write(folder, "0001_patients", privacy=k(8))
    write(folder, "0002_patients_k12", privacy=k(12))
    return folder


def rows(db: Database) -> list[tuple[Any, ...]]:
    """What is applied: file, version before, version."""
    return db.admin.execute(
        "SELECT file, version_before, version FROM pganon_private.release_migration ORDER BY number"
    ).fetchall()
