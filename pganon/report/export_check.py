"""An exported file held against a signed report: its digest, and what can be counted in it again.

No server is needed. Counted are the models that are about records of a class: what the policy asks
for must hold of the file.
"""

from __future__ import annotations

import gzip
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pganon.policy.options import CLASS_ID, INDIVIDUAL_NO
from pganon.report.parts import Count, Digest, Part, Time
from pganon.report.signature import Unsigned
from pganon.report.words import plain

Row = Sequence[str | None]

_GZIP = b"\x1f\x8b"
_CELL = re.compile(r'("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n|\n|$)')
_FEWEST = {"k_anonymity", "distinct_l_diversity"}


class Exported(Part):
    at: Time
    by: str
    view: str
    rows: Count


class File(Part):
    """An exported file, and what the ledger has of it."""

    name: str
    sha256: Digest
    exported: Exported | None


def file_entry(name: str, content: bytes) -> dict[str, str]:
    """What the report has of an exported file."""
    return {"name": plain(name, 255), "sha256": hashlib.sha256(content).hexdigest()}


def files_of(exports: Sequence[File], given: Sequence[Mapping[str, str]]) -> list[File]:
    """Files of a report: those that the ledger has, and others that were given.

    Args:
        exports: see :func:`pganon.report.events.exports`.
        given: see :func:`file_entry`; what the ledger has gets the name that was given.
    """
    files = {one.sha256: one for one in exports}
    for one in given:
        known = files.get(one["sha256"])
        files[one["sha256"]] = File(exported=known and known.exported, **one)
    return list(files.values())


def held_against(report: Mapping[str, Any], content: bytes) -> list[dict[str, Any]]:
    """Checks {model, column, required, counted} of a file of a report that was signed.

    Raises:
        Unsigned: it is not a file of the report, or a requirement does not hold of it.
    """
    digest = hashlib.sha256(content).hexdigest()
    if digest not in [one["sha256"] for one in report.get("files", [])]:
        raise Unsigned("the exported file is none of those that the report has the digest of")
    rows = _rows(content)
    header = next(rows, None) if rows is not None else None
    if rows is None or header is None or CLASS_ID not in header or INDIVIDUAL_NO in header:
        return []
    names = [name or "" for name in header]
    found = list(rows)
    released = report["properties"]["released"]
    if len(found) != released:
        raise Unsigned(f"the exported file has {len(found)} rows, the report says {released}")
    checks = [_counted(check, names, found) for check in report["guarantee"]]
    return [check for check in checks if check is not None]


def _counted(
    check: Mapping[str, Any], names: Sequence[str], rows: Sequence[Row]
) -> dict[str, Any] | None:
    """A requirement counted again; None for what is not counted here."""
    column = check["published"]
    if check["model"] not in {*_FEWEST, "alpha_k_anonymity"} or (
        column is not None and column not in names
    ):
        return None
    place, of = names.index(CLASS_ID), None if column is None else names.index(column)
    groups: defaultdict[str | None, Counter[str | None]] = defaultdict(Counter)
    for row in rows:
        groups[row[place]][None if of is None else row[of]] += 1
    match check["model"]:
        case "k_anonymity":
            counted: float = min(map(Counter.total, groups.values()))
        case "distinct_l_diversity":
            counted = min(map(len, groups.values()))
        case _:
            counted = max(max(one.values()) / one.total() for one in groups.values())
    required = check["required"]
    # Shares are rounded; numbers of people are not.
    if counted < required if check["model"] in _FEWEST else counted > required + 1e-9:
        raise Unsigned(
            f"the exported file does not satisfy {check['name']}: {counted:.6g} was counted,"
            f" {required:.6g} is required"
        )
    return {"model": check["model"], "column": column, "required": required, "counted": counted}


def _rows(content: bytes) -> Iterator[Row] | None:
    """Rows of CSV as PostgreSQL writes it, where no value is not an empty text; None of others."""
    try:
        plain = gzip.decompress(content) if content.startswith(_GZIP) else content
        text = plain.decode()
    except (OSError, EOFError, ValueError):
        return None
    return _cells(text)


def _cells(text: str) -> Iterator[Row]:
    row: list[str | None] = []
    at = 0
    while at < len(text):
        found = _CELL.match(text, at)
        if found is None:
            raise Unsigned("the exported file cannot be read")
        cell, end = found.groups()
        quoted = cell.startswith('"')
        row.append(cell[1:-1].replace('""', '"') if quoted else cell or None)
        at = found.end()
        if end != ",":
            yield row
            row = []
