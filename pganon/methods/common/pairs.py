"""Two numbers in one: that of a group within a block or round, and that of the block or round.

The server hashes a bigint by the exclusive or of its halves. Small numbers in both would share
few hashes, and hash tables of groups be long lists; so the lower one is scattered over its half.
"""

from __future__ import annotations

from sqlglot import exp

from pganon.sqltools import fragment, num

_HALF = 1 << 32
_SCATTER = 2_654_435_761
"""Odd, so that no two numbers below 2^32 fall together; near 2^32 / the golden ratio (Knuth)."""


def paired(high: exp.Expr, low: exp.Expr) -> exp.Expr:
    """One bigint, another one for every pair of numbers from 0, below 2^31."""
    return fragment(
        "(:high::bigint << 32) + :low::bigint * :scatter % :half",
        high=high,
        low=low,
        scatter=num(_SCATTER),
        half=num(_HALF),
    )


def pair(high: int, low: int) -> int:
    """The same in Python."""
    return (high << 32) + low * _SCATTER % _HALF


def high_of(number: exp.Expr) -> exp.Expr:
    """The first of a pair."""
    return fragment(":number >> 32", number=number)
