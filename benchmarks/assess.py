"""`assess` against a plain GROUP BY of the same columns, on a generated table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import psycopg

from benchmarks.benchmark import Benchmark, Row, Table

TABLE = b"""
CREATE TABLE assessed AS
SELECT (random() * %(ages)d)::int AS age, 'zip ' || (random() * %(zips)d)::int AS zip,
    CASE WHEN random() < 0.5 THEN 'm' ELSE 'f' END AS sex,
    'disease ' || (random() * random() * 9)::int AS disease
FROM generate_series(1, %(rows)d)
"""
COLUMNS = b"age, zip, sex, disease"
FETCHED = b"SELECT " + COLUMNS + b", count(*) FROM assessed GROUP BY " + COLUMNS
PLAIN = b"SELECT count(*) FROM (" + FETCHED + b") AS x"
CALLS = {
    "assess": b"SELECT * FROM pganon.assess('assessed', '{age,zip,sex}', '{disease}')",
    "k_anonymity": b"SELECT pganon.k_anonymity('assessed', '{age,zip,sex}')",
    "l_diversity": b"SELECT pganon.l_diversity('assessed', '{age,zip,sex}', 'disease')",
    "t_closeness": b"SELECT pganon.t_closeness('assessed', '{age,zip,sex}', 'disease')",
    "risk": b"SELECT * FROM pganon.risk('assessed', '{age,zip,sex}')",
}
_SHOWN = ("call", "classes", "seconds", "group_by", "ratio", "ratio_not_fetched")


@dataclass(frozen=True, kw_only=True)
class Assess(Benchmark):
    """Seconds and ratios; server defaults, warm, best of three."""

    rows: int = 1_000_000

    parts: ClassVar = ("dense", "sparse")
    tables: ClassVar = tuple(
        Table(part, f"{part}: against GROUP BY (fetched, or counted in the server)", _SHOWN)
        for part in parts
    )

    def dense(self) -> Iterator[Row]:
        return self._calls(ages=50, zips=20)

    def sparse(self) -> Iterator[Row]:
        return self._calls(ages=90, zips=1100)

    def _calls(self, ages: int, zips: int) -> Iterator[Row]:
        with psycopg.connect(self.dsn, autocommit=True) as conn:
            conn.execute("SELECT setseed(0.5)")
            conn.execute("DROP TABLE IF EXISTS assessed")
            conn.execute(TABLE % {b"ages": ages, b"zips": zips, b"rows": self.rows})
            conn.execute("VACUUM ANALYZE assessed")
            row = conn.execute(
                "SELECT count(*) FROM pganon.equivalence_classes('assessed', '{age,zip,sex}')"
            ).fetchone()
            fetched, plain = _best(conn, FETCHED), _best(conn, PLAIN)
            for name, call in CALLS.items():
                seconds = _best(conn, call)
                yield {
                    "rows": self.rows,
                    "classes": row[0] if row else 0,
                    "call": name,
                    "seconds": seconds,
                    "group_by": fetched,
                    "ratio": seconds / fetched,
                    "group_by_not_fetched": plain,
                    "ratio_not_fetched": seconds / plain,
                }


def _best(conn: psycopg.Connection[Any], text: bytes) -> float:
    best = float("inf")
    for _ in range(4):  # the first warms up
        began = time.perf_counter()
        conn.execute(text).fetchall()
        best = min(best, time.perf_counter() - began)
    return best
