"""Stays in a hospital: sources, policies and what is left of a run, for attacks on SLAMSA."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from psycopg import sql

from pganon.loading import load_policy
from pganon.policy.loader import LoadedPolicy
from tests.support.harness import driver, faults
from tests.support.harness.cluster import Database
from tests.support.oracles.sliced import ALIGNED, INDEPENDENT, Published, Relation, Row
from tests.support.sources.builders import Connection, make_table

SECRET = "Zanzibar-7319"
"""A value of the source that no message may hold."""

NAME = ("public", "stay")
COLUMNS = {
    "age": "integer",
    "zip": "text",
    "sex": "text",
    "nights": "integer",
    "disease": "text",
    "drug": "text",
    "symptom": "text",
}
QUASI, INSENSITIVE = ("age", "zip", "sex"), ("nights",)
SENSITIVE = ("disease", "drug", "symptom")
TABLES = (("disease", "drug"), ("symptom",))

METHODS: dict[str, dict[str, Any]] = {
    "aligned": {},
    "sliced": {"quasi_tables": [["age", "zip"], ["sex"]]},
    "independent": {"profile": "independent", "link_threshold": 1},
    "independent, sliced": {
        "profile": "independent",
        "link_threshold": 1,
        "quasi_tables": [["age", "zip"], ["sex"]],
    },
}
"""Every arrangement of the tables."""


def rows(count: int, seed: int = 7) -> list[tuple[Any, ...]]:
    """Random stays with a few NULLs; diseases hang on ages, drugs and symptoms on diseases."""
    rng = random.Random(seed)
    diseases = ("flu", "cold", "ulcer", "asthma", "gout", None, SECRET)
    found = []
    for _ in range(count):
        age, sex = rng.randint(0, 99), rng.choice("FM")
        place = min(age * 7 // 140 + rng.choice((0, 0, 1, 2)), 6)
        disease = diseases[place]
        if sex == "F" and disease == "gout":
            disease = rng.choice(("flu", "ulcer", "asthma"))
        found.append(
            (
                None if rng.random() < 0.05 else age,
                None if rng.random() < 0.05 else f"Z{rng.randint(1, 9)}",
                sex,
                rng.randint(0, 9),
                disease,
                f"d{(place + rng.randint(0, 2)) % 6}",
                rng.choice(("ache", "cough", "rash", "fever", None)),
            )
        )
    return found


def build(db: Database, table: Sequence[Sequence[Any]], **kinds: str) -> None:
    """The stays as public.stay; `kinds` are other types of columns."""
    make_table(db.connect("source_owner"), {**COLUMNS, **kinds}, table, name=NAME)


def requirement(l: int, **others: Any) -> list[dict[str, Any]]:  # noqa: E741 (the field's letter)
    return [{"model": "slicing_l_diversity", "l": l, **others}]


def document(*, options: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A policy over public.stay, with other options of the method and other top-level keys."""
    roles = {
        **dict.fromkeys(QUASI, "quasi_identifying"),
        **dict.fromkeys(INSENSITIVE, "insensitive"),
        **dict.fromkeys(SENSITIVE, "sensitive"),
    }
    return {
        "release": "stays",
        "source": "public.stay",
        "columns": {name: {"role": role} for name, role in roles.items()},
        "privacy": requirement(2),
        "method": {
            "name": "slamsa",
            "sensitive_tables": [list(table) for table in TABLES],
            "block_size": 40,
            **(options or {}),
        },
        "publish": {"readers": ["analyst"]},
        **changes,
    }


def policy(**changes: Any) -> LoadedPolicy:
    return load_policy(json.dumps(document(**changes)))


def release(db: Database, *, stable: bool = False, **changes: Any) -> Any:
    return faults.run(db.dsn(), policy(**changes), stable=stable)


def parts(db: Database, run_id: int) -> list[str]:
    """Stored relations that readers see, by name."""
    found = db.admin.execute(
        "SELECT substring(tablename, '_(.*)')::text FROM pg_tables"
        " WHERE schemaname = 'pganon_data' AND tablename ~ ('^r' || %s || '_') ORDER BY 1",
        [str(run_id)],
    )
    return [row[0] for row in found.fetchall()]


def stored(db: Database, run_id: int, part: str) -> list[Row]:
    """Rows as they lie in the table."""
    schema = "pganon_private" if part == "members" else "pganon_data"
    name = sql.Identifier(schema, f"r{run_id}_{part}")
    return driver.fetch(db.admin, sql.SQL("SELECT t.* FROM {} AS t").format(name))


def texts(db: Database, run_id: int) -> dict[str, list[str]]:
    """Rows of every relation that readers see, as they lie in the table."""
    found = {}
    for part in parts(db, run_id):
        name = sql.Identifier("pganon_data", f"r{run_id}_{part}")
        rows = db.admin.execute(sql.SQL("SELECT t::text FROM {} AS t").format(name))
        found[part] = [row[0] for row in rows.fetchall()]
    return found


def views(conn: Connection, name: str = "stays") -> list[str]:
    """Views of a release that a role may read; the join is the first."""
    found = conn.execute(
        "SELECT c.relname::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = relnamespace"
        " WHERE n.nspname = 'published' AND c.relname ~ ('^' || %s || '(_(qit|st)[0-9]*)?$')"
        " AND has_table_privilege(c.oid, 'SELECT') ORDER BY 1",
        [name],
    )
    return [row[0] for row in found.fetchall()]


def shown(conn: Connection, view: str) -> Relation:
    return driver.fetch(conn, sql.SQL("SELECT * FROM {}").format(sql.Identifier("published", view)))


def published(conn: Connection, name: str = "stays") -> Published:
    """What a role reads from all views but the join."""
    found = {view.removeprefix(name): shown(conn, view) for view in views(conn, name)}
    qits = [found[view] for view in found if view.startswith("_qit")]
    sts = [found[view] for view in found if view.startswith("_st")]
    links = INDEPENDENT if "st1_group_id" in qits[-1][0] else ALIGNED
    return Published(qits, sts, links)
