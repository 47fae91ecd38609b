"""A folder of release migrations: `0001_stays.yaml`, `0002_withdraw_visits.yaml`, `R_monthly.yaml`.

Reads what every file says it does, and nothing of what its policy means: files that were applied
long ago need not be valid for this program.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pganon.applied.files import SUFFIXES
from pganon.applied.store import named_files
from pganon.error_codes import ErrorCode
from pganon.errors import PolicyError, Problem, UsageError
from pganon.policy.document import Document, read_document
from pganon.policy.loader import read_text
from pganon.policy.variables import filled

WITHDRAW = "withdraw"
REPEATABLE = "R"

_NAME = re.compile(rf"(?P<number>[0-9]{{1,9}}|{REPEATABLE})_(?P<what>.+)")
_HOW = (
    "name files 0001_stays.yaml, 0002_stays_k20.yaml, 0003_withdraw_stays.yaml, or R_stays.yaml for"
    " one that is run again"
)


@dataclass(frozen=True)
class MigrationFile:
    """One file.

    Attributes:
        number: its place, from 1; None for a repeatable one.
        kind: whether it releases something or withdraws it.
        checksum: sha256 (hex) of its text with the values of its variables, and of the files that
            it names, without line ends.
    """

    path: Path
    number: int | None
    kind: Literal["release", "withdraw"]
    release: str
    checksum: str

    @property
    def name(self) -> str:
        return self.path.name


def is_migrations(folder: Path) -> bool:
    """Whether the names in a folder are those of release migrations."""
    return any(_NAME.fullmatch(path.stem) for path in folder.iterdir() if path.suffix in SUFFIXES)


def read_folder(folder: Path) -> tuple[MigrationFile, ...]:
    """All files by number, then the repeatable ones by name.

    Folders, and files that are no policies, are left alone.

    Raises:
        UsageError: no_migrations, bad_name, twins, gap, withdrawn.
        PolicyError: a file that cannot be read, or says nothing.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder", hint=_HOW, code=ErrorCode.NO_MIGRATIONS)
    paths = sorted(
        path
        for path in folder.iterdir()
        if path.suffix in SUFFIXES and path.is_file() and not path.name.startswith(".")
    )
    if not paths:
        raise UsageError(
            f"{folder} has no release migrations", hint=_HOW, code=ErrorCode.NO_MIGRATIONS
        )
    migrations = sorted((_file(path) for path in paths), key=_order)
    _check_numbers([file for file in migrations if file.number is not None])
    _check_repeatable(migrations)
    return tuple(migrations)


def _order(file: MigrationFile) -> tuple[bool, int, str]:
    return file.number is None, file.number or 0, file.name


def _file(path: Path) -> MigrationFile:
    match = _NAME.fullmatch(path.stem)
    if match is None:
        raise UsageError(
            f"{path} is no name of a release migration", hint=_HOW, code=ErrorCode.BAD_NAME
        )
    number = None if match["number"] == REPEATABLE else int(match["number"])
    if number == 0:
        raise UsageError(f"{path}: numbers begin with 1", hint=_HOW, code=ErrorCode.BAD_NAME)
    text = read_text(path)
    document = filled(read_document(text, is_json=True if path.suffix == ".json" else None))
    if document.problems or not isinstance(document.data, dict):
        problems = document.problems or [Problem("a release migration is a mapping of keys")]
        raise PolicyError(problems, file=str(path))
    kind, release = _what(path, document.data, repeatable=number is None)
    _check_name(path, match["what"], kind, release)
    checksum = _checksum(text, document, path.parent)
    return MigrationFile(path, number, kind, release, checksum)


def _what(
    path: Path, data: Mapping[str, Any], *, repeatable: bool
) -> tuple[Literal["release", "withdraw"], str]:
    kind: Literal["release", "withdraw"] = "withdraw" if WITHDRAW in data else "release"
    release = data.get(kind)
    if not isinstance(release, str) or not release:
        problem = Problem(
            "neither a policy nor a withdrawal",
            suggestion="a policy has the key `release`; a withdrawal is `withdraw: NAME` alone",
        )
        raise PolicyError([problem], file=str(path))
    if kind == "withdraw" and len(data) > 1:
        problem = Problem("stands alone", WITHDRAW, suggestion="give the policy its own file")
        raise PolicyError([problem], file=str(path))
    if kind == "withdraw" and repeatable:
        problem = Problem("is done once", WITHDRAW, suggestion="give the file a number")
        raise PolicyError([problem], file=str(path))
    return kind, release


def _check_name(path: Path, what: str, kind: str, release: str) -> None:
    """A name says which release it is about, so that nobody releases another one by mistake."""
    wanted = _words(release if kind == "release" else f"{WITHDRAW}_{release}")
    if (_words(what) + "_").startswith(wanted + "_"):
        return
    effect = "is a policy of" if kind == "release" else "withdraws"
    prefix = path.stem[: path.stem.index("_")]
    raise UsageError(
        f"{path} {effect} the release {release}",
        hint=f"name it {prefix}_{wanted}{path.suffix}, or correct `{kind}`",
        code=ErrorCode.OTHER_RELEASE,
    )


def _words(text: str) -> str:
    return re.sub(r"\W+", "_", text.casefold()).strip("_")


def _checksum(text: str, document: Document, folder: Path) -> str:
    """Also of hierarchies and of the values of variables: to change one changes the release."""
    digest = sha256(_plain(text.encode()))
    if document.filled:
        digest.update(json.dumps(document.data, sort_keys=True, default=str).encode())
    for column, path in named_files(document.data):
        digest.update(f"\0{column}\0{path}\0".encode())
        try:
            digest.update(_plain((folder / path).read_bytes()))
        except OSError:
            continue  # a run says what is wrong with it
    return digest.hexdigest()


def _plain(raw: bytes) -> bytes:
    """Line ends do not count, version control may change them."""
    return raw.replace(b"\r\n", b"\n")


def _check_numbers(files: Sequence[MigrationFile]) -> None:
    for place, file in enumerate(files, start=1):
        if place > 1 and file.number == files[place - 2].number:
            raise UsageError(
                f"{files[place - 2].name} and {file.name} have the same number",
                hint="give the later one the next number that is free",
                code=ErrorCode.TWINS,
            )
        if file.number != place:
            raise UsageError(
                f"number {place} is missing before {file.name}",
                hint="numbers run 1, 2, ... without a gap: is a file missing?",
                code=ErrorCode.GAP,
            )


def _check_repeatable(files: Sequence[MigrationFile]) -> None:
    last = {file.release: file for file in files if file.number is not None}
    seen: dict[str, MigrationFile] = {}
    for file in (file for file in files if file.number is None):
        if file.release in seen:
            raise UsageError(
                f"{seen[file.release].name} and {file.name} release {file.release} again and again",
                hint="keep one of them",
                code=ErrorCode.TWINS,
            )
        seen[file.release] = file
        if file.release in last and last[file.release].kind == "withdraw":
            raise UsageError(
                f"{file.name} would release what {last[file.release].name} withdraws",
                hint="remove the repeatable file, or release it in a further file with a number",
                code=ErrorCode.WITHDRAWN,
            )
