"""A database of its own for a benchmark, baselines, and runs measured from outside."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from rich.console import Console
from rich.table import Table

from pganon import database, embedded
from pganon.importing import Format, import_file
from pganon.install import installer

DATABASE = "pganon_bench"
RESULTS = Path("bench-results")


def data_folder() -> Path | None:
    """The folder of the real data sets, or None with a word about it."""
    given = os.environ.get("PGANON_DATA")
    if given and Path(given).is_dir():
        return Path(given)
    print("PGANON_DATA is not set: benchmarks on real data are skipped", file=sys.stderr)
    return None


@contextmanager
def bench_database() -> Iterator[str]:
    """DSN of a fresh database: on PGANON_BENCH_DSN's server, else on the embedded one."""
    given = os.environ.get("PGANON_BENCH_DSN")
    if given is None:
        cluster = embedded.embedded()
        cluster.start()
        given = cluster.dsn()
    name = sql.Identifier(DATABASE)
    with psycopg.connect(given, autocommit=True) as conn:
        conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        conn.execute(sql.SQL("CREATE DATABASE {}").format(name))
    try:
        dsn = psycopg.conninfo.make_conninfo(given, dbname=DATABASE)
        with database.connect(dsn) as conn:
            installer.init(conn)
        yield dsn
    finally:
        with psycopg.connect(given, autocommit=True) as conn:
            conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


def forget(dsn: str) -> None:
    """Install pganon anew: methods that publish a source once can then publish it again."""
    with database.connect(dsn) as conn:
        installer.uninstall(conn, purge=True)
        conn.execute("DROP SCHEMA IF EXISTS published, pganon_data CASCADE")
        installer.init(conn)


def execute(dsn: str, text: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(text.encode())


def load(dsn: str, file: Path, table: str, form: Format) -> int:
    with database.connect(dsn) as conn:
        return import_file(conn, file, table, form=form).rows


def sorted_copy_seconds(dsn: str, table: str, columns: list[str]) -> float:
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


@dataclass(frozen=True)
class Measured:
    """A `pganon run` as a process of its own.

    Attributes:
        seconds: wall time inside the run, from connecting to published.
        peak_mb: largest resident memory of the Python process.
    """

    result: dict[str, Any]
    seconds: float
    peak_mb: float


class RunFailed(SystemExit):
    """A `pganon run` that failed; ends the benchmark unless caught.

    Attributes:
        error: what the run printed: code, message, hint and more.
    """

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"pganon run failed: {error}")
        self.error = error


def run_policy(dsn: str, policy: dict[str, Any], *options: str) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.json"
        file.write_text(json.dumps(policy), encoding="utf-8")
        command = [sys.executable, "-m", "pganon.cli.main", "run", str(file), "--json", *options]
        out = Path(folder) / "out.json"
        with out.open("wb") as target:
            process = subprocess.Popen(
                command, stdout=target, env={**os.environ, "PGANON_DSN": dsn}
            )
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        result = json.loads(out.read_text(encoding="utf-8"))
    if process.returncode != 0:
        raise RunFailed(result["error"])
    return Measured(result, result["seconds"], usage.ru_maxrss / 1024)


def phase_seconds(measured: Measured) -> dict[str, float]:
    """Seconds of the steps by phase, in the order of the run."""
    phases: dict[str, float] = {}
    for step in measured.result["steps"]:
        phases[step["phase"]] = phases.get(step["phase"], 0.0) + step["seconds"]
    return phases


def write_json(name: str, value: object) -> None:
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{name}.json"
    file.write_text(json.dumps(value, indent=2), encoding="utf-8")
    print(f"\nwritten: {file}")


def kept(name: str) -> dict[str, Any]:
    """The figures of the last run of a benchmark, of which another may measure some parts anew."""
    file = RESULTS / f"{name}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def redraw(name: str, draw: Callable[[dict[str, Any], Path], None]) -> None:
    """Draw the plots of a benchmark from the figures of its last run."""
    file = RESULTS / f"{name}.json"
    if not file.exists():
        raise SystemExit(f"there is no {file}; run: python -m benchmarks {name}")
    draw(json.loads(file.read_text(encoding="utf-8")), RESULTS)


def unpack(source: Path, target: Path, missing: str | None = None) -> None:
    """Copy the lines of a gzip file that are not blank and do not hold the missing value."""
    with gzip.open(source, "rt") as lines, target.open("w") as out:
        out.writelines(
            line for line in lines if line.strip() and (missing is None or missing not in line)
        )


def drawable(folder: Path) -> bool:
    """Whether plots can be written there; a word if matplotlib is missing."""
    try:
        import matplotlib
    except ModuleNotFoundError:
        wanted = "matplotlib is not installed (pip install -e '.[bench]')"
        print(f"plots are skipped: {wanted}", file=sys.stderr)
        return False
    matplotlib.use("Agg")  # needs no display
    folder.mkdir(exist_ok=True)
    return True


def print_rows(
    title: str,
    names: Sequence[str],
    rows: Iterable[dict[str, Any]],
    *,
    words: Collection[str],
    asked: Sequence[str],
    width: int = 200,
) -> None:
    """A table; below it runs that were refused, by what was `asked` of them.

    Args:
        words: columns that are not numbers.
    """
    table = Table(title=title)
    for name in names:
        table.add_column(name, justify="left" if name in words else "right")
    refused: list[str] = []
    for row in rows:
        if "refused" in row:
            said = ", ".join(f"{name} {row[name]}" for name in asked)
            refused.append(f"{said}: {row['refused']}")
        else:
            table.add_row(*[shown(row.get(name)) for name in names])
    Console(width=width).print(table)
    for line in dict.fromkeys(refused):
        print(f"refused: {line}")


def shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
