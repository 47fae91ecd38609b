"""A source that Citus distributes, against one whose rows come to the coordinator first."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

import psycopg

from benchmarks import classes, support
from benchmarks.benchmark import Benchmark, Row, Table
from benchmarks.spent import Spending
from pganon import Options, database, load_policy, run_release
from pganon.install import installer

GIVEN = "PGANON_BENCH_CITUS_DSN"

METHODS = ("one_dimensional", "mondrian, width")

QUASI = ("age", "education", "sex", "region")

SOURCE = """
DROP TABLE IF EXISTS public.shared CASCADE;
CREATE TABLE public.shared (
    id bigint, age integer, education integer, sex text, region text, occupation integer
);
SELECT create_distributed_table('public.shared', 'id');
CREATE VIEW public.pulled AS SELECT * FROM public.shared
"""
ROWS = b"""
INSERT INTO public.shared
SELECT n, (18 + 70 * power(random(), 1.6))::int, (1 + 16 * power(random(), 0.7))::int,
    (ARRAY['f', 'm'])[1 + (random() < 0.49)::int],
    'region ' || (%(regions)s * power(random(), 2))::int, (30 * power(random(), 1.5))::int
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
    and is what all their databases spend meanwhile. One process of the coordinator works on a
    statement.

    Args:
        rows: of the table of :mod:`benchmarks.classes`, with more regions.
        regions: 40 as there; 418: 10 million rows have about 975,000 combinations.
        l: distinct occupations in every class; 0: no matter how many.
    """

    rows: int = 1_000_000
    regions: int = 418
    l: int = 0  # noqa: E741

    parts: ClassVar = ("runs", "keyed")
    tables: ClassVar = tuple(
        Table(
            part,
            f"{title}: rows pulled first (a view), and left in shards (the table itself)",
            (
                *("method", "source", "phase", "rows", "coordinator", "workers", "down_mb"),
                *("up_mb", "across_mb", "coordinator_ratio", "up_ratio", "gcp"),
            ),
        )
        for part, title in (("runs", "without a key"), ("keyed", "with a key"))
    )

    @classmethod
    def lacks(cls) -> str | None:
        return None if GIVEN in os.environ else f"{GIVEN} names no database of Citus"

    @classmethod
    @contextmanager
    def database(cls, name: str) -> Iterator[str]:
        dsn = os.environ[GIVEN]
        with database.connect(dsn) as conn:
            conn.execute(b"ALTER ROLE CURRENT_USER SET search_path = pg_catalog, pg_temp")
            installer.init(conn)
        yield dsn

    def runs(self) -> Iterator[Row]:
        return self._measured_all(keyed=False)

    def keyed(self) -> Iterator[Row]:
        """What the distribution column is: the key of people, which versions remember."""
        return self._measured_all(keyed=True)

    def _measured_all(self, *, keyed: bool) -> Iterator[Row]:
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute(SOURCE.encode())
            conn.execute(ROWS, {"rows": self.rows, "regions": self.regions})
            conn.execute("ANALYZE public.shared")
            port = int(conn.info.port)
            processes = dict(conn.execute(PROCESSES).fetchall())
        for method in METHODS:
            first: dict[str, Row] = {}
            for source in ("pulled", "shared"):
                support.forget(self.dsn)
                policy = _policy(method, source, self.l, keyed=keyed)
                for row in self._measured(policy, port, processes):
                    before = first.setdefault(row["phase"], row)
                    yield {
                        "method": method,
                        "source": source,
                        "rows": self.rows,
                        **row,
                        "coordinator_ratio": _ratio(row, before, "coordinator"),
                        "up_ratio": _ratio(row, before, "up_mb"),
                    }
        support.execute(self.dsn, "DROP TABLE public.shared CASCADE")

    def _measured(self, policy: Row, port: int, processes: dict[int, int]) -> list[Row]:
        """Of every phase, and of all."""
        with Spending(port, processes) as spending:
            done = run_release(
                load_policy(json.dumps(policy)),
                dsn=self.dsn,
                options=Options(jobs=1, on_step=lambda phase, step, purpose: spending.begin(phase)),
            )
            time.sleep(0.5)  # for sessions to end
        gcp = done.utility.gcp if done.utility else None
        return [*spending.rows(), {"phase": "all", **spending.spent(), "gcp": gcp}]


def _ratio(row: Row, first: Row, name: str) -> float | None:
    return row[name] / first[name] if row.get(name) is not None and first.get(name) else None


def _policy(method: str, source: str, l: int, *, keyed: bool) -> Row:  # noqa: E741
    policy = classes.policy(
        "measured",
        source,
        QUASI,
        10,
        l=l,
        sensitive="occupation",
        method=classes.METHODS[method],
    )
    if keyed:
        policy["columns"]["id"] = {"role": "individual"}
    return policy
