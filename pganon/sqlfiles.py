"""Finds and reads pganon's SQL: migrations, repeatable objects, named queries.

An installed wheel carries them inside the package; an editable install uses the repository.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

Connection = psycopg.Connection[Any]

_MIGRATION = re.compile(r"(\d{4})_([a-z][a-z0-9_]*)\.sql")
_CREATE = re.compile(rb"^CREATE (?=FUNCTION |PROCEDURE |VIEW )", re.MULTILINE)
_QUERY = re.compile(r"^-- ([a-z][a-z0-9_]*) --\n-- (.+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Migration:
    """One forward step of pganon's own tables."""

    number: int
    name: str
    text: bytes

    @cached_property
    def checksum(self) -> str:
        return checksum(self.text)


@dataclass(frozen=True)
class SqlObject:
    """One repeatable object: its path under sql/ and the statements that create it.

    A function may take arguments of several types: a statement for each.
    """

    path: str
    text: bytes

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1].removesuffix(".sql")

    @property
    def replacing(self) -> bytes:
        """The same statements, which replace those that are there."""
        return _CREATE.sub(b"CREATE OR REPLACE ", self.text)

    @property
    def signatures(self) -> int:
        """Functions, views and procedures that it creates, all of one name."""
        return len(_CREATE.findall(self.text))


@dataclass(frozen=True)
class Query:
    """A fixed query of the client: `text` with psycopg placeholders."""

    name: str
    description: str
    text: bytes


@dataclass(frozen=True)
class ObjectSet:
    """Everything under sql/ that lives in the database, in load order; grants come last."""

    objects: tuple[SqlObject, ...]
    grants: bytes

    @cached_property
    def checksum(self) -> str:
        parts = [f"{item.path} {checksum(item.text)}" for item in self.objects]
        return checksum("\n".join([*parts, checksum(self.grants)]).encode())

    def named(self, name: str) -> SqlObject:
        return next(item for item in self.objects if item.name == name)

    @property
    def manifest(self) -> list[str]:
        return [item.path for item in self.objects]


def checksum(text: bytes) -> str:
    """sha256 in hex; line ends do not count, version control may change them."""
    return hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest()


def _folder(name: str) -> Traversable:
    packaged = resources.files("pganon") / f"_{name}"
    if packaged.is_dir():
        return packaged
    return Path(__file__).resolve().parent.parent / name


def sql_folder() -> Traversable:
    return _folder("sql")


@cache
def migrations() -> tuple[Migration, ...]:
    """All migrations by number; numbers run 1, 2, ... without a hole."""
    found: list[Migration] = []
    for entry in _folder("migrations").iterdir():
        if not entry.name.endswith(".sql"):
            continue
        match = _MIGRATION.fullmatch(entry.name)
        if match is None:
            raise ValueError(f"migrations/{entry.name} is not named NNNN_verb_object.sql")
        found.append(Migration(int(match[1]), entry.name, entry.read_bytes()))
    found.sort(key=lambda migration: migration.number)
    if [migration.number for migration in found] != list(range(1, len(found) + 1)):
        raise ValueError("the numbers of migrations must run 0001, 0002, ... without a hole")
    return tuple(found)


@cache
def object_set() -> ObjectSet:
    """The repeatable objects as sql/manifest.txt orders them."""
    root = sql_folder()
    lines = (root / "manifest.txt").read_text("utf-8").splitlines()
    paths = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    objects = tuple(SqlObject(path, root.joinpath(*path.split("/")).read_bytes()) for path in paths)
    return ObjectSet(objects, (root / "grants.sql").read_bytes())


@cache
def install_script(name: str) -> bytes:
    """Text of sql/install/<name>.sql: what the installer and the scripts of the extension do."""
    return (sql_folder() / "install" / f"{name}.sql").read_bytes()


@cache
def queries(file: str) -> Mapping[str, Query]:
    """The named queries of sql/queries/<file>.sql by name."""
    text = (sql_folder() / "queries" / f"{file}.sql").read_text("utf-8")
    pieces = _QUERY.split(text)
    found: dict[str, Query] = {}
    for name, description, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
        if name in found:
            raise ValueError(f"sql/queries/{file}.sql has two queries named {name}")
        found[name] = Query(name, description, body.strip().encode())
    return found


def query(file: str, name: str) -> bytes:
    """Text of one named query, ready for `execute`."""
    return queries(file)[name].text


def ask(conn: Connection, file: str, name: str, /, **values: Any) -> psycopg.Cursor[Any]:
    """Execute a named query with its values."""
    return conn.execute(query(file, name), values or None)


def dicts(conn: Connection, file: str, name: str, /, **values: Any) -> list[dict[str, Any]]:
    """The rows of a named query, by their columns."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query(file, name), values or None).fetchall()
