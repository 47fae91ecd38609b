"""A source that Citus distributes, against one whose rows come to the coordinator first."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import psycopg

from benchmarks import support
from benchmarks.benchmark import Benchmark, Row, Table
from benchmarks.spent import Bytes, cpu_seconds
from pganon import database
from pganon.install import installer

GIVEN = "PGANON_BENCH_CITUS_DSN"

QUASI = ("age", "education", "sex", "region", "status")

SOURCE = """
DROP TABLE IF EXISTS public.shared CASCADE;
CREATE TABLE public.shared (
    id bigint PRIMARY KEY, age integer, education integer, sex text, region text, status integer,
    disease text
);
SELECT create_distributed_table('public.shared', 'id');
CREATE VIEW public.pulled AS SELECT * FROM public.shared
"""
ROWS = b"""
INSERT INTO public.shared
SELECT n, 18 + (70 * power(random(), 1.6))::int, 1 + (16 * power(random(), 0.7))::int,
    (ARRAY['f', 'm'])[1 + (random() < 0.49)::int], 'region ' || (40 * power(random(), 2))::int,
    (4 * random())::int, 'disease ' || (20 * random() * random())::int
FROM generate_series(1, %(rows)s) AS n
"""
PROCESSES = b"""
SELECT n.nodeport, split_part(a.result, E'\\n', 1)::int
FROM run_command_on_all_nodes('SELECT pg_read_file(''postmaster.pid'')') AS a
JOIN pg_dist_node AS n USING (nodeid)
"""
"""Ports of servers with the numbers of their processes."""


@dataclass(frozen=True, kw_only=True)
class Citus(Benchmark):
    """CPU seconds of coordinator and workers and bytes between them, of runs that publish.

    PGANON_BENCH_CITUS_DSN is the connection string of a superuser in a database of the coordinator,
    which the benchmark takes for itself. What servers spend is known where all are on this machine,
    and is what all their databases spend meanwhile.
    """

    rows: int = 1_000_000

    parts: ClassVar = ("runs",)
    tables: ClassVar = (
        Table(
            "runs",
            "rows pulled first (a view), and left in shards (the table itself)",
            (
                *("method", "source", "rows", "seconds", "coordinator", "workers", "down_mb"),
                *("up_mb", "across_mb", "coordinator_ratio", "up_ratio", "gcp"),
            ),
        ),
    )

    @classmethod
    def lacks(cls) -> str | None:
        return None if GIVEN in os.environ else f"{GIVEN} names no database of Citus"

    @classmethod
    @contextmanager
    def database(cls, name: str) -> Iterator[str]:
        dsn = os.environ[GIVEN]
        with database.connect(dsn) as conn:
            installer.init(conn)
        yield dsn

    def runs(self) -> Iterator[Row]:
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(SOURCE.encode())
            conn.execute(ROWS, {"rows": self.rows})
            conn.execute("ANALYZE public.shared")
            port = int(conn.info.port)
            processes = dict(conn.execute(PROCESSES).fetchall())
        for method in ("one_dimensional", "mondrian"):
            first: Row = {}
            for source in ("pulled", "shared"):
                support.forget(self.dsn)
                row = self._measured(method, source, port, processes)
                first = first or row
                yield {
                    **row,
                    "coordinator_ratio": _ratio(row, first, "coordinator"),
                    "up_ratio": _ratio(row, first, "up_mb"),
                }
        support.execute(self.dsn, "DROP TABLE public.shared CASCADE")

    def _measured(self, method: str, source: str, port: int, processes: dict[int, int]) -> Row:
        before = {one: cpu_seconds(process) for one, process in processes.items()}
        with Bytes(processes) as sent:
            measured = support.run_policy(self.dsn, _policy(method, source))
        time.sleep(0.5)  # for sessions to end
        spent: dict[int, Any] = {one: cpu_seconds(process) for one, process in processes.items()}
        for one, seconds in before.items():
            spent[one] = None if seconds is None else spent[one] - seconds
        workers = [seconds for one, seconds in spent.items() if one != port]
        moved = sent.between(port) or {}
        return {
            "method": method,
            "source": source,
            "rows": self.rows,
            "seconds": measured.seconds,
            "coordinator": spent[port],
            "workers": None if None in workers else sum(workers),
            **{f"{way}_mb": number / 1e6 for way, number in moved.items()},
            "gcp": measured.result["utility"]["gcp"],
        }


def _ratio(row: Row, first: Row, name: str) -> float | None:
    return row[name] / first[name] if row.get(name) is not None and first.get(name) else None


def _policy(method: str, source: str) -> Row:
    return {
        "release": "measured",
        "source": f"public.{source}",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in QUASI},
            "id": {"role": "individual"},
            "disease": {"role": "sensitive"},
        },
        "privacy": [
            {"model": "k_anonymity", "k": 10},
            {"model": "distinct_l_diversity", "column": "disease", "l": 3},
        ],
        "method": {"name": method},
        "republication": "allow",
    }
