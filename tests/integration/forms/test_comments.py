"""Columns that count say in their COMMENT how to count with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

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
