"""Other tools on the same table, each from a table in PostgreSQL to a table in PostgreSQL.

Every tool is a process of its own that reads the source from the server, anonymizes it and writes
the result back; pganon is `pganon run`, from its start to published. What they made is measured by
one program (`peers_measured.py`). Tools come from the package index into an environment below the
cache folder, or by path.
"""

from __future__ import annotations

import csv
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from psycopg import sql

from benchmarks import adult, classes, full_domain, people, support
from benchmarks import peers_measured as figures
from benchmarks import peers_process as process
from benchmarks.benchmark import Benchmark, Row, Table

PACKAGES: Mapping[str, str] = {
    "anonypy": "anonypy",
    "anjana": "anjana",
    "lighthouse": "project-lighthouse-anonymize",
    "umbra": "umbra-k",
}
"""What the package index may have, by tool."""

OURS: Mapping[str, Row] = {
    "one_dimensional": {"name": "one_dimensional"},
    "mondrian": {"name": "mondrian"},
}
"""Methods of pganon."""

TABLE = "peers"
PEOPLE_QI = ("age", "education_num", "marital_status", "race", "sex", "native_country")
SENSITIVE = "occupation"

# Adult drawn with replacement, ages up to three years apart; the same on every server.
_DRAWN = """
DROP TABLE IF EXISTS peers;
CREATE TABLE peers AS
SELECT least(90, greatest(17, a.age + (hashint8extended(i, 2) & 1073741823) % 7 - 3))::int AS age,
    a.education, a.marital_status, a.race, a.sex, a.native_country, a.occupation
FROM generate_series(1, {rows}::bigint) AS i
JOIN (SELECT *, row_number() OVER () - 1 AS place FROM adult) AS a
    ON a.place = (hashint8extended(i, 1) & 1073741823) % (SELECT count(*) FROM adult);
"""

_SHOWN = (
    *("tool", "rows", "k", "l", "seconds", "cpu_seconds", "peak_mb", "server_mb", "gcp", "error"),
    *("suppressed", "classes", "smallest", "diversity", "holds"),
)
_RELEASED = "peers_released"
_RENAMED = "DROP TABLE IF EXISTS peers; ALTER TABLE people RENAME TO peers"
_STOP = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
)
_SCRIPT = Path(__file__).with_name("peers_run.py")


@dataclass(frozen=True)
class Input:
    """The table, and hierarchies for tools that need some."""

    columns: Sequence[str]
    hierarchies: figures.Hierarchies
    source: figures.Source


@dataclass(frozen=True)
class Task:
    """What is asked of a release of the table."""

    table: Input
    k: int
    l: int | None  # noqa: E741


@dataclass(frozen=True)
class Tool:
    """A tool that can be run.

    Attributes:
        python: that of the environment of other tools.
        path: where the tool is, unless it was installed.
        method: of pganon; None: another tool.
    """

    python: Path | None = None
    path: str = ""
    method: Row | None = None


