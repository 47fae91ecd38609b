"""Hierarchies as rows of labels, leaf first and root last, read from files and policies."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from pganon.hierarchies.build import MAX_LEVELS, Build
from pganon.identifiers import first_few
from pganon.policy.hierarchies import TOP

MAX_FILE_BYTES = 64 * 1024 * 1024
SEPARATORS = (";", ",", "\t", "|")

Rows = Sequence[tuple[str, ...]]
Lines = Sequence[tuple[int, tuple[str, ...]]]
"""Rows with the numbers of their lines."""


def file_rows(
    build: Build, path: str, base_dir: Path, *, sep: str | None = None, header: bool = False
) -> Rows:
    """Rows of a CSV file; a row may be shorter than others, empty cells at its end are cut.

    Raises PreconditionError if the file cannot be read, is no UTF-8, no CSV, empty, no tree, or
    larger than :data:`MAX_FILE_BYTES`.
    """
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
    found = (sep, _parse(text, sep)) if sep else _detect(text)
    if found is None or found[1] is None:
        raise build.refuse(
            f'"{path}" is not a readable CSV file (a quote without its end?)',
            'write a quote inside a quoted label twice: "say ""so"""',
        )
    sep, lines = found[0], found[1][1:] if header else found[1]
    if not lines:
        raise build.refuse(f'"{path}" has no rows')
    width = max(len(row) for _, row in lines)
    if width > MAX_LEVELS:
        raise build.refuse(f'"{path}" has more than {MAX_LEVELS} levels')
    if width < 2:
        raise build.refuse(
            f'"{path}" has only one level',
            "a row holds the value and at least one label above it; check the separator",
        )
    for problem, numbers, hint in _problems(lines, width, sep):
        if numbers:
            noun = "line" if len(numbers) == 1 else "lines"
            named = first_few([str(number) for number in numbers], 5)
            raise build.refuse(f'"{path}" {problem}: {noun} {named}', hint)
    return [row for _, row in lines]


def _problems(lines: Lines, width: int, sep: str) -> Iterator[tuple[str, list[int], str]]:
    """What the steps over all sources of rows would refuse, with the lines at fault."""
    yield (
        "has rows with an empty label between value and top",
        [line for line, row in lines if "" in row[1:]],
        "a short row may end early, but has no holes; repeat the label below",
    )
    root = Counter(row[-1] for _, row in lines).most_common(1)[0][0]
    odd = [(line, row) for line, row in lines if row[-1] != root]
    shown = "a tab" if sep == "\t" else f'"{sep}"'
    yield (
        "has rows under another root than the others",
        [line for line, _ in odd],
        f"write {shown} between the labels of these lines, too"
        if all(len(row) == 1 for _, row in odd)
        else "the last label of every row must be the same, e.g. *; for a file whose first line"
        " names the levels, set header: true",
    )
    parents: dict[tuple[int, str], str] = {}
    tops: dict[str, int] = {}
    split: list[int] = []
    edges = [
        (line, list(enumerate(pairwise(row[:1] * (width - len(row)) + row)))) for line, row in lines
    ]
    for line, path in edges:
        for level, (label, parent) in path:
            tops[label] = max(level, tops.get(label, 0))
            if parents.setdefault((level, label), parent) != parent and line not in split[-1:]:
                split.append(line)
    yield (
        "has a value or label under another parent than in a line before",
        split,
        "give every value one row; every label belongs to one label of the next level, so name"
        " different groups differently",
    )
    yield (
        "has a label on two levels for different groups (a cycle, or one name for two things)",
        [
            line
            for line, path in edges
            if any(level < tops[label] and parent != label for level, (label, parent) in path)
        ],
        "a label that occurs again on a higher level must lie in that group itself",
    )


def _parse(text: str, sep: str) -> Lines | None:
    """Rows of the text, without blank lines; None if its quotes do not match."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep, strict=True)
    try:
        return [(reader.line_num, _trimmed(row)) for row in reader if any(row)]
    except csv.Error:
        return None


def _trimmed(row: list[str]) -> tuple[str, ...]:
    while not row[-1]:
        row.pop()
    return tuple(row)


def _detect(text: str) -> tuple[str, Lines] | None:
    """Separator and rows: the one that splits the lines best; see :func:`_regularity`."""
    readings = [(sep, lines) for sep in SEPARATORS if (lines := _parse(text, sep))]
    return max(readings, key=_regularity, default=None)


def _regularity(reading: tuple[str, Lines]) -> tuple[float, float, float]:
    """Sort key: shares of the lines that are split, end in one root, have the usual length."""
    rows = [row for _, row in reading[1]]
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
