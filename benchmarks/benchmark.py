"""What benchmarks have in common: settings, parts that can be run alone, figures on disk."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from benchmarks import support

Row = dict[str, Any]
RESULTS = Path("bench-results")


@dataclass(frozen=True)
class Table:
    """How rows are shown.

    Attributes:
        part: whose rows; of what is judged, too.
        chosen: those that are shown; all by default.
    """

    part: str
    title: str
    columns: Sequence[str]
    chosen: Callable[[Row], bool] = lambda row: True


@dataclass(frozen=True, kw_only=True)
class Benchmark:
    """Measures parts, each a method that gives rows; fields of subclasses are settings.

    Attributes:
        dsn: a database of its own, in which pganon is installed.
        data: folder of the real data sets; None: parts in `real` are skipped.
        installs: whether it installs programs of others; then it runs only by its name.
    """

    parts: ClassVar[tuple[str, ...]]
    real: ClassVar[frozenset[str]] = frozenset()
    tables: ClassVar[tuple[Table, ...]]
    installs: ClassVar[bool] = False

    dsn: str
    data: Path | None = None

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Settings by name, with their defaults."""
        fields = [field for field in dataclasses.fields(cls) if field.name not in ("dsn", "data")]
        return {field.name: field.default for field in fields}

    @classmethod
    def lacks(cls) -> str | None:
        """Why no part can be measured, if so."""
        return None

    @classmethod
    def database(cls, name: str) -> AbstractContextManager[str]:
        """DSN of a database with nothing but pganon."""
        return support.bench_database(name)

    @staticmethod
    def judged(found: Row) -> Row:
        """What follows from the figures of all parts that were measured, such as claims."""
        return {}

    @staticmethod
    def draw(found: Row, folder: Path) -> None:
        """Write the plots that there are figures for."""


def run(
    name: str,
    kind: type[Benchmark],
    settings: Mapping[str, Any],
    parts: Iterable[str],
    *,
    resumes: bool = False,
) -> Row:
    """Measure parts one by one, and show them with those that the last run measured.

    What was found is written after every part, so a failure loses no more than the part in which it
    happens. Figures of other settings are not kept.

    Args:
        resumes: parts that the folder of results has with these settings are not measured again.
    """
    wanted = json.loads(json.dumps({**kind.defaults(), **settings}))
    found = _read(name)
    if found.get("settings") != wanted:
        found = {"settings": wanted}
    seconds = found.setdefault("seconds", {})
    data = support.data_folder()
    doable = [part for part in parts if _can_run(kind, part, data)]
    open_ones = [part for part in doable if not (resumes and part in seconds)]
    for part in doable:
        if part not in open_ones:
            print(f"{name}: {part} is in {_file(name)}", file=sys.stderr)
    if open_ones:
        with kind.database(name) as dsn:
            bench = kind(dsn=dsn, data=data, **settings)
            for place, part in enumerate(open_ones, start=1):
                print(f"{name}: {part}, {place} of {len(open_ones)}", file=sys.stderr)
                began = time.monotonic()
                found[part] = list(_told(getattr(bench, part)(), began))
                seconds[part] = round(time.monotonic() - began)
                _write(name, found)
    found |= kind.judged(found)
    for table in kind.tables:
        rows = [row for row in found.get(table.part, ()) if table.chosen(row)]
        if rows:
            support.print_rows(table.title, table.columns, rows)
    print(f"written: {_write(name, found)}")
    if _drawable():
        kind.draw(found, RESULTS)
    return found


def _told(rows: Iterable[Row], began: float) -> Iterator[Row]:
    """The rows, with a line about each as it comes."""
    for number, row in enumerate(rows, start=1):
        print(f"  {time.monotonic() - began:,.0f} s: row {number}", file=sys.stderr)
        yield row


def _can_run(kind: type[Benchmark], part: str, data: Path | None) -> bool:
    lacks = kind.lacks()
    if lacks is None and part in kind.real and data is None:
        lacks = "PGANON_DATA names no folder of real data"
    if lacks is not None:
        print(f"{part} is skipped: {lacks}", file=sys.stderr)
    return lacks is None


def _file(name: str) -> Path:
    return RESULTS / f"{name}.json"


def _read(name: str) -> Row:
    file = _file(name)
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _write(name: str, found: Row) -> Path:
    """Write all at once: who is killed meanwhile leaves what was there."""
    RESULTS.mkdir(exist_ok=True)
    file = _file(name)
    new = file.with_suffix(".new")
    new.write_text(json.dumps(found, indent=2), encoding="utf-8")
    return new.replace(file)


def _drawable() -> bool:
    """Whether plots can be drawn; a word if matplotlib is missing."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        wanted = "matplotlib is not installed (pip install -e '.[bench]')"
        print(f"plots are skipped: {wanted}", file=sys.stderr)
        return False
    matplotlib.use("Agg")  # needs no display
    return True
