"""Columns that count say in their COMMENT how to count with them."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pganon.report.readers.document import Seen
from pganon.run.context import plan_release
from pganon.steps import State
from tests.support.harness import plans
from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database

METHODS: dict[str, tuple[str, str]] = {
    "anatomy": ("anatomy_l_diversity", "probability"),
    "slicing": ("slicing_l_diversity", "expected"),
}


@pytest.mark.primary_server_only
@pytest.mark.parametrize("method", METHODS)
def test_how_to_count(db: Database, method: str, tmp_path: Path) -> None:
    model, column = METHODS[method]
    db.source(
        "CREATE TABLE public.t AS SELECT g % 4 AS age, g % 2 AS sex,"
        " 'd' || ascii(md5('d' || g)) % 5 AS disease"
        " FROM generate_series(1, 400) AS g"
    )
    policy: dict[str, Any] = {
        "release": "r",
        "source": "public.t",
        "columns": {
            "age": {"role": "quasi_identifying"},
            "sex": {"role": "quasi_identifying"},
            "disease": {"role": "sensitive"},
        },
        "privacy": [{"model": model, "column": "disease", "l": 2}],
        "method": {"name": method},
    }
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(policy))
    ran = pganon("run", str(file), "--dsn", db.dsn())
    assert ran.code == 0, ran.err
    row = db.admin.execute(
        "SELECT col_description(attrelid, attnum) FROM pg_attribute"
        " WHERE attrelid = 'published.r'::regclass AND attname = %s",
        [column],
    ).fetchone()
    assert row is not None
    assert f"Count with sum({column}), not count(*)." in row[0]


_WORDS = {
    "quasi_identifying": "known",
    "quasi_sensitive": "known",
    "semi_sensitive": "known",
    "sensitive": "sensitive",
    "insensitive": "insensitive",
}


@pytest.mark.slow
@pytest.mark.primary_server_only
def test_comments_say_the_roles_of_columns(db: Database) -> None:
    """From them readers know which columns are what, and so has their edition of the report."""
    db.source(plans.SOURCE)
    for method in plans.METHODS:
        loaded = plans.policy_of(method)
        views = plan_release(loaded, dsn=db.dsn()).stored_views(State(1))
        columns = [{"view": str(v.name), **asdict(c)} for v in views for c in v.columns]
        seen = Seen("visits", 1, method, datetime.now(UTC), [], columns, "pganon")
        found: dict[str, list[str]] = {"known": [], "sensitive": [], "insensitive": []}
        for name, column in loaded.policy.columns.items():
            if column.role in _WORDS:
                found[_WORDS[column.role]].append(name)
        first = {c["name"] for c in seen.first}
        said = {"known": seen.known, "sensitive": seen.sensitive, "insensitive": seen.insensitive}
        for role, names in found.items():
            assert {*said[role]} == first & {*names}, (method, role)
