"""The state of pganon in a database, and whether this program can work with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import version as _package_version

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import InstallError
from pganon.sqlfiles import Connection, ask


@cache
def program_version() -> str:
    """Version of the installed package, such as "0.1.0"."""
    return _package_version("pganon")


@dataclass(frozen=True)
class Installation:
    """Schemas with their owners, applied migrations, and the last set of objects.

    `migrations` is None when the table of migrations does not exist or was not read.
    """

    owners: dict[str, str]
    has_migrations: bool

    @property
    def installed(self) -> bool:
        return self.has_migrations and "pganon" in self.owners


@dataclass(frozen=True)
class Applied:
    """Contents of the state tables; readable to the owner only.

    Attributes:
        migrations: (number, file name, checksum, program version) in order.
        objects: (checksum, manifest, program version) of the set in place; None before the first.
    """

    migrations: tuple[tuple[int, str, str, str], ...]
    objects: tuple[str, list[str], str] | None

    def pending(self) -> tuple[sqlfiles.Migration, ...]:
        return sqlfiles.migrations()[len(self.migrations) :]

    def objects_differ(self) -> bool:
        return self.objects is None or self.objects[0] != sqlfiles.object_set().checksum


def read(conn: Connection) -> Installation:
    """Schemas and owners; needs no privilege."""
    rows = ask(conn, "install", "schemas").fetchall()
    return Installation(
        {name: owner for name, owner, _ in rows}, any(has_migrations for *_, has_migrations in rows)
    )


def read_applied(conn: Connection) -> Applied:
    """The state tables; the session must have become the owner."""
    row = ask(conn, "install", "applied").fetchone()
    assert row is not None
    migrations, *objects = row
    known = (objects[0], objects[1], objects[2]) if objects[0] is not None else None
    return Applied(tuple(map(tuple, migrations)), known)


def missing() -> InstallError:
    return InstallError(
        "pganon is not installed in this database", hint="run `pganon init`", code=ErrorCode.MISSING
    )


def check_current(conn: Connection) -> None:
    """Refuse a database that is newer or older than this program."""
    applied = read_applied(conn)
    check_known(applied)
    if applied.pending() or applied.objects_differ():
        raise outdated("run `pganon upgrade`")


def outdated(hint: str) -> InstallError:
    return InstallError(
        "pganon in this database is older than this program", hint=hint, code=ErrorCode.OUTDATED
    )


def check_known(applied: Applied) -> None:
    """Refuse changed migrations and anything that a newer program left."""
    check_not_newer(applied)
    files = sqlfiles.migrations()
    for number, name, checksum, _ in applied.migrations:
        if files[number - 1].checksum != checksum:
            raise InstallError(
                f"the applied migration {name} was changed after it was applied",
                hint="restore the file; write a new migration for a change",
                code=ErrorCode.CHANGED_MIGRATION,
            )


def check_not_newer(applied: Applied) -> None:
    """Refuse migrations and objects of a program newer than this one."""
    newest = len(sqlfiles.migrations())
    for number, name, _, by_version in applied.migrations:
        if number > newest:
            raise _newer(f"migration {name}", by_version)
    if applied.objects_differ() and applied.objects is not None:
        by_version = applied.objects[2]
        if ordinal(by_version) > ordinal(program_version()):
            raise _newer("functions and views", by_version)


def _newer(what: str, by_version: str) -> InstallError:
    return InstallError(
        f"this database has {what} of pganon {by_version}, this program is {program_version()}",
        hint="use a pganon at least as new as the database",
        code=ErrorCode.NEWER,
    )


def ordinal(text: str) -> tuple[int, ...]:
    """Numbers of a version, for comparing: "0.10.1" -> (0, 10, 1)."""
    numbers: list[int] = []
    for part in text.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        numbers.append(int(digits))
    return tuple(numbers)
