"""Names of the columns of a file, from its header or from the command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pganon.error_codes import ErrorCode
from pganon.errors import UsageError
from pganon.identifiers import MAX_BYTES, quote
from pganon.importing.form import Format
from pganon.importing.records import Records

ROW_NAME = "row_name"
"""Name of a first column that has none, as R and pandas write the names of rows."""

_SYSTEM_COLUMNS = frozenset({"tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"})
_MAX_COLUMNS = 1600
_SEPARATORS = (";", "\t", "|")


def column_names(records: Records, form: Format, file: Path) -> tuple[list[str], bool]:
    """Names of the columns, and whether the first one had none; consumes the header.

    Raises:
        UsageError: there are no names, or some that a table cannot have.
    """
    given = None if form.names is None else list(form.names)
    if not form.header:
        if given is None:
            raise UsageError(
                "without a header the names of the columns are needed", hint="--names a,b"
            )
        return _checked(given), False
    header = records.header()
    if header is None:
        raise UsageError(f"{file} is empty: it has no header")
    if given is not None and len(given) != len(header):
        raise UsageError(f"{len(given)} names were given, the header has {len(header)} fields")
    if len(header) == 1 and not records.says_separator:
        _refuse_undivided(header[0], file)
    names = given or header
    names = [name.lower() for name in names] if form.lower else names
    unnamed = len(names) > 1 and not names[0] and ROW_NAME not in names
    return _checked([ROW_NAME, *names[1:]] if unnamed else names), unnamed


def check_key(names: Sequence[str], key: Sequence[str]) -> None:
    """Refuse a key of columns that the table does not have."""
    missing = [name for name in key if name not in names]
    if missing:
        raise UsageError(
            f"the file has no column {quote(missing[0])}, which --key names",
            hint="name a column as the table will have it",
        )


def _refuse_undivided(header: str, file: Path) -> None:
    """A file of one column whose name looks like several."""
    marks = [mark for mark in _SEPARATORS if mark in header]
    if marks:
        shown = "tab" if marks[0] == "\t" else f"'{marks[0]}'"
        raise UsageError(
            f"{file} has one column by the separator ',', and a {shown} in its name",
            hint=f"--sep {shown}, or --sep ',' if there is one column",
            code=ErrorCode.SEPARATOR,
        )


def _checked(names: list[str]) -> list[str]:
    """The names, or an error by position: without a header a "name" would be a value."""
    hint = "give --names; with --no-header if the first line holds data"
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in seen:
            raise UsageError(f"columns {seen[name]} and {number} have the same name", hint=hint)
        seen[name] = number
        problem = _problem(name)
        if problem:
            raise UsageError(f"the name of column {number} {problem}", hint=hint)
    if len(names) > _MAX_COLUMNS:
        raise UsageError(f"the file has {len(names)} columns, PostgreSQL allows {_MAX_COLUMNS}")
    return names


def _problem(name: str) -> str | None:
    if not name:
        return "is empty"
    if "\x00" in name:
        return "holds the character NUL"
    size = len(name.encode())
    if size > MAX_BYTES:
        return f"has {size} bytes, PostgreSQL allows {MAX_BYTES}"
    if name in _SYSTEM_COLUMNS:
        return "is one that PostgreSQL reserves for itself (tableoid, ctid, xmin, ...)"
    return None
