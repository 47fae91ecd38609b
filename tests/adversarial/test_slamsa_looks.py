"""Attack: learn the order of the source from values that are equal and look different."""

from __future__ import annotations

import random

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database
from tests.support.sources import stays
from tests.support.sources.builders import make_table
from tests.support.sources.stays import release, texts

VALUES = [f"d{n:02}" for n in range(20)]

LOOKS = {
    "numeric": ["1.0", "1.00", "1"],
    "double precision": ["0", "-0"],
    "bpchar": ["a", "a "],
    'text COLLATE "public"."blind"': ["a", "A"],
    'char(3) COLLATE "public"."blind"': ["a", "A"],
    "public.citext": ["a", "A"],
}
"""Values of a type that compare equal and look different."""


ICU = (
    "SELECT FROM pg_collation WHERE collname = 'und-x-icu'",
    "CREATE COLLATION IF NOT EXISTS public.blind"
    " (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
)
CITEXT = (
    "SELECT FROM pg_available_extensions WHERE name = 'citext'",
    "CREATE EXTENSION citext SCHEMA public",
)
OPTIONAL = {"text COLLATE": ICU, "char(3) COLLATE": ICU, "public.citext": CITEXT}
"""Of some types, whether a server has them and what makes them."""


def looks(db: Database) -> dict[str, list[str]]:
    """Those of types that the server has."""
    known = [kind for kind in LOOKS if not kind.startswith(tuple(OPTIONAL))]
    for kind, (needed, created) in OPTIONAL.items():
        if db.admin.execute(needed.encode()).rowcount:
            db.admin.execute(created.encode())
            known += [found for found in LOOKS if found.startswith(kind)]
    return {kind: LOOKS[kind] for kind in known}


@pytest.mark.slow
def test_equal_values_that_look_different_keep_no_order(db: Database) -> None:
    """A sort that calls them equal would keep the order of the source, and so would a count."""
    kinds = looks(db)
    # A column that calls texts equal cannot be sensitive: its values would be counted.
    held = [f"s{i}" for i, kind in enumerate(kinds) if "COLLATE" not in kind]
    carried = [f"i{i}" for i in range(len(kinds))]
    usual = [found[0] for found in kinds.values()]
    rows = [
        (value, *[shown[int(name[1:])] for name in held], *shown)
        for at, found in enumerate(kinds.values())
        for look in found
        for shown in [[*usual[:at], look, *usual[at + 1 :]]]
        for value in VALUES
    ]
    roles = {
        **dict.fromkeys(("disease", *held), "sensitive"),
        **dict.fromkeys(carried, "insensitive"),
        "age": "quasi_identifying",
    }
    changes = {
        "columns": {name: {"role": role} for name, role in roles.items()},
        "privacy": stays.requirement(10, column="disease"),
        "options": {"sensitive_tables": [["disease"], held], "block_size": 500},
    }
    source = db.connect("source_owner")
    columns = {"disease": "text"} | _of(kinds, [*held, *carried])
    found = []
    for seed in (1, 2, 3):
        order = random.Random(seed).sample(rows, len(rows))
        make_table(source, columns, order, name=stays.NAME)
        source.execute("ALTER TABLE public.stay DROP COLUMN id, ADD COLUMN age integer DEFAULT 1")
        run_id = release(db, stable=True, republication="allow", **changes).run_id
        found.append(texts(db, run_id))
    assert found[0] == found[1] == found[2]
    for place, different in enumerate(kinds.values()):
        parts = (("st2", f"s{place}"), ("qit", f"i{place}"))
        for part, column in parts if f"s{place}" in held else parts[1:]:
            text = sql.SQL('SELECT DISTINCT t.{}::text COLLATE "C" FROM {} AS t')
            name = sql.Identifier("pganon_data", f"r{run_id}_{part}")
            shown = db.admin.execute(text.format(sql.Identifier(column), name)).fetchall()
            assert len(shown) == len({look.strip() for look in different}), column


def _of(kinds: dict[str, list[str]], columns: list[str]) -> dict[str, str]:
    """The type of every column, whose name ends in its place."""
    types = [*kinds]
    return {name: types[int(name[1:])] for name in columns}
