"""The random order of records that have no number."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import pytest
from psycopg import sql

from tests.support.harness.cluster import Database
from tests.support.harness.driver import Staged, fetch, run
from tests.support.sources.builders import make_table, policy

TYPES = {"q": "integer", "s": "bpchar", "n": "numeric", "f": "float8", "b": "char(2)"}
ALIKE = {
    "q": ("1", "2", None),
    "s": ("x", "x ", "y", "z", None),
    "n": ("1.0", "1.00", None),
    "f": ("0", "-0"),
    "b": ("a", "b"),
}
"""Values of which some are equal and look different."""

REQUIRED = [{"model": "anatomy_l_diversity", "column": "s", "l": 2}]
COLUMNS = {"q": "q", "s": "s", "n": "i", "f": "i", "b": "i"}


def release(db: Database, seed: int) -> Staged:
    method = {"name": "anatomy", "block_size": 20}
    return run(db.owner(), policy(COLUMNS, REQUIRED, method=method), seed=seed)


def drawn(staged: Staged) -> list[tuple[int, tuple[Any, ...]]]:
    """What is drawn for every record, and how it looks."""
    text = sql.SQL("SELECT draw, c0, v0, octet_length(v0) AS o, p0::text, p1::text, p2 FROM {}")
    rows = fetch(staged.conn, text.format(staged.state.work("coded").identifier))
    return [(row.pop("draw"), tuple(row.values())) for row in rows]


@pytest.mark.parametrize("key", [False, True])
def test_only_records_that_look_the_same_have_the_same_draw(db: Database, key: bool) -> None:
    rows = [list(row) for row in itertools.product(*ALIKE.values())]
    source = db.connect("source_owner")
    make_table(source, TYPES, [*rows, *rows])
    if not key:
        source.execute("ALTER TABLE public.t DROP COLUMN id")
    found = drawn(release(db, 1))
    looks = {look for _, look in found}
    assert len(looks) == len(rows)
    assert len({draw for draw, _ in found}) == len(rows) * (2 if key else 1)
    assert len(set(found)) == len(rows) * (2 if key else 1)

    source.execute(
        "CREATE TEMP TABLE copied AS SELECT * FROM public.t; TRUNCATE public.t;"
        " INSERT INTO public.t SELECT * FROM copied ORDER BY random(); DROP TABLE copied"
    )
    assert Counter(drawn(release(db, 1))) == Counter(found), "it does not follow physical order"
    assert not {draw for draw, _ in drawn(release(db, 7))} & {draw for draw, _ in found}
