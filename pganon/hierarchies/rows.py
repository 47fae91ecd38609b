"""Hierarchies as rows of labels, leaf first and root last, read from files and policies."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from pganon.hierarchies.build import MAX_LEVELS, Build
from pganon.policy.hierarchies import TOP

MAX_FILE_BYTES = 64 * 1024 * 1024
SEPARATORS = (";", ",", "\t", "|")

Rows = Sequence[tuple[str, ...]]


def file_rows(
    build: Build, path: str, base_dir: Path, *, sep: str | None = None, header: bool = False
) -> Rows:
    """Rows of a CSV file; a row may be shorter than others, empty cells at its end are cut.

    Raises PreconditionError if the file cannot be read, is no UTF-8, no CSV, empty, or larger
    than :data:`MAX_FILE_BYTES`.
    """
    text = _read(build, path, base_dir)
    rows = _parse(text, sep) if sep else _detect(text)
    if rows is None:
        raise build.refuse(
            f'"{path}" is not a readable CSV file (a quote without its end?)',
            'write a quote inside a quoted label twice: "say ""so"""',
        )
    rows = rows[1:] if header else rows
    if not rows:
        raise build.refuse(f'"{path}" has no rows')
    if max(len(row) for row in rows) > MAX_LEVELS:
        raise build.refuse(f'"{path}" has more than {MAX_LEVELS} levels')
    return rows


def _read(build: Build, path: str, base_dir: Path) -> str:
    place = base_dir / path
    try:
        if not place.is_file():
            raise build.refuse(
                f'there is no file "{path}"', "paths are relative to the policy's folder"
            )
        if place.stat().st_size > MAX_FILE_BYTES:
            raise build.refuse(
                f'"{path}" is larger than {MAX_FILE_BYTES // 1024**2} MiB',
                "load it into a table and use hierarchy: {table: schema.name}",
            )
        content = place.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a usable path"
        raise build.refuse(f'cannot read "{path}": {reason}') from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise build.refuse(f'"{path}" is not UTF-8 text', "convert it, e.g. with iconv") from None
    if "\x00" in text:
        raise build.refuse(f'"{path}" is not a text file')
    if not text.strip():
        raise build.refuse(f'"{path}" is empty')
    return text


def _parse(text: str, sep: str) -> list[tuple[str, ...]] | None:
    """Rows of the text, without blank lines; None if its quotes do not match."""
    try:
        cells = list(csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True))
    except csv.Error:
        return None
    return [_trimmed(row) for row in cells if any(row)]


def _trimmed(row: list[str]) -> tuple[str, ...]:
    while not row[-1]:
        row.pop()
    return tuple(row)


def _detect(text: str) -> list[tuple[str, ...]] | None:
    """Rows by the separator that splits the lines best; see :func:`_regularity`."""
    readings = [rows for sep in SEPARATORS if (rows := _parse(text, sep))]
    return max(readings, key=_regularity, default=None)


def _regularity(rows: list[tuple[str, ...]]) -> tuple[float, float, float]:
    """Sort key: shares of the lines that are split, end in one root, have the usual length."""
    split = sum(len(row) > 1 for row in rows)
    rooted = Counter(row[-1] for row in rows).most_common(1)[0][1]
    usual = Counter(len(row) for row in rows).most_common(1)[0][1]
    return split / len(rows), rooted / len(rows), usual / len(rows)


def order_rows(values: Sequence[str], fanout: Sequence[int]) -> Rows:
    """Rows of the tree over neighbours of an ordered list; groups are called "low..high".

    Above the last level of `fanout` stands the top, unless that level has one group already.
    """
    columns: list[Sequence[str]] = [values]
    size = 1
    for factor in fanout:
        size = min(size * factor, len(values))
        columns.append([_group(values, i // size * size, size) for i in range(len(values))])
    if size < len(values):
        columns.append([TOP] * len(values))
    return list(zip(*columns, strict=True))


def _group(values: Sequence[str], start: int, size: int) -> str:
    low, high = values[start], values[min(start + size, len(values)) - 1]
    return low if low == high else f"{low}..{high}"
