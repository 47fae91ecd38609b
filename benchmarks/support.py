"""A database of its own for a benchmark, baselines, and runs measured from outside."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import psycopg
from psycopg import conninfo, sql
from rich.console import Console
from rich.table import Table

from pganon import database, embedded
from pganon.importing.files import import_file
from pganon.importing.form import Format
from pganon.install import installer

Row = dict[str, Any]

PROGRAM: Sequence[str] = (sys.executable, "-m", "pganon.cli.main")
WIDTH = 200


def data_folder() -> Path | None:
    """The folder of the real data sets."""
    given = os.environ.get("PGANON_DATA")
    return Path(given) if given and Path(given).is_dir() else None


@contextmanager
def bench_database(name: str) -> Iterator[str]:
    """DSN of a fresh database: on PGANON_BENCH_DSN's server, else on the embedded one.

    No two benchmarks share tables, versions that were readable, or secrets.
    """
    given = os.environ.get("PGANON_BENCH_DSN")
    if given is None:
        cluster = embedded.embedded()
        cluster.start()
        given = cluster.dsn()
    made = f"pganon_bench_{name}"
    drop = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(made))
    with psycopg.connect(given, autocommit=True) as conn:
        conn.execute(drop)
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(made)))
    try:
        dsn = conninfo.make_conninfo(given, dbname=made)
        with database.connect(dsn) as conn:
            installer.init(conn)
        yield dsn
    finally:
        with psycopg.connect(given, autocommit=True) as conn:
            conn.execute(drop)


def forget(dsn: str) -> None:
    """Install pganon anew: methods that publish a source once can then publish it again."""
    with database.connect(dsn) as conn:
        installer.uninstall(conn, purge=True)
        conn.execute("DROP SCHEMA IF EXISTS published, pganon_data CASCADE")
        installer.init(conn)


# -- tables -----------------------------------------------------------------------------------


def execute(dsn: str, text: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(text.encode())


def lines_of(file: Path, *, without: str | None = None) -> Iterator[str]:
    """Lines of a file, perhaps a .gz, that are not blank and do not hold the missing value."""
    with gzip.open(file, "rt") if file.suffix == ".gz" else file.open() as lines:
        for line in lines:
            if line.strip() and (without is None or without not in line):
                yield line


def load(dsn: str, table: str, lines: Iterable[str], form: Format) -> int:
    """(Re)create a table of these lines; how many rows it has."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "lines.csv"
        with file.open("w") as out:
            out.writelines(lines)
        with database.connect(dsn) as conn:
            return import_file(conn, file, table, form=form, replace=True).rows


def sorted_copy_seconds(dsn: str, table: str, columns: Sequence[str]) -> float:
    """The baseline: CREATE TABLE AS SELECT * ORDER BY into a logged table, best of three.

    Server defaults, warm, parallel query allowed.
    """
    order = sql.SQL(", ").join(sql.Identifier(name) for name in columns)
    copy = sql.SQL("CREATE TABLE baseline AS SELECT * FROM {} ORDER BY {}").format(
        sql.Identifier(table), order
    )
    best = float("inf")
    with psycopg.connect(dsn, autocommit=True) as conn:
        for _ in range(4):  # the first warms up
            conn.execute("DROP TABLE IF EXISTS baseline")
            began = time.perf_counter()
            conn.execute(copy)
            best = min(best, time.perf_counter() - began)
        conn.execute("DROP TABLE baseline")
        conn.execute("CHECKPOINT")
    return best


# -- runs -------------------------------------------------------------------------------------


_LAUNCHED = """
import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as peak:
    peak.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""
"""What the kernel says of a process is at least the memory of the one that it was forked from: this
one has hardly any."""


@dataclass(frozen=True)
class Measured:
    """A `pganon run` as a process of its own.

    Attributes:
        peak_mb: largest resident memory of the Python process.
    """

    result: Row
    peak_mb: float

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of the steps by phase, in the order of the run."""
        phases: dict[str, float] = {}
        for step in self.result["steps"]:
            phases[step["phase"]] = phases.get(step["phase"], 0.0) + step["seconds"]
        return phases

    @property
    def seconds(self) -> float:
        """Wall time inside the run, without what a dry run alone does."""
        return self.result["seconds"] - self.phases.get("explain", 0.0)


