"""A small source that grows, and the policy of its release."""

from __future__ import annotations

from typing import Any

from pganon.run.options import Options
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Connection, Database

SOURCE = """
CREATE TABLE public.person (id integer PRIMARY KEY, age integer, city text, disease text);
"""

POLICY: dict[str, Any] = {
    "release": "people",
    "source": "public.person",
    "columns": {
        "age": {"role": "quasi_identifying"},
        "city": {"role": "quasi_identifying"},
        "disease": {"role": "sensitive"},
    },
    "privacy": [
        {"model": "k_anonymity", "k": 3},
        {"model": "distinct_l_diversity", "column": "disease", "l": 2},
    ],
    "method": {"name": "mondrian"},
    "refresh": "increments",
    "publish": {"readers": ["analyst"]},
}


def diverse(k: int, l: int) -> list[dict[str, Any]]:  # noqa: E741 - the letter of the definition
    return [
        {"model": "k_anonymity", "k": k},
        {"model": "distinct_l_diversity", "column": "disease", "l": l},
    ]


def add(db: Database, first: int, last: int) -> None:
    """People with these keys."""
    db.source(
        "INSERT INTO public.person SELECT n, 20 + n * 7 % 60, (ARRAY['Rome', 'Oslo'])[1 + n % 2],"
        f" (ARRAY['flu', 'cold', 'HIV'])[1 + n % 3] FROM generate_series({first}, {last}) AS n",
        grant=False,
    )


def add_diseases(db: Database, first: int, *diseases: str) -> None:
    """People who differ in nothing but their disease, with keys from the first on."""
    rows = ", ".join(f"({first + n}, 30, 'Rome', '{name}')" for n, name in enumerate(diseases))
    db.source(f"INSERT INTO public.person VALUES {rows}", grant=False)


def grow(db: Database, on_step: Any = None, dry_run: bool = False, **changes: Any) -> RunResult:
    """One run; `on_step` gets `<phase>.<step>` before each step."""

    def told(phase: str, step: str, purpose: str) -> None:
        if on_step is not None:
            on_step(f"{phase}.{step}")

    return run_release(
        driver.loaded({**POLICY, **changes}),
        dsn=db.dsn(),
        options=Options(on_step=told, dry_run=dry_run),
    )


def rows(conn: Connection, view: str = "published.people") -> list[tuple[Any, ...]]:
    return conn.execute(f"SELECT * FROM {view}".encode()).fetchall()


def shown(conn: Connection) -> set[tuple[Any, ...]]:
    """The rows of the release, each with how often it is there."""
    text = "SELECT v.*, count(*) FROM published.people AS v GROUP BY 1, 2, 3, 4, 5, 6"
    return {(row[0], *map(str, row[1:])) for row in conn.execute(text.encode()).fetchall()}


def cohorts(conn: Connection) -> list[tuple[int, bool]]:
    """People of the cohorts of every run that formed any, and whether a run finished them."""
    found = conn.execute(
        "SELECT run_id, finished_by IS NOT NULL FROM pganon_private.cohorts ORDER BY run_id"
    ).fetchall()
    return [
        (len(rows(conn, f"pganon_private.cohorts_{run_id}")), finished)
        for run_id, finished in found
    ]
