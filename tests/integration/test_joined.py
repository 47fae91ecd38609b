"""Dictionaries that are joined as one: for speed, and with no trace in what is released."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.encode import joined as joining
from pganon.encode.joined import AT_MOST
from tests.support import visits
from tests.support.cluster import Database

SLICED = [{"model": "slicing_l_diversity", "column": "disease", "l": 3}]
TABLES = [["age", "zip"], ["ward", "nights"], ["disease"]]
METHODS: list[dict[str, Any]] = [
    {"method": {"name": "anatomy", "block_size": 16}},
    {"method": {"name": "slicing", "columns": TABLES}, "privacy": SLICED},
    {"method": {"name": "slamsa", "optimizer": "base"}, "privacy": SLICED},
    {"method": {"name": "mondrian"}, "privacy": [{"model": "k_anonymity", "k": 5}]},
]
IDENTIFYING = {name: {"role": "quasi_identifying"} for name in ("age", "zip", "ward", "nights")}


def released(db: Database, changes: dict[str, Any]) -> list[Any]:
    """All stored tables of a release."""
    columns = {**IDENTIFYING, "disease": {"role": "sensitive"}}
    changes = {"columns": columns, "republication": "allow", **changes}
    found = visits.release(db, stable=True, **changes)
    names = db.admin.execute(
        "SELECT n.nspname || '.' || c.relname, c.oid::regclass::text FROM pg_class AS c"
        " JOIN pg_namespace AS n ON n.oid = c.relnamespace"
        " WHERE c.relkind = 'r' AND c.relname LIKE %s ORDER BY 1",
        [f"r{found.run_id}\\_%"],
    ).fetchall()
    assert len(names) >= 3
    tables = []
    for _, name in names:
        text = f"SELECT t::text FROM {name} AS t".encode()
        rows = [row[0] for row in db.admin.execute(text).fetchall()]
        tables.append(sorted(rows) if name.endswith("members") else rows)
    return tables


@pytest.mark.parametrize("changes", METHODS, ids=lambda changes: changes["method"]["name"])
def test_the_same_release(
    db: Database, monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    """One by one, by a few, and all in one."""
    visits.build(db, visits.rows(400))
    shown = []
    for at_most in (1, AT_MOST, 10**6):
        monkeypatch.setattr(joining, "AT_MOST", at_most)
        shown.append(released(db, changes))
    assert shown[0] == shown[1] == shown[2]
