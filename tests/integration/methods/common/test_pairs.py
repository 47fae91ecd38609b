"""Pairs of numbers in one: every pair another number, and another hash."""

from __future__ import annotations

import psycopg
from hypothesis import given
from hypothesis import strategies as st

from pganon.methods.common.pairs import high_of, pair, paired
from pganon.sqltools import col, num, query, statement
from tests.support.harness.cluster import Database

NUMBERS = st.integers(0, 2**31 - 1)


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_every_pair_has_a_number(a: int, b: int, c: int, d: int) -> None:
    assert (pair(a, b) == pair(c, d)) == ((a, b) == (c, d))
    assert pair(a, b) >> 32 == a
    assert 0 <= pair(a, b) < 2**63


def test_the_server_pairs_alike_and_tells_hashes_apart(db: Database) -> None:
    blocks, groups = 5000, 30
    tree = query(
        "select count(distinct hashint8(p.number)) as hashes,"
        " bool_and(p.high = p.block) as decoded, max(p.number) as highest from p",
        {
            "p": query(
                "select b.block, :number as number, :high as high"
                " from generate_series(0, :blocks) as b(block)"
                " cross join generate_series(0, :groups) as g(g)",
                number=paired(col("block", "b"), col("g", "g")),
                high=high_of(paired(col("block", "b"), col("g", "g"))),
                blocks=num(blocks - 1),
                groups=num(groups - 1),
            )
        },
    )
    conn: psycopg.Connection = db.owner()
    row = conn.execute(statement(tree)).fetchone()
    assert row is not None
    hashes, decoded, highest = row
    assert decoded
    assert highest == max(pair(blocks - 1, group) for group in range(groups))
    # As many as of random numbers; the halves alone would give 5000 hashes.
    assert hashes > 0.999 * blocks * groups
