"""Searches over many columns and rows end, or say how far they came."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest

from pganon.assessment import call, quasi_identifiers
from tests.support.harness import cli
from tests.support.harness.cluster import Database

pytestmark = pytest.mark.primary_server_only

COLUMNS = 18


def wide(db: Database) -> None:
    columns = ", ".join(
        f"(hashtextextended(i::text, {c}) & 1)::int AS c{c}" for c in range(COLUMNS)
    )
    db.source(
        f"CREATE TABLE public.wide AS SELECT {columns} FROM generate_series(1, 30000) AS i;"
        " ANALYZE public.wide; GRANT SELECT ON public.wide TO steward"
    )


@pytest.fixture
def table(db_after: Any) -> Database:
    db, _ = db_after(wide)
    return db


def test_sets_are_those_of_all_combinations(table: Database) -> None:
    """Of three columns of two values 7 of 8 pairs differ; of parts of them fewer do."""
    with table.connect("steward") as conn:
        told: list[tuple[int, int]] = []
        names = [f"c{c}" for c in range(6)]
        found = quasi_identifiers(
            "wide", names, separation=0.8, conn=conn, told=lambda *n: told.append(n)
        )
        assert {item.columns for item in found} == set(combinations(names, 3))
        assert all(item.minimal and item.separation >= 0.8 for item in found)
        assert told[-1] == (56, 56)
        rows = conn.execute(
            "SELECT columns, separation FROM pganon.quasi_identifiers('public.wide', %s, 0.8, 4)",
            [names],
        ).fetchall()
    assert {tuple(columns) for columns, _ in rows} == {item.columns for item in found}


@pytest.mark.parametrize(("rows", "least", "most"), [(1000, 100, 3000), (0, 30000, 30000)])
def test_a_part_of_the_rows_is_read(table: Database, rows: int, least: int, most: int) -> None:
    """And what was drawn of them is gone afterwards."""
    with table.connect("steward") as conn:
        seen: list[int] = []
        real = call.Call._fetch

        def fetch(self: Any, name: str, values: Any) -> Any:
            if name == "set_figures":
                text = f"SELECT count(*) FROM {values['relation']}".encode()
                seen.append(self.conn.execute(text).fetchone()[0])
            return real(self, name, values)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(call.Call, "_fetch", fetch)
            quasi_identifiers("wide", ["c0", "c1"], rows=rows, conn=conn)
        assert least <= seen[0] <= most
        gone = conn.execute("SELECT to_regclass('pg_temp.pganon_drawn')").fetchone()
    assert gone == (None,)


def test_what_was_found_is_shown_when_it_is_stopped(
    table: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = call.Call._fetch, []

    def fetch(self: Any, name: str, values: Any) -> Any:
        calls.append(name)
        if calls.count("set_figures") == 3:
            raise KeyboardInterrupt
        return real(self, name, values)

    monkeypatch.setattr(call.Call, "_fetch", fetch)
    ran = cli.pganon("quasi", "wide", "--separation", "0.7", "--dsn", table.dsn())
    assert ran.code == 130
    assert "c0, c1" in ran.out
    assert "this is not all: 3,965 of 4,047 sets were not tried" in ran.err
    assert "--rows 0 takes all" in ran.err


def test_many_quasi_identifiers_are_assessed(db: Database) -> None:
    columns = ", ".join(f"i % {2 + c % 7} AS c{c}" for c in range(298))
    db.source(
        f"CREATE TABLE public.many AS SELECT {columns} FROM generate_series(1, 200) AS i;"
        " GRANT SELECT ON public.many TO steward"
    )
    names = ",".join(f"c{c}" for c in range(298))
    ran = cli.pganon("assess", "many", "--qi", names, "--json", "--dsn", db.dsn())
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert len(found["quasi_identifiers"]) == 298
    (said,) = [text for text in found["warnings"] if "single columns" in text]
    assert said.startswith("sets of up to three of 298 quasi-identifiers are 4,410,")
    names = ",".join(f"c{c}" for c in range(40))
    found = json.loads(cli.pganon("assess", "many", "--qi", names, "--json", "--dsn", db.dsn()).out)
    assert len(found["quasi_identifiers"]) == 40 + 780
