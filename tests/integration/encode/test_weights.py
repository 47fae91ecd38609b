"""A column of role `weight`: what a run tells of it, and that nobody else sees it."""

from __future__ import annotations

from typing import Any

import pytest

from pganon.errors import PreconditionError
from tests.support.harness.cluster import Database
from tests.support.harness.driver import publish
from tests.support.sources.builders import make_table, policy

pytestmark = pytest.mark.primary_server_only

COLUMNS = {"q": "integer", "r": "text", "w": "double precision"}


def declared(**changes: Any) -> dict[str, Any]:
    said = policy({"q": "q", "r": "q"}, [{"model": "k_anonymity", "k": 2}], **changes)
    return {**said, "columns": {**said["columns"], "w": {"role": "weight"}}}


def rows(*weights: Any) -> list[list[Any]]:
    return [[n % 3, "ab"[n % 2], weight] for n, weight in enumerate(weights)]


def test_a_run_measures_the_source_and_publishes_no_weight(db: Database) -> None:
    source = db.connect("source_owner")
    make_table(source, COLUMNS, rows(*[1.5 + n // 6 + (n % 6 == 0) for n in range(30)]))
    result = publish(db, declared())
    found = dict(
        source.execute(
            "SELECT measure, value FROM pganon.risk('public.t', '{q,r}', weight => 'w')"
            " WHERE measure IN ('expected', 'global')"
        ).fetchall()
    )
    assert result.weighted is not None
    assert result.weighted == pytest.approx({k: float(v) for k, v in found.items()}, rel=1e-12)
    columns = db.admin.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
        [result.view],
    ).fetchall()
    assert "w" not in {name for (name,) in columns}


def test_every_record_needs_a_weight(db: Database) -> None:
    wrong = (0, -1, None, float("inf"), float("nan"))
    make_table(db.connect("source_owner"), COLUMNS, rows(*[31.25] * 9, *wrong))
    with pytest.raises(PreconditionError) as caught:
        publish(db, declared())
    assert caught.value.message == "column w has no weight in 5 records"
    assert "31.25" not in f"{caught.value} {caught.value.hint}"