@dataclass(frozen=True, kw_only=True)
class Peers(Benchmark):
    """On Adult where there are real data, else on generated people.

    Attributes:
        rows: of the larger tables: Adult drawn with replacement, ages up to three years apart.
        few: rows of the generated table that stands in for Adult.
        tools: only these; all by default.
        timeout: seconds after which a tool is stopped.
        environment: folder of the virtual environment; by default below the cache folder.
        arx: class path of ARX; needs Java with its compiler.
        mosaicrown: folder of the repository of Mondrian by mosaicrown.
    """

    rows: tuple[int, ...] = (100_000, 1_000_000, 10_000_000)
    few: int = 30_000
    ks: tuple[int, ...] = (5, 10, 50)
    tools: tuple[str, ...] = ()
    queries: int = 1000
    timeout: float = 600
    environment: str = ""
    arx: str = ""
    mosaicrown: str = ""

    installs: ClassVar = True
    parts: ClassVar = ("quality", "sizes")
    tables: ClassVar = (
        Table("quality", "Adult, 6 quasi-identifiers: from the table to the release", _SHOWN),
        Table("sizes", "Adult drawn with replacement, k = 5: the same", _SHOWN),
    )

    def quality(self) -> Iterator[Row]:
        """By k, and with l = 3 beside the first k; a tool that failed is not tried again."""
        asked = [(k, None) for k in self.ks] + [(self.ks[0], 3)]
        return self._each(None, asked, set())

    def sizes(self) -> Iterator[Row]:
        """A tool that failed or did not end in time is not tried on larger tables."""
        failed: set[str] = set()
        for rows in self.rows:
            yield from self._each(rows, [(self.ks[0], None)], failed)

    @staticmethod
    def judged(found: Row) -> Row:
        rows = [row for part in Peers.parts for row in found.get(part, ()) if "holds" in row]
        return {
            "claims": [
                {
                    "claim": f"{row['tool']} delivers k = {row['k']}"
                    + (f", l = {row['l']}" if row["l"] else ""),
                    "rows": row["rows"],
                    "holds": row["holds"],
                    "found": f"k = {row['smallest']}, l = {row['diversity']}",
                }
                for row in rows
            ]
        }

    @cached_property
    def _tools(self) -> Mapping[str, Tool | str]:
        """Tools by name, or why one cannot be run."""
        tools: dict[str, Tool | str] = {n: Tool(method=of) for n, of in OURS.items()}
        paths = {"arx": self.arx, "mosaicrown": self.mosaicrown}
        others = [name for name in (*PACKAGES, *paths) if self._wants(name)]
        if others:
            folder = Path(self.environment or _cache() / "pganon" / "peers")
            packages = {name: PACKAGES[name] for name in others if name in PACKAGES}
            python, problems = process.environment(folder, packages)
            for name in others:
                path = paths.get(name, "")
                if name in paths and not path:
                    problems[name] = f"--set {name}=PATH says where it is"
                tools[name] = problems.get(name) or Tool(python, path)
        return {name: tool for name, tool in tools.items() if self._wants(name)}

    def _wants(self, tool: str) -> bool:
        return not self.tools or tool in self.tools

    def _each(
        self, rows: int | None, asked: Sequence[tuple[int, int | None]], failed: set[str]
    ) -> Iterator[Row]:
        table = self._create(rows)
        for k, l in asked:  # noqa: E741
            for name, tool in self._tools.items():
                if name in failed:
                    continue
                print(f"{name}, k = {k}, l = {l or 1}", file=sys.stderr)
                row: Row = {"tool": name, "rows": int(table.source.counts.sum()), "k": k, "l": l}
                try:
                    if isinstance(tool, str):
                        raise process.NoResult(tool)
                    spent, released = self._run(name, tool, Task(table, k, l))
                    yield {
                        **row,
                        **asdict(spent),
                        **figures.measured(table.source, released, k, l, self.queries),
                    }
                except (process.NoResult, ValueError) as problem:
                    failed |= {name} if l is None else set()
                    yield {**row, "refused": str(problem)}

    def _run(self, name: str, tool: Tool, task: Task) -> tuple[process.Spent, figures.Released]:
        """What it took, and the release, which is gone afterwards.

        Raises:
            NoResult: it failed, or did not end in time.
            ValueError: its labels cannot be read.
        """
        support.forget(self.dsn)  # no earlier versions
        support.execute(self.dsn, f"DROP TABLE IF EXISTS {_RELEASED}")
        columns = task.table.columns
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "task.json"
            if tool.method is None:
                release = sql.Identifier(_RELEASED)
                file.write_text(json.dumps(self._task(name, tool, task)))
                command = [str(tool.python), str(_SCRIPT), str(file)]
            else:
                release = sql.Identifier("published", "peers")
                policy = classes.policy(
                    "peers",
                    TABLE,
                    columns,
                    task.k,
                    l=task.l or 0,
                    sensitive=SENSITIVE,
                    method=tool.method,
                )
                file.write_text(json.dumps(policy))
                command = [*support.PROGRAM, "run", str(file)]
            try:
                spent = process.measure(command, self.dsn, self.timeout)
            finally:
                # What a tool that was stopped has begun in the server.
                support.execute(self.dsn, _STOP)
        return spent, figures.read_released(
            self.dsn, release, columns, SENSITIVE, task.table.source
        )

    def _task(self, name: str, tool: Tool, task: Task) -> Row:
        """What `peers_run.py` reads."""
        table = task.table
        return {
            "tool": name,
            "path": tool.path,
            "dsn": self.dsn,
            "source": TABLE,
            "target": _RELEASED,
            "columns": table.columns,
            "numeric": [
                name
                for name, column in zip(table.columns, table.source.columns, strict=True)
                if column.numeric
            ],
            "sensitive": SENSITIVE,
            "k": task.k,
            "l": task.l,
            "hierarchies": table.hierarchies,
        }

    def _create(self, rows: int | None) -> Input:
        """(Re)create the table; None: as many rows as it has by itself."""
        if self.data is None:
            people.create(self.dsn, rows or self.few)
            support.execute(self.dsn, _RENAMED)
            return self._input(PEOPLE_QI, {})
        adult.load(self.dsn, TABLE if rows is None else "adult", adult.lines(self.data))
        if rows is not None:
            support.execute(self.dsn, _DRAWN.format(rows=int(rows)))
        folder = self.data / "adult" / "hierarchies_arx"
        return self._input(
            adult.QUASI,
            {
                name: list(csv.reader((folder / file).open(), delimiter=";"))
                for name, file in full_domain.ADULT.items()
            },
        )

    def _input(self, columns: Sequence[str], hierarchies: figures.Hierarchies) -> Input:
        support.execute(self.dsn, "VACUUM ANALYZE peers")
        source = figures.read_source(self.dsn, sql.Identifier(TABLE), columns, hierarchies)
        given = {
            name: hierarchies.get(name) or _steps(column)
            for name, column in zip(columns, source.columns, strict=True)
        }
        return Input(columns, given, source)


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _steps(column: figures.Column) -> Sequence[Sequence[str]]:
    """A hierarchy: numbers in steps of 5 and 20, and the top."""
    if not column.numeric:
        return [[value, "*"] for value in column.values]
    numbers = list(map(int, column.values))
    starts = [[(n, n - n % width, width) for width in (5, 20)] for n in numbers]
    return [
        [str(of[0][0]), *(f"{start}-{start + width - 1}" for _, start, width in of), "*"]
        for of in starts
    ]
