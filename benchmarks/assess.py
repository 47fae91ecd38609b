"""`assess` against a plain GROUP BY of the same columns, on a generated table."""

from __future__ import annotations

import time
from typing import Any

import psycopg

TABLE = b"""
CREATE TABLE assessed AS
SELECT (random() * %(ages)s)::int AS age, 'zip ' || (random() * %(zips)s)::int AS zip,
    CASE WHEN random() < 0.5 THEN 'm' ELSE 'f' END AS sex,
    'disease ' || (random() * random() * 9)::int AS disease
FROM generate_series(1, %(rows)s)
"""
COLUMNS = b"age, zip, sex, disease"
FETCHED = b"SELECT " + COLUMNS + b", count(*) FROM assessed GROUP BY " + COLUMNS
PLAIN = b"SELECT count(*) FROM (" + FETCHED + b") AS x"
SHAPES = {"dense": (50, 20), "sparse": (90, 1100)}
CALLS = {
    "assess": b"SELECT * FROM pganon.assess('assessed', '{age,zip,sex}', '{disease}')",
    "k_anonymity": b"SELECT pganon.k_anonymity('assessed', '{age,zip,sex}')",
    "l_diversity": b"SELECT pganon.l_diversity('assessed', '{age,zip,sex}', 'disease')",
    "t_closeness": b"SELECT pganon.t_closeness('assessed', '{age,zip,sex}', 'disease')",
    "risk": b"SELECT * FROM pganon.risk('assessed', '{age,zip,sex}')",
}


def measure(dsn: str, rows: int) -> list[dict[str, Any]]:
    """Seconds and ratios per shape of the table; server defaults, warm, best of three."""
    found: list[dict[str, Any]] = []
    with psycopg.connect(dsn, autocommit=True) as conn:
        for shape, (ages, zips) in SHAPES.items():
            conn.execute("SELECT setseed(0.5)")
            text = TABLE % {b"ages": b"%d" % ages, b"zips": b"%d" % zips, b"rows": b"%d" % rows}
            conn.execute("DROP TABLE IF EXISTS assessed")
            conn.execute(text)
            conn.execute("VACUUM ANALYZE assessed")
            row = conn.execute(
                "SELECT count(*) FROM pganon.equivalence_classes('assessed', '{age,zip,sex}')"
            ).fetchone()
            fetched, plain = _best(conn, FETCHED), _best(conn, PLAIN)
            for name, call in CALLS.items():
                seconds = _best(conn, call)
                found.append(
                    {
                        "table": shape,
                        "rows": rows,
                        "classes": row[0] if row else 0,
                        "call": name,
                        "seconds": round(seconds, 3),
                        "group_by": round(fetched, 3),
                        "ratio": round(seconds / fetched, 2),
                        "group_by_not_fetched": round(plain, 3),
                        "ratio_not_fetched": round(seconds / plain, 2),
                    }
                )
        conn.execute("DROP TABLE assessed")
    return found


def _best(conn: psycopg.Connection[Any], text: bytes) -> float:
    best = float("inf")
    for _ in range(4):  # the first warms up
        began = time.perf_counter()
        conn.execute(text).fetchall()
        best = min(best, time.perf_counter() - began)
    return best


def show(rows: list[dict[str, Any]]) -> None:
    print("\nassess against SELECT qi, s, count(*) GROUP BY (fetched, and counted in the server)")
    print(
        f"{'table':8} {'rows':>10} {'classes':>8} {'call':12} {'s':>7} {'ratio':>6} {'server':>7}"
    )
    for row in rows:
        print(
            f"{row['table']:8} {row['rows']:>10} {row['classes']:>8} {row['call']:12}"
            f" {row['seconds']:>7} {row['ratio']:>6} {row['ratio_not_fetched']:>7}"
        )
