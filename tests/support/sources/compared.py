"""Releases that grow under models that compare: their source, their policy, what they show."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from pganon.publish import lifecycle
from pganon.run.record import RunResult
from pganon.run.release import run_release
from tests.support.harness import driver
from tests.support.harness.cluster import Connection, Database
from tests.support.oracles.compared import TREE, Value

SOURCE = "CREATE TABLE public.person (id integer PRIMARY KEY, age integer, city text, s {kind})"
COLUMN: dict[str, Any] = {"role": "sensitive"}

HIDES = "lgb_mdp"
"""It has buckets of values, which are compared with all values in buckets of the first version."""

T: dict[str, Any] = {"model": "t_closeness", "t": 0.3, "distance": "equal"}


def policy(model: dict[str, Any], **changes: Any) -> dict[str, Any]:
    hierarchical = model.get("distance") == "hierarchical"
    return {
        "release": "people",
        "source": "public.person",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "city": {"role": "quasi_identifying"},
            "s": {**COLUMN, "hierarchy": {"inline": TREE}} if hierarchical else COLUMN,
        },
        "privacy": [{"model": "k_anonymity", "k": 2}, {"column": "s", **model}],
        "method": {"name": "mondrian"},
        "refresh": "increments",
        "increment_size": 2,
        "suppression_limit": 1,
        **changes,
    }


def add(db: Database, first: int, values: Sequence[Value], rng: random.Random) -> None:
    rows = [
        (first + n, rng.randint(20, 60), rng.choice(("Rome", "Oslo", "Bern")), value)
        for n, value in enumerate(values)
    ]
    with db.connect("source_owner").cursor() as cursor:
        cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)


def make(db: Database, kind: str) -> None:
    db.source(SOURCE.format(kind=kind))


def grow(db: Database, document: dict[str, Any]) -> RunResult:
    return run_release(driver.loaded(document), dsn=db.dsn())


def groups(conn: Connection, method: str) -> dict[int, list[Value]]:
    """Values of every class, or of every bucket."""
    if method != HIDES:
        return classes(conn)
    found: dict[int, list[Value]] = defaultdict(list)
    for number, value, n in conn.execute("SELECT * FROM published.people_values_s").fetchall():
        found[number] += [value] * n
    return found


def classes(conn: Connection) -> dict[int, list[Value]]:
    found: dict[int, list[Value]] = defaultdict(list)
    for number, value in conn.execute("SELECT class_id, s FROM published.people").fetchall():
        found[number].append(value)
    return found


def references(conn: Connection) -> list[str]:
    """The stored distributions of all increments, oldest first."""
    rows = conn.execute(
        "SELECT 'pganon_private.' || tablename FROM pg_tables"
        " WHERE tablename ~ '^r[0-9]+_reference'"
        " ORDER BY substr(tablename, 2, strpos(tablename, '_') - 2)::int"
    ).fetchall()
    return [name for (name,) in rows]


def measured_of(conn: Connection, model: dict[str, Any]) -> dict[str, float | None]:
    """By what it was held against, as verification finds it in the stored relations."""
    findings = lifecycle.verify(conn, "people")
    assert [finding for finding in findings if not finding.holds] == []
    return {f.against: f.measured for f in findings if f.model == model["model"]}


def released(db: Database, first: int, letters: str, document: dict[str, Any]) -> RunResult:
    """A run after these people came; they are of one age, so that they are one class."""
    rows = [(first + n, 30, "Rome", letter) for n, letter in enumerate(letters)]
    with db.connect("source_owner").cursor() as cursor:
        cursor.executemany("INSERT INTO public.person VALUES (%s, %s, %s, %s)", rows)
    return grow(db, document)