class RunFailed(SystemExit):
    """A `pganon run` that failed; ends the benchmark unless caught.

    Attributes:
        error: what the run printed: code, message, hint and more.
    """

    def __init__(self, error: Row) -> None:
        super().__init__(f"pganon run failed: {error}")
        self.error = error

    def reason(self, *codes: str) -> str:
        """The message, if it has one of these codes.

        Raises:
            RunFailed: otherwise.
        """
        if self.error.get("code") not in codes:
            raise self
        return self.error["message"]


def run_policy(dsn: str, policy: Row, *options: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.json"
        file.write_text(json.dumps(policy), encoding="utf-8")
        out, peak = Path(folder) / "out.json", Path(folder) / "peak"
        command = [sys.executable, "-I", "-S", "-c", _LAUNCHED, str(peak)]
        command += [*PROGRAM, "run", str(file), "--json", *options]
        with out.open("wb") as target:
            ended = subprocess.run(
                command, stdout=target, env={**os.environ, "PGANON_DSN": dsn}, check=False
            )
        result = json.loads(out.read_text(encoding="utf-8"))
        if ended.returncode != 0:
            raise RunFailed(result["error"])
        return Measured(result, int(peak.read_text(encoding="utf-8")) / 1024)


def drawn(dsn: str, policy: Row, seed: int, *options: str) -> Measured:
    """A dry run: with the same seed it chooses the same in every benchmark, with others apart.

    Runs that publish would not do: over the same source all take over what the first has drawn,
    whatever the name of the release.
    """
    return run_policy(dsn, policy, "--dry-run", "--seed", str(seed), *options)


def draws(dsn: str, policy: Row, number: int, *options: str) -> list[Measured]:
    """So many of them."""
    return [drawn(dsn, policy, seed, *options) for seed in range(number)]


def means(rows: Sequence[Row], figures: Iterable[str]) -> Row:
    """The first row with the means of those figures that all rows have; of seconds the fewest, as
    other work on the machine makes them more and never less."""
    shared = [name for name in figures if all(row.get(name) is not None for row in rows)]
    found = {name: [row[name] for row in rows] for name in shared}
    of = {name: min if name.endswith("seconds") else mean for name in found}
    return {**rows[0], **{name: of[name](values) for name, values in found.items()}}


def spread(rows: Sequence[Row], figures: Iterable[str]) -> Row:
    """Figures of all draws and, of several, the least and the greatest."""
    found: Row = {}
    for name in figures:
        values = [row[name] for row in rows if row.get(name) is not None]
        found[f"{name}_drawn"] = values
        if len(values) > 1:
            found |= {f"{name}_least": min(values), f"{name}_most": max(values)}
    return found


# -- what is shown ----------------------------------------------------------------------------


def print_rows(title: str, names: Sequence[str], rows: Iterable[Row]) -> None:
    """A table; below it runs that were refused, by what was asked of them."""
    rows = list(rows)
    table = Table(title=title, title_justify="left")
    for name in names:
        words = any(isinstance(row.get(name), str) for row in rows)
        table.add_column(name, justify="left" if words else "right")
    refused: list[str] = []
    for row in rows:
        if "refused" in row:
            asked = [f"{name} {value}" for name, value in row.items() if name != "refused"]
            refused.append(f"{', '.join(asked)}: {row['refused']}")
        else:
            table.add_row(*[shown(row.get(name)) for name in names])
    console = Console(width=WIDTH)
    console.print(table)
    for line in dict.fromkeys(refused):
        console.print(f"refused: {line}", soft_wrap=True, highlight=False)


def check(name: str, found: Mapping[str, Any]) -> bool:
    """Whether all claims hold of those that figures were measured for; prints those that do not."""
    claims = [(shown(row["holds"]), row) for row in found.get("claims", ())]
    failed = [row for holds, row in claims if holds not in ("yes", "-")]
    decided = sum(holds != "-" for holds, _ in claims)
    print(f"{name}: {decided - len(failed)} of {decided} claims hold")
    for row in failed:
        print("  " + ", ".join(f"{key}: {shown(value)}" for key, value in row.items()))
    return not failed


def shown(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "NO"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
