"""The files that CREATE EXTENSION needs on the server, from the same SQL that `pganon init` runs.

| file | does |
|---|---|
| `pganon.control` | |
| `pganon--V.sql` | creates everything |
| `pganon--U--V.sql` | updates an earlier version U: migrations that it lacks, and all functions |
| `pganon--unpackaged.sql` | nothing: a name for what `pganon init` installed |
| `pganon--unpackaged--V.sql` | makes that a part of the extension |

A dump holds no version of an extension, so the scripts of all versions stay: one is restored with
its own, and then updated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from psycopg import sql

from pganon import sqlfiles
from pganon.error_codes import ErrorCode
from pganon.errors import InstallError
from pganon.files import write
from pganon.identifiers import OWN_SCHEMAS
from pganon.install.state import ordinal

NAME = "pganon"
UNPACKAGED = "unpackaged"
FOLDER = "extension"
"""Where the server looks, below a folder of its `extension_control_path`."""

_ABSTRACT = "anonymized data releases, computed, verified and published inside PostgreSQL"
_FULL = re.compile(rf"{NAME}--([^-]+)\.sql")
_TABLE = re.compile(rb"^CREATE TABLE pganon_private\.(\w+)", re.MULTILINE)
_HEADER = b"""\
-- Use CREATE EXTENSION pganon, or ALTER EXTENSION pganon UPDATE, to load this file.
\\echo Use "CREATE EXTENSION pganon" to load this file. \\quit
SET LOCAL search_path TO pg_catalog, pg_temp;
"""
_TLE = b"$pgtle$"


def build(folder: Path, version: str) -> list[Path]:
    """Write the files of a version, and how to get there from earlier ones that are in the folder.

    Raises:
        InstallError: version_exists, the folder has another script of this version.
    """
    place = folder / FOLDER
    script = place / _script(version)
    migrations = sqlfiles.migrations()
    made = _joined(
        _piece("check_actor"),
        _piece("check_absent"),
        *(f"CREATE SCHEMA {name};\n".encode() for name in OWN_SCHEMAS),
        *(migration.text for migration in migrations),
        *(_added(migration, version) for migration in migrations),
        *_objects(version),
        _piece("mark"),
    )
    if script.exists() and script.read_bytes() != made:
        raise InstallError(
            f"{script} is another script of version {version}",
            hint="a version that was published never changes; remove the file if it was not",
            code=ErrorCode.VERSION_EXISTS,
        )
    # A call that gives the script to pg_tle, on servers whose folders nobody may write.
    assert _TLE not in made
    text = re.sub(rb"(?m)^\\echo.*\n", b"", made)
    call = filled(b"SELECT pgtle.install_extension(%s, %s, %s, ", NAME, version, _ABSTRACT)
    files = {
        place / f"{NAME}.control": _control(version),
        script: made,
        place / _script(UNPACKAGED): _joined(_piece("check_actor"), _piece("check_present")),
        place / _script(UNPACKAGED, version): _adoption(version),
        **{place / _script(old, version): _update(version) for old in _earlier(place, version)},
        folder / "pg_tle.sql": call + _TLE + b"\n" + text + _TLE + b");\n",
        folder / "META.json": _meta(version),
        folder / "Makefile": _MAKEFILE,
    }
    for path, content in files.items():
        write(path, content)
    return sorted(files)


def _script(*versions: str) -> str:
    return "--".join((NAME, *versions)) + ".sql"


def _earlier(place: Path, version: str) -> list[str]:
    matches = (_FULL.fullmatch(path.name) for path in place.glob("*.sql"))
    numbered = (match[1] for match in matches if match and match[1] != UNPACKAGED)
    return sorted(old for old in numbered if ordinal(old) < ordinal(version))


def _control(version: str) -> bytes:
    # Not `trusted`: all would belong to the bootstrap superuser.
    return f"""\
