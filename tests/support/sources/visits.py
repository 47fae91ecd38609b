"""Visits to a hospital: sources, policies and what is left of a run, for tests of anatomy."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import sql

from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.sources.builders import Connection, make_table

SECRET = "Zanzibar-7319"
"""A value of the source that no message may hold."""

VIEWS = ("visits", "visits_qit", "visits_st")
COLUMNS = {"age": "integer", "zip": "text", "ward": "text", "nights": "integer", "disease": "text"}
DISEASES = ("flu", "cold", "ulcer", "asthma", "gout", None, SECRET)
NAME = ("public", "visit")


def rows(count: int, seed: int = 7, *, values: Sequence[Any] = DISEASES) -> list[tuple[Any, ...]]:
    """Random visits with a few NULLs; diseases hang on ages."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        age = rng.randint(0, 99)
        disease = values[min(age * len(values) // 140 + rng.choice((0, 0, 1, 2)), len(values) - 1)]
        found.append(
            (
                None if rng.random() < 0.05 else age,
                None if rng.random() < 0.05 else f"Z{rng.randint(1, 9)}",
                rng.choice("abc"),
                rng.randint(0, 9),
                disease,
            )
        )
    return found


def build(db: Database, table: Sequence[Sequence[Any]]) -> None:
    make_table(db.connect("source_owner"), COLUMNS, table, name=NAME)


def requirement(l: int, **others: Any) -> list[dict[str, Any]]:  # noqa: E741 (the field's letter)
    return [{"model": "anatomy_l_diversity", "column": "disease", "l": l, **others}]


def document(**changes: Any) -> dict[str, Any]:
    """A policy over public.visit, with other top-level keys."""
    return {
        "release": "visits",
        "source": "public.visit",
        "columns": {
            **{name: {"role": "quasi_identifying"} for name in ("age", "zip", "ward")},
            "nights": {"role": "insensitive"},
            "disease": {"role": "sensitive"},
        },
        "privacy": requirement(3),
        "method": {"name": "anatomy", "block_size": 16},
        "publish": {"readers": ["analyst"]},
        **changes,
    }


def policy(**changes: Any) -> LoadedPolicy:
    return load_policy(json.dumps(document(**changes)))


def release(db: Database, *, stable: bool = False, **changes: Any) -> Any:
    return faults.run(db.dsn(), policy(**changes), stable=stable)


# -- what is published --------------------------------------------------------------------------


@dataclass(frozen=True)
class Published:
    """Rows of the three views or of the tables below; quasi-identifiers and insensitive columns
    of a record are one tuple."""

    joined: list[tuple[Any, ...]]
    qit: list[tuple[int, tuple[Any, ...]]]
    st: list[tuple[int, Any, int]]

    @property
    def groups(self) -> dict[int, Counter[Any]]:
        """Records per value."""
        found: dict[int, Counter[Any]] = {}
        for number, value, n in self.st:
            found.setdefault(number, Counter())[value] += n
        return found


def published(conn: Connection, name: str = "visits", schema: str = "published") -> Published:
    def read(view: str) -> list[tuple[Any, ...]]:
        text = sql.SQL("SELECT * FROM {}").format(sql.Identifier(schema, view))
        return conn.execute(text).fetchall()

    qit = [(row[0], tuple(row[1:])) for row in read(f"{name}_qit")]
    st = [(row[0], row[1], row[2]) for row in read(f"{name}_st")]
    return Published(read(name), qit, st)


def stored(db: Database, run_id: int, part: str) -> list[tuple[Any, ...]]:
    """Rows as they lie in the table."""
    schema = "pganon_private" if part == "members" else "pganon_data"
    name = sql.Identifier(schema, f"r{run_id}_{part}")
    return db.admin.execute(sql.SQL("SELECT t.* FROM {} AS t").format(name)).fetchall()


# -- what the method did ------------------------------------------------------------------------


@dataclass(frozen=True)
class Dealt:
    """A staged release by keys of source records.

    Attributes:
        blocks: by number; the numbers of groups in every block.
        groups: records by number of the group.
    """

    staged: driver.Staged
    blocks: dict[int, list[int]]
    groups: dict[int, set[int]]

    def of_block(self, number: int) -> set[int]:
        return {record for group in self.blocks[number] for record in self.groups[group]}

    @property
    def suppressed(self) -> int:
        return int(self.staged.facts["suppressed"])


def deal(conn: Connection, declared: dict[str, Any], *, seed: int = 1) -> Dealt:
    """Stage a release of a source that has an integer key; `conn` is of pganon's owner."""
    staged = driver.run(conn, declared, seed=seed)
    blocks: dict[int, list[int]] = {}
    names = staged.state.work("numbers_b0").identifier
    text = sql.SQL("SELECT gid, b0 AS group_id FROM {} ORDER BY gid").format(names)
    for row in driver.fetch(conn, text):
        blocks.setdefault(row["gid"] >> 32, []).append(row["group_id"])
    groups: dict[int, set[int]] = {}
    for row in staged.table("members"):
        groups.setdefault(row["group_id"], set()).add(int(row["member"]))
    return Dealt(staged, blocks, groups)
