"""Measures of columns whose names are those that the functions use themselves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.harness.cluster import Database

NAMES = (
    *("n", "f", "q1", "class", "size", "value", "person", "measure", "cell", "mask", "weight"),
    *("t", "u", "c", "s", "r", "o", "w", "x", "h", "p", "b", "v", "d", "m", "people", "own", "rel"),
    *("qi", "columns", "numbers", "records", "individual", "household", "threshold", "code"),
)
PLAIN = ("one", "two", "who", "much")

CALLS = (
    "SELECT size FROM pganon.equivalence_classes({t}, {qi}) ORDER BY size",
    "SELECT pganon.k_anonymity({t}, {qi})",
    "SELECT pganon.l_diversity({t}, {qi}, '{s}')",
    "SELECT pganon.t_closeness({t}, {qi}, '{s}')",
    "SELECT pganon.beta_likeness({t}, {qi}, '{s}', 'basic')",
    "SELECT * FROM pganon.risk({t}, {qi}) ORDER BY 1, 2",
    "SELECT * FROM pganon.risk({t}, {qi}, {t}, '{s}') ORDER BY 1, 2",
    "SELECT * FROM pganon.risk({t}, {qi}, weight => '{w}', household => '{s}') ORDER BY 1, 2",
    "SELECT measure, value FROM pganon.assess({t}, {qi}, '{{{s}}}', '{w}') ORDER BY 1, 2",
    "SELECT * FROM pganon.risk({t}, {qi}, {t}, '{s}', max_global => 0.5) ORDER BY 1, 2",
    "SELECT measure, value FROM pganon.assess({t}, '{{{one}}}', '{{{two},{w}}}', '{s}',"
    " '{{}}', 2, true) ORDER BY 1, 2",
    "SELECT measure, value FROM pganon.expected_risk({t}, {qi}, NULL, NULL, 0.2, '{w}', '{s}', 0.5)"
    " ORDER BY 1",
    "SELECT value FROM pganon.suda({t}, {qi}, 2, 0.1) ORDER BY 1",
    "SELECT score FROM pganon.special_uniques({t}, {qi}) ORDER BY 1",
    "SELECT distinction, separation FROM pganon.distinguishing({t}, {qi}) ORDER BY 1, 2",
    "SELECT distinction, separation FROM pganon.greedy_set({t}, {qi}, 0.5, 2)",
    "SELECT distinction, minimal FROM pganon.quasi_identifiers({t}, {qi}, 0.1) ORDER BY 1",
    "SELECT * FROM pganon.reasoning_sizes({t}, {qi}, '{w}', '{s}') ORDER BY 1, 2",
    "SELECT pganon.lookalikes({t}, '{s}')",
)


def _found(db: Database, names: tuple[str, ...]) -> list[Any]:
    one, two, who, much = names
    db.source(
        f"DROP TABLE IF EXISTS public.t; CREATE TABLE public.t AS SELECT g % 3 AS {one},"
        f" g % 2 AS {two}, g % 5 AS {who}, 1 + g % 4 AS {much} FROM generate_series(1, 25) AS g"
    )
    named = {"t": "'public.t'", "qi": f"'{{{one},{two}}}'", "one": one, "two": two}
    named |= {"s": who, "w": much}
    owner = db.owner()
    return [owner.execute(call.format(**named).encode()).fetchall() for call in CALLS]


@pytest.mark.primary_server_only
def test_any_name_is_that_of_a_column(db: Database) -> None:
    plain = _found(db, PLAIN)
    for first in range(len(NAMES)):
        names = (NAMES[first:] + NAMES[:first])[: len(PLAIN)]
        assert _found(db, names) == plain, names