comment = '{_ABSTRACT}'
default_version = '{version}'
encoding = 'UTF8'
schema = pg_catalog
relocatable = false
superuser = false
""".encode()


def _update(version: str) -> bytes:
    """From any earlier version: what the database has says which migrations it lacks."""
    return _joined(
        _piece("check_actor"),
        make_way(),
        *(
            filled(
                _piece("migrate"),
                migration.number,
                migration.text.decode(),
                migration.number,
                migration.name,
                migration.checksum,
                version,
            )
            for migration in sqlfiles.migrations()
        ),
        *_objects(version, replaced=True),
        _piece("mark"),
    )


def _adoption(version: str) -> bytes:
    migrations = sqlfiles.migrations()
    tables = [name.decode() for migration in migrations for name in _TABLE.findall(migration.text)]
    return _joined(
        _piece("check_actor"),
        filled(_piece("adopt"), len(migrations), sqlfiles.object_set().checksum, tables),
        _piece("mark"),
    )


def make_way() -> bytes:
    """Drop functions and views before migrations, where views may stand in the way.

    What others have built on those of the new set stays.
    """
    wanted = sqlfiles.object_set()
    return wanted.named("refuse_view").replacing + b"\n" + drop_objects(None, wanted.manifest)


def drop_objects(paths: Sequence[str] | None, replaced: Sequence[str] = ()) -> bytes:
    """Drop functions and views of these paths, None for all; see the script."""
    return filled(_piece("drop_objects"), paths and list(paths), list(replaced))


def replace_object(item: sqlfiles.SqlObject) -> bytes:
    """Create a function or view after :func:`make_way`."""
    dropped = drop_objects([item.path]).decode()
    return filled(_piece("replace"), item.replacing.decode(), item.name, item.signatures, dropped)


def _objects(version: str, *, replaced: bool = False) -> list[bytes]:
    wanted = sqlfiles.object_set()
    added = sqlfiles.query("install", "add_object_set")
    return [
        *(replace_object(item) if replaced else item.text for item in wanted.objects),
        _piece("close"),
        wanted.grants,
        filled(added, wanted.checksum, wanted.manifest, version) + b"\n",
    ]


def _added(migration: sqlfiles.Migration, version: str) -> bytes:
    query = sqlfiles.query("install", "add_migration")
    return filled(query, migration.number, migration.name, migration.checksum, version) + b"\n"


def _joined(*pieces: bytes) -> bytes:
    return b"\n".join((_HEADER, *pieces)).replace(b"\r\n", b"\n")


def _piece(name: str) -> bytes:
    return sqlfiles.install_script(name)


def filled(text: bytes, *values: object) -> bytes:
    """A statement with literals for its placeholders, for a file; comments may name them, too."""
    code = re.sub(r"(?m)^--.*\n", "", text.decode())
    parts = re.split(r"%(s|%)", code)
    remaining = iter(values)
    pieces = [parts[0]]
    for mark, rest in zip(parts[1::2], parts[2::2], strict=True):
        literal = sql.Literal(next(remaining)).as_string(None) if mark == "s" else "%"
        pieces += [literal.strip(), rest]
    return "".join(pieces).encode()


def _meta(version: str) -> bytes:
    """META.json as PGXN specifies it, https://pgxn.org/spec/."""
    content: Mapping[str, object] = {
        "name": NAME,
        "abstract": _ABSTRACT,
        "version": version,
        "maintainer": "the maintainers of pganon",
        "license": "unknown",
        "release_status": "testing",
        "provides": {
            NAME: {
                "abstract": _ABSTRACT,
                "file": f"{FOLDER}/{_script(version)}",
                "version": version,
            }
        },
        "prereqs": {"runtime": {"requires": {"PostgreSQL": "14.0.0"}}},
        "tags": ["anonymization", "privacy", "k-anonymity", "security"],
        "generated_by": f"pganon extension build {version}",
        "meta-spec": {"version": "1.0.0", "url": "https://pgxn.org/meta/spec.txt"},
    }
    return (json.dumps(content, indent=2) + "\n").encode()


_MAKEFILE = b"""\
# Copies the files to where this server looks for extensions.
PG_CONFIG ?= pg_config
TARGET = $(DESTDIR)$(shell $(PG_CONFIG) --sharedir)/extension

.PHONY: all install
all:

install:
\tinstall -d "$(TARGET)"
\tinstall -m 644 extension/pganon.control extension/pganon--*.sql "$(TARGET)"
"""
