"""Policies in the database: revisions by release, with the files that they name.

The document is what was written, as JSON; what a policy means is found out when it is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any

from psycopg.rows import class_row

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import LedgerError, PolicyError, Problem
from pganon.identifiers import quote
from pganon.loading import policy_from
from pganon.policy.loader import LoadedPolicy
from pganon.policy.variables import KEY as VARIABLES
from pganon.sqlfiles import Connection, ask


@dataclass(frozen=True)
class StoredPolicy:
    """One revision of a policy.

    Attributes:
        document: JSON, as it was applied.
        checked_at: when the program looked at it; None: `policy_hash` and `problems` say nothing.
    """

    release: str
    revision: int
    document: str
    policy_hash: str | None
    checked_at: datetime | None
    problems: list[str]
    review_by: date | None
    applied_login: str
    applied_at: datetime
    comment: str | None

    @property
    def label(self) -> str:
        """Its name in messages."""
        return f"policy {quote(self.release)}, revision {self.revision}"

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.document)

    @property
    def state(self) -> str:
        """`usable`, `unchecked` or `unusable`."""
        if self.checked_at is None:
            return "unchecked"
        return "unusable" if self.problems else "usable"


def store(conn: Connection, loaded: LoadedPolicy, comment: str | None = None) -> int:
    """Keep a policy with its files as the newest revision; gives its number.

    The same texts as those of the newest revision make no new one.
    """
    document, files = portable(loaded)
    row = ask(
        conn,
        "policies",
        "apply",
        document=json.dumps(document, ensure_ascii=False, allow_nan=False),
        files=json.dumps(files, ensure_ascii=False),
        comment=comment,
    ).fetchone()
    assert row is not None
    return int(row[0])


def read(conn: Connection, release: str, revision: int | None = None) -> StoredPolicy:
    """A revision, the newest without a number.

    Raises:
        LedgerError: unknown_policy.
    """
    values = {"release": release, "revision": revision}
    with conn.cursor(row_factory=class_row(StoredPolicy)) as cursor:
        found = cursor.execute(sqlfiles.query("policies", "read"), values).fetchone()
    if found is None:
        which = f"{quote(release)}" + (f" with revision {revision}" if revision else "")
        raise LedgerError(
            f"there is no policy {which} in the database",
            hint="`pganon policy list` lists them, `pganon policy apply FILE` adds one",
            code=ErrorCode.UNKNOWN_POLICY,
        )
    return found


def newest_revision(conn: Connection, release: str) -> int | None:
    """Its number; None where there is no policy of this release."""
    row = ask(conn, "policies", "newest_of", release=release).fetchone()
    return row[0] if row else None


def policies(conn: Connection) -> list[StoredPolicy]:
    """The newest revision of every policy, by release."""
    with conn.cursor(row_factory=class_row(StoredPolicy)) as cursor:
        return cursor.execute(sqlfiles.query("policies", "newest")).fetchall()


def restore(conn: Connection, stored: StoredPolicy) -> int:
    """Make a revision the newest one again; gives its number then.

    It names the roles that it named, whoever has their names now.
    """
    row = ask(
        conn, "policies", "restore", release=stored.release, revision=stored.revision
    ).fetchone()
    assert row is not None
    return int(row[0])


@contextmanager
def loaded(
    conn: Connection, stored: StoredPolicy, parameters: Mapping[str, Any] = MappingProxyType({})
) -> Iterator[LoadedPolicy]:
    """The policy, ready to be run, with its files in a folder that is there for the block.

    Args:
        parameters: of a request.

    Raises:
        PolicyError: with every problem.
    """
    with TemporaryDirectory(prefix="pganon-policy-") as folder:
        base = Path(folder)
        row = ask(
            conn, "policies", "beside", release=stored.release, revision=stored.revision
        ).fetchone()
        files, roles = row or ({}, {})
        for path, content in files.items():
            if not _is_inside(path):
                problem = Problem(f"the path {path} leaves the folder of the policy")
                raise PolicyError([problem], file=stored.label)
            target = base / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode())
        data = stored.data
        problems = [
            Problem(
                f"the file {path} was not applied with the policy",
                f"columns.{column}.hierarchy.csv",
                suggestion="apply it with `pganon policy apply FILE`, which takes files along",
            )
            for column, path in named_files(data)
            if path not in files
        ]
        if data.get(VARIABLES):
            problems.append(
                Problem(
                    "a policy in the database has no environment",
                    VARIABLES,
                    suggestion="apply it with `pganon policy apply FILE`, which fills variables in",
                )
            )
        if problems:
            raise PolicyError(problems, file=stored.label)
        policy = policy_from(data, file=stored.label, parameters=parameters)
        yield LoadedPolicy(policy, None, base, written=data, roles=roles)


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path)
    return bool(parts.parts) and not parts.is_absolute() and ".." not in parts.parts


def named_files(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Columns and the files that their hierarchies name."""
    columns = data.get("columns")
    found: list[tuple[str, str]] = []
    for name, column in columns.items() if isinstance(columns, Mapping) else ():
        hierarchy = column.get("hierarchy") if isinstance(column, Mapping) else None
        path = hierarchy.get("csv") if isinstance(hierarchy, Mapping) else None
        if isinstance(path, str):
            found.append((name, path))
    return found


def portable(policy: LoadedPolicy) -> tuple[dict[str, Any], dict[str, str]]:
    """The document without variables, and its files by path; paths stay within one folder."""
    written = dict(policy.written or policy.policy.document())
    written.pop(VARIABLES, None)
    files: dict[str, str] = {}
    for column, path in named_files(written):
        raw = (policy.base_dir / path).read_bytes()
        kept = path if _is_inside(path) else f"files/{sha256(raw).hexdigest()[:16]}.csv"
        files[kept] = raw.decode("utf-8")
        if kept != path:
            written = _moved(written, column, kept)
    return written, files


def _moved(written: dict[str, Any], column: str, path: str) -> dict[str, Any]:
    columns = written["columns"]
    changed = {**columns[column], "hierarchy": {**columns[column]["hierarchy"], "csv": path}}
    return {**written, "columns": {**columns, column: changed}}


def problems_of(error: PolicyError) -> Sequence[str]:
    """A line per problem, for the steward."""
    return str(error).splitlines()
