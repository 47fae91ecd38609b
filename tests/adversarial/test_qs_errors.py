"""Attack: provoke errors of the methods for clusters and read values from what they say."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pganon.errors import PganonError
from pganon.loading import load_policy
from pganon.run.release import run_release
from tests.support.harness import faults
from tests.support.harness.cli import pganon
from tests.support.harness.driver import leftovers
from tests.support.sources import vehicles
from tests.support.sources.builders import make_table

pytestmark = [pytest.mark.slow, pytest.mark.primary_server_only]

MARKER = vehicles.SECRET
YEAR = 7319_7319


def build(db: Any) -> None:
    rows = [
        (YEAR + n, f"{MARKER} c{n % 2}", f"{MARKER} z{n % 3}", YEAR, f"{MARKER} {n}", YEAR)
        for n in range(12)
    ]
    make_table(db.connect("source_owner"), vehicles.COLUMNS, rows, name=("public", "vehicle"))


def with_column(name: str, **keys: Any) -> dict[str, Any]:
    found = vehicles.document()
    found["columns"][name] |= keys
    return found


PROVOKED: dict[str, dict[str, Any]] = {
    "k too high": vehicles.document(privacy=vehicles.requirement(99)),
    "product too small": vehicles.document(privacy=vehicles.requirement(99, count="product")),
    "too few values": vehicles.document(privacy=vehicles.requirement(2, min_values=5)),
    "bad cast": vehicles.document(where="colour::integer > 0"),
    "division": vehicles.document(where="1 / (hour - hour) > 0"),
    "hierarchy gap": with_column("colour", hierarchy={"inline": {"any": {"x": ["a", "b"]}}}),
    "order gap": with_column("colour", type="ordinal", order=["x", "y"]),
    "nulls": {**with_column("zone", nulls="reject"), "where": "nullif(zone, colour) IS NULL"},
}


@pytest.mark.parametrize("name", PROVOKED)
@pytest.mark.parametrize("method", vehicles.METHODS)
def test_no_value_in_messages_or_ledger(db: Any, name: str, method: str, tmp_path: Any) -> None:
    build(db)
    declared = {**PROVOKED[name], "method": {"name": method}}
    with pytest.raises(PganonError) as raised:
        run_release(load_policy(json.dumps(declared)), dsn=db.dsn())
    error = raised.value
    ledger = db.admin.execute("SELECT to_jsonb(l) FROM pganon_private.ledger AS l").fetchall()
    file = tmp_path / "policy.json"
    file.write_text(json.dumps(declared))
    ran = pganon("run", str(file), "--dsn", db.dsn())
    assert ran.code in (1, 2, 3)
    for text in (str(error), repr(error), str(vars(error)), str(ledger), ran.out, ran.err):
        assert MARKER not in text
        assert str(YEAR)[:6] not in text
    assert leftovers(db) == []


def test_a_server_error_within_the_functions_shows_no_value(db: Any) -> None:
    """A timeout hits pganon.qs_clusters: its context would quote a statement with arrays."""
    rows = [(n, f"{MARKER} {n}", f"{MARKER} {n}", n * 7 % 3001, "", n) for n in range(3000)]
    make_table(db.connect("source_owner"), vehicles.COLUMNS, rows, name=("public", "vehicle"))
    loaded = vehicles.policy(
        method={"name": "qs_greedy", "block_size": 4096}, privacy=vehicles.requirement(60)
    )
    conns: list[faults.Connection] = []

    def shorten() -> None:
        conns[0].execute("SET statement_timeout = '300ms'")

    hook = faults.at("partition.formed", shorten)
    with faults.run_connection(conns.append), pytest.raises(PganonError) as raised:
        faults.run(db.dsn(), loaded, before=hook)
    assert raised.value.code == "statement_timeout"
    assert "step formed" in str(raised.value)
    chain: list[str] = []
    step: BaseException | None = raised.value
    while step is not None:
        chain += [str(step), repr(step), str(vars(step))]
        step = step.__cause__ or (None if step.__suppress_context__ else step.__context__)
    assert MARKER not in "".join(chain)
    assert leftovers(db) == []
