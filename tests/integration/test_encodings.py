"""Databases with other encodings than UTF8."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.harness.cli import pganon
from tests.support.harness.cluster import Database, Server

Make = Callable[[str], Database]


@pytest.fixture
def encoded(server: Server) -> Iterator[Make]:
    """Makes a database of an encoding, in which `steward` may create schemas."""
    made: list[Database] = []

    def make(encoding: str) -> Database:
        db = Database(server, server.new_name())
        server.create_encoded(db.name, encoding)
        made.append(db)
        db.admin.execute("GRANT CREATE ON SCHEMA public TO steward, source_owner")
        return db

    yield make
    for db in made:
        db.close()


def test_sql_ascii_is_refused(encoded: Make, tmp_path: Path) -> None:
    db = encoded("SQL_ASCII")
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    for command in (["init"], ["import", str(table), "public.t"]):
        ran = pganon(*command, "--dsn", db.dsn(), "--json")
        assert (ran.code, ran.json["error"]["code"]) == (2, "server_encoding")
        assert "UTF8" in ran.json["error"]["hint"]
    assert db.admin.execute(
        "SELECT to_regnamespace('pganon'), to_regclass('public.t')"
    ).fetchone() == (None, None)


POLICY = {
    "release": "people",
    "source": "public.person",
    "columns": {
        "age": {"role": "quasi_identifying"},
        "city": {"role": "quasi_identifying", "hierarchy": {"inline": {"*": ["Žižkov"]}}},
        "disease": {"role": "sensitive"},
    },
    "privacy": [{"model": "k_anonymity", "k": 2}],
    "method": {"name": "mondrian"},
}


@pytest.mark.parametrize(
    ("change", "field", "stands_at"),
    [
        ({}, "columns.city.hierarchy.inline", '"inline"'),
        ({"where": "city <> 'Łódź'"}, "where", "Łódź"),
        ({"release": "Žižkov"}, "release", "Žižkov"),
        ({"source": "public.Žižkov"}, "source", "Žižkov"),
        ({"columns.age.as": "wiek_łączny"}, "columns.age.as", "łączny"),
        ({"publish": {"schema": "published", "readers": ["Žofie"]}}, "publish.readers[0]", "Žofie"),
    ],
)
def test_texts_that_latin1_cannot_store(
    encoded: Make, tmp_path: Path, change: dict[str, object], field: str, stands_at: str
) -> None:
    db = encoded("LATIN1")
    assert pganon("init", "--dsn", db.dsn()).code == 0
    db.source("CREATE TABLE public.person (age int, city text, disease text)")
    policy = json.loads(json.dumps(POLICY))
    if change:
        del policy["columns"]["city"]["hierarchy"]
    for place, value in change.items():
        *folders, name = place.split(".")
        target = policy
        for folder in folders:
            target = target[folder]
        target[name] = value
    file = tmp_path / "people.json"
    file.write_text(json.dumps(policy, indent=1, ensure_ascii=False), encoding="utf-8")
    lines = file.read_text(encoding="utf-8").splitlines()
    line = next(n for n, text in enumerate(lines, 1) if stands_at in text)
    for command in ("check", "plan", "run"):
        ran = pganon(command, str(file), "--dsn", db.dsn())
        said = ran.out if command == "check" else ran.err
        assert ran.code == (1 if command == "check" else 2), said
        assert "the database's encoding LATIN1 lacks" in said
        assert re.search(rf"people.json: ?{line}: {re.escape(field)}", said)
